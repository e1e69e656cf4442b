#!/usr/bin/env python3
"""Measures dmlop on the CPU against memcpy, NumPy, PyTorch and ONNX Runtime, and writes Markdown tables.

usage: cpu_table.py PROGRAM [--kernels] [--processes] [--megabytes 256] [--min-time 1] [--only TEXT] [--rows RUN]

Kernels run in memory on all cores: dmlop by `dmlop bench`, which measures memcpy of the same number of bytes in
turns with the kernel; peers on tensors of the same sizes and random data, right after. Processes are whole programs, from
.npy files to .npy files, page cache warm. A peer that is not installed has an empty column; ONNX Runtime is the npm
package onnxruntime-node (npm install --ignore-scripts), found through ONNXRUNTIME_MODULES."""
import argparse, datetime, json, math, os, platform, resource, statistics, subprocess, sys, tempfile, time

import onnx_model
from rows import Rows
from works import TYPES, bench, padding, pooling, reverse, slice1

import numpy

torch = None  # imported after whole processes were measured: what they inherit counts as their memory
HERE = os.path.dirname(os.path.abspath(__file__))
NUMPY_MODES = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "SYMMETRIC": "symmetric", "WRAP": "wrap"}
TORCH_MODES = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "WRAP": "circular"}
ONNX_MODES = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "WRAP": "wrap"}


class Work:
    """One row: a description, its goal as a share of memcpy, and the same work in the peers (None: not offered)."""

    def __init__(self, name, goal, description, count_output_twice=False, numpy_call=None, torch_call=None, onnx=None):
        self.name, self.goal, self.description = name, goal, description
        self.count_output_twice = count_output_twice
        self.numpy_call, self.torch_call, self.onnx = numpy_call, torch_call, onnx

    @property
    def tensor(self):
        return self.description["desc"]["InputTensor"]


def padding_work(sizes, size, mode):
    pads = [(0, 0)] * (len(sizes) - 2) + [(2, 4), (3, 2)]
    onnx = None
    if mode in ONNX_MODES:
        numbers = [low for low, _ in pads] + [high for _, high in pads]
        output = [length + low + high for length, (low, high) in zip(sizes, pads)]
        onnx = dict(operator="Pad", output_sizes=output, attributes={"mode": ONNX_MODES[mode]},
                    int64_inputs={"pads": numbers}, fill=b"\0" * size if mode == "CONSTANT" else None)
    torch_call = None
    if mode in TORCH_MODES and size != 2:
        torch_call = lambda x: torch.nn.functional.pad(x, (3, 2, 2, 4), mode=TORCH_MODES[mode])
    return Work(f"PADDING {mode}, {size}-byte", 0.9, padding(sizes, size, mode),
                numpy_call=lambda x: numpy.pad(x, pads, mode=NUMPY_MODES[mode]), torch_call=torch_call, onnx=onnx)


