#include "gpu/kernels/shared_taps.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ops/taps.hpp"

namespace dmlop::gpu::kernels {
namespace {

using Int = std::int64_t;

// A first element has four bits, and a second one may stand behind it.
constexpr Int offset_most = 14;

/// An output's first element and the weights of that and the next one.
struct TwoTaps {
  Int first = 0;
  PairOfWeights weights{};

  TwoTaps(const Taps& taps, std::uint64_t output) {
    const TapRun run = taps.of(output);
    first = static_cast<Int>(run.first);
    for (std::uint64_t k = 0; k < run.count; ++k) weights[k] = taps.weight(output, run, k);
  }
  /// Begins elsewhere, which only an element of weight 0 allows; false where it cannot.
  bool move_to(Int other) {
    if (other == first) return true;
    const std::size_t dropped = other < first ? 1 : 0;
    if (std::abs(other - first) != 1 || weights[dropped] != 0) return false;
    std::swap(weights[0], weights[1]);
    first = other;
    return true;
  }
};

}  // namespace

SharedTaps shared_taps(const WindowAxis& axis, std::uint64_t columns, std::uint64_t per_word) {
  if (axis.output_extent % columns != 0 || axis.output_extent < 3 * columns) return {};
  const Taps taps(axis);
  const auto first = [&](std::uint64_t o) { return static_cast<Int>(taps.of(o).first); };
  // The second and the third thread, which touch no end of the row, show how all must be.
  const auto whole_word = static_cast<Int>(per_word);
  const Int begin = first(columns) / whole_word * whole_word;
  const Int advance = first(2 * columns) - first(columns);
  if (advance < 0 || advance % whole_word != 0) return {};
  SharedTaps shared{.before = advance - begin, .advance = static_cast<std::uint64_t>(advance)};
  std::array<Int, 8> offsets{};
  for (std::uint64_t c = 0; c < columns; ++c) {
    offsets[c] = first(columns + c) - begin;
    if (offsets[c] < 0 || offsets[c] > offset_most) return {};
    shared.offsets |= static_cast<std::uint32_t>(offsets[c]) << (4 * c);
  }
  for (std::uint64_t o = 0; o < axis.output_extent; ++o) {
    TwoTaps two(taps, o);
    const Int thread_begin = static_cast<Int>(o / columns) * advance - shared.before;
    if (!two.move_to(thread_begin + offsets[o % columns])) return {};
    shared.weights.push_back(two.weights);
  }
  const bool has_pairs = std::any_of(shared.weights.begin(), shared.weights.end(),
                                     [](const PairOfWeights& pair) { return pair[1] != 0; });
  const Int last = *std::max_element(offsets.begin(), offsets.end()) + (has_pairs ? 1 : 0);
  shared.words = static_cast<std::uint64_t>(last / whole_word) + 1;
  return shared;
}

}  // namespace dmlop::gpu::kernels
