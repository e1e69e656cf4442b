// Products of 8-bit matrices by instructions that add four products of bytes at a time, where the
// processor has them (AVX-512 VNNI); elsewhere such products are computed as floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/scratch.hpp"

namespace dmlop::cpu {

/// Whether this processor can, and tests have not turned AVX-512 off.
bool multiplies_bytes();

/// Lines of bytes: rows of the left matrix, columns of the right one.
struct ByteLines {
  const std::byte* data;  // of line 0
  std::uint64_t line_stride, depth_stride;
  bool is_signed;
};

/// Columns of the right matrix that are read as they are needed: bytes [k, k + count) of all of
/// them, as lines `pitch` bytes apart.
struct ByteReader {
  std::function<void(std::uint64_t k, std::size_t count, std::size_t pitch, std::byte* to)> read;
  bool is_signed;
};

/// The sums of bytes are those of the left matrix as unsigned numbers, 128 more where they have a
/// sign, and of the right one as signed numbers, 128 less where they have none.
class ByteProduct {
 public:
  /// Where sums go: row after row, with room for whole panels.
  struct Sums {
    double* to;
    std::size_t pitch;
  };

  /// Sums of all pairs of lines over `depth` bytes. Errors: as check_for_stop().
  void run(const ByteLines& left, std::size_t rows, const ByteLines& right, std::size_t columns,
           std::uint64_t depth, const Sums& sums);
  void run(const ByteLines& left, std::size_t rows, const ByteReader& right, std::size_t columns,
           std::uint64_t depth, const Sums& sums);

  /// The sums of each line of the last run.
  const std::vector<double>& left_sums() const { return left_sums_; }
  const std::vector<double>& right_sums() const { return right_sums_; }

 private:
  std::vector<double> left_sums_, right_sums_;
  template <typename Pack>
  void run_packed(const ByteLines& left, std::size_t rows, bool is_right_signed,
                  std::size_t columns, std::uint64_t depth, const Sums& sums, Pack&& pack_right);

  GrowingScratch left_memory_, right_memory_, line_memory_;
};

}  // namespace dmlop::cpu
