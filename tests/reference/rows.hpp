// The operators over rows by their definitions, in double precision: plain loops over flat lists of
// numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test::rows {

using Numbers = std::vector<double>;
using Row = std::vector<std::uint64_t>;  // places in a flat list

/// The numbers of a FLOAT32 or FLOAT16 tensor in row-major order of `sizes`; where the
/// tensor has size 1, it repeats.
inline Numbers numbers_of(const Tensor& tensor, const List& sizes) {
  Numbers numbers;
  for_each_index(sizes, [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] %= tensor.sizes[i];
    numbers.push_back(number(tensor.type, tensor.at(index)));
  });
  return numbers;
}
inline Numbers numbers_of(const Tensor& tensor) {
  return numbers_of(tensor, tensor.sizes);
}

inline Tensor tensor_of(DataType type, const List& sizes, const Numbers& numbers) {
  Tensor tensor = Tensor::packed(type, sizes);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(&tensor.bytes[i * size_of(type)], element(type, numbers[i]).data(), size_of(type));
  return tensor;
}

/// The rows along some axes, in the order of what they are reduced to.
inline std::vector<Row> rows_of(const List& sizes, const std::vector<std::size_t>& axes) {
  std::map<Index, Row> rows;
  std::uint64_t place = 0;
  for_each_index(sizes, [&](Index index) {
    for (const std::size_t axis : axes) index[axis] = 0;
    rows[index].push_back(place++);
  });
  std::vector<Row> result;
  for (auto& [index, row] : rows) result.push_back(std::move(row));
  return result;
}

inline List reduced_sizes(List sizes, const std::vector<std::size_t>& axes) {
  for (const std::size_t axis : axes) sizes[axis] = 1;
  return sizes;
}

inline double sum_of(const Row& row, const std::function<double(std::uint64_t)>& term) {
  double sum = 0;
  for (const std::uint64_t place : row) sum += term(place);
  return sum;
}

/// NaN is skipped.
inline double largest_of(const Row& row, const Numbers& x) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const std::uint64_t place : row) {
    if (x[place] > largest) largest = x[place];
  }
  return largest;
}

/// Where the extreme of a row stands: the first or last of equal ones. A first NaN stays, any other
/// is skipped.
template <typename T>
std::uint64_t index_of_extreme(const std::vector<T>& row, bool is_maximum, bool is_last) {
  std::uint64_t best = 0;
  for (std::uint64_t i = 1; i < row.size(); ++i) {
    const bool is_better = is_maximum ? row[i] > row[best] : row[i] < row[best];
    if (is_better || (is_last && row[i] == row[best])) best = i;
  }
  return best;
}

/// DML_OPERATOR_REDUCE of floats, without the functions that find an index.
inline double reduced(const std::string& function, const Numbers& x, const Row& row) {
  const auto sum = [&](auto term) {
    return sum_of(row, [&](std::uint64_t place) { return term(x[place]); });
  };
  const auto square = [](double a) { return a * a; };
  const auto itself = [](double a) { return a; };
  if (function == "SUM") return sum(itself);
  if (function == "AVERAGE") return sum(itself) / static_cast<double>(row.size());
  if (function == "L1") return sum([](double a) { return std::abs(a); });
  if (function == "SUM_SQUARE") return sum(square);
  if (function == "L2") return std::sqrt(sum(square));
  if (function == "LOG_SUM") return std::log(sum(itself));
  if (function == "LOG_SUM_EXP") return std::log(sum([](double a) { return std::exp(a); }));
  if (function == "MAX") return largest_of(row, x);
  if (function == "MIN") {
    Numbers negated = x;
    for (double& a : negated) a = -a;
    return -largest_of(row, negated);
  }
  double product = 1;
  for (const std::uint64_t place : row) product *= x[place];
  return product;
}

