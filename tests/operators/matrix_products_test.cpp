// DML_OPERATOR_GEMM, MATRIX_MULTIPLY_INTEGER, MATRIX_MULTIPLY_INTEGER_TO_FLOAT and
// QUANTIZED_LINEAR_MATRIX_MULTIPLY. Numbers are so small that every sum is exact.
#include "reference/matrix_products.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "cpu/block_product.hpp"
#include "gemm_case.hpp"
#include "plan_case.hpp"
#include "small_numbers.hpp"
#include "sweep.hpp"

namespace dmlop::test::matrix_products_test {
namespace {

const std::vector<DataType> float_types{DataType::Float32, DataType::Float16};
const std::vector<DataType> byte_types{DataType::Int8, DataType::UInt8};

void check_gemm(const MatrixProduct& product) {
  check_plan_case(gemm_case(product, product.result(product.a.type)));
}

/// The sizes of matrices {rows, columns}, or of its transpose, behind those of a batch.
List matrix_sizes(List batch, std::uint64_t rows, std::uint64_t columns, bool transposed = false) {
  batch.push_back(transposed ? columns : rows);
  batch.push_back(transposed ? rows : columns);
  return batch;
}

List random_batch(Random& random) {
  List batch;
  for (std::uint64_t i = random.below(3); i > 0; --i) batch.push_back(random.from_to(1, 3));
  return batch;
}

TEST_CASE("GEMM: rows times columns, scaled, plus what is to be added") {
  MatrixProduct product{.a = floats({2, 3}, {1, 2, 3, 4, 5, 6}),
                        .b = floats({3, 2}, {1, 0, 0, 1, 1, 1}),
                        .alpha = 0.5,
                        .c = floats({2, 2}, {10, 20, 30, 40}),
                        .beta = 2};
  check_plan_case(gemm_case(product, floats({2, 2}, {22, 42.5, 65, 85.5})));
  product.transposes_a = product.transposes_b = true;
  product.a = floats({3, 2}, {1, 4, 2, 5, 3, 6});
  product.b = floats({2, 3}, {1, 0, 1, 0, 1, 1});
  check_plan_case(gemm_case(product, floats({2, 2}, {22, 42.5, 65, 85.5})));
}

TEST_CASE("GEMM: random matrices of all layouts") {
  Random random(51);
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of(float_types);
    const List batch = random_batch(random);
    const std::uint64_t rows = random.from_to(1, 14), columns = random.from_to(1, 40);
    const std::uint64_t depth = random.from_to(1, 12);
    MatrixProduct product;
    product.transposes_a = random.one_in(2);
    product.transposes_b = random.one_in(2);
    product.a =
        small_numbers(type, matrix_sizes(batch, rows, depth, product.transposes_a), random, 0.5);
    product.b =
        small_numbers(type, matrix_sizes(batch, depth, columns, product.transposes_b), random, 0.5);
    product.alpha = random.one_in(2) ? 1 : -0.5;
    if (random.one_in(2)) {
      product.c = small_numbers(type, matrix_sizes(batch, rows, columns), random);
      product.beta = random.one_in(2) ? 1 : 2;
    }
    check_gemm(product);
  }
}

// Longer than what is summed, packed or computed at once, on every side.
TEST_CASE("GEMM: long rows, columns and sums") {
  Random random(52);
  struct Shape {
    std::uint64_t rows, columns, depth;
  };
  for (const Shape& shape : {Shape{3, 1100, 7}, {500, 3, 9}, {9, 40, 1500}, {250, 530, 2}}) {
    for (const bool transposes : {false, true}) {
      MatrixProduct product{.transposes_a = transposes, .transposes_b = !transposes};
      product.a = small_numbers(DataType::Float32,
                                matrix_sizes({}, shape.rows, shape.depth, transposes), random);
      product.b = small_numbers(DataType::Float32,
                                matrix_sizes({}, shape.depth, shape.columns, !transposes), random);
      check_gemm(product);
    }
  }
}

// --- sides of the CPU's blocks

struct BlockShape {
  std::uint64_t rows, columns, depth;
};

// As many rows, columns and terms as the CPU takes at once, and one more; as many rows as read
// columns where they are, and one more.
const std::vector<BlockShape> block_shapes{{cpu::most_rows(3), 3, 5},
                                           {cpu::most_rows(3) + 1, 3, 5},
                                           {cpu::rows_at_once, cpu::columns_at_once / 2 + 1, 2},
                                           {cpu::rows_at_once + 1, cpu::columns_at_once / 2 + 1, 2},
                                           {cpu::streamed_rows, cpu::columns_at_once, 3},
                                           {cpu::streamed_rows, cpu::columns_at_once + 1, 3},
                                           {cpu::streamed_rows + 1, cpu::columns_at_once + 1, 3},
                                           {cpu::streamed_rows, 9, cpu::sum_block},
                                           {cpu::streamed_rows, 9, cpu::sum_block + 1},
                                           {cpu::streamed_rows + 1, 9, cpu::sum_block + 1}};

TEST_CASE(
    "GEMM: either side of the CPU's blocks, in both types, with rows side by side and apart") {
  if (is_gpu_asked_for()) return;
  Random random(59);
  for (const DataType type : float_types) {
    for (const BlockShape& shape : block_shapes) {
      CAPTURE(shape.rows);
      CAPTURE(shape.columns);
      CAPTURE(shape.depth);
      for (const std::uint64_t gap : {0, 3}) {
        const List right{shape.depth, shape.columns};
        const Tensor b = Tensor::strided(type, right, {shape.columns + gap, 1});
        check_gemm({.a = small_numbers(type, {shape.rows, shape.depth}, random),
                    .b = with_small_numbers(b, random)});
      }
    }
  }
}

TEST_CASE("GEMM: C repeats its rows, columns or batches, or has gaps") {
  Random random(64);
  const List sizes{2, 3, 70, 44};
  for (const DataType type : float_types) {
    for (const List& strides : std::vector<List>{{0, 0, 0, 1},
                                                 {0, 0, 1, 0},
                                                 {0, 0, 0, 0},
                                                 {132, 44, 0, 1},
                                                 {0, 70, 1, 0},
                                                 {0, 0, 44, 1},
                                                 {9870, 3290, 47, 1},
                                                 {1, 2, 6, 420}}) {
      CAPTURE(strides);
      const Tensor c = with_small_numbers(Tensor::strided(type, sizes, strides), random);
      for (const double alpha : {1.0, -0.5}) {
        check_gemm({.a = small_numbers(type, {2, 3, 70, 9}, random),
                    .b = small_numbers(type, {2, 3, 9, 44}, random),
                    .alpha = alpha,
                    .c = c,
                    .beta = 2});
      }
    }
  }
}

// Rows that overlap cannot be read where they are.
TEST_CASE("GEMM: few rows times columns that overlap") {
  Random random(60);
  for (const std::uint64_t rows :
       {std::uint64_t{1}, std::uint64_t{cpu::streamed_rows}, std::uint64_t{9}}) {
    const Tensor b = Tensor::strided(DataType::Float32, {5, 40}, {7, 1});
    check_gemm({.a = small_numbers(DataType::Float32, {rows, 5}, random),
                .b = with_small_numbers(b, random)});
  }
}

// A GPU has four at a time, in groups of 64 columns, or of 8 where it reads along the sum.
TEST_CASE("GEMM: few rows of whole vectors, along columns and along sums") {
  Random random(61);
  struct Shape {
    std::uint64_t rows, columns, depth, gap = 0, matrices = 1;
  };
  for (const Shape& shape : {Shape{1, 4, 64},
                             {1, 68, 132},
                             {2, 12, 260, 4},
                             {4, 64, 2052},
                             {5, 132, 512, 0, 3},
                             {8, 20, 1028, 8, 2},
                             {13, 68, 128},
                             {17, 68, 128},
                             {3, 66, 128},
                             {3, 68, 130},
                             {3, 68, 128, 2}}) {
    CAPTURE(shape.rows);
    CAPTURE(shape.columns);
    CAPTURE(shape.depth);
    for (const DataType type : float_types) {
      for (const bool transposes : {false, true}) {
        const auto matrix = [&](std::uint64_t rows, std::uint64_t columns) {
          const std::uint64_t pitch = columns + shape.gap;
          return with_small_numbers(
              Tensor::strided(type, {shape.matrices, rows, columns}, {rows * pitch, pitch, 1}),
              random);
        };
        MatrixProduct product{.a = matrix(shape.rows, shape.depth),
                              .b = transposes ? matrix(shape.columns, shape.depth)
                                              : matrix(shape.depth, shape.columns),
                              .transposes_b = transposes,
                              .alpha = 0.5};
        product.c = small_numbers(type, {shape.matrices, shape.rows, shape.columns}, random);
        product.beta = 2;
        check_gemm(product);
      }
    }
  }
}

// So many that a GPU gives each group of threads a large part of a matrix; rows of 65 elements end
// within 16 bytes.
TEST_CASE("GEMM: many matrices") {
  Random random(57);
  for (const std::uint64_t columns : {std::uint64_t{65}, std::uint64_t{68}}) {
    check_gemm({.a = small_numbers(DataType::Float32, {96, 65, 9}, random),
                .b = small_numbers(DataType::Float32, {96, 9, columns}, random)});
  }
}

// A GPU reads four elements at once where all rows begin at a multiple of 16 bytes.
TEST_CASE("GEMM: matrices of whole vectors") {
  Random random(58);
  struct Shape {
    std::uint64_t matrices, rows, depth;
    bool transposes_a, transposes_b;
  };
  for (const Shape& shape : {Shape{2, 68, 20, false, false},
                             {2, 68, 20, true, true},
                             {96, 68, 20, true, false},
                             {96, 68, 20, false, true},
                             {96, 12, 8, true, true},
                             {96, 13, 36, false, false},
                             {96, 68, 32, false, false},
                             {2, 68, 32, true, false}}) {
    CAPTURE(shape.matrices);
    CAPTURE(shape.rows);
    const List batch{shape.matrices};
    const auto packed = [&](const List& sizes) {
      return with_small_numbers(Tensor::packed(DataType::Float32, sizes), random);
    };
    check_gemm({.a = packed(matrix_sizes(batch, shape.rows, shape.depth, shape.transposes_a)),
                .b = packed(matrix_sizes(batch, shape.depth, 72, shape.transposes_b)),
                .transposes_a = shape.transposes_a,
                .transposes_b = shape.transposes_b});
  }
}

TEST_CASE("GEMM: a sum of more ones than FLOAT32 can count") {
  constexpr std::uint64_t count = (1 << 24) + 2;
  const Tensor one{DataType::Float32, {1, count}, {0, 0}, element_bytes(1.0F)};
  const Tensor ones{DataType::Float32, {count, 1}, {0, 0}, element_bytes(1.0F)};
  check_plan_case(gemm_case({.a = one, .b = ones}, floats({1, 1}, {static_cast<float>(count)})));
}

TEST_CASE("GEMM: FLOAT16 is rounded once") {
  const auto halves = [](const List& sizes, const std::vector<double>& values) {
    std::vector<std::uint16_t> bits;
    for (const double value : values) bits.push_back(nearest_half(value));
    return Tensor::of(DataType::Float16, sizes, bits);
  };
  // 60000 + 60000 - 60000; and 2048 + 1 + 1, each of which is lost alone.
  check_plan_case(gemm_case(
      {.a = halves({2, 3}, {60000, 60000, -60000, 2048, 1, 1}), .b = halves({3, 1}, {1, 1, 1})},
      halves({2, 1}, {60000, 2050})));
}

TEST_CASE("GEMM: NaN and infinity reach the results that they belong to, with a factor of 0 too") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  PlanCase a_case = gemm_case({.a = floats({2, 2}, {1, infinity, 1, 2}),
                               .b = floats({2, 2}, {1, 1, 1, -1}),
                               .c = floats({2, 2}, {0, 0, nan, 0}),
                               .beta = 0},
                              floats({2, 2}, {infinity, -infinity, nan, -1}));
  a_case.outputs.front().has_any_nan = true;
  check_plan_case(a_case);
}

