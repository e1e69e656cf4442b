// SLICE, TILE, SLICE_GRAD, the moves between depth and space, UNFOLD and FOLD by their definitions.
#pragma once

#include <functional>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// A packed tensor whose elements are those of the input at the places that `from` says.
inline Tensor moved(const Tensor& input, const List& sizes,
                    const std::function<Index(const Index&)>& from) {
  Tensor output = Tensor::packed(input.type, sizes);
  for_each_index(sizes, [&](const Index& to) {
    std::memcpy(output.at(to), input.at(from(to)), output.element_size());
  });
  return output;
}

inline Tensor sliced(const Tensor& input, const List& offsets, const List& sizes,
                     const List& strides) {
  return moved(input, sizes, [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = offsets[i] + strides[i] * index[i];
    return index;
  });
}

inline Tensor tiled(const Tensor& input, const List& repeats) {
  List sizes = input.sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] *= repeats[i];
  return moved(input, sizes, [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] %= input.sizes[i];
    return index;
  });
}

/// The gradients at start + stride * o, where a negative stride starts at the window's last
/// element.
inline Tensor slice_gradient(const Tensor& gradients, const List& sizes, const List& offsets,
                             const List& windows, const std::vector<std::int64_t>& strides) {
  Tensor output = Tensor::packed(gradients.type, sizes);
  for_each_index(gradients.sizes, [&](const Index& from) {
    Index to(from.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::uint64_t start = offsets[i] + (strides[i] < 0 ? windows[i] - 1 : 0);
      to[i] = start + static_cast<std::uint64_t>(strides[i]) * from[i];
    }
    std::memcpy(output.at(to), gradients.at(from), output.element_size());
  });
  return output;
}

/// The channel of the deep tensor for a channel of the wide one and a place in the block.
inline std::uint64_t deep_channel(std::uint64_t channel, std::uint64_t channels, std::uint64_t row,
                                  std::uint64_t column, std::uint64_t block, bool depth_first) {
  if (depth_first) return (row * block + column) * channels + channel;
  return (channel * block + row) * block + column;
}

/// `depth_first`: the order DEPTH_COLUMN_ROW, in which depth changes fastest.
inline Tensor depth_to_space(const Tensor& deep, std::uint64_t block, bool depth_first) {
  const List sizes{deep.sizes[0], deep.sizes[1] / block / block, deep.sizes[2] * block,
                   deep.sizes[3] * block};
  return moved(deep, sizes, [&](const Index& to) -> Index {
    return {to[0], deep_channel(to[1], sizes[1], to[2] % block, to[3] % block, block, depth_first),
            to[2] / block, to[3] / block};
  });
}

inline Tensor space_to_depth(const Tensor& wide, std::uint64_t block, bool depth_first) {
  const List sizes{wide.sizes[0], wide.sizes[1] * block * block, wide.sizes[2] / block,
                   wide.sizes[3] / block};
  Tensor output = Tensor::packed(wide.type, sizes);
  for_each_index(wide.sizes, [&](const Index& from) {
    const Index to{
        from[0],
        deep_channel(from[1], wide.sizes[1], from[2] % block, from[3] % block, block, depth_first),
        from[2] / block, from[3] / block};
    std::memcpy(output.at(to), wide.at(from), output.element_size());
  });
  return output;
}

/// Windows over the spatial dimensions of an image.
struct ImageWindows {
  List sizes, strides, dilations, start, end;

  List places(const List& image) const {
    List places;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t padded = image[i + 2] + start[i] + end[i];
      places.push_back((padded - dilations[i] * (sizes[i] - 1) - 1) / strides[i] + 1);
    }
    return places;
  }
  List column_sizes(const List& image) const {
    List columns{image[0], image[1], 1};
    for (const std::uint64_t size : sizes) columns[1] *= size;
    for (const std::uint64_t count : places(image)) columns[2] *= count;
    return columns;
  }
  /// Calls action(image index, column index) for all elements of windows; the first is empty where
  /// it is in the padding.
  template <typename Action>
  void for_each(const List& image, Action&& action) const {
    List all{image[0], image[1]};
    all.insert(all.end(), sizes.begin(), sizes.end());
    const List counts = places(image);
    all.insert(all.end(), counts.begin(), counts.end());
    for_each_index(all, [&](const Index& each) {
      Index at{each[0], each[1]}, column{each[0], each[1], 0};
      bool is_inside = true;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::uint64_t k = each[2 + i], place = each[2 + sizes.size() + i];
        column[1] = column[1] * sizes[i] + k;
        column[2] = column[2] * counts[i] + place;
        at.push_back(place * strides[i] + k * dilations[i] - start[i]);
        is_inside = is_inside && at.back() < image[2 + i];
      }
      action(is_inside ? at : Index{}, column);
    });
  }

  Tensor unfolded(const Tensor& image) const {
    Tensor output = Tensor::packed(image.type, column_sizes(image.sizes));
    for_each(image.sizes, [&](const Index& at, const Index& column) {
      if (!at.empty()) std::memcpy(output.at(column), image.at(at), output.element_size());
    });
    return output;
  }

  Tensor folded(const Tensor& columns, const List& image) const {
    Tensor output = Tensor::packed(columns.type, image);
    std::vector<double> sums(output.bytes.size() / output.element_size());
    std::vector<std::uint64_t> integers(sums.size());
    for_each(image, [&](const Index& at, const Index& column) {
      if (at.empty()) return;
      const auto place =
          static_cast<std::size_t>(output.at(at) - output.bytes.data()) / output.element_size();
      if (info(columns.type).kind == NumberKind::floating) {
        sums[place] += number(columns.type, columns.at(column));
      } else {
        std::uint64_t bits = 0;
        std::memcpy(&bits, columns.at(column), columns.element_size());
        integers[place] += bits;
      }
    });
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::byte* to = &output.bytes[i * output.element_size()];
      if (info(columns.type).kind == NumberKind::floating) {
        std::memcpy(to, element(columns.type, sums[i]).data(), output.element_size());
      } else {
        std::memcpy(to, &integers[i], output.element_size());
      }
    }
    return output;
  }
};

}  // namespace dmlop::test
