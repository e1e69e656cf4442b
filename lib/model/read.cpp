// Reads a model as a whole: its three members, and the names that must be unique.
#include <algorithm>
#include <set>

#include "base/path.hpp"
#include "job/confined_files.hpp"
#include "model/reading.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

class Reader {
 public:
  Reader(ModelReading& reading, const json::Value& root) : reading_(reading), root_(root) {}

  void read() {
    std::vector<std::string> known{"$schema", "resources", "dispatchables", "commands"};
    const std::vector<std::string>& beside = reading_.request.beside;
    known.insert(known.end(), beside.begin(), beside.end());
    reading_.warnings.refuse_unknown(root_, known, "a model");
    const json::Value* resources = part("resources", Kind::object, "an object of buffers by name");
    const json::Value* dispatchables =
        part("dispatchables", Kind::object, "an object of operators by name");
    const json::Value* commands = part("commands", Kind::array, "an array of commands");
    if (resources != nullptr) {
      for_each_once(*resources, "resource",
                    [&](const json::Member& member) { read_resource(reading_, member); });
    }
    if (dispatchables != nullptr) {
      for_each_once(*dispatchables, "dispatchable",
                    [&](const json::Member& member) { read_dispatchable(reading_, member); });
    }
    if (commands == nullptr || resources == nullptr || dispatchables == nullptr) return;
    for (std::size_t i = 0; i < commands->items.size(); ++i)
      read_command(reading_, commands->items[i], i);
  }

 private:
  const json::Value* part(const std::string& name, Kind kind, const std::string& what) {
    const json::Value* value = root_.find(name);
    if (value == nullptr) {
      reading_.reader.missing(
          root_, name, "a DxDispatch model has resources, dispatchables and commands",
          kind == Kind::object ? "write \"" + name + "\": {…}" : "write \"" + name + "\": […]");
      return nullptr;
    }
    const std::size_t parts = value->members.size() + value->items.size();
    if (value->kind == kind && parts > model_parts_max) {
      reading_.add(*value, "the model has " + std::to_string(parts) + " " + name +
                               ", must have at most " + std::to_string(model_parts_max));
      return nullptr;
    }
    if (value->kind == kind) return value;
    reading_.reader.expected(*value, name, what);
    return nullptr;
  }

  // If a name occurs twice, the first counts.
  template <typename Action>
  void for_each_once(const json::Value& object, const std::string& what, Action&& action) {
    std::set<std::string> names;
    for (const json::Member& member : object.members) {
      if (names.insert(member.name).second) {
        action(member);
        continue;
      }
      reading_.reader.add(reading_.document().at(
          member, "the " + what + " \"" + printable(member.name) + "\" is given twice"));
    }
  }

  ModelReading& reading_;
  const json::Value& root_;
};

/// Finds all paths that a confinement refuses before any file is opened.
class ConfinementChecker {
 public:
  ConfinementChecker(ModelReading& reading, const json::Value& root)
      : reading_(reading),
        root_(root),
        sources_(*reading.request.confinement),
        targets_(reading.request.output_folder.value_or(".")) {}

  void check() {
    if (const json::Value* resources = root_.find("resources")) {
      for (const json::Member& resource : resources->members) {
        const json::Value* values = resource.value.find("initialValues");
        const json::Value* path = values != nullptr ? values->find("sourcePath") : nullptr;
        if (path == nullptr) continue;
        check_path(*path, printable(resource.name) + ".initialValues.sourcePath", sources_,
                   reading_.source_folder());
      }
    }
    if (const json::Value* dispatchables = root_.find("dispatchables")) {
      for (const json::Member& dispatchable : dispatchables->members) {
        const json::Value* path = dispatchable.value.find("sourcePath");
        if (path != nullptr)
          check_path(*path, printable(dispatchable.name) + ".sourcePath", sources_,
                     reading_.source_folder());
      }
    }
    if (const json::Value* commands = root_.find("commands")) {
      for (const json::Value& command : commands->items) {
        const json::Value* path = command.find("targetPath");
        if (path == nullptr) continue;
        const std::string index = std::to_string(&command - commands->items.data());
        check_path(*path, "commands[" + index + "].targetPath", targets_,
                   to_path(reading_.request.output_folder.value_or("")));
      }
    }
  }

