// Applies a spec's formulas to a description: what is missing is inferred, what is given is
// checked. After a violation it goes on with the value that would have been right, so that one
// mistake is one finding.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/description.hpp"

namespace dmlop {

class RuleChecker : public Scope {
 public:
  RuleChecker(Description& description, Diagnostics& diagnostics)
      : description_(description), diagnostics_(diagnostics) {}

  void apply(const Formula& rule);
  /// Makes a size worth nothing to rules, because it broke another one. False where it already was.
  bool refuse(const Reference& reference, std::size_t subscript);
  /// Every array must have as many elements as its count field says.
  void check_array_lengths();
  /// Fields that may be left out only under a condition that does not hold.
  void check_optional_fields();
  /// Completes findings about a wrong number of sizes, once rules have found the right sizes.
  void suggest_sizes();

  std::optional<std::int64_t> value(const Reference& reference,
                                    std::optional<std::size_t> subscript) const override;
  std::optional<std::size_t> length(const Reference& reference) const override;
  std::string show(const Reference& reference, std::int64_t value) const override;

 private:
  using Subscript = std::optional<std::size_t>;

  /// True when it added a finding.
  bool apply_at(const Formula& rule, std::size_t i);
  bool infer(const Formula& rule, std::size_t i);
  std::optional<std::int64_t> size_out_of_range(const Formula& rule, std::size_t i) const;
  bool counts_below_zero(const Formula& rule, std::size_t i) const;
  void set(const Reference& target, Subscript subscript, std::int64_t value);
  void correct(const Formula& rule, std::size_t i);
  void report(const Formula& rule, std::size_t i, const Formula::Violation& violation);
  void report_out_of_range(const Formula& rule, std::size_t i, std::int64_t value);
  Diagnostic at_first_written(const Formula& rule, std::size_t i, Formula::NodeIndex first,
                              std::string message) const;

  Description& description_;
  Diagnostics& diagnostics_;
  std::set<std::string> refused_;  // references that broke a rule: worth nothing to later rules
  std::map<std::string, std::vector<std::optional<std::uint64_t>>> inferred_sizes_;
  std::map<std::string, std::size_t> wrong_dimensions_;  // tensor -> index of the finding
};

}  // namespace dmlop