TEST_CASE("GEMM: a fused activation is applied to the result") {
  PlanCase a_case = gemm_case({.a = floats({2, 1}, {1, -2}), .b = floats({1, 2}, {3, -4})},
                              floats({2, 2}, {3, 0, 0, 8}));
  a_case.fields["FusedActivation"] = {{"Type", "ACTIVATION_RELU"}, {"Desc", {}}};
  a_case.fields["FusedActivation"]["Desc"] = nlohmann::ordered_json::object();
  check_plan_case(a_case);
}

TEST_CASE("GEMM: B has as many rows as A has columns") {
  nlohmann::ordered_json description =
      gemm_case({.a = floats({1, 2}, {1, 2}), .b = floats({2, 1}, {1, 2})}, floats({1, 1}, {5}))
          .description();
  CHECK(messages(description) == "");
  description["desc"]["BTensor"]["Sizes"] = {3, 1};
  CHECK(messages(description) != "");
}

// --- quantized

/// {1, ..., count, 1} or {1, ..., 1, count}.
List parameter_sizes(std::size_t dimensions, std::uint64_t count, bool is_row) {
  List sizes(dimensions, 1);
  sizes[dimensions - (is_row ? 2 : 1)] = count;
  return sizes;
}

PlanCase quantized_case(const std::string& name, const MatrixProduct& product, DataType type) {
  PlanCase a_case{"DML_OPERATOR_" + name,
                  nlohmann::ordered_json::object(),
                  {{"ATensor", product.a}, {"BTensor", product.b}},
                  {{"OutputTensor", product.result(type)}}};
  a_case.add_if("AScaleTensor", product.a_scale);
  a_case.add_if("AZeroPointTensor", product.a_zero);
  a_case.add_if("BScaleTensor", product.b_scale);
  a_case.add_if("BZeroPointTensor", product.b_zero);
  a_case.add_if("BiasTensor", product.c);
  a_case.add_if("OutputScaleTensor", product.output_scale);
  a_case.add_if("OutputZeroPointTensor", product.output_zero);
  return a_case;
}

