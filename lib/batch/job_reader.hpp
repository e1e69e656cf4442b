// A job as a part of a JSON document: what belongs to the job, not to its description.
#pragma once

#include <memory>
#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// The job that `root` is, with findings where its fields are wrong. Without an id of its own it
/// has `default_id`.
BatchJob read_job(std::shared_ptr<const json::Document> document,
                  std::shared_ptr<const json::Value> root, const std::string& default_id,
                  const SharedConfinement& confinement);

}  // namespace dmlop
