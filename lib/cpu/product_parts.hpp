// The ways in which a product is computed.
#pragma once

#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// Whether elements are multiplied as floats; otherwise they are multiplied as doubles.
bool multiplies_as_floats(const ProductKernel& kernel);
/// Whether they are multiplied as bytes (cpu/byte_product.hpp).
bool multiplies_as_bytes(const ProductKernel& kernel);

}  // namespace dmlop::cpu
