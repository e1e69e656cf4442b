// Memory for the length of one computation, kept for the next: fresh memory would be fresh pages
// each time. It is not thread_local, because mingw-w64 destroys such objects after their storage is
// gone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace dmlop::cpu {

class Scratch {
 public:
  /// At least so many bytes, at the beginning of a cache line; what is in them is undefined.
  explicit Scratch(std::size_t bytes);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  std::byte* data() { return lines_.front().bytes; }

 private:
  static constexpr std::size_t line = 64;
  struct alignas(line) Line {
    std::byte bytes[line];
  };
  using Lines = std::vector<Line>;
  struct Kept;
  static Kept& kept(std::size_t bytes);
  void give_back() noexcept;

  Kept& kept_;
  Lines lines_;
};

/// Scratch memory that grows with what is asked of it.
class GrowingScratch {
 public:
  /// Room for `count` elements. What is in it stays while no more is asked for than before.
  template <typename T>
  T* at_least(std::size_t count) {
    if (!scratch_ || bytes_ < count * sizeof(T)) {
      bytes_ = count * sizeof(T);
      scratch_.reset();
      scratch_.emplace(bytes_);
    }
    return reinterpret_cast<T*>(scratch_->data());
  }

 private:
  std::optional<Scratch> scratch_;
  std::size_t bytes_ = 0;
};

}  // namespace dmlop::cpu
