// How products are cut into parts for threads (cpu/product_parts.cpp).
#include <doctest/doctest.h>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "cpu/block_product.hpp"
#include "cpu/kinds.hpp"
#include "cpu/panels.hpp"

namespace dmlop::test::product_parts_test {

TEST_CASE("product parts: one block more than threads does not keep the others waiting") {
  const std::uint64_t threads = hardware_threads();
  if (threads == 1) return;
  constexpr std::uint64_t unit = 32;
  const std::uint64_t most_columns = cpu::columns_at_once, most_rows = cpu::most_rows(unit);
  // Rows of one panel, which are cut along columns, and the other way around.
  for (const bool has_columns : {true, false}) {
    CAPTURE(has_columns);
    const std::uint64_t rows = has_columns ? cpu::panel_rows() : most_rows * (threads + 1);
    const std::uint64_t columns = has_columns ? most_columns * (threads + 1) - 5 : unit;
    constexpr std::uint64_t depth = 1000;
    ProductKernel kernel{.batches = {1}, .rows = rows, .columns = columns, .depth = depth};
    kernel.left = {.data_type = DataType::Float32, .batch_strides = {0}, .row_stride = depth};
    kernel.left_depth_stride = 1;
    kernel.right = {.data_type = DataType::Float32, .batch_strides = {0}, .column_stride = 1};
    kernel.right_depth_stride = columns;
    const cpu::PartShape shape = cpu::part_shape(kernel, 0);
    REQUIRE(shape.blocks);
    const std::uint64_t block_rows = shape.blocks->ranges, block_columns = shape.blocks->length;
    CHECK(block_rows % cpu::panel_rows() == 0);
    CHECK(block_columns % unit == 0);
    // Cut into as few blocks as there can be, one thread has two of them.
    const std::uint64_t parts = divided_up(rows, block_rows) * divided_up(columns, block_columns);
    const std::uint64_t of_thread = divided_up(parts, threads) * block_rows * block_columns;
    const std::uint64_t of_largest = has_columns ? rows * most_columns : most_rows * columns;
    CHECK(of_thread * 10 < of_largest * 2 * 8);
  }
}

}  // namespace dmlop::test::product_parts_test
