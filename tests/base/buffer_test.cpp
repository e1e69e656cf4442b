// Buffers: zeros, and memory of buffers that are gone.
#include "base/buffer.hpp"

#include <doctest/doctest.h>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <fstream>
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

TEST_CASE("buffer: pieces have 256 MiB together, and the latest ones stay") {
  if (is_sanitized) return;
  const auto kept_of = [](std::uint64_t size) {
    std::vector<Buffer> buffers;
    for (const int mark : {1, 2}) {
      buffers.push_back(Buffer::to_overwrite(size, "a test"));
      buffers.back().bytes().front() = std::byte(mark);
    }
    for (Buffer& buffer : buffers) buffer = {};
    std::vector<int> marks;
    for (int i = 0; i < 2; ++i) {
      buffers.push_back(Buffer::to_overwrite(size, "a test"));
      marks.push_back(std::to_integer<int>(buffers.back().bytes().front()));
    }
    std::ranges::sort(marks);
    return marks;
  };
  const auto forget_all_but_a_small_one = [] {
    forget_pieces();
    made(mebibyte);
  };
  forget_all_but_a_small_one();
  CHECK((kept_of(128 * mebibyte) == std::vector{1, 2}));
  forget_all_but_a_small_one();
  CHECK((kept_of(128 * mebibyte + 1) == std::vector{0, 2}));  // the system gives zeros
}

TEST_CASE("buffer: what is too large to be kept leaves the pieces alone") {
  if (is_sanitized) return;
  forget_pieces();
  Buffer::to_overwrite(64 * mebibyte, "a test").bytes().front() = std::byte{1};
  Buffer::to_overwrite(257 * mebibyte, "a test");
  CHECK(Buffer::to_overwrite(64 * mebibyte, "a test").bytes().front() == std::byte{1});
}

TEST_CASE("buffer: a buffer has the size that was asked for, not that of its piece") {
  forget_pieces();
  made(3 * mebibyte);
  CHECK(made(2 * mebibyte).size() == 2 * mebibyte);
  CHECK(made(2 * mebibyte).bytes().size() == 2 * mebibyte);
}

#ifdef __linux__
TEST_CASE("buffer: pieces are given back where the system has no other memory") {
  if (is_sanitized) return;
  forget_pieces();
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;  // that are mapped, with the piece of 256 MiB
  file >> pages;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit limit = before;
  limit.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + 100 * mebibyte;
  setrlimit(RLIMIT_AS, &limit);
  CHECK(Buffer(300 * mebibyte, "a test").size() == 300 * mebibyte);
  setrlimit(RLIMIT_AS, &before);
}
#endif

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
