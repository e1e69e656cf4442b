"""The rows of gpu_table.py: a description, what it should reach, and the same work in PyTorch."""
import math

from works import element_wise, padding, pooling, reverse, slice1, tensor


class Work:
    """One row. The goal is a share of the card's copy rate or, where the work has `operations`, of PyTorch's rate.
    peer(torch, *inputs) does the same in PyTorch; the inputs are the description's, in the order of its fields."""

    def __init__(self, name, goal, description, peer=None, bytes_twice_output=False, operations=None):
        self.name, self.goal, self.description, self.peer = name, goal, description, peer
        self.bytes_twice_output, self.operations = bytes_twice_output, operations

    def input_tensors(self):
        for field, value in self.description["desc"].items():
            if field.endswith("Tensor") and not field.startswith("Output"):
                yield value
            elif field.endswith("Tensors") and not field.startswith("Output"):
                yield from value


TYPE_NAMES = {8: "8-byte", 4: "4-byte", 2: "2-byte", 1: "1-byte"}
FLOATS = {4: "float32", 2: "float16"}


def moves(sizes):
    """PADDING, SLICE1 and REVERSE_SUBSEQUENCES: goals for elements of 8 or 4, of 2 and of 1 byte."""
    def goal(goals, size):
        return goals[{8: 0, 4: 0, 2: 1, 1: 2}[size]]

    def wider(size):  # every tensor has as many bytes; those of 1 byte a few rows less, to fit one dispatch with padding
        rows = sizes[-2] // 2 if size == 8 else sizes[-2] - 8 if size == 1 else sizes[-2]
        return sizes[:-2] + [rows, sizes[-1] if size == 8 else sizes[-1] * 4 // size]

    modes = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "SYMMETRIC": None, "WRAP": "circular"}
    for mode, name in modes.items():
        goals = (.95, .92, .87) if mode in ("CONSTANT", "EDGE") else (.93, .88, .82)
        peer = name and (lambda torch, x, name=name: torch.nn.functional.pad(x, (3, 2, 2, 4), mode=name))
        for size in (8, 4, 2, 1):
            yield Work(f"PADDING {mode}, {TYPE_NAMES[size]}", goal(goals, size), padding(wider(size), size, mode), peer)
    for steps, name, goals, peer in (
            ([1, 1], "unit strides", (.95, .92, .88), lambda torch, x: x[..., 1:-1, 3:-3].contiguous()),
            ([1, -1], "last axis backwards", (.95, .92, .88), lambda torch, x: x[..., 1:-1, 3:-3].flip(-1)),
            ([2, 2], "strides 2x2", (.64, .64, .62), lambda torch, x: x[..., ::2, ::2].contiguous())):
        for size in (8, 4, 2, 1):
            yield Work(f"SLICE1 {name}, {TYPE_NAMES[size]}", goal(goals, size), slice1(wider(size), size, steps), peer, True)
    for axis, name, goals in ((-1, "last axis", (.92, .88, .85)), (0, "first axis", (.88, .88, .88))):
        for size in (8, 4, 2, 1):
            yield Work(f"REVERSE_SUBSEQUENCES {name}, {TYPE_NAMES[size]}", goal(goals, size), reverse(wider(size), size, axis))
    for size in (4, 1):
        odd = [sizes[0], sizes[1], sizes[2] - 5, sizes[3] * 4 // size - 5]
        yield Work(f"PADDING REFLECTION of rows of {odd[-1]}, {TYPE_NAMES[size]}", .8, padding(odd, size, "REFLECTION"),
                   lambda torch, x: torch.nn.functional.pad(x, (3, 2, 2, 4), mode="reflect"))


def lp_poolings(sizes):
    for window, stride, p, goals in ((2, 2, 1, (.92, .82)), (2, 2, 2, (.92, .82)), (2, 2, 3, (.92, .82)),
                                     (3, 1, 2, (.88, .75)), (7, 1, 2, (.65, .50))):
        for size, goal in zip((4, 2), goals):
            yield Work(f"LP_POOLING window {window} stride {stride} P {p}, {FLOATS[size]}", goal,
                       pooling(sizes[:-1] + [sizes[-1] * 4 // size], size, window, stride, p),
                       lambda torch, x, p=p, window=window, stride=stride:
                       torch.nn.functional.lp_pool2d(x, p, window, stride=stride))


def element_wise_works(sizes):
    n, c, h, w = sizes
    twice = [n, c, h, 2 * w]
    unary = (("ELEMENT_WISE_ABS", {}, (.95, .90), lambda torch, x: torch.abs(x)),
             ("ELEMENT_WISE_EXP", {}, (.95, .90), lambda torch, x: torch.exp(x)),
             ("ACTIVATION_ELU", {"Alpha": 1.5}, (.95, .90), lambda torch, x: torch.nn.functional.elu(x, 1.5)),
             ("ACTIVATION_TANH", {}, (.95, .90), lambda torch, x: torch.tanh(x)),
             ("ACTIVATION_GELU", {}, (.90, .90), lambda torch, x: torch.nn.functional.gelu(x)),
             ("ELEMENT_WISE_SIN", {}, (.90, .90), lambda torch, x: torch.sin(x)),
             ("ELEMENT_WISE_ERF", {}, (.90, .90), lambda torch, x: torch.erf(x)))
    for name, fields, goals, peer in unary:
        yield Work(f"{name}, float32", goals[0], element_wise(name, sizes, 4, **fields), peer)
        yield Work(f"{name}, float16", goals[1], element_wise(name, twice, 2, **fields), peer)
    for size, shape, goal in ((4, sizes, .95), (2, twice, .90), (1, [n, c, 2 * h, 2 * w], .80)):
        yield Work(f"ELEMENT_WISE_ADD, {TYPE_NAMES[size]}", goal,
                   element_wise("ELEMENT_WISE_ADD", shape, size, ("ATensor", "BTensor")), lambda torch, a, b: a + b)
    yield Work("ELEMENT_WISE_POW, float32", .90,
               element_wise("ELEMENT_WISE_POW", sizes, 4, ("InputTensor", "ExponentTensor")),
               lambda torch, a, b: torch.pow(a, b))
    yield Work("ELEMENT_WISE_ATAN_YX, float32", .90,
               element_wise("ELEMENT_WISE_ATAN_YX", sizes, 4, ("ATensor", "BTensor")), lambda torch, a, b: torch.atan2(a, b))
    for size, shape in ((4, sizes), (2, twice)):
        yield Work(f"ELEMENT_WISE_IF, {FLOATS[size]}", .90, element_wise(
            "ELEMENT_WISE_IF", shape, size, ("ATensor", "BTensor"), ConditionTensor=tensor(shape, 1)),
            lambda torch, a, b, condition: torch.where(condition > 127, a, b))
    for size, shape in ((4, sizes), (2, twice), (1, [n, c, 2 * h, 2 * w])):
        strided = tensor(shape, size)
        strided["Strides"] = [c * shape[2] * shape[3], shape[2] * shape[3], 1, shape[2]]
        yield Work(f"ELEMENT_WISE_IDENTITY of transposed matrices, {TYPE_NAMES[size]}", {4: .80, 2: .60, 1: .50}[size],
                   {"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": strided, "OutputTensor": tensor(shape, size)}},
                   lambda torch, x: x.transpose(-1, -2).contiguous())
    yield Work("CAST float32 to float16", .85, element_wise("CAST", sizes, 4, OutputTensor=tensor(sizes, 2)),
               lambda torch, x: x.half())
    yield Work("CAST uint8 to float32", .85, element_wise("CAST", sizes, 1, OutputTensor=tensor(sizes, 4)),
               lambda torch, x: x.float())
    one = tensor([1, 1, 1, 1])
    scale, zero = dict(one, Sizes=sizes, Strides=[0] * 4), {"DataType": "INT8", "Sizes": sizes, "Strides": [0] * 4}
    yield Work("ELEMENT_WISE_QUANTIZE_LINEAR float32 to int8", .85, element_wise(
        "ELEMENT_WISE_QUANTIZE_LINEAR", sizes, 4, ScaleTensor=scale, ZeroPointTensor=zero,
        OutputTensor={"DataType": "INT8", "Sizes": sizes}))
    yield Work("FILL_VALUE_CONSTANT", .90, {"type": "FILL_VALUE_CONSTANT", "desc": {
        "OutputTensor": tensor(sizes), "ValueDataType": "FLOAT32", "Value": 1.5}})


def gathers_and_scans(sizes):
    n, c, h, w = sizes
    half = [n, c // 2, h, w]
    yield Work("JOIN of two, axis 1", .92, {"type": "JOIN", "desc": {
        "InputTensors": [tensor(half), tensor(half)], "OutputTensor": tensor(sizes), "Axis": 1}},
        lambda torch, a, b: torch.cat([a, b], 1))
    yield Work("TILE, axis 3 twice", .92, {"type": "TILE", "desc": {
        "InputTensor": tensor([n, c, h, w // 2]), "OutputTensor": tensor(sizes), "Repeats": [1, 1, 1, 2]}},
        lambda torch, x: x.repeat(1, 1, 1, 2))
    for size, shape, goal in ((4, sizes, .85), (1, [n, c, 2 * h, 2 * w], .60)):
        deep = [n, 16 * c, shape[2] // 4, shape[3] // 4]
        yield Work(f"SPACE_TO_DEPTH block 4, {TYPE_NAMES[size]}", goal, {"type": "SPACE_TO_DEPTH", "desc": {
            "InputTensor": tensor(shape, size), "OutputTensor": tensor(deep, size), "BlockSize": 4}},
            lambda torch, x: torch.nn.functional.pixel_unshuffle(x, 4))
        yield Work(f"DEPTH_TO_SPACE block 4, {TYPE_NAMES[size]}", goal, {"type": "DEPTH_TO_SPACE", "desc": {
            "InputTensor": tensor(deep, size), "OutputTensor": tensor(shape, size), "BlockSize": 4}},
            lambda torch, x: torch.nn.functional.pixel_shuffle(x, 4))
    planes = [n // 2, c // 4, h + 2, w + 2]
    yield Work("UNFOLD, window 3 stride 1", .80, {"type": "UNFOLD", "desc": {
        "InputTensor": tensor(planes), "OutputTensor": tensor([n // 2, 9 * (c // 4), h * w]), "DimensionCount": 2,
        "WindowSizes": [3, 3], "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}},
        lambda torch, x: torch.nn.functional.unfold(x, 3))
    rows = n * c * h
    yield Work("GATHER of rows", .90, {"type": "GATHER", "desc": {
        "InputTensor": tensor([1, 1, rows, w]),
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, rows]},
        "OutputTensor": tensor([1, 1, rows, w]), "Axis": 2, "IndexDimensions": 1}},
        lambda torch, x, i: torch.index_select(x, 2, i.flatten().remainder(rows)))
    yield Work("GATHER_ELEMENTS last axis", .80, {"type": "GATHER_ELEMENTS", "desc": {
        "InputTensor": tensor(sizes), "IndicesTensor": {"DataType": "UINT32", "Sizes": sizes},
        "OutputTensor": tensor(sizes), "Axis": 3}})
    for axis, goal in ((3, .80), (2, .85)):
        yield Work(f"CUMULATIVE_SUMMATION, axis {axis}", goal, element_wise(
            "CUMULATIVE_SUMMATION", sizes, 4, Axis=axis, AxisDirection="INCREASING", HasExclusiveSum=False),
            lambda torch, x, axis=axis: torch.cumsum(x, axis))
    few = [n, c, h, 16]
    yield Work("TOP_K1, 16 of 1024", .25, {"type": "TOP_K1", "desc": {
        "InputTensor": tensor(sizes), "OutputValueTensor": tensor(few),
        "OutputIndexTensor": {"DataType": "UINT32", "Sizes": few}, "Axis": 3, "K": 16, "AxisDirection": "DECREASING"}},
        lambda torch, x: torch.topk(x, 16))


def rows_and_windows(sizes):
    n, c, h, w = sizes
    twice = [n, c, h, 2 * w]
    shapes = {4: sizes, 2: twice}
    for axes, name in (([3], "last axis"), ([2], "axis 2"), ([0], "first axis"), ([0, 1, 2, 3], "all axes")):
        for size in (4, 2):
            yield Work(f"REDUCE SUM, {name}, {FLOATS[size]}", .90,
                       element_wise("REDUCE", shapes[size], size, Function="SUM", Axes=axes),
                       lambda torch, x, axes=axes: torch.sum(x, axes))
    yield Work("ARGMAX, last axis", .85, element_wise(
        "ARGMAX", sizes, 4, OutputTensor={"DataType": "UINT32", "Sizes": [n, c, h, 1]}, Axes=[3], AxisDirection="INCREASING"),
        lambda torch, x: torch.argmax(x, -1))
    for axis, goals in ((3, (.90, .80)), (1, (.75, .60))):
        for size, goal in zip((4, 2), goals):
            yield Work(f"ACTIVATION_SOFTMAX1, axis {axis}, {FLOATS[size]}", goal,
                       element_wise("ACTIVATION_SOFTMAX1", shapes[size], size, Axes=[axis]),
                       lambda torch, x, axis=axis: torch.softmax(x, axis))
    for axes, goals in (([3], (.85, .75)), ([1, 2, 3], (.60, .60))):
        for size, goal in zip((4, 2), goals):
            yield Work(f"MEAN_VARIANCE_NORMALIZATION1, {'last axis' if len(axes) == 1 else 'all but the first axis'}, "
                       f"{FLOATS[size]}", goal, element_wise("MEAN_VARIANCE_NORMALIZATION1", shapes[size], size, Axes=axes,
                                                             NormalizeVariance=True, Epsilon=1e-5),
                       lambda torch, x, axes=axes: torch.nn.functional.layer_norm(x, [x.shape[axis] for axis in axes]))
    for size, goal in zip((4, 2), (.93, .88)):
        channel = tensor([1, c, 1, 1], size)
        yield Work(f"BATCH_NORMALIZATION, {FLOATS[size]}", goal, element_wise(
            "BATCH_NORMALIZATION", shapes[size], size, MeanTensor=channel, VarianceTensor=channel, ScaleTensor=channel,
            BiasTensor=channel, Spatial=True, Epsilon=1e-5),
            lambda torch, x, mean, variance, scale, bias: torch.nn.functional.batch_norm(
                x, mean.flatten(), variance.flatten(), scale.flatten(), bias.flatten()))
        yield Work(f"LOCAL_RESPONSE_NORMALIZATION of 5 channels, {FLOATS[size]}", .70 if size == 4 else .55, element_wise(
            "LOCAL_RESPONSE_NORMALIZATION", shapes[size], size, CrossChannel=True, LocalSize=5, Alpha=1e-4, Beta=.75, Bias=1),
            lambda torch, x: torch.nn.functional.local_response_norm(x, 5))
    for name, side, stride, goals, fields, peer in (
            ("MAX_POOLING", 2, 2, (.90, .80), {}, "max_pool2d"), ("MAX_POOLING", 3, 1, (.80, .65), {}, "max_pool2d"),
            ("AVERAGE_POOLING", 2, 2, (.90, .80), {"IncludePadding": False}, "avg_pool2d"),
            ("AVERAGE_POOLING", 3, 1, (.80, .65), {"IncludePadding": False}, "avg_pool2d")):
        for size, goal in zip((4, 2), goals):
            yield Work(f"{name} window {side} stride {stride}, {FLOATS[size]}", goal, element_wise(
                name, shapes[size], size, Strides=[stride] * 2, WindowSize=[side] * 2, StartPadding=[0, 0],
                EndPadding=[0, 0], **fields),
                lambda torch, x, side=side, stride=stride, peer=peer: getattr(torch.nn.functional, peer)(x, side, stride))
    for mode, peer, goals in (("LINEAR", "bilinear", (.75, .60)), ("NEAREST_NEIGHBOR", "nearest", (.85, .75))):
        for size, goal in zip((4, 2), goals):
            shape = shapes[size]
            yield Work(f"RESAMPLE {mode}, twice as large, {FLOATS[size]}", goal, element_wise(
                "RESAMPLE", [n, c, shape[2] // 2, shape[3] // 2], size, OutputTensor=tensor(shape, size),
                InterpolationMode=mode, Scales=[1, 1, 2, 2]),
                lambda torch, x, peer=peer: torch.nn.functional.interpolate(x, scale_factor=2, mode=peer))


def convolution(input_sizes, filter_sizes, stride, size, groups=1):
    n, c, h, w = input_sizes
    k, _, side, _ = filter_sizes
    border = side // 2
    output = [n, k, (h + 2 * border - side) // stride + 1, (w + 2 * border - side) // stride + 1]
    description = {"type": "CONVOLUTION", "desc": {
        "InputTensor": tensor(input_sizes, size), "FilterTensor": tensor(filter_sizes, size),
        "OutputTensor": tensor(output, size), "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [stride] * 2,
        "Dilations": [1, 1], "StartPadding": [border] * 2, "EndPadding": [border] * 2, "OutputPadding": [0, 0],
        "GroupCount": groups}}
    operations = 2 * math.prod(output) * filter_sizes[1] * side * side
    return description, operations, lambda torch, x, f: torch.nn.functional.conv2d(x, f, None, stride, border, 1, groups)


def products():
    """Goals are shares of PyTorch's rate, without TF32."""
    for size in (4, 2):
        for length, goal in ((1024, .80), (4096, .95 if size == 4 else .45), (8192, .95 if size == 4 else .45)):
            square = tensor([1, 1, length, length], size)
            yield Work(f"GEMM matrices of {length}x{length}, {FLOATS[size]}", goal, {"type": "GEMM", "desc": {
                "ATensor": square, "BTensor": square, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}},
                lambda torch, a, b: a @ b, operations=2 * length ** 3)
        for name, shape, filters, stride, goal, groups in (
                ("3x3, 64 channels of 56x56", [32, 64, 56, 56], [64, 64, 3, 3], 1, .80, 1),
                ("1x1, 256 channels of 56x56", [32, 256, 56, 56], [64, 256, 1, 1], 1, .90, 1),
                ("7x7 stride 2, 3 channels of 224x224", [32, 3, 224, 224], [64, 3, 7, 7], 2, .80, 1),
                ("3x3, 512 channels of 14x14", [32, 512, 14, 14], [512, 512, 3, 3], 1, .80, 1),
                ("3x3 depthwise, 256 channels of 112x112", [32, 256, 112, 112], [256, 1, 3, 3], 1, 3., 256)):
            description, operations, peer = convolution(shape, filters, stride, size, groups)
            yield Work(f"CONVOLUTION {name}, {FLOATS[size]}", goal, description, peer, operations=operations)
        heads = tensor([1, 8, 2048, 1024], size)
        yield Work(f"MULTIHEAD_ATTENTION, 8 x 16 heads, 2048 long, 64 wide, {FLOATS[size]}", .9 if size == 4 else .4, {
            "type": "MULTIHEAD_ATTENTION", "desc": {
                "QueryTensor": heads, "KeyTensor": heads, "ValueTensor": heads, "OutputTensor": heads, "HeadCount": 16,
                "Scale": .125, "MaskFilterValue": -10000, "MaskType": "NONE"}},
            lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(
                *(x.view(8, 2048, 16, 64).transpose(1, 2) for x in (q, k, v))), operations=4 * 8 * 16 * 2048 ** 2 * 64)


def lstm(steps, batch, states, size):
    def activation(name):
        return {"Type": "ACTIVATION_" + name, "Desc": {}}

    description = {"type": "LSTM", "desc": {
        "InputTensor": tensor([1, steps, batch, states], size), "WeightTensor": tensor([1, 1, 4 * states, states], size),
        "RecurrenceTensor": tensor([1, 1, 4 * states, states], size),
        "OutputSequenceTensor": tensor([steps, 1, batch, states], size), "ActivationDescCount": 3,
        "ActivationDescs": [activation("SIGMOID"), activation("TANH"), activation("TANH")], "Direction": "FORWARD",
        "UseClipThreshold": False, "ClipThreshold": 0, "CoupleInputForget": False}}

    made = []  # once, because its weights are packed

    def peer(torch, x, w, r):
        if not made:
            made.append(torch.nn.LSTM(states, states, bias=False, device=x.device, dtype=x.dtype).requires_grad_(False))
            made[0].weight_ih_l0.copy_(w[0, 0])
            made[0].weight_hh_l0.copy_(r[0, 0])
        return made[0](x[0])

    return description, 2 * steps * batch * 4 * states * 2 * states, peer


def recurrent():
    for size in (4, 2):
        description, operations, peer = lstm(128, 64, 512, size)
        yield Work(f"LSTM 128 steps, 64 sequences, 512 states, {FLOATS[size]}", .6, description, peer, operations=operations)


def works(sizes):
    yield from moves(sizes)
    yield from lp_poolings(sizes)
    yield from element_wise_works(sizes)
    yield from gathers_and_scans(sizes)
    yield from rows_and_windows(sizes)
    yield from products()
    yield from recurrent()
