"""Writes ONNX models without the onnx package: the few messages of onnx.proto that these take."""
import struct

ELEMENT = {"FLOAT32": 1, "UINT8": 2, "FLOAT16": 10, "FLOAT64": 11}


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def integer(field, number):
    return varint(field << 3) + varint(number)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name, value):
    if isinstance(value, str):
        return block(1, name) + block(4, value) + integer(20, 3)
    if isinstance(value, int):
        return block(1, name) + integer(3, value) + integer(20, 2)
    if isinstance(value, float):
        return block(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    return block(1, name) + b"".join(integer(8, number) for number in value) + integer(20, 7)


def value_info(name, element, sizes):
    shape = b"".join(block(1, integer(1, size)) for size in sizes)
    return block(1, name) + block(2, block(1, integer(1, element) + block(2, shape)))


def tensor(name, element, sizes, raw):
    return b"".join(integer(1, size) for size in sizes) + integer(2, element) + block(8, name) + block(9, raw)


def node(operator, inputs, outputs, attributes=None):
    content = b"".join(block(1, name) for name in inputs) + b"".join(block(2, name) for name in outputs)
    content += block(3, outputs[0]) + block(4, operator)
    return content + b"".join(block(5, attribute(name, value)) for name, value in (attributes or {}).items())


def graph_model(nodes, inputs, outputs, initializers, version=19):
    """A model of node()s, inputs and outputs as value_info()s, and initializers as tensor()s."""
    graph = b"".join(block(1, one) for one in nodes) + block(2, "graph") + b"".join(block(5, one) for one in initializers)
    graph += b"".join(block(11, one) for one in inputs) + b"".join(block(12, one) for one in outputs)
    return integer(1, 9) + block(8, block(1, "") + integer(2, version)) + block(7, graph)


def model(operator, data_type, sizes, output_sizes, attributes=None, int64_inputs=None, fill=None):
    """A model x -> y of one node; int64_inputs are constant inputs {name: list} after x, `fill` one element as raw bytes."""
    element = ELEMENT[data_type]
    inputs, initializers = ["x"], []
    for name, numbers in (int64_inputs or {}).items():
        inputs.append(name)
        initializers.append(tensor(name, 7, [len(numbers)], struct.pack(f"<{len(numbers)}q", *numbers)))
    if fill is not None:
        inputs.append("fill")
        initializers.append(tensor("fill", element, [], fill))
    return graph_model([node(operator, inputs, ["y"], attributes)], [value_info("x", element, sizes)],
                       [value_info("y", element, output_sizes)], initializers)
