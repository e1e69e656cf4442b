#include "model/open.hpp"

#include <utility>

#include "base/error.hpp"

namespace dmlop {

bool is_model(const json::Value& root) {
  int members = 0;
  for (const char* name : {"resources", "dispatchables", "commands"}) {
    if (root.find(name) != nullptr) ++members;
  }
  const bool has_type = root.find("type") != nullptr || root.find("Type") != nullptr;
  return members == 3 || (members > 0 && !has_type);
}

std::optional<OpenedFile> parse_op_or_model(json::Source source, std::string text,
                                            Diagnostics& diagnostics) {
  auto document = json::Document::parse_leniently(std::move(source), std::move(text), diagnostics);
  if (!document) return std::nullopt;
  const bool has_model = is_model(document->root());
  if (!has_model) {
    const Diagnostics& refused = document->tolerated();
    diagnostics.insert(diagnostics.end(), refused.begin(), refused.end());
    if (document->has_text_after_root()) return std::nullopt;
  }
  return OpenedFile{std::make_shared<const json::Document>(std::move(*document)), has_model};
}

std::optional<OpenedFile> open_op_or_model(const std::string& path, Diagnostics& diagnostics) {
  std::string text =
      with_context("reading the description " + path, [&] { return json::read_text(path); });
  return parse_op_or_model(json::Source{path}, std::move(text), diagnostics);
}

}  // namespace dmlop
