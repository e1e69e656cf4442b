// Compares a tensor desc with the header of its file, and takes from it what the desc leaves out.
#pragma once

#include "job/binder.hpp"

namespace dmlop {

/// Each disagreement is a finding; the desc counts then.
void merge_header(Description& description, const NamedTensor& tensor, const TensorFile& file,
                  const NpyHeader& header, Diagnostics& diagnostics);

}  // namespace dmlop
