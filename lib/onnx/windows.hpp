// Windows that slide over an ONNX operator's input.
#pragma once

#include "onnx/mapping.hpp"

namespace dmlop::onnx {

/// The numbers of each dimension beside batch and channels.
struct Windows {
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> strides;
  std::vector<std::uint64_t> dilations;
  std::vector<std::uint64_t> start;  // padding
  std::vector<std::uint64_t> end;
};

/// What the attributes say, without auto_pad.
Windows plain_windows_of(const Mapping& node, const std::vector<std::uint64_t>& sizes);
/// The same with the padding that auto_pad leads to.
Windows windows_of(const Mapping& node, const Sizes& input,
                   const std::vector<std::uint64_t>& sizes);

struct Convolution {
  Windows windows;
  Sizes output;
  std::uint64_t groups = 1;
};

/// The order of dimensions that moves channels from the last place to the second, or back.
std::vector<std::size_t> channels_to_second(std::size_t dimensions);
std::vector<std::size_t> channels_to_last(std::size_t dimensions);

/// Refuses images that DirectML's windows do not slide over.
void require_windows(const Sizes& sizes);

/// Refuses a filter that does not have the channels of a group. Inputs and filters have them in
/// these dimensions.
void require_fitting_filter(const Mapping& node, const Sizes& input, std::size_t input_channels,
                            const Sizes& filter, std::size_t filter_channels);

/// A convolution of an input {batch, channels, ...} with a filter {outputs, channels of a group,
/// ...}, by the node's attributes.
Convolution convolution_of(const Mapping& node, const Sizes& input, const Sizes& filter);

}  // namespace dmlop::onnx
