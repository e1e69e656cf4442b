// Index maps that turn rows into columns: what stands side by side in the source lies far apart in
// the output, and the other way round. A part is a block of both, so that every cache line is read
// and written as a whole.
#pragma once

#include <optional>

#include "cpu/execute.hpp"
#include "cpu/kinds.hpp"

namespace dmlop::cpu {

/// Whether a part is computed so: it has several ranges, or all of whole blocks.
bool is_transposed(const IndexMapKernel& kernel, const Part& part);

/// Parts of about so many bytes; none where the kernel is not such a one.
std::optional<PartShape> transposed_shape(const IndexMapKernel& kernel, std::uint64_t bytes);

/// Such a part. Range i goes to `to` + i * pitch.
void execute_transposed(const IndexMapKernel& kernel, Inputs inputs, const Part& part,
                        Stores stores, const Destination& to);

}  // namespace dmlop::cpu
