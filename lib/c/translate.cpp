#include "c/translate.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string_view>
#include <tuple>

namespace dmlop::c {
namespace {

// Stored where there is no memory for another one.
dmlop_error out_of_memory{DMLOP_OUT_OF_MEMORY, "out of memory", "[]"};

constexpr std::uint32_t dimensions_max = 64;

dmlop_status to_status(FailureKind kind) {
  switch (kind) {
    case FailureKind::usage:
      return DMLOP_USAGE;
    case FailureKind::invalid_input:
      return DMLOP_INVALID;
    case FailureKind::unavailable:
      return DMLOP_UNAVAILABLE;
    case FailureKind::run_failed:
      return DMLOP_RUN_FAILED;
    case FailureKind::io_failed:
      return DMLOP_IO_FAILED;
    case FailureKind::canceled:
      return DMLOP_CANCELED;
  }
  return DMLOP_RUN_FAILED;
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

std::vector<std::uint64_t> numbers(const std::uint64_t* first, std::uint32_t count) {
  return {first, first + count};
}

// The size at the end of "batch=2", and where its "=" is; no size if the text does not end with
// one.
std::pair<std::size_t, std::optional<std::uint64_t>> size_behind(std::string_view text) {
  const std::size_t mark = text.rfind('=');
  if (mark == std::string_view::npos || mark == 0 || mark + 1 == text.size()) return {};
  std::uint64_t size = 0;
  const char* last = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + mark + 1, last, size);
  if (error != std::errc{} || stop != last) return {};
  return {mark, size};
}

// "batch=2,length=8". Names may have "=" and ",".
std::map<std::string, std::uint64_t> to_dimensions(const std::string& text) {
  std::map<std::string, std::uint64_t> dimensions;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin, mark = 0;
    std::optional<std::uint64_t> size;
    for (;; ++end) {
      end = std::min(text.find(',', end), text.size());
      std::tie(mark, size) = size_behind(std::string_view(text).substr(begin, end - begin));
      if (size || end == text.size()) break;
    }
    if (!size)
      refuse("operation.dimensions has \"" + text.substr(begin) +
             "\", must be a name and a size: batch=2");
    dimensions[text.substr(begin, mark)] = *size;
    begin = end + 1;
  }
  return dimensions;
}

void add_if_there(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

}  // namespace

void refuse(const std::string& message) {
  throw Failure(FailureKind::usage, message);
}

std::filesystem::path to_path(const char* text) {
  const std::string path = text_of(text);
  return std::u8string(path.begin(), path.end());
}

ElementType to_element_type(std::uint32_t type, const std::string& name) {
  if (type < DMLOP_FLOAT32 || type > DMLOP_INT4)
    refuse(name + ".type is " + std::to_string(type) + ", which is not a dmlop_type");
  return static_cast<ElementType>(type);
}

Operation to_operation(const dmlop_operation* operation) {
  const dmlop_operation given =
      read_struct(&required(operation, "operation"), dmlop_operation DMLOP_OPERATION, "operation");
  Operation made{
      .file = to_path(given.file),
      .feature_level = text_of(given.feature_level),
      .as = text_of(given.as),
      .confined_to = to_path(given.confined_to),
      .dimensions = to_dimensions(text_of(given.dimensions)),
      .known_inputs = to_inputs(given.known_inputs, given.known_input_count, "known_inputs"),
      .fuse = given.fuse != 0};
  if (given.text != nullptr && given.text_size != 0) made.text.assign(given.text, given.text_size);
  if (given.text != nullptr && given.text_size == 0) made.text = given.text;
  return made;
}

std::variant<TensorView, std::filesystem::path> to_contents(const dmlop_tensor& tensor,
                                                            const std::string& name) {
  if (tensor.path != nullptr) return to_path(tensor.path);
  if (tensor.rank > dimensions_max)
    refuse(name + ".rank is " + std::to_string(tensor.rank) + ", must be at most " +
           std::to_string(dimensions_max));
  if (tensor.rank != 0) required(tensor.sizes, (name + ".sizes").c_str());
  if (tensor.bytes != 0) required(static_cast<const char*>(tensor.data), (name + ".data").c_str());
  TensorView view{.type = to_element_type(tensor.type, name),
                  .sizes = numbers(tensor.sizes, tensor.rank),
                  .bytes = {static_cast<const std::byte*>(tensor.data),
                            static_cast<std::size_t>(tensor.bytes)}};
  if (tensor.strides != nullptr) view.strides = numbers(tensor.strides, tensor.rank);
  return view;
}

std::vector<Input> to_inputs(const dmlop_tensor* tensors, std::size_t count, const char* name) {
  if (count != 0) required(tensors, name);
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string place = std::string(name) + "[" + std::to_string(i) + "]";
    required(tensors[i].name, (place + ".name").c_str());
    inputs.push_back({tensors[i].name, to_contents(tensors[i], place)});
  }
  return inputs;
}

