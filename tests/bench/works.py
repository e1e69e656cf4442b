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


def bench(program, device, min_time, description):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        command = [program, "bench", file.name, "--device", device, "--min-time", str(min_time), "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr or run.stdout)
    return json.loads(run.stdout)
