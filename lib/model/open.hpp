// Decides whether a JSON file is an op description, a DxDispatch model or a graph. The file is read
// and parsed only once.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "json/document.hpp"
#include "spec/settings.hpp"

namespace dmlop {

/// Whether the root of a document is a model: it has resources, dispatchables or commands, and is
/// not an op description (with a type) that has one of them by mistake.
bool is_model(const json::Value& root);

/// Whether the root of a document is a graph: it has a list of nodes.
bool is_graph(const json::Value& root);

struct OpenedFile {
  std::shared_ptr<const json::Document> document;
  bool has_model = false;
  std::string path = {};   // of the file; "" where there is none
  bool has_graph = false;  // graph/json_graph.hpp reads it

  std::shared_ptr<const json::Value> root() const { return {document, &document->root()}; }
};

/// Reads and parses what a command line names: a file, "-" (standard input), a folder with an
/// op.json or a model.json, or an operator, which is a description without fields. A name in
/// capitals is an operator; otherwise an existing file of that name comes first. The settings are
/// put into a description; a model has none. Models are read in DxDispatch's dialect of JSON,
/// descriptions in dmlop's. Returns nothing, with findings, if it is none of these.
/// A file that is read must lie in the confinement. Errors: io_failed, invalid_input.
std::optional<OpenedFile> open_op_or_model(const std::string& name,
                                           const std::vector<Setting>& settings,
                                           Diagnostics& diagnostics,
                                           const SharedConfinement& confinement = {});
inline std::optional<OpenedFile> open_op_or_model(const std::string& name,
                                                  Diagnostics& diagnostics) {
  return open_op_or_model(name, {}, diagnostics);
}

/// The same for text that was read already.
std::optional<OpenedFile> parse_op_or_model(json::Source source, std::string text,
                                            Diagnostics& diagnostics,
                                            const std::vector<Setting>& settings = {});

}  // namespace dmlop
