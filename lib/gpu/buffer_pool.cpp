#include "gpu/buffer_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace dmlop::gpu {
namespace {

// The rest of the device is left to others as soon as this program does not use it.
std::uint64_t kept_most(const DeviceInfo& info) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20, share = 8;
  return std::max(least, info.memory_bytes / share);
}

}  // namespace

BufferPool::BufferPool(Device& device) : device_(device), bytes_most_(kept_most(device.info())) {}

std::shared_ptr<ResidentBuffer> BufferPool::take(std::uint64_t bytes) {
  std::unique_ptr<ResidentBuffer> buffer = find(bytes);
  if (!buffer) buffer = make(Place::device, bytes);
  buffer->use_first(bytes);
  const auto put_back = [pool = weak_from_this()](ResidentBuffer* used) {
    std::unique_ptr<ResidentBuffer> owned(used);
    if (const auto still_there = pool.lock()) still_there->put_back(std::move(owned));
  };
  return {buffer.release(), put_back};
}

bool BufferPool::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  const bool is_anything = !free_.empty();
  free_.clear();
  free_bytes_ = 0;
  return is_anything;
}

// The smallest one that is large enough. One that is much too large is left to others.
std::unique_ptr<ResidentBuffer> BufferPool::find(std::uint64_t bytes) {
  constexpr std::uint64_t times_most = 2;
  const std::scoped_lock lock(mutex_);
  const auto found = free_.lower_bound(bytes);
  if (found == free_.end() || found->first / times_most > bytes) return nullptr;
  std::unique_ptr<ResidentBuffer> buffer = std::move(found->second);
  free_bytes_ -= found->first;
  free_.erase(found);
  return buffer;
}

std::unique_ptr<ResidentBuffer> BufferPool::make(Place place, std::uint64_t bytes,
                                                 MakeRoom make_room) {
  for (bool may_give_up = make_room == MakeRoom::of_kept_also;;) {
    try {
      return device_.make_buffer(place, bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::run_failed) throw;
      if (clear()) continue;
      if (!may_give_up || !give_up_ || !give_up_()) throw;
      may_give_up = false;
    }
  }
}

// Where there are too many, their sizes are mostly those of earlier work.
void BufferPool::put_back(std::unique_ptr<ResidentBuffer> buffer) noexcept {
  const std::uint64_t bytes = buffer->capacity();
  if (bytes > bytes_most_) return;
  const std::scoped_lock lock(mutex_);
  if (bytes > bytes_most_ - free_bytes_) {
    free_.clear();
    free_bytes_ = 0;
  }
  try {
    free_.emplace(bytes, std::move(buffer));
    free_bytes_ += bytes;
  } catch (const std::bad_alloc&) {  // it is freed
  }
}

}  // namespace dmlop::gpu
