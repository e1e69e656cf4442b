// Element-wise computation on the CPU: a stretch of a row at a time is loaded as numbers, computed
// by one row of shaders/expressions.def (cpu/expressions-inl.hpp), and stored. This file is
// compiled for every instruction set.
//
// Integers wrap: the build gives this file -fwrapv.
#include "cpu/element_wise.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/kinds.hpp"
#include "cpu/simd_small.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/element_wise.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/casts-inl.hpp"
#include "cpu/expressions-inl.hpp"
#include "cpu/numbers-inl.hpp"
#include "cpu/stretches-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// The unsigned integer with as many bits.
DataType bits_of(DataType type) {
  switch (size_of(type)) {
    case 1:
      return DataType::UInt8;
    case 2:
      return DataType::UInt16;
    case 4:
      return DataType::UInt32;
    default:
      return DataType::UInt64;
  }
}

template <typename T>
using Store = void (*)(DataType type, const T* from, std::size_t count, std::byte* to);

// Floats never wrap, and integers are never rounded.
template <typename T>
Store<T> find_store(StoreMode mode) {
  if constexpr (sizeof(T) == 1) {
    return [](DataType, const T* from, std::size_t count, std::byte* to) {
      std::memcpy(to, from, count);
    };
  } else if constexpr (std::is_floating_point_v<T>) {
    if (mode == StoreMode::rounds) return store<StoreMode::rounds, T>;
    return store<StoreMode::truncates, T>;
  } else {
    if (mode == StoreMode::abs8) return store<StoreMode::abs8, T>;
    return store<StoreMode::wraps, T>;
  }
}

template <typename T>
std::array<T, 4> numbers_of(const std::array<Parameter, 4>& parameters) {
  std::array<T, 4> numbers;
  std::transform(parameters.begin(), parameters.end(), numbers.begin(), [](const Parameter& one) {
    return std::is_floating_point_v<T> ? static_cast<T>(one.real) : static_cast<T>(one.integer);
  });
  return numbers;
}

/// Whether an element of the type is a T as it stands.
template <typename T>
bool is_stored_as(DataType type) {
  return visit_type(type, [](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<T> && std::is_integral_v<Element>)
      return sizeof(Element) == sizeof(T);
    else
      return std::is_same_v<Element, T>;
  });
}

template <typename T>
class ElementWise {
 public:
  ElementWise(const ElementWiseKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        about_(info(kernel.expression)),
        stretches_(kernel, inputs),
        compute_(find_compute<T>(kernel.expression)),
        row_compute_(is_row_by_row(kernel) ? find_row_compute<T>(kernel.expression) : nullptr),
        store_(find_store<T>(about_.store)),
        stored_type_(about_.number_class == NumberClass::bits ? bits_of(kernel.output_type)
                                                              : kernel.output_type),
        parameters_(numbers_of<T>(kernel.parameters)),
        stores_directly_(is_stored_as<T>(stored_type_)),
        numbers_(stretch * (kernel.inputs.size() + 1)) {
    for (std::size_t k = 0; k < kernel.inputs.size(); ++k) {
      const ElementWiseInput& input = kernel.inputs[k];
      const bool is_other =
          about_.number_class == NumberClass::truth || (k == 0 && kernel.input_scale);
      const DataType type =
          about_.number_class == NumberClass::bits ? bits_of(input.type) : input.type;
      loads_directly_[k] =
          !input.constant && !is_other && input.strides.back() == 1 && is_stored_as<T>(type);
      if (input.constant)
        std::fill_n(numbers_of_input(k), stretch, static_cast<T>(*input.constant));
    }
  }

  void run(std::uint64_t begin, std::uint64_t end, Output& output) {
    stretches_.run(
        begin, end, row_compute_ != nullptr, output,
        [&](std::uint64_t first, std::size_t count, std::byte* to) { compute(first, count, to); });
  }

 private:
  static bool is_aligned(const std::byte* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0;
  }
  T* numbers_of_input(std::size_t k) { return numbers_.data() + k * stretch; }

  // Whether rows are worth a stretch of their own, and each input but the first has one number for
  // a row.
  static bool is_row_by_row(const ElementWiseKernel& kernel) {
    constexpr Threshold elements_least{block, 5};
    return kernel.extents.back() >= elements_least &&
           std::all_of(kernel.inputs.begin() + 1, kernel.inputs.end(),
                       [](const ElementWiseInput& input) {
                         return input.constant || input.strides.back() == 0;
                       });
  }

  // The numbers of such inputs.
  void load_row(std::uint64_t begin) {
    const std::uint64_t row = stretches_.row_of(begin);
    if (row == loaded_row_) return;
    loaded_row_ = row;
    for (std::size_t k = 1; k < kernel_.inputs.size(); ++k) {
      if (!kernel_.inputs[k].constant)
        load_input(k, stretches_.source(k, begin), 1, numbers_of_input(k));
    }
  }

  // Whole blocks are read and written where they are, where elements are numbers as they stand.
  void compute(std::uint64_t begin, std::size_t count, std::byte* to) {
    const bool is_whole = count % block == 0;
    const bool writes = is_whole && stores_directly_ && is_aligned(to);
    const bool in_row = row_compute_ != nullptr;
    const Compute<T> compute_numbers = in_row ? row_compute_ : compute_;
    if (in_row) load_row(begin);
    Numbers<T> in;
    in.fill(numbers_.data());
    for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
      in[k] = numbers_of_input(k);
      if (kernel_.inputs[k].constant || (in_row && k > 0)) continue;
      if (is_whole && loads_directly_[k] && stretches_.is_one_piece(begin, count)) {
        const std::byte* from = stretches_.source(k, begin);
        // An output may stand in place of an input.
        const bool is_apart =
            !writes || from + count * sizeof(T) <= to || to + count * sizeof(T) <= from;
        if (is_aligned(from) && is_apart) {
          in[k] = reinterpret_cast<const T*>(from);
          continue;
        }
      }
      stretches_.for_each_piece(k, begin, count,
                                [&](const std::byte* from, std::size_t first, std::size_t part) {
                                  load_input(k, from, part, numbers_of_input(k) + first);
                                });
    }
    if (writes) return compute_numbers(in, parameters_, count, reinterpret_cast<T*>(to));
    T* out = numbers_of_input(kernel_.inputs.size());
    compute_numbers(in, parameters_, count, out);
    store_(stored_type_, out, count, to);
  }

