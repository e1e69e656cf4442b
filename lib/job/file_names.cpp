#include "job/file_names.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "job/job.hpp"
#include "npy/raw_form.hpp"

namespace dmlop {

ElementName element_name(const std::string& name) {
  constexpr std::size_t most_digits = 4;
  const std::size_t mark = name.find_last_of(".[");
  if (mark == std::string::npos) return {name, {}};
  const bool is_bracket = name[mark] == '[';
  if (is_bracket && !name.ends_with(']')) return {name, {}};
  const std::string digits = name.substr(mark + 1, name.size() - mark - (is_bracket ? 2 : 1));
  if (digits.empty() || digits.size() > most_digits) return {name, {}};
  std::size_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return {name, {}};
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return {name.substr(0, mark), number};
}

std::string field_of_file(const std::string& name) {
  return element_name(name).field;
}

void read_file_texts(Description& description, Diagnostics& diagnostics) {
  for (Binding& binding : description.bindings) {
    const bool is_output = description.spec->find_field(binding.tensor)->is_output();
    try {
      const FileText file =
          is_output ? parse_output_text(binding.path) : parse_file_text(binding.path);
      binding.path = file.path;
      binding.raw = file.raw;
    } catch (const Error& error) {
      const std::string name = "bindings." + tensor_name(binding.tensor, binding.element);
      diagnostics.push_back(
          description.document().at(*binding.written, name + ": " + error.what()));
      binding.path.clear();
    }
  }
}

std::string path_beside(const std::string& file, const std::string& path) {
  if (is_standard_input(path) || is_standard_input(file)) return path;
  const std::filesystem::path given = to_path(path);
  if (given.is_absolute()) return path;
  return to_text(to_path(file).parent_path() / given);
}

bool is_absent(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(to_path(path), error).type();
  if (type == std::filesystem::file_type::none)
    throw Error(ErrorKind::io_failed, "looking for " + path + ": " + reason(error));
  return type == std::filesystem::file_type::not_found;
}

}  // namespace dmlop