/// The same of integers, which wrap; T is the elements' type.
template <typename T>
T reduced_integers(const std::string& function, const std::vector<T>& row) {
  using Unsigned = std::make_unsigned_t<T>;
  if (function == "MAX") return *std::max_element(row.begin(), row.end());
  if (function == "MIN") return *std::min_element(row.begin(), row.end());
  std::uint64_t result = function == "MULTIPLY" ? 1 : 0;
  for (const T a : row) {
    const std::uint64_t value = static_cast<Unsigned>(a);
    if (function == "SUM") result += value;
    if (function == "L1") result += a < 0 ? 0 - value : value;
    if (function == "SUM_SQUARE") result += value * value;
    if (function == "MULTIPLY") result *= value;
  }
  return static_cast<T>(static_cast<Unsigned>(result));
}

/// ACTIVATION_SOFTMAX1, LOG_SOFTMAX1 and HARDMAX1.
inline Numbers softmax(const std::string& function, const Numbers& x,
                       const std::vector<Row>& rows) {
  Numbers y(x.size());
  for (const Row& row : rows) {
    const double largest = largest_of(row, x);
    const double sum =
        sum_of(row, [&](std::uint64_t place) { return std::exp(x[place] - largest); });
    Numbers values;
    for (const std::uint64_t place : row) values.push_back(x[place]);
    const std::uint64_t first = index_of_extreme(values, true, false);
    for (std::uint64_t i = 0; i < row.size(); ++i) {
      const double shifted = x[row[i]] - largest;
      y[row[i]] = function == "SOFTMAX"       ? std::exp(shifted) / sum
                  : function == "LOG_SOFTMAX" ? shifted - std::log(sum)
                                              : static_cast<double>(i == first);
    }
  }
  return y;
}

struct Statistics {
  Numbers mean, variance;  // for each element those of its row
};

/// The biased variance is about the mean, or about 0.
inline Statistics statistics(const Numbers& x, const std::vector<Row>& rows,
                             bool uses_mean = true) {
  Statistics result{Numbers(x.size()), Numbers(x.size())};
  for (const Row& row : rows) {
    const auto count = static_cast<double>(row.size());
    const double sum = sum_of(row, [&](std::uint64_t place) { return x[place]; });
    const double mean = uses_mean ? sum / count : 0;
    const double squares =
        sum_of(row, [&](std::uint64_t place) { return (x[place] - mean) * (x[place] - mean); });
    for (const std::uint64_t place : row) {
      result.mean[place] = mean;
      result.variance[place] = squares / count;
    }
  }
  return result;
}

/// For each element the sum of its row.
inline Numbers row_sums(const std::vector<Row>& rows, std::size_t count,
                        const std::function<double(std::uint64_t)>& term) {
  Numbers sums(count);
  for (const Row& row : rows) {
    const double sum = sum_of(row, term);
    for (const std::uint64_t place : row) sums[place] = sum;
  }
  return sums;
}

/// The sum over the window of LOCAL_RESPONSE_NORMALIZATION at each element. `is_mirrored`: over all
/// elements whose windows hold it.
inline Numbers window_sums(const Numbers& x, const List& sizes, std::int64_t size,
                           bool is_cross_channel, bool is_mirrored = false) {
  const auto at = [&](const List& index) {
    return ((index[0] * sizes[1] + index[1]) * sizes[2] + index[2]) * sizes[3] + index[3];
  };
  const auto is_in_window = [&](std::uint64_t i, std::uint64_t j) {
    if (is_mirrored) std::swap(i, j);
    const auto distance = static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i);
    return -(size - 1 - size / 2) <= distance && distance <= size / 2;
  };
  Numbers sums(x.size());
  for_each_index(sizes, [&](const Index& i) {
    for_each_index(sizes, [&](const Index& j) {
      if (i[0] != j[0]) return;
      const bool is_inside =
          is_cross_channel ? is_in_window(i[1], j[1]) && i[2] == j[2] && i[3] == j[3]
                           : i[1] == j[1] && is_in_window(i[2], j[2]) && is_in_window(i[3], j[3]);
      if (is_inside) sums[at(i)] += x[at(j)];
    });
  });
  return sums;
}

}  // namespace dmlop::test::rows
