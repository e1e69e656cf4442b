// What a RuleChecker says of rules about numbers of dimensions.
#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "spec/ideas.hpp"
#include "spec/remedy.hpp"
#include "spec/rule_checker.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {

// What the dimensions are of the tensors whose number of dimensions a rule names.
std::vector<std::string> RuleChecker::layouts(const Formula& formula) const {
  std::vector<std::string> layouts;
  for (const Reference& reference : formula.references()) {
    const std::string count = reference.field + ".DimensionCount";
    const bool is_subscript = formula.text().find('[' + count) != std::string::npos;
    if (reference.attribute != "DimensionCount" || is_subscript) continue;
    const std::string words = fields_.find(reference.field)->spec->layout_words();
    if (!words.empty() && std::ranges::find(layouts, words) == layouts.end())
      layouts.push_back(words);
  }
  return layouts;
}

// Where a rule only says how many dimensions a tensor has at least or at most.
void RuleChecker::suggest_dimensions(const Statement& statement,
                                     const Formula::Violation& violation,
                                     Diagnostic& diagnostic) const {
  const Formula& formula = statement.formula();
  const Reference* subject = formula.reference_at(violation.subject);
  const auto bound = violation.bound
                         ? formula.evaluate(*violation.bound, scope_, statement.variables)
                         : std::nullopt;
  if (subject == nullptr || subject->attribute != "DimensionCount" || !bound) return;
  const auto place = formula.place_at(violation.subject, scope_, statement.variables);
  const TensorDesc* tensor = fields_.find_tensor(place->reference.field, place->element);
  if (tensor == nullptr || tensor->sizes.empty() || bound->integer() < 1 ||
      !element_count(tensor->sizes))
    return;
  const Sizes sizes = with_dimensions(tensor->sizes, as_unsigned(bound->integer()));
  diagnostic.suggestion = how_to_reshape(*tensor, sizes);
  diagnostic.ideas = {
      {replacement(fields_, {{subject->field, "Sizes"}, place->element}, list_of(sizes))}};
}

// Where dimensions before the last ones must be 1, another number of them is meant, not fewer
// elements: for attention, tensors whose heads have a dimension of their own.
bool RuleChecker::suggest_last_dimensions(const Statement& statement, Diagnostic& diagnostic) {
  const Place place = *target_of(statement);
  const std::string before_last = "i < " + place.reference.field + ".DimensionCount - ";
  const std::string& formula = statement.formula().text();
  if (!formula.starts_with(before_last) || !formula.ends_with(".Sizes[i] == 1")) return false;
  std::size_t count = 0;
  const char* const number = formula.data() + before_last.size();
  if (std::from_chars(number, formula.data() + formula.size(), count).ec != std::errc())
    return false;
  const auto takes_them = [&](const SupportRow& row) {
    return row.covers(place.reference.field) && row.has(count);
  };
  if (std::ranges::none_of(fields_.spec->support, takes_them)) return false;
  const std::string dimensions = counted(count, "dimension");
  const TensorDesc* tensor = fields_.find_tensor(place.reference.field, place.element);
  const bool is_of_file = tensor != nullptr && !tensor->file.empty();
  diagnostic.suggestion = is_of_file ? Advice(Alternative{.kind = Alternative::Kind::save,
                                                          .value = "an array of " + dimensions})
                                     : Advice(Alternative::write_sizes(dimensions));
  diagnostic.ideas.clear();
  return true;
}

}  // namespace dmlop
