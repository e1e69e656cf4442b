// GATHER, GATHER_ELEMENTS, GATHER_ND(1), SCATTER_ELEMENTS, SCATTER_ND, ONE_HOT and
// NONZERO_COORDINATES.
#include "reference/gathering.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>
#include <vector>

#include "plan_case.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::gathering_test {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<DataType> index_types{DataType::UInt32, DataType::Int32, DataType::UInt64,
                                        DataType::Int64};

void set_index(Tensor& indices, const Index& at, std::int64_t value) {
  std::memcpy(indices.at(at), &value, indices.element_size());
}

template <typename T>
Tensor indices_of(DataType type, const List& sizes, const std::vector<T>& values) {
  return Tensor::of(type, sizes, values);
}

/// Indices into axes of `extents`, one axis for each element of the last dimension where there are
/// several; some are beyond them, at either end, or have something in their high half.
Tensor random_indices(const List& sizes, const List& extents, Random& random) {
  const DataType type = random.one_of(index_types);
  const bool is_signed = info(type).kind == NumberKind::signed_integer;
  Tensor indices = random_tensor(type, sizes, random);
  for_each_index(sizes, [&](const Index& at) {
    const auto n = static_cast<std::int64_t>(extents.size() == 1 ? extents[0] : extents[at.back()]);
    auto value = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
    if (is_signed && random.one_in(4)) value -= n;
    if (random.one_in(16)) value = n + static_cast<std::int64_t>(random.below(1000));
    if (is_signed && random.one_in(16)) value = -n - 1 - static_cast<std::int64_t>(random.below(9));
    if (size_of(type) == 8 && random.one_in(4))
      value += random.one_of<std::int64_t>({1, -1, 7, 1 << 30}) * (std::int64_t{1} << 32);
    set_index(indices, at, value);
  });
  return indices;
}

PlanCase gather_case(const std::string& name, Json fields, const Tensor& input,
                     const Tensor& indices, const Tensor& output) {
  return {"DML_OPERATOR_" + name,
          std::move(fields),
          {{"InputTensor", input}, {"IndicesTensor", indices}},
          {{"OutputTensor", output}}};
}

PlanCase scatter_case(const std::string& name, Json fields, const Tensor& input,
                      const Tensor& indices, const Tensor& updates, const Tensor& output) {
  PlanCase a_case = gather_case(name, std::move(fields), input, indices, output);
  a_case.inputs.push_back({"UpdatesTensor", updates});
  return a_case;
}

/// What an index means: `place` of an axis of 5, or nothing.
struct IndexRow {
  DataType type;
  std::int64_t index;
  std::optional<std::uint64_t> place;
};

// The low half of a 64-bit index counts, once the whole of it is beyond the axis.
const std::vector<IndexRow> index_rows{
    {DataType::Int32, 0, 0},
    {DataType::Int32, 4, 4},
    {DataType::Int32, 5, {}},
    {DataType::Int32, -1, 4},
    {DataType::Int32, -5, 0},
    {DataType::Int32, -6, {}},
    {DataType::Int32, std::numeric_limits<std::int32_t>::min(), {}},
    {DataType::Int32, std::numeric_limits<std::int32_t>::max(), {}},
    {DataType::UInt32, 4, 4},
    {DataType::UInt32, 5, {}},
    {DataType::UInt32, 0xffffffff, {}},
    {DataType::Int64, -1, 4},
    {DataType::Int64, -6, {}},
    {DataType::Int64, std::int64_t{1} << 32, 0},
    {DataType::Int64, (std::int64_t{1} << 32) + 3, 3},
    {DataType::Int64, (std::int64_t{1} << 32) - 2, 3},
    {DataType::Int64, std::numeric_limits<std::int64_t>::min(), 0},
    {DataType::UInt64, (std::int64_t{1} << 32) + 3, 3},
    {DataType::UInt64, (std::int64_t{1} << 32) + 5, {}},
};

const Tensor five = floats({5}, {10, 11, 12, 13, 14});

Tensor single_index(const IndexRow& row) {
  Tensor indices = Tensor::packed(row.type, {1});
  set_index(indices, {0}, row.index);
  return indices;
}

