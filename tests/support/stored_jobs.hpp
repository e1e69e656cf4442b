// Stored cases (conformance/README.md) as jobs, and layouts for the inputs of a job, whatever its
// operator.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/job.hpp"
#include "random.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// The job of a case's folder, without the outputs that are stored; nothing where it is refused.
std::optional<Job> stored_job(const std::filesystem::path& folder, Diagnostics& diagnostics,
                              Judge judge = Judge::page);

/// An input with its values in memory.
struct StoredInput {
  std::string field;
  std::optional<std::size_t> element;
  Tensor tensor;
};

/// The inputs of a job; nothing where one is large.
std::vector<StoredInput> stored_inputs(const Job& job);

/// Gives each input that may have one a layout of its own (layouts.hpp), and returns these inputs'
/// fields.
std::set<std::string> lay_out(Description& description, std::vector<StoredInput>& inputs,
                              Random& random);
/// The same for a job.
std::set<std::string> lay_out(Job& job, Random& random);

}  // namespace dmlop::test
