"""What is kept from one call must not change the next one: every call is made a second time, with one thing
different, and gives what it gives in a context of its own."""

import itertools
import os
import pathlib

import dmlop
import numpy as np
import pytest

SAMPLES = pathlib.Path(os.environ["DMLOP_SAMPLES"])
CPU = {"device": "cpu", "threads": 1}
DTYPES = {"FLOAT64": "f8", "FLOAT32": "f4", "FLOAT16": "f2", "INT64": "i8", "INT32": "i4", "INT16": "i2",
          "INT8": "i1", "UINT64": "u8", "UINT32": "u4", "UINT16": "u2", "UINT8": "u1"}


def plain(value):
    """A result as something that can be compared, bit for bit."""
    if isinstance(value, dmlop.Tensor):
        return value.type, value.shape, bytes(value.data)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}, plain(getattr(value, "edges", None))
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value


def outcome(call, *arguments):
    try:
        return plain(call(*arguments))
    except dmlop.Error as error:
        return type(error).__name__, str(error)


def is_error(result):
    return isinstance(result, tuple) and result[0] in ("Invalid", "Usage", "Unavailable")


def in_own_context(call):
    with dmlop.Context(**CPU) as context:
        return outcome(call, context)


def made_up(random, type, shape):
    """Small numbers, of which most operators can make something. A zero would be too many indices."""
    if type in ("UINT4", "INT4"):
        return dmlop.Tensor(type, shape, random.integers(0, 7, shape, dtype=np.uint8).tobytes())
    if type.startswith("FLOAT"):
        return (random.integers(-8, 9, shape) / 4).astype(DTYPES[type])
    return random.integers(0, 3, shape).astype(DTYPES[type])