TEST_CASE("GATHER: negative indices count from the end, and what is beyond is the last element") {
  for (const IndexRow& row : index_rows) {
    CAPTURE(row.index);
    const Tensor picked = floats({1}, {10.0F + static_cast<float>(row.place.value_or(4))});
    const Tensor indices = single_index(row);
    check_plan_case(
        gather_case("GATHER", {{"Axis", 0}, {"IndexDimensions", 1}}, five, indices, picked));
    check_plan_case(gather_case("GATHER_ELEMENTS", {{"Axis", 0}}, five, indices, picked));
    check_plan_case(gather_case("GATHER_ND",
                                {{"InputDimensionCount", 1}, {"IndicesDimensionCount", 1}}, five,
                                indices, picked));
  }
}

TEST_CASE("SCATTER: negative indices count from the end, and what is beyond updates nothing") {
  for (const IndexRow& row : index_rows) {
    CAPTURE(row.index);
    Tensor output = five;
    const float update = 99;
    if (row.place) std::memcpy(output.at({*row.place}), &update, sizeof update);
    const Tensor indices = single_index(row), updates = floats({1}, {update});
    check_plan_case(
        scatter_case("SCATTER_ELEMENTS", {{"Axis", 0}}, five, indices, updates, output));
    check_plan_case(scatter_case("SCATTER_ND",
                                 {{"InputDimensionCount", 1}, {"IndicesDimensionCount", 1}}, five,
                                 indices, updates, output));
  }
  const Tensor minus_one = single_index({DataType::UInt64, -1, 4});
  check_plan_case(scatter_case("SCATTER_ND",
                               {{"InputDimensionCount", 1}, {"IndicesDimensionCount", 1}}, five,
                               minus_one, floats({1}, {99}), floats({5}, {10, 11, 12, 13, 99})));
}

TEST_CASE("GATHER: rows of a matrix") {
  check_plan_case(gather_case("GATHER", {{"Axis", 0}, {"IndexDimensions", 1}},
                              floats({3, 2}, {1, 2, 3, 4, 5, 6}),
                              indices_of<std::uint32_t>(DataType::UInt32, {1, 4}, {2, 0, 2, 1}),
                              floats({4, 2}, {5, 6, 1, 2, 5, 6, 3, 4})));
}

