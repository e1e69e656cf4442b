// Elements picked by index on the CPU, a stretch of outputs at a time: one index for all of them,
// or one for each.
#include <algorithm>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/elements.hpp"
#include "cpu/indices.hpp"
#include "cpu/kinds.hpp"
#include "cpu/walk.hpp"

namespace dmlop::cpu {
namespace {

template <typename T, typename Index>
class Gather {
 public:
  Gather(const GatherKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        input_(inputs[0].data()),
        indices_(inputs[1].data()),
        indices_bytes_(inputs[1].size()),
        walk_(kernel.axes) {
    for (const IndexedAxis& axis : kernel.coordinates)
      last_index_ = std::max(last_index_, axis.indices_offset);
  }

  void run(std::uint64_t begin, std::uint64_t end, Output& output) const {
    const std::uint64_t steps = steps_each();
    while (begin < end) {
      const std::uint64_t count = std::min(end - begin, output.room(steps));
      std::byte* to = output.take(count, steps);
      walk_.run(begin, begin + count, [&](const Walk<2>::Offsets& from, std::uint64_t length) {
        stretch(from[0], from[1], length, to);
        to += length * sizeof(T);
      });
      begin += count;
    }
  }

 private:
  // An index may lead to a page that is on a disk.
  std::uint64_t steps_each() const {
    constexpr std::uint64_t page_bytes = 4096;
    std::uint64_t reach = 0;
    for (const IndexedAxis& axis : kernel_.coordinates)
      reach = std::max(reach, axis.extent * axis.stride * sizeof(T));
    const bool shares = walk_.steps()[1] == 0;
    const std::uint64_t places = shares ? walk_.stretch() : 1;
    const bool is_far =
        reach >= page_bytes || (shares && walk_.steps()[0] * sizeof(T) >= page_bytes);
    return is_far ? 4 + far_steps / std::min(places, far_steps) : 4;
  }

  std::uint64_t place(const IndexedAxis& axis, std::uint64_t indices) const {
    const auto index = load<Index>(indices_ + (indices + axis.indices_offset) * sizeof(Index));
    const std::uint64_t place = place_of(index, axis.extent, kernel_.index.large);
    return std::min(place, axis.extent - 1) * axis.stride;
  }
  std::uint64_t places(std::uint64_t indices) const {
    std::uint64_t sum = 0;
    for (const IndexedAxis& axis : kernel_.coordinates) sum += place(axis, indices);
    return sum;
  }

  // Asks for what a later index leads to, as if it were that of the row before.
  void fetch_ahead(std::uint64_t input, std::uint64_t indices, std::uint64_t count) const {
    constexpr Threshold bytes_ahead{4096, 40}, bytes_least{256, 8};
    const std::uint64_t bytes = count * sizeof(T);
    if (bytes < bytes_least || walk_.steps()[0] != 1) return;
    const std::uint64_t rows = std::clamp<std::uint64_t>(bytes_ahead / bytes, 1, 8);
    const auto [input_step, indices_step] = walk_.outer_steps();
    const std::uint64_t later = indices + rows * indices_step;
    const std::uint64_t end = (later + last_index_ + 1) * sizeof(Index);
    if (later == indices || end > indices_bytes_) return;
    const std::uint64_t from = input + rows * input_step + places(later);
    fetch(input_ + from * sizeof(T), std::min<std::uint64_t>(bytes, bytes_ahead));
  }

  void stretch(std::uint64_t input, std::uint64_t indices, std::uint64_t count,
               std::byte* to) const {
    const std::uint64_t input_step = walk_.steps()[0], indices_step = walk_.steps()[1];
    if (indices_step == 0) {
      fetch_ahead(input, indices, count);
      const std::uint64_t from = input + places(indices);
      return copy_strided<T>(to, input_ + from * sizeof(T), input_step, count);
    }
    const auto pick = [&](auto&& place_at) {
      for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint64_t from = input + k * input_step + place_at(indices + k * indices_step);
        store(to + k * sizeof(T), load<T>(input_ + from * sizeof(T)));
      }
    };
    if (kernel_.coordinates.size() == 1) {
      const IndexedAxis axis = kernel_.coordinates.front();
      pick([&](std::uint64_t at) { return place(axis, at); });
    } else {
      pick([&](std::uint64_t at) { return places(at); });
    }
  }

  const GatherKernel& kernel_;
  const std::byte *input_, *indices_;
  std::uint64_t indices_bytes_;
  std::uint64_t last_index_ = 0;  // of the coordinates of a place
  Walk<2> walk_;
};

}  // namespace

PartShape part_shape(const GatherKernel&, std::uint64_t) {
  return {};
}

void run_part(const GatherKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(
      stores, part, kernel.element_size, outputs.front(),
      [&](std::uint64_t begin, std::uint64_t end, Output& output) {
        with_bits(kernel.element_size, [&](auto element) {
          with_index(kernel.index.type, [&](auto index) {
            Gather<decltype(element), decltype(index)>(kernel, inputs).run(begin, end, output);
          });
        });
      });
}

}  // namespace dmlop::cpu
