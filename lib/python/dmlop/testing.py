"""Helpers for tests. With pytest, --update-golden writes golden files."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Set

from . import _comparison, _errors
from ._tensors import NAMES, view

# Set by the pytest plugin.
update_golden = False
updated: List[str] = []
# The golden files that hold what a test of this run has, by their real paths.
_settled: Set[str] = set()


def assert_matches_golden(
    actual: Any,
    path: Any,
    *,
    operator: Optional[str] = None,
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    ulp: Optional[int] = None,
    nan: str = "equal",
    allow_trivial: bool = False,
    update: Optional[bool] = None,
) -> None:
    """Fails, as dmlop.Different, unless the array matches the golden file, a .npy file.

    The criteria are those of dmlop.compare(); without any, those of `operator`, if it is given.
    With `update`, or with pytest's option --update-golden, a file that is missing or that does not
    match is written instead. An array that proves nothing, as it is all NaN, is not.
    """
    __tracebackhide__ = True  # of pytest
    path = os.fspath(path)
    if operator is not None and rtol is None and atol is None and ulp is None:
        own = _comparison.criteria(operator, NAMES[view("actual", actual).type])
        rtol, atol, ulp = own.get("rtol"), own.get("atol"), own.get("ulp")
    options = {"rtol": rtol, "atol": atol, "ulp": ulp, "nan": nan, "allow_trivial": allow_trivial}
    is_update = update_golden if update is None else update
    if not os.path.exists(path) and not is_update:
        raise _errors.Different(f"there is no golden file {path}: create it with --update-golden")
    if os.path.exists(path):
        comparison = _comparison.compare(actual, path, **options)
        if comparison:
            _settled.add(os.path.realpath(path))
            return
        if not is_update:
            comparison.raise_if_different(path)
        if os.path.realpath(path) in _settled:
            comparison.raise_if_different(f"{path}, which holds what another test of this run has")
    itself = _comparison.compare(actual, actual, **options)
    if not itself:
        itself.raise_if_different(f"{path} is not written, as the array proves nothing")
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    _comparison.write_npy(path, actual)
    updated.append(path)
    _settled.add(os.path.realpath(path))
