// Turns what <dmlop/dmlop.h> shows into what <dmlop/dmlop.hpp> takes, and back. The C interface
// stands on the public C++ header, and uses no layer.
#pragma once

#include <dmlop/dmlop.h>

#include <cstring>
#include <deque>
#include <dmlop/dmlop.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct dmlop_error {
  dmlop_status status = DMLOP_DONE;
  std::string message;
  std::string findings;  // JSON
};

namespace dmlop::c {

using Json = nlohmann::ordered_json;

/// A wrong call. It becomes DMLOP_USAGE.
[[noreturn]] void refuse(const std::string& message);

/// A struct of the caller, whose struct_size says how much of it is there; `defaults` if it is
/// NULL. Errors: usage if it is smaller than in the first version, or asks for what a later one
/// has.
template <typename Struct>
Struct read_struct(const Struct* given, const Struct& defaults, const char* name) {
  if (given == nullptr) return defaults;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof(Struct))
    refuse(std::string(name) + ".struct_size is " + std::to_string(size) + ", must be at least " +
           std::to_string(sizeof(Struct)) + ": initialize the struct with its macro");
  constexpr std::size_t most = 4096;
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Struct); i < std::min(size, most); ++i) {
    if (bytes[i] != 0)
      refuse(std::string(name) + " asks for what this version of the library does not have");
  }
  return *given;
}

/// The caller's pointer, which may not be NULL. Errors: usage.
template <typename Value>
Value& required(Value* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string(name) + " is NULL");
  return *pointer;
}

Operation to_operation(const dmlop_operation* operation);
/// `name` is that of the list, for messages.
std::vector<Input> to_inputs(const dmlop_tensor* tensors, std::size_t count,
                             const char* name = "inputs");
std::variant<TensorView, std::filesystem::path> to_contents(const dmlop_tensor& tensor,
                                                            const std::string& name);
ElementType to_element_type(std::uint32_t type, const std::string& name);
std::filesystem::path to_path(const char* text);

Json to_json(const std::vector<Finding>& findings);
Json to_json(const std::vector<TensorInfo>& tensors);
/// A text that dmlop_text_free() frees. Errors: std::bad_alloc.
char* to_text(const std::string& text);

/// Tensors as C sees them. It owns their names, sizes and strides, but not their elements.
class TensorList {
 public:
  void add(const TensorInfo& info, std::vector<std::uint64_t> strides, void* data,
           std::uint64_t bytes);
  void add(const BufferInfo& info) { add(info, info.strides, nullptr, info.bytes); }
  dmlop_tensors list() const { return {tensors_.data(), tensors_.size()}; }

 private:
  struct Owned {
    std::string name;
    std::vector<std::uint64_t> sizes, strides;
  };
  std::deque<Owned> owned_;
  std::vector<dmlop_tensor> tensors_;
};

/// Stores what is being thrown, unless `error` is NULL. Call it while an exception is handled.
dmlop_status store_error(dmlop_error** error) noexcept;

/// Calls `action`, which returns nothing or a status. What it throws becomes a status and an error.
template <typename Action>
dmlop_status guarded(dmlop_error** error, Action&& action) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    if constexpr (std::is_void_v<decltype(action())>) {
      action();
      return DMLOP_DONE;
    } else {
      return action();
    }
  } catch (...) {
    return store_error(error);
  }
}

/// The same for work that may be stopped.
template <typename Action>
dmlop_status guarded(const dmlop_call* call, dmlop_error** error, Action&& action) noexcept {
  return guarded(error, [&] {
    const dmlop_call given = read_struct(call, dmlop_call DMLOP_CALL, "call");
    std::optional<StopCondition> stop;
    if (given.should_stop != nullptr)
      stop.emplace([&] { return given.should_stop(given.user) != 0; });
    return action(given);
  });
}

}  // namespace dmlop::c
