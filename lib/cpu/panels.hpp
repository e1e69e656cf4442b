// Products of packed panels: the SIMD part of matrix products. A panel has some rows of the left
// matrix, or columns of the right one, for a stretch of the sum: element k of line i stands at
// k * width + i.
//
// Sums are in T for at most sum_block elements; the sums of such blocks are added in double. Float
// holds the products of 8-bit integers less their zero points, and the sums of a block of them,
// without error.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/threshold.hpp"

namespace dmlop::cpu {

/// Elements of a sum that are added in T.
inline constexpr Threshold sum_block{256, 7};
/// Rows of the left matrix in a panel, on this machine and at most.
std::size_t panel_rows();
inline constexpr std::size_t most_panel_rows = 12;
/// The most rows whose products read columns where they are. There are at most streamed_columns.
inline constexpr std::size_t streamed_rows = 4;
inline constexpr std::size_t streamed_columns = 512;
/// Columns of the right matrix in a panel, on this machine. T is float or double.
template <typename T>
std::size_t panel_columns();

/// What is added to sums: a number to all of a row, or an element to each.
struct AddedToSums {
  const double* numbers = nullptr;  // of each row; null: none
  const float* elements = nullptr;  // side by side in each row; null: none
  std::size_t pitch = 0;            // from row to row of the elements
  double factor = 1;                // of the elements
};

/// The panels of a block of both matrices, and where the sums of all their pairs go.
template <typename T>
struct PanelProduct {
  const T* left = nullptr;   // panels of panel_rows() rows, one after the other
  std::size_t rows = 0;      // of all of them
  const T* right = nullptr;  // panels of panel_columns() columns, or rows
  std::size_t columns = 0;   // of all of them
  std::size_t depth = 0;     // elements of the sums, at most sum_block
  double* sums = nullptr;    // room for whole panels of rows and columns
  std::size_t pitch = 0;     // from row to row of the sums, at least whole panels of columns
  bool is_first = true;      // stores the sums; otherwise adds them to what is there

  /// If not 0, the rows are no panels: element k of row r is left[r * left_stride + k].
  std::size_t left_stride = 0;
  /// If not 0, the columns are no panels: element k of column c is right[k * right_stride + c].
  /// Only for at most streamed_rows rows, fewer than make it worth to pack the columns.
  std::size_t right_stride = 0;
  /// If not null, the columns are no panels: element k of column c is right[right_places[k] + c],
  /// and may be read for whole panels. T is float.
  const std::uint32_t* right_places = nullptr;
  /// If not null, these are the last elements: what the sums come to, times the factor and plus
  /// what is added, is rounded and goes there instead.
  float* rounded = nullptr;
  std::size_t rounded_pitch = 0;  // from row to row; nothing is written behind the last column
  double factor = 1;
  AddedToSums added = {};
};

template <typename T>
void multiply_panels(const PanelProduct<T>& product);

/// Puts lines into a panel of `width` lines; line i begins at from + i * stride. Those that the
/// panel has beyond `lines` stay as they are.
template <typename T>
void transpose_lines(const T* from, std::uint64_t stride, std::size_t lines, std::size_t depth,
                     std::size_t width, T* panel);

/// Numbers side by side whose mask has all bits set, 0 for those whose mask has none, as a row of
/// `panels` panels of panel_columns(), `stride` numbers apart.
void copy_masked(const float* from, const std::uint32_t* mask, std::size_t panels,
                 std::size_t stride, float* to);

}  // namespace dmlop::cpu
