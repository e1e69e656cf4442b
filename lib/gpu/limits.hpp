// What an operator can be given that no GPU has a kernel for. Kernels refuse it in these words, and
// `dmlop ops NAME` shows them.
#pragma once

#include <array>
#include <string_view>

namespace dmlop::gpu {

struct FieldLimit {
  std::string_view operator_name;
  std::string_view field;
  std::string_view reason;  // follows "because"
};

inline constexpr FieldLimit past_lengths_limit{"MULTIHEAD_ATTENTION1", "PastSequenceLengthsTensor",
                                               "GPU kernels take no lengths of earlier keys"};

inline constexpr std::array field_limits{past_lengths_limit};

}  // namespace dmlop::gpu
