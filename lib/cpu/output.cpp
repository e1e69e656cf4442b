#include "cpu/output.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/elements.hpp"

namespace dmlop::cpu {

OutputBytes::OutputBytes(std::byte* to, Stores stores)
    : to_(to), streams_(stores == Stores::streaming) {
  begin_ = end_ = reinterpret_cast<std::uintptr_t>(to) % line;
}

std::byte* OutputBytes::take_buffered(std::uint64_t bytes) {
  write_lines();
  std::byte* taken = buffer_.data() + end_;
  end_ += bytes;
  return taken;
}

// Writes all whole lines; what is left stands at the buffer's start. Only the first line of all may
// begin in its midst.
void OutputBytes::write_lines() {
  if (end_ < line) return;
  if (begin_ != 0) {
    std::memcpy(to_, buffer_.data() + begin_, line - begin_);
    to_ += line - begin_;
    begin_ = line;
  }
  const std::uint64_t bytes = (end_ - begin_) / line * line;
  stream(to_, buffer_.data() + begin_, bytes);
  to_ += bytes;
  std::copy(buffer_.data() + begin_ + bytes, buffer_.data() + end_, buffer_.data());
  end_ -= begin_ + bytes;
  begin_ = 0;
}

void OutputBytes::finish() {
  if (!streams_) return;
  write_lines();
  std::memcpy(to_, buffer_.data() + begin_, end_ - begin_);
}

void Output::look_up() {
  const std::uint64_t most = 32 * steps_at_once;
  constexpr auto little = std::chrono::microseconds(200);
  check_for_stop();
  const Clock::time_point now = Clock::now();
  const bool is_fast = looked_ != Clock::time_point{} && now - looked_ < little;
  at_once_ = is_fast ? std::min(2 * at_once_, most) : steps_at_once;
  left_ = at_once_;
  looked_ = now;
}

}  // namespace dmlop::cpu
