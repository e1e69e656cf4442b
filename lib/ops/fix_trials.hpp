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

/// A tensor's file with other sizes than it has.
struct OtherShape {
  std::string tensor;
  Sizes sizes;
};

class FixTrials {
 public:
  /// `before` is the description as it was before it was checked. Fields named in `beside` may
  /// stand next to its own.
  FixTrials(const Description& before, std::vector<std::string> beside)
      : before_(before), beside_(std::move(beside)) {}

  bool are_left() const { return tries_ <= tries_max; }

  /// What is found in a description; nothing where it cannot be read, or contradicts its files.
  std::optional<Diagnostics> check(const nlohmann::ordered_json& json,
                                   const OtherShape& shape = {});

  /// As the function of this name in spec/fitting_example.hpp; none where there is no such tensor.
  std::vector<Sizes> sizes_by_rules(const nlohmann::ordered_json& json,
                                    const std::string& tensor) const;

  /// The one file whose array leaves no finding in another order of dimensions, such as NHWC. Of
  /// several, it is the one that `finding` is about.
  std::optional<OtherShape> only_order(const nlohmann::ordered_json& json,
                                       const Diagnostic& finding);

  /// How many dimensions the first tensor has that has any; 0: unknown.
  std::size_t first_dimensions() const;

  /// A tensor that is left out of the description, because a file has its type and sizes.
  bool is_said_by_file(const std::string& pointer) const;

  /// The tensor of "/desc/BiasTensor/Sizes/1" if a .npy file gives its sizes, else null.
  const TensorDesc* tensor_of_file(const std::string& pointer) const;

 private:
  // Larger descriptions, and more findings and tries, would take longer than reading the answer.
  static constexpr int tries_max = 400;

  std::optional<Description> read(const nlohmann::ordered_json& json, const OtherShape& shape,
                                  Diagnostics& found) const;
  bool take_files(Description& description, const OtherShape& shape) const;

  const Description& before_;
  std::vector<std::string> beside_;
  int tries_ = 0;
};

/// "BiasTensor" or "InputTensors[0]" of a pointer to a part of it.
std::string tensor_name_of(const std::string& pointer);

}  // namespace dmlop
