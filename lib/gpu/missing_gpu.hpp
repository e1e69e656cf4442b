// Why a GPU that the machine may have is not among its devices.
#pragma once

#include <string>
#include <vector>

namespace dmlop::gpu {

/// What stands between this user and a hardware GPU on Linux, each with a remedy: no right to open
/// it, no driver of Vulkan, a container without it. `root` is where the system's files begin, "/".
std::vector<std::string> why_no_gpu(const std::string& root);

}  // namespace dmlop::gpu
