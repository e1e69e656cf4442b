"""dmlop.ops: all operators, as functions."""

from __future__ import annotations

import inspect
from typing import Any, Callable, List, Optional

from . import _context, _operators


def _document(info: _operators.OperatorInfo) -> str:
    """What help() shows about an operator. The stubs have the same for editors."""
    lines = [info.summary, ""]
    for field in info.fields:
        words = field.type + (", optional" if field.optional and "optional" not in field.type else "")
        lines.append(f"{field.name}: {words}. {field.text}")
        if field.values:
            lines.append("    " + ", ".join(field.values))
    return "\n".join(lines + ["", info.source])


def _function(name: str) -> Callable[..., Any]:
    info = _operators.operator(name)

    def run(*inputs: Any, **fields: Any) -> Any:
        return _context.run(info.name, *inputs, **fields)

    kinds = inspect.Parameter
    parameters = [kinds("inputs", kinds.VAR_POSITIONAL)]
    parameters += [kinds(field.name, kinds.KEYWORD_ONLY, default=None) for field in info.fields]
    parameters += [kinds(option, kinds.KEYWORD_ONLY, default=None) for option in ("out", "device")]
    run.__name__ = info.name
    run.__qualname__ = f"ops.{info.name}"  # where pickle finds it in this module
    run.__doc__ = _document(info)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


class Ops:
    """All operators of DirectML.

    dmlop.ops() lists their names. dmlop.ops("PADDING") tells about one. dmlop.ops.PADDING(x,
    PaddingMode="EDGE", ...) runs it, as dmlop.run("PADDING", x, ...) does.
    """

    def __call__(self, name: Optional[str] = None) -> Any:
        return list(_operators.names()) if name is None else _operators.operator(name)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _operators.names():
            raise AttributeError(f"DirectML has no operator {name!r}: dmlop.ops() lists them")
        function = _function(name)
        setattr(self, name, function)
        return function

    def __dir__(self) -> List[str]:
        return list(_operators.names())


ops = Ops()
