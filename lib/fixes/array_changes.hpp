// Other ways to save an array: how NumPy, PyTorch and TensorFlow lay out what DirectML has in NCHW.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/advice.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

struct ArrayChange {
  Sizes sizes;
  Alternative words;           // "save array.transpose(0, 3, 1, 2)"
  bool is_transposed = false;  // less likely than dimensions of size 1
};

/// What an array of these sizes may be meant as where tensors have so many dimensions: one value
/// for each channel, dimensions of size 1 in front, channels that are the last dimension,
/// transposed matrices, and matrices in a batch.
std::vector<ArrayChange> likely_changes(const Sizes& sizes, std::size_t dimensions);

/// Tensors whose arrays have the same sizes. What is wrong with one of them is wrong with all.
struct AlikeArrays {
  Sizes sizes;
  std::vector<std::string> tensors;
};

/// How some of the arrays are to be saved.
using ArrayChanges = std::vector<std::pair<AlikeArrays, ArrayChange>>;

/// All ways to change just `count` of these.
std::vector<ArrayChanges> ways_to_change(std::span<const AlikeArrays> arrays, std::size_t count,
                                         std::size_t dimensions);

/// {1, channels, 1, 1} for a vector of channels. Nothing for a single number, and where tensors
/// have fewer dimensions than images.
std::optional<Sizes> channel_sizes(const Sizes& sizes, std::size_t dimensions);

}  // namespace dmlop
