// A description and a model that are valid, but have warnings.
#pragma once

#include <cstdint>
#include <string>

#include "folder.hpp"

namespace dmlop::test {

/// Of a sum of INT64 along the last of six dimensions: its page allows it, and DirectML 1.15.4 does
/// not.
inline const std::string warned_fields =
    R"("type": "CUMULATIVE_SUMMATION", "desc": {"Axis": 5, "AxisDirection": "INCREASING", )"
    R"("HasExclusiveSum": 0})";

/// What is said about it, behind its place and the word for it.
inline const std::string warned_message = "InputTensor.DimensionCount is 6, must be at most 4\n";
inline const std::string warned_note = "DirectML 1.15.4 refuses this.";

/// What is said about the operator of warned_model(): DirectML 1.15.4, which models follow, allows
/// it, and its page does not.
inline const std::string warned_model_message = "InputTensor is FLOAT64 with 1 dimension\n";

/// A model that copies the values 1 and 2. It also has a field that DxDispatch ignores.
inline std::string warned_model() {
  return R"({"comments": [], "resources": {
    "In": {"initialValuesDataType": "FLOAT64", "initialValues": [1, 2]},
    "Out": {"initialValuesDataType": "FLOAT64", "initialValues": {"valueCount": 2, "value": 0}}},
  "dispatchables": {"copy": {"type": "TILE", "desc": {
    "InputTensor": {"DataType": "FLOAT64", "Sizes": [2]},
    "OutputTensor": {"DataType": "FLOAT64", "Sizes": [2]},
    "RepeatsCount": 1, "Repeats": [1]}}},
  "commands": [
    {"type": "dispatch", "dispatchable": "copy",
     "bindings": {"InputTensor": "In", "OutputTensor": "Out"}},
    {"type": "writeFile", "resource": "Out", "targetPath": "written.npy"}]})";
}

/// What its resource Out holds in the end.
inline std::string warned_model_result() {
  return npy("<f8", "(2,)", bytes_of(std::vector<double>{1, 2}));
}

/// A .npy file of two INT64 in six dimensions, such as the input and the output of the sum.
inline std::string six_dimensional_npy(std::int64_t first, std::int64_t second) {
  return npy("<i8", "(1, 1, 1, 1, 1, 2)", bytes_of(std::vector<std::int64_t>{first, second}));
}

}  // namespace dmlop::test
