"""Checking and running operations."""

from __future__ import annotations

import ctypes
import json
import math
import operator
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping as MappingLike
from ctypes import byref, c_void_p, sizeof
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import _errors, _operators
from ._errors import Finding
from ._library import (
    BenchOptionsStruct,
    ContextOptionsStruct,
    OperationStruct,
    TensorStruct,
    encoded,
    free_with,
    invoke,
    library,
    make_call,
    take_text,
)
from ._tensors import Planned, TensorInfo, View, fill, numpy, view


class Device(NamedTuple):
    """A device that operations run on. `spec` is what `device=` takes."""

    spec: str
    name: str
    kind: str
    driver: str
    memory_bytes: int


class Report(NamedTuple):
    """What is known about an operation or a program that is valid."""

    tensors: List[TensorInfo]
    warnings: List[Finding]


def devices() -> List[Device]:
    """The CPU and all GPUs of this machine."""
    text = c_void_p()
    invoke(library.dmlop_devices, byref(text))
    return [Device(*row.values()) for row in json.loads(take_text(text))]


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, MappingLike):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy
        return _plain(value.tolist())
    raise _errors.Usage(f"{_errors.kind_of(value)} is not a value of a field: {value!r}")


def by_name(what: str, given: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """What a caller passes by names. Errors: Usage."""
    if given is None:
        return {}
    if not isinstance(given, MappingLike):
        raise _errors.Usage(f"{what} is {_errors.kind_of(given)}: pass a dict whose keys are names")
    for name in given:
        if not isinstance(name, str):
            raise _errors.Usage(f"{what} has the key {name!r}: keys are names, each a str")
    return dict(given)


class Source:
    """What a caller passes for an operation or a program."""

    def __init__(
        self,
        op: Any,
        fields: Optional[Mapping[str, Any]] = None,
        feature_level: Optional[str] = None,
        judge: Optional[str] = None,
        confined_to: Any = None,
        dimensions: Optional[Mapping[str, int]] = None,
        known_inputs: Optional[Mapping[str, Any]] = None,
        fuse: bool = False,
    ):
        self.text: Optional[bytes] = None
        self.file: Optional[str] = None
        self.operator: Optional[str] = None  # its name, where it is known; "" for a program
        self._read(op, dict(fields or {}))
        self._keep = [
            self.text,
            encoded(self.file),
            encoded(feature_level, "feature_level"),
            encoded(judge, "judge"),
            None if confined_to is None else encoded(os.fspath(confined_to)),
            encoded(",".join(_dimension(*each) for each in by_name("dimensions", dimensions).items())),
        ]
        # What the text alone decides may be planned once for all runs; files may change. A name may
        # be written with escapes.
        names_files = self.text is None or b'"bindings"' in self.text or b"\\" in self.text
        is_alone = self.file is None and not names_files
        self.key: Any = tuple(self._keep) if is_alone else None
        size = len(self.text) if self.text else 0
        known = by_name("known_inputs", known_inputs)
        self._views = [view(name, value, packed=True) for name, value in known.items()]
        self._known = make_structs(list(known), self._views, True) if known else None
        self.struct = OperationStruct(
            sizeof(OperationStruct),
            self._keep[0],
            size,
            *self._keep[1:],
            self._known,
            len(known),
            bool(fuse),
        )

    def _read(self, op: Any, fields: Dict[str, Any]) -> None:
        if isinstance(op, MappingLike):
            described = dict(op)
            self._describe(described, fields)
        elif isinstance(op, (bytes, bytearray, memoryview)):
            self.text = bytes(op)
            if not self.text:
                raise _errors.Usage("the text of the operation is empty")
            self._refuse_fields(fields)
        elif isinstance(op, str) and "{" in op:  # a path with one may be a pathlib.Path
            self.text = encoded(op)
            self._refuse_fields(fields)
        elif isinstance(op, str) and _operator_named(op):
            self.operator = _operator_named(op)
            self._describe({"type": self.operator, "desc": {}}, fields)
        elif isinstance(op, (str, os.PathLike)):
            self.file = os.fspath(op)
            self._refuse_fields(fields)
        else:
            raise _errors.Usage(
                "an operation is an operator's name, a dict, JSON text or a path, not "
                + _errors.kind_of(op)
            )

    def _describe(self, described: Dict[str, Any], fields: Dict[str, Any]) -> None:
        if fields:
            key = "Desc" if "Desc" in described else "desc"
            given = described.get(key, {})
            if not isinstance(given, MappingLike):
                raise _errors.Usage(f"{key} is {given!r}: fields are added to a dict")
            desc = dict(given)
            # True asks for an optional output.
            desc.update({name: {} if value is True and name.endswith("Tensor") else value
                         for name, value in fields.items() if value is not None})
            described[key] = desc
        self.text = json.dumps(_plain(described), allow_nan=False).encode()

    def fields(self) -> Optional[List[_operators.Field]]:
        """The operator's fields; None for a program. Errors: what the library says of a text or a
        file that names no operator."""
        if self.operator is None:
            if self.text is not None and len(self.text) < 1 << 12:
                self.operator = _operators.name_in_text(self.text)
            else:
                self.operator = _operators.name_in(self.struct)
        if not self.operator:
            return None
        return _operators.operator(self.operator).fields

    def input_fields(self) -> Optional[List[_operators.Field]]:
        """The fields that are inputs."""
        fields = self.fields()
        return None if fields is None else [field for field in fields if field.is_input]

    @staticmethod
    def _refuse_fields(fields: Dict[str, Any]) -> None:
        if fields:
            raise _errors.Usage(
                f"{', '.join(fields)}: fields are given to the name of an operator or to a dict; "
                "this operation is text or a file"
            )


def _operator_named(text: str) -> Optional[str]:
    """The operator that a text names, in capitals or where no file has the name; None where it
    names a file."""
    if not text.replace("_", "").isalnum():
        return None
    if text.upper() == text:
        return text
    if os.path.exists(text):
        return None
    try:
        return _operators.operator(text).name
    except _errors.Usage as error:
        raise _errors.Usage(f"there is no file {text}, and {error}") from None


def _is_tensor(value: Any) -> bool:
    if numpy is not None and isinstance(value, numpy.generic):
        return False
    if isinstance(value, (dict, list, tuple, str, int, float, bool)) or value is None:
        return False
    return hasattr(value, "__array_interface__") or hasattr(value, "__array__") or _has_buffer(value)


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return hasattr(value, "data") and hasattr(value, "shape")
    return True


class _Inputs:
    """Which array belongs to which input, by the names that the library has for them."""

    def __init__(self, source: Source, positional: Sequence[Any], named: Mapping[str, Any]):
        self.names: List[str] = []
        self.values: List[Any] = []
        if positional:
            self._add_positional(source, positional)
        for name, value in named.items():
            self._add(name, value)

    def _add(self, name: str, value: Any) -> None:
        if isinstance(value, (list, tuple)) and value and all(_is_tensor(each) for each in value):
            for i, each in enumerate(value):
                self._add(f"{name}[{i}]", each)
            return
        if name in self.names:
            raise _errors.Usage(f"{name} is given twice: keep one of them")
        self.names.append(name)
        self.values.append(value)

    def _add_positional(self, source: Source, values: Sequence[Any]) -> None:
        fields = source.input_fields()
        if fields is None:
            raise _errors.Usage(
                "which inputs are these? give them by name: inputs={...}; a graph or a model runs "
                "with dmlop.load(...).run({...})"
            )
        if len(values) > len(fields):
            names = ", ".join(field.name for field in fields) or "none"
            raise _errors.Usage(
                f"there are {len(values)} inputs, but the operator has {len(fields)}: {names}"
            )
        for field, value in zip(fields, values):
            if value is not None:  # an optional one that is left out
                self._add(field.name, value)


def _split(op: Any, fields: Dict[str, Any], inputs: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """Takes the inputs out of the keywords. Arrays may be fields, too."""
    named = by_name("inputs", inputs)
    arrays = [name for name, value in fields.items() if _is_array(value)]
    if not arrays:
        return named
    known = Source(op).fields()
    by_field = None if known is None else {field.name: field for field in known}
    for name in arrays:
        field = None if by_field is None else by_field.get(name.split("[")[0])
        if field is not None and field.is_output:
            raise _errors.Usage(f"{name} is an output: pass the memory for it as out=")
        if by_field is not None and (field is None or not field.is_input):
            continue
        if name in named:
            raise _errors.Usage(f"{name} is given twice: keep one of them")
        named[name] = fields.pop(name)
    return named


def _is_array(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_tensor(each) for each in value)
    return _is_tensor(value)


def make_structs(names: Sequence[str], views: Sequence[View], with_elements: bool) -> Any:
    structs = (TensorStruct * len(names))()
    for struct_, name, seen in zip(structs, names, views):
        fill(struct_, encoded(name), seen, with_elements)
    return structs


def check(
    op: Any,
    *arrays: Any,
    inputs: Optional[Mapping[str, Any]] = None,
    feature_level: Optional[str] = None,
    judge: Optional[str] = None,
    confined_to: Any = None,
    dimensions: Optional[Mapping[str, int]] = None,
    known_inputs: Optional[Mapping[str, Any]] = None,
    fuse: bool = False,
    **fields: Any,
) -> Report:
    """Checks an operation, and that the inputs given fit it, or a program.

    Raises dmlop.Invalid whose `findings` are all mistakes, with place, rule and remedy. `judge`
    says who decides what is valid: "page" or "directml-1.15.4". `dimensions`,
    `known_inputs` and `fuse` are those of dmlop.load().
    """
    named = _split(op, fields, inputs)
    source = Source(op, fields, feature_level, judge, confined_to, dimensions, known_inputs, fuse)
    given = _Inputs(source, arrays, named)
    views = [view(name, value) for name, value in zip(given.names, given.values)]
    structs = make_structs(given.names, views, True)
    text = c_void_p()
    invoke(library.dmlop_check, byref(source.struct), structs, len(views), byref(text))
    report = json.loads(take_text(text))
    tensors = [TensorInfo(row["name"], row["dataType"], tuple(row["sizes"])) for row in report["tensors"]]
    return Report(tensors, _errors.findings_of(json.dumps(report["warnings"])))


class Timing(NamedTuple):
    """How long an operation takes on a device, with its tensors there."""

    device: str
    clock: str  # "device": that of the GPU; "wall"
    median_seconds: float
    percentile95_seconds: float
    runs: int
    input_bytes: int
    output_bytes: int


def _count(name: str, value: Any, bits: int = 32) -> int:
    """A number for C, which would take the low bits of any other."""
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if not 0 <= count < 1 << bits:
        raise _errors.Usage(f"{name} is {value!r}: pass a whole number from 0 to {(1 << bits) - 1}")
    return count


def _dimension(name: str, size: Any) -> str:
    return f"{name}={_count(f'dimensions[{name!r}]', size, 31)}"


def bench(
    op: Any,
    *arrays: Any,
    inputs: Optional[Mapping[str, Any]] = None,
    device: Any = None,
    threads: int = 0,
    min_seconds: float = 1.0,
    min_runs: int = 10,
    **fields: Any,
) -> Timing:
    """Measures an operation on a device, as `dmlop bench` does. Inputs that only have a desc get
    random elements."""
    named = _split(op, fields, inputs)
    source = Source(op, fields)
    given = _Inputs(source, arrays, named)
    views = [view(name, value) for name, value in zip(given.names, given.values)]
    options = BenchOptionsStruct(sizeof(BenchOptionsStruct), encoded(_spec_of(device), "device"), _count("threads", threads), _count("min_runs", min_runs),
                                 min_seconds)
    structs = make_structs(given.names, views, True)
    text = c_void_p()
    invoke(
        library.dmlop_bench, byref(source.struct), structs, len(views), byref(options), make_call(), byref(text)
    )
    return Timing(*json.loads(take_text(text)).values())


class _Plan:
    """An operation prepared for one layout of its inputs."""

    def __init__(self, context: Context, source: Source, names: Sequence[str], views: Sequence[View]):
        handle = c_void_p()
        structs = make_structs(names, views, False)
        opened = context.opened()
        invoke(
            library.dmlop_prepare,
            opened.handle,
            byref(source.struct),
            structs,
            len(views),
            byref(handle),
        )
        self.handle = handle
        free_with(self, library.dmlop_prepared_free, handle)
        needed = library.dmlop_prepared_inputs(handle)
        wanted = [needed.items[i].name.decode("utf-8", "replace") for i in range(needed.count)]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise _errors.Usage(f"no array is given for {', '.join(missing)}")
        self.order = [names.index(name) for name in wanted]
        made = library.dmlop_prepared_outputs(handle)
        self.outputs = [Planned(made.items[i]) for i in range(made.count)]
        self._inputs = c_void_p * len(wanted)
        self._outputs = c_void_p * len(self.outputs)

    def run(self, views: Sequence[View], out: Any) -> Any:
        outputs = self.outputs
        if out is None:
            made = [output.make() for output in outputs]
        else:
            made = self._accept(out)
        invoke(
            library.dmlop_prepared_run,
            self.handle,
            self._inputs(*[views[i].address for i in self.order]),
            self._outputs(*[address for _, address, _ in made]),
            make_call(),
        )
        if len(made) == 1:
            return made[0][0]
        return tuple(array for array, _, _ in made)

    def _accept(self, out: Any) -> List[Tuple[Any, int, Any]]:
        outputs = self.outputs
        if len(outputs) == 1 and numpy is not None and type(out) is numpy.ndarray:
            return [outputs[0].accept(out)]
        if isinstance(out, MappingLike):
            unknown = [name for name in out if name not in [output.name for output in outputs]]
            if unknown:
                names = ", ".join(output.name for output in outputs)
                raise _errors.Usage(f"there is no output {', '.join(unknown)}: outputs: {names}")
            return [
                output.accept(out[output.name]) if output.name in out else output.make()
                for output in outputs
            ]
        given = out if isinstance(out, (list, tuple)) else (out,)
        if len(given) != len(outputs):
            names = ", ".join(output.name for output in outputs)
            raise _errors.Usage(f"out has {len(given)} arrays, but the outputs are {names}")
        return [output.accept(each) for output, each in zip(outputs, given)]


class _Plans:
    """The plans of a context that ran last, by operation and layout."""

    LIMIT = 64

    def __init__(self) -> None:
        # Each call of it is atomic. A lock could be held by another thread while the process forks.
        self._plans: OrderedDict[Any, _Plan] = OrderedDict()

    def find(self, key: Any) -> Optional[_Plan]:
        plan = self._plans.get(key)
        if plan is not None:
            try:
                self._plans.move_to_end(key)
            except KeyError:  # another thread has just removed it
                pass
        return plan

    def add(self, key: Any, plan: _Plan) -> None:
        self._plans[key] = plan
        if len(self._plans) > self.LIMIT:
            self._plans.popitem(last=False)


class Compiled:
    """An operation that is checked and planned once for each layout of its inputs.

    c(x, out=y) runs it. Several threads may do so at the same time.
    """

    def __init__(self, context: Context, source: Source, fixed: Mapping[str, Any], plans: _Plans):
        self._context = context
        self._source = source
        self._fixed = dict(fixed)
        self._plans = plans
        self._last: Optional[Tuple[Any, _Plan]] = None  # the plan that was made last
        self._fields: Optional[Tuple[str, ...]] = None

    def __call__(self, *arrays: Any, out: Any = None, **inputs: Any) -> Any:
        """Runs it on arrays in the order of the operator's inputs, or given by name.

        Returns the output, or a tuple of them. They are written to `out`, if it is given: an array,
        a sequence of arrays, or a dict of them by name.
        """
        self._context.opened()
        if not inputs and not self._fixed and len(arrays) == 1:
            names: Sequence[str] = self._single()
            values: Sequence[Any] = arrays
            if not names or isinstance(arrays[0], (list, tuple)):
                names, values = self._named(arrays, inputs)
        else:
            names, values = self._named(arrays, inputs)
        views = [view(name, value) for name, value in zip(names, values)]
        key = (self._source.key, tuple(names), tuple([seen.layout for seen in views]))
        last = self._last
        plan = last[1] if last is not None and last[0] == key else self._plans.find(key)
        if plan is None:
            plan, views = self._plan(names, values, views)
            # Where strides are refused, packed copies were planned for.
            is_as_given = tuple([seen.layout for seen in views]) == key[2]
            if is_as_given and self._source.key is not None:
                self._plans.add(key, plan)
                self._last = (key, plan)
        return plan.run(views, out)

    def _single(self) -> Tuple[str, ...]:
        if self._fields is None:
            fields = self._source.input_fields()
            is_one = fields is not None and len(fields) > 0 and fields[0].kind == "input_tensor"
            self._fields = (fields[0].name,) if is_one and fields else ()
        return self._fields

    def _named(self, arrays: Sequence[Any], inputs: Mapping[str, Any]) -> Tuple[List[str], List[Any]]:
        given = _Inputs(self._source, arrays, {**self._fixed, **inputs})
        return given.names, given.values

    def _plan(self, names: Sequence[str], values: Sequence[Any], views: List[View]) -> Tuple[_Plan, List[View]]:
        try:
            return _Plan(self._context, self._source, names, views), views
        except _errors.Invalid:
            # Not every operator takes strides.
            if all(seen.strides is None for seen in views):
                raise
        packed = [view(name, value, packed=True) for name, value in zip(names, values)]
        return _Plan(self._context, self._source, names, packed), packed


class _Opened:
    """An open device, which is closed when nothing holds it any more: a context may be closed in one
    thread while another one runs something on it."""

    __slots__ = ("handle", "__weakref__")

    def __init__(self, handle: c_void_p):
        self.handle = handle
        free_with(self, library.dmlop_close, handle)


class Context:
    """A device that is opened once. dmlop.run() and the other functions keep one for each device.

    `device` is one of dmlop.devices(), or as for `dmlop run --device`: "cpu", "gpu", "vulkan:0".
    None is what the environment variable DMLOP_DEVICE says or, without it, the best GPU in hardware
    and else the CPU.
    """

    def __init__(
        self,
        device: Any = None,
        *,
        threads: int = 0,
        strict_indices: bool = False,
        device_memory_bytes: int = 0,
        host_memory_bytes: int = 0,
    ):
        options = ContextOptionsStruct(
            sizeof(ContextOptionsStruct),
            encoded(_spec_of(device), "device"),
            _count("threads", threads),
            int(strict_indices),
            _count("device_memory_bytes", device_memory_bytes, 64),
            _count("host_memory_bytes", host_memory_bytes, 64),
        )
        handle = c_void_p()
        invoke(library.dmlop_open, byref(options), byref(handle))
        self._opened: Optional[_Opened] = _Opened(handle)
        self._plans = _Plans()

    @property
    def device(self) -> str:
        """What it runs on: "cpu", "vulkan:0"."""
        opened = self.opened()
        return library.dmlop_context_device(opened.handle).decode()

    def close(self) -> None:
        """Gives the device back, after the calls that use it in other threads. What was compiled
        with it cannot run any more."""
        self._opened = None

    def __enter__(self) -> Context:
        self.opened()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def opened(self) -> _Opened:
        """What a call holds while it uses the device."""
        opened = self._opened
        if opened is None:
            raise _errors.Usage("the context is closed")
        return opened

    def run(self, op: Any, *arrays: Any, inputs: Optional[Mapping[str, Any]] = None, out: Any = None,
            feature_level: Optional[str] = None, judge: Optional[str] = None, confined_to: Any = None,
            **fields: Any) -> Any:
        """As dmlop.run(), on this device."""
        self.opened()
        named = _split(op, fields, inputs)
        source = Source(op, fields, feature_level, judge, confined_to)
        return Compiled(self, source, {}, self._plans)(*arrays, out=out, **named)

    def compile(self, op: Any, *, inputs: Optional[Mapping[str, Any]] = None,
                feature_level: Optional[str] = None, judge: Optional[str] = None,
                confined_to: Any = None, **fields: Any) -> Compiled:
        """As dmlop.compile(), on this device."""
        self.opened()
        fixed = _split(op, fields, inputs)
        source = Source(op, fields, feature_level, judge, confined_to)
        source.key = source.key or ("file", id(source))  # read once
        return Compiled(self, source, fixed, _Plans())


_contexts: Dict[Tuple[Optional[str], int], Context] = {}
_contexts_lock = threading.Lock()


def _renew_lock() -> None:
    global _contexts_lock
    _contexts_lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # a thread that the child does not have may hold it
    os.register_at_fork(after_in_child=_renew_lock)


def context_for(device: Any) -> Context:
    """The context that is kept for a device, or the one that was passed."""
    if isinstance(device, Context):
        return device
    spec = _spec_of(device)
    # A process that was forked opens its own.
    key = (spec, os.getpid())
    with _contexts_lock:
        if key not in _contexts:
            _contexts[key] = Context(spec)
        return _contexts[key]


def _spec_of(device: Any) -> Optional[str]:
    if device is None:
        return os.environ.get("DMLOP_DEVICE") or None
    if isinstance(device, Device):
        return device.spec
    if not isinstance(device, str):
        raise TypeError(
            f"device is {device!r}: pass a str, such as \"cpu\", one of dmlop.devices() or a dmlop.Context"
        )
    return device


def run(
    op: Any,
    *arrays: Any,
    inputs: Optional[Mapping[str, Any]] = None,
    out: Any = None,
    device: Any = None,
    feature_level: Optional[str] = None,
    judge: Optional[str] = None,
    confined_to: Any = None,
    **fields: Any,
) -> Any:
    """Runs an operation and returns its output, or a tuple of them.

    Arrays are given in the order of the operator's inputs, or by name in `inputs` or as keywords.
    Other keywords are fields of the description. `device` is a device's spec or a Context.
    """
    return context_for(device).run(
        op, *arrays, inputs=inputs, out=out, feature_level=feature_level, judge=judge,
        confined_to=confined_to, **fields,
    )


def compile(
    op: Any,
    *,
    inputs: Optional[Mapping[str, Any]] = None,
    device: Any = None,
    feature_level: Optional[str] = None,
    judge: Optional[str] = None,
    confined_to: Any = None,
    **fields: Any,
) -> Compiled:
    """An operation to run many times: c = dmlop.compile(op); c(x, out=y).

    It is checked when it is first called with arrays of a layout.
    """
    return context_for(device).compile(
        op, inputs=inputs, feature_level=feature_level, judge=judge, confined_to=confined_to, **fields
    )
