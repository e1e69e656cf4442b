#include "tensor/numpy_words.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace dmlop {

std::string numpy_name(DataType type) {
  return "numpy." + lower_case(std::string(name_of(stored_as(type))));
}

Alternative casting(DataType type, Alternative then) {
  std::string_view rest = then.value;
  if (rest.starts_with("array")) rest.remove_prefix(std::string_view("array").size());
  return {.kind = Alternative::Kind::save,
          .value = "array.astype(" + numpy_name(type) + ")" + std::string(rest)};
}

namespace {

std::string reshape(const Sizes& sizes) {
  const std::string list = list_of(sizes);
  return ".reshape(" + list.substr(1, list.size() - 2) + ")";
}

}  // namespace

Alternative reshaping(const Sizes& sizes) {
  return {.kind = Alternative::Kind::save, .value = "array" + reshape(sizes)};
}

Alternative transposing(const std::vector<std::size_t>& order, const Sizes& reshaped) {
  std::vector<std::string> names;
  for (const std::size_t dimension : order) names.push_back(std::to_string(dimension));
  return {.kind = Alternative::Kind::save,
          .value =
              "array.transpose(" + join(names) + ")" + (reshaped.empty() ? "" : reshape(reshaped))};
}

Alternative broadcasting(const Sizes& sizes) {
  const std::string list = list_of(sizes);
  return {.kind = Alternative::Kind::save,
          .value = "numpy.broadcast_to(array, (" + list.substr(1, list.size() - 2) +
                   (sizes.size() == 1 ? ",))" : "))")};
}

bool are_stretched(const Sizes& from, const Sizes& to) {
  if (from.size() > to.size()) return false;
  const auto last = to.end() - static_cast<std::ptrdiff_t>(from.size());
  return std::equal(from.begin(), from.end(), last, [](std::uint64_t size, std::uint64_t wanted) {
    return size == wanted || size == 1;
  });
}

std::vector<std::vector<std::size_t>> other_orders(std::size_t dimensions) {
  switch (dimensions) {
    case 2:
      return {{1, 0}};
    case 3:
      return {{0, 2, 1}, {2, 0, 1}};
    case 4:  // NHWC, HWIO, the same of depthwise filters, and a matrix at the end
      return {{0, 3, 1, 2}, {3, 2, 0, 1}, {2, 3, 0, 1}, {0, 1, 3, 2}};
    case 5:
      return {{0, 4, 1, 2, 3}, {4, 3, 0, 1, 2}, {0, 1, 2, 4, 3}};
    default:
      return {};
  }
}

Sizes in_order(const Sizes& sizes, const std::vector<std::size_t>& order) {
  Sizes result;
  for (const std::size_t dimension : order) result.push_back(sizes.at(dimension));
  return result;
}

bool is_transposed(const Sizes& from, const Sizes& to) {
  const Sizes a = without_ones(from), b = without_ones(to);
  return a != b && std::is_permutation(a.begin(), a.end(), b.begin(), b.end());
}

Alternative rearranging(const Sizes& from, const Sizes& to) {
  const bool may_be_transposed = from.size() == to.size() && is_transposed(from, to) &&
                                 std::is_permutation(from.begin(), from.end(), to.begin());
  if (!may_be_transposed) return reshaping(to);
  for (const auto& order : other_orders(from.size())) {
    if (in_order(from, order) == to) return transposing(order);
  }
  std::vector<std::size_t> order;
  for (const std::uint64_t size : to) {
    const auto is_next = [&](std::size_t i) {
      return from[i] == size && std::find(order.begin(), order.end(), i) == order.end();
    };
    std::size_t next = 0;
    while (!is_next(next)) ++next;
    order.push_back(next);
  }
  return transposing(order);
}

bool are_merged(const Sizes& a, const Sizes& b) {
  const auto elements_before = [](const Sizes& sizes) {
    std::set<std::uint64_t> counts{1};
    std::uint64_t count = 1;
    for (const std::uint64_t size : sizes) counts.insert(count *= size);
    return counts;
  };
  const auto of_a = elements_before(a), of_b = elements_before(b);
  return std::ranges::includes(of_a, of_b) || std::ranges::includes(of_b, of_a);
}

Sizes without_ones(Sizes sizes) {
  std::erase(sizes, 1U);
  return sizes;
}

Sizes with_dimensions(const Sizes& sizes, std::size_t count) {
  Sizes result = sizes;
  while (result.size() < count) result.insert(result.begin(), 1);
  while (result.size() > count && result.size() > 1) {
    result[1] *= result[0];
    result.erase(result.begin());
  }
  return result;
}

}  // namespace dmlop
