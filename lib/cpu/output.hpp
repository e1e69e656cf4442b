// Where a kernel puts its results, one stretch after the other: into the memory that is asked for
// or, past the caches, through a small buffer of its own. Kernels see no difference.
//
// A kernel gets no memory without saying how many steps an element takes, so that a request to stop
// is seen between stretches. Where one element takes more than steps_at_once, as a large window
// does, the kernel counts its steps or goes through them with in_pieces().
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/parallel.hpp"

namespace dmlop::cpu {

enum class Stores : std::uint8_t { cached, streaming };

class OutputBytes {
 public:
  /// What may be taken at once in any case. Small, so that reading ahead for the next stretch goes
  /// on while this one is written.
  static constexpr std::uint64_t stretch = 4096;

  OutputBytes(std::byte* to, Stores stores);

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

/// The output of a kernel whose elements have `size` bytes. Stretches grow for as long as they take
/// little time: what is in memory already is not slowed down for what may be on a disk.
class Output : OutputBytes {
 public:
  Output(std::byte* to, Stores stores, std::uint64_t size) : OutputBytes(to, stores), size_(size) {}

  /// How many elements may be taken at once where each takes so many steps.
  std::uint64_t room(std::uint64_t steps_each) const {
    const std::uint64_t room = OutputBytes::room() / size_;
    return std::clamp<std::uint64_t>(at_once_ / std::max<std::uint64_t>(1, steps_each), 1, room);
  }
  /// The next `count` elements, at most the room for such, to be written before the next call.
  /// Errors: as check_for_stop().
  std::byte* take(std::uint64_t count, std::uint64_t steps_each) {
    const std::uint64_t steps = count * std::min(steps_each, at_once_);
    if (steps >= left_) look_up();
    left_ -= std::min(left_, steps);
    return OutputBytes::take(count * size_);
  }
  using OutputBytes::finish;

 private:
  using Clock = std::chrono::steady_clock;

  void look_up();

  std::uint64_t size_;
  std::uint64_t at_once_ = steps_at_once;  // steps between two looks for a stop
  std::uint64_t left_ = steps_at_once;     // of them
  Clock::time_point looked_{};             // at last
};

}  // namespace dmlop::cpu
