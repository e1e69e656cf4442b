// Descriptions with one small mistake each, made from valid ones.
#pragma once

#include <string>
#include <vector>

#include "described.hpp"

namespace dmlop::test {

struct Mutation {
  std::string words;  // "InputTensor.Sizes[0]: 4 -> 5"
  OrderedJson desc;
};

/// Every description that differs from `desc` in one thing: a number, a size, a type, an
/// enumeration's name, or an added or removed field or element. Added parts come from `donors`.
std::vector<Mutation> single_mutations(const OperatorSpec& spec, const OrderedJson& desc,
                                       const std::vector<const OrderedJson*>& donors);

/// Every description that differs from `desc` in one thing that several tensors share: all tensors
/// of one type get another type, all sizes with the same value at the same place change, or all
/// tensors with the same number of dimensions get one more or one less.
std::vector<Mutation> shared_mutations(const OperatorSpec& spec, const OrderedJson& desc);

}  // namespace dmlop::test
