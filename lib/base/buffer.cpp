#include "base/buffer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/per_process.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

// AddressSanitizer sees the use of freed memory only if it is freed.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_memory = false;
#elif defined(__has_feature)
constexpr bool keeps_memory = !__has_feature(address_sanitizer);
#else
constexpr bool keeps_memory = true;
#endif
constexpr std::size_t kept_most = keeps_memory ? std::size_t{256} << 20 : 0;
// What is smaller the C library keeps itself.
constexpr std::size_t kept_least = std::size_t{128} << 10;

/// Memory of buffers that are gone, for the next ones.
class KeptMemory {
 public:
  struct Piece {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };

  /// Takes the smallest piece that is large enough, but at most twice as large. It has no memory
  /// if there is none.
  Piece take(std::size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    std::size_t best = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool fits = pieces_[i].bytes >= bytes && pieces_[i].bytes / 2 <= bytes;
      if (fits && (best == count_ || pieces_[i].bytes < pieces_[best].bytes)) best = i;
    }
    return best == count_ ? Piece{} : removed(best);
  }

  /// Keeps a piece. Frees the oldest ones if there is no room for all.
  void keep(const Piece& piece) noexcept {
    const std::scoped_lock lock(mutex_);
    while (count_ > 0 && (count_ == pieces_.size() || bytes_ + piece.bytes > kept_most))
      std::free(removed(0).memory);
    if (piece.bytes > kept_most) return std::free(piece.memory);
    pieces_[count_++] = piece;
    bytes_ += piece.bytes;
  }

  /// Returns whether there was any.
  bool free_all() noexcept {
    const std::scoped_lock lock(mutex_);
    const bool is_any = count_ > 0;
    while (count_ > 0) std::free(removed(count_ - 1).memory);
    return is_any;
  }

 private:
  Piece removed(std::size_t place) {
    const Piece piece = pieces_[place];
    std::move(pieces_.begin() + place + 1, pieces_.begin() + count_, pieces_.begin() + place);
    --count_;
    bytes_ -= piece.bytes;
    return piece;
  }

  std::mutex mutex_;
  std::array<Piece, 64> pieces_;  // the latest one last
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

KeptMemory& kept_memory() {
  static constinit KeptPerProcess<KeptMemory> of_process;
  return of_process.get();
}

/// Asks the system for memory. What is kept may be what it lacks.
template <typename Allocate>
std::byte* allocated(std::uint64_t bytes, const std::string& what, const Allocate& allocate) {
  if (bytes <= std::numeric_limits<std::ptrdiff_t>::max()) {
    const auto count = std::max<std::size_t>(1, bytes);
    void* memory = allocate(count);
    if (memory == nullptr && kept_memory().free_all()) memory = allocate(count);
    if (memory != nullptr) return static_cast<std::byte*>(memory);
  }
  throw Error(ErrorKind::run_failed, "out of memory for " + what + " of " + counted(bytes, "byte"));
}

}  // namespace

Buffer::Buffer(std::uint64_t bytes, const std::string& what)
    : memory_(allocated(bytes, what, [](std::size_t count) { return std::calloc(count, 1); })),
      size_(bytes) {}

Buffer Buffer::to_overwrite(std::uint64_t bytes, const std::string& what) {
  Buffer buffer;
  const bool may_be_kept = bytes >= kept_least && bytes <= kept_most;
  KeptMemory::Piece piece = may_be_kept ? kept_memory().take(bytes) : KeptMemory::Piece{};
  if (piece.memory == nullptr)
    piece = {allocated(bytes, what, [](std::size_t count) { return std::malloc(count); }), bytes};
  buffer.memory_ = {piece.memory, Free{may_be_kept ? piece.bytes : 0}};
  buffer.size_ = bytes;
  return buffer;
}

void Buffer::Free::operator()(std::byte* memory) const {
  if (kept_bytes == 0) return std::free(memory);
  kept_memory().keep({memory, kept_bytes});
}

void copy_in_pieces(std::span<const std::byte> from, std::byte* to) {
  in_pieces(from.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(to + begin, from.data() + begin, end - begin);
  });
}

}  // namespace dmlop
