#include "comparison_results.hpp"

#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"

namespace dmlop::app {

void print_comparison(const OutputComparison& output, bool in_full) {
  print({word_of(output), ": ", output.tensor, " against ", output.expected_path, ": ",
         summary_of(output), "\n"});
  if (in_full) print({Text::lines(to_text(output.comparison))});
}

nlohmann::ordered_json comparison_json(const OutputComparison& output) {
  nlohmann::ordered_json json{{"name", output.tensor}, {"expected", output.expected_path}};
  if (output.update != GoldenUpdate::none) json["update"] = name_of(output.update);
  json.update(to_json(output.comparison));
  return json;
}

}  // namespace dmlop::app
