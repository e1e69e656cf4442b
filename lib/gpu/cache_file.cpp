#include "gpu/cache_file.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/owner.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"

namespace dmlop::gpu {
namespace {

namespace fs = std::filesystem;

// A cache file is this header and the data. Whatever does not fit exactly is not used.
struct CacheHeader {
  std::array<char, 8> magic{'d', 'm', 'l', 'o', 'p', 'p', 'c', '1'};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

// FNV-1a: finds damage, not attacks; what others can write is not read.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const std::byte byte : bytes)
    sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return sum;
}

std::string folder_of(const std::string& path) {
  return to_text(to_path(path).parent_path());
}

// Makes the folder where there is none, and takes it from all others: before a new file in it has
// permissions of its own, nobody else can open it. False where the folder is somebody else's.
bool own_folder(const std::string& folder) {
  fs::create_directories(to_path(folder));
  if (!is_mine(folder)) return false;
  fs::permissions(to_path(folder), fs::perms::owner_all);
  return is_only_mine(folder);
}

// Whether it is a file, no link and no pipe, that only this user can have written.
bool is_own_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(to_path(path), ignored)) && is_only_mine(path);
}

}  // namespace

std::string cache_path(const std::string& name) {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/" + name;
}

std::vector<std::byte> read_cache(const std::string& path) {
  // Drivers take what is in it as it is.
  if (path.empty() || !is_only_mine(folder_of(path)) || !is_own_file(path)) return {};
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
    if (!own_folder(folder_of(path))) return;
    // Written over, it would stay what it is.
    if (!is_own_file(path)) fs::remove(to_path(path));
    OutputFile file(path, sizeof header + data.size());
    file.write_at(0, std::as_bytes(std::span(&header, 1)));
    file.write_at(sizeof header, data);
    file.commit();
    fs::permissions(to_path(path), fs::perms::owner_read | fs::perms::owner_write);
  } catch (const std::exception&) {
    // Without a cache the next start is slower; nothing else depends on it.
  }
}

}  // namespace dmlop::gpu