def slice_work(sizes, size, steps, name, goal):
    window = slice1(sizes, size, steps)
    height, width = sizes[-2:]
    if steps == [1, 1]:
        cut, first = (slice(1, height - 1), slice(3, width - 3)), lambda x: x[..., 1:-1, 3:-3].contiguous()
        onnx = dict(operator="Slice", output_sizes=sizes[:-2] + [height - 2, width - 6],
                    int64_inputs={"starts": [1, 3], "ends": [height - 1, width - 3], "axes": [2, 3], "steps": [1, 1]})
    elif steps == [1, -1]:
        cut, first = (slice(1, height - 1), slice(width - 4, 2, -1)), lambda x: x[..., 1:-1, 3:-3].flip(-1)
        onnx = dict(operator="Slice", output_sizes=sizes[:-2] + [height - 2, width - 6],
                    int64_inputs={"starts": [1, width - 4], "ends": [height - 1, 2], "axes": [2, 3], "steps": [1, -1]})
    else:
        cut, first = (slice(0, height, 2), slice(0, width, 2)), lambda x: x[..., ::2, ::2].contiguous()
        onnx = dict(operator="Slice", output_sizes=sizes[:-2] + [height // 2, width // 2],
                    int64_inputs={"starts": [0, 0], "ends": [height, width], "axes": [2, 3], "steps": [2, 2]})
    return Work(f"SLICE1 {name}, {size}-byte", goal, window, True,
                numpy_call=lambda x: numpy.ascontiguousarray(x[(...,) + cut]), torch_call=first, onnx=onnx)


def reverse_work(sizes, size, axis, name, goal):
    lengths = list(sizes)
    lengths[axis] = 1
    counts = numpy.random.default_rng(1).integers(0, sizes[axis] + 1, lengths)

    def numpy_call(x):
        position = numpy.arange(sizes[axis]).reshape([-1 if i == axis % len(sizes) else 1 for i in range(len(sizes))])
        return numpy.take_along_axis(x, numpy.where(position < counts, counts - 1 - position, position), axis)

    onnx = None
    if axis == -1:  # ONNX reverses along one of the first two axes, by one length for each entry of the other
        rows = math.prod(sizes[:-1])
        onnx = dict(operator="ReverseSequence", sizes=[rows, sizes[-1]], output_sizes=[rows, sizes[-1]],
                    attributes={"batch_axis": 0, "time_axis": 1}, int64_inputs={"lengths": counts.reshape(-1).tolist()})
    return Work(f"REVERSE_SUBSEQUENCES {name}, {size}-byte", goal, reverse(sizes, size, axis), numpy_call=numpy_call, onnx=onnx)


def pooling_work(sizes, size, window, stride, p, goal):
    height, width = ((length - window) // stride + 1 for length in sizes[-2:])

    def numpy_call(x):
        total = numpy.zeros(sizes[:-2] + [height, width], numpy.float32)
        for i in range(window):
            for j in range(window):
                part = x[..., i:i + (height - 1) * stride + 1:stride, j:j + (width - 1) * stride + 1:stride]
                total += numpy.abs(part) if p == 1 else part * part if p == 2 else numpy.abs(part) ** p
        return total if p == 1 else numpy.sqrt(total) if p == 2 else total ** (1 / p)

    onnx = None
    if size == 4:
        onnx = dict(operator="LpPool", output_sizes=sizes[:-2] + [height, width],
                    attributes={"kernel_shape": [window] * 2, "strides": [stride] * 2, "p": p})
    torch_call = (lambda x: torch.nn.functional.lp_pool2d(x, p, window, stride=stride)) if size == 4 else None
    return Work(f"LP_POOLING window {window} stride {stride} P {p}, float{8 * size}", goal,
                pooling(sizes, size, window, stride, p), numpy_call=numpy_call, torch_call=torch_call, onnx=onnx)


def kernel_works(megabytes):
    def sizes(size):
        return [megabytes // (4 * size), 4, 1024, 1024]

    for mode in NUMPY_MODES:
        for size in (8, 4, 2, 1):
            yield padding_work(sizes(size), size, mode)
    for steps, name, goal in (([1, 1], "unit strides", .9), ([1, -1], "last axis backwards", .8), ([2, 2], "strides 2x2", .6)):
        for size in (8, 4, 2, 1):
            yield slice_work(sizes(size), size, steps, name, goal)
    for axis, name, goal in ((-1, "last axis", .8), (1, "axis 1", .9)):
        for size in (8, 4, 2, 1):
            yield reverse_work(sizes(size), size, axis, name, goal)
    for window, stride, p, goals in ((2, 2, 1, {4: .7, 2: .7}), (2, 2, 2, {4: .7, 2: .7}), (3, 1, 2, {4: .5}),
                                     (7, 1, 2, {4: .3}), (3, 1, 3, {4: .3})):
        for size, goal in goals.items():
            yield pooling_work(sizes(size), size, window, stride, p, goal)


def median_seconds(call, min_time):
    call()
    seconds, start = [], time.perf_counter()
    while len(seconds) < 3 or time.perf_counter() - start < min_time:
        before = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - before)
    return statistics.median(seconds)


def random_array(tensor):
    kind = {"UINT8": numpy.uint8, "FLOAT16": numpy.float16, "FLOAT32": numpy.float32, "FLOAT64": numpy.float64}[tensor["DataType"]]
    generator = numpy.random.default_rng(2)
    if kind == numpy.uint8:
        return generator.integers(0, 256, tensor["Sizes"], numpy.uint8)
    return generator.random(tensor["Sizes"], numpy.float32).astype(kind)


def numpy_seconds(work, min_time):
    x = random_array(work.tensor)
    return median_seconds(lambda: work.numpy_call(x), min_time)


def torch_seconds(work, min_time):
    if torch is None or work.torch_call is None:
        return None
    x = torch.from_numpy(random_array(work.tensor))
    try:
        with torch.no_grad():
            return median_seconds(lambda: work.torch_call(x), min_time)
    except (RuntimeError, NotImplementedError):
        return None


def onnx_seconds(work, min_time):
    if work.onnx is None or "ONNXRUNTIME_MODULES" not in os.environ:
        return None
    arguments = dict(work.onnx)
    sizes = arguments.pop("sizes", work.tensor["Sizes"])
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(onnx_model.model(data_type=work.tensor["DataType"], sizes=sizes, **arguments))
        file.flush()
        run = subprocess.run(["node", os.path.join(HERE, "onnxruntime_peer.mjs"), file.name, work.tensor["DataType"],
                              "x".join(map(str, sizes)), str(min_time)], capture_output=True, text=True)
    return float(run.stdout.split()[0]) if run.returncode == 0 else None


def times_text(seconds, own):
    return "" if seconds is None else f"{seconds / own:.1f}"


def kernel_table(options):
    print("| work | share of memcpy | goal | GB/s | times as fast as NumPy | PyTorch | ONNX Runtime |\n|---|--:|--:|--:|--:|--:|--:|")
    gains, measured = [], Rows(options.rows)
    for work in kernel_works(options.megabytes):
        if options.only not in work.name:
            continue
        result = bench(options.program, "cpu", options.min_time, work.description)
        own = result["medianSeconds"]
        moved = 2 * result["outputBytes"] if work.count_output_twice else result["inputBytes"] + result["outputBytes"]
        share = moved / own / result["copyBytesPerSecond"]
        peers = [peer(work, options.min_time / 2) for peer in (numpy_seconds, torch_seconds, onnx_seconds)]
        faster = {name: seconds / own for name, seconds in zip(("NumPy", "PyTorch", "ONNX Runtime"), peers) if seconds}
        measured.add(work.name, work.description, share, faster)
        gains.append(min(seconds for seconds in peers if seconds is not None) / own)
        mark = "" if share >= work.goal else " (missed)"
        print(f"| {work.name} | {share:.2f} | {work.goal:.1f}{mark} | {moved / own * 1e-9:.1f} | "
              + " | ".join(times_text(seconds, own) for seconds in peers) + " |", flush=True)
    if gains:
        print(f"\nAgainst the fastest peer of each row: {min(gains):.1f} times at the least, "
              f"{statistics.geometric_mean(gains):.1f} times in the geometric mean of {len(gains)} rows.")
    if options.rows:
        measured.print()


def run_once(command):
    """Wall seconds, CPU seconds and the largest resident memory in MiB of one process."""
    before = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"{command} failed")
    return time.perf_counter() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def process_row(options, folder, name, size, repeat, goals):
    x = os.path.join(folder, "x.npy")
    width = 16 if size < 1 << 20 else 1024
    sizes = [size // (4 * width * width), 1, width, width]
    numpy.save(x, numpy.random.default_rng(3).random(sizes, numpy.float32))
    description = padding(sizes, 4, "REFLECTION")
    with open(os.path.join(folder, "op.json"), "w") as file:
        json.dump(description, file)
    own = [options.program, "run", "--cpu", "-q", os.path.join(folder, "op.json"), "-i", x, "-o", os.path.join(folder, "own.npy")]
    script = (f"import numpy; numpy.save({os.path.join(folder, 'peer.npy')!r}, "
              f"numpy.pad(numpy.load({x!r}), [(0, 0), (0, 0), (2, 4), (3, 2)], mode='reflect'))")
    peer = [sys.executable, "-c", script]
    for command in (own, peer):
        run_once(command)
    results = [[], []]
    for _ in range(repeat):
        for result, command in zip(results, (own, peer)):
            result.append(run_once(command))
    with open(os.path.join(folder, "own.npy"), "rb") as a, open(os.path.join(folder, "peer.npy"), "rb") as b:
        assert a.read() == b.read(), "the outputs differ"
    (wall, cpu, memory), (peer_wall, _, peer_memory) = ([statistics.median(column) for column in zip(*rows)] for rows in results)
    print(f"| {name} | {wall * 1e3:.1f} ms | {cpu * 1e3:.1f} ms | {memory:.0f} MiB | {peer_wall / wall:.1f} | "
          f"{peer_memory / memory:.1f} | {goals} |", flush=True)


def process_table(options):
    print("| whole process | wall | CPU time | memory | times as fast as NumPy | NumPy's memory | goal |\n|---|--:|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        process_row(options, folder, "1 KiB tensor", 1 << 10, 31, "30 times, CPU time under 5 ms")
        process_row(options, folder, "1 GiB tensor", 1 << 30, 5, "3 times, half the memory")


def import_torch():
    global torch
    try:
        import torch
    except ImportError:
        pass


def machine():
    name = platform.processor() or "unknown CPU"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
    parts = [f"{name}, {os.cpu_count()} cores", str(datetime.date.today()), f"NumPy {numpy.__version__}"]
    if torch is not None:
        parts.append(f"PyTorch {torch.__version__}")
    return ", ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kernels", action="store_true", help="only the kernels")
    parser.add_argument("--processes", action="store_true", help="only whole processes")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--min-time", type=float, default=1)
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--rows", metavar="RUN", help="print rows of this run for specs/measurements.json, too")
    parser.add_argument("--folder", help="for the files of whole processes")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if not options.kernels:
        process_table(options)
    import_torch()
    print("\n" + machine() + f", kernels on tensors of {options.megabytes} MiB\n")
    if not options.processes:
        kernel_table(options)


if __name__ == "__main__":
    main()
