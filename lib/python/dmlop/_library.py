"""The C interface (dmlop.h) through ctypes. ctypes releases the GIL during each call."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import weakref
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Optional

from . import _errors


class TensorStruct(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("path", c_char_p),
        ("data", c_void_p),
        ("bytes", c_uint64),
        ("sizes", POINTER(c_uint64)),
        ("strides", POINTER(c_uint64)),
        ("rank", c_uint32),
        ("type", c_uint32),
    ]


class TensorsStruct(ctypes.Structure):
    _fields_ = [("items", POINTER(TensorStruct)), ("count", c_size_t)]


class OperationStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("text", c_char_p),
        ("text_size", c_size_t),
        ("file", c_char_p),
        ("feature_level", c_char_p),
        ("as_", c_char_p),
        ("confined_to", c_char_p),
        ("dimensions", c_char_p),
        ("known_inputs", POINTER(TensorStruct)),
        ("known_input_count", c_size_t),
        ("fuse", c_uint32),
    ]


ShouldStop = ctypes.CFUNCTYPE(c_int, c_void_p)


class CallStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("should_stop", ShouldStop),
        ("user", c_void_p),
        ("keep_edges", c_uint32),
    ]


class ContextOptionsStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("threads", c_uint32),
        ("strict_indices", c_uint32),
        ("device_memory_bytes", c_uint64),
        ("host_memory_bytes", c_uint64),
    ]


class BenchOptionsStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("threads", c_uint32),
        ("min_runs", c_uint32),
        ("min_seconds", c_double),
    ]


class CriteriaStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("rtol", c_double),
        ("atol", c_double),
        ("ulp", c_int64),
        ("nan_differs", c_uint32),
        ("allow_trivial", c_uint32),
    ]


def _path() -> str:
    """The library in this package, or the one that DMLOP_LIBRARY names. The package of a system has
    it where libraries are: in lib/ for lib/python3/dist-packages/dmlop, or in lib64/ beside it."""
    name = {"win32": "dmlop_c.dll", "darwin": "libdmlop_c.dylib"}.get(sys.platform, "libdmlop_c.so")
    folder = os.path.dirname(os.path.abspath(__file__))
    lib = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    prefix = os.path.dirname(lib)
    named = os.environ.get("DMLOP_LIBRARY")
    if named:
        return named
    installed = [os.path.join(of, "libdmlop_c.so.1") for of in (lib, os.path.join(prefix, "lib64"))]
    for path in [os.path.join(folder, name), *installed]:
        if os.path.exists(path):
            return path
    return "libdmlop_c.so.1" if sys.platform == "linux" else name


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"loading dmlop's library {path}: {error}; install the wheel, or set DMLOP_LIBRARY to the "
            "path of libdmlop_c.so.1 (build/lib/ of a build)"
        ) from None
    error = POINTER(c_void_p)
    operation, tensors = POINTER(OperationStruct), POINTER(TensorStruct)
    call, text = POINTER(CallStruct), POINTER(c_void_p)
    handle = c_void_p
    functions = {
        "dmlop_error_message": (c_char_p, [handle]),
        "dmlop_error_findings": (c_char_p, [handle]),
        "dmlop_error_free": (None, [handle]),
        "dmlop_text_free": (None, [c_void_p]),
        "dmlop_version": (c_char_p, []),
        "dmlop_check": (c_int, [operation, tensors, c_size_t, text, error]),
        "dmlop_open": (c_int, [POINTER(ContextOptionsStruct), POINTER(handle), error]),
        "dmlop_context_device": (c_char_p, [handle]),
        "dmlop_close": (None, [handle]),
        "dmlop_result_outputs": (TensorsStruct, [handle]),
        "dmlop_result_edges": (TensorsStruct, [handle]),
        "dmlop_result_free": (None, [handle]),
        "dmlop_prepare": (c_int, [handle, operation, tensors, c_size_t, POINTER(handle), error]),
        "dmlop_prepared_inputs": (TensorsStruct, [handle]),
        "dmlop_prepared_outputs": (TensorsStruct, [handle]),
        "dmlop_prepared_run": (c_int, [handle, POINTER(c_void_p), POINTER(c_void_p), call, error]),
        "dmlop_prepared_free": (None, [handle]),
        "dmlop_load": (c_int, [operation, POINTER(handle), error]),
        "dmlop_program_inputs": (TensorsStruct, [handle]),
        "dmlop_program_outputs": (TensorsStruct, [handle]),
        "dmlop_program_report": (c_int, [handle, text, error]),
        "dmlop_program_run": (
            c_int,
            [handle, handle, tensors, c_size_t, call, POINTER(handle), error],
        ),
        "dmlop_program_free": (None, [handle]),
        "dmlop_compare": (c_int, [tensors, tensors, POINTER(CriteriaStruct), call, text, error]),
        "dmlop_bench": (
            c_int,
            [operation, tensors, c_size_t, POINTER(BenchOptionsStruct), call, text, error],
        ),
        "dmlop_criteria_of": (c_int, [c_char_p, c_uint32, POINTER(CriteriaStruct), error]),
        "dmlop_write_npy": (c_int, [c_char_p, tensors, error]),
        "dmlop_operators": (c_int, [c_char_p, text, error]),
        "dmlop_operator_of": (c_int, [operation, text, error]),
        "dmlop_devices": (c_int, [text, error]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


library = _load()


def _interruption() -> Any:
    """Tells the library whether Ctrl-C was pressed. The function itself does not run the signal's
    handler, whose exception could not be raised from here."""
    occurred = getattr(ctypes.pythonapi, "PyOS_InterruptOccurred", None)
    return ShouldStop() if occurred is None else ShouldStop(occurred)


_should_stop = _interruption()
_never = ShouldStop()


def make_call(keep_edges: bool = False) -> CallStruct:
    """What a call in this thread passes. Python gives signals to its main thread alone. In another
    thread the question would need the GIL, and where the interpreter ends, Python ends the thread
    that asks for it, in the middle of the library."""
    is_main = threading.get_ident() == threading.main_thread().ident
    should_stop = _should_stop if is_main else _never
    return CallStruct(ctypes.sizeof(CallStruct), should_stop, None, int(keep_edges))


def free_with(owner: Any, free: Callable[[c_void_p], None], handle: c_void_p) -> None:
    """Frees a handle when its owner is gone. At the end of the interpreter the system does it: other
    threads may still use the handle."""
    weakref.finalize(owner, free, handle).atexit = False


def _handle_interruption() -> None:
    """Calls the handler of Ctrl-C, which raises an exception or wants the call to go on."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    handler(signal.SIGINT, sys._getframe(1))