 private:
  void check_path(const json::Value& written, const std::string& name,
                  const Confinement& confinement, const std::filesystem::path& folder) {
    if (written.kind != Kind::string || written.text.empty()) return;  // it has its own finding
    PathProblem problem = confinement.problem_of_text(written.text);
    if (!problem)
      problem = confinement.problem_of_file(
          to_text(folder / to_path(ModelReading::native_path(written.text))));
    if (problem)
      reading_.reader.add(
          confinement_finding(reading_.document(), written, name, problem, confinement));
  }

  ModelReading& reading_;
  const json::Value& root_;
  const Confinement& sources_;
  Confinement targets_;
};

// Repeated keys of the objects whose members are names have findings of their own.
bool is_about_name(const Diagnostic& repeated) {
  const std::string& pointer = repeated.pointer;
  const std::string parent = pointer.substr(0, pointer.rfind('/'));
  return parent == "/resources" || parent == "/dispatchables" || parent.ends_with("/bindings");
}

}  // namespace

std::string ModelReading::native_path(std::string path) {
  if (std::filesystem::path::preferred_separator == '/')
    std::replace(path.begin(), path.end(), '\\', '/');
  return path == "-" ? "./-" : path;
}

std::filesystem::path ModelReading::source_folder() const {
  if (request.input_folder) return to_path(*request.input_folder);
  return to_path(document().file()).parent_path();
}

std::optional<std::string> required_string(ModelReading& reading, const json::Value& object,
                                           const std::string& where, const std::string& member,
                                           const std::string& example) {
  const std::string name = where.empty() ? member : where + "." + member;
  const json::Value* value = object.find(member);
  if (value == nullptr) {
    reading.reader.missing(object, name, "", "write \"" + member + "\": \"" + example + "\"");
    return std::nullopt;
  }
  auto text = reading.reader.string(*value, name);
  if (text && (text->empty() || text->find('\0') != std::string::npos)) {
    reading.reader.expected(*value, name, "a string such as \"" + example + "\"");
    return std::nullopt;
  }
  return text;
}

const Resource* Model::find_resource(std::string_view name) const {
  const auto is_named = [&](const Resource& resource) { return resource.name == name; };
  const auto found = std::find_if(resources.begin(), resources.end(), is_named);
  return found == resources.end() ? nullptr : &*found;
}

std::optional<Model> read_model(std::shared_ptr<const json::Document> document,
                                const json::Value& root, const ModelRequest& request,
                                Diagnostics& diagnostics, Diagnostics& warnings) {
  Model model{.file = document->file(), .resources = {}, .dispatchables = {}, .commands = {}};
  const json::Document& text = *document;
  const std::size_t before = diagnostics.size();
  for (Diagnostic warning : text.tolerated()) {
    if (is_about_name(warning)) continue;
    warning.rule = text.has_text_after_root() ? "what follows a model is ignored"
                                              : "the first of repeated fields counts";
    warnings.push_back(std::move(warning));
  }
  ModelReading reading{.model = model,
                       .shared_document = std::move(document),
                       .request = request,
                       .reader = FieldReader(text, diagnostics),
                       .warnings = FieldReader(text, warnings),
                       .diagnostics = diagnostics};
  if (request.confinement) ConfinementChecker(reading, root).check();
  if (diagnostics.size() == before) Reader(reading, root).read();
  if (request.checking.warnings_as_errors) refuse_warnings(warnings, diagnostics);
  sort_by_position(diagnostics);
  sort_by_position(warnings);
  return diagnostics.size() == before ? std::optional(std::move(model)) : std::nullopt;
}

}  // namespace dmlop
