#!/usr/bin/env python3
"""Measures dmlop's kernels on one GPU, PyTorch beside it on the same card, and writes a Markdown table.

usage: gpu_table.py PROGRAM [--device SPEC] [--min-time S] [--no-torch] [--sizes 16x16x1024x1024] [--rows RUN]

The share is of the card's own copy rate, measured by `dmlop bench` in the same call. Bytes are inputs read
once and outputs written once (SLICE1 with strides: twice the output)."""
import argparse, datetime

from rows import Rows
from works import bench, padding, pooling, reverse, slice1, whole_tensors


def rows(sizes):
    """(name, goal, description, bytes or None, peer) of every row; peer(torch, x) is the same work in PyTorch."""
    modes = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "SYMMETRIC": None, "WRAP": "circular"}
    goals = {8: 0.90, 4: 0.90, 2: 0.85, 1: 0.75}
    for mode, name in modes.items():
        for size in (8, 4, 2, 1):
            peer = name and (lambda torch, x, name=name: torch.nn.functional.pad(x, (3, 2, 2, 4), mode=name))
            yield f"PADDING {mode}, {size}-byte", goals[size], padding(sizes, size, mode), None, peer
    for size in (8, 4, 2, 1):
        yield (f"SLICE1 unit strides, {size}-byte", 0.90, slice1(sizes, size, [1, 1]), "twice output",
               lambda torch, x: x[..., 1:-1, 3:-3].contiguous())
    for size in (8, 4, 2, 1):
        yield (f"SLICE1 last axis backwards, {size}-byte", 0.80, slice1(sizes, size, [1, -1]), "twice output",
               lambda torch, x: x[..., 1:-1, 3:-3].flip(-1))
    for size in (8, 4, 2, 1):
        yield (f"SLICE1 strides 2x2, {size}-byte", 0.60, slice1(sizes, size, [2, 2]), "twice output",
               lambda torch, x: x[..., ::2, ::2].contiguous())
    for axis, name in ((-1, "last"), (0, "first")):
        for size in (8, 4, 2, 1):
            yield f"REVERSE_SUBSEQUENCES {name} axis, {size}-byte", 0.80, reverse(sizes, size, axis), None, None
    for window, stride, p, goal32, goal16 in ((2, 2, 1, .85, .75), (2, 2, 2, .85, .75), (2, 2, 3, .85, .75),
                                              (3, 1, 2, .70, .55), (7, 1, 2, .35, None)):
        for size, goal in ((4, goal32), (2, goal16)):
            if goal:
                yield (f"LP_POOLING window {window} stride {stride} P {p}, {'float32' if size == 4 else 'float16'}",
                       goal, pooling(sizes, size, window, stride, p), None,
                       lambda torch, x, p=p, window=window, stride=stride:
                       torch.nn.functional.lp_pool2d(x, p, window, stride=stride))
    for name, goal, description in whole_tensors(sizes):
        yield name, goal, description, None, None


def torch_seconds(torch, peer, description):
    tensor = description["desc"]["InputTensor"]
    kind = {"UINT8": torch.uint8, "FLOAT16": torch.float16, "FLOAT32": torch.float32, "FLOAT64": torch.float64}[tensor["DataType"]]
    x = torch.randint(0, 255, tensor["Sizes"], device="cuda", dtype=torch.uint8).to(kind) if kind == torch.uint8 \
        else torch.rand(tensor["Sizes"], device="cuda", dtype=kind)
    seconds = []
    for _ in range(13):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        peer(torch, x)
        end.record()
        torch.cuda.synchronize()
        seconds.append(begin.elapsed_time(end) * 1e-3)
    return sorted(seconds[3:])[5]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--min-time", type=float, default=0.3)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--sizes", default="16x16x1024x1024")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--rows", metavar="RUN", help="print rows of this run for specs/measurements.json, too")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split("x")]
    torch = None
    if not options.no_torch:
        import torch
    print(f"Tensor {options.sizes}, {datetime.date.today()}, device {options.device}"
          + (f", {torch.cuda.get_device_name()}, PyTorch {torch.__version__}" if torch else "") + "\n")
    print("| work | GB/s | share of copy | goal | PyTorch GB/s |\n|---|--:|--:|--:|--:|")
    measured = Rows(options.rows)
    for name, goal, description, count, peer in rows(sizes):
        if options.only not in name:
            continue
        try:
            result = bench(options.program, options.device, options.min_time, description)
            bytes_moved = 2 * result["outputBytes"] if count else result["inputBytes"] + result["outputBytes"]
            rate = bytes_moved / result["medianSeconds"]
            share = rate / result["copyBytesPerSecond"]
            peer_rate, peers = "", {}
            if torch and peer:
                try:
                    rate_of_peer = bytes_moved / torch_seconds(torch, peer, description)
                    peer_rate = f"{rate_of_peer * 1e-9:.0f}"
                    peers = {"PyTorch": round(rate_of_peer / result["copyBytesPerSecond"], 2)}
                except (NotImplementedError, RuntimeError):
                    peer_rate = "not offered"
                torch.cuda.empty_cache()
            measured.add(name, description, share, peers if ", 4-byte" in name or ", float32" in name else {})
            missed = "" if share >= goal else " (missed)"
            print(f"| {name} | {rate * 1e-9:.0f} | {share:.2f} | {goal:.2f}{missed} | {peer_rate} |", flush=True)
        except RuntimeError as error:
            print(f"| {name} | failed: {str(error).strip()[:200]} | | {goal:.2f} | |", flush=True)
    if options.rows:
        measured.print()


if __name__ == "__main__":
    main()
