#include "npy/raw_form.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& problem) {
  throw Error(ErrorKind::invalid_input, "\"" + printable(text) + "\" " + problem);
}

std::optional<std::uint64_t> whole_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const DataTypeInfo& type : data_types) names.emplace_back(type.name);
  return names;
}

/// Reads the parts of a name from its end.
class FormParser {
 public:
  explicit FormParser(const std::string& text) : text_(text), rest_(text) {}

  FileText parse() {
    for (std::size_t colon = rest_.rfind(':'); colon != std::string_view::npos;
         colon = rest_.rfind(':')) {
      const std::string_view part = rest_.substr(colon + 1);
      if (part == "npy" && !has_parts()) return {named(rest_.substr(0, colon)), std::nullopt};
      if (!take(part)) break;
      rest_ = rest_.substr(0, colon);
    }
    if (!has_parts()) return {text_, std::nullopt};
    const std::string path = named(rest_);
    if (!is_raw_ && !form_.data_type)
      refuse(text_, "has no data type: write " + path + ":raw" + text_.substr(path.size()) +
                        " for that of the tensor, or another for raw; if the name of a .npy file "
                        "ends so, write " +
                        text_ + ":npy");
    return {path, form_};
  }

 private:
  bool has_parts() const { return rest_.size() < text_.size(); }

  std::string named(std::string_view path) const {
    if (path.empty()) refuse(text_, "names no file");
    return std::string(path);
  }

  // False where it is a part of the file's name.
  bool take(std::string_view part) {
    if (part == "raw") return once(is_raw_), true;
    if (part == "big" || part == "little") {
      once(has_order_);
      form_.big_endian = part == "big";
      return true;
    }
    if (part.starts_with("offset=")) return take_offset(part.substr(part.find('=') + 1)), true;
    const bool is_sizes = !part.empty() && part.find_first_not_of("0123456789,") == part.npos;
    if (is_sizes) return take_sizes(part), true;
    const std::string upper = upper_case(part);
    if (const auto type = data_type_named(upper)) {
      once(has_type_);
      form_.data_type = type;
      return true;
    }
    const std::string nearest = nearest_name(upper, type_names());
    if (nearest.empty()) return false;
    refuse(text_, "has \"" + printable(std::string(part)) +
                      "\", which is not a data type; did you mean " + nearest +
                      "? If the name of a .npy file ends so, write " + text_ + ":npy");
  }

  void once(bool& seen) const {
    if (seen) refuse(text_, std::string("says the same twice; write ") + raw_form_text);
    seen = true;
  }

  void take_offset(std::string_view digits) {
    bool seen = form_.offset.has_value();
    once(seen);
    form_.offset = whole_number(digits);
    if (!form_.offset) refuse(text_, "must have a whole number of bytes after offset=");
  }

  void take_sizes(std::string_view list) {
    bool seen = !form_.sizes.empty();
    once(seen);
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const auto size = whole_number(list.substr(begin, end - begin));
      if (!size || *size == 0 || form_.sizes.size() == dimensions_max)
        refuse(text_, "must have 1 to " + std::to_string(dimensions_max) +
                          " sizes of at least 1, with commas between them");
      form_.sizes.push_back(*size);
      begin = end + 1;
    }
  }

  static constexpr std::size_t dimensions_max = 64;  // as .npy

  const std::string& text_;
  std::string_view rest_;
  RawForm form_;
  bool is_raw_ = false, has_type_ = false, has_order_ = false;
};

}  // namespace

RawForm RawForm::completed(std::optional<DataType> type,
                           const std::vector<std::uint64_t>& known) const {
  RawForm form = *this;
  if (!form.data_type) form.data_type = type;
  if (form.sizes.empty()) form.sizes = known;
  return form;
}

FileText parse_file_text(const std::string& text) {
  return FormParser(text).parse();
}

std::string path_of(const std::string& text) {
  try {
    return parse_file_text(text).path;
  } catch (const Error&) {
    return text;
  }
}

FileText parse_output_text(const std::string& text) {
  FileText file = parse_file_text(text);
  if (!file.raw) return file;
  if (!file.raw->is_open())
    refuse(text, "is the file of an output, whose type and sizes are those of the tensor: write " +
                     file.path + ":raw");
  return file;
}

}  // namespace dmlop
