"""stubs.py SPECS OUTPUT: writes _ops.pyi, the type stubs of dmlop.ops, from the specs. An editor then completes
dmlop.ops.PADDING(...) with its fields and their values."""

import json
import pathlib
import sys

HEAD = '''"""Made from the specs of the operators; do not edit."""

from typing import Any, List, Literal, Mapping, Optional, Sequence, Union, overload

from ._context import Context
from ._operators import OperatorInfo

_Float = Union[float, Literal["nan", "inf", "-inf"]]
_Desc = Mapping[str, Any]
_Device = Union[None, str, Context]

class Ops:
    @overload
    def __call__(self, name: None = None) -> List[str]: ...
    @overload
    def __call__(self, name: str) -> OperatorInfo: ...
'''

DATA_TYPES = ["FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64",
              "UINT4", "INT4"]
TYPES = {
    "input_tensor": "Any",
    "input_tensor_array": "Sequence[Any]",
    "output_tensor": "Union[bool, _Desc]",
    "output_tensor_array": "Sequence[_Desc]",
    "uint": "int",
    "int": "int",
    "float": "_Float",
    "bool": "bool",
    "uint_array": "Sequence[int]",
    "int_array": "Sequence[int]",
    "float_array": "Sequence[_Float]",
    "scale_bias": "_Desc",
    "size_2d": "_Desc",
    "scalar_union": "_Float",
    "fused_activation": "_Desc",
    "activation_array": "Sequence[_Desc]",
}


def type_of(field, enums):
    if field["kind"] == "enum":
        return "Literal[" + ", ".join(f'"{value}"' for value in enums[field["enum"]]) + "]"
    return TYPES[field["kind"]]


def words_of(field):
    words = field["kind"].replace("_", " ")
    if field["kind"].endswith("_array") and "count" in field:
        words += f", {field['count']} of them"
    return words + (", optional" if field.get("optional") else "")


def method(spec, enums):
    name = spec["name"].replace("DML_OPERATOR_", "", 1)
    parameters = [f"{field['name']}: Optional[{type_of(field, enums)}] = ..." for field in spec["fields"]]
    parameters += ["out: Any = ...", "device: _Device = ...", "feature_level: Optional[str] = ...",
                   "judge: Optional[str] = ..."]
    lines = [f"    def {name}(", "        self,", "        *inputs: Any,"]
    lines += [f"        {parameter}," for parameter in parameters]
    lines += ["    ) -> Any:", f'        """{spec["summary"]}', ""]
    for field in spec["fields"]:
        lines.append(f"        {field['name']}: {words_of(field)}. {field.get('text', '')}".rstrip())
    lines += ["", f"        {spec['source']}", '        """', "        ..."]
    return "\n".join(lines) + "\n"


def stubs(specs):
    facts = json.loads((specs / "directml.json").read_text(encoding="utf-8"))
    enums = {name: [value[0] for value in values] for name, values in facts["enums"]}
    enums["DML_TENSOR_DATA_TYPE"] = DATA_TYPES
    files = sorted(specs.glob("*/*.json"), key=lambda file: file.stem)
    methods = [method(json.loads(file.read_text(encoding="utf-8")), enums) for file in files]
    return HEAD + "".join(methods) + "\nops: Ops\n"


if __name__ == "__main__":
    text = stubs(pathlib.Path(sys.argv[1]))
    pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8", newline="\n")