  void load_input(std::size_t k, const std::byte* from, std::size_t count, T* to) {
    const ElementWiseInput& input = kernel_.inputs[k];
    const std::uint64_t stride = input.strides.back();
    if constexpr (sizeof(T) == 1) {
      load_elements<T, T>(from, stride, count, to);
    } else if (about_.number_class == NumberClass::bits) {
      load_bits(input.type, from, stride, count, to);
    } else if (k == 0 && kernel_.input_scale) {
      load_scaled(input.type, from, stride, count, to);
    } else {
      load(input.type, from, stride, count, to);
    }
    if (about_.number_class == NumberClass::truth) {
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i] != T(0) ? T(1) : T(0);
    }
  }

  // Integers are scaled as floats, and truncated to their type.
  void load_scaled(DataType type, const std::byte* from, std::uint64_t stride, std::size_t count,
                   T* to) {
    const float scale = kernel_.input_scale->scale, bias = kernel_.input_scale->bias;
    const auto apply = [=](float* numbers) HWY_ATTR {
      for (std::size_t i = 0; i < count; ++i) numbers[i] = numbers[i] * scale + bias;
    };
    if constexpr (std::is_same_v<T, float>) {
      cpu::HWY_NAMESPACE::load(type, from, stride, count, to);
      apply(to);
    } else {
      std::array<float, stretch> floats;
      std::array<std::byte, stretch * 8> elements;
      cpu::HWY_NAMESPACE::load(type, from, stride, count, floats.data());
      apply(floats.data());
      store<StoreMode::truncates>(type, floats.data(), count, elements.data());
      cpu::HWY_NAMESPACE::load(type, elements.data(), 1, count, to);
    }
  }

  const ElementWiseKernel& kernel_;
  const ExpressionInfo& about_;
  Stretches stretches_;
  Compute<T> compute_;
  Compute<T> row_compute_;                   // null where stretches are not of one row
  std::optional<std::uint64_t> loaded_row_;  // whose numbers stand where those of the inputs do
  Store<T> store_;
  DataType stored_type_;
  std::array<T, 4> parameters_;
  bool stores_directly_;  // numbers are the elements of the output
  std::array<bool, inputs_most> loads_directly_{};
  std::vector<T> numbers_;  // a stretch of each input, and of the output
};

