// --strict-indices: looks at every index before it is used, because DirectML reports none that is
// out of range.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "job/backend.hpp"

namespace dmlop {

/// Where the elements of an input are, as its desc reaches them and in native byte order, and what
/// a message calls that: "indices.npy".
struct InputSource {
  std::span<const std::byte> bytes;
  std::string name;
};

/// Does nothing without the option. `source` gives the inputs by slot, and messages begin with
/// `where`. Memory does not grow with the tensors. Errors: FindingsError with a finding for each
/// input that has an index out of range; interrupted.
void check_indices(const Plan& plan, const Description& description,
                   const ExecutionOptions& options,
                   const std::function<InputSource(std::size_t slot)>& source,
                   const std::string& where = "");

}  // namespace dmlop
