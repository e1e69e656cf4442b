#include "gpu/cache_file.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"

namespace dmlop::gpu {
namespace {

// A cache file is this header and the data. Whatever does not fit exactly is not used.
struct CacheHeader {
  std::array<char, 8> magic{'d', 'm', 'l', 'o', 'p', 'p', 'c', '1'};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

// FNV-1a: finds damage, not attacks; the folder is the user's own.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const std::byte byte : bytes)
    sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return sum;
}

}  // namespace

std::string cache_path(const std::string& name) {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/" + name;
}

std::vector<std::byte> read_cache(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(to_path(path), ignored)) return {};
  try {
    const InputFile file = InputFile::open(path);
    CacheHeader header;
    if (file.bytes().size() < sizeof header) return {};
    std::memcpy(&header, file.bytes().data(), sizeof header);
    const auto data = file.bytes().subspan(sizeof header);
    const bool sound = header.magic == CacheHeader{}.magic && header.bytes == data.size() &&
                       header.checksum == checksum_of(data);
    return sound ? std::vector<std::byte>(data.begin(), data.end()) : std::vector<std::byte>{};
  } catch (const Error&) {
    return {};
  }
}

void write_cache(const std::string& path, std::span<const std::byte> data) {
  if (path.empty()) return;
  CacheHeader header;
  header.bytes = data.size();
  header.checksum = checksum_of(data);
  try {
    std::filesystem::create_directories(to_path(path).parent_path());
    OutputFile file(path, sizeof header + data.size());
    file.write_at(0, std::as_bytes(std::span(&header, 1)));
    file.write_at(sizeof header, data);
    file.commit();
  } catch (const std::exception&) {
    // Without a cache the next start is slower; nothing else depends on it.
  }
}

}  // namespace dmlop::gpu
