"""Graphs and models."""

from __future__ import annotations

import json
from ctypes import byref, c_void_p
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from . import _errors
from ._context import Source, by_name, context_for, make_structs
from ._errors import Finding
from ._library import free_with, invoke, library, make_call, take_text
from ._tensors import Planned, TensorInfo, copied, view


class Node(NamedTuple):
    """An operator of a program, with the names of the edges that it reads and writes."""

    name: str
    operator: str
    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]


class Result(Dict[str, Any]):
    """The outputs of a program by name. `edges` has what each node wrote, if it was asked for."""

    edges: Dict[str, Any]


def _infos(tensors: Any) -> List[TensorInfo]:
    return [Planned(tensors.items[i]).info for i in range(tensors.count)]


def _arrays(tensors: Any) -> Dict[str, Any]:
    return {
        tensors.items[i].name.decode("utf-8", "replace"): copied(tensors.items[i])
        for i in range(tensors.count)
    }


class Program:
    """A graph of operators: what ONNX Runtime serialized (Partition_N.bin), a graph as JSON, an
    ONNX model (a file *.onnx), or a DxDispatch model."""

    inputs: List[TensorInfo]
    outputs: List[TensorInfo]
    nodes: List[Node]
    warnings: List[Finding]

    def __init__(self, source: Source):
        handle = c_void_p()
        invoke(library.dmlop_load, byref(source.struct), byref(handle))
        self._handle = handle
        free_with(self, library.dmlop_program_free, handle)
        self.inputs = _infos(library.dmlop_program_inputs(handle))
        self.outputs = _infos(library.dmlop_program_outputs(handle))
        text = c_void_p()
        invoke(library.dmlop_program_report, handle, byref(text))
        report = json.loads(take_text(text))
        self.nodes = [
            Node(row["name"], row["operator"], tuple(row["inputs"]), tuple(row["outputs"]))
            for row in report["nodes"]
        ]
        self.warnings = _errors.findings_of(json.dumps(report["warnings"]))

    def run(
        self,
        inputs: Optional[Mapping[str, Any]] = None,
        *,
        edges: bool = False,
        device: Any = None,
    ) -> Result:
        """Runs it. Returns the outputs by name; with `edges`, their `edges` are what each node
        wrote."""
        opened = context_for(device).opened()
        given = by_name("inputs", inputs)
        names = list(given)
        views = [view(name, value, packed=True) for name, value in given.items()]
        handle = c_void_p()
        invoke(
            library.dmlop_program_run,
            opened.handle,
            self._handle,
            make_structs(names, views, True),
            len(views),
            make_call(keep_edges=edges),
            byref(handle),
        )
        try:
            result = Result(_arrays(library.dmlop_result_outputs(handle)))
            result.edges = _arrays(library.dmlop_result_edges(handle))
            return result
        finally:
            library.dmlop_result_free(handle)


def load(
    program: Any,
    *,
    feature_level: Optional[str] = None,
    judge: Optional[str] = None,
    confined_to: Any = None,
    dimensions: Optional[Mapping[str, int]] = None,
    known_inputs: Optional[Mapping[str, Any]] = None,
    fuse: bool = False,
) -> Program:
    """Reads and checks a program: a path, also of a folder, bytes, JSON text, or a dict as in JSON.
    `dimensions` are the sizes of an ONNX model's dimensions that have a name. `known_inputs` are
    inputs of an ONNX model that become constants, because sizes or fields of its operators depend
    on their elements; they are not given to `run`. With `fuse`, fewer operators are made
    of an ONNX model, as ONNX Runtime's optimizer does: activations, batch normalizations, sums and
    factors become part of the operators before them. It runs faster, and rounds less."""
    return Program(
        Source(program, None, feature_level, judge, confined_to, dimensions, known_inputs, fuse)
    )
