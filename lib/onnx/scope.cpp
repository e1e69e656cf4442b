#include "onnx/scope.hpp"

#include <algorithm>

namespace dmlop::onnx {
namespace {

constexpr std::uint64_t copied_bytes_max = std::uint64_t{1} << 26;

std::uint64_t bytes_of_attribute(const Attribute& attribute) {
  return attribute.integers.size() * sizeof(std::int64_t) + attribute.reals.size() * sizeof(float) +
         attribute.texts.size() * sizeof(std::string_view);
}

}  // namespace

void MadeNames::count(std::uint64_t bytes) {
  copied_bytes += bytes;
  if (copied_bytes > copied_bytes_max)
    Mapping::refuse("names and attributes in the model's functions and branches have more than " +
                    std::to_string(copied_bytes_max) + " bytes, each counted once for each call");
}

Scope::Scope(const Function& function, const Node& call, MadeNames& names, bool is_of_file)
    : call_(&call),
      function_(&function),
      is_of_file_(is_of_file),
      names_(names),
      prefix_(std::string(call.display_name()) + "/"),
      operator_sets_(function.operator_sets) {
  for (std::size_t i = 0; i < function.inputs.size(); ++i)
    bind(function.inputs[i], i < call.inputs.size() ? call.inputs[i] : std::string_view());
}

std::string_view Scope::written(std::string_view written) {
  if (is_of_model() || written.empty()) return written;
  const auto found = bound_.find(written);
  if (found != bound_.end()) return found->second;
  const std::string_view name = names_.free(prefix_ + std::string(written));
  bind(written, name);
  return name;
}

std::string_view Scope::read(std::string_view written) const {
  if (is_of_model() || written.empty()) return written;
  const auto found = bound_.find(written);
  if (found != bound_.end()) return found->second;
  return around_ != nullptr ? around_->read(written) : names_.free(prefix_ + std::string(written));
}

const Attribute* Scope::argument(std::string_view name) const {
  if (call_ == nullptr) return around_ == nullptr ? nullptr : around_->argument(name);
  for (const std::vector<Attribute>* list : {&call_->attributes, &function_->defaults}) {
    const auto found = std::ranges::find(*list, name, &Attribute::name);
    if (found != list->end()) return &*found;
  }
  return nullptr;
}

Node Scope::seen(const Node& node) {
  if (is_of_model()) return node;
  for (const Attribute& attribute : node.attributes) names_.count(bytes_of_attribute(attribute));
  Node made = node;
  for (std::string_view& input : made.inputs) input = read(input);
  for (std::string_view& output : made.outputs) output = written(output);
  if (!is_of_file_) made.name = call_->display_name();
  if (!node.name.empty() && !prefix_.empty()) {
    names_.count(prefix_.size() + node.name.size());
    made.name = names_.kept.emplace_back(prefix_ + std::string(node.name));
  }
  made.attributes.clear();
  for (const Attribute& attribute : node.attributes) {
    if (attribute.reference.empty()) {
      made.attributes.push_back(attribute);
    } else if (const Attribute* given = argument(attribute.reference)) {
      names_.count(bytes_of_attribute(*given));
      made.attributes.push_back(*given);
      made.attributes.back().name = attribute.name;
    }
  }
  return made;
}

}  // namespace dmlop::onnx
