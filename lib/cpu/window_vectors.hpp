// What windows do with rows and columns of numbers side by side (cpu/window.cpp): the part that is
// compiled for every instruction set. All give the same bits, those of the plain loops that stand
// in the comments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/data_type.hpp"

namespace dmlop::cpu {

/// There is room for so many more numbers behind the columns and the results: whole vectors of them
/// are read and written.
inline constexpr std::size_t window_slack = 64;

/// Packed elements of an input row, and what they are multiplied by. The memory is asked for as
/// many from `next` on, a few at a time: those of a row that is needed soon, or the same.
struct WeighedRow {
  const std::byte* from;
  double weight;
  const std::byte* next;
};

/// columns[c] += rows[r].weight * element c of row r, one row after the other, for c < count. Where
/// they are fresh, columns are 0 before. FLOAT32 and FLOAT16.
void add_rows(DataType type, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
              double* columns);

/// columns[c] becomes element c of row r where that is greater, as above; before, fresh ones are
/// minus infinity.
void raise_to_rows(DataType type, std::span<const WeighedRow> rows, bool fresh, std::size_t count,
                   float* columns);

/// Windows side by side: window i has columns i * stride + k * dilation for k < size.
struct EvenWindows {
  std::size_t size = 1;
  std::size_t stride = 1;  // or 2 without a dilation
  std::size_t dilation = 1;
};

/// The sum of each window's columns, and the largest of them, in their order. No column is -0 for
/// sums, or NaN for maxima.
void add_columns(const EvenWindows& windows, const double* columns, std::size_t count,
                 double* sums);
void raise_to_columns(const EvenWindows& windows, const float* columns, std::size_t count,
                      float* maxima);

/// sums[2 * i + j] = weights[2 * j] * columns[i] + weights[2 * j + 1] * columns[i + 1] for
/// i < pairs and j < 2. No product is -0.
void blend_pairs(const std::array<double, 4>& weights, const double* columns, std::size_t pairs,
                 double* sums);

/// Rounds sums[i] / divisor to elements: FLOAT32 or FLOAT16.
void store_means(DataType type, const double* sums, double divisor, std::size_t count,
                 std::byte* to);

/// to[2 * i] = to[2 * i + 1] = from[i] for i < pairs: elements of 1, 2 or 4 bytes.
void copy_twice(std::size_t element_size, const std::byte* from, std::size_t pairs, std::byte* to);

}  // namespace dmlop::cpu
