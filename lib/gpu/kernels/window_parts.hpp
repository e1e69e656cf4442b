// How windows are cut into parts, so that few large ones keep a device busy (shaders/window.hlsl).
// Pure.
#pragma once

#include <cstdint>

#include "gpu/kernels/window_axes.hpp"
#include "gpu/kernels/window_search.hpp"

namespace dmlop::gpu::kernels {

/// The largest window, and the table of taps.
struct WindowSize {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t table_words = 0;

  bool is_too_large() const;
};

WindowSize size_of(const WindowAxes& axes);

/// The parts of each window, and what a thread does.
struct SearchParts {
  std::uint64_t count = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t column_parts = 1;
  std::uint64_t part_work = 0;  // of a thread that reduces a part or, where windows are whole, them
  std::uint64_t final_work = 0;  // of one that puts parts together
  std::uint64_t per_thread = 1;  // outputs

  bool are_whole() const { return count == 1; }
};

SearchParts parts_of(const WindowSearch& search, const WindowAxes& axes, const WindowSize& size);

/// What parts leave for the threads that put them together.
std::uint64_t scratch_bytes(const WindowSearch& search, const SearchParts& parts);

/// Whether no thread has too much to do and the scratch is not too large.
bool can_run(const WindowSearch& search, const SearchParts& parts);

}  // namespace dmlop::gpu::kernels
