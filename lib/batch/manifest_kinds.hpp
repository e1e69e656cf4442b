// The kinds of manifests, for open_manifest().
#pragma once

#include <memory>
#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// A manifest's path, and what the ids of its jobs begin with where a batch has several.
struct ManifestSource {
  std::string path;
  SharedConfinement confinement;
  std::string prefix;  // "": none

  std::string id_of(const std::string& id) const {
    return prefix.empty() || id.empty() ? prefix + id : prefix + "/" + id;
  }
};

/// One job per line, as lines arrive. Empty lines are skipped. "-" is standard input. Errors:
/// io_failed.
std::unique_ptr<Manifest> lines_manifest(ManifestSource source);

/// Whether a JSON file is one job: it has fields that only jobs have.
bool is_one_job(const json::Value& root);

/// {"defaults": {...}, "jobs": [...]}, only the array, or one job. Null, with findings, if it is
/// none of these.
std::unique_ptr<Manifest> json_manifest(std::shared_ptr<const json::Document> document,
                                        ManifestSource source, Diagnostics& diagnostics);

/// Every op.json and every model.json below a folder. Errors: io_failed where the folder cannot be
/// listed.
std::unique_ptr<Manifest> folder_manifest(ManifestSource source);

/// One description or model alone.
std::unique_ptr<Manifest> single_manifest(ManifestSource source);

/// What a job is called that is a folder, or a file, of its own: an op.json as its folder.
std::string own_name(const std::string& path);

}  // namespace dmlop
