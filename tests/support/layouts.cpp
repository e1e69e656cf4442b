#include "layouts.hpp"

#include <algorithm>
#include <numeric>

namespace dmlop::test {
namespace {

bool is_constant_along(const Tensor& tensor, std::size_t dimension) {
  bool is_constant = true;
  for_each_index(tensor.sizes, [&](Index index) {
    const std::byte* element = tensor.at(index);
    index[dimension] = 0;
    const std::byte* first = tensor.at(index);
    is_constant = is_constant && std::equal(element, element + tensor.element_size(), first);
  });
  return is_constant;
}

/// The dimensions, the fastest first.
std::vector<std::size_t> random_order(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.rbegin(), order.rend(), 0);
  if (random.one_in(2)) return order;
  for (std::size_t i = count; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

}  // namespace

Tensor relaid(const Tensor& tensor, Random& random) {
  constexpr std::byte gap{0xC5};
  const bool has_gaps = random.one_in(2);
  List strides(tensor.sizes.size(), 0);
  std::uint64_t next = has_gaps && random.one_in(2) ? random.from_to(2, 3) : 1;
  for (const std::size_t i : random_order(strides.size(), random)) {
    if (tensor.sizes[i] == 1) {
      strides[i] = random.below(5);
    } else if (random.one_in(2) || !is_constant_along(tensor, i)) {
      strides[i] = next;
      next = next * tensor.sizes[i] + (has_gaps ? random.below(3) : 0);
    }
  }
  Tensor copy = Tensor::strided(tensor.type, tensor.sizes, strides);
  std::fill(copy.bytes.begin(), copy.bytes.end(), gap);
  for_each_index(tensor.sizes, [&](const Index& index) {
    std::copy_n(tensor.at(index), tensor.element_size(), copy.at(index));
  });
  return copy;
}

}  // namespace dmlop::test
