// The JSON schemas of the files that the program reads.
#pragma once

#include "schema_parts.hpp"

namespace dmlop::app::schema {

/// An op description of one of these operators.
Json description_schema(const Names& operators);
/// A file of jobs: {"defaults": …, "jobs": […]}, or the list alone.
Json jobs_schema(const Names& operators);
/// A job.json: the fields of a job that is a folder.
Json job_schema();
/// A tol.json, and the field `tolerance` of a job.
Json tolerance_schema();
/// A DxDispatch model.
Json model_schema(const Names& operators);
/// A graph.json.
Json graph_schema(const Names& operators);

}  // namespace dmlop::app::schema
