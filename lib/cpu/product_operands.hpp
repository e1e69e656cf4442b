// The inputs of a product at one of its batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu/execute.hpp"
#include "cpu/packing.hpp"
#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// An input of the kernel, at the first element of a batch.
struct ProductOperand {
  const ProductInput* shape = nullptr;  // null: there is none
  const std::byte* data = nullptr;

  explicit operator bool() const { return shape != nullptr; }

  /// The elements of `count` rows from `row` on, in column 0.
  template <typename T>
  std::span<const T> rows(std::uint64_t row, std::uint64_t count, std::vector<T>& to) const {
    return read(row * shape->row_stride, shape->row_stride, count, to);
  }
  /// The elements of `count` columns from `column` on, in a row.
  template <typename T>
  std::span<const T> columns(std::uint64_t row, std::uint64_t column, std::uint64_t count,
                             std::vector<T>& to) const {
    return read(row * shape->row_stride + column * shape->column_stride, shape->column_stride,
                count, to);
  }

 private:
  template <typename T>
  std::span<const T> read(std::uint64_t offset, std::uint64_t stride, std::uint64_t count,
                          std::vector<T>& to) const {
    to.resize(count);
    read_elements(shape->data_type, data + offset * size_of(shape->data_type), stride, count,
                  to.data());
    return to;
  }
};

struct ProductOperands {
  ProductOperand left, right, left_zero, right_zero, left_scale, right_scale, added;
  ProductOperand output_scale, output_zero;

  ProductOperands(const ProductKernel& kernel, Inputs inputs, std::uint64_t batch) {
    std::size_t next = 0;
    const auto bind = [&](const ProductInput& input) {
      std::uint64_t offset = input.offset, rest = batch;
      for (std::size_t i = kernel.batches.size(); i-- > 0; rest /= kernel.batches[i])
        offset += rest % kernel.batches[i] * input.batch_strides[i];
      return ProductOperand{&input, inputs[next++].data() + offset * size_of(input.data_type)};
    };
    const auto bind_if = [&](const std::optional<ProductInput>& input) {
      return input ? bind(*input) : ProductOperand{};
    };
    left = bind(kernel.left);
    right = bind(kernel.right);
    left_zero = bind_if(kernel.left_zero);
    right_zero = bind_if(kernel.right_zero);
    left_scale = bind_if(kernel.left_scale);
    if (kernel.has_joined_scales) --next;
    right_scale = bind_if(kernel.right_scale);
    added = bind_if(kernel.added);
    if (!kernel.quantization) return;
    output_scale = bind(kernel.quantization->scale);
    output_zero = bind_if(kernel.quantization->zero_point);
  }
};

}  // namespace dmlop::cpu
