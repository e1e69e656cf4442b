// How a product is computed: the numbers that it is multiplied in, and its parts, whose shape
// cpu/kinds.hpp asks for.
#pragma once

#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// Whether elements are multiplied as floats; otherwise they are multiplied as doubles.
bool multiplies_as_floats(const ProductKernel& kernel);
/// Whether they are multiplied as bytes (cpu/byte_product.hpp).
bool multiplies_as_bytes(const ProductKernel& kernel);

}  // namespace dmlop::cpu