/// Quantized matrices with zero points for all or for each row and column.
MatrixProduct random_quantized(DataType a_type, DataType b_type, Random& random,
                               std::uint64_t depth) {
  const List batch = random_batch(random);
  const std::uint64_t rows = random.from_to(1, 9), columns = random.from_to(1, 20);
  MatrixProduct product;
  product.a = random_tensor(a_type, matrix_sizes(batch, rows, depth), random);
  product.b = random_tensor(b_type, matrix_sizes(batch, depth, columns), random);
  const std::size_t dimensions = batch.size() + 2;
  const auto parameter = [&](DataType type, bool is_row) {
    const std::uint64_t count = random.one_in(2) ? 1 : is_row ? rows : columns;
    return random_tensor(type, parameter_sizes(dimensions, count, is_row), random);
  };
  if (random.one_in(2)) product.a_zero = parameter(a_type, true);
  if (random.one_in(2)) product.b_zero = parameter(b_type, false);
  return product;
}

void add_scales(MatrixProduct& product, DataType type, Random& random) {
  const std::size_t n = product.a.sizes.size();
  const auto scales = [&](std::uint64_t count, bool is_row) {
    return powers_of_two(type, parameter_sizes(n, random.one_in(2) ? 1 : count, is_row), random);
  };
  product.a_scale = scales(product.a.sizes[n - 2], true);
  product.b_scale = scales(product.b.sizes[n - 1], false);
}

