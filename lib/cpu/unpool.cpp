// Elements that go to places among zeros, on the CPU: whole images, one after the other. The
// elements of few large images are first sorted by the stretch of the output that they go to, in
// their order; then each stretch is made alone.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/kinds.hpp"
#include "cpu/preparation.hpp"
#include "cpu/walk.hpp"

namespace dmlop::cpu {
namespace {

class Unpool {
 public:
  Unpool(const UnpoolKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        values_(inputs[0]),
        indices_(inputs[1]),
        walk_(kernel.axes),
        per_image_(walk_.elements() / kernel.images) {}

  std::uint64_t elements() const { return per_image_; }

  /// Calls action(place in the image, element) for elements [first, last) of an image, in order.
  template <typename Action>
  void for_each(std::uint64_t image, std::uint64_t first, std::uint64_t last_element,
                Action&& action) const {
    const std::uint64_t low = image * kernel_.image_extent;
    const std::size_t size = size_of(kernel_.data_type), index_size = size_of(kernel_.index_type);
    const std::uint64_t value_step = walk_.steps()[0], index_step = walk_.steps()[1];
    const std::uint64_t begin = image * per_image_;
    walk_.run(begin + first, begin + last_element, [&](const auto& from, std::uint64_t count) {
      const std::uint64_t value = from[0], index = from[1];
      in_pieces(count, 8, [&](std::uint64_t k, std::uint64_t end) {
        for (; k < end; ++k) {
          const std::uint64_t place = read_index((index + k * index_step) * index_size) - low;
          if (place < kernel_.image_extent)
            action(place, &values_[(value + k * value_step) * size]);
        }
      });
    });
  }

 private:
  std::uint64_t read_index(std::uint64_t at) const {
    std::uint64_t index = 0;
    std::memcpy(&index, &indices_[at], size_of(kernel_.index_type));
    return index;
  }

  const UnpoolKernel& kernel_;
  std::span<const std::byte> values_, indices_;
  Walk<2> walk_;
  std::uint64_t per_image_;
};

/// An element and its place in its stretch.
struct Placed {
  std::uint64_t element;
  std::uint64_t place;
};

/// Stretches of the images, and blocks of the elements that go there.
struct UnpoolCut {
  std::uint64_t stretch;    // elements of the output; the last of an image may have fewer
  std::uint64_t stretches;  // of an image
  std::uint64_t block;      // elements
  std::uint64_t blocks;     // of an image
};

std::optional<UnpoolCut> cut_of(const UnpoolKernel& kernel) {
  constexpr Threshold most{1024, 3};
  const std::uint64_t elements = elements_of(kernel.axes) / kernel.images;
  if (kernel.images >= enough_rows() || elements / 2 < block_elements() ||
      kernel.image_extent / 2 < block_elements())
    return {};
  UnpoolCut cut{};
  cut.stretch = std::max(block_elements(), divided_up(kernel.image_extent, most));
  cut.stretches = divided_up(kernel.image_extent, cut.stretch);
  cut.block = std::max(block_elements(), divided_up(elements, most));
  cut.blocks = divided_up(elements, cut.block);
  return cut;
}

/// The elements of each stretch, in their order.
class SortedElements : public Preparation {
 public:
  SortedElements(const UnpoolKernel& kernel, const UnpoolCut& cut, const Unpool& unpool,
                 unsigned threads)
      : cut_(cut), size_(size_of(kernel.data_type)) {
    places_.assign(kernel.images * cut.blocks * cut.stretches, 0);
    const auto for_each_block = [&](auto&& action) {
      parallel_for(threads, kernel.images * cut.blocks, [&](unsigned, std::uint64_t index) {
        const std::uint64_t first = index % cut.blocks * cut.block;
        std::uint64_t* places = &places_[index * cut.stretches];
        unpool.for_each(index / cut.blocks, first, std::min(unpool.elements(), first + cut.block),
                        [&](std::uint64_t place, const std::byte* element) {
                          action(places[place / cut.stretch], place % cut.stretch, element);
                        });
      });
    };
    for_each_block([](std::uint64_t& count, std::uint64_t, const std::byte*) { ++count; });
    place_blocks(kernel.images);
    memory_ = Buffer(begins_.back() * sizeof(Placed), "the elements of the stretches");
    auto* all = reinterpret_cast<Placed*>(memory_.data());
    for_each_block([&](std::uint64_t& next, std::uint64_t place, const std::byte* element) {
      Placed placed{.element = 0, .place = place};
      std::memcpy(&placed.element, element, size_);
      all[next++] = placed;
    });
  }

