#include "warnings.hpp"

#include <algorithm>
#include <span>

#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"

namespace dmlop::app {
namespace {

constexpr std::size_t warnings_shown = 1000;

std::span<const Diagnostic> first_of(const Diagnostics& warnings) {
  return {warnings.data(), std::min(warnings.size(), warnings_shown)};
}

}  // namespace

void print_warnings(const Diagnostics& warnings) {
  for (const Diagnostic& warning : first_of(warnings))
    print(StandardStream::error, {Text::lines(shown_text(warning, "warning")), "\n"});
  if (warnings.size() > warnings_shown)
    print(StandardStream::error,
          {"and ", counted(warnings.size() - warnings_shown, "more warning"), "\n"});
}

nlohmann::ordered_json warnings_json(const Diagnostics& warnings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Diagnostic& warning : first_of(warnings)) list.push_back(to_text(warning, "warning"));
  return list;
}

}  // namespace dmlop::app
