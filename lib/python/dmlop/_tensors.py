"""Arrays and buffers as the library takes them, and what it computes as arrays."""

from __future__ import annotations

import ctypes
import math
import operator
import struct
import sys
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from . import _errors
from ._library import TensorStruct

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

# dmlop_type, its name, its code in struct and memoryview, and its bytes.
_TYPES = [
    (1, "FLOAT32", "f", 4),
    (2, "FLOAT16", "e", 2),
    (3, "UINT32", "I", 4),
    (4, "UINT16", "H", 2),
    (5, "UINT8", "B", 1),
    (6, "INT32", "i", 4),
    (7, "INT16", "h", 2),
    (8, "INT8", "b", 1),
    (9, "FLOAT64", "d", 8),
    (10, "UINT64", "Q", 8),
    (11, "INT64", "q", 8),
    (12, "UINT4", "B", 1),
    (13, "INT4", "b", 1),
]
NAMES = {number: name for number, name, _, _ in _TYPES}
NUMBERS = {name: number for number, name, _, _ in _TYPES}
_CODES = {number: code for number, _, code, _ in _TYPES}
_SIZES = {number: size for number, _, _, size in _TYPES}
# What a code of a buffer is; how many bytes an l has differs between systems.
_KINDS = {**dict.fromkeys("efd", "f"), **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u")}
_BY_KIND = {(_KINDS[code], size): number for number, _, code, size in _TYPES[:11]}

if numpy is not None:
    _DTYPES = {number: numpy.dtype(code) for number, code in _CODES.items()}
    _BY_DTYPE = {dtype: number for number, dtype in _DTYPES.items() if number <= 11}
    _BY_DTYPE[numpy.dtype(bool)] = NUMBERS["UINT8"]
else:
    _DTYPES, _BY_DTYPE = {}, {}


class TensorInfo(NamedTuple):
    """What a tensor is, or has to be."""

    name: str
    type: str
    sizes: Tuple[int, ...]


def _sizes_of(shape: Any) -> Tuple[int, ...]:
    try:
        sizes = tuple(operator.index(size) for size in shape)
    except TypeError:
        raise _errors.Usage(f"the shape is {shape!r}: pass a sequence of whole numbers") from None
    if not all(0 <= size < 1 << 64 for size in sizes):
        raise _errors.Usage(f"the shape is {list(sizes)}: sizes are from 0 to {(1 << 64) - 1}")
    return sizes


def _bytes_of(type: str, data: Any) -> memoryview:
    """The bytes of packed elements. Raw bytes may be of any type."""
    try:
        memory = memoryview(data)
    except TypeError:
        raise _errors.Usage(f"data is a {data.__class__.__name__}: pass a buffer, such as bytes") from None
    if not _is_raw(memory) and _number_of(memory) != NUMBERS[type]:
        raise _errors.Usage(
            f"data has elements of format {memory.format!r}, but the tensor is {type}: pass elements of "
            "this type in native byte order, or raw bytes"
        )
    if not memory.c_contiguous:
        raise _errors.Usage("data is not contiguous: pass a copy of it, such as bytes(data)")
    return memory.cast("B") if memory.nbytes else memoryview(b"")


class Tensor:
    """A tensor without NumPy: packed elements in memory. `data` is a memoryview of its bytes."""

    __slots__ = ("type", "shape", "data")
    type: str
    shape: Tuple[int, ...]
    data: memoryview

    def __init__(self, type: str, shape: Sequence[int], data: Any):
        if type not in NUMBERS:
            raise _errors.Usage(f"{type!r} is no type of DirectML: write one of {', '.join(NUMBERS)}")
        # What is checked here must stay so, as the library reads the memory without asking again.
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "shape", _sizes_of(shape))
        object.__setattr__(self, "data", _bytes_of(type, data))
        count = 1
        for size in self.shape:
            count *= size
        if self.data.nbytes != count * _SIZES[NUMBERS[type]]:
            raise _errors.Usage(
                f"{type} {list(self.shape)} has {count * _SIZES[NUMBERS[type]]} bytes, "
                f"but the buffer has {self.data.nbytes}"
            )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} of a dmlop.Tensor cannot be changed; make another one")

    def __reduce__(self) -> Tuple[Any, ...]:
        return Tensor, (self.type, self.shape, bytes(self.data))

    def elements(self) -> List[Any]:
        """All elements in one list, the last dimension fastest."""
        code = _CODES[NUMBERS[self.type]]
        return [value for (value,) in struct.iter_unpack("=" + code, self.data)]

    def tolist(self) -> Any:
        """The elements in nested lists."""
        values: List[Any] = self.elements()
        for axis in reversed(range(1, len(self.shape))):
            size, count = self.shape[axis], math.prod(self.shape[:axis])
            values = [values[i * size : (i + 1) * size] for i in range(count)]
        return values

    def __repr__(self) -> str:
        return f"dmlop.Tensor({self.type} {list(self.shape)})"