  const UnpoolCut& cut() const { return cut_; }
  std::span<const Placed> of(std::uint64_t image, std::uint64_t stretch) const {
    const std::uint64_t i = image * cut_.stretches + stretch;
    return {reinterpret_cast<const Placed*>(memory_.data()) + begins_[i],
            static_cast<std::size_t>(begins_[i + 1] - begins_[i])};
  }

 private:
  // Where the elements of each block go, in place of how many they are.
  void place_blocks(std::uint64_t images) {
    std::uint64_t place = 0;
    for (std::uint64_t image = 0; image < images; ++image) {
      for (std::uint64_t s = 0; s < cut_.stretches; ++s) {
        begins_.push_back(place);
        for (std::uint64_t b = 0; b < cut_.blocks; ++b) {
          std::uint64_t& count = places_[(image * cut_.blocks + b) * cut_.stretches + s];
          place += std::exchange(count, place);
        }
      }
    }
    begins_.push_back(place);
  }

  UnpoolCut cut_;
  std::size_t size_;
  std::vector<std::uint64_t> places_;  // of each block, and in it of each stretch
  std::vector<std::uint64_t> begins_;  // of the stretches
  Buffer memory_;
};

void fill_zeros(std::byte* to, std::uint64_t bytes) {
  in_pieces(bytes, 1,
            [&](std::uint64_t i, std::uint64_t end) { std::fill(to + i, to + end, std::byte{0}); });
}

/// Calls each(action), which calls action(place, element) for the elements that go to `extent`
/// elements of the output at `to`.
template <typename Each>
void replace(std::uint64_t extent, std::uint64_t size, std::byte* to, Each&& each) {
  fill_zeros(to, extent * size);
  each([&](std::uint64_t place, const std::byte* element) {
    std::memcpy(to + place * size, element, size);
  });
}

template <typename Element, typename Each>
void add(std::uint64_t extent, Buffer& sums, std::byte* to, Each&& each) {
  auto* sum = reinterpret_cast<double*>(sums.data());
  in_pieces(extent, 1,
            [&](std::uint64_t i, std::uint64_t end) { std::fill(sum + i, sum + end, 0); });
  each([&](std::uint64_t place, const std::byte* element) {
    sum[place] += number_at<Element>(element);
  });
  in_pieces(extent, 1, [&](std::uint64_t i, std::uint64_t end) {
    for (; i < end; ++i) put_number<Element>(to + i * sizeof(Element), sum[i]);
  });
}

}  // namespace

PartShape part_shape(const UnpoolKernel& kernel, std::uint64_t) {
  if (const auto cut = cut_of(kernel))
    return {.blocks = Blocks{1, kernel.image_extent, cut->stretch}};
  return {.granule = kernel.image_extent};
}

std::unique_ptr<const Preparation> prepare(const UnpoolKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  const auto cut = cut_of(kernel);
  if (!cut) return nullptr;
  return std::make_unique<SortedElements>(kernel, *cut, Unpool(kernel, inputs), threads);
}

void run_part(const UnpoolKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores, Destinations outputs) {
  const Unpool unpool(kernel, inputs);
  const auto* sorted = static_cast<const SortedElements*>(prepared);
  const std::uint64_t size = size_of(kernel.data_type), image_extent = kernel.image_extent;
  const std::uint64_t stretch = sorted != nullptr ? sorted->cut().stretch : image_extent;
  Buffer sums;
  if (kernel.adds) sums = Buffer(stretch * sizeof(double), "the sums of an image");
  std::byte* to = outputs.front().to;
  for (std::uint64_t at = part.begin, extent = 0; at < part.begin + part.length;
       at += extent, to += extent * size) {
    const std::uint64_t image = at / image_extent, within = at % image_extent;
    extent = std::min(stretch, image_extent - within);
    const auto each = [&](auto&& action) {
      if (sorted == nullptr) return unpool.for_each(image, 0, unpool.elements(), action);
      const std::span<const Placed> placed = sorted->of(image, within / stretch);
      in_pieces(placed.size(), 2, [&](std::uint64_t i, std::uint64_t end) {
        for (; i < end; ++i)
          action(placed[i].place, reinterpret_cast<const std::byte*>(&placed[i].element));
      });
    };
    if (kernel.adds) {
      visit_float(kernel.data_type,
                  [&](auto zero) { add<decltype(zero)>(extent, sums, to, each); });
    } else {
      replace(extent, size, to, each);
    }
  }
}

}  // namespace dmlop::cpu
