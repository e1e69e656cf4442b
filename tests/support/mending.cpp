#include "mending.hpp"

#include <algorithm>

namespace dmlop::test {

Mended check_and_mend_desc(const std::string& operator_name, const OrderedJson& desc) {
  Mended checked;
  const OrderedJson json{{"type", operator_name}, {"desc", desc}};
  checked.description = read_description("op.json", json.dump(), std::nullopt, checked.diagnostics);
  if (checked.description) check_and_mend(*checked.description, checked.diagnostics);
  return checked;
}

Mended check_and_mend_files(const std::string& operator_name, const OrderedJson& desc,
                            const std::vector<TensorOfFile>& files) {
  Mended checked;
  const OrderedJson json{{"type", operator_name}, {"desc", desc}};
  checked.description = read_description("op.json", json.dump(), std::nullopt, checked.diagnostics);
  if (!checked.description) return checked;
  for (const TensorOfFile& each : files) {
    TensorDesc tensor;
    tensor.data_type = each.type;
    tensor.sizes = each.sizes;
    tensor.has_file = true;
    tensor.file = each.name + ".npy";
    checked.description->find(each.name)->value = tensor;
  }
  check_and_mend(*checked.description, checked.diagnostics);
  return checked;
}

bool mends(const Mended& checked, const Diagnostic& finding) {
  const std::string text = with_fix(*checked.description, finding.fix);
  if (text.empty()) return false;
  const OrderedJson json = OrderedJson::parse(text);
  const Mended after = check_and_mend_desc(json.at("type"), json.at("desc"));
  const auto is_old = [&](const Diagnostic& now) {
    return std::any_of(
        checked.diagnostics.begin(), checked.diagnostics.end(), [&](const Diagnostic& old) {
          const bool is_finding = old.pointer == finding.pointer && old.message == finding.message;
          return !is_finding && old.pointer == now.pointer;
        });
  };
  return after.description && after.diagnostics.size() < checked.diagnostics.size() &&
         std::all_of(after.diagnostics.begin(), after.diagnostics.end(), is_old);
}

}  // namespace dmlop::test
