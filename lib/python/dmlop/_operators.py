"""What the library knows about operators."""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ._library import OperationStruct, encoded, invoke, library, take_text


class Field(NamedTuple):
    """A field of an operator's description."""

    name: str
    kind: str  # "input_tensor", "uint_array", "enum"
    type: str  # of C: "UINT[DimensionCount]"
    optional: bool
    text: str
    values: Tuple[str, ...]  # of an enumeration

    @property
    def is_input(self) -> bool:
        return self.kind.startswith("input_tensor")

    @property
    def is_output(self) -> bool:
        return self.kind.startswith("output_tensor")


class OperatorInfo:
    """An operator of DirectML. `json` has all that is known, as `dmlop ops NAME --format json`."""

    def __init__(self, json: Dict[str, Any]):
        self.json = json
        self.name: str = json["name"].replace("DML_OPERATOR_", "", 1)
        self.family: str = json["family"]
        self.feature_level: str = json["introduced"]
        self.summary: str = json["summary"]
        self.source: str = json["source"]
        self.runs_on: List[str] = json["runsOn"]
        self.rules: List[str] = [rule["formula"] for rule in json["rules"]]
        self.example: Dict[str, Any] = json["example"]
        self.fields: List[Field] = [
            Field(
                row["name"],
                row["kind"],
                row["type"],
                row["optional"],
                row["text"],
                tuple(value["name"] for value in row.get("values", ())),
            )
            for row in json["fields"]
        ]

    def __repr__(self) -> str:
        return f"<dmlop operator {self.name}: {self.summary}>"


def _ask(name: Optional[str]) -> Any:
    text = ctypes.c_void_p()
    invoke(library.dmlop_operators, encoded(name), ctypes.byref(text))
    return json.loads(take_text(text))


def name_in(operation: OperationStruct) -> str:
    """The operator that an operation names; "" for a program. Errors: Invalid, IoFailed, and Usage
    for what names no description."""
    text = ctypes.c_void_p()
    invoke(library.dmlop_operator_of, ctypes.byref(operation), ctypes.byref(text))
    return take_text(text)


@functools.lru_cache(maxsize=64)
def name_in_text(text: bytes) -> str:
    """The same for a text. Errors: Invalid."""
    return name_in(OperationStruct(ctypes.sizeof(OperationStruct), text, len(text)))


@functools.lru_cache(maxsize=None)
def operator(name: str) -> OperatorInfo:
    """An operator by its name. Errors: Usage."""
    return OperatorInfo(_ask(name))


@functools.lru_cache(maxsize=1)
def names() -> Tuple[str, ...]:
    return tuple(row["name"] for row in _ask(None))
