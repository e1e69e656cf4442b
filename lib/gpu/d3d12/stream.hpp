// A Direct3D 12 device's streams, and the memory that they copy between.
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/d3d12/context.hpp"
#include "gpu/device.hpp"

namespace dmlop::gpu::d3d12 {

/// The context must live as long as the result. Errors: run_failed, device_lost.
std::unique_ptr<Stream> make_stream(Context& context);
std::unique_ptr<ResidentBuffer> make_resident_buffer(Context& context, std::uint64_t bytes);

}  // namespace dmlop::gpu::d3d12
