// Descriptions with one small mistake each, made from valid ones.
#pragma once

#include <string>
#include <vector>

#include "described.hpp"

namespace dmlop::test {

struct Mutation {
  std::string words;  // "InputTensor.Sizes[0]: 4 -> 5"
  Json desc;
};

/// Every description that differs from `desc` in one thing: a number, a size, a type, an
/// enumeration's name, a field or an element more or less. What is added comes from `donors`.
std::vector<Mutation> single_mutations(const OperatorSpec& spec, const Json& desc,
                                       const std::vector<const Json*>& donors);

/// Every description that differs from `desc` in one thing that several tensors share: all tensors
/// of one type get another, all sizes of one value at one place change, all tensors of as many
/// dimensions get one more or less.
std::vector<Mutation> shared_mutations(const OperatorSpec& spec, const Json& desc);

}  // namespace dmlop::test
