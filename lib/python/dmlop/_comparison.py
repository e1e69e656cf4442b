"""Comparing arrays element by element."""

from __future__ import annotations

import json
import os
from ctypes import byref, c_void_p, sizeof
from typing import Any, Dict, Optional

from . import _errors
from ._library import CriteriaStruct, TensorStruct, encoded, invoke, library, make_call, take_text
from ._tensors import NUMBERS, TensorInfo, View, fill, view


class Comparison:
    """How two arrays differ. `json` has all numbers, as `dmlop compare --format json`."""

    def __init__(self, passed: bool, report: Dict[str, Any]):
        self.passed = passed
        self.summary: str = report.pop("summary")
        self.text: str = report.pop("text")
        self.json = report

    @property
    def verdict(self) -> str:
        """ "PASSED", "FAILED", or "MISTRUSTED" where the arrays prove nothing."""
        return self.json["verdict"]

    def raise_if_different(self, what: str = "") -> None:
        """Raises dmlop.Different, an AssertionError, unless it passed."""
        if not self.passed:
            name = f"{what}: " if what else ""
            raise _errors.Different(f"{name}{self.summary}\n{self.text}")

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<dmlop comparison {self.verdict}: {self.summary}>"


def criteria(operator: str, type: str) -> Dict[str, Any]:
    """The tolerance of an operator for a type, such as "FLOAT32", as keywords for compare()."""
    if type not in NUMBERS:
        raise _errors.Usage(f"{type!r} is no type of DirectML: write one of {', '.join(NUMBERS)}")
    made = CriteriaStruct(sizeof(CriteriaStruct), -1, -1, -1, 0, 0)
    invoke(library.dmlop_criteria_of, encoded(operator), NUMBERS[type], byref(made))
    values = {"rtol": made.rtol, "atol": made.atol, "ulp": made.ulp}
    return {name: value for name, value in values.items() if value >= 0}


def _fill(struct_: TensorStruct, name: str, value: Any) -> Optional[View]:
    if isinstance(value, (str, os.PathLike)):
        struct_.path = encoded(os.fspath(value))
        return None
    seen = view(name, value, packed=True)
    fill(struct_, None, seen, True)
    return seen


def _is_criterion(value: Any) -> bool:
    try:
        return bool(value >= 0)
    except TypeError:
        return False


def compare(
    actual: Any,
    expected: Any,
    *,
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    ulp: Optional[int] = None,
    nan: str = "equal",
    allow_trivial: bool = False,
) -> Comparison:
    """Compares two arrays, or .npy files given by their paths.

    An element passes if any criterion allows it: |actual - expected| <= atol + rtol * |expected|,
    or at most `ulp` representable values between. Without any, elements must be equal bit for bit.
    `nan` is "equal" or "differ". A match that proves nothing passes only with `allow_trivial`: all of
    `actual` is NaN, or all is zero and `expected` holds different numbers.
    """
    if nan not in ("equal", "differ"):
        raise _errors.Usage(f'nan is {nan!r}, must be "equal" or "differ"')
    for name, value in (("rtol", rtol), ("atol", atol), ("ulp", ulp)):
        if value is not None and not _is_criterion(value):
            raise _errors.Usage(f"{name} is {value!r}: give a number that is not negative")
    if ulp is not None and (ulp >= 2**63 or ulp != int(ulp)):
        raise _errors.Usage(f"ulp is {ulp}: give an integer below 2**63")
    given = CriteriaStruct(
        sizeof(CriteriaStruct),
        -1 if rtol is None else rtol,
        -1 if atol is None else atol,
        -1 if ulp is None else int(ulp),
        int(nan == "differ"),
        int(allow_trivial),
    )
    structs = TensorStruct(), TensorStruct()
    kept = _fill(structs[0], "actual", actual), _fill(structs[1], "expected", expected)
    text = c_void_p()
    status = invoke(
        library.dmlop_compare, byref(structs[0]), byref(structs[1]), byref(given), make_call(), byref(text)
    )
    del kept
    return Comparison(status == 0, json.loads(take_text(text)))


def write_npy(path: Any, array: Any) -> None:
    """Writes a .npy file, which appears complete or not at all."""
    struct_ = TensorStruct()
    seen = view("array", array, packed=True)
    fill(struct_, None, seen, True)
    invoke(library.dmlop_write_npy, encoded(os.fspath(path)), byref(struct_))
