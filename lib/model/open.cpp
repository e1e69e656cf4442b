#include "model/open.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/folder.hpp"
#include "spec/near_operators.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(to_path(path), ignored);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_in_capitals(const std::string& name) {
  return upper_case(name) == name && lower_case(name) != name;
}

// The operator that a command line names; null where it names a file.
const OperatorSpec* operator_named(const std::string& name) {
  if (!is_in_capitals(name) && is_there(to_path(name))) return nullptr;
  const std::string upper = upper_case(name);
  return find_spec(without_operator_prefix(upper));
}

// The description of a folder; "" and a finding where it has none.
std::string description_of(const std::string& folder, Diagnostics& diagnostics) {
  std::string path = description_in(folder);
  if (!path.empty()) return path;
  diagnostics.push_back({.kind = ErrorKind::usage,
                         .message = text_without_description(folder),
                         .suggestion = "name a description; `dmlop batch " + shell_quoted(folder) +
                                       "` runs the jobs in folders below it, if there are any"});
  return "";
}

// Whether a name that no file has was meant to be an operator's.
bool refuse_as_operator(const std::string& name, Diagnostics& diagnostics) {
  const auto is_in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(name.begin(), name.end(), is_in_name) || is_there(to_path(name))) return false;
  const std::string meant = operator_suggestion(name);
  if (meant.empty() && !is_in_capitals(name)) return false;
  diagnostics.push_back({.kind = ErrorKind::usage,
                         .message = name + " is neither a file nor an operator",
                         .suggestion = !meant.empty() ? meant : "`dmlop ops` lists the operators"});
  return true;
}

// Whether a file is a list of jobs by its name, so that no description is looked for in it.
bool refuse_as_jobs(const std::string& path, Diagnostics& diagnostics) {
  const std::string extension = to_text(to_path(path).extension());
  if ((extension != ".jsonl" && extension != ".ndjson") || !is_there(to_path(path))) return false;
  diagnostics.push_back(
      {.file = path,
       .message = "this is a list of jobs (JSON Lines); expected one op description or model",
       .suggestion = "run its jobs with `dmlop batch " + shell_quoted(path) + "`"});
  return true;
}

}  // namespace

bool is_model(const json::Value& root) {
  int members = 0;
  for (const char* name : {"resources", "dispatchables", "commands"}) {
    if (root.find(name) != nullptr) ++members;
  }
  const bool has_type = root.find("type") != nullptr || root.find("Type") != nullptr;
  return members == 3 || (members > 0 && !has_type);
}

bool is_graph(const json::Value& root) {
  const json::Value* nodes = root.find("nodes");
  return nodes != nullptr && nodes->kind == json::Value::Kind::array;
}

std::optional<OpenedFile> parse_op_or_model(json::Source source, std::string text,
                                            Diagnostics& diagnostics,
                                            const std::vector<Setting>& settings) {
  std::string path = source.file;
  auto document = json::Document::parse_leniently(std::move(source), std::move(text), diagnostics);
  if (!document) return std::nullopt;
  const bool has_model = is_model(document->root());
  const bool has_graph = !has_model && is_graph(document->root());
  if (!has_model) {
    const Diagnostics& refused = document->tolerated();
    diagnostics.insert(diagnostics.end(), refused.begin(), refused.end());
    if (document->has_text_after_root()) return std::nullopt;
  }
  if ((has_model || has_graph) && !settings.empty())
    throw Error(ErrorKind::usage, "--set is for op descriptions, and " + path + " is a " +
                                      (has_model ? "model" : "graph"));
  const std::size_t before = diagnostics.size();
  apply_settings(*document, settings, diagnostics);
  if (diagnostics.size() > before) return std::nullopt;
  return OpenedFile{std::make_shared<const json::Document>(std::move(*document)), has_model,
                    std::move(path), has_graph};
}

std::optional<OpenedFile> open_op_or_model(const std::string& name,
                                           const std::vector<Setting>& settings,
                                           Diagnostics& diagnostics,
                                           const SharedConfinement& confinement) {
  if (const OperatorSpec* spec = operator_named(name)) {
    json::Document document = operator_document(name, *spec);
    apply_settings(document, settings, diagnostics);
    if (!diagnostics.empty()) return std::nullopt;
    return OpenedFile{std::make_shared<const json::Document>(std::move(document))};
  }
  const std::string path = is_folder(name) ? description_of(name, diagnostics) : name;
  if (path.empty() || refuse_as_operator(path, diagnostics)) return std::nullopt;
  if (refuse_as_jobs(path, diagnostics)) return std::nullopt;
  std::string text = with_context("reading the description " + path,
                                  [&] { return json::read_text(PinnedFile(confinement, path)); });
  return parse_op_or_model(json::Source{path}, std::move(text), diagnostics, settings);
}

}  // namespace dmlop
