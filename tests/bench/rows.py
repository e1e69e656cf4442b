"""Rows of specs/measurements.json from what the tables of this folder measure."""
import json

SIZES = {"FLOAT64": "8-byte", "FLOAT32": "4-byte", "FLOAT16": "2-byte", "UINT8": "1-byte"}
MOVES = {"PADDING", "SLICE1", "REVERSE_SUBSEQUENCES"}  # measured for a size of elements, whatever their type


def rounded(number):
    return round(number, 2) if number < 10 else float(f"{number:.3g}")


class Rows:
    """Collects what was measured, and prints one row for each operator and work. The numbers of other programs say
    how many times as fast dmlop is, at the least over the types of a row."""

    def __init__(self, run):
        self.run, self.rows = run, {}

    def add(self, name, description, value, peers):
        """name is that of a table's row, "PADDING EDGE, 4-byte"; value a share, or a dictionary of milliseconds and
        gops."""
        operator = description["type"].removeprefix("DML_OPERATOR_")
        fields = description["desc"]
        tensors = [field[0] if isinstance(field, list) else field for key, field in fields.items() if "Tensor" in key]
        kind = tensors[0]["DataType"] if tensors else "FLOAT32"
        work, _, last = name.rpartition(", ")
        if last not in ("float32", "float16") and not last.endswith("-byte"):
            work = name
        for prefix in (operator, operator.removeprefix("ELEMENT_WISE_"), operator.removeprefix("ACTIVATION_")):
            work = work.removeprefix(prefix)
        row = self.rows.setdefault((operator, work.strip(" ,") or "whole tensors"), ({}, {}))
        row[0][SIZES[kind] if operator in MOVES else kind] = (
            {key: rounded(number) for key, number in value.items()} if isinstance(value, dict) else rounded(value))
        for peer, times in peers.items():
            row[1][peer] = min(rounded(times), row[1].get(peer, rounded(times)))

    def print(self):
        print("\nRows for specs/measurements.json:")
        for (operator, work), (values, peers) in self.rows.items():
            print("    " + json.dumps([operator, self.run, work, values] + ([peers] if peers else [])) + ",")
