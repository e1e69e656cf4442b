// Plans over rows: the elements of a tensor that are reduced to one value or normalized together.
// An operator's plan names values and what follows from them; slots, strides and axes are the
// matter of this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/element_wise.hpp"
#include "ops/plan.hpp"

namespace dmlop {

/// What a kernel reads for each element of a shape: strides of 0 repeat a value in its row.
using RowValue = ElementWiseOperand;

/// A function of rows, and of what it is (ops/kernels/reduce.hpp).
struct Reduction {
  ReduceFunction function = ReduceFunction::sum;
  ReduceTerm term = ReduceTerm::value;
  ReduceFinish finish = ReduceFinish::none;
  bool takes_last = false;
};

/// What the kernel of normalized rows reads, and the number that it adds.
struct RowOperands {
  RowValue x;
  RowValue scale{.constant = 1.0F}, bias{.constant = 0.0F};
  double epsilon = 0;
};

/// Parameters of an expression: FLOAT fields.
std::array<Parameter, 4> parameters(const std::vector<double>& values);

class RowPlan {
 public:
  RowPlan(const Description& description, RowShape shape)
      : description_(&description), shape_(std::move(shape)), own_(description), builder_(*own_) {}
  /// Temporaries of a plan that others build, too; no description names tensors.
  RowPlan(PlanBuilder& builder, RowShape shape) : shape_(std::move(shape)), builder_(builder) {}
  RowPlan(const RowPlan&) = delete;
  RowPlan& operator=(const RowPlan&) = delete;

  const RowShape& shape() const { return shape_; }
  PlanBuilder& builder() { return builder_; }

  /// A tensor of the description; sizes of 1 repeat.
  RowValue tensor(std::string_view field);
  /// The same, or a constant where it is left out.
  RowValue tensor_or(std::string_view field, float otherwise);
  RowValue constant(float value) const;
  /// For each element its number in its row, of position_type().
  RowValue positions();
  /// UINT32, which a GPU computes with, unless rows are too long.
  DataType position_type() const;

  /// A temporary of one value for each row. `what` says in a message what it holds.
  RowValue reduced(std::string what, const Reduction& reduction,
                   const std::vector<RowValue>& operands, DataType type = DataType::Float32);
  /// An output of one value for each row.
  void reduce(std::string_view output, const Reduction& reduction,
              const std::vector<RowValue>& operands);

  /// An output of normalized rows, after the activation if there is one.
  void normalize(std::string_view output, RowOperation operation, const RowOperands& operands);

  /// A FLOAT32 temporary of one value for each element of the shape.
  RowValue mapped(std::string what, Expression expression, const std::vector<RowValue>& operands,
                  const std::vector<double>& parameters = {});
  /// An output of one value for each element, after the activation if there is one.
  void map(std::string_view output, Expression expression, const std::vector<RowValue>& operands,
           const std::vector<double>& parameters = {});
  /// A temporary of one value for each row.
  RowValue mapped_rows(std::string what, Expression expression,
                       const std::vector<RowValue>& operands, DataType type,
                       const std::vector<double>& parameters = {});
  /// An output of one value for each row.
  void map_rows(std::string_view output, Expression expression,
                const std::vector<RowValue>& operands, const std::vector<double>& parameters = {});

  /// A new temporary; sizes of 1 repeat.
  RowValue temporary(std::string what, const Sizes& sizes, DataType type);

  Plan take() { return builder_.take(); }

 private:
  const Description* description_ = nullptr;
  RowShape shape_;
  std::optional<PlanBuilder> own_;
  PlanBuilder& builder_;
};

/// Normalized rows, added to a plan.
void add_rows(PlanBuilder& plan, RowOperation operation, const RowShape& shape,
              const RowOperands& operands, std::size_t output, DataType output_type,
              std::optional<Activation> activation = {});

/// A reduction of operands whose strides are those of the shape's axes.
ReduceKernel reduce_kernel(const RowShape& shape, const Reduction& reduction,
                           const std::vector<RowValue>& operands, DataType type);

}  // namespace dmlop