Json to_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json row{{"message", finding.message}};
    add_if_there(row, "rule", finding.rule);
    add_if_there(row, "help", finding.help);
    add_if_there(row, "note", finding.note);
    add_if_there(row, "file", finding.file);
    if (finding.line != 0) row["line"] = finding.line;
    if (finding.column != 0) row["column"] = finding.column;
    add_if_there(row, "pointer", finding.pointer);
    row["text"] = finding.text;
    list.push_back(std::move(row));
  }
  return list;
}

Json to_json(const std::vector<TensorInfo>& tensors) {
  Json list = Json::array();
  for (const TensorInfo& tensor : tensors)
    list.push_back(
        {{"name", tensor.name}, {"dataType", name_of(tensor.type)}, {"sizes", tensor.sizes}});
  return list;
}

char* to_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void TensorList::add(const TensorInfo& info, std::vector<std::uint64_t> strides, void* data,
                     std::uint64_t bytes) {
  const Owned& owned = owned_.emplace_back(Owned{info.name, info.sizes, std::move(strides)});
  tensors_.push_back({.name = owned.name.c_str(),
                      .path = nullptr,
                      .data = data,
                      .bytes = bytes,
                      .sizes = owned.sizes.data(),
                      .strides = owned.strides.empty() ? nullptr : owned.strides.data(),
                      .rank = static_cast<std::uint32_t>(owned.sizes.size()),
                      .type = static_cast<std::uint32_t>(info.type)});
}

dmlop_status store_error(dmlop_error** error) noexcept {
  try {
    dmlop_error made;
    try {
      throw;
    } catch (const Failure& failure) {
      // Texts of the caller may be no UTF-8; the JSON is.
      const auto handler = Json::error_handler_t::replace;
      made = {to_status(failure.kind()), failure.what(),
              to_json(failure.findings()).dump(-1, ' ', false, handler)};
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::invalid_argument& failure) {
      made = {DMLOP_USAGE, failure.what(), "[]"};
    } catch (const std::exception& failure) {
      made = {DMLOP_RUN_FAILED, failure.what(), "[]"};
    }
    const dmlop_status status = made.status;
    if (error != nullptr) *error = new dmlop_error(std::move(made));
    return status;
  } catch (...) {
    if (error != nullptr) *error = &out_of_memory;
    return DMLOP_OUT_OF_MEMORY;
  }
}

}  // namespace dmlop::c

using namespace dmlop::c;

dmlop_status dmlop_error_status(const dmlop_error* error) {
  return error == nullptr ? DMLOP_DONE : error->status;
}
const char* dmlop_error_message(const dmlop_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}
const char* dmlop_error_findings(const dmlop_error* error) {
  return error == nullptr ? "[]" : error->findings.c_str();
}
void dmlop_error_free(dmlop_error* error) {
  if (error != &out_of_memory) delete error;
}
void dmlop_text_free(char* text) {
  std::free(text);
}
