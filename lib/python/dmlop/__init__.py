"""DirectML operators on any machine: checked, run and compared, on the CPU or on a GPU.

    import dmlop, numpy as np
    y = dmlop.run("PADDING", x, PaddingMode="EDGE", StartPadding=[0, 1], EndPadding=[0, 1])
    dmlop.check("op.json")                    # raises dmlop.Invalid with .findings
    dmlop.compare(y, z, ulp=2).raise_if_different()
    c = dmlop.compile("PADDING", PaddingMode="EDGE", StartPadding=[0, 1], EndPadding=[0, 1])
    c(x, out=y)                               # planned once, runs many times
    dmlop.load("Partition_0.bin").run({"x": x}, edges=True)

An operation is the name of an operator, to which fields are given as keywords; a dict as in JSON;
JSON text; or the path of a file or of a folder with an op.json. Names and values are those of the
JSON descriptions. Without NumPy, inputs are buffers and outputs are dmlop.Tensor.
"""

from ._comparison import Comparison, compare, criteria
from ._context import Compiled, Context, Device, Report, Timing, bench, check, compile, devices, run
from ._errors import (
    Canceled,
    Different,
    Error,
    Finding,
    Invalid,
    IoFailed,
    OutOfMemory,
    RunFailed,
    Unavailable,
    Usage,
)
from ._library import version as _version
from ._operators import Field, OperatorInfo
from ._ops import ops
from ._program import Node, Program, Result, load
from ._tensors import Tensor, TensorInfo
from .testing import assert_matches_golden

__version__ = _version()

__all__ = [
    "Canceled",
    "Comparison",
    "Compiled",
    "Context",
    "Device",
    "Different",
    "Error",
    "Field",
    "Finding",
    "Invalid",
    "IoFailed",
    "Node",
    "OperatorInfo",
    "OutOfMemory",
    "Program",
    "Report",
    "Result",
    "RunFailed",
    "Tensor",
    "TensorInfo",
    "Timing",
    "Unavailable",
    "Usage",
    "assert_matches_golden",
    "bench",
    "check",
    "compare",
    "compile",
    "criteria",
    "devices",
    "load",
    "ops",
    "run",
]
