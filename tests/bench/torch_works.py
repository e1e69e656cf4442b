"""The works of many_cores.py in PyTorch on the CPU."""
import torch
from torch.nn import functional

TYPES = {"FLOAT32": torch.float32, "FLOAT16": torch.float16, "UINT8": torch.uint8, "INT32": torch.int32, "UINT32": torch.int64,
         "INT64": torch.int64, "INT8": torch.int8}


def filled(desc):
    """A tensor of random numbers; integers are small, and no divisor is 0."""
    kind = TYPES[desc["DataType"]]
    if kind.is_floating_point: return torch.rand(desc["Sizes"]).add_(0.25).to(kind)
    return torch.randint(*((0, 2) if kind == torch.uint8 else (1, 7)), desc["Sizes"], dtype=kind)


def unary(function, **options):
    """For a function that writes to memory of its own."""
    def make(fields):
        x = filled(fields["InputTensor"])
        out = function(x, **options)
        return lambda: function(x, out=out, **options)
    return make


def binary(function):
    def make(fields):
        a, b = (filled(fields[name]) for name in fields if name.endswith("Tensor") and name != "OutputTensor")
        out = function(a, b)
        return lambda: function(a, b, out=out)
    return make


def plain(function):
    """For a function that allocates its output."""
    def make(fields):
        x = filled(fields["InputTensor"])
        return lambda: function(x)
    return make


UNARY = {name.upper(): getattr(torch, name) for name in (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor", "log", "round",
    "sign", "sin", "sinh", "sqrt", "tan", "tanh")}
UNARY |= {"NEGATE": torch.neg, "RECIP": torch.reciprocal}
BINARY = {"ADD": torch.add, "SUBTRACT": torch.sub, "MULTIPLY": torch.mul, "DIVIDE": torch.div, "MAX": torch.maximum,
          "MIN": torch.minimum, "POW": torch.pow, "ATAN_YX": torch.atan2, "MODULUS_FLOOR": torch.remainder,
          "MODULUS_TRUNCATE": torch.fmod, "LOGICAL_EQUALS": torch.eq, "LOGICAL_GREATER_THAN": torch.gt,
          "LOGICAL_LESS_THAN": torch.lt, "LOGICAL_AND": torch.logical_and, "LOGICAL_OR": torch.logical_or,
          "LOGICAL_XOR": torch.logical_xor, "BIT_AND": torch.bitwise_and, "BIT_OR": torch.bitwise_or, "BIT_XOR": torch.bitwise_xor}
ACTIVATIONS = {"CELU": functional.celu, "ELU": functional.elu, "GELU": functional.gelu, "HARD_SIGMOID": functional.hardsigmoid,
               "HARD_SWISH": functional.hardswish, "LEAKY_RELU": functional.leaky_relu, "RELU": functional.relu,
               "SCALED_ELU": functional.selu, "SHRINK": functional.softshrink, "SOFTPLUS": functional.softplus,
               "SOFTSIGN": functional.softsign, "SWISH": functional.silu, "THRESHOLDED_RELU": lambda x: functional.threshold(x, 1, 0)}
REDUCTIONS = {"SUM": torch.sum, "MAX": torch.amax, "L2": lambda x, dim: torch.linalg.vector_norm(x, 2, dim),
              "LOG_SUM_EXP": torch.logsumexp, "AVERAGE": torch.mean}


def reduce(fields):
    x, axes = filled(fields["InputTensor"]), fields["Axes"]
    if fields["Function"] != "MULTIPLY": return lambda: REDUCTIONS[fields["Function"]](x, dim=axes)
    return (lambda: x.prod(axes[0])) if len(axes) == 1 else (lambda: x.prod())


def argmax(fields):
    x, axes = filled(fields["InputTensor"]), fields["Axes"]
    return (lambda: x.argmax(axes[0])) if len(axes) == 1 else (lambda: x.argmax())


def softmax(fields):
    x, axes = filled(fields["InputTensor"]), fields["Axes"]
    return (lambda: torch.softmax(x, axes[0])) if len(axes) == 1 else (lambda: torch.softmax(x.flatten(axes[0]), axes[0]))


def normalize(fields):
    x, axes = filled(fields["InputTensor"]), fields["Axes"]
    if axes[-1] == 3: return lambda: functional.layer_norm(x, [x.shape[axis] for axis in axes])
    def by_parts():
        variance, mean = torch.var_mean(x, axes, unbiased=False, keepdim=True)
        return (x - mean).mul_((variance + 1e-5).rsqrt_())
    return by_parts


def scan(function):
    def make(fields):
        x, axis = filled(fields["InputTensor"]), fields["Axis"]
        out = function(x, axis)
        return lambda: function(x, axis, out=out)
    return make


def top_k(fields):
    x = filled(fields["InputTensor"])
    return lambda: torch.topk(x, fields["K"], fields["Axis"])


def depth_to_space(fields):
    x, b = filled(fields["InputTensor"]), fields["BlockSize"]
    if fields["Order"] == "COLUMN_ROW_DEPTH": return lambda: functional.pixel_shuffle(x, b)
    n, c, h, w = x.shape
    return lambda: x.view(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2).contiguous()


