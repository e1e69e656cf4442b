// Reads a job from a JSON document: the parts that belong to the job and not to its description.
#pragma once

#include <memory>
#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// The job in `root`, with findings for wrong fields. A job without an id gets `default_id`.
BatchJob read_job(std::shared_ptr<const json::Document> document,
                  std::shared_ptr<const json::Value> root, const std::string& default_id,
                  const SharedConfinement& confinement);

}  // namespace dmlop