class View:
    """Elements that the library reads: `owner` keeps them alive."""

    __slots__ = ("type", "shape", "strides", "address", "nbytes", "owner")

    def __init__(
        self,
        type: int,
        shape: Tuple[int, ...],
        strides: Optional[Tuple[int, ...]],
        address: int,
        nbytes: int,
        owner: Any,
    ):
        self.type = type
        self.shape = shape
        self.strides = strides
        self.address = address
        self.nbytes = nbytes
        self.owner = owner

    @property
    def layout(self) -> Tuple[Any, ...]:
        return (self.type, self.shape, self.strides)


def _refuse_type(name: str, what: str) -> None:
    raise _errors.Usage(f"{name} {what}")


def _type_of(name: str, dtype: Any) -> int:
    number = _BY_DTYPE.get(dtype)
    if number is not None:
        return number
    remedy = {
        "O": "it holds Python objects: pass an array of numbers, such as array.astype(numpy.float32)",
        "c": "a tensor has no complex numbers: pass its real and imaginary parts",
    }.get(dtype.kind, "a tensor has no such type")
    _refuse_type(name, f"has elements of type {dtype}; {remedy}")
    return 0


def _strides_of(array: Any) -> Optional[Tuple[int, ...]]:
    """The strides in elements of an array that is not packed; None if they cannot be passed."""
    size = array.dtype.itemsize
    if any(stride < 0 or stride % size for stride in array.strides):
        return None
    return tuple(stride // size for stride in array.strides)


def view_array(name: str, array: Any, packed: bool) -> View:
    """A NumPy array. It is copied if its byte order or layout cannot be passed, or if `packed`."""
    dtype = array.dtype
    if not dtype.isnative and dtype.kind in "iuf":
        array = array.astype(dtype.newbyteorder("="))
        dtype = array.dtype
    number = _BY_DTYPE.get(dtype) or _type_of(name, dtype)
    shape = array.shape
    if not array.flags.c_contiguous:
        strides = None if packed or not array.size else _strides_of(array)
        if strides is not None:
            reached = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))
            address = array.__array_interface__["data"][0]
            return View(number, shape, strides, address, reached * dtype.itemsize, array)
        array = numpy.ascontiguousarray(array)
    address = array.__array_interface__["data"][0]
    return View(number, shape or (1,), None, address, array.nbytes, array)


def _is_raw(memory: memoryview) -> bool:
    return memory.itemsize == 1 and memory.format.lstrip("@=<>!") in ("B", "b", "c")


def _number_of(memory: memoryview) -> Optional[int]:
    """The type of a buffer's elements; None if a tensor has no such type."""
    code = memory.format
    if code[:1] in ("@", "=", "<" if sys.byteorder == "little" else ">"):
        code = code[1:]
    return _BY_KIND.get((_KINDS.get(code, ""), memory.itemsize))


def _view_buffer(name: str, value: Any, type: Optional[int], shape: Any) -> View:
    memory = memoryview(value)
    if type is None:
        number = NUMBERS["UINT8"] if memory.format == "?" else _number_of(memory)
        if number is None:
            _refuse_type(name, f"has elements of format {memory.format!r}; a tensor has no such type")
        type, shape = number, memory.shape
    if not memory.c_contiguous:
        memory = memoryview(memory.tobytes())
    nbytes = memory.nbytes
    if memory.readonly:
        owner: Any = memory.obj if isinstance(memory.obj, bytes) and memory.obj else None
        if owner is None or len(owner) != nbytes:
            owner = memory.tobytes()
        address = ctypes.cast(ctypes.c_char_p(owner), ctypes.c_void_p).value
    else:
        owner = (ctypes.c_char * nbytes).from_buffer(memory.cast("B") if nbytes else bytearray(1))
        address = ctypes.addressof(owner)
    return View(type, tuple(shape) or (1,), None, address or 0, nbytes, owner)