def space_to_depth(fields):
    x, b = filled(fields["InputTensor"]), fields["BlockSize"]
    if fields["Order"] == "COLUMN_ROW_DEPTH": return lambda: functional.pixel_unshuffle(x, b)
    n, c, h, w = x.shape
    return lambda: x.view(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).contiguous()


def recurrent(kind):
    def make(fields):
        _, steps, batch, size = fields["InputTensor"]["Sizes"]
        network, x = kind(size, fields["RecurrenceTensor"]["Sizes"][3]), torch.rand(steps, batch, size)
        return lambda: network(x)
    return make


def convolve(fields):
    x, weights = filled(fields["InputTensor"]), filled(fields["FilterTensor"])
    return lambda: functional.conv2d(x, weights, padding=fields["StartPadding"][0])


def pool(function):
    return plain(lambda x: function(x, 3, 1, 1))


def lp_pool(fields):
    x = functional.pad(filled(fields["InputTensor"]), (1, 1, 1, 1))
    return lambda: functional.lp_pool2d(x, float(fields["P"]), 3, 1)


def batch_norm(fields):
    x, ones = filled(fields["InputTensor"]), torch.ones(fields["InputTensor"]["Sizes"][1])
    ones = ones.to(x.dtype)
    return lambda: functional.batch_norm(x, ones, ones, ones, ones)


def join(fields):
    x = [filled(desc) for desc in fields["InputTensors"]]
    out = torch.cat(x, fields["Axis"])
    return lambda: torch.cat(x, fields["Axis"], out=out)


def gather(fields):
    x, axis = filled(fields["InputTensor"]), fields["Axis"]
    places = torch.randint(0, x.shape[axis], fields["IndicesTensor"]["Sizes"]).flatten()
    out = x.index_select(axis, places)
    return lambda: torch.index_select(x, axis, places, out=out)


def gemm(fields):
    a, b = (filled(fields[name]).view(fields[name]["Sizes"][2:]) for name in ("ATensor", "BTensor"))
    out = a @ b
    return lambda: torch.mm(a, b, out=out)


def choose(fields):
    condition, a, b = (filled(fields[name]) for name in ("ConditionTensor", "ATensor", "BTensor"))
    condition = condition.bool()
    out = torch.where(condition, a, b)
    return lambda: torch.where(condition, a, b, out=out)


WORKS = {f"ELEMENT_WISE_{name}": unary(function) for name, function in UNARY.items()}
WORKS |= {f"ELEMENT_WISE_{name}": binary(function) for name, function in BINARY.items()}
WORKS |= {f"ACTIVATION_{name}": plain(function) for name, function in ACTIVATIONS.items()}
WORKS |= {
    "ELEMENT_WISE_CLIP": unary(torch.clamp, min=0.5, max=1), "ELEMENT_WISE_IF": choose,
    "ELEMENT_WISE_IDENTITY": plain(torch.clone), "ELEMENT_WISE_IS_NAN": plain(torch.isnan),
    "ELEMENT_WISE_IS_INFINITY": plain(torch.isinf), "ACTIVATION_SIGMOID": unary(torch.sigmoid), "ACTIVATION_TANH": unary(torch.tanh),
    "REDUCE": reduce, "ARGMAX": argmax, "ACTIVATION_SOFTMAX1": softmax, "MEAN_VARIANCE_NORMALIZATION1": normalize,
    "LP_NORMALIZATION": plain(lambda x: functional.normalize(x, dim=3)), "CUMULATIVE_SUMMATION": scan(torch.cumsum),
    "CUMULATIVE_PRODUCT": scan(torch.cumprod), "TOP_K1": top_k, "DEPTH_TO_SPACE1": depth_to_space,
    "SPACE_TO_DEPTH1": space_to_depth, "LSTM": recurrent(torch.nn.LSTM), "GRU": recurrent(torch.nn.GRU),
    "RNN": recurrent(torch.nn.RNN), "CONVOLUTION": convolve, "GEMM": gemm, "MAX_POOLING": pool(functional.max_pool2d),
    "AVERAGE_POOLING": pool(functional.avg_pool2d), "LP_POOLING": lp_pool, "BATCH_NORMALIZATION": batch_norm,
    "LOCAL_RESPONSE_NORMALIZATION": plain(lambda x: functional.local_response_norm(x, 5)),
    "PADDING": plain(lambda x: functional.pad(x, (3, 2, 2, 4))), "JOIN": join, "TILE": plain(lambda x: x.repeat(1, 1, 2, 2)),
    "GATHER": gather, "NONZERO_COORDINATES": plain(torch.nonzero),
    "RESAMPLE": plain(lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear")),
    "FILL_VALUE_CONSTANT": lambda fields: (lambda: torch.full(fields["OutputTensor"]["Sizes"], 1.5)),
    "FILL_VALUE_SEQUENCE": lambda fields: (lambda: torch.arange(0, fields["OutputTensor"]["Sizes"][-1] ** 2, dtype=torch.float32)),
}


def call_of(description):
    """A function that computes a description's work on random tensors; None where PyTorch has no such operator."""
    make = WORKS.get(description["type"].removeprefix("DML_OPERATOR_"))
    return make(description["desc"]) if make else None
