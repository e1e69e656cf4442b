#include "fixes/array_changes.hpp"

#include "tensor/numpy_words.hpp"

namespace dmlop {

std::optional<Sizes> channel_sizes(const Sizes& sizes, std::size_t dimensions) {
  constexpr std::size_t fewest_of_images = 3;
  if (sizes.size() != 1 || sizes.front() == 1 || dimensions < fewest_of_images) return std::nullopt;
  Sizes result(dimensions, 1);
  result[1] = sizes.front();
  return result;
}

std::vector<ArrayChange> likely_changes(const Sizes& sizes, std::size_t dimensions) {
  std::vector<ArrayChange> changes;
  const std::size_t count = sizes.size();
  const auto add = [&](const Sizes& shape, Alternative words) {
    changes.push_back({.sizes = shape, .words = std::move(words)});
  };
  const Sizes numbers = without_ones(sizes);
  if (const auto channels = channel_sizes(numbers, dimensions);
      channels && *channels != sizes && count <= dimensions)
    add(*channels, reshaping(*channels));
  if (count < dimensions) {
    const Sizes shape = with_dimensions(sizes, dimensions);
    add(shape, reshaping(shape));
  }
  // An image without a batch has one dimension fewer.
  if (count == dimensions || count + 1 == dimensions) {
    for (const auto& order : other_orders(count)) {
      const Sizes ordered = in_order(sizes, order), shape = with_dimensions(ordered, dimensions);
      if (!is_transposed(sizes, ordered)) continue;
      add(shape, count == dimensions ? transposing(order) : transposing(order, shape));
      changes.back().is_transposed = true;
    }
  }
  if (count > dimensions && dimensions == 2) {
    Sizes rows{1, sizes.back()};
    for (std::size_t i = 0; i + 1 < count; ++i) rows[0] *= sizes[i];
    add(rows, reshaping(rows));
  }
  return changes;
}

std::vector<ArrayChanges> ways_to_change(std::span<const AlikeArrays> arrays, std::size_t count,
                                         std::size_t dimensions) {
  if (count == 0) return {{}};
  if (arrays.size() < count) return {};
  const AlikeArrays& first = arrays.front();
  std::vector<ArrayChanges> ways;
  for (const ArrayChanges& others : ways_to_change(arrays.subspan(1), count - 1, dimensions)) {
    for (const ArrayChange& change : likely_changes(first.sizes, dimensions)) {
      ways.push_back({{first, change}});
      ways.back().insert(ways.back().end(), others.begin(), others.end());
    }
  }
  for (ArrayChanges& way : ways_to_change(arrays.subspan(1), count, dimensions))
    ways.push_back(std::move(way));
  return ways;
}

}  // namespace dmlop
