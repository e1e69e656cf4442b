// The activations that kernels compute themselves, from descriptions.
#pragma once

#include <string_view>
#include <vector>

#include "ops/kernels/scalar_activation.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// The operators of a field such as "ActivationDescs".
std::vector<ScalarActivation> scalar_activations(const Description& description,
                                                 std::string_view field);

}  // namespace dmlop
