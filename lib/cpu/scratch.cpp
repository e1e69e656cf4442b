#include "cpu/scratch.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace dmlop::cpu {

/// As many as were ever in use at once.
struct Scratch::Kept {
  std::mutex mutex;
  std::vector<Lines> free;
};

Scratch::Kept& Scratch::kept() {
  static Kept all;
  return all;
}

Scratch::Scratch(std::size_t bytes) {
  {
    const std::scoped_lock lock(kept().mutex);
    if (!kept().free.empty()) {
      lines_ = std::move(kept().free.back());
      kept().free.pop_back();
    }
  }
  const std::size_t count = std::max<std::size_t>(1, (bytes + line - 1) / line);
  if (lines_.size() < count) lines_.resize(count);
}

Scratch::~Scratch() {
  const std::scoped_lock lock(kept().mutex);
  kept().free.push_back(std::move(lines_));
}

}  // namespace dmlop::cpu
