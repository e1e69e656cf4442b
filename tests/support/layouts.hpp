// The same values in memory of another layout, so that code that takes the strides of another
// tensor, or reads behind a tensor's last element, does not go unnoticed.
#pragma once

#include "random.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// A tensor with the same elements and strides of its own: permuted, with gaps, 0 along dimensions
/// in which the elements are all the same, and any along those of size 1. The gaps hold other bytes
/// than elements usually have.
Tensor relaid(const Tensor& tensor, Random& random);

}  // namespace dmlop::test
