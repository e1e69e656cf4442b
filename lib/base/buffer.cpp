#include "base/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"

namespace dmlop {

Buffer::Buffer(std::uint64_t bytes, const std::string& what) : size_(bytes) {
  const bool is_possible = bytes <= std::numeric_limits<std::ptrdiff_t>::max();
  if (is_possible)
    memory_.reset(static_cast<std::byte*>(std::calloc(std::max<std::size_t>(1, bytes), 1)));
  if (memory_ == nullptr)
    throw Error(ErrorKind::run_failed,
                "out of memory for " + what + " of " + counted(bytes, "byte"));
}

void copy_in_pieces(std::span<const std::byte> from, std::byte* to) {
  in_pieces(from.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(to + begin, from.data() + begin, end - begin);
  });
}

}  // namespace dmlop