def spread(array):
    """The same elements, with others between them."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


def longer(array):
    return np.concatenate([array, array[..., :1]], axis=-1)


def retyped(array):
    return array.astype({"f4": "f2", "f2": "f4", "f8": "f4"}.get(array.dtype.str[1:], "i8"))


def with_all(change):
    return lambda arrays: {name: change(x) if isinstance(x, np.ndarray) else x for name, x in arrays.items()}


def with_one(change, last=False):
    def changed(arrays):
        name = list(arrays)[-1 if last else 0]
        return {**arrays, **with_all(change)({name: arrays[name]})}
    return changed


# Each differs from the first call in one thing.
CHANGES = {
    "nothing": dict,
    "values": with_all(lambda x: x[..., ::-1].copy() + x.dtype.type(1)),
    "order": with_all(np.asfortranarray),
    "strides of the first": with_one(spread),
    "strides of the last": with_one(spread, last=True),
    "sizes": with_all(longer),
    "types": with_all(retyped),
}


def described(name):
    """The example of an operator: its desc without inputs, and made-up inputs."""
    info = dmlop.ops(name)
    random = np.random.default_rng(1)
    inputs = [field.name for field in info.fields if field.is_input]
    arrays = {tensor.name: made_up(random, tensor.type, tensor.sizes)
              for tensor in dmlop.check(info.example).tensors
              if tensor.name.split("[")[0] in inputs}
    desc = {field: value for field, value in info.example["desc"].items() if field not in inputs}
    return {"type": name, "desc": desc}, arrays


def test_the_second_call_of_every_operator():
    ran = refused = 0
    for name in dmlop.ops():
        op, arrays = described(name)
        if not arrays:
            continue
        changed = {what: change(arrays) for what, change in CHANGES.items()}
        alone = {what: in_own_context(lambda context: context.run(op, inputs=each)) for what, each in changed.items()}
        with dmlop.Context(**CPU) as context:
            for what, each in changed.items():
                compiled = context.compile(op)
                for now in ("nothing", what, what):
                    assert outcome(lambda x: compiled(**x), changed[now]) == alone[now], f"{name}: {now} after {what}"
                assert outcome(lambda x: context.run(op, inputs=x), each) == alone[what], f"{name}: {what}"
        ran += sum(not is_error(each) for each in alone.values())
        refused += sum(is_error(each) for each in alone.values())
    assert ran > 1000
    assert refused > 50


X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = X[::-1].copy() * np.float32(2)
EDGE = {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [1, 0]}
INDICES = np.array([0, 9], np.uint32)
GRAPH = dmlop.load(SAMPLES / "graph/graph.json")
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)


def into_new_array(run, shape):
    out = np.full(shape, 7, np.float32)
    result = run(out)
    assert result is out
    return result


# Calls that differ from one another in one thing, in groups.
CALLS = {
    "fields": [
        lambda c: c.run("PADDING", X, **EDGE),
        lambda c: c.run("PADDING", X, **{**EDGE, "PaddingMode": "REFLECTION"}),
        lambda c: c.run("PADDING", X, **{**EDGE, "PaddingMode": "CONSTANT"}),
        lambda c: c.run("PADDING", X, **{**EDGE, "PaddingMode": "CONSTANT"}, PaddingValue=1),
        lambda c: c.run("PADDING", X, **{**EDGE, "PaddingMode": "CONSTANT"}, PaddingValue=float("nan")),
        lambda c: c.run("PADDING", X, **{**EDGE, "StartPadding": np.array([1, 0])}),
        lambda c: c.run("PADDING", X, **{**EDGE, "StartPadding": [1]}),
        lambda c: c.run("PADDING", X, **EDGE, OutputTensor={"Sizes": [3, 4]}),
        lambda c: c.run("PADDING", X, **EDGE, OutputTensor={"Sizes": [4, 4]}),
    ],
    "strides of the description": [
        lambda c, strides=strides, x=x: c.run(
            {"type": "ELEMENT_WISE_ABS", "desc": {"InputTensor": {"Sizes": [2, 3], "Strides": strides}}}, x)
        for strides in ([3, 1], [1, 2], [6, 2]) for x in (X, np.asfortranarray(X), spread(X))
    ],
    "operators": [lambda c, name=name: c.run(name, X, Y) for name in
                  ("ELEMENT_WISE_ADD", "ELEMENT_WISE_SUBTRACT", "ELEMENT_WISE_MULTIPLY", "ELEMENT_WISE_MAX", "GEMM")],
    "ways to describe": [
        lambda c: c.run({"type": "PADDING", "desc": EDGE}, X),
        lambda c: c.run('{"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], '
                        '"EndPadding": [2, 0]}}', X),
        lambda c: c.run({"type": "PADDING", "desc": {**EDGE, "InputTensor": {"Sizes": [2, 3]}}}, X),
        lambda c: c.run({"type": "PADDING", "desc": {**EDGE, "InputTensor": {"Sizes": [3, 2]}}}, X),
        lambda c: c.run({"type": "PADDING", "desc": {**EDGE, "InputTensor": {"DataType": "INT32"}}}, X),
        lambda c: c.run(SAMPLES / "padding"),
    ],
    "options": [
        lambda c: c.run("PADDING", X, **EDGE),
        lambda c: c.run("PADDING", X, **EDGE, feature_level="1_0"),
        lambda c: c.run("PADDING", X, **EDGE, feature_level="5_0"),
        lambda c: c.run("PADDING", X, **EDGE, judge="page"),
        lambda c: c.run("PADDING", X, **EDGE, judge="directml-1.15.4"),
        lambda c: c.run("PADDING", X, **EDGE, confined_to=SAMPLES),
    ],
    "judges": [lambda c, judge=judge: c.run("TILE", X.astype("f8"), Repeats=[2, 1], judge=judge)
               for judge in (None, "page", "directml-1.15.4")],
    "contexts": [
        lambda c: c.run("GATHER", Y, INDICES, Axis=0, IndexDimensions=1),
        lambda c: dmlop.Context("cpu", strict_indices=True).run("GATHER", Y, INDICES, Axis=0, IndexDimensions=1),
        lambda c: dmlop.Context("cpu", threads=2).run("GATHER", Y, INDICES, Axis=0, IndexDimensions=1),
        lambda c: dmlop.run("GATHER", Y, INDICES, Axis=0, IndexDimensions=1, device="cpu"),
        lambda c: dmlop.run("GATHER", Y, INDICES, Axis=0, IndexDimensions=1, device="toaster"),
    ],
    "names of inputs": [
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", X, Y),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", Y, X),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", ATensor=X, BTensor=Y),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", BTensor=X, ATensor=Y),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", inputs={"BTensor": X, "ATensor": Y}),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", X, BTensor=Y),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", X),
        lambda c: c.run("ELEMENT_WISE_SUBTRACT", X, Y, X),
    ],
    "optional inputs": [
        lambda c: c.run("GEMM", X, X.T),
        lambda c: c.run("GEMM", X, X.T, np.ones((2, 2), np.float32), Beta=1),
        lambda c: c.run("GEMM", X, X.T, CTensor=np.eye(2, dtype=np.float32), Beta=1),
        lambda c: c.run("GEMM", X, X.T, None, Beta=1),
        lambda c: c.run("GEMM", X, X, TransB="TRANSPOSE"),
    ],
    "numbers of inputs": [
        lambda c: c.run("JOIN", [X, Y], Axis=0),
        lambda c: c.run("JOIN", [X, Y, X], Axis=0),
        lambda c: c.run("JOIN", [Y, X], Axis=0),
        lambda c: c.run("JOIN", [X], Axis=0),
        lambda c: c.run("JOIN", [X, Y.T], Axis=0),
    ],
    "outputs": [
        lambda c: c.run("ELEMENT_WISE_ADD", X, Y),
        lambda c: into_new_array(lambda out: c.run("ELEMENT_WISE_ADD", X, Y, out=out), (2, 3)),
        lambda c: into_new_array(lambda out: c.run("ELEMENT_WISE_ADD", out, Y, out=out), (2, 3)),
        lambda c: c.run("ELEMENT_WISE_ADD", X, Y, out=np.zeros((3, 2), np.float32)),
        lambda c: c.run("ELEMENT_WISE_ADD", X, Y, out={"OutputTensor": np.zeros((2, 3), np.float32)}),
    ],
    "kinds of arrays": [
        lambda c, x=x: c.run("PADDING", x, **EDGE)
        for x in (X, X + 1, X.astype("f2"), X.astype("i4"), X.view("u4"), X.astype(">f4"), np.asfortranarray(X), X.T,
                  X[::-1], X[:, ::-1], spread(X), np.broadcast_to(X[0], (2, 3)), X[:1], X.reshape(6), X.reshape(1, 2, 3),
                  memoryview(X), dmlop.Tensor("FLOAT32", (2, 3), X.tobytes()), dmlop.Tensor("INT32", (2, 3), X.tobytes()),
                  np.array([[None]]), [[1]])
    ],
    "programs": [
        lambda c: GRAPH.run({"image": IMAGE}, device=c),
        lambda c: GRAPH.run({"image": IMAGE}, edges=True, device=c),
        lambda c: GRAPH.run({"image": IMAGE + 1}, device=c),
        lambda c: GRAPH.run({"image": np.asfortranarray(IMAGE.transpose(0, 1, 3, 2))}, device=c),
        lambda c: GRAPH.run({"image": IMAGE.astype("f2")}, device=c),
        lambda c: GRAPH.run({"image": IMAGE[..., :2]}, device=c),
        lambda c: GRAPH.run({}, device=c),
    ],
    "sizes of dimensions": [
        lambda c, batch=batch: dmlop.load(SAMPLES / "onnx/model.onnx", dimensions=batch).run(
            {"x": np.ones((2, 4), np.float32)}, device=c)
        for batch in ({"batch": 2}, {"batch": 1}, {"batch": 2, "other": 3}, {})
    ],
    "comparisons": [lambda c, options=options: dmlop.compare(X, X * np.float32(1.5), **options).summary
                    for options in ({}, {"rtol": 0.5}, {"atol": 1.0}, {"ulp": 1}, {"rtol": 0.5, "atol": 1.0})],
}


@pytest.mark.parametrize("group", CALLS)
def test_the_second_of_two_calls(group):
    calls = CALLS[group]
    alone = [in_own_context(call) for call in calls]
    assert len({repr(each) for each in alone}) > 1
    for first, second in itertools.product(range(len(calls)), repeat=2):
        with dmlop.Context(**CPU) as context:
            assert outcome(calls[first], context) == alone[first]
            assert outcome(calls[second], context) == alone[second], f"{second} after {first}"


def test_a_compiled_operation_is_called_with_arrays_of_another_kind():
    arrays = [X, Y, X.astype("f2"), X.view("i4"), X.astype(">f4"), np.asfortranarray(X), X.T, X[:, ::-1], spread(X),
              np.broadcast_to(X[0], (2, 3)), X[:1], dmlop.Tensor("INT32", (2, 3), X.tobytes()), [[1]]]
    # An array with strides of its own is packed where the description has strides.
    strides = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [1, 2]}}
    for op, fields in (("PADDING", EDGE), ("ELEMENT_WISE_ABS", {}), ("ELEMENT_WISE_ABS", strides),
                       ({"type": "PADDING", "desc": {**EDGE, **strides}}, {})):
        alone = [in_own_context(lambda context: context.run(op, each, **fields)) for each in arrays]
        for first, second in itertools.product(range(len(arrays)), repeat=2):
            with dmlop.Context(**CPU) as context:
                compiled = context.compile(op, **fields)
                for i in (first, second, second):
                    assert outcome(compiled, arrays[i]) == alone[i], f"{op}: {second} after {first}"
