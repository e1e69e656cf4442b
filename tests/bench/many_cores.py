#!/usr/bin/env python3
"""Measures how much faster every operator becomes with more threads, and writes a Markdown table.

usage: many_cores.py PROGRAM [--threads 1,4,16] [--min-time 0.2] [--only TEXT] [--below 8] [--against OLD_PROGRAM]
                     [--type FLOAT32,FLOAT16] [--torch] [--rows RUN]

Each operator does one large work: its example, with the sizes below. A speed-up near 1 means that one thread does the
work. Works that memory bounds reach a high share of memcpy instead. With --torch the last column is how many times as fast
as PyTorch dmlop is, both with the most threads. Memory that PyTorch gives back stays with the process."""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

from rows import Rows

# 64 Mi elements, more than the caches of any machine hold.
MAP = [4, 16, 1024, 1024]  # of element-wise operators
ROWS = [1, 1, 16384, 4096]
IMAGE = [4, 64, 512, 512]
LONG = [1, 1, 1, 1 << 26]
SORTED = [1, 1, 1, 1 << 24]
ELEMENT_WISE = ("element_wise_unary", "element_wise_binary", "element_wise_logical", "element_wise_bits",
                "element_wise_tests", "activations", "conversion")


def window(sizes=IMAGE, size=3, **fields):
    return dict(InputTensor=sizes, Strides=[1, 1], WindowSize=[size, size], StartPadding=[1, 1], EndPadding=[1, 1],
                Dilations=[1, 1], OutputTensor=sizes, OutputPadding=[0, 0], **fields)


def recurrent(gates, steps=128, batch=64, states=512):
    return dict(InputTensor=[1, steps, batch, states], WeightTensor=[1, 1, gates * states, states],
                RecurrenceTensor=[1, 1, gates * states, states], BiasTensor=None, HiddenInitTensor=None,
                CellMemInitTensor=None, SequenceLengthsTensor=None, PeepholeTensor=None, Direction="FORWARD",
                OutputSequenceTensor=[steps, 1, batch, states], OutputSingleTensor=None, OutputCellSingleTensor=None)


def row_functions():
    axes = {"last axis": ([3], MAP[:3] + [1]), "first axis": ([0], [1] + MAP[1:]), "all axes": ([0, 1, 2, 3], [1] * 4)}
    for function in ("SUM", "MAX", "L2", "MULTIPLY", "LOG_SUM_EXP", "AVERAGE"):
        for name, (reduced, output) in axes.items():
            yield f"REDUCE {function}, {name}", "REDUCE", dict(
                InputTensor=MAP, Axes=reduced, Function=function, OutputTensor=("FLOAT32", output))
    for name, (reduced, output) in axes.items():
        yield f"ARGMAX, {name}", "ARGMAX", dict(InputTensor=MAP, Axes=reduced, OutputTensor=("UINT32", output))