TEST_CASE("MATRIX_MULTIPLY_INTEGER: zero points are subtracted in 32 bits") {
  const MatrixProduct product{.a = Tensor::of<std::uint8_t>(DataType::UInt8, {1, 2}, {0, 255}),
                              .b = Tensor::of<std::int8_t>(DataType::Int8, {2, 1}, {-128, 127}),
                              .a_zero = Tensor::of<std::uint8_t>(DataType::UInt8, {1, 1}, {255}),
                              .b_zero = Tensor::of<std::int8_t>(DataType::Int8, {1, 1}, {127})};
  PlanCase a_case = quantized_case("MATRIX_MULTIPLY_INTEGER", product, DataType::Int32);
  CHECK(value_at(a_case.outputs.front().tensor, {0, 0}) == 255 * 255);
  check_plan_case(a_case);
}

TEST_CASE("MATRIX_MULTIPLY_INTEGER: random matrices, also with long sums of large products") {
  Random random(53);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t depth = random.one_in(20) ? 700 : random.from_to(1, 20);
    const MatrixProduct product =
        random_quantized(random.one_of(byte_types), random.one_of(byte_types), random, depth);
    check_plan_case(quantized_case("MATRIX_MULTIPLY_INTEGER", product, DataType::Int32));
  }
}

