// GEMM with each operator that DirectML fuses into it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "spec/spec.hpp"

namespace dmlop::test {

/// The desc of GEMM's example with the operator's example as FusedActivation, without its tensors.
inline nlohmann::ordered_json gemm_fused_with(const std::string& activation) {
  using Json = nlohmann::ordered_json;
  Json fields = Json::parse(find_spec(activation)->example);
  for (const FieldSpec& field : find_spec(activation)->fields) {
    if (field.is_tensor()) fields.erase(field.name);
  }
  Json desc = Json::parse(find_spec("GEMM")->example);
  desc["OutputTensor"] = {{"DataType", "FLOAT32"}, {"Sizes", {2, 4}}};
  desc["FusedActivation"] = {{"Type", "DML_OPERATOR_" + activation}, {"Desc", fields}};
  return desc;
}

}  // namespace dmlop::test
