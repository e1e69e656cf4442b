#include "cpu/scratch.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/per_process.hpp"

namespace dmlop::cpu {

/// As many as were ever in use at once by the threads of a place.
struct Scratch::Kept {
  std::mutex mutex;
  std::vector<Lines> free;
  std::size_t in_use = 0;

  /// The smallest one that suffices, or else the largest: so large ones stay few. Makes sure that
  /// there is room to give it back.
  Lines take(std::size_t count) {
    free.reserve(free.size() + in_use + 1);
    ++in_use;
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
// What is large is asked for once in a kernel, and all threads share it, so that little is kept.
Scratch::Kept& Scratch::kept(std::size_t bytes) {
  constexpr std::size_t large = std::size_t{4} << 20;
  struct All {
    Kept of_all;
    std::array<Kept, 64> places;
  };
  static constinit KeptPerProcess<All> of_process;
  All& all = of_process.get();
  if (bytes >= large) return all.of_all;
  auto& places = all.places;
  return places[std::hash<std::thread::id>()(std::this_thread::get_id()) % places.size()];
}

Scratch::Scratch(std::size_t bytes) : kept_(kept(bytes)) {
  const std::size_t count = std::max<std::size_t>(1, (bytes + line - 1) / line);
  {
    const std::scoped_lock lock(kept_.mutex);
    lines_ = kept_.take(count);
  }
  if (lines_.size() >= count) return;
  try {
    lines_ = {};  // what is in it need not be copied
    lines_.resize(count);
  } catch (...) {
    give_back();
    throw;
  }
}

Scratch::~Scratch() {
  give_back();
}

void Scratch::give_back() noexcept {
  const std::scoped_lock lock(kept_.mutex);
  kept_.free.push_back(std::move(lines_));
  --kept_.in_use;
}

}  // namespace dmlop::cpu
