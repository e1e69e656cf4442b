// Watches the methods of devices that describe something. The application has the real objects: the
// methods are replaced in the tables that these share.
#pragma once

#include "layer/dll/directml.hpp"

namespace dmlop::layer {

/// Watches the device that DirectML made. Several threads may call it.
void watch_device(IUnknown* device);

}  // namespace dmlop::layer
