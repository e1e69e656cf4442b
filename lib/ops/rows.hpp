// Plans over rows: the elements of a tensor that are reduced to one value or normalized together.
// An operator's plan names values and what follows from them; slots, strides and axes are the
// matter of this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/plan.hpp"

namespace dmlop {

/// A tensor's sizes, and the axes along which its rows lie.
struct RowShape {
  Sizes sizes;
  std::vector<bool> is_reduced;

  /// Rows along some axes.
  static RowShape along(const Sizes& sizes, const std::vector<std::int64_t>& axes);
  /// Rows along the axes where a tensor of one value per row has size 1.
  static RowShape around(const Sizes& sizes, const Sizes& values);

  /// Those of a tensor with one value for each row.
  Sizes value_sizes() const;
  /// Elements of a row.
  std::uint64_t length() const;
};

/// Something that has a value for each element of a shape: a tensor, a temporary or constants.
/// Strides of 0 repeat it.
struct RowValue {
  Operand operand;
  std::optional<std::size_t> slot = {};  // where the operand is an input of its kernel
};

struct Reduction {
  ReduceFunction function = ReduceFunction::sum;
  ReduceTerm term = ReduceTerm::value;
  ReduceFinish finish = ReduceFinish::none;
  bool takes_last = false;
};

class RowPlan {
 public:
  RowPlan(const Description& description, RowShape shape)
      : description_(description), shape_(std::move(shape)), builder_(description) {}

  const RowShape& shape() const { return shape_; }
  PlanBuilder& builder() { return builder_; }

  /// A tensor of the description; sizes of 1 repeat.
  RowValue tensor(std::string_view field);
  /// The same, or a constant where it is left out.
  RowValue tensor_or(std::string_view field, float otherwise);
  RowValue constant(float value) const;
  /// Constants along one axis.
  RowValue constants(std::size_t axis, std::vector<float> values) const;
  /// The number of an element in its row.
  RowValue position() const;

  /// A temporary of one value for each row. `what` says in a message what it holds.
  RowValue reduced(std::string what, const Reduction& reduction,
                   const std::vector<RowValue>& operands, DataType type = DataType::Float32);
  /// An output of one value for each row.
  void reduce(std::string_view output, const Reduction& reduction,
              const std::vector<RowValue>& operands);

  /// A temporary of one value for each element of the shape or, with `is_per_row`, for each row.
  RowValue mapped(std::string what, RowFunction function, const std::vector<RowValue>& operands,
                  const std::array<float, 3>& parameters = {}, bool is_per_row = false);
  /// An output with a value for each element or row, after the activation if there is one.
  void map(std::string_view output, RowFunction function, const std::vector<RowValue>& operands,
           const std::array<float, 3>& parameters = {}, bool is_per_row = false);
  /// Several outputs of one kernel.
  void map(const std::vector<std::string_view>& outputs, RowFunction function,
           const std::vector<RowValue>& operands, const std::array<float, 3>& parameters);

  Plan take() { return builder_.take(); }

 private:
  RowMapKernel map_kernel(RowFunction function, const std::vector<RowValue>& operands,
                          const std::array<float, 3>& parameters, bool is_per_row) const;
  RowValue temporary(std::string what, const Sizes& sizes, DataType type);

  const Description& description_;
  RowShape shape_;
  PlanBuilder builder_;
};

/// A reduction of operands whose strides are those of the shape's axes.
ReduceKernel reduce_kernel(const RowShape& shape, const Reduction& reduction,
                           const std::vector<RowValue>& operands, DataType type);

/// The slots that a kernel over these reads.
std::vector<std::size_t> slots_of(const std::vector<RowValue>& operands);

}  // namespace dmlop
