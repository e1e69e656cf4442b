// Scattering on the CPU. A part has all places of the coordinates for some of the elements beside
// each other, so that one thread writes all updates of an element in their order.
#include <algorithm>
#include <memory>

#include "base/parallel.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/indices.hpp"
#include "cpu/kinds.hpp"
#include "cpu/walk.hpp"
#include "ops/index_map.hpp"

namespace dmlop::cpu {
namespace {

std::uint64_t places_of(const ScatterKernel& kernel) {
  std::uint64_t count = 1;
  for (const IndexedAxis& axis : kernel.coordinates) count *= axis.extent;
  return count;
}

/// Through the indices and the updates.
Walk<2> walk_of(const StridedAxes& axes) {
  return Walk<2>(merged(axes, 2));
}

/// The input, packed as the output is.
IndexMapKernel copy_of(const ScatterKernel& kernel) {
  IndexMapKernel copy{.element_size = kernel.element_size};
  const auto add = [&](std::uint64_t extent, std::uint64_t stride) {
    copy.axes.push_back({.extent = extent, .stride = static_cast<std::int64_t>(stride)});
  };
  for (const StridedAxis& axis : kernel.outer) add(axis.extent, axis.strides[2]);
  for (const IndexedAxis& axis : kernel.coordinates) add(axis.extent, axis.stride);
  for (const StridedAxis& axis : kernel.inner) add(axis.extent, axis.strides[2]);
  return simplified(std::move(copy));
}

/// Where the elements of a part stand in memory.
struct Place {
  std::byte* to;
  std::uint64_t pitch;  // bytes from place to place of the coordinates
};

template <typename T, typename Index>
class Scatter {
 public:
  Scatter(const ScatterKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        indices_(inputs[1].data()),
        updates_(inputs[2].data() + kernel.updates_offset * sizeof(T)),
        outer_(walk_of(kernel.outer)),
        tuples_(walk_of(kernel.updates)),
        inner_(walk_of(kernel.inner)) {
    for (const StridedAxis& axis : kernel.inner)
      shares_index_ = shares_index_ && (axis.extent == 1 || axis.strides[0] == 0);
  }

  std::uint64_t inner() const { return inner_.elements(); }

  /// The updates of elements [begin, end) inside, of an index outside.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Place place) {
    const auto from = outer_.offsets(outer);
    tuples_.run(0, tuples_.elements(), [&](const Walk<2>::Offsets& first, std::uint64_t count) {
      for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint64_t indices = from[0] + first[0] + k * tuples_.steps()[0];
        const std::uint64_t updates = from[1] + first[1] + k * tuples_.steps()[1];
        if (inner_.elements() == 1) {
          update_one(indices, updates, place);
        } else if (shares_index_) {
          update_row(indices, updates, begin, end, place);
        } else {
          update_each(indices, updates, begin, end, place);
        }
      }
    });
  }

 private:
  /// The place among those of all coordinates, or no_place.
  std::uint64_t place_at(std::uint64_t indices) const {
    std::uint64_t place = 0;
    for (const IndexedAxis& axis : kernel_.coordinates) {
      const auto index = load<Index>(indices_ + (indices + axis.indices_offset) * sizeof(Index));
      const std::uint64_t next = place_of(index, axis.extent, kernel_.index.large);
      if (next == no_place) return no_place;
      place = place * axis.extent + next;
    }
    return place;
  }

  void update_one(std::uint64_t indices, std::uint64_t updates, Place place) {
    steps_.add(64);
    const std::uint64_t at = place_at(indices);
    if (at == no_place) return;
    store(place.to + at * place.pitch, load<T>(updates_ + updates * sizeof(T)));
  }

  void update_row(std::uint64_t indices, std::uint64_t updates, std::uint64_t begin,
                  std::uint64_t end, Place place) {
    steps_.add(far_steps);
    const std::uint64_t at = place_at(indices);
    if (at == no_place) return;
    std::byte* to = place.to + at * place.pitch;
    inner_.run(begin, end, [&](const Walk<2>::Offsets& from, std::uint64_t count) {
      steps_.add(count * 4);
      copy_strided<T>(to, updates_ + (updates + from[1]) * sizeof(T), inner_.steps()[1], count);
      to += count * sizeof(T);
    });
  }

  void update_each(std::uint64_t indices, std::uint64_t updates, std::uint64_t begin,
                   std::uint64_t end, Place place) {
    std::byte* to = place.to;
    inner_.run(begin, end, [&](const Walk<2>::Offsets& from, std::uint64_t count) {
      steps_.add(count * 8);
      for (std::uint64_t k = 0; k < count; ++k, to += sizeof(T)) {
        const std::uint64_t at = place_at(indices + from[0] + k * inner_.steps()[0]);
        if (at == no_place) continue;
        const std::uint64_t update = updates + from[1] + k * inner_.steps()[1];
        store(to + at * place.pitch, load<T>(updates_ + update * sizeof(T)));
      }
    });
  }

  const ScatterKernel& kernel_;
  const std::byte *indices_, *updates_;
  Walk<2> outer_, tuples_, inner_;
  bool shares_index_ = true;  // all that stand beside each other have one index
  Steps steps_;
};

void copy_part(const ScatterKernel& kernel, Inputs inputs, const Part& part,
               const Destination& destination) {
  const IndexMapKernel copy = copy_of(kernel);
  const auto mover = make_mover(copy, inputs.first(1));
  for (std::uint64_t i = 0; i < part.count; ++i) {
    const std::uint64_t begin = part.begin + i * part.step;
    Output output(destination.to + i * destination.pitch, Stores::cached, kernel.element_size);
    mover->run(begin, begin + part.length, output);
    output.finish();
  }
}

}  // namespace

PartShape part_shape(const ScatterKernel& kernel, std::uint64_t bytes) {
  return sequences_shape(places_of(kernel), elements_of(kernel.inner), kernel.element_size, bytes);
}

void run_part(const ScatterKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  copy_part(kernel, inputs, part, outputs.front());
  with_bits(kernel.element_size, [&](auto element) {
    with_index(kernel.index.type, [&](auto index) {
      Scatter<decltype(element), decltype(index)> scatter(kernel, inputs);
      for_each_sequences(
          part, places_of(kernel), scatter.inner(), std::array{kernel.element_size}, outputs,
          [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destinations to) {
            scatter.run(outer, begin, end, {to.front().to, to.front().pitch});
          });
    });
  });
}

}  // namespace dmlop::cpu
