// Decides whether a JSON file is an op description or a DxDispatch model. The file is read and
// parsed only once.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/diagnostic.hpp"
#include "json/document.hpp"

namespace dmlop {

/// Whether the root of a document is a model: it has resources, dispatchables or commands, and is
/// not an op description (with a type) that has one of them by mistake.
bool is_model(const json::Value& root);

struct OpenedFile {
  std::shared_ptr<const json::Document> document;
  bool has_model = false;

  std::shared_ptr<const json::Value> root() const { return {document, &document->root()}; }
};

/// Reads and parses a file; "-" is standard input. Models are read in DxDispatch's dialect of JSON,
/// descriptions in dmlop's. Returns nothing, with findings, if the file is neither. Errors:
/// io_failed, invalid_input.
std::optional<OpenedFile> open_op_or_model(const std::string& path, Diagnostics& diagnostics);

/// The same for text that was read already.
std::optional<OpenedFile> parse_op_or_model(json::Source source, std::string text,
                                            Diagnostics& diagnostics);

}  // namespace dmlop
