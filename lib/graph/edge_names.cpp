#include "graph/edge_names.hpp"

#include <cctype>
#include <set>

#include "base/confine.hpp"
#include "base/text.hpp"
#include "model/outputs.hpp"

namespace dmlop {
namespace {

// Longer names are cut, so that every file system takes them.
constexpr std::size_t name_length_max = 100;

}  // namespace

std::string safe_file_name(const std::string& wished) {
  std::string name = wished.substr(0, name_length_max);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    // Letters, digits and a few marks.
    const bool is_safe =
        byte < 128 && (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.');
    if (!is_safe) c = '_';
  }
  const bool is_reserved = static_cast<bool>(Confinement(".").problem_of_text(name + ".npy"));
  return name.empty() || name.front() == '.' || is_reserved ? "_" + name : name;
}

std::string new_file_name(const std::string& name, std::set<std::string>& taken) {
  std::string unique = name;
  for (std::size_t i = 2; !taken.insert(lower_case(unique)).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

std::vector<std::string> edge_file_names(const Model& model) {
  std::vector<std::string> names(model.resources.size());
  std::set<std::string> taken;
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    for (const TensorBinding* binding : outputs_of(model, *dispatch)) {
      const std::size_t resource = binding->range.resource;
      // A model may write a resource several times.
      if (names[resource].empty())
        names[resource] = new_file_name(safe_file_name(model.resources[resource].name), taken);
    }
  }
  return names;
}

}  // namespace dmlop
