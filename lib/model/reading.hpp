// What the readers of a model's three parts share. For read.cpp and the files beside it only.
#pragma once

#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "model/model.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {

struct ModelReading {
  Model& model;
  const ModelRequest& request;
  FieldReader reader;  // for findings
  FieldReader notes;   // for what is only worth a word

  const json::Document& document() const { return *model.document; }
  /// A finding, or a note, at `value`, without repeating it.
  void add(const json::Value& value, std::string message, std::string rule = "",
           std::string suggestion = "", ErrorKind kind = ErrorKind::invalid_input) {
    reader.add(diagnostic_at(value, std::move(message), std::move(rule), std::move(suggestion)));
    diagnostics.back().kind = kind;
  }
  void note(const json::Value& value, std::string message, std::string rule = "",
            std::string suggestion = "") {
    notes.add(diagnostic_at(value, std::move(message), std::move(rule), std::move(suggestion)));
  }
  /// A path of the model for the system: never "-", and with this system's separators.
  static std::string native_path(std::string path);
  /// What sourcePath is relative to.
  std::filesystem::path source_folder() const;

  Diagnostics& diagnostics;

  /// Where a resource or a dispatchable of a name is in the model; the first counts.
  using Names = std::unordered_map<std::string, std::size_t>;
  Names resource_names = {};
  Names dispatchable_names = {};
  /// Files of resources that may be replaced by mistake, by a path without links.
  std::map<std::string, std::string> source_files = {};  // and the resource

 private:
  Diagnostic diagnostic_at(const json::Value& value, std::string message, std::string rule,
                           std::string suggestion) const {
    Diagnostic diagnostic = document().at(value, std::move(message));
    if (value.kind == json::Value::Kind::object) diagnostic.value.clear();
    diagnostic.rule = std::move(rule);
    diagnostic.suggestion = std::move(suggestion);
    return diagnostic;
  }
};

/// The string of a member that must be there.
std::optional<std::string> required_string(ModelReading& reading, const json::Value& object,
                                           const std::string& where, const std::string& member,
                                           const std::string& example);

/// Of a name that nothing has: which names there are, and the one that was probably meant. Among
/// very many names none is looked for.
struct NamesThereAre {
  std::string list;
  std::string nearest;
};
template <typename Things>
NamesThereAre names_there_are(const Things& things, std::string_view name) {
  constexpr std::size_t compared_max = 256;
  constexpr std::size_t listed_max = 16;
  std::vector<std::string> names;
  for (const auto& thing : things) {
    if (names.size() == (things.size() <= compared_max ? compared_max : listed_max)) break;
    names.push_back(thing.name);
  }
  if (things.size() <= compared_max) return {names_of_list(names), nearest_name(name, names)};
  return {names_of_list(names) + ", and " + std::to_string(things.size() - names.size()) + " more",
          ""};
}

void read_resource(ModelReading& reading, const json::Member& member);
void read_dispatchable(ModelReading& reading, const json::Member& member);
void read_command(ModelReading& reading, const json::Value& value, std::size_t index);

/// Reads `bindings` of a dispatch, or of a dispatchable for its initialisation (`initial`), and
/// checks them against the operator's tensors and the resources' sizes.
std::vector<TensorBinding> read_bindings(ModelReading& reading, const json::Value& object,
                                         const Dispatchable& dispatchable, bool initial);
/// Of a dispatchable that cannot be run, or has findings, only the resources' names are checked.
void check_binding_names(ModelReading& reading, const json::Value& object);
/// The findings of a dispatch whose output shares bytes with an input.
void check_overlaps(ModelReading& reading, const json::Value& place,
                    const Dispatchable& dispatchable, const std::vector<TensorBinding>& bindings);

}  // namespace dmlop
