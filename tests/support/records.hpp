// Made-up results files.
#pragma once

#include <string>

#include "batch.hpp"

namespace dmlop::test {

/// Lines of results files.
std::string record_line(const std::string& id, const std::string& status, int code);
/// The record of a job that passed, and where it stood: "jobs.jsonl:12".
std::string record_line_of(const std::string& id, const std::string& place);
std::string summary_line(const std::string& shard = "", bool complete = true);

}  // namespace dmlop::test
