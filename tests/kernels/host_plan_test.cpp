// Plans that run again and again in memory (job/host_plan.hpp): which passes run together, and what
// is kept of constants.
#include "job/host_plan.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ops/plan.hpp"

namespace dmlop::test::host_plan_test {
namespace {

using Floats = std::vector<float>;

Slot slot(SlotKind kind, std::uint64_t elements) {
  return {.kind = kind, .field = "F", .element = {}, .elements = elements, .element_size = 4};
}

/// The product of matrices of rows x depth and depth x columns.
struct Product {
  std::uint64_t rows, columns, depth;

  ProductKernel kernel() const {
    ProductKernel kernel{.batches = {1}, .rows = rows, .columns = columns, .depth = depth};
    kernel.left = {.data_type = DataType::Float32, .batch_strides = {0}, .row_stride = depth};
    kernel.left_depth_stride = 1;
    kernel.right = {.data_type = DataType::Float32, .batch_strides = {0}, .column_stride = 1};
    kernel.right_depth_stride = columns;
    return kernel;
  }

  Floats of(const Floats& left, const Floats& right) const {
    Floats sums(rows * columns);
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (std::uint64_t k = 0; k < depth; ++k) {
        for (std::uint64_t j = 0; j < columns; ++j)
          sums[i * columns + j] += left[i * depth + k] * right[k * columns + j];
      }
    }
    return sums;
  }
};

/// What a plan writes to its outputs, by slot, from such inputs, by slot.
std::vector<Floats> run_plan(HostPlan& host_plan, const Plan& plan,
                             const std::vector<Floats>& inputs, unsigned threads = 2) {
  std::vector<std::span<const std::byte>> read(plan.slots.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) read[i] = std::as_bytes(std::span(inputs[i]));
  std::vector<Floats> outputs(plan.slots.size());
  std::vector<std::span<std::byte>> written(plan.slots.size());
  for (const std::size_t i : plan.slots_of(SlotKind::output)) {
    outputs[i].assign(plan.slots[i].elements, -1000);
    written[i] = std::as_writable_bytes(std::span(outputs[i]));
  }
  host_plan.run_into(read, written, threads, 16);
  return outputs;
}

/// Small whole numbers, of which all sums are exact.
Floats some_floats(std::uint64_t count, unsigned seed) {
  Floats floats;
  for (std::uint64_t i = 0; i < count; ++i)
    floats.push_back(static_cast<float>((i * 7 + seed * 13) % 11) - 5);
  return floats;
}

Floats operator-(Floats left, const Floats& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= right[i];
  return left;
}

/// A product of some matrices, which is "made" in a temporary, and a third matrix beside it.
struct Made {
  // So large that each part is a piece of several rows.
  Product product{.rows = 100, .columns = 600, .depth = 16};
  Floats a = some_floats(100 * 16, 1), b = some_floats(16 * 600, 2), c = some_floats(60'000, 3);
  Floats made = product.of(a, b);
  // Their slots are 0, 1 and 2, those of outputs 3 and 4.
  static constexpr std::size_t between = 5;

  /// The outputs of passes that read slots, one pass for each. Of its inputs, each row of one may
  /// be the first row.
  std::pair<Floats, Floats> run(const std::vector<std::vector<std::size_t>>& reads,
                                std::optional<std::size_t> repeated = {}) const {
    const std::uint64_t count = c.size();
    PlanBuilder builder({slot(SlotKind::input, a.size()), slot(SlotKind::input, b.size()),
                         slot(SlotKind::input, count), slot(SlotKind::output, count),
                         slot(SlotKind::output, count)});
    REQUIRE(builder.temporary("the product", count, 4) == between);
    builder.add(product.kernel(), {0, 1}, {between});
    ElementWiseKernel difference{
        .expression = Expression::subtract,
        .extents = {product.rows, product.columns},
        .inputs = {{.strides = {product.columns, 1}}, {.strides = {product.columns, 1}}}};
    if (repeated) difference.inputs[*repeated].strides[0] = 0;
    for (std::size_t i = 0; i < reads.size(); ++i) builder.add(difference, reads[i], {3 + i});
    const Plan plan = builder.take();
    HostPlan host_plan(plan);
    const auto outputs = run_plan(host_plan, plan, {a, b, c});
    return {outputs[3], outputs[4]};
  }
  Floats first_rows(const Floats& all) const {
    Floats rows;
    for (std::size_t i = 0; i < all.size(); ++i) rows.push_back(all[i % product.columns]);
    return rows;
  }
};

}  // namespace

TEST_CASE("host plan: what a pass writes may be either input of the next one, or both") {
  const Made of;
  constexpr std::size_t between = Made::between;
  CHECK((of.run({{between, 2}}).first == of.made - of.c));
  CHECK((of.run({{2, between}}).first == of.c - of.made));
  CHECK((of.run({{between, between}}).first == Floats(of.c.size())));
}

TEST_CASE("host plan: a pass does not stand where it is read if a row of it is read for all rows") {
  const Made of;
  constexpr std::size_t between = Made::between;
  CHECK((of.run({{between, 2}}, 0).first == of.first_rows(of.made) - of.c));
  CHECK((of.run({{2, between}}, 1).first == of.c - of.first_rows(of.made)));
  CHECK((of.run({{2, between}}, 0).first == of.first_rows(of.c) - of.made));
}

TEST_CASE("host plan: what two passes read is not written over by the first of them") {
  const Made of;
  const auto [first, second] = of.run({{Made::between, 2}, {2, Made::between}});
  CHECK((first == of.made - of.c));
  CHECK((second == of.c - of.made));
}

TEST_CASE("host plan: each pass keeps what it made of its own constants, and of nothing else") {
  // (A * B) * C and (A * B) * D, of which B and D are constants.
  const Product first{.rows = 5, .columns = 3, .depth = 4},
      next{.rows = 5, .columns = 3, .depth = 3};
  const Floats b = some_floats(12, 2), d = some_floats(9, 4);
  const std::vector<std::uint64_t> sizes{20, b.size(), 9, d.size()};
  std::vector<Slot> slots;
  for (const std::uint64_t size : sizes) slots.push_back(slot(SlotKind::input, size));
  for (int i = 0; i < 2; ++i) slots.push_back(slot(SlotKind::output, 15));
  PlanBuilder builder(slots);
  const std::size_t between = builder.temporary("the product", 15, 4);
  builder.add(first.kernel(), {0, 1}, {between});
  builder.add(next.kernel(), {between, 2}, {4});
  builder.add(next.kernel(), {between, 3}, {5});
  const Plan plan = builder.take();
  HostPlan host_plan(plan, {false, true, false, true, false, false});
  for (unsigned run = 0; run < 3; ++run) {
    CAPTURE(run);
    const Floats a = some_floats(20, 5 + run), c = some_floats(9, 9 + run);
    const auto outputs = run_plan(host_plan, plan, {a, b, c, d}, 1 + run);
    CHECK(outputs[4] == next.of(first.of(a, b), c));
    CHECK(outputs[5] == next.of(first.of(a, b), d));
  }
}

}  // namespace dmlop::test::host_plan_test
