// Where a kernel puts its results, one stretch after the other: into the memory that is asked for
// or, past the caches, through a small buffer of its own. Kernels see no difference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace dmlop::cpu {

enum class Stores : std::uint8_t { cached, streaming };

class Output {
 public:
  /// What may be taken at once in any case. Small, so that reading ahead for the next stretch goes
  /// on while this one is written.
  static constexpr std::uint64_t stretch = 4096;

  Output(std::byte* to, Stores stores);

  /// The bytes that may be taken at once.
  std::uint64_t room() const {
    return streams_ ? stretch : std::numeric_limits<std::uint64_t>::max();
  }
  /// The next `bytes` of the output, to be written before the next call.
  std::byte* take(std::uint64_t bytes) {
    if (streams_) return take_buffered(bytes);
    std::byte* taken = to_;
    to_ += bytes;
    return taken;
  }
  /// After the last stretch. What was streamed is seen by other threads after finish_streams().
  void finish();

 private:
  static constexpr std::uint64_t line = 64;

  std::byte* take_buffered(std::uint64_t bytes);
  void write_lines();

  std::byte* to_;  // of what is in the buffer from begin_ on
  bool streams_;
  // What is taken and not yet written, at the same places within lines as it has in memory.
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  alignas(line) std::array<std::byte, line + stretch> buffer_;
};

}  // namespace dmlop::cpu