TEST_CASE("GATHER_ND1: the page's example with batches") {
  check_plan_case(gather_case(
      "GATHER_ND1",
      {{"InputDimensionCount", 3}, {"IndicesDimensionCount", 3}, {"BatchDimensionCount", 1}},
      floats({1, 3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
      indices_of<std::uint32_t>(DataType::UInt32, {1, 3, 2, 2},
                                {0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0}),
      floats({1, 1, 3, 2}, {0, 3, 7, 4, 9, 10})));
}

TEST_CASE("SCATTER_ND: the page's example") {
  check_plan_case(
      scatter_case("SCATTER_ND", {{"InputDimensionCount", 1}, {"IndicesDimensionCount", 2}},
                   floats({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}),
                   indices_of<std::uint32_t>(DataType::UInt32, {4, 1}, {4, 3, 1, 7}),
                   floats({1, 4}, {9, 10, 11, 12}), floats({1, 8}, {1, 11, 3, 10, 9, 6, 7, 12})));
}

TEST_CASE("GATHER: random tensors of all types, along every axis, with 0 to 4 index dimensions") {
  Random random(60);
  for (int i = 0; i < 400; ++i) {
    List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    const std::size_t dimensions = random.below(std::min<std::size_t>(axis + 1, 4) + 1);
    for (std::size_t d = 0; d + 1 < dimensions; ++d) sizes[d] = 1;
    List index_sizes(sizes.size(), 1);
    for (std::size_t d = sizes.size() - dimensions; d < sizes.size(); ++d)
      index_sizes[d] = random.from_to(1, 4);
    const Tensor input = random_tensor(random.one_of(A11), sizes, random);
    const Tensor indices = random_indices(index_sizes, {sizes[axis]}, random);
    check_plan_case(gather_case("GATHER", {{"Axis", axis}, {"IndexDimensions", dimensions}}, input,
                                indices, gathered(input, indices, axis, dimensions)));
  }
}

TEST_CASE("GATHER: rows of whole vectors, more than a group of threads moves") {
  Random random(64);
  for (const DataType type :
       {DataType::UInt8, DataType::Float16, DataType::Int32, DataType::UInt64}) {
    const std::uint64_t width = 5 * 16 / size_of(type);
    // Rows side by side, with gaps of whole vectors, and others between rows or between batches.
    const std::uint64_t vector = 16 / size_of(type);
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps{
        {0, 0}, {vector, 0}, {1, vector - 7 % vector}, {0, 1}};
    for (const auto& [row_gap, batch_gap] : gaps) {
      const std::uint64_t row = width + row_gap;
      Tensor input = Tensor::strided(type, {2, 7, width}, {7 * row + batch_gap, row, 1});
      random.fill(input.bytes);
      const Tensor indices = random_indices({1, 1, 211}, {7}, random);
      check_plan_case(gather_case("GATHER", {{"Axis", 1}, {"IndexDimensions", 1}}, input, indices,
                                  gathered(input, indices, 1, 1)));
    }
  }
}

TEST_CASE("GATHER: rows of whole vectors that no three axes lead to") {
  Random random(66);
  Tensor input = Tensor::strided(DataType::Float32, {2, 3, 7, 20}, {1000, 300, 24, 1});
  random.fill(input.bytes);
  const Tensor indices = random_indices({1, 1, 1, 11}, {7}, random);
  check_plan_case(gather_case("GATHER", {{"Axis", 2}, {"IndexDimensions", 1}}, input, indices,
                              gathered(input, indices, 2, 1)));
}

// A group of threads takes several short rows or a long one; the last group has fewer.
TEST_CASE("GATHER_ELEMENTS: packed rows of whole vectors along the last axis") {
  Random random(67);
  struct Row {
    std::uint64_t rows, extent, count;
  };
  for (const DataType type : {DataType::Float16, DataType::Int32, DataType::UInt64}) {
    for (const DataType index_type : {DataType::Int32, DataType::Int64, DataType::UInt64}) {
      for (const auto& [rows, extent, count] :
           {Row{3, 1024, 1024}, {301, 24, 40}, {5, 2048, 1040}, {2, 1048, 4096}, {2, 64, 16}}) {
        const Tensor input = packed_copy_of(random_tensor(type, {rows, extent}, random));
        Tensor indices = random_indices({rows, count}, {extent}, random);
        while (indices.type != index_type)
          indices = random_indices({rows, count}, {extent}, random);
        indices = packed_copy_of(indices);
        check_plan_case(gather_case("GATHER_ELEMENTS", {{"Axis", 1}}, input, indices,
                                    gathered_elements(input, indices, 1)));
      }
    }
  }
}

TEST_CASE("GATHER_ELEMENTS and SCATTER_ELEMENTS: random tensors of all types along every axis") {
  Random random(61);
  for (int i = 0; i < 400; ++i) {
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    const bool gathers = random.one_in(2);
    List index_sizes = sizes;
    index_sizes[axis] = random.from_to(1, gathers ? 2 * sizes[axis] : sizes[axis]);
    const DataType type = random.one_of(A11);
    const Tensor input = random_tensor(type, sizes, random);
    const Tensor indices = random_indices(index_sizes, {sizes[axis]}, random);
    if (gathers) {
      check_plan_case(gather_case("GATHER_ELEMENTS", {{"Axis", axis}}, input, indices,
                                  gathered_elements(input, indices, axis)));
    } else {
      const Tensor updates = random_tensor(type, index_sizes, random);
      check_plan_case(scatter_case("SCATTER_ELEMENTS", {{"Axis", axis}}, input, indices, updates,
                                   scattered_elements(input, indices, updates, axis)));
    }
  }
}

/// Sizes with leading ones that do not count.
List with_leading_ones(List sizes, std::size_t rank) {
  while (sizes.size() < rank) sizes.insert(sizes.begin(), 1);
  return sizes;
}

struct CoordinatesCase {
  Coordinates how;
  Tensor input, indices;
};

CoordinatesCase random_coordinates(bool has_batches, Random& random) {
  for (;;) {
    const std::size_t counted = random.from_to(1, 5), tuples = random.below(4);
    const std::size_t batches = has_batches ? random.below(std::min(counted, tuples + 1)) : 0;
    const std::size_t coordinates = random.from_to(1, counted - batches);
    const std::size_t picked = tuples + counted - batches - coordinates;
    const std::size_t most = std::max({counted, tuples + 1, picked});
    if (most > 8) continue;
    const std::size_t rank = random.from_to(most, 8);
    const List sizes = random_sizes(counted, random);
    List index_sizes(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(batches));
    while (index_sizes.size() < tuples) index_sizes.push_back(random.from_to(1, 4));
    index_sizes.push_back(coordinates);
    List extents;
    for (std::size_t c = 0; c < coordinates; ++c) extents.push_back(sizes[batches + c]);
    return {{counted, tuples + 1, batches},
            random_tensor(random.one_of(A11), with_leading_ones(sizes, rank), random),
            random_indices(with_leading_ones(index_sizes, rank), extents, random)};
  }
}

TEST_CASE("GATHER_ND, GATHER_ND1 and SCATTER_ND: random tensors, coordinates and batches") {
  Random random(62);
  for (int i = 0; i < 400; ++i) {
    const std::string name = random.one_of<std::string>({"GATHER_ND", "GATHER_ND1", "SCATTER_ND"});
    const auto [how, input, indices] = random_coordinates(name == "GATHER_ND1", random);
    Json fields{{"InputDimensionCount", how.input_dimensions},
                {"IndicesDimensionCount", how.indices_dimensions}};
    if (name == "GATHER_ND1") fields["BatchDimensionCount"] = how.batches;
    if (name != "SCATTER_ND") {
      check_plan_case(gather_case(name, fields, input, indices, how.gathered(input, indices)));
      continue;
    }
    const Tensor updates =
        random_tensor(input.type, how.picked_sizes(input.sizes, indices.sizes), random);
    check_plan_case(scatter_case(name, fields, input, indices, updates,
                                 how.scattered(input, indices, updates)));
  }
}

TEST_CASE("SCATTER_ND: of many updates of one element the last one stays") {
  constexpr std::uint64_t count = 100000;
  const Tensor input = floats({3}, {1, 2, 3});
  Tensor indices = Tensor::packed(DataType::UInt32, {count, 1});
  std::vector<float> values(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i);
    set_index(indices, {i, 0}, static_cast<std::int64_t>(i % 2 * 2));
  }
  PlanCase a_case =
      scatter_case("SCATTER_ND", {{"InputDimensionCount", 1}, {"IndicesDimensionCount", 2}},
                   floats({1, 3}, {1, 2, 3}), indices, floats({1, count}, values),
                   floats({1, 3}, {count - 2, 2, count - 1}));
  check_plan_case(a_case);
}

TEST_CASE("SCATTER_ELEMENTS: a tensor of many parts, whose duplicates keep the last update") {
  Random random(63);
  const List sizes{3, 200, 700};
  const Tensor input = random_tensor(DataType::Float32, sizes, random);
  Tensor indices = Tensor::packed(DataType::Int64, sizes);
  for_each_index(sizes, [&](const Index& at) {
    set_index(indices, at, static_cast<std::int64_t>(random.below(20)));
  });
  const Tensor updates = random_tensor(DataType::Float32, sizes, random);
  check_plan_case(scatter_case("SCATTER_ELEMENTS", {{"Axis", 1}}, input, indices, updates,
                               scattered_elements(input, indices, updates, 1)));
}

// --- ONE_HOT

PlanCase one_hot_case(const Tensor& indices, const Tensor& values, std::size_t axis,
                      const Tensor& output) {
  return {"DML_OPERATOR_ONE_HOT",
          {{"Axis", axis}},
          {{"IndicesTensor", indices}, {"ValuesTensor", values}},
          {{"OutputTensor", output}}};
}

TEST_CASE("ONE_HOT: the on value stands where the index points, and nowhere if it is beyond") {
  check_plan_case(one_hot_case(indices_of<std::int32_t>(DataType::Int32, {3, 1}, {1, -1, 4}),
                               floats({1, 2}, {0, 1}), 1,
                               floats({3, 4}, {0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})));
  // All of a UINT64 counts.
  check_plan_case(
      one_hot_case(indices_of<std::uint64_t>(DataType::UInt64, {2, 1}, {(1ULL << 32) + 1, 1}),
                   floats({2, 1}, {5, 6}), 1, floats({2, 2}, {5, 5, 5, 6})));
}

TEST_CASE("ONE_HOT: the page's examples") {
  const Tensor off_on = floats({1, 1, 1, 2}, {0, 1});
  check_plan_case(
      one_hot_case(indices_of<std::uint32_t>(DataType::UInt32, {1, 1, 1, 4}, {0, 2, 1, 0}), off_on,
                   2, floats({1, 1, 3, 4}, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0})));
  check_plan_case(one_hot_case(indices_of<std::uint32_t>(DataType::UInt32, {1, 1, 3, 1}, {0, 3, 2}),
                               floats({1, 1, 3, 1}, {4, 2, 9}), 3,
                               floats({1, 1, 3, 4}, {2, 4, 4, 4, 4, 4, 4, 2, 4, 4, 2, 4})));
  check_plan_case(
      one_hot_case(indices_of<std::int32_t>(DataType::Int32, {1, 1, 3, 1}, {-3, 100, 3}), off_on, 3,
                   floats({1, 1, 3, 4}, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})));
}

