#include "cpu/scratch.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace dmlop::cpu {

/// As many as were ever in use at once by the threads of a place.
struct Scratch::Kept {
  std::mutex mutex;
  std::vector<Lines> free;

  /// The smallest one that suffices, or else the largest: so large ones stay few.
  Lines take(std::size_t count) {
    if (free.empty()) return {};
    const auto fits_better = [&](const Lines& a, const Lines& b) {
      const bool suffices = a.size() >= count;
      if (suffices != (b.size() >= count)) return suffices;
      return suffices ? a.size() < b.size() : a.size() > b.size();
    };
    const auto best = std::min_element(free.begin(), free.end(), fits_better);
    std::swap(*best, free.back());
    Lines lines = std::move(free.back());
    free.pop_back();
    return lines;
  }
};

// Threads meet here often, so that most have a place of their own, whose memory is also near them.
Scratch::Kept& Scratch::kept() {
  static std::array<Kept, 64> places;
  return places[std::hash<std::thread::id>()(std::this_thread::get_id()) % places.size()];
}

Scratch::Scratch(std::size_t bytes) : kept_(kept()) {
  const std::size_t count = std::max<std::size_t>(1, (bytes + line - 1) / line);
  {
    const std::scoped_lock lock(kept_.mutex);
    lines_ = kept_.take(count);
  }
  if (lines_.size() >= count) return;
  lines_ = {};  // what is in it need not be copied
  lines_.resize(count);
}

Scratch::~Scratch() {
  const std::scoped_lock lock(kept_.mutex);
  kept_.free.push_back(std::move(lines_));
}

}  // namespace dmlop::cpu