void apply_function(const NumberFunction& function, std::span<float> numbers) {
  const Compute<float> compute = find_compute<float>(function.expression);
  const std::array<float, 4> parameters = numbers_of<float>(function.parameters);
  std::array<float, stretch> given{}, results;
  Numbers<float> in;
  in.fill(given.data());
  for (std::size_t at = 0; at < numbers.size(); at += stretch) {
    const std::size_t count = std::min(stretch, numbers.size() - at);
    std::copy_n(numbers.data() + at, count, given.data());
    compute(in, parameters, count, results.data());
    std::copy_n(results.data(), count, numbers.data() + at);
  }
}

/// Calls run(begin, end, output) for each range of a part.
template <typename Run>
void for_each_range(const Part& part, Stores stores, std::size_t size, const Destination& to,
                    Run&& run) {
  for (std::uint64_t i = 0; i < part.count; ++i) {
    const std::uint64_t begin = part.begin + i * part.step;
    Output output(to.to + i * to.pitch, stores, size);
    run(begin, begin + part.length, output);
    output.finish();
  }
}

void execute_cast(const ElementWiseKernel& kernel, Inputs inputs, const Part& part, Stores stores,
                  const Destination& to) {
  const Cast cast = find_cast(kernel.inputs[0].type, kernel.output_type);
  const std::uint64_t stride = kernel.inputs[0].strides.back();
  const std::size_t input_size = size_of(kernel.inputs[0].type);
  const std::size_t output_size = size_of(kernel.output_type);
  const Stretches stretches(kernel, inputs);
  std::array<std::byte, stretch * 8> together;
  const auto cast_piece = [&](const std::byte* from, std::size_t count, std::byte* to) {
    if (stride != 1) {
      put_together(input_size, from, stride, count, together.data());
      from = together.data();
    }
    cast(from, count, to);
  };
  const auto cast_stretch = [&](std::uint64_t at, std::size_t count, std::byte* to) {
    stretches.for_each_piece(0, at, count,
                             [&](const std::byte* from, std::size_t first, std::size_t here) {
                               cast_piece(from, here, to + first * output_size);
                             });
  };
  for_each_range(part, stores, output_size, to,
                 [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                   stretches.run(begin, end, false, output, cast_stretch);
                 });
}

bool computes_bytes(const ElementWiseKernel& kernel) {
  return is_bytewise(kernel.expression) && !kernel.input_scale &&
         size_of(kernel.output_type) == 1 &&
         std::all_of(kernel.inputs.begin(), kernel.inputs.end(),
                     [](const ElementWiseInput& input) { return size_of(input.type) == 1; });
}

template <typename T>
void execute_as(const ElementWiseKernel& kernel, Inputs inputs, const Part& part, Stores stores,
                const Destination& to) {
  ElementWise<T> element_wise(kernel, inputs);
  for_each_range(part, stores, size_of(kernel.output_type), to,
                 [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                   element_wise.run(begin, end, output);
                 });
}

void execute_element_wise(const ElementWiseKernel& kernel, Inputs inputs, const Part& part,
                          Stores stores, const Destination& to) {
  if (kernel.expression == Expression::cast) return execute_cast(kernel, inputs, part, stores, to);
  if (computes_bytes(kernel)) return execute_as<std::uint8_t>(kernel, inputs, part, stores, to);
  switch (kernel.compute) {
    case ComputeType::float32:
      return execute_as<float>(kernel, inputs, part, stores, to);
    case ComputeType::float64:
      return execute_as<double>(kernel, inputs, part, stores, to);
    case ComputeType::int32:
      return execute_as<std::int32_t>(kernel, inputs, part, stores, to);
    case ComputeType::uint32:
      return execute_as<std::uint32_t>(kernel, inputs, part, stores, to);
    case ComputeType::int64:
      return execute_as<std::int64_t>(kernel, inputs, part, stores, to);
    case ComputeType::uint64:
      return execute_as<std::uint64_t>(kernel, inputs, part, stores, to);
  }
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void apply(const NumberFunction& function, std::span<float> numbers) {
  DMLOP_BEST_SIMD(apply_function)(function, numbers);
}

PartShape part_shape(const ElementWiseKernel&, std::uint64_t) {
  return {};
}

void run_part(const ElementWiseKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  DMLOP_BEST_SIMD(execute_element_wise)(kernel, inputs, part, stores, outputs.front());
}

}  // namespace dmlop::cpu
#endif
