"""The op descriptions that the tables measure, and how to run them."""
import json, subprocess, tempfile

TYPES = {1: "UINT8", 2: "FLOAT16", 4: "FLOAT32", 8: "FLOAT64"}


def padding(sizes, size, mode):
    n = len(sizes) - 2
    return {"type": "PADDING", "desc": {
        "InputTensor": {"DataType": TYPES[size], "Sizes": sizes}, "PaddingMode": mode, "PaddingValue": 1,
        "StartPadding": [0] * n + [2, 3], "EndPadding": [0] * n + [4, 2]}}


def slice1(sizes, size, steps):
    n = len(sizes) - 2
    height, width = sizes[-2:]
    return {"type": "SLICE1", "desc": {
        "InputTensor": {"DataType": TYPES[size], "Sizes": sizes},
        "InputWindowOffsets": [0] * n + ([1, 3] if abs(steps[1]) == 1 else [0, 0]),
        "InputWindowSizes": sizes[:n] + ([height - 2, width - 6] if abs(steps[1]) == 1 else [height, width]),
        "InputWindowStrides": [1] * n + steps}}


def reverse(sizes, size, axis):
    lengths = list(sizes)
    lengths[axis] = 1
    return {"type": "REVERSE_SUBSEQUENCES", "desc": {
        "InputTensor": {"DataType": TYPES[size], "Sizes": sizes},
        "SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": lengths}, "Axis": axis % len(sizes)}}


def pooling(sizes, size, window, stride, p):
    return {"type": "LP_POOLING", "desc": {
        "InputTensor": {"DataType": TYPES[size], "Sizes": sizes}, "Strides": [stride] * 2,
        "WindowSize": [window] * 2, "StartPadding": [0, 0], "EndPadding": [0, 0], "P": p}}


def tensor(sizes, size=4):
    return {"DataType": TYPES[size], "Sizes": list(sizes)}


def element_wise(name, sizes, size, inputs=("InputTensor",), **fields):
    return {"type": name, "desc": {**{field: tensor(sizes, size) for field in inputs}, **fields}}


def whole_tensors(sizes):
    """(name, goal, description) of operators that a GPU runs on whole tensors; the goal is a share of copy."""
    n, c, h, w = sizes
    twice = [n, c, h, 2 * w]
    for name, fields, goals in (("ELEMENT_WISE_ABS", {}, (.95, .90)), ("ELEMENT_WISE_EXP", {}, (.95, .90)),
                                ("ACTIVATION_ELU", {"Alpha": 1.5}, (.95, .90)), ("ACTIVATION_TANH", {}, (.95, .90)),
                                ("ACTIVATION_GELU", {}, (.90, .90)), ("ELEMENT_WISE_SIN", {}, (.90, .90)),
                                ("ELEMENT_WISE_ERF", {}, (.90, .90))):
        yield f"{name}, float32", goals[0], element_wise(name, sizes, 4, **fields)
        yield f"{name}, float16", goals[1], element_wise(name, twice, 2, **fields)
    for size, shape, goal in ((4, sizes, .95), (2, twice, .90), (1, [n, c, 2 * h, 2 * w], .80)):
        yield (f"ELEMENT_WISE_ADD, {size}-byte", goal,
               element_wise("ELEMENT_WISE_ADD", shape, size, ("ATensor", "BTensor")))
    yield ("ELEMENT_WISE_POW, float32", .90,
           element_wise("ELEMENT_WISE_POW", sizes, 4, ("InputTensor", "ExponentTensor")))
    yield ("ELEMENT_WISE_IF, float32", .90,
           element_wise("ELEMENT_WISE_IF", sizes, 4, ("ATensor", "BTensor"), ConditionTensor=tensor(sizes, 1)))
    yield "CAST float32 to float16", .85, element_wise("CAST", sizes, 4, OutputTensor=tensor(sizes, 2))
    yield "CAST uint8 to float32", .85, element_wise("CAST", sizes, 1, OutputTensor=tensor(sizes, 4))
    yield ("FILL_VALUE_CONSTANT", .90, {"type": "FILL_VALUE_CONSTANT", "desc": {
        "OutputTensor": tensor(sizes), "ValueDataType": "FLOAT32", "Value": 1.5}})
    half = [n, c // 2, h, w]
    yield ("JOIN of two, axis 1", .90, {"type": "JOIN", "desc": {
        "InputTensors": [tensor(half), tensor(half)], "OutputTensor": tensor(sizes), "Axis": 1}})
    for axes, name in (([3], "last axis"), ([2], "axis 2"), ([0], "first axis"), ([0, 1, 2, 3], "all axes")):
        yield f"REDUCE SUM, {name}", .90, element_wise("REDUCE", sizes, 4, Function="SUM", Axes=axes)
    yield "SOFTMAX1, last axis", .90, element_wise("ACTIVATION_SOFTMAX1", sizes, 4, Axes=[3])
    yield "SOFTMAX1, axis 1", .75, element_wise("ACTIVATION_SOFTMAX1", sizes, 4, Axes=[1])
    yield ("MEAN_VARIANCE_NORMALIZATION1, last axis", .85, element_wise(
        "MEAN_VARIANCE_NORMALIZATION1", sizes, 4, Axes=[3], NormalizeVariance=True, Epsilon=1e-5))
    channel = tensor([1, c, 1, 1])
    yield ("BATCH_NORMALIZATION", .93, element_wise(
        "BATCH_NORMALIZATION", sizes, 4, MeanTensor=channel, VarianceTensor=channel, ScaleTensor=channel,
        BiasTensor=channel, Spatial=True, Epsilon=1e-5))
    for name, side, stride, goal, fields in (("MAX_POOLING", 3, 1, .80, {}),
                                             ("AVERAGE_POOLING", 2, 2, .90, {"IncludePadding": False})):
        yield (f"{name} window {side} stride {stride}", goal, element_wise(
            name, sizes, 4, Strides=[stride] * 2, WindowSize=[side] * 2, StartPadding=[0, 0], EndPadding=[0, 0], **fields))
    yield ("RESAMPLE linear, twice as large", .75, element_wise(
        "RESAMPLE", [n, c, h // 2, w // 2], 4, OutputTensor=tensor(sizes), InterpolationMode="LINEAR", Scales=[1, 1, 2, 2]))
    for axis, goal in ((3, .80), (2, .85)):
        yield (f"CUMULATIVE_SUMMATION, axis {axis}", goal, element_wise(
            "CUMULATIVE_SUMMATION", sizes, 4, Axis=axis, AxisDirection="INCREASING", HasExclusiveSum=False))
    rows = n * c * h
    yield ("GATHER of rows", .85, {"type": "GATHER", "desc": {
        "InputTensor": tensor([1, 1, rows // 4, w]),
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, rows]},
        "OutputTensor": tensor([1, 1, rows, w]), "Axis": 2, "IndexDimensions": 1}})


def bench(program, device, min_time, description):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        command = [program, "bench", file.name, "--device", device, "--min-time", str(min_time), "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr or run.stdout)
    return json.loads(run.stdout)
