// Layouts for the inputs of a job, whatever its operator.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/job.hpp"
#include "random.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

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
