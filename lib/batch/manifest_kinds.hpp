// The three kinds of manifests, for open_manifest().
#pragma once

#include <memory>
#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// One job a line, as they come; empty lines are none. "-" is standard input. Errors: io_failed.
std::unique_ptr<Manifest> lines_manifest(const std::string& path, SharedConfinement confinement);

/// {"defaults": {...}, "jobs": [...]}, or only the array. Null, with findings, where it is neither.
std::unique_ptr<Manifest> json_manifest(json::Document document, SharedConfinement confinement,
                                        Diagnostics& diagnostics);

/// Every op.json and every model.json below a folder; inputs and golden files lie beside it under
/// their fields' names, or their resources'. Errors: io_failed where the folder cannot be listed.
std::unique_ptr<Manifest> folder_manifest(const std::string& root, SharedConfinement confinement);

}  // namespace dmlop
