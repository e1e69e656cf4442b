// Tries: what is found in a description if its JSON, or the shape of a file, were another one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spec/description.hpp"

namespace dmlop {

nlohmann::ordered_json json_of(const json::Value& value);

/// Whether the replacement fits into the JSON, which then has it.
bool apply(nlohmann::ordered_json& json, const Replacement& replacement);

/// Whether a JSON pointer is that of the whole or of a part of it.
inline bool is_below(const std::string& pointer, const std::string& whole) {
  return pointer == whole || pointer.starts_with(whole + "/");
}

/// Both fixes, which gave this JSON; what is changed twice has its last value.
Fix combined(const Fix& begun, const Fix& idea, const nlohmann::ordered_json& json);

/// A tensor's file with another array than it has.
struct OtherArray {
  std::string tensor;
  Sizes sizes;
  std::optional<DataType> data_type = {};  // none: the same
};

class FixTrials {
 public:
  /// `before` is the description as it was before it was checked. Fields named in `beside` may
  /// stand next to its own.
  FixTrials(const Description& before, std::vector<std::string> beside)
      : before_(before),
        beside_(std::move(beside)),
        prefix_(before.document().at(before.root(), "").pointer) {}

  /// A pointer into the document as one into the description. Fields that a batch has from
  /// elsewhere stand outside of it; their pointers stay.
  std::string relative(const std::string& pointer) const {
    return is_below(pointer, prefix_) ? pointer.substr(prefix_.size()) : pointer;
  }

  bool are_left() const { return tries_ <= tries_max; }

  /// What is found in a description; nothing where it cannot be read, contradicts its files, or
  /// repeats or drops elements in another way than NumPy's broadcasting.
  std::optional<Diagnostics> check(const nlohmann::ordered_json& json,
                                   const std::vector<OtherArray>& arrays = {});

  /// As the function of this name in spec/fitting_example.hpp; none where there is no such tensor.
  std::vector<Sizes> sizes_by_rules(const nlohmann::ordered_json& json,
                                    const std::string& tensor) const;

  /// How many dimensions the first tensor has that has any; 0: unknown.
  std::size_t first_dimensions() const;

  /// A tensor that is left out of the description, because a file has its type and sizes.
  bool is_said_by_file(const std::string& pointer) const;

  /// The tensor of "/desc/BiasTensor/Sizes/1" if a .npy file gives its sizes, else null.
  const TensorDesc* tensor_of_file(const std::string& pointer) const;

 private:
  // Larger descriptions, and more findings and tries, would take longer than reading the answer.
  static constexpr int tries_max = 400;

  std::optional<Description> read(const nlohmann::ordered_json& json,
                                  const std::vector<OtherArray>& arrays, Diagnostics& found) const;
  bool take_files(Description& description, const std::vector<OtherArray>& arrays) const;

  const Description& before_;
  std::vector<std::string> beside_;
  std::string prefix_;
  int tries_ = 0;
};

/// "BiasTensor" or "InputTensors[0]" of a pointer to a part of it.
std::string tensor_name_of(const std::string& pointer);

}  // namespace dmlop
