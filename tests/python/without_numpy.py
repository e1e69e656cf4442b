"""What `import dmlop` does without NumPy."""

import array
import json
import os
import sys

import dmlop

assert "numpy" not in sys.modules
try:
    import numpy  # noqa: F401
except ImportError:
    pass
else:
    raise SystemExit("NumPy is here")

EDGE = {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [1]}


def run(x, **options):
    return dmlop.run("PADDING", x, device="cpu", **EDGE, **options)


y = run(array.array("f", [1, 2, 3]))
assert (y.type, y.shape, y.tolist()) == ("FLOAT32", (5,), [1, 1, 2, 3, 3]), y
assert run(b"\1\2").elements() == [1, 1, 2, 2]
assert run(memoryview(b"\1\2\3\4")[::2]).elements() == [1, 1, 3, 3]
for part in [slice(1, 3), slice(0, 2), slice(2, 4), slice(None, None, -1), slice(1, 4, 2)]:
    for whole in [b"\1\2\3\4", bytearray(b"\1\2\3\4")]:
        some = list(whole[part])
        assert run(memoryview(whole)[part]).elements() == [some[0], *some, some[-1]], (whole, part)
assert run(memoryview(array.array("i", [5, 6])).toreadonly()).tolist() == [5, 5, 6, 6]
half = run(dmlop.Tensor("FLOAT16", [2], b"\0\x3c\0\x40"))
assert (half.type, half.tolist()) == ("FLOAT16", [1, 1, 2, 2])
square = dmlop.Tensor("FLOAT32", (2, 2), array.array("f", [1, 2, 3, 4]))
assert dmlop.run("ELEMENT_WISE_NEGATE", square, device="cpu").tolist() == [[-1, -2], [-3, -4]]
out = array.array("f", [0] * 5)
assert run(array.array("f", [1, 2, 3]), out=out) is out and out.tolist() == [1, 1, 2, 3, 3]
assert dmlop.compare(square, square)

for value, message in [
    ([1, 2], "InputTensor is a list"),
    (object(), "InputTensor is an object: pass an array or a buffer"),
    (array.array("u", "ab"), "InputTensor has elements of format 'w'"),
]:
    try:
        run(value)
    except dmlop.Usage as error:
        assert str(error).startswith(message), error
    else:
        raise SystemExit(f"{value!r} is accepted")
for arguments in [("FLOAT", [2], b"12345678"), ("FLOAT32", [3], b"12345678")]:
    try:
        dmlop.Tensor(*arguments)
    except dmlop.Usage:
        continue
    raise SystemExit(f"{arguments} is accepted")

program = dmlop.load(os.path.join(os.environ["DMLOP_SAMPLES"], "graph/graph.json"))
image = dmlop.Tensor("FLOAT32", (1, 1, 4, 4), array.array("f", range(16)))
assert program.run({"image": image}, device="cpu")["result"].elements() == [6, 8, 14, 16]
assert json.dumps(dmlop.ops("GEMM").json)
print("done")
