"""What `import dmlop` does, with NumPy: results, arrays of every kind, bad input, threads, Ctrl-C."""

import array
import copy
import ctypes
import gc
import inspect
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import dmlop
import numpy as np
import pytest

SAMPLES = pathlib.Path(os.environ["DMLOP_SAMPLES"])
EDGE = {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [1, 0]}
X = np.arange(6, dtype=np.float32).reshape(2, 3)
PADDED = np.pad(X, [(0, 1), (1, 0)], "edge")
# Minutes of work: a sum of 2^40 elements, which all are one.
ONES = np.broadcast_to(np.float32(1), (1 << 10, 1 << 20, 1 << 10))
SUM = {"Function": "SUM", "Axes": [0, 1, 2]}


def pad(x, **options):
    y = dmlop.run("PADDING", x, device="cpu", **EDGE, **options)
    first = bytes(y)
    # A call that a plan is known for gives the same.
    again = dmlop.run("PADDING", x, device="cpu", **EDGE, **options)
    assert bytes(again) == first
    return again


def refusal(kind, action):
    with pytest.raises(kind) as caught:
        action()
    return str(caught.value)


@pytest.mark.parametrize("type", ["f4", "f2", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_every_type(type):
    y = pad(X.astype(type))
    assert y.dtype == type
    assert (y == PADDED).all()


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(X),
        np.ascontiguousarray(X.T).T,
        np.repeat(X, 2, axis=1)[:, ::2],
        X[::-1][::-1],
        X.astype(">f4"),
        X[:, ::-1].copy()[:, ::-1],
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3),
        np.array([[(0, x) for x in row] for row in X], [("flag", "u1"), ("x", "f4")])["x"],
        np.array([[(x, 0) for x in row] for row in X], [("x", "f4"), ("y", "f8")])["x"],
    ],
    ids=["fortran", "transposed", "steps", "reversed twice", "big-endian", "negative", "unaligned",
         "field of 5 bytes", "field of 12 bytes"],
)
def test_every_layout(array):
    assert (array == X).all()
    assert (pad(array) == PADDED).all()


def test_arrays_that_are_broadcast_are_not_copied():
    huge = np.broadcast_to(np.float32([1, 2]), (1 << 20, 1 << 10, 2))  # 8 GiB, if it were copied
    window = {"InputWindowOffsets": [7, 0, 0], "InputWindowSizes": [1, 1, 2], "InputWindowStrides": [1, 1, 1]}
    assert dmlop.run("SLICE1", huge, device="cpu", **window).tolist() == [[[1, 2]]]
    row = np.broadcast_to(np.float32([1, 2, 3]), (2, 3))
    assert (dmlop.run("ELEMENT_WISE_ADD", row, X, device="cpu") == row + X).all()


def test_read_only_arrays_and_subclasses():
    array = X.copy()
    array.flags.writeable = False
    assert (pad(array) == PADDED).all()
    assert (pad(np.ma.masked_array(X)) == PADDED).all()
    assert (pad(memoryview(X)) == PADDED).all()


def test_a_scalar_array_is_a_tensor_of_one_element():
    assert dmlop.run("ELEMENT_WISE_ABS", np.array(-3, np.float32), device="cpu").tolist() == [3]


def test_every_way_to_name_an_operation_and_its_inputs(tmp_path):
    op = {"type": "PADDING", "desc": EDGE}
    text = '{"type": "PADDING", // a comment\n "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [1, 0]}}'
    file = tmp_path / "op.json"
    file.write_text(text)
    for each in (op, text, file, str(file), tmp_path):
        assert (dmlop.run(each, inputs={"InputTensor": X}, device="cpu") == PADDED).all()
    assert (dmlop.run(op, X, device="cpu") == PADDED).all()
    assert (dmlop.run("PADDING", InputTensor=X, device="cpu", **EDGE) == PADDED).all()
    assert (dmlop.ops.PADDING(X, device="cpu", **EDGE) == PADDED).all()
    np.save(tmp_path / "InputTensor.npy", X)
    assert (dmlop.run(tmp_path, device="cpu") == PADDED).all()
    expected = np.load(SAMPLES / "padding/expected/OutputTensor.npy")
    assert (dmlop.run(SAMPLES / "padding", device="cpu") == expected).all()


def test_arrays_in_the_order_of_inputs_are_for_texts_and_files_too(tmp_path):
    text = """{ // a comment
      "type": /* "TILE" */ "PADDING",
      "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [1, 0,], /* last */},
    }"""
    (tmp_path / "op.json").write_text(text)
    for each in (text, text.encode(), tmp_path / "op.json", tmp_path):
        assert (dmlop.run(each, X, device="cpu") == PADDED).all()
    assert "no/such.json" in refusal(dmlop.IoFailed, lambda: dmlop.run("no/such.json", X, device="cpu"))
    (tmp_path / "op.json").write_text('{"type": "PADDING",')
    for each in ('{"type": "PADDING",', tmp_path / "op.json"):
        message = refusal(dmlop.Invalid, lambda: dmlop.run(each, X, device="cpu"))
        assert "1:20" in message and "which inputs" not in message


