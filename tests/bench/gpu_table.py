#!/usr/bin/env python3
"""Measures dmlop's kernels on one GPU, PyTorch beside it on the same card, and writes Markdown tables.

usage: gpu_table.py PROGRAM [--device SPEC] [--min-time S] [--no-torch] [--sizes 16x16x1024x1024] [--only TEXT]
                    [--rows RUN]

A share is of the card's own copy rate, measured by `dmlop bench` in the same call. Bytes are inputs read once and
outputs written once (SLICE1 with strides: twice the output). Sizes are those of FLOAT32 tensors; tensors of other types
have as many bytes. Products count operations, and their goals are shares of PyTorch's rate without TF32."""
import argparse, datetime

from gpu_works import works
from rows import Rows
from works import bench


def torch_seconds(torch, work):
    """The median time of the same work in PyTorch, on random data."""
    kinds = {"UINT8": torch.uint8, "FLOAT16": torch.float16, "FLOAT32": torch.float32, "FLOAT64": torch.float64}
    inputs = []
    for tensor in work.input_tensors():
        if tensor["DataType"] == "UINT32":
            inputs.append(torch.randint(0, 2 ** 31, tensor["Sizes"], device="cuda"))
        elif tensor["DataType"] == "UINT8":
            inputs.append(torch.randint(0, 255, tensor["Sizes"], device="cuda", dtype=torch.uint8))
        else:
            inputs.append(torch.rand(tensor["Sizes"], device="cuda", dtype=kinds[tensor["DataType"]]))
    seconds = []
    for _ in range(13):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work.peer(torch, *inputs)
        end.record()
        torch.cuda.synchronize()
        seconds.append(begin.elapsed_time(end) * 1e-3)
    return sorted(seconds[3:])[5]


def peer_seconds(torch, work):
    if not torch or not work.peer:
        return None
    try:
        return torch_seconds(torch, work)
    except (NotImplementedError, RuntimeError):
        return None
    finally:
        torch.cuda.empty_cache()


def row(work, result, peer):
    """The cells after the work's name."""
    seconds = result["medianSeconds"]
    if work.operations:
        rate = f"{work.operations / seconds * 1e-12:.1f} TFLOP/s"
        if not peer:
            return f"{rate} | | {work.goal:.2f} | "
        missed = " (missed)" if peer / seconds < work.goal else ""
        return f"{rate} | {peer / seconds:.2f} of PyTorch | {work.goal:.2f}{missed} | {work.operations / peer * 1e-12:.1f}"
    count = 2 * result["outputBytes"] if work.bytes_twice_output else result["inputBytes"] + result["outputBytes"]
    share = count / seconds / result["copyBytesPerSecond"]
    missed = " (missed)" if share < work.goal else ""
    other = f"{count / peer / result['copyBytesPerSecond']:.2f}" if peer else ""
    return f"{count / seconds * 1e-9:.0f} GB/s | {share:.2f} of copy | {work.goal:.2f}{missed} | {other}"


def measured_value(work, result):
    """What specs/measurements.json holds: a share of the copy rate, or for products their time and rate."""
    seconds = result["medianSeconds"]
    if work.operations:
        return {"milliseconds": seconds * 1e3, "gops": work.operations / seconds * 1e-9}
    count = 2 * result["outputBytes"] if work.bytes_twice_output else result["inputBytes"] + result["outputBytes"]
    return count / seconds / result["copyBytesPerSecond"]


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
    torch = None
    if not options.no_torch:
        import torch
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(f"FLOAT32 tensors of {options.sizes}, {datetime.date.today()}, device {options.device}"
          + (f", {torch.cuda.get_device_name()}, PyTorch {torch.__version__}" if torch else "") + "\n")
    print("| work | rate | share | goal | PyTorch |\n|---|--:|--:|--:|--:|")
    rows = Rows(options.rows)
    for work in works([int(size) for size in options.sizes.split("x")]):
        if options.only not in work.name:
            continue
        try:
            result = bench(options.program, options.device, options.min_time, work.description)
            peer = peer_seconds(torch, work)
            rows.add(work.name, work.description, measured_value(work, result),
                     {"PyTorch": peer / result["medianSeconds"]} if peer else {})
            print(f"| {work.name} | {row(work, result, peer)} |", flush=True)
        except RuntimeError as error:
            print(f"| {work.name} | failed: {str(error).strip()[:200]} | | {work.goal:.2f} | |", flush=True)
    if options.rows:
        rows.print()


if __name__ == "__main__":
    main()
