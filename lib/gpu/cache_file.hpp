// Data that a backend can make again, kept on disk between runs: whatever is not sound is no cache,
// and failures are silent, as nothing but time depends on it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dmlop::gpu {

/// The path of a cache file of this user; "" where there is no folder for it.
std::string cache_path(const std::string& name);

/// The data of a cache file; empty where there is none, it is damaged or no regular file, or it or
/// its folder is not this user's alone.
std::vector<std::byte> read_cache(const std::string& path);

/// Replaces a cache file, in a folder that is made, or made to be, this user's only; does nothing
/// in a folder of somebody else. Other processes may do the same: files appear whole, the last one
/// stays.
void write_cache(const std::string& path, std::span<const std::byte> data);

}  // namespace dmlop::gpu
