"""Rows of specs/measurements.json from what the tables of this folder measure."""
import json

TYPES = {"FLOAT64": "8-byte", "FLOAT32": "4-byte", "FLOAT16": "2-byte", "UINT8": "1-byte"}
MOVES = {"PADDING", "SLICE1", "REVERSE_SUBSEQUENCES"}  # measured for a size of elements, whatever their type


class Rows:
    """Collects what was measured, and prints one row for each operator and work."""

    def __init__(self, run):
        self.run, self.rows = run, {}

    def add(self, name, description, share, peers=None):
        """name is that of a table's row: "PADDING EDGE, 4-byte"."""
        operator = description["type"].removeprefix("DML_OPERATOR_")
        fields = description["desc"]
        tensor = next((fields[key] for key in ("InputTensor", "ATensor", "OutputTensor") if key in fields), None)
        kind = tensor["DataType"] if tensor else "FLOAT32"
        work, _, last = name.rpartition(", ")
        work = (work if last.lower() in {"float32", "float16"} or last.endswith("-byte") else name)
        for prefix in (operator, operator.split("_", 2)[-1], operator.removeprefix("ACTIVATION_")):
            work = work.removeprefix(prefix)
        row = self.rows.setdefault((operator, work.strip(" ,") or "whole tensors"), ({}, {}))
        row[0][TYPES[kind] if operator in MOVES else kind] = round(share, 2)
        for peer, number in (peers or {}).items():  # the least of the types
            row[1][peer] = min(number, row[1].get(peer, number))

    def print(self):
        print("\nRows for specs/measurements.json:")
        for (operator, work), (values, peers) in self.rows.items():
            print("    " + json.dumps([operator, self.run, work, values] + ([peers] if peers else [])) + ",")
