// The memory of a device that is used again (gpu/buffer_pool.hpp), without a device.
#include "gpu/buffer_pool.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "base/error.hpp"
#include "recorded_device.hpp"

namespace dmlop::test::buffer_pool_test {
namespace {

constexpr std::uint64_t kept_most = std::uint64_t{64} << 20;  // of a device of unknown size

/// What a buffer takes on the device, with slack on both sides.
constexpr std::uint64_t taken_by(std::uint64_t bytes) {
  return (bytes + 15) / 16 * 16 + 2 * gpu::slack_bytes;
}

struct Pool {
  Record record;
  std::unique_ptr<gpu::Device> device = make_recorded_device(record);
  std::shared_ptr<gpu::BufferPool> buffers = std::make_shared<gpu::BufferPool>(*device);

  /// The bytes that are made for a buffer, which comes back at once.
  std::uint64_t made_for(std::uint64_t bytes) {
    const std::uint64_t before = record.device_buffers;
    const auto buffer = buffers->take(bytes);
    CHECK(buffer->bytes() == bytes);
    return record.device_buffers > before ? buffer->capacity() : 0;
  }
};

TEST_CASE("buffer pool: what comes back is taken again, if it is at most twice as large") {
  Pool pool;
  CHECK(pool.made_for(1000) == 1000);
  CHECK(pool.made_for(1000) == 0);
  CHECK(pool.made_for(500) == 0);
  CHECK(pool.made_for(499) == 499);
  CHECK(pool.made_for(1001) == 1001);
  CHECK(pool.made_for(1000) == 0);
}

TEST_CASE("buffer pool: nobody gets what another one holds") {
  Pool pool;
  const auto first = pool.buffers->take(1000), second = pool.buffers->take(1000);
  CHECK(first != second);
  auto third = pool.buffers->take(1000);
  const gpu::ResidentBuffer* const address = third.get();
  third.reset();
  CHECK(pool.buffers->take(900).get() == address);
  CHECK(pool.record.device_buffers == 3);
}

TEST_CASE("buffer pool: the smallest one that is large enough is taken") {
  Pool pool;
  { const auto large = pool.buffers->take(1900), small = pool.buffers->take(1100); }
  const auto buffer = pool.buffers->take(1000);
  CHECK(buffer->capacity() == 1100);
}

TEST_CASE("buffer pool: no more is kept than the limit, and nothing larger") {
  Pool pool;
  { const auto buffer = pool.buffers->take(kept_most + 1); }
  CHECK(pool.record.device_bytes == 0);
  { const auto buffer = pool.buffers->take(kept_most); }
  CHECK(pool.record.device_bytes == taken_by(kept_most));
  { const auto buffer = pool.buffers->take(16); }  // the other one goes
  CHECK(pool.record.device_bytes == taken_by(16));
}

TEST_CASE("buffer pool: what is kept makes room for what does not fit beside it") {
  Pool pool;
  pool.record.device_room = taken_by(1000);
  { const auto buffer = pool.buffers->take(800); }
  const auto held = pool.buffers->take(300);
  CHECK(pool.record.device_bytes == taken_by(300));
  CHECK_THROWS_AS(pool.buffers->take(800), Error);
}

TEST_CASE("buffer pool: what need not be held is given up once, after what is free") {
  Pool pool;
  pool.record.device_room = taken_by(1000);
  auto held = pool.buffers->take(800);
  int asked = 0;
  pool.buffers->give_up_with([&] {
    ++asked;
    const bool is_held = held != nullptr;
    held.reset();
    return is_held;
  });
  auto other = pool.buffers->take(300);
  CHECK(asked == 1);
  CHECK(pool.record.device_bytes == taken_by(300));
  other.reset();
  other = pool.buffers->take(1000);
  CHECK(asked == 1);
  CHECK_THROWS_AS(pool.buffers->take(1000), Error);
  CHECK(asked == 2);
}

TEST_CASE("buffer pool: what need not be held is given up where what is free is not enough") {
  Pool pool;
  pool.record.device_room = taken_by(800) + taken_by(200);
  auto held = pool.buffers->take(800);
  { const auto buffer = pool.buffers->take(200); }
  pool.buffers->give_up_with([&] {
    held.reset();
    return true;
  });
  CHECK(pool.buffers->take(900)->bytes() == 900);
}

TEST_CASE("buffer pool: a buffer that outlives the pool is freed") {
  Pool pool;
  const auto buffer = pool.buffers->take(100);
  auto other = pool.buffers->take(100);
  pool.buffers.reset();
  other.reset();
  CHECK(pool.record.device_bytes == taken_by(100));
}

TEST_CASE("buffer pool: clearing it frees what came back, and nothing else") {
  Pool pool;
  const auto held = pool.buffers->take(100);
  { const auto buffer = pool.buffers->take(200); }
  pool.buffers->clear();
  CHECK(pool.record.device_bytes == taken_by(100));
  CHECK(pool.made_for(200) == 200);
}

}  // namespace
}  // namespace dmlop::test::buffer_pool_test
