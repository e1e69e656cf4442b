// Element-wise computation: rows of the table shaders/expressions.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

enum class Expression : std::uint8_t {
#define EXPRESSION(name, inputs, class, store, expression) name,
#include "../../../shaders/expressions.def"
#undef EXPRESSION
  cast  // the rules of DML_OPERATOR_CAST, for each pair of types its own
};

/// How elements become numbers, and numbers integers (shaders/expressions.def).
enum class NumberClass : std::uint8_t { real, wide, number, bits, truth };
enum class StoreMode : std::uint8_t { wraps, abs8, rounds, truncates };

struct ExpressionInfo {
  std::string_view name;
  std::size_t inputs;
  NumberClass number_class;
  StoreMode store;
};
const ExpressionInfo& info(Expression expression);

/// What an expression computes with.
enum class ComputeType : std::uint8_t { float32, float64, int32, uint32, int64, uint64 };

/// An input, or a number in place of one: then the kernel has no buffer for it.
struct ElementWiseInput {
  DataType type = DataType::Float32;
  std::vector<std::uint64_t> strides = {};  // elements, one for each extent
  std::optional<float> constant = {};
};

/// A parameter as a number, and as an integer of 64 bits for integer computations.
struct Parameter {
  double real = 0;
  std::uint64_t integer = 0;
};

/// An expression of one FLOAT32 number with its parameters, for kernels that compute it themselves.
struct NumberFunction {
  Expression expression = Expression::identity;
  std::array<Parameter, 4> parameters = {};
};

/// A FLOAT scale and bias on the first input: x * scale + bias (DML_SCALE_BIAS).
struct InputScale {
  float scale = 1;
  float bias = 0;
};

/// An activation of the FLOAT32 results of a kernel that computes it itself.
struct Activation {
  NumberFunction function = {};
  std::optional<InputScale> input_scale = {};
};

/// output[i] = expression(inputs[0][i], inputs[1][i], ...).
struct ElementWiseKernel {
  Expression expression = Expression::identity;
  ComputeType compute = ComputeType::float32;
  std::vector<std::uint64_t> extents;  // outermost first; at least one
  std::vector<ElementWiseInput> inputs;
  DataType output_type = DataType::Float32;
  std::array<Parameter, 4> parameters = {};
  std::optional<InputScale> input_scale = {};

  std::uint64_t output_elements() const {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : extents) count *= extent;
    return count;
  }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

/// Whether an input stands as the packed output does.
inline bool is_packed(const ElementWiseKernel& kernel, const ElementWiseInput& input) {
  return is_packed(kernel.extents, input.strides);
}

}  // namespace dmlop
