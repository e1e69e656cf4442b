#!/usr/bin/env python3
"""Measures dmlop on ONNX models on the CPU against ONNX Runtime, and writes a Markdown table.

usage: graph_table.py PROGRAM [--min-time 2] [--only TEXT] [--keep FOLDER]

The models have random weights: a network of convolutions, the same in 8 bits, a block of a transformer, and one of 500
nodes and 100 MB for the time of loading. A run is `dmlop bench MODEL` and `session.run`, on all cores. Loading is the
whole process of `dmlop check MODEL`, and InferenceSession.create() without optimizations. Memory is the peak of a process
that runs the model once or more; Node.js alone takes about 45 MiB of ONNX Runtime's. ONNX Runtime is the npm package
onnxruntime-node (npm install --ignore-scripts), found through ONNXRUNTIME_MODULES."""
import argparse, json, os, random, resource, statistics, struct, subprocess, sys, tempfile, time

from onnx_model import ELEMENT, graph_model, node, tensor, value_info

HERE = os.path.dirname(os.path.abspath(__file__))


class Builder:
    """A model x -> y, node by node."""

    def __init__(self, sizes, seed=1):
        self.sizes, self.nodes, self.initializers, self.random = sizes, [], [], random.Random(seed)

    def constant(self, sizes, scale=1.0):
        """A FLOAT32 tensor of a bell curve, which repeats itself."""
        count = 1
        for size in sizes:
            count *= size
        some = [self.random.gauss(0, scale) for _ in range(min(count, 4099))]
        raw = struct.pack(f"<{len(some)}f", *some)
        return self.initializer(1, sizes, (raw * (count // len(some) + 1))[:4 * count])

    def initializer(self, element, sizes, raw):
        self.initializers.append(tensor(f"c{len(self.initializers)}", element, sizes, raw))
        return f"c{len(self.initializers) - 1}"

    def integers(self, numbers):
        return self.initializer(7, [len(numbers)], struct.pack(f"<{len(numbers)}q", *numbers))

    def bytes_of(self, element, sizes):
        count = 1
        for size in sizes:
            count *= size
        return self.initializer(element, sizes, self.random.randbytes(count))

    def add(self, operator, inputs, **attributes):
        self.nodes.append(node(operator, inputs, [f"t{len(self.nodes)}"], attributes))
        return f"t{len(self.nodes) - 1}"

    def model(self, last, output_sizes):
        self.nodes.append(node("Identity", [last], ["y"]))
        return graph_model(self.nodes, [value_info("x", 1, self.sizes)], [value_info("y", 1, output_sizes)],
                           self.initializers)


def convolutions():
    b = Builder([1, 3, 224, 224])

    def conv(x, channels, outputs, stride=1):
        weights = b.constant([outputs, channels, 3, 3], (2 / (9 * channels)) ** 0.5)
        return b.add("Conv", [x, weights, b.constant([outputs])], pads=[1, 1, 1, 1], strides=[stride, stride])

    x = b.add("Relu", [conv("x", 3, 32, 2)])
    channels = 32
    for outputs in (32, 64, 128, 256):
        stride = 1 if outputs == 32 else 2
        x = b.add("Relu", [conv(x, channels, outputs, stride)])
        y = b.add("Relu", [conv(x, outputs, outputs)])
        x = b.add("Relu", [b.add("Add", [x, conv(y, outputs, outputs)])])
        channels = outputs
    x = b.add("Flatten", [b.add("GlobalAveragePool", [x])], axis=1)
    x = b.add("Gemm", [x, b.constant([1000, 256], 0.05), b.constant([1000])], transB=1)
    return b.model(b.add("Softmax", [x], axis=-1), [1, 1000])


def quantized():
    b = Builder([1, 3, 224, 224])
    scalar = lambda value: b.initializer(1, [], struct.pack("<f", value))
    zero = b.initializer(ELEMENT["UINT8"], [], b"\x80")
    signed_zero = b.initializer(3, [], b"\0")
    x = b.add("QuantizeLinear", ["x", scalar(0.02), zero])
    channels = 3
    for outputs, stride in ((32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1)):
        weights = b.bytes_of(3, [outputs, channels, 3, 3])
        x = b.add("QLinearConv", [x, scalar(0.02), zero, weights, scalar(0.01), signed_zero, scalar(0.5), zero],
                  pads=[1, 1, 1, 1], strides=[stride, stride])
        channels = outputs
    return b.model(b.add("DequantizeLinear", [x, scalar(0.5), zero]), [1, 256, 14, 14])


def transformer(length=256, width=768, heads=12):
    b = Builder([1, length, width])

    def dense(x, rows, columns):
        product = b.add("MatMul", [x, b.constant([rows, columns], rows ** -0.5)])
        return b.add("Add", [product, b.constant([columns])])

    def normalized(x):
        return b.add("LayerNormalization", [x, b.constant([width]), b.constant([width])], axis=-1)

    def split(x, order):
        parts = b.add("Reshape", [x, b.integers([1, length, heads, width // heads])])
        return b.add("Transpose", [parts], perm=order)

    x = normalized("x")
    query, key, value = (dense(x, width, width) for _ in range(3))
    scores = b.add("MatMul", [split(query, [0, 2, 1, 3]), split(key, [0, 2, 3, 1])])
    scale = b.initializer(1, [], struct.pack("<f", (width // heads) ** -0.5))
    weights = b.add("Softmax", [b.add("Mul", [scores, scale])], axis=-1)
    mixed = b.add("Transpose", [b.add("MatMul", [weights, split(value, [0, 2, 1, 3])])], perm=[0, 2, 1, 3])
    x = b.add("Add", ["x", dense(b.add("Reshape", [mixed, b.integers([1, length, width])]), width, width)])
    inner = dense(normalized(x), width, 4 * width)
    half, one, root = (b.initializer(1, [], struct.pack("<f", v)) for v in (0.5, 1.0, 2 ** -0.5))
    gelu = b.add("Add", [b.add("Erf", [b.add("Mul", [inner, root])]), one])
    inner = b.add("Mul", [b.add("Mul", [inner, half]), gelu])
    return b.model(b.add("Add", [x, dense(inner, 4 * width, width)]), [1, length, width])


def large(layers=166, width=388):
    b = Builder([1, width])
    x = "x"
    for _ in range(layers):
        x = b.add("Relu", [b.add("Add", [b.add("MatMul", [x, b.constant([width, width], 0.05)]), b.constant([width])])])
    return b.model(x, [1, width])


MODELS = {"convolutions": (convolutions, [1, 3, 224, 224]), "convolutions in 8 bits": (quantized, [1, 3, 224, 224]),
          "block of a transformer": (transformer, [1, 256, 768]), "500 nodes, 100 MB": (large, [1, 388])}


def write_apart(path, build):
    """Writes a model in a process of its own: what this one has counts as memory of those that it starts."""
    child = os.fork()
    if child == 0:
        with open(path, "wb") as file:
            file.write(build())
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"{path} cannot be written")


def peak_of(command):
    """The peak memory of a process in MiB, and its seconds."""
    start = time.perf_counter()
    with open(os.devnull, "w") as null:
        process = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_maxrss / 1024, time.perf_counter() - start


def measured(program, path, min_time):
    bench = subprocess.run([program, "bench", path, "--cpu", "--format", "json", "--min-time", str(min_time)],
                           capture_output=True, text=True, check=True)
    loading = statistics.median(peak_of([program, "check", path])[1] for _ in range(7))
    memory = peak_of([program, "bench", path, "--cpu", "--min-time", "0.1"])[0]
    return json.loads(bench.stdout)["medianSeconds"], loading, memory


def peer(path, sizes, min_time, level):
    if "ONNXRUNTIME_MODULES" not in os.environ:
        return None
    command = ["node", os.path.join(HERE, "onnxruntime_peer.mjs"), path, "FLOAT32", "x".join(map(str, sizes)),
               str(min_time), level]
    run = subprocess.run(command, capture_output=True, text=True)
    return [float(word) for word in run.stdout.split()] if run.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--min-time", type=float, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default=tempfile.mkdtemp())
    options = parser.parse_args()
    print("| model | dmlop, ms | ONNX Runtime, ms | times as long | loading, ms | ONNX Runtime | memory, MiB | ONNX Runtime |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, (build, sizes) in MODELS.items():
        if options.only not in name:
            continue
        path = os.path.join(options.keep, name.replace(" ", "_").replace(",", "") + ".onnx")
        write_apart(path, build)
        run, loading, memory = measured(options.program, path, options.min_time)
        theirs = peer(path, sizes, options.min_time, "all")
        unoptimized = peer(path, sizes, 0.1, "disabled")
        cells = [f"{run * 1e3:.1f}", f"{theirs[0] * 1e3:.1f}" if theirs else "", f"{run / theirs[0]:.2f}" if theirs else "",
                 f"{loading * 1e3:.0f}", f"{unoptimized[1] * 1e3:.0f}" if unoptimized else "", f"{memory:.0f}",
                 f"{theirs[2]:.0f}" if theirs else ""]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


main()
