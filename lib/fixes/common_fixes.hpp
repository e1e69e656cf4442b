// Changes that mend all findings at once. The mistake is there then, wherever the findings are.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fixes/array_changes.hpp"
#include "fixes/fix_trials.hpp"
#include "spec/description.hpp"

namespace dmlop {

struct CommonFix {
  Fix fix = {};  // of the description; empty where arrays are to be saved
  Alternative words;
  std::string tensor = "";  // of the array that the words are about; "" where they name theirs
};

/// How arrays are to be saved, and which value a field is to have.
struct SeveralFixes {
  struct Step {
    Alternative words;
    std::vector<std::string> tensors;
  };

  std::vector<Step> steps;
  std::optional<Replacement> choice = {};

  /// "save array.reshape(1, 3, 8, 9) for InputTensor and write "TRANSPOSE" for TransB".
  Alternative words() const;
};

class CommonFixes {
 public:
  /// `json` is the description as it was before it was checked.
  CommonFixes(const Description& before, const nlohmann::ordered_json& json, FixTrials trials)
      : before_(before), json_(json), trials_(std::move(trials)) {}

  /// The one value of one field that leaves no finding, if there is only one.
  std::optional<Replacement> choice();

  /// The one file whose array leaves no finding in another order of dimensions, such as NHWC. Of
  /// several, it is the one that `finding` is about.
  std::optional<CommonFix> order(const Diagnostic& finding);

  /// The same, where the array has channels as its last dimension.
  std::optional<CommonFix> channels_last(const Diagnostic& finding);

  /// The one image of a description that leaves no finding with strides for channels as its last
  /// dimension, or it and the other tensors that are laid out like that.
  std::optional<CommonFix> channels_last_by_strides();

  /// The one input that leaves no finding if it has another number of dimensions.
  std::optional<CommonFix> dimensions();

  /// The file whose array leaves no finding as another type: the type of another file, one of
  /// floats before one of integers.
  std::optional<CommonFix> data_type();

  /// As few arrays as possible that leave no finding if all are laid out in another way, or one of
  /// them and the value of a field. Where types of floats are mixed, all get one type.
  std::optional<SeveralFixes> several();

 private:
  std::vector<TensorUse> inputs_of_files(Description& before) const;
  bool leaves_none(const nlohmann::ordered_json& json, const std::vector<OtherArray>& arrays);
  std::optional<CommonFix> with_channels_last(const std::vector<TensorUse>& tensors);
  std::optional<CommonFix> only_order(const Diagnostic& finding, std::size_t fewest_dimensions,
                                      std::size_t orders);
  std::optional<SeveralFixes> only_way(std::size_t count, std::optional<DataType> floats,
                                       const std::optional<Replacement>& choice);

  const Description& before_;
  const nlohmann::ordered_json& json_;
  FixTrials trials_;
};

}  // namespace dmlop
