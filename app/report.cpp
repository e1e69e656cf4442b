#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/exit_codes.hpp"
#include "base/findings_error.hpp"
#include "base/output.hpp"
#include "command.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Diagnostic& diagnostic) {
  Json json{{"exitCode", static_cast<int>(exit_code_of(diagnostic.kind))},
            {"message", diagnostic.message}};
  const auto add = [&json](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  };
  add("file", diagnostic.file);
  if (diagnostic.line != 0) {
    json["line"] = diagnostic.line;
    json["column"] = diagnostic.column;
  }
  add("argument", diagnostic.argument);
  if (diagnostic.line != 0 || !diagnostic.argument.empty()) json["pointer"] = diagnostic.pointer;
  add("value", diagnostic.value);
  add("rule", diagnostic.rule);
  add("featureLevel", diagnostic.feature_level);
  add("note", diagnostic.note);
  add("suggestion", diagnostic.suggestion.text());
  for (const Replacement& each : diagnostic.fix)
    json["fix"].push_back({{"pointer", each.pointer}, {"value", Json::parse(each.value)}});
  if (diagnostic.more != 0) json["more"] = diagnostic.more;
  return json;
}

// At most this many findings are printed; the rest are counted.
constexpr std::size_t findings_shown = 1000;

std::span<const Diagnostic> shown_of(const Diagnostics& diagnostics) {
  return {diagnostics.data(), std::min(diagnostics.size(), findings_shown)};
}

}  // namespace

void print_json(const Json& json) {
  print({Text::lines(json.dump(2, ' ', false, Json::error_handler_t::replace)), "\n"});
}

std::string shown_text(const Diagnostic& finding, std::string_view word) {
  const bool has_place = !finding.file.empty() || !finding.argument.empty();
  return (has_place ? "" : "dmlop: ") + to_text(finding, word);
}

Json findings_json(const Diagnostics& diagnostics) {
  const auto shown = shown_of(diagnostics);
  Json json{{"diagnostics", Json::array()}};
  for (const Diagnostic& diagnostic : shown) json["diagnostics"].push_back(to_json(diagnostic));
  if (shown.size() < diagnostics.size())
    json["diagnosticsNotShown"] = diagnostics.size() - shown.size();
  return json;
}

int report(const Diagnostics& diagnostics, Format format, const Json& beside) {
  const int code = exit_code_of(worst_kind(diagnostics));
  if (format == Format::json) {
    Json json{{"status", "error"}, {"exitCode", code}};
    json.update(findings_json(diagnostics));
    json.update(beside);
    print_json(json);
    return code;
  }
  const auto shown = shown_of(diagnostics);
  for (const Diagnostic& diagnostic : shown)
    print(StandardStream::error, {Text::lines(shown_text(diagnostic)), "\n"});
  if (shown.size() < diagnostics.size())
    print(StandardStream::error, {"and ", diagnostics.size() - shown.size(), " more\n"});
  const std::uint64_t count = count_of(diagnostics);
  if (count > 1) print(StandardStream::error, {count, " errors\n"});
  return code;
}

int report(const Diagnostics& diagnostics, Format format) {
  return report(diagnostics, format, Json::object());
}

int report_errors(Format format, const std::function<int()>& body) {
  try {
    return body();
  } catch (const FindingsError& error) {
    return report(error.findings(), format);
  } catch (const Error& error) {
    if (format != Format::json) throw;
    return report({finding_of(error)}, Format::json);
  }
}

}  // namespace dmlop::app