def _fail(status: int, error: c_void_p) -> None:
    """Raises what a call stored, and frees it."""
    text = library.dmlop_error_message(error).decode("utf-8", "replace")
    findings = library.dmlop_error_findings(error).decode("utf-8", "replace")
    library.dmlop_error_free(error)
    kind = _errors.BY_STATUS.get(status, _errors.Error)
    raise kind(text, _errors.findings_of(findings))


def invoke(function: Callable[..., int], *arguments: Any) -> int:
    """Calls a function whose last argument is for its error. Returns its status, 0 or 1. As Python's
    own calls do (PEP 475), it is called again where the handler of Ctrl-C returns."""
    while True:
        error = c_void_p()
        status = function(*arguments, ctypes.byref(error))
        if status <= 1:
            return status
        if status != 130:
            _fail(status, error)
        library.dmlop_error_free(error)
        _handle_interruption()


def take_text(pointer: c_void_p) -> str:
    """A text of the library, which is then freed."""
    try:
        return ctypes.string_at(pointer.value or b"").decode("utf-8", "replace")
    finally:
        library.dmlop_text_free(pointer)


def encoded(text: Optional[str], name: str = "the text") -> Optional[bytes]:
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r}: pass a str")
    if "\0" in text:
        raise _errors.Usage("a text has a character 0: leave it out")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(text)


def version() -> str:
    return library.dmlop_version().decode()
