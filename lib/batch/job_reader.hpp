// Reads a job from a JSON document: the parts that belong to the job and not to its description.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "batch/manifest_kinds.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {

/// The job that `root` is, with findings where its fields are wrong. Without an id of its own it
/// is called `made_up_name`.
BatchJob read_job(std::shared_ptr<const json::Document> document,
                  std::shared_ptr<const json::Value> root, const std::string& made_up_name,
                  const ManifestSource& source);

/// Reads the fields that say when a job is run and what is expected of it: tags, skip and xfail.
void read_choice(BatchJob& job, const json::Document& document, const json::Value& root);

/// The fields that only jobs of an ONNX model have.
const std::vector<std::string>& onnx_job_fields();

}  // namespace dmlop
