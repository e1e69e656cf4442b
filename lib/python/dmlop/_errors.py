"""What goes wrong, as exceptions. All are dmlop.Error."""

from __future__ import annotations

import json
from typing import Any, List, NamedTuple, Optional


class Finding(NamedTuple):
    """One mistake. Parts that do not apply are None."""

    message: str
    rule: Optional[str] = None
    help: Optional[str] = None
    note: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    pointer: Optional[str] = None
    text: str = ""

    def __str__(self) -> str:
        return self.text


def findings_of(text: str) -> List[Finding]:
    return [
        Finding(**{name: row[name] for name in Finding._fields if name in row})
        for row in json.loads(text)
    ]


def kind_of(value: Any) -> str:
    """The type of a value in words: "an int", "a list"."""
    name = type(value).__name__
    return ("an " if name[0] in "aeioAEIO" else "a ") + name


class Error(Exception):
    """A call that failed. `findings` are the mistakes in a description or in its inputs."""

    def __init__(self, message: str, findings: Optional[List[Finding]] = None):
        super().__init__(message)
        self.findings: List[Finding] = findings or []


class Usage(Error, ValueError):
    """The call is wrong: an unknown name, an input that is missing or does not fit."""


class Invalid(Error, ValueError):
    """A description, a program, an array or a file is wrong."""


class Unavailable(Error):
    """Valid, but not possible here: there is no such device."""


class RunFailed(Error, RuntimeError):
    """The device or the computation failed."""


class IoFailed(Error, OSError):
    """A file could not be read or written."""


class OutOfMemory(Error, MemoryError):
    """There is no memory for the call itself."""


class Canceled(Error):
    """The call was stopped."""


class Different(Error, AssertionError):
    """Arrays that should be equal differ."""


BY_STATUS = {
    2: Usage,
    3: Invalid,
    4: Unavailable,
    5: RunFailed,
    6: IoFailed,
    7: OutOfMemory,
    130: Canceled,
}
