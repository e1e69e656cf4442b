#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/per_process.hpp"
#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

std::vector<OnnxOperator> all_rows() {
  std::vector<OnnxOperator> rows;
  for (const auto part :
       {element_wise_rows(), constant_rows(), shape_rows(), gather_rows(), reduction_rows(),
        window_rows(), matrix_rows(), normalization_rows(), quantization_rows(), recurrent_rows(),
        resize_rows(), image_rows(), contrib_rows(), attention_rows(), rotary_rows(), group_query_rows(),
        standard_attention_rows(), fused_rows(), control_rows(), unsupported_rows()})
    rows.insert(rows.end(), part.begin(), part.end());
  const auto key = [](const OnnxOperator& row) {
    return std::pair(std::string_view(row.domain), std::string_view(row.name));
  };
  std::ranges::sort(rows, {}, key);
  return rows;
}

}  // namespace

std::span<const OnnxOperator> onnx_operators() {
  return made_once([] { return all_rows(); });
}

const OnnxOperator* find_onnx_operator(std::string_view name, std::string_view domain) {
  for (const OnnxOperator& row : onnx_operators()) {
    if (row.name == name && row.domain == domain) return &row;
  }
  return nullptr;
}

std::string remedy_of_unknown_operator(std::string_view name,
                                       std::optional<std::string_view> domain) {
  std::vector<std::string> names;
  for (const OnnxOperator& row : onnx_operators()) {
    if (!domain || (row.domain == *domain && row.map != nullptr)) names.emplace_back(row.name);
  }
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? "dmlop ops --onnx lists the operators that are read"
                         : "did you mean \"" + nearest + "\"?";
}

}  // namespace dmlop::onnx
