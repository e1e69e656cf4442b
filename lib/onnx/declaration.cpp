#include "onnx/declaration.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace dmlop::onnx {
namespace {

std::string name_of_element(DataType type, bool is_boolean) {
  return is_boolean ? "BOOL" : std::string(name_of(type));
}

/// "[n, 3, ?]".
std::string text_of_sizes(const std::optional<std::vector<Dimension>>& sizes) {
  if (!sizes) return "of any sizes";
  std::vector<std::string> texts;
  for (const Dimension& dimension : *sizes)
    texts.push_back(dimension.size           ? std::to_string(*dimension.size)
                    : dimension.name.empty() ? "?"
                                             : printable(std::string(dimension.name)));
  return "[" + join(texts) + "]";
}

}  // namespace

std::optional<Diagnostic> warning_of_declaration(const std::string& role, const ValueInfo& declared,
                                                 const Value& value) {
  if (declared.element_type == 0) return std::nullopt;  // the model says nothing
  const auto type = data_type_of(declared.element_type);
  const bool is_boolean = declared.element_type == static_cast<int>(ElementType::boolean);
  const auto is_size = [](std::uint64_t size, const Dimension& dimension) {
    return !dimension.size || *dimension.size < 0 ||
           static_cast<std::uint64_t>(*dimension.size) == size;
  };
  const bool has_sizes =
      !declared.sizes || std::ranges::equal(value.sizes, *declared.sizes, is_size);
  if (type == value.type && is_boolean == value.is_boolean && has_sizes) return std::nullopt;
  return Diagnostic{
      .message = "the " + role + " \"" + printable(std::string(declared.name)) + "\" is " +
                 name_of_element(value.type, value.is_boolean) + " " + list_of(value.sizes) +
                 ", but the model says " +
                 (type ? name_of_element(*type, is_boolean) : name_of_type(declared.element_type)) +
                 " " + text_of_sizes(declared.sizes),
      .rule = "the model says the type and the sizes of its " + role + "s",
      .suggestion = "correct what the model says, for example with onnx.shape_inference"};
}

}  // namespace dmlop::onnx