def works():
    """A title, an operator, and fields in place of those of its example: sizes, a type with sizes, or other values."""
    yield from row_functions()
    for name, sizes, axes in (("rows", ROWS, [3]), ("4 long rows", [1, 1, 4, 1 << 24], [3]), ("axis 1", MAP, [1]),
                              ("all but the first axis", IMAGE, [1, 2, 3])):
        yield f"ACTIVATION_SOFTMAX1, {name}", "ACTIVATION_SOFTMAX1", dict(InputTensor=sizes, Axes=axes, AxisCount=len(axes))
        yield f"MEAN_VARIANCE_NORMALIZATION1, {name}", "MEAN_VARIANCE_NORMALIZATION1", dict(
            InputTensor=sizes, Axes=axes, AxisCount=len(axes), ScaleTensor=None, BiasTensor=None)
    yield "LP_NORMALIZATION, rows", "LP_NORMALIZATION", dict(InputTensor=ROWS, Axis=3)
    for name in ("CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT"):
        yield f"{name}, one long row", name, dict(InputTensor=LONG, Axis=3)
        yield f"{name}, first axis", name, dict(InputTensor=[1, 1, 1 << 22, 16], Axis=2)
    for k, rows in ((16, [1, 1, 65536, 1024]), (64, [1, 1, 256, 1 << 18]), (64, SORTED), (1 << 24, SORTED)):
        yield f"TOP_K1, {k} of {rows[3]}", "TOP_K1", dict(InputTensor=rows, Axis=3, K=k, OutputIndexTensor=rows[:3] + [k])
    for order in ("DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"):
        yield f"DEPTH_TO_SPACE1, {order}", "DEPTH_TO_SPACE1", dict(InputTensor=[4, 256, 256, 256], BlockSize=4, Order=order)
        yield f"SPACE_TO_DEPTH1, {order}", "SPACE_TO_DEPTH1", dict(InputTensor=MAP, BlockSize=4, Order=order)
    yield "MAX_UNPOOLING, indices anywhere in the output", "MAX_UNPOOLING", dict(InputTensor=[4, 16, 512, 512], IndicesTensor=[4, 16, 512, 512], OutputTensor=MAP)
    yield "DYNAMIC_QUANTIZE_LINEAR", "DYNAMIC_QUANTIZE_LINEAR", dict(InputTensor=ROWS)
    yield "ELEMENT_WISE_QUANTIZE_LINEAR", "ELEMENT_WISE_QUANTIZE_LINEAR", dict(
        InputTensor=ROWS, ScaleTensor=ROWS, ZeroPointTensor=("INT8", ROWS), OutputTensor=("INT8", ROWS))
    yield "LSTM, 128 steps", "LSTM", recurrent(4)
    yield "GRU, 128 steps", "GRU", recurrent(3)
    yield "RNN, 128 steps", "RNN", recurrent(1)
    for count in (1, 16):
        yield f"CONVOLUTION, 3x3, 64 channels of 112x112, {count} image{'s' * (count > 1)}", "CONVOLUTION", dict(
            InputTensor=[count, 64, 112, 112], FilterTensor=[64, 64, 3, 3], BiasTensor=None, Strides=[1, 1], Dilations=[1, 1],
            StartPadding=[1, 1], EndPadding=[1, 1], OutputPadding=[0, 0], GroupCount=1, Mode="CROSS_CORRELATION",
            Direction="FORWARD", OutputTensor=[count, 64, 112, 112])
    yield "GEMM, matrices of 1024x1024", "GEMM", dict(ATensor=[1, 1, 1024, 1024], BTensor=[1, 1, 1024, 1024], CTensor=None, TransA="NONE", TransB="NONE",
                               OutputTensor=[1, 1, 1024, 1024])
    for name in ("MAX_POOLING", "AVERAGE_POOLING", "LP_POOLING"):
        yield f"{name}, window 3 stride 1", name, window()
    yield "BATCH_NORMALIZATION", "BATCH_NORMALIZATION", dict(InputTensor=IMAGE, **{
        field: [1, 64, 1, 1] for field in ("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")})
    yield "LOCAL_RESPONSE_NORMALIZATION, 5 channels", "LOCAL_RESPONSE_NORMALIZATION", dict(InputTensor=IMAGE, CrossChannel=True, LocalSize=5)
    yield "PADDING, CONSTANT", "PADDING", dict(InputTensor=MAP, StartPadding=[0, 0, 2, 3], EndPadding=[0, 0, 4, 2])
    yield "JOIN, last axis", "JOIN", dict(InputTensors=[MAP, MAP], Axis=3)
    yield "TILE, rows and columns twice", "TILE", dict(InputTensor=[4, 16, 512, 512], Repeats=[1, 1, 2, 2])
    yield "GATHER, rows of 4096", "GATHER", dict(InputTensor=ROWS, IndicesTensor=[1, 1, 1, 16384], Axis=2, IndexDimensions=1,
                                   OutputTensor=ROWS)
    yield "ONE_HOT, last axis", "ONE_HOT", dict(IndicesTensor=[1, 1, 131072, 1], ValuesTensor=[1, 1, 1, 2], OutputTensor=[1, 1, 131072, 512], Axis=3)
    yield "FILL_VALUE_CONSTANT", "FILL_VALUE_CONSTANT", dict(OutputTensor=ROWS)
    yield "FILL_VALUE_SEQUENCE", "FILL_VALUE_SEQUENCE", dict(OutputTensor=ROWS)
    yield "NONZERO_COORDINATES", "NONZERO_COORDINATES", dict(InputTensor=ROWS, OutputCountTensor=[1, 1, 1, 1],
                                                             OutputCoordinatesTensor=[1, 1, 1 << 26, 4])
    yield "RESAMPLE, linear, twice as large", "RESAMPLE", dict(InputTensor=[4, 16, 512, 512], Scales=[1, 1, 2, 2], InterpolationMode="LINEAR", OutputTensor=MAP)
    yield "ADAM_OPTIMIZER", "ADAM_OPTIMIZER", {field: ROWS for field in (
        "InputParametersTensor", "InputFirstMomentTensor", "InputSecondMomentTensor", "GradientTensor")}


def enlarged(example, sizes):
    desc = {name: value for name, value in example["desc"].items() if name != "ScaleBias"}
    for field, value in desc.items():
        if isinstance(value, dict) and "DataType" in value: desc[field] = {"DataType": value["DataType"], "Sizes": sizes}
    return dict(example, desc=desc)


def changed(example, fields, known):
    desc = dict(example["desc"])
    for field, value in fields.items():
        if field not in known: continue
        old = desc.get(field)
        type_of = lambda old: old.get("DataType", "FLOAT32") if isinstance(old, dict) else "FLOAT32"
        if value is None: desc.pop(field, None)
        elif field.endswith("Tensors"): desc[field] = [{"DataType": type_of(old[0]), "Sizes": one} for one in value]
        elif field.endswith("Tensor") and isinstance(value, tuple): desc[field] = {"DataType": value[0], "Sizes": value[1]}
        elif field.endswith("Tensor"): desc[field] = {"DataType": type_of(old), "Sizes": value}
        else: desc[field] = value
    return dict(example, desc=desc)


