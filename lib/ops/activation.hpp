// Activations that are fields of other operators.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/plan.hpp"

namespace dmlop {

/// The activation of a field such as "FusedActivation"; null where there is none.
const NestedOperator* fused_activation(const Description& description,
                                       std::string_view field = "FusedActivation");

/// The operators of a field such as "ActivationDescs", for a kernel that computes them itself.
std::vector<NumberFunction> activations_of(const Description& description, std::string_view field);

/// The FusedActivation of an operator that allows element-wise ones alone, for a kernel that may
/// compute it itself; nothing where there is none.
std::optional<Activation> element_wise_activation(const Description& description);

/// The pass of an activation over packed FLOAT32 values.
ElementWiseKernel activation_kernel(const Activation& activation, const Sizes& sizes,
                                    DataType output_type);

/// Adds a kernel that writes FLOAT32 for an activation; returns the slot.
std::size_t add_before_activation(PlanBuilder& plan, Kernel kernel, std::vector<std::size_t> reads);

/// Adds a kernel with one output, and the activation if there is one, to a plan. `make` makes the
/// kernel for the data type that it writes: that of the output tensor, or FLOAT32 where an
/// activation follows.
void add_with_activation(PlanBuilder& plan, const Description& description, std::string_view output,
                         const std::function<Kernel(DataType written)>& make,
                         std::vector<std::size_t> reads,
                         std::string_view activation = "FusedActivation");

}  // namespace dmlop