TEST_CASE("MATRIX_MULTIPLY_INTEGER: a block of the largest products is exact") {
  constexpr std::uint64_t depth = 256;
  const Tensor zeros = Tensor::of<std::uint8_t>(DataType::UInt8, {1, 1}, {255});
  MatrixProduct product{.a = Tensor::packed(DataType::UInt8, {2, depth}),
                        .b = Tensor::packed(DataType::UInt8, {depth, 1}),
                        .a_zero = zeros,
                        .b_zero = zeros};
  set_value(product.a, {1, 7}, 254);
  check_plan_case(quantized_case("MATRIX_MULTIPLY_INTEGER", product, DataType::Int32));
}

TEST_CASE("MATRIX_MULTIPLY_INTEGER_TO_FLOAT: random matrices of all integers") {
  Random random(54);
  const std::vector<DataType> types{DataType::Int8,   DataType::UInt8, DataType::Int16,
                                    DataType::UInt16, DataType::Int32, DataType::UInt32};
  for (int i = 0; i < 200; ++i) {
    const DataType type = random.one_of(types), float_type = random.one_of(float_types);
    MatrixProduct product = random_quantized(type, type, random, random.from_to(1, 12));
    if (size_of(type) == 4) {  // whose products are not exact
      product.a = small_numbers(type, product.a.sizes, random);
      product.b = small_numbers(type, product.b.sizes, random, 100'000'000);
      product.a_zero = std::nullopt;
    }
    add_scales(product, float_type, random);
    if (random.one_in(2)) {
      List sizes = product.a.sizes;
      sizes.back() = product.b.sizes.back();
      product.c = small_numbers(float_type, sizes, random);
      product.beta = 1;
    }
    PlanCase a_case = quantized_case("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", product, float_type);
    if (product.c) a_case.outputs.front().ulp = 1;  // a GPU rounds the sum before it adds the bias
    check_plan_case(a_case);
  }
}

// Bytes are multiplied as such, or as FLOAT32, and what is wider as FLOAT64.
TEST_CASE("MATRIX_MULTIPLY_INTEGER_TO_FLOAT: either side of the CPU's blocks, in every width") {
  if (is_gpu_asked_for()) return;
  Random random(60);
  for (const DataType type : {DataType::UInt8, DataType::Int8, DataType::Int16}) {
    std::vector<BlockShape> shapes = block_shapes;
    shapes.push_back({5, 33, 1024});  // what bytes are summed of at once
    shapes.push_back({5, 33, 1025});
    for (const BlockShape& shape : shapes) {
      CAPTURE(shape.rows);
      CAPTURE(shape.columns);
      CAPTURE(shape.depth);
      const auto numbers = [&](const List& sizes) { return small_numbers(type, sizes, random); };
      MatrixProduct product{.a = numbers({shape.rows, shape.depth}),
                            .b = numbers({shape.depth, shape.columns}),
                            .a_zero = numbers({shape.rows, 1}),
                            .b_zero = numbers({1, shape.columns})};
      product.a_scale = powers_of_two(DataType::Float32, {shape.rows, 1}, random);
      product.b_scale = powers_of_two(DataType::Float32, {1, shape.columns}, random);
      check_plan_case(
          quantized_case("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", product, DataType::Float32));
    }
  }
}

