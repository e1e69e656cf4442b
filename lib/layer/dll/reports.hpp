// Where the layer's reports go: standard error, the debugger, and dmlop-layer.log beside the DLL.
#pragma once

#include <string>

#include "layer/capture.hpp"

namespace dmlop::layer {

/// Reports once what was said before in the same words. DMLOP_LAYER=log leaves out standard error,
/// =quiet everything; =break also stops in the debugger, each time. Never throws.
void report(const std::string& text) noexcept;

/// Writes an operator or a graph of a device of that level into the folder DMLOP_CAPTURE, if that
/// is set, with the code with which DirectML failed (0: it did not). What cannot be written is
/// reported, and no more is captured then.
template <typename Captured>
void capture(const Captured& captured, FeatureLevel level, std::uint32_t code) noexcept;

/// Calls `action` and swallows what it throws: a layer must not end its application.
template <typename Action>
void quietly(Action&& action) noexcept {
  try {
    action();
  } catch (...) {
  }
}

/// The folder of this DLL, in UTF-8.
std::string own_folder();

}  // namespace dmlop::layer
