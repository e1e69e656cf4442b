// The tensors of a job's plan: the bytes of its inputs, and what its outputs are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "job/job.hpp"
#include "ops/plan.hpp"

namespace dmlop {

/// An input in native byte order: the file's own bytes, or a swapped copy. Errors: run_failed
/// without memory for the copy.
class NativeInput {
 public:
  explicit NativeInput(const BoundInput& input);
  NativeInput(NativeInput&&) = default;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Buffer swapped_;
  std::span<const std::byte> bytes_;
};

/// A tensor that a plan computes.
struct PlannedOutput {
  std::size_t slot;
  std::string field;
  std::optional<std::size_t> element;
  const TensorDesc* desc;

  std::uint64_t bytes() const {
    return element_count(desc->sizes).value_or(0) * size_of(*desc->data_type);
  }
  std::string header() const { return npy_header_bytes(*desc->data_type, desc->sizes); }
  bool is(const std::string& tensor, std::optional<std::size_t> index) const {
    return field == tensor && element == index;
  }
};

/// The outputs of a plan in the order of the fields. The descs are the description's.
std::vector<PlannedOutput> planned_outputs(const Plan& plan, const Description& description);

}  // namespace dmlop
