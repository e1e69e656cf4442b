// Looks for changes of a description with which a finding is gone and no other appears.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "fixes/fix_trials.hpp"

namespace dmlop {

/// The field that a message begins with: "BiasTensor" of "BiasTensor.Sizes[1] is 3".
std::string field_of(const std::string& message);
std::string subject_of(const Diagnostic& finding);

class FixSearch {
 public:
  /// `json` is that of the description, and `findings` are all that it has.
  FixSearch(const Description& before, const nlohmann::ordered_json& json, FixTrials& trials,
            Diagnostics findings);

  const Diagnostics& findings() const { return findings_; }

  /// The finding and its ideas with pointers into the description.
  Diagnostic here(const Diagnostic& finding) const;

  /// Whether the description has a finding as the trials see it. They see no field that is written
  /// twice, so that any change would seem to help.
  bool is_seen(const Diagnostic& here);

  /// The whole fix that begins with `idea` and takes as many more ideas as `steps` allow; nothing
  /// where the finding stays or others appear. What was tried since forget() is not tried again.
  std::optional<Fix> fix(const Diagnostic& target, const Fix& idea, int steps);
  void forget() { tried_.clear(); }

  /// How many findings are new with a file of another shape; nothing where the old one is there.
  std::optional<std::size_t> left_with_shape(const Diagnostic& target, const OtherArray& array);

 private:
  bool is_at_the_same(const Diagnostic& a, const Diagnostic& b) const;
  Diagnostics fresh(const Diagnostics& found, const Diagnostic& target) const;
  std::optional<Fix> search(const Diagnostic& target, const nlohmann::ordered_json& from,
                            const Fix& begun, const Fix& idea, int steps);

  const Description& before_;
  const nlohmann::ordered_json& json_;
  FixTrials& trials_;
  Diagnostics findings_;
  std::string fields_;  // the pointer of the object that has the fields
  std::set<std::string> tried_;
  std::optional<std::optional<Diagnostics>> unchanged_;  // what the trials find without a change
};

}  // namespace dmlop