def test_a_dict_is_what_its_json_is():
    inline = {"type": "PADDING", **EDGE}
    for each in (inline, {"Type": "DML_OPERATOR_PADDING", "Desc": EDGE}):
        for op in (each, json.dumps(each)):
            assert (dmlop.run(op, X, device="cpu") == PADDED).all()
    start = {"Type": "PADDING", "Desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1]}}
    assert (dmlop.run(start, X, device="cpu", EndPadding=[1, 0]) == PADDED).all()
    assert "Desc" in start and "EndPadding" not in start["Desc"]
    for desc in (None, [1]):
        wrong = {"type": "PADDING", "desc": desc}
        message = refusal(dmlop.Usage, lambda: dmlop.run(wrong, X, device="cpu", **EDGE))
        assert message == f"desc is {desc!r}: fields are added to a dict"


def test_a_description_that_names_no_operator_has_findings():
    for wrong in ({}, {"desc": EDGE}, {"type": 5}, {"type": "PADING", "desc": EDGE}, '{"type": "\udcff"}'):
        with pytest.raises(dmlop.Invalid) as caught:
            dmlop.run(wrong, X, device="cpu")
        assert caught.value.findings and "which inputs" not in str(caught.value)
    wrong = SAMPLES.parent / "README.md"
    assert refusal(dmlop.Invalid, lambda: dmlop.run(wrong, X, device="cpu")).startswith(str(wrong))
    for program in (SAMPLES / "graph/graph.json", SAMPLES / "onnx/model.onnx"):
        assert "dmlop.load" in refusal(dmlop.Usage, lambda: dmlop.run(program, X, device="cpu"))


def test_messages_call_options_what_arguments_are_called():
    """Nobody who calls a function has the options of the command line."""
    cpu = {"device": "cpu"}
    tile = {"type": "TILE", "desc": {"Repeats": [2]}}
    pick = {"Axis": 0, "IndexDimensions": 1}
    bound = {"type": "PADDING", "desc": {**EDGE, "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]}},
             "bindings": {"InputTensor": "../x.npy"}}
    node = {"type": "ELEMENT_WISE_ABS", "as": "page", "inputs": {"InputTensor": "x"},
            "outputs": {"OutputTensor": "y"}}
    graph = {"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [3]}], "outputs": ["y"], "nodes": [node]}
    said = [
        refusal(dmlop.Invalid, lambda: dmlop.run("PADDING", X.astype("i8"), feature_level="1_0", **EDGE, **cpu)),
        refusal(dmlop.Invalid, lambda: dmlop.run(tile, np.zeros(2), **cpu)),
        refusal(dmlop.Invalid, lambda: dmlop.check(bound, confined_to=".")),
        refusal(dmlop.Invalid, lambda: dmlop.load(graph)),
        refusal(dmlop.Invalid, lambda: dmlop.Context("cpu", strict_indices=True).run(
            "GATHER", np.zeros(3, "f4"), np.full(2, 9, "u4"), **pick)),
        refusal(dmlop.RunFailed, lambda: dmlop.Context("cpu", host_memory_bytes=1).run(
            "ACTIVATION_SOFTMAX", np.zeros((1, 1, 500, 500), "f4"))),
        dmlop.compare(X + 1, X + np.float32(1.0001)).text,
    ]
    words = ['feature_level "5_0"', 'with the judge "directml-1.15.4"', "confined_to: a path",
             "the judge is for the whole graph", "without strict_indices", "host_memory_bytes allows 1", "rtol "]
    for message, word in zip(said, words):
        assert word in message and "--" not in message, message
    if not any(device.kind not in ("cpu", "software") for device in dmlop.devices()):
        assert "--" not in refusal(dmlop.Unavailable, lambda: dmlop.run("PADDING", X, device="gpu", **EDGE))


def test_what_is_passed_by_names_is_a_dict():
    assert refusal(dmlop.Usage, lambda: dmlop.run("PADDING", inputs={5: X}, device="cpu", **EDGE)) == (
        "inputs has the key 5: keys are names, each a str"
    )
    for wrong in ([X], X):
        message = refusal(dmlop.Usage, lambda: dmlop.run("PADDING", inputs=wrong, device="cpu", **EDGE))
        assert message.startswith("inputs is a") and message.endswith("pass a dict whose keys are names")
    graph = SAMPLES / "graph/graph.json"
    assert "inputs is a list" in refusal(dmlop.Usage, lambda: dmlop.load(graph).run([X], device="cpu"))
    assert "dimensions is a list" in refusal(dmlop.Usage, lambda: dmlop.load(graph, dimensions=[1]))
    assert refusal(dmlop.Usage, lambda: dmlop.compare(X, X, atol="x")) == "atol is 'x': give a number that is not negative"
    assert "(default)" in dmlop.compare(X, X).text and "(caller)" in dmlop.compare(X, X, ulp=1).text
    assert "ulp is inf" in refusal(dmlop.Usage, lambda: dmlop.compare(X, X, ulp=float("inf")))


def test_what_other_processes_may_get_is_pickled():
    tensor = dmlop.Tensor("INT4", (2, 1), b"\x01\xff")
    for same in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
        assert (same.type, same.shape, same.tolist()) == ("INT4", (2, 1), [[1], [-1]])
    assert pickle.loads(pickle.dumps(dmlop.ops.PADDING)) is dmlop.ops.PADDING
    with pytest.raises(dmlop.Invalid) as caught:
        dmlop.check("PADDING", X)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (type(error), str(error), error.findings) == (dmlop.Invalid, str(caught.value), caught.value.findings)


@pytest.mark.parametrize("name", ["bindings", "bind\\u0069ngs"])
def test_files_that_a_text_names_are_read_by_each_run(name, tmp_path):
    path = json.dumps((tmp_path / "x.npy").as_posix())
    text = '{"type": "ELEMENT_WISE_ABS", "desc": {}, "%s": {"InputTensor": %s}}' % (name, path)
    for factor in (1, 2):
        np.save(tmp_path / "x.npy", -X * factor)
        assert (dmlop.run(text, device="cpu") == X * factor).all()


def test_values_of_numpy_are_fields():
    y = dmlop.run("PADDING", X, PaddingMode="CONSTANT", PaddingValue=np.float32(7), device="cpu",
                  StartPadding=np.array([0, 1]), EndPadding=(np.int64(1), 0))
    assert (y == np.pad(X, [(0, 1), (1, 0)], constant_values=7)).all()
    y = dmlop.run("PADDING", X, PaddingMode="CONSTANT", PaddingValue=float("-inf"), device="cpu",
                  StartPadding=[0, 0], EndPadding=[1, 0])
    assert (y[2] == -np.inf).all()


def test_arrays_of_tensors_and_several_outputs():
    assert (dmlop.run("JOIN", [X, X], Axis=1, device="cpu") == np.hstack([X, X])).all()
    assert (dmlop.run("JOIN", inputs={"InputTensors": [X, X]}, Axis=0, device="cpu") == np.vstack([X, X])).all()
    top = {"Axis": 1, "K": 2, "OutputIndexTensor": {"DataType": "UINT32"}}
    values, indices = dmlop.run("TOP_K", X, device="cpu", **top)
    assert values.tolist() == [[2, 1], [5, 4]]
    assert indices.tolist() == [[2, 1], [2, 1]]
    out = {"OutputIndexTensor": np.zeros((2, 2), np.uint32)}
    assert dmlop.run("TOP_K", X, out=out, device="cpu", **top)[1] is out["OutputIndexTensor"]


def test_out_is_written_and_returned():
    y = np.zeros((3, 4), np.float32)
    assert pad(X, out=y) is y
    assert (y == PADDED).all()
    z = X.copy()
    dmlop.run("ELEMENT_WISE_NEGATE", z, out=z, device="cpu")
    assert (z == -X).all()
    buffer = bytearray(48)
    assert pad(X, out=buffer) is buffer
    assert bytes(buffer) == PADDED.tobytes()


def test_out_that_does_not_fit():
    read_only = np.zeros((3, 4), np.float32)
    read_only.flags.writeable = False
    for out, message in [
        (np.zeros((3, 4)), "out has elements of type float64, but OutputTensor is FLOAT32 [3, 4]"),
        (np.zeros((3, 4), ">f4"), "out has elements of type >f4"),
        (np.zeros((4, 3), np.float32), "out has the shape [4, 3], but OutputTensor is FLOAT32 [3, 4]"),
        (np.zeros((4, 3), np.float32).T, "out is not contiguous"),
        (read_only, "out is read-only"),
        (bytes(48), "out is read-only"),
        (bytearray(47), "out has 47 bytes, but OutputTensor, FLOAT32 [3, 4], has 48"),
        ("text", "out is a str"),
        ([read_only, read_only], "out has 2 arrays, but the outputs are OutputTensor"),
        ({"Output": read_only}, "there is no output Output: outputs: OutputTensor"),
    ]:
        assert refusal(dmlop.Usage, lambda: pad(X, out=out)).startswith(message)


def test_arrays_that_are_no_tensors():
    for array, message in [
        (np.array([[1, None]], object), "InputTensor has elements of type object; it holds Python objects"),
        (np.array([[1j]]), "InputTensor has elements of type complex128"),
        (np.array([["text"]]), "InputTensor has elements of type <U4"),
        (np.zeros((2, 2), [("a", "f4")]), "InputTensor has elements of type"),
        ([[1, 2]], "InputTensor is a list, which does not say what its elements are"),
    ]:
        assert refusal(dmlop.Usage, lambda: pad(array)).startswith(message)
    assert "size" in refusal(dmlop.Invalid, lambda: pad(np.zeros((0, 3), np.float32)))
    masked = np.ma.masked_array(X, mask=X > 1)
    assert "pass array.filled(value)" in refusal(dmlop.Usage, lambda: pad(masked))


def test_buffers_of_another_type_are_no_output():
    for out in [array.array("i", [0] * 12), dmlop.Tensor("INT32", (3, 4), bytearray(48))]:
        assert "has elements of type INT32, but OutputTensor is FLOAT32" in refusal(
            dmlop.Usage, lambda: pad(X, out=out))
    swapped = ctypes.c_float.__ctype_be__ if sys.byteorder == "little" else ctypes.c_float.__ctype_le__
    for kind in (swapped, ctypes.py_object, ctypes.c_bool, ctypes.c_void_p):
        assert "out has elements of format" in refusal(dmlop.Usage, lambda: pad(X, out=(kind * 12)()))
    for raw in (bytearray(48), (ctypes.c_ubyte * 48)(), (ctypes.c_char * 48)(), (ctypes.c_float * 12)()):
        assert pad(X, out=raw) is raw
        assert bytes(raw) == PADDED.tobytes()
    assert pad(X, out=array.array("f", [0] * 12)).tolist() == pad(X).flatten().tolist()


def test_booleans_are_uint8():
    truth = np.array([[True, False], [False, True]])
    for strided in (truth, truth.T, truth[:, ::-1]):
        inverse = dmlop.run("ELEMENT_WISE_LOGICAL_NOT", strided, device="cpu")
        assert inverse.dtype == np.uint8
        assert (inverse == ~strided).all()


def test_bytes_are_uint8():
    for given in (b"\x00\x01\xff", bytearray(b"\x00\x01\xff"), memoryview(b"\x00\x01\xff")):
        assert dmlop.run("ELEMENT_WISE_BIT_NOT", given, device="cpu").tolist() == [255, 254, 0]


def test_counts_that_c_would_cut():
    for wrong in [-1, 1 << 32, 1.5, True]:
        assert f"threads is {wrong!r}" in refusal(dmlop.Usage, lambda: dmlop.Context("cpu", threads=wrong))
    assert "min_runs" in refusal(dmlop.Usage, lambda: dmlop.bench("PADDING", X, device="cpu", min_runs=-1, **EDGE))


def test_counts_may_be_numbers_of_numpy():
    for number in (np.int64(2), np.uint8(2)):
        with dmlop.Context("cpu", threads=number, device_memory_bytes=number) as context:
            assert (context.run("PADDING", X, **EDGE) == PADDED).all()


def test_texts_of_another_type():
    for action, message in [
        (lambda: dmlop.run("PADDING", X, device=3, **EDGE), 'device is 3: pass a str, such as "cpu", one of dmlop.devices() or a dmlop.Context'),
        (lambda: dmlop.run("PADDING", X, device=["cpu"], **EDGE), "device is ['cpu']: pass a str"),
        (lambda: dmlop.Context(3), "device is 3: pass a str"),
        (lambda: pad(X, feature_level=5.0), "feature_level is 5.0: pass a str"),
        (lambda: dmlop.check("PADDING", X, judge=1, **EDGE), "judge is 1: pass a str"),
    ]:
        assert refusal(TypeError, action).startswith(message)


def test_wrong_calls():
    assert "the operator has 1: InputTensor" in refusal(dmlop.Usage, lambda: dmlop.run("PADDING", X, X, device="cpu", **EDGE))
    assert "did you mean" in refusal(dmlop.Invalid, lambda: dmlop.run({"type": "PADING"}, device="cpu"))
    assert "PADING" in refusal(dmlop.Usage, lambda: dmlop.ops("PADING"))
    assert "no operator 'PADING'" in refusal(AttributeError, lambda: dmlop.ops.PADING)
    assert "is given twice" in refusal(dmlop.Usage, lambda: pad(X, inputs={"InputTensor": X}))
    assert "no array is given for" in refusal(dmlop.Error, lambda: dmlop.run(
        {"type": "PADDING", "desc": {**EDGE, "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]}}}, device="cpu"))
    assert "not an int" in refusal(dmlop.Usage, lambda: dmlop.run(3, device="cpu"))
    assert "an object is not a value of a field" in refusal(dmlop.Usage, lambda: dmlop.run("PADDING", X, PaddingMode=object(), device="cpu"))
    assert "fields are given to" in refusal(dmlop.Usage, lambda: dmlop.run(SAMPLES / "padding", Axis=1, device="cpu"))
    assert "toaster" in refusal(dmlop.Usage, lambda: dmlop.Context("toaster"))
    assert isinstance(dmlop.Invalid(""), ValueError) and isinstance(dmlop.IoFailed(""), OSError)
    with pytest.raises(dmlop.IoFailed):
        dmlop.run("nonexistent.json", device="cpu")


def test_check_has_findings():
    with pytest.raises(dmlop.Invalid) as caught:
        dmlop.check("PADDING", X.astype(np.uint8), PaddingMode="CONSTANT", PaddingValue=300,
                    StartPadding=[0], EndPadding=[0, 1])
    findings = caught.value.findings
    assert [finding.pointer for finding in findings] == ["/desc/PaddingValue", "/desc/StartPadding"]
    assert findings[0].message == "PaddingValue is 300, which does not fit UINT8"
    assert findings[0].line == 1
    assert str(findings[1]) in str(caught.value)
    report = dmlop.check("PADDING", X, **EDGE)
    assert report.tensors[1] == ("OutputTensor", "FLOAT32", (3, 4))
    assert report.warnings == []
    tile = {"type": "TILE", "desc": {"InputTensor": {"DataType": "FLOAT64", "Sizes": [2]}, "Repeats": [2]}}
    with pytest.raises(dmlop.Invalid):
        dmlop.check(tile)
    assert dmlop.check(tile, judge="directml-1.15.4").warnings
    with pytest.raises(dmlop.Invalid):
        dmlop.check("PADDING", X, feature_level="1_0", **EDGE)


def test_compiled_runs_on_arrays_of_any_layout():
    c = dmlop.compile("PADDING", device="cpu", **EDGE)
    for array in (X, X + 1, X.astype(np.float16), np.asfortranarray(X), np.zeros((5, 7), np.int8)):
        assert (c(array) == np.pad(array, [(0, 1), (1, 0)], "edge")).all()
    y = np.empty_like(PADDED)
    assert c(InputTensor=X, out=y) is y
    add = dmlop.compile("ELEMENT_WISE_ADD", device="cpu", BTensor=np.ones_like(X))
    assert (add(ATensor=X) == X + 1).all()


def test_a_closed_context():
    context = dmlop.Context("cpu", threads=1)
    assert context.device == "cpu"
    c = context.compile("PADDING", **EDGE)
    assert (c(X) == PADDED).all()
    context.close()
    context.close()
    for action in (lambda: c(X), lambda: context.run("PADDING", X, **EDGE), lambda: context.device):
        assert refusal(dmlop.Usage, action) == "the context is closed"
    with dmlop.Context("cpu") as other:
        assert (dmlop.run("PADDING", X, device=other, **EDGE) == PADDED).all()
    with pytest.raises(dmlop.Usage):
        other.__enter__()


def test_strict_indices():
    indices = np.array([0, 6], np.uint32)
    run = {"Axis": 0, "IndexDimensions": 1}
    assert dmlop.run("GATHER", X[0], indices, device="cpu", **run).tolist() == [0, 2]
    with dmlop.Context("cpu", strict_indices=True) as strict:
        assert "out of range" in refusal(dmlop.Invalid, lambda: strict.run("GATHER", X[0], indices, **run))


def test_compare(tmp_path):
    assert dmlop.compare(X, X)
    different = dmlop.compare(X, X + np.float32(1))
    assert not different and different.verdict == "FAILED"
    assert different.summary == "6 of 6 elements differ (100%)"
    assert "6 of 6" in refusal(AssertionError, different.raise_if_different)
    assert dmlop.compare(X, X + np.float32(1), atol=1)
    assert dmlop.compare(X, np.nextafter(X, 9, dtype=np.float32), ulp=1)
    np.save(tmp_path / "x.npy", X)
    assert dmlop.compare(tmp_path / "x.npy", X.T.copy().T)
    for options in ({"rtol": -1}, {"atol": float("nan")}, {"ulp": 0.5}, {"ulp": 1 << 63}, {"nan": "maybe"}):
        with pytest.raises(dmlop.Usage):
            dmlop.compare(X, X, **options)
    with pytest.raises(dmlop.IoFailed):
        dmlop.compare(X, tmp_path / "none.npy")
    assert set(dmlop.criteria("GEMM", "FLOAT32")) <= {"rtol", "atol", "ulp"}


def test_operators_and_devices():
    assert len(dmlop.ops()) == 177
    resample = dmlop.ops("RESAMPLE2")
    mode = next(field for field in resample.fields if field.name == "InterpolationMode")
    assert "LINEAR" in mode.values
    assert "PaddingMode: DML_PADDING_MODE" in dmlop.ops.PADDING.__doc__
    assert "PADDING" in dir(dmlop.ops)
    assert dmlop.devices()[0].spec == "cpu"
    assert dmlop.__version__.count(".") == 2


def test_bench():
    timing = dmlop.bench("PADDING", X, device="cpu", min_seconds=0, min_runs=3, **EDGE)
    assert (timing.device, timing.clock, timing.runs) == ("cpu", "wall", 3)
    assert (timing.input_bytes, timing.output_bytes) == (24, 48)
    assert 0 < timing.median_seconds <= timing.percentile95_seconds
    described = {"InputTensor": {"DataType": "FLOAT16", "Sizes": [2, 3]}}
    assert dmlop.bench("PADDING", device="cpu", min_seconds=0, **described, **EDGE).output_bytes == 24
    with pytest.raises(dmlop.Usage):
        dmlop.bench("PADDING", X, min_seconds=-1, **EDGE)


def test_programs(tmp_path):
    file = SAMPLES / "graph/graph.json"
    image = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    for source in (file, str(file), file.read_text(), file.read_bytes()):
        program = dmlop.load(source)
        assert program.inputs == [("image", "FLOAT32", (1, 1, 4, 4))]
        assert [node.operator for node in program.nodes] == ["PADDING", "MAX_POOLING", "ELEMENT_WISE_ADD"]
        result = program.run({"image": image}, edges=True, device="cpu")
        assert result["result"].tolist() == [[[[6, 8], [14, 16]]]]
        assert (result.edges["padded"] == np.pad(image, [(0, 0), (0, 0), (1, 1), (1, 1)], "edge")).all()
    assert program.run({"image": image.T.copy().T}, device="cpu").edges == {}
    assert "is not given" in refusal(dmlop.Usage, lambda: program.run(device="cpu"))
    with pytest.raises(dmlop.Invalid):
        program.run({"image": image[..., :2]}, device="cpu")
    with pytest.raises(dmlop.Usage):
        dmlop.load(SAMPLES / "padding/op.json")
    with pytest.raises(dmlop.Error):
        dmlop.load(b"\0" * 100)
    with pytest.raises(dmlop.IoFailed):
        dmlop.load(tmp_path / "Partition_0.bin")


def test_inputs_of_programs_in_another_order():
    model = dmlop.load(SAMPLES / "onnx/model.onnx", dimensions={"batch": 2})
    x = np.load(SAMPLES / "onnx/x.npy")
    expected = model.run({"x": x}, device="cpu")
    for same in (x.ravel(), x.reshape(1, 2, 4), x.reshape(2, 2, 2)):
        assert np.array_equal(model.run({"x": same}, device="cpu")["y"], expected["y"])
    for other, remedy in ((x.T, "array.transpose(1, 0)"), (x.T.reshape(4, 1, 2), None)):
        text = refusal(dmlop.Invalid, lambda: model.run({"x": other}, device="cpu"))
        assert 'the input "x" is FLOAT32 [2, 4], 32 bytes, but its array has' in text.replace("buffer", "array")
        assert ("help: pass " + remedy in text) if remedy else "help" not in text


def test_checks_models_with_named_dimensions():
    path = SAMPLES / "onnx/model.onnx"
    checked = dmlop.check(path, dimensions={"batch": 3})
    assert checked.tensors[0].sizes == (3, 4)
    x = np.load(SAMPLES / "onnx/x.npy")
    assert dmlop.check(path, known_inputs={"x": x}).tensors[0].name != "x"
    for call in (lambda: dmlop.check("PADDING", X, dimensions={"batch": 3}, **EDGE),
                 lambda: dmlop.load(SAMPLES / "graph/graph.json", dimensions={"batch": 3})):
        assert refusal(dmlop.Usage, call) == "dimensions are those of an ONNX model"


def test_devices_of_calls(monkeypatch):
    x = np.ones(3, np.float32)
    cpu = [device for device in dmlop.devices() if device.spec == "cpu"][0]
    assert np.array_equal(dmlop.run("ELEMENT_WISE_ABS", x, device=cpu), x)
    assert dmlop.Context(cpu).device == "cpu"
    monkeypatch.setenv("DMLOP_DEVICE", "nonsense")
    for call in (dmlop.Context, lambda: dmlop.run("ELEMENT_WISE_ABS", x)):
        assert "nonsense" in refusal(dmlop.Usage, call)
    assert np.array_equal(dmlop.run("ELEMENT_WISE_ABS", x, device="cpu"), x)
    monkeypatch.setenv("DMLOP_DEVICE", "")
    assert dmlop.Context().device in [device.spec for device in dmlop.devices()]


def test_arrays_for_outputs():
    x = np.ones((300, 300), np.float32)
    assert refusal(
        dmlop.Usage, lambda: dmlop.run("ELEMENT_WISE_ABS", x, OutputTensor=x)
    ) == "OutputTensor is an output: pass the memory for it as out="


def test_onnx_models():
    model = dmlop.load(SAMPLES / "onnx/model.onnx", dimensions={"batch": 2})
    x = np.load(SAMPLES / "onnx/x.npy")
    assert [(each.name, each.sizes) for each in model.inputs] == [("x", (2, 4))]
    result = model.run({"x": x}, device="cpu")
    assert list(result) == [each.name for each in model.outputs]
    unknown = refusal(dmlop.Invalid, lambda: dmlop.load(SAMPLES / "onnx/model.onnx"))
    assert unknown.endswith('help: give "batch" a size in dimensions')
    # A size of 0 is one, and the operators say that they take none.
    assert 'the output "y" is empty' in refusal(
        dmlop.Unavailable, lambda: dmlop.load(SAMPLES / "onnx/model.onnx", dimensions={"batch": 0})
    )
    assert refusal(
        dmlop.Usage, lambda: dmlop.load(SAMPLES / "onnx/model.onnx", dimensions={"batch": -1})
    ) == "dimensions['batch'] is -1: pass a whole number from 0 to 2147483647"
    known = dmlop.load(SAMPLES / "onnx/model.onnx", known_inputs={"x": x})
    assert known.inputs == []
    assert 'the input "x" is a constant, which known_inputs gave its elements' in refusal(
        dmlop.Usage, lambda: known.run({"x": x}, device="cpu")
    )
    name = model.outputs[0].name
    assert np.array_equal(known.run(device="cpu")[name], result[name])
    assert "known_inputs is a list" in refusal(
        dmlop.Usage, lambda: dmlop.load(SAMPLES / "onnx/model.onnx", known_inputs=[x])
    )
    with pytest.raises(dmlop.Usage):
        dmlop.load(SAMPLES / "graph/graph.json", known_inputs={"x": x})
    fused = dmlop.load(SAMPLES / "onnx/model.onnx", dimensions={"batch": 2}, fuse=True)
    assert len(fused.nodes) == len(model.nodes) - 1
    assert np.array_equal(fused.run({"x": x}, device="cpu")[name], result[name])
    assert "fuse applies only to ONNX models" in refusal(
        dmlop.Usage, lambda: dmlop.load(SAMPLES / "graph/graph.json", fuse=True)
    )
    assert "fuse applies only to ONNX models" in refusal(
        dmlop.Usage, lambda: dmlop.check("PADDING", X, fuse=True, **EDGE)
    )


NAMES = ["a=b", "=", "a=1", "a,b", ",", "a=b,c=d", "a b", " ", '"a"', "'", "a\\b", "a/b", "/", "../a", "a:b", "[0]", "a[0]",
         "{a}", "%s", "a\tb", "a\nb", "\u00e4", "\u65e5\u672c", "\U0001f41f", "null", "self", "device", "inputs"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_tensors_and_edges(name):
    x, m, y = name, name + ",m=1", "y/" + name
    graph = {"inputs": [{"name": x, "DataType": "FLOAT32", "Sizes": [2, 3]}],
             "nodes": [{"name": x, "type": "ELEMENT_WISE_NEGATE", "desc": {},
                        "bindings": {"InputTensor": x, "OutputTensor": m}},
                       {"name": m, "type": "ELEMENT_WISE_NEGATE", "desc": {},
                        "bindings": {"InputTensor": m, "OutputTensor": y}}]}
    program = dmlop.load(graph)
    assert [each.name for each in program.inputs] == [x]
    assert [each.name for each in program.outputs] == [y]
    assert [(node.name, node.inputs, node.outputs) for node in program.nodes] == [(x, (x,), (m,)), (m, (m,), (y,))]
    result = program.run({x: X}, edges=True, device="cpu")
    assert list(result) == [y] and (result[y] == X).all()
    assert set(result.edges) == {m, y} and (result.edges[m] == -X).all()
    message = refusal(dmlop.Usage, lambda: program.run({x + "?": X}, device="cpu"))
    assert (x if x.isprintable() else "input") in message


@pytest.mark.parametrize("name", ["batch", "a=b=c", "a,b,c", "=,=,=", "a=b,c", "a b c", "     ", '"a" b', "'a' b", "a/b/c", "/a/b/",
                                  "a\\b\\c", "\u65e5\u00e4", "\u00e4=\u00e4", "{a,b}", "[0,1]", "a\tb\nc", "a=1=2", "x=%s;"])
def test_names_of_dimensions(name):
    model = (SAMPLES / "onnx/model.onnx").read_bytes()
    assert len(name.encode()) == len(b"batch") and b"batch" in model
    program = dmlop.load(model.replace(b"batch", name.encode()), dimensions={name: 2})
    assert [(each.name, each.sizes) for each in program.inputs] == [("x", (2, 4))]
    x = np.load(SAMPLES / "onnx/x.npy")
    of_file = dmlop.load(SAMPLES / "onnx/model.onnx", dimensions={"batch": 2})
    assert (program.run({"x": x}, device="cpu")["y"] == of_file.run({"x": x}, device="cpu")["y"]).all()
    with pytest.raises(dmlop.Error):
        dmlop.load(model.replace(b"batch", name.encode()), dimensions={name + "x": 2})


def test_programs_are_loaded_and_not_run_as_operations():
    graph = SAMPLES / "graph/graph.json"
    image = np.ones((1, 1, 4, 4), np.float32)
    for program in (graph, graph.read_text(), {"nodes": []}, SAMPLES / "onnx/model.onnx"):
        message = refusal(dmlop.Usage, lambda: dmlop.run(program, inputs={"image": image}, device="cpu"))
        assert "load it as a program (in Python dmlop.load), and run that" in message
        assert "dmlop.load(...).run({...})" in refusal(dmlop.Usage, lambda: dmlop.run(program, image, device="cpu"))


def test_operators_may_be_named_in_lower_case(tmp_path, monkeypatch):
    for name in ("padding", "Padding", "dml_operator_padding"):
        assert (dmlop.run(name, X, device="cpu", **EDGE) == PADDED).all()
        assert (dmlop.run(name, InputTensor=X, device="cpu", **EDGE) == PADDED).all()
    message = refusal(dmlop.Usage, lambda: dmlop.run("paddin", X, device="cpu", **EDGE))
    assert message == 'there is no file paddin, and DirectML has no operator "paddin": did you mean "PADDING" or "PADDING1"?'
    # A file or a folder of this name is meant.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "padding").mkdir()
    assert "padding has no op.json, no model.json" in refusal(dmlop.Usage, lambda: dmlop.check("padding"))


def test_programs_may_be_folders():
    assert len(dmlop.load(SAMPLES / "graph").nodes) == len(dmlop.load(SAMPLES / "graph/graph.json").nodes) > 0
    assert dmlop.load(SAMPLES / "onnx", dimensions={"batch": 2}).inputs[0].sizes[0] == 2
    assert "padding/op.json is neither a graph nor a model" in refusal(dmlop.Usage, lambda: dmlop.load(SAMPLES / "padding"))


def test_threads_run_at_the_same_time():
    c = dmlop.compile("ELEMENT_WISE_ADD", device="cpu")
    wrong = []

    def work(number):
        a = np.full(1000 + number, number, np.float32)
        for _ in range(100):
            if not (c(a, a) == 2 * number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_the_library_works():
    # One of them ends the work. Shells start commands in the background without this handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
            dmlop.run("REDUCE", ONES, device="cpu", **SUM)
    finally:
        signal.signal(signal.SIGINT, before)


INTERRUPTED = """
import dmlop, numpy as np, signal
ones = np.broadcast_to(np.float32(1), (1 << 10, 1 << 20, 1 << 10))
{handler}
try:
    print("ready", flush=True)
    dmlop.run("REDUCE", ones, device="cpu", **{sum})
except {kind} as error:
    print("ended by", type(error).__name__)
print(dmlop.run("ELEMENT_WISE_ABS", np.array([-1], np.float32), device="cpu"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "handler, kind",
    [("signal.signal(signal.SIGINT, signal.default_int_handler)", "KeyboardInterrupt"),
     ("def handle(*_): raise RuntimeError\nsignal.signal(signal.SIGINT, handle)", "RuntimeError")],
    ids=["default", "own handler"],
)
def test_ctrl_c_ends_a_long_run(handler, kind):
    code = INTERRUPTED.format(handler=handler, kind=kind, sum=SUM)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (output, errors, process.returncode) == (f"ended by {kind}\n[1.]\n", "", 0)


def test_a_run_goes_on_where_the_handler_of_ctrl_c_returns():
    presses = []
    before = signal.signal(signal.SIGINT, lambda *_: presses.append(1))
    try:
        timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
        timer.start()
        total = dmlop.run("REDUCE", np.broadcast_to(np.float32(1), (1 << 6, 1 << 7, 1 << 20)), device="cpu", **SUM)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert (total.item(), presses) == (1 << 33, [1])


DAEMON = """
import dmlop, numpy as np, threading, time
x = np.ones((1 << 10,), np.float32)
ones = np.broadcast_to(np.float32(1), (1 << 10, 1 << 20, 1 << 10))
negate = dmlop.compile("ELEMENT_WISE_NEGATE", device="cpu")
negate(x)

def work():
    while True:
        {work}

threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print("main ends")
"""


@pytest.mark.parametrize("work", ["negate(x)", f"dmlop.run('REDUCE', ones, device='cpu', **{SUM})"], ids=["short", "long"])
def test_the_interpreter_may_end_while_another_thread_runs(work):
    code = DAEMON.format(work=work)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert (run.stdout, run.stderr, run.returncode) == ("main ends\n", "", 0)


def printed_with_forks(code):
    """What a program prints that ends well."""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert (run.stderr, run.returncode) == ("", 0)
    return run.stdout


FORKED = """
import array, dmlop, os, signal, sys
context = dmlop.Context("cpu", threads=3)
x = array.array("f", [1]) * (1 << 20)
sine = context.compile("ELEMENT_WISE_SIN")
first = bytes(sine(x))
child = os.fork()
if child == 0:
    signal.alarm(300)
    assert bytes(sine(x)) == first
    context.close()
    sine = context = None
    sys.exit(3)
print(os.waitpid(child, 0)[1] >> 8, bytes(sine(x)) == first)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_process_runs_frees_and_ends():
    assert printed_with_forks(FORKED) == "3 True\n"


FORKED_WHILE_OPENING = """
import array, dmlop, os, signal, threading
lock = dmlop._context._contexts_lock  # another thread holds it while it opens a device
is_held, may_go = threading.Event(), threading.Event()

def hold():
    with lock:
        is_held.set()
        may_go.wait()

thread = threading.Thread(target=hold)
thread.start()
is_held.wait()
child = os.fork()
if child == 0:
    signal.alarm(300)
    dmlop.run("ELEMENT_WISE_ABS", array.array("f", [-1]), device="cpu")
    os._exit(3)
print(os.waitpid(child, 0)[1] >> 8)
may_go.set()
thread.join()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_process_may_fork_while_another_thread_opens_a_device():
    assert printed_with_forks(FORKED_WHILE_OPENING) == "3\n"


FORKED_AFTER_GPU = """
import array, dmlop, os, signal
x = array.array("f", [1, 2, 3])
context = dmlop.Context("vulkan:0")
sine = context.compile("ELEMENT_WISE_SIN")
on_gpu = bytes(sine(x))
child = os.fork()
if child == 0:
    signal.alarm(300)
    for call in (lambda: sine(x), lambda: dmlop.Context("vulkan:0")):
        try:
            call()
        except dmlop.Error as error:
            print(type(error).__name__, error, flush=True)
    print(dmlop.Context().device, len(bytes(dmlop.run("ELEMENT_WISE_SIN", x))), flush=True)
    context.close()
    sine = context = None
    os._exit(3)
print(os.waitpid(child, 0)[1] >> 8, bytes(sine(x)) == on_gpu)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_process_that_was_forked_after_use_of_a_gpu_has_none():
    if "vulkan:0" not in [device.spec for device in dmlop.devices()]:
        pytest.skip("there is no Vulkan device")
    opened, other, child, end = printed_with_forks(FORKED_AFTER_GPU).splitlines()
    assert opened == "RunFailed vulkan:0 was opened before this process was forked, and works in the parent alone"
    assert other.startswith('Unavailable no device fits "vulkan:0": this process was forked from one that uses GPUs')
    assert (child, end) == ("cpu 12", "3 True")


def test_memory_is_given_back():
    resource = pytest.importorskip("resource")
    array = np.ones(1 << 20, np.float32)

    def work():
        for _ in range(20):
            dmlop.run("ELEMENT_WISE_NEGATE", array, device="cpu")
            dmlop.load(SAMPLES / "graph/graph.json").run({"image": np.ones((1, 1, 4, 4), np.float32)}, device="cpu")
        gc.collect()

    work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5):
        work()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024  # of 400 MiB


def test_examples_of_the_document():
    document = SAMPLES.parent / "lib/python/README.md"
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(document), "exec"), {})


GOLDEN = """
import dmlop, numpy as np

def test_it():
    x = np.arange(6, dtype=np.float32)
    dmlop.assert_matches_golden(x * {factor}, "golden/y.npy", operator="GEMM")
"""


def test_golden_files(tmp_path):
    def outcome(factor, *options):
        (tmp_path / "test_golden.py").write_text(GOLDEN.format(factor=factor))
        run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
                             cwd=tmp_path, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout

    code, text = outcome("1")
    assert code == 1 and "there is no golden file golden/y.npy: create it with --update-golden" in text
    code, text = outcome("1", "--update-golden")
    assert code == 0 and "dmlop: wrote golden/y.npy" in text
    assert (np.load(tmp_path / "golden/y.npy") == np.arange(6)).all()
    assert outcome("np.float32(1.000001)")[0] == 0
    code, text = outcome("2")
    assert code == 1 and "5 of 6 elements differ" in text
    assert outcome("2", "--update-golden")[0] == 0
    assert outcome("2")[0] == 0
    code, text = outcome("np.float32('nan')", "--update-golden")
    assert code == 1 and "is not written" in text
    (tmp_path / "test_two.py").write_text(GOLDEN.format(factor="2").replace("test_it", "test_two"))
    assert outcome("2", "--update-golden")[0] == 0
    for _ in range(2):  # the first run writes for one of them, and the second finds that there
        code, text = outcome("3", "--update-golden")
        assert code == 1 and "golden/y.npy, which holds what another test of this run has: " in text
    (tmp_path / "test_two.py").unlink()
    assert outcome("2", "--update-golden")[0] == 0
    assert (np.load(tmp_path / "golden/y.npy") == 2 * np.arange(6)).all()


def test_a_context_may_be_closed_while_others_run_on_it():
    array = np.arange(6, dtype="f4")
    for _ in range(20):
        context = dmlop.Context("cpu")

        def run(context=context):
            try:
                while True:
                    dmlop.run("ELEMENT_WISE_ADD", array, array, device=context)
            except dmlop.Usage:
                pass

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        context.close()
        for thread in threads:
            thread.join()
    with pytest.raises(dmlop.Usage):
        context.device


def test_a_tensor_stays_what_it_was_checked_to_be():
    tensor = dmlop.Tensor("FLOAT32", (1,), bytearray(4))
    for name, value in (("shape", (5,)), ("type", "FLOAT64"), ("data", memoryview(b""))):
        with pytest.raises(AttributeError):
            setattr(tensor, name, value)


def test_a_tensor_is_made_of_what_it_says():
    for shape in ([-1, -6], [2.0, 3], ["6"], 6, [1 << 64, 0]):
        assert "the shape is" in refusal(dmlop.Usage, lambda: dmlop.Tensor("FLOAT32", shape, X.tobytes()))
    for data in (X.astype(X.dtype.newbyteorder()), X.astype("i4"), X.view("u4"), X.astype("f8")[:, :1], X > 0):
        assert "data has elements of format" in refusal(dmlop.Usage, lambda: dmlop.Tensor("FLOAT32", [2, 3], data))
    assert "data is not contiguous" in refusal(dmlop.Usage, lambda: dmlop.Tensor("FLOAT32", [3, 2], X.T))
    assert "data is a list" in refusal(dmlop.Usage, lambda: dmlop.Tensor("FLOAT32", [2], [1, 2]))
    for data in (X, X.view("u1"), X.view("i1"), X.tobytes(), (ctypes.c_float * 6)(*range(6))):
        assert dmlop.Tensor("FLOAT32", np.array([2, 3]), data).tolist() == X.tolist()
    assert dmlop.Tensor("INT4", [2], np.array([1, -8], "i1")).tolist() == [1, -8]
    assert dmlop.Tensor("FLOAT32", [2, 0, 3], b"").tolist() == [[], []]
    longs = (ctypes.c_long * 2)(5, -6)
    assert dmlop.run("ELEMENT_WISE_IDENTITY", longs, device="cpu").tolist() == [5, -6]


def structs_of_header():
    """The fields of each struct of dmlop.h, in order."""
    header = (SAMPLES.parent / "lib/include/dmlop/dmlop.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    structs = re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.S)
    return {name: re.findall(r"(\w+)\)?(?:\([^)]*\))?;", body) for body, name in structs}


def test_structs_have_the_fields_of_the_header():
    structs = structs_of_header()
    for name, each in vars(dmlop._library).items():
        if isinstance(each, type) and issubclass(each, ctypes.Structure):
            words = re.sub("([A-Z])", r"_\1", name.replace("Struct", "")).lower()
            assert [field[0].rstrip("_") for field in each._fields_] == structs.pop("dmlop" + words)
    assert structs == {}


def test_every_option_of_a_context_is_a_parameter():
    options = structs_of_header()["dmlop_context_options"]
    assert set(inspect.signature(dmlop.Context).parameters) == set(options) - {"struct_size"}
    options = structs_of_header()["dmlop_bench_options"]
    assert set(inspect.signature(dmlop.bench).parameters) >= set(options) - {"struct_size"}