TEST_CASE("ONE_HOT: random indices and values of all types along every axis") {
  Random random(64);
  for (int i = 0; i < 300; ++i) {
    List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    const std::uint64_t size = random.from_to(1, 6);
    sizes[axis] = 1;
    const Tensor indices = random_indices(sizes, {size}, random);
    List value_sizes(sizes.size(), 1);
    const std::size_t along = random.below(sizes.size());
    value_sizes[along] = random.from_to(2, 3);
    const Tensor values = random_tensor(random.one_of(A11), value_sizes, random);
    Index on(sizes.size(), 0);
    on[along] = 1;
    const Tensor output =
        one_hot(indices, values.at(Index(sizes.size(), 0)), values.at(on), values.type, axis, size);
    check_plan_case(one_hot_case(indices, values, axis, output));
  }
}

// --- NONZERO_COORDINATES

PlanCase nonzero_case(const Tensor& input, std::size_t length) {
  const auto [count, coordinates] = Nonzero::of(input, length);
  return {"DML_OPERATOR_NONZERO_COORDINATES",
          {},
          {{"InputTensor", input}},
          {{"OutputCountTensor", count}, {"OutputCoordinatesTensor", coordinates}}};
}

TEST_CASE("NONZERO_COORDINATES: the page's example, with zeros behind the last row") {
  const PlanCase a_case =
      nonzero_case(floats({1, 1, 2, 4}, {1, 0, 0, 2, -0.0F, 3.5F, 0, -5.2F}), 3);
  CHECK(a_case.outputs[0].tensor == Tensor::of<std::uint32_t>(DataType::UInt32, {1}, {4}));
  CHECK(a_case.outputs[1].tensor ==
        Tensor::of<std::uint32_t>(DataType::UInt32, {8, 3}, {0, 0, 0, 0, 0, 3, 0, 1, 1, 0, 1, 3,
                                                             0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  check_plan_case(a_case);
}

TEST_CASE("NONZERO_COORDINATES: NaN is not zero, and a tensor may be all zeros") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  check_plan_case(nonzero_case(floats({3}, {nan, 0, -nan}), 1));
  check_plan_case(nonzero_case(floats({1, 3}, {0, -0.0F, 0}), 2));
  check_plan_case(nonzero_case(floats({1}, {1}), 1));
}

// The CPU counts blocks of 2^16 elements, and looks for those within 4096.
TEST_CASE("NONZERO_COORDINATES: either side of the CPU's blocks, in every width") {
  if (is_gpu_asked_for()) return;
  constexpr std::uint64_t block = std::uint64_t{1} << 16;
  for (const DataType type :
       {DataType::Float32, DataType::Float16, DataType::Int32, DataType::UInt16, DataType::Int8}) {
    for (const std::uint64_t step : {1, 2}) {
      Tensor input = Tensor::strided(type, {2 * block + 1}, {step});
      for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{4095}, std::uint64_t{4096},
                                     block - 1, block, block + 4096, 2 * block - 1, 2 * block})
        *input.at({at}) = std::byte{1};
      check_plan_case(nonzero_case(input, 1));
    }
  }
}

TEST_CASE("NONZERO_COORDINATES: random tensors of all types, some longer than a block") {
  Random random(65);
  for (int i = 0; i < 200; ++i) {
    const DataType type = random.one_of(A8);
    const bool is_long = i < 3;
    const List sizes = is_long ? List{7, 3, 7000} : random_sizes(random.from_to(1, 8), random);
    Tensor input = random_tensor(type, sizes, random);
    const std::uint64_t one_stays = is_long ? 1000 : random.one_of<std::uint64_t>({1, 2, 8});
    for (std::size_t at = 0; at < input.bytes.size(); at += input.element_size()) {
      if (random.one_in(one_stays)) continue;
      std::fill_n(&input.bytes[at], input.element_size(), std::byte{0});
      if (info(type).kind == NumberKind::floating && random.one_in(4))
        input.bytes[at + input.element_size() - 1] = std::byte{0x80};
    }
    std::size_t length = sizes.size();
    while (length > 1 && sizes[sizes.size() - length] == 1 && random.one_in(2)) --length;
    check_plan_case(nonzero_case(input, length));
  }
}

}  // namespace
}  // namespace dmlop::test::gathering_test