TEST_CASE("MATRIX_MULTIPLY_INTEGER_TO_FLOAT: sums of bytes that leave 32 bits") {
  constexpr std::uint64_t depth = 40'960;
  MatrixProduct product{.a = Tensor::packed(DataType::UInt8, {1, depth}),
                        .b = Tensor::packed(DataType::UInt8, {depth, 1}),
                        .a_scale = floats({1, 1}, {1}),
                        .b_scale = floats({1, 1}, {1})};
  for (Tensor* tensor : {&product.a, &product.b})
    std::fill(tensor->bytes.begin(), tensor->bytes.end(), std::byte{255});
  const PlanCase a_case =
      quantized_case("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", product, DataType::Float32);
  CHECK(value_at(a_case.outputs.front().tensor, {0, 0}) == 255.0 * 255 * depth);
  check_plan_case(a_case);
}

TEST_CASE("MATRIX_MULTIPLY_INTEGER_TO_FLOAT: sums of the largest numbers leave 64 bits") {
  struct Row {
    DataType type;
    double a, a_zero, b, b_zero, result;
    std::uint64_t depth = 1;
  };
  constexpr double int_min = -2147483648.0, int_max = 2147483647, uint_max = 4294967295;
  const double two_to_64 = 4294967296.0 * 4294967296.0;
  const std::vector<Row> rows{
      {DataType::UInt32, uint_max, 0, uint_max, 0, two_to_64},
      {DataType::UInt32, 0, uint_max, uint_max, 0, -two_to_64},
      {DataType::UInt32, 0, uint_max, 0, uint_max, two_to_64},
      {DataType::Int32, int_min, 0, int_min, 0, two_to_64 / 2, 2},
      {DataType::Int32, int_min, int_max, int_min, int_max, two_to_64},
      {DataType::Int32, int_max, int_min, int_min, int_max, -two_to_64},
      {DataType::Int32, int_min, int_max, int_min, int_max, two_to_64 * 1024, 1024},
      {DataType::Int32, -1, 0, 1, 0, -1},
      {DataType::UInt32, 5, 7, 9, 0, -18},
      {DataType::UInt32, 65536, 0, 65536, 0, 4294967296.0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    const auto of = [&](const List& sizes, double number) {
      Tensor tensor = Tensor::packed(row.type, sizes);
      for_each_index(sizes, [&](const Index& at) { set_value(tensor, at, number); });
      return tensor;
    };
    const MatrixProduct product{.a = of({1, row.depth}, row.a),
                                .b = of({row.depth, 1}, row.b),
                                .a_zero = of({1, 1}, row.a_zero),
                                .b_zero = of({1, 1}, row.b_zero),
                                .a_scale = floats({1, 1}, {1}),
                                .b_scale = floats({1, 1}, {1})};
    const PlanCase a_case =
        quantized_case("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", product, DataType::Float32);
    CHECK(value_at(a_case.outputs.front().tensor, {0, 0}) == row.result);
    check_plan_case(a_case);
  }
}

TEST_CASE("QUANTIZED_LINEAR_MATRIX_MULTIPLY: random matrices, halves rounded to even") {
  Random random(55);
  for (int i = 0; i < 200; ++i) {
    const DataType type = random.one_of(byte_types);
    MatrixProduct product = random_quantized(random.one_of(byte_types), random.one_of(byte_types),
                                             random, random.from_to(1, 6));
    product.a = small_numbers(product.a.type, product.a.sizes, random);
    product.a_zero = std::nullopt;
    add_scales(product, DataType::Float32, random);
    const std::size_t n = product.a.sizes.size();
    const List sizes = parameter_sizes(n, random.one_in(2) ? 1 : product.a.sizes[n - 2], true);
    product.output_scale = Tensor::packed(DataType::Float32, sizes);
    for_each_index(sizes, [&](const Index& at) {
      set_value(*product.output_scale, at, std::ldexp(1.0, static_cast<int>(random.below(8))));
    });
    if (random.one_in(2)) product.output_zero = random_tensor(type, sizes, random);
    check_plan_case(quantized_case("QUANTIZED_LINEAR_MATRIX_MULTIPLY", product, type));
  }
}

}  // namespace
}  // namespace dmlop::test::matrix_products_test
