// Elements that go to places among zeros, on the CPU: whole images, one after the other.
#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

class Unpool {
 public:
  Unpool(const UnpoolKernel& kernel, Inputs inputs)
      : kernel_(kernel), values_(inputs[0]), indices_(inputs[1]) {
    std::uint64_t elements = 1;
    for (const StridedAxis& axis : kernel.values) elements *= axis.extent;
    per_image_ = elements / kernel.images;
  }

  /// Calls action(place in the image, element) for all elements of an image, in order.
  template <typename Action>
  void for_each(std::uint64_t image, Action&& action) const {
    const std::uint64_t low = image * kernel_.image_extent;
    const std::size_t last = kernel_.values.size() - 1;
    const StridedAxis& width = kernel_.values[last];
    const std::size_t size = size_of(kernel_.data_type), index_size = size_of(kernel_.index_type);
    for (std::uint64_t i = image * per_image_; i < (image + 1) * per_image_;) {
      const std::uint64_t column = i % width.extent;
      std::uint64_t value = column * width.stride, index = column * kernel_.index_strides[last];
      std::uint64_t row = i / width.extent;
      for (std::size_t a = last; a-- > 0; row /= kernel_.values[a].extent) {
        value += row % kernel_.values[a].extent * kernel_.values[a].stride;
        index += row % kernel_.values[a].extent * kernel_.index_strides[a];
      }
      const std::uint64_t count = std::min(width.extent - column, (image + 1) * per_image_ - i);
      in_pieces(count, 8, [&](std::uint64_t k, std::uint64_t end) {
        for (; k < end; ++k) {
          const std::uint64_t place =
              read_index((index + k * kernel_.index_strides[last]) * index_size) - low;
          if (place < kernel_.image_extent)
            action(place, &values_[(value + k * width.stride) * size]);
        }
      });
      i += count;
    }
  }

 private:
  std::uint64_t read_index(std::uint64_t at) const {
    std::uint64_t index = 0;
    std::memcpy(&index, &indices_[at], size_of(kernel_.index_type));
    return index;
  }

  const UnpoolKernel& kernel_;
  std::span<const std::byte> values_, indices_;
  std::uint64_t per_image_;
};

void replace(const Unpool& unpool, std::uint64_t image, std::uint64_t size, std::byte* to) {
  unpool.for_each(image, [&](std::uint64_t place, const std::byte* element) {
    std::memcpy(to + place * size, element, size);
  });
}

template <typename Element>
void add(const Unpool& unpool, std::uint64_t image, std::uint64_t extent, Buffer& sums,
         std::byte* to) {
  auto* sum = reinterpret_cast<double*>(sums.data());
  in_pieces(extent, 1,
            [&](std::uint64_t i, std::uint64_t end) { std::fill(sum + i, sum + end, 0); });
  unpool.for_each(image, [&](std::uint64_t place, const std::byte* element) {
    sum[place] += number_at<Element>(element);
  });
  in_pieces(extent, 1, [&](std::uint64_t i, std::uint64_t end) {
    for (; i < end; ++i) put_number<Element>(to + i * sizeof(Element), sum[i]);
  });
}

}  // namespace

PartShape part_shape(const UnpoolKernel& kernel, std::uint64_t) {
  return {.granule = kernel.image_extent};
}

void run_part(const UnpoolKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const Unpool unpool(kernel, inputs);
  const std::uint64_t size = size_of(kernel.data_type), extent = kernel.image_extent;
  Buffer sums;
  if (kernel.adds) sums = Buffer(extent * sizeof(double), "the sums of an image");
  std::byte* to = outputs.front().to;
  for (std::uint64_t begin = part.begin; begin < part.begin + part.length;
       begin += extent, to += extent * size) {
    const std::uint64_t image = begin / extent;
    if (kernel.adds) {
      visit_float(kernel.data_type,
                  [&](auto zero) { add<decltype(zero)>(unpool, image, extent, sums, to); });
    } else {
      in_pieces(extent * size, 1, [&](std::uint64_t i, std::uint64_t end) {
        std::fill(to + i, to + end, std::byte{0});
      });
      replace(unpool, image, size, to);
    }
  }
}

}  // namespace dmlop::cpu