def view(name: str, value: Any, packed: bool = False) -> View:
    """What a caller passes for a tensor. Errors: Usage."""
    if numpy is not None and type(value) is numpy.ndarray:
        return view_array(name, value, packed)
    if isinstance(value, Tensor):
        return _view_buffer(name, value.data, NUMBERS[value.type], value.shape)
    if isinstance(value, bytes):  # a text for NumPy
        return _view_buffer(name, value, None, None)
    if isinstance(value, (list, tuple, int, float, complex, str)) or value is None:
        if numpy is None or not isinstance(value, numpy.generic):
            kind = type(value).__name__
            _refuse_type(
                name,
                f"is a {kind}, which does not say what its elements are: pass an array or a "
                "buffer, such as numpy.array(x, dtype=numpy.float32)",
            )
    if numpy is not None:
        if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value):
            _refuse_type(name, "has masked elements, and a tensor has no mask: pass array.filled(value)")
        array = numpy.asarray(value)
        return view_array(name, array, packed)
    try:
        return _view_buffer(name, value, None, None)
    except TypeError:
        _refuse_type(name, f"is {_errors.kind_of(value)}: pass an array or a buffer")
        raise


def fill(struct_: TensorStruct, name: Optional[bytes], seen: View, with_elements: bool) -> None:
    """Fills a struct of C. The view has to outlive it."""
    rank = len(seen.shape)
    struct_.name = name
    if with_elements:
        struct_.data, struct_.bytes = seen.address, seen.nbytes
    struct_.sizes = (ctypes.c_uint64 * rank)(*seen.shape)
    if seen.strides is not None:
        struct_.strides = (ctypes.c_uint64 * rank)(*seen.strides)
    struct_.rank, struct_.type = rank, seen.type


class Planned:
    """A tensor of a list of C: what an input or an output of a run has to be."""

    __slots__ = ("name", "type", "sizes", "nbytes", "dtype")

    def __init__(self, struct_: TensorStruct):
        self.name = struct_.name.decode("utf-8", "replace")
        self.type = struct_.type
        self.sizes = tuple(struct_.sizes[i] for i in range(struct_.rank))
        self.nbytes = struct_.bytes
        self.dtype = _DTYPES.get(self.type)

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.name, NAMES[self.type], self.sizes)

    def make(self) -> Tuple[Any, int, Any]:
        """A new array, its address, and what keeps that valid."""
        if self.dtype is not None:
            array = numpy.empty(self.sizes, self.dtype)
            return array, array.__array_interface__["data"][0], array
        memory = (ctypes.c_char * self.nbytes)()
        return Tensor(NAMES[self.type], self.sizes, memory), ctypes.addressof(memory), memory

    def accept(self, value: Any) -> Tuple[Any, int, Any]:
        """The caller's array for this output. Errors: Usage."""
        what = f"{NAMES[self.type]} {list(self.sizes)}"
        if numpy is not None and isinstance(value, numpy.ndarray):
            if value.dtype != self.dtype or not value.dtype.isnative:
                raise _errors.Usage(f"out has elements of type {value.dtype}, but {self.name} is {what}")
            if value.shape != self.sizes:
                raise _errors.Usage(f"out has the shape {list(value.shape)}, but {self.name} is {what}")
            if not value.flags.c_contiguous:
                raise _errors.Usage("out is not contiguous: pass an array in C order")
            if not value.flags.writeable:
                raise _errors.Usage("out is read-only: pass an array that can be written")
            return value, value.__array_interface__["data"][0], value
        data = value.data if isinstance(value, Tensor) else value
        try:
            memory = memoryview(data)
        except TypeError:
            raise _errors.Usage(
                f"out is {_errors.kind_of(value)}: pass an array or a writable buffer"
            ) from None
        if memory.readonly:
            raise _errors.Usage("out is read-only: pass a buffer that can be written")
        if isinstance(value, Tensor) and value.type != NAMES[self.type]:
            raise _errors.Usage(f"out has elements of type {value.type}, but {self.name} is {what}")
        # Raw bytes may become anything; a buffer of something else has a type.
        if not isinstance(value, Tensor) and not _is_raw(memory) and _number_of(memory) != self.type:
            number = _number_of(memory)
            kind = f"format {memory.format!r}" if number is None else f"type {NAMES[number]}"
            raise _errors.Usage(f"out has elements of {kind}, but {self.name} is {what}")
        if not memory.c_contiguous or memory.nbytes != self.nbytes:
            raise _errors.Usage(
                f"out has {memory.nbytes} bytes, but {self.name}, {what}, has {self.nbytes}"
            )
        owner = (ctypes.c_char * memory.nbytes).from_buffer(memory.cast("B"))
        return value, ctypes.addressof(owner), owner


def copied(struct_: TensorStruct) -> Any:
    """A tensor of a result, in memory of its own."""
    planned = Planned(struct_)
    made, address, _ = planned.make()
    ctypes.memmove(address, struct_.data, struct_.bytes)
    return made
