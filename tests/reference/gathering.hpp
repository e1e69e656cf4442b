// GATHER, GATHER_ELEMENTS, GATHER_ND(1), SCATTER_ELEMENTS, SCATTER_ND, ONE_HOT and
// NONZERO_COORDINATES by their definitions.
#pragma once

#include <optional>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// An element of the indices as it stands there; UINT64 above 2^63 - 1 as a negative number.
inline std::int64_t index_at(const Tensor& indices, const Index& at) {
  std::int64_t value = 0;
  std::memcpy(&value, indices.at(at), indices.element_size());
  return indices.type == DataType::Int32 ? static_cast<std::int32_t>(value) : value;
}

/// What an unsigned index of 64 bits beyond its axis means: its low half, its low half with a sign,
/// or nothing. The low half of a signed one has a sign.
enum class Beyond { low, signed_low, nothing };

/// The place below n that an index means: negative ones count from the end once. Only signed types
/// have negative indices. Nothing beyond.
inline std::optional<std::uint64_t> place_among(std::int64_t index, std::uint64_t n, DataType type,
                                                Beyond beyond = Beyond::low) {
  const auto from_either_end = [&](std::int64_t i) {
    const auto place = static_cast<std::uint64_t>(i < 0 ? i + static_cast<std::int64_t>(n) : i);
    return place < n ? std::optional(place) : std::nullopt;
  };
  const bool is_signed = info(type).kind == NumberKind::signed_integer;
  const auto whole = static_cast<std::uint64_t>(index);
  if (is_signed) {
    if (const auto place = from_either_end(index)) return place;
  } else if (whole < n) {
    return whole;
  }
  if (size_of(type) == 4 || (!is_signed && beyond == Beyond::nothing)) return std::nullopt;
  const auto low = static_cast<std::uint32_t>(whole);
  if (is_signed || beyond == Beyond::signed_low)
    return from_either_end(static_cast<std::int32_t>(low));
  return low < n ? std::optional<std::uint64_t>(low) : std::nullopt;
}

inline std::uint64_t clamped_place(const Tensor& indices, const Index& at, std::uint64_t n) {
  return place_among(index_at(indices, at), n, indices.type).value_or(n - 1);
}

