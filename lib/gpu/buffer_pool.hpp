// Keeps the memory of a device from use to use: drivers take long to make a buffer and to clear it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu/device.hpp"

namespace dmlop::gpu {

/// What is freed where a device has no room.
enum class MakeRoom {
  of_unused,     // what came back to the pool
  of_kept_also,  // and then, once, what BufferPool::give_up_with() names
};

/// Several threads may use it. The device must outlive what it hands out.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  explicit BufferPool(Device& device);

  /// A buffer of so many bytes, which hold anything. It comes back when nobody holds it any more.
  /// If the device has no room, what came back is freed first, then what give_up_with() names.
  /// Errors: as Device::make_buffer.
  std::shared_ptr<ResidentBuffer> take(std::uint64_t bytes);
  /// A buffer that does not come back. Errors: as Device::make_buffer.
  std::unique_ptr<ResidentBuffer> make(Place place, std::uint64_t bytes,
                                       MakeRoom make_room = MakeRoom::of_kept_also);
  /// What lets buffers go that need not be held, and says whether there were any. Set before the
  /// first take() or make().
  void give_up_with(std::function<bool()> give_up) { give_up_ = std::move(give_up); }
  /// Frees what came back. False if that was nothing.
  bool clear() noexcept;

 private:
  using Free = std::multimap<std::uint64_t, std::unique_ptr<ResidentBuffer>>;

  std::unique_ptr<ResidentBuffer> find(std::uint64_t bytes);
  void put_back(std::unique_ptr<ResidentBuffer> buffer) noexcept;

  Device& device_;
  std::function<bool()> give_up_;
  const std::uint64_t bytes_most_;  // that are kept while nobody uses them
  std::mutex mutex_;
  Free free_;  // by capacity
  std::uint64_t free_bytes_ = 0;
};

}  // namespace dmlop::gpu
