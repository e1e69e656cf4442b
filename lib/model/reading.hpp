// Shared by the readers of a model's three parts. Only read.cpp and the files beside it include
// this.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "model/graph_part.hpp"
#include "model/model.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {

struct ModelReading {
  Model& model;
  std::shared_ptr<const json::Document> shared_document;
  const ModelRequest& request;
  FieldReader reader;  // for findings
  FieldReader warnings;

  const json::Document& document() const { return *shared_document; }
  /// Adds a finding or a warning at `value`. If that is an object, the finding does not repeat it.
  void add(const json::Value& value, std::string message, std::string rule = "",
           std::string suggestion = "", ErrorKind kind = ErrorKind::invalid_input) {
    reader.add(diagnostic_at(value, std::move(message), std::move(rule), std::move(suggestion)));
    diagnostics.back().kind = kind;
  }
  void warn(const json::Value& value, std::string message, std::string rule = "",
            std::string suggestion = "") {
    warnings.add(diagnostic_at(value, std::move(message), std::move(rule), std::move(suggestion)));
  }
  /// A path of the model as a path of the system: never "-", and with the system's separators.
  static std::string native_path(std::string path);
  /// The folder to which sourcePath is relative.
  std::filesystem::path source_folder() const;

  Diagnostics& diagnostics;

  /// The index of each name of a resource or dispatchable in the model. If a name occurs twice, the
  /// first counts.
  using Names = std::unordered_map<std::string, std::size_t>;
  Names resource_names = {};
  Names dispatchable_names = {};
  /// A dispatchable that is a graph, with its parts among those of the model.
  struct Graph {
    GraphPart part;
    std::size_t first_resource = 0;
    std::size_t first_dispatchable = 0;
  };
  std::map<std::string, Graph> graphs = {};
  std::set<std::string> unusable_graphs = {};  // those with findings

  /// Files of resources that an output might replace by mistake, by their paths without links.
  std::map<std::string, std::string> source_files = {};  // and the names of the resources
  /// Files that commands write, by written_path(), and the last command that does.
  std::map<std::string, std::string> written_files = {};

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

/// The string of a required member.
std::optional<std::string> required_string(ModelReading& reading, const json::Value& object,
                                           const std::string& where, const std::string& member,
                                           const std::string& example);

/// For a name that does not exist: the names that do, and the one that was probably meant. It is
/// not looked for among very many names.
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

/// Reads the `bindings` of a dispatch or, if `initial`, of the initialization of a dispatchable,
/// and checks them against the operator's tensors and the resources' sizes.
std::vector<TensorBinding> read_bindings(ModelReading& reading, const json::Value& object,
                                         const Dispatchable& dispatchable, bool initial);
/// The resource that a binding names. Adds a finding if there is none.
std::optional<std::size_t> find_resource(ModelReading& reading, const json::Value& value,
                                         const std::string& place);

/// A dispatchable of type dmlSerializedGraph, and a dispatch of one that was read.
void read_graph_dispatchable(ModelReading& reading, const json::Member& member);
void read_graph_dispatch(ModelReading& reading, const std::string& name,
                         const json::Value& bindings);

/// Checks only the resources' names, for a dispatchable that cannot be run or has findings.
void check_binding_names(ModelReading& reading, const json::Value& object);
/// Adds findings for a dispatch whose output shares bytes with an input.
void check_overlaps(ModelReading& reading, const json::Value& place,
                    const Dispatchable& dispatchable, const std::vector<TensorBinding>& bindings);

}  // namespace dmlop
