// Buffers: zeros, and memory of buffers that are gone.
#include "base/buffer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sanitized.hpp"

namespace dmlop::test::buffer_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

Buffer made(std::uint64_t bytes) {
  Buffer buffer = Buffer::to_overwrite(bytes, "a test");
  std::ranges::fill(buffer.bytes(), std::byte{0xA5});
  return buffer;
}

/// Leaves one piece, which is as large as all together may be.
void forget_pieces() {
  Buffer::to_overwrite(256 * mebibyte, "a test");
}

/// Where a buffer was that is gone.
const std::byte* place_of_gone(std::uint64_t bytes) {
  return made(bytes).data();
}

}  // namespace

TEST_CASE("buffer: memory of a buffer that is gone serves the next one to overwrite") {
  if (is_sanitized) return;  // there memory is freed, so that its use is seen
  forget_pieces();
  const std::byte* const place = place_of_gone(3 * mebibyte);
  CHECK(made(3 * mebibyte).data() == place);
  CHECK(made(2 * mebibyte).data() == place);
  {
    const Buffer taken = made(3 * mebibyte);
    CHECK(taken.data() == place);
    CHECK(made(3 * mebibyte).data() != place);
  }
}

TEST_CASE("buffer: memory that is too large by half serves none") {
  if (is_sanitized) return;
  forget_pieces();
  const std::byte* const place = place_of_gone(8 * mebibyte);
  CHECK(made(4 * mebibyte - 1).data() != place);
  CHECK(made(4 * mebibyte).data() == place);
}

TEST_CASE("buffer: of several pieces, the one that fits best is taken") {
  if (is_sanitized) return;
  forget_pieces();
  std::vector<const std::byte*> places;
  {
    std::vector<Buffer> buffers;
    for (const std::uint64_t size : {19, 17, 18}) {
      buffers.push_back(made(size * mebibyte));
      places.push_back(buffers.back().data());
    }
  }
  CHECK(made(17 * mebibyte).data() == places[1]);
  CHECK(made(17 * mebibyte + 1).data() == places[2]);
  CHECK(made(18 * mebibyte + 1).data() == places[0]);
}

TEST_CASE("buffer: a buffer of zeros has zeros, whatever was there before") {
  for (const std::uint64_t size : {std::uint64_t{1}, mebibyte, 8 * mebibyte}) {
    place_of_gone(size);
    const Buffer zeros(size, "a test");
    CHECK(zeros.size() == size);
    CHECK(std::ranges::all_of(zeros.bytes(), [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST_CASE("buffer: any number of pieces, and of any size, may be given back") {
  std::vector<Buffer> buffers;
  for (std::uint64_t i = 0; i < 200; ++i) buffers.push_back(made(mebibyte / 8 + i));
  buffers.push_back(Buffer::to_overwrite(512 * mebibyte, "a test"));
  for (Buffer& buffer : buffers) {
    const std::byte last = buffer.size() < mebibyte ? buffer.bytes().back() : std::byte{0xA5};
    CHECK(last == std::byte{0xA5});
  }
  buffers.clear();
  CHECK(made(mebibyte).size() == mebibyte);
}

TEST_CASE("buffer: without memory, the message says for what and how much") {
  CHECK_THROWS_WITH(Buffer::to_overwrite(~std::uint64_t{0}, "a tensor"),
                    "out of memory for a tensor of 18446744073709551615 bytes");
  CHECK_THROWS_WITH(Buffer(~std::uint64_t{0}, "a tensor"),
                    "out of memory for a tensor of 18446744073709551615 bytes");
}

}  // namespace dmlop::test::buffer_test
