// The three kinds of manifests. Used by open_manifest().
#pragma once

#include <memory>
#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// One job per line, as lines arrive. Empty lines are skipped. "-" is standard input. Errors:
/// io_failed.
std::unique_ptr<Manifest> lines_manifest(const std::string& path, SharedConfinement confinement);

/// {"defaults": {...}, "jobs": [...]}, or only the array. Null, with findings, if it is neither.
std::unique_ptr<Manifest> json_manifest(json::Document document, SharedConfinement confinement,
                                        Diagnostics& diagnostics);

/// Every op.json and model.json below a folder. Inputs and golden files are beside it and named
/// after fields or resources. Errors: io_failed if the folder cannot be listed.
std::unique_ptr<Manifest> folder_manifest(const std::string& root, SharedConfinement confinement);

}  // namespace dmlop