/// Sizes without the leading ones that do not count, and an index with zeros before it.
inline List last_of(const List& sizes, std::size_t count) {
  return {sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end()};
}
inline Index with_leading(const Index& index, std::size_t rank) {
  Index full(rank - index.size(), 0);
  full.insert(full.end(), index.begin(), index.end());
  return full;
}
inline Index joined_index(std::initializer_list<Index> parts) {
  Index all;
  for (const Index& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Out[o..., t..., i...] = In[o..., Indices[t...], i...]; the output has the input's rank.
inline Tensor gathered(const Tensor& input, const Tensor& indices, std::size_t axis,
                       std::size_t index_dimensions) {
  const std::size_t rank = input.sizes.size();
  const auto at = static_cast<std::ptrdiff_t>(axis);
  const List outer(input.sizes.begin(), input.sizes.begin() + at);
  const List inner(input.sizes.begin() + at + 1, input.sizes.end());
  const List tuples = last_of(indices.sizes, index_dimensions);
  const List all = joined_index({outer, tuples, inner});
  Tensor output =
      Tensor::packed(input.type, all.size() > rank ? last_of(all, rank) : with_leading(all, rank));
  for (std::size_t i = 0; i < rank; ++i) {
    if (output.sizes[i] == 0) output.sizes[i] = 1;
  }
  output = Tensor::packed(input.type, output.sizes);
  std::size_t to = 0;
  for_each_index(all, [&](const Index& index) {
    Index from(index.begin(), index.begin() + at);
    const Index tuple(index.begin() + at,
                      index.begin() + at + static_cast<std::ptrdiff_t>(index_dimensions));
    from.push_back(clamped_place(indices, with_leading(tuple, rank), input.sizes[axis]));
    from.insert(from.end(), index.end() - static_cast<std::ptrdiff_t>(inner.size()), index.end());
    std::memcpy(&output.bytes[to], input.at(from), output.element_size());
    to += output.element_size();
  });
  return output;
}

inline Tensor gathered_elements(const Tensor& input, const Tensor& indices, std::size_t axis) {
  Tensor output = Tensor::packed(input.type, indices.sizes);
  for_each_index(indices.sizes, [&](const Index& to) {
    Index from = to;
    from[axis] = clamped_place(indices, to, input.sizes[axis]);
    std::memcpy(output.at(to), input.at(from), output.element_size());
  });
  return output;
}

/// What GATHER_ND, GATHER_ND1 and SCATTER_ND say about their dimensions.
struct Coordinates {
  std::size_t input_dimensions, indices_dimensions, batches = 0;

  /// The sizes of the picked blocks, with as many dimensions as the input.
  List picked_sizes(const List& input, const List& indices) const {
    const List counted = last_of(input, input_dimensions);
    List tuples = last_of(indices, indices_dimensions);
    const std::uint64_t coordinates = tuples.back();
    tuples.pop_back();
    const List rest(counted.begin() + static_cast<std::ptrdiff_t>(batches + coordinates),
                    counted.end());
    List sizes = joined_index({tuples, rest});
    while (sizes.size() < input.size()) sizes.insert(sizes.begin(), 1);
    return sizes;
  }

  /// Calls action(place in the input, place in the blocks) for each element of the blocks. The
  /// first is empty where an index is beyond its dimension and `clamps` is false.
  template <typename Action>
  void for_each(const Tensor& input, const Tensor& indices, bool clamps, Action&& action) const {
    const std::size_t rank = input.sizes.size();
    const List counted = last_of(input.sizes, input_dimensions);
    List tuples = last_of(indices.sizes, indices_dimensions);
    const std::uint64_t coordinates = tuples.back();
    tuples.pop_back();
    const auto tuple_rank = static_cast<std::ptrdiff_t>(tuples.size());
    const List rest(counted.begin() + static_cast<std::ptrdiff_t>(batches + coordinates),
                    counted.end());
    List all = joined_index({tuples, rest});
    const bool is_single = all.empty();
    if (is_single) all = {1};
    for_each_index(all, [&](const Index& each) {
      const Index tuple(each.begin(), each.begin() + tuple_rank);
      Index from(tuple.begin(), tuple.begin() + static_cast<std::ptrdiff_t>(batches));
      bool is_inside = true;
      for (std::uint64_t c = 0; c < coordinates; ++c) {
        const Index at = with_leading(joined_index({tuple, {c}}), rank);
        const std::uint64_t n = counted[batches + c];
        const auto place = place_among(index_at(indices, at), n, indices.type,
                                       clamps ? Beyond::low : Beyond::signed_low);
        is_inside = is_inside && (clamps || place);
        from.push_back(place.value_or(n - 1));
      }
      if (!is_single) from.insert(from.end(), each.begin() + tuple_rank, each.end());
      from = with_leading(from, rank);
      action(is_inside ? from : Index{}, with_leading(is_single ? Index{} : each, rank));
    });
  }

  Tensor gathered(const Tensor& input, const Tensor& indices) const {
    Tensor output = Tensor::packed(input.type, picked_sizes(input.sizes, indices.sizes));
    for_each(input, indices, true, [&](const Index& from, const Index& to) {
      std::memcpy(output.at(to), input.at(from), output.element_size());
    });
    return output;
  }

  Tensor scattered(const Tensor& input, const Tensor& indices, const Tensor& updates) const;
};

inline Tensor packed_copy_of(const Tensor& input) {
  Tensor output = Tensor::packed(input.type, input.sizes);
  for_each_index(input.sizes, [&](const Index& at) {
    std::memcpy(output.at(at), input.at(at), output.element_size());
  });
  return output;
}

/// Of updates of the same element the last one in row-major order stays.
inline Tensor Coordinates::scattered(const Tensor& input, const Tensor& indices,
                                     const Tensor& updates) const {
  Tensor output = packed_copy_of(input);
  for_each(input, indices, false, [&](const Index& to, const Index& from) {
    if (!to.empty()) std::memcpy(output.at(to), updates.at(from), output.element_size());
  });
  return output;
}

inline Tensor scattered_elements(const Tensor& input, const Tensor& indices, const Tensor& updates,
                                 std::size_t axis) {
  Tensor output = packed_copy_of(input);
  for_each_index(indices.sizes, [&](const Index& from) {
    const auto place =
        place_among(index_at(indices, from), input.sizes[axis], indices.type, Beyond::signed_low);
    if (!place) return;
    Index to = from;
    to[axis] = *place;
    std::memcpy(output.at(to), updates.at(from), output.element_size());
  });
  return output;
}

/// Off, and on where the index of a sequence along the axis points.
inline Tensor one_hot(const Tensor& indices, const std::byte* off, const std::byte* on,
                      DataType type, std::size_t axis, std::uint64_t size) {
  List sizes = indices.sizes;
  sizes[axis] = size;
  Tensor output = Tensor::packed(type, sizes);
  for_each_index(sizes, [&](const Index& to) {
    Index from = to;
    from[axis] = 0;
    const auto place = place_among(index_at(indices, from), size, indices.type, Beyond::nothing);
    std::memcpy(output.at(to), place == to[axis] ? on : off, output.element_size());
  });
  return output;
}

struct Nonzero {
  Tensor count, coordinates;

  /// Rows of the last `length` coordinates; zeros behind the last one.
  static Nonzero of(const Tensor& input, std::size_t length) {
    std::uint64_t elements = 1;
    for (const std::uint64_t size : input.sizes) elements *= size;
    Nonzero result{Tensor::packed(DataType::UInt32, {1}),
                   Tensor::packed(DataType::UInt32, {elements, length})};
    std::uint32_t row = 0;
    for_each_index(input.sizes, [&](const Index& index) {
      std::vector<std::byte> element(input.at(index), input.at(index) + input.element_size());
      // The sign of a zero does not count.
      if (info(input.type).kind == NumberKind::floating) element.back() &= std::byte{0x7f};
      if (element == std::vector<std::byte>(element.size())) return;
      for (std::size_t i = 0; i < length; ++i) {
        const auto coordinate = static_cast<std::uint32_t>(index[index.size() - length + i]);
        std::memcpy(result.coordinates.at({row, i}), &coordinate, sizeof coordinate);
      }
      ++row;
    });
    std::memcpy(result.count.bytes.data(), &row, sizeof row);
    return result;
  }
};

}  // namespace dmlop::test