def all_works(program):
    query = lambda *names: json.loads(subprocess.run([program, "ops", *names, "--format", "json"], capture_output=True, check=True).stdout)
    pages = {}

    def page(name):
        if name not in pages: pages[name] = query(name)
        return pages[name]

    for title, name, fields in works():
        yield title, changed(page(name)["example"], fields, {field["name"] for field in page(name)["fields"]})
    for operator in query():
        if operator["family"] in ELEMENT_WISE:
            name = operator["name"].removeprefix("DML_OPERATOR_")
            yield name, enlarged(page(name)["example"], MAP)


def measure(program, file, threads, min_time):
    run = subprocess.run([program, "bench", file, "--cpu", "--threads", str(threads), "--min-time", str(min_time),
                          "--format", "json"], capture_output=True, text=True,
                         env={name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")})
    if run.returncode != 0: raise RuntimeError(" ".join((run.stderr or run.stdout).split())[:300])
    return json.loads(run.stdout)


def as_type(description, kind):
    """The same with floating-point tensors of this type."""
    def changed_tensor(value):
        if isinstance(value, list): return [changed_tensor(one) for one in value]
        is_float = isinstance(value, dict) and value.get("DataType", "").startswith("FLOAT")
        return dict(value, DataType=kind) if is_float else value
    return dict(description, desc={name: changed_tensor(value) for name, value in description["desc"].items()})


def torch_milliseconds(description, threads, min_time):
    """The median of PyTorch's runs; None where it has no such operator."""
    import torch
    import torch_works
    torch.set_num_threads(threads)
    with torch.inference_mode():
        call = torch_works.call_of(description)
        if call is None: return None
        call()
        times, begin = [], time.perf_counter()
        while len(times) < 3 or time.perf_counter() - begin < min_time:
            before = time.perf_counter()
            call()
            times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--threads", default="1,4,16")
    arguments.add_argument("--min-time", type=float, default=0.2)
    arguments.add_argument("--only", default="", help="works whose titles contain this text")
    arguments.add_argument("--below", type=float, help="list works with a lower speed-up only")
    arguments.add_argument("--against", help="another program, measured in turns")
    arguments.add_argument("--type", default="FLOAT32", help="of floating-point tensors; several measure all works for each")
    arguments.add_argument("--torch", action="store_true", help="compare with PyTorch, too")
    arguments.add_argument("--rows", metavar="RUN", help="print rows of this run for specs/measurements.json, too")
    options = arguments.parse_args()
    rows = Rows(options.rows)
    threads = [int(count) for count in options.threads.split(",")]
    programs = [options.program] + ([options.against] if options.against else [])
    against = [f"{count} (other)" for count in threads] if options.against else []
    peers = ["times PyTorch"] if options.torch else []
    print("| work | " + " | ".join([f"{count}" for count in threads] + against + ["speed-up", "of memcpy"] + peers) + " |")
    print("|---|" + "--:|" * (len(threads) * len(programs) + 2 + len(peers)), flush=True)
    types = options.type.split(",")
    for work, description, kind in [(*work, kind) for work in all_works(options.program) for kind in types]:
        if options.only not in work: continue
        if kind != types[0] and as_type(description, kind) == description: continue
        has_kinds = len(types) > 1 and as_type(description, types[1]) != description
        title = f"{work}, {kind}" if has_kinds else work
        description = as_type(description, kind)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(description, file)
            file.flush()
            try:
                runs = [[measure(program, file.name, count, options.min_time) for program in programs] for count in threads]
            except RuntimeError as error:
                print(f"| {title} | not measured: {error} |", flush=True)
                continue
        times = [[run[k]["medianSeconds"] * 1e3 for run in runs] for k in range(len(programs))]
        speed_up = times[0][0] / times[0][-1]
        if options.below and speed_up >= options.below: continue
        share = runs[-1][0].get("shareOfCopyRate")
        cells = [f"{time:.2f}" for one in times for time in one] + [f"{speed_up:.1f}", f"{share:.2f}" if share else ""]
        if options.torch:
            try:
                peer = torch_milliseconds(description, threads[-1], options.min_time)
            except Exception as error:  # of any kind: PyTorch may lack a type
                peer, cells[-1:] = None, [cells[-1], f"({' '.join(str(error).split())[:60]})"]
            if peer: cells.append(f"{peer / times[0][-1]:.2f}")
        value = share if share and share >= 0.1 else {"milliseconds": times[0][-1]}
        rows.add(work, description, value, {"PyTorch": peer / times[0][-1]} if options.torch and peer else {})
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    if options.rows: rows.print()


if __name__ == "__main__":
    keep = {"MALLOC_MMAP_THRESHOLD_": str(1 << 40), "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
    if "--torch" in sys.argv and "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **keep})
    main()
