// Element-wise computation on the CPU: a stretch of a row at a time is loaded as numbers, computed
// by one row of shaders/expressions.def, and stored. All loops are over contiguous numbers, for the
// compiler to vectorize; this file is compiled for every instruction set.
//
// Integers wrap: the build gives this file -fwrapv.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/element_wise.hpp"
#include "cpu/kinds.hpp"
#include "cpu/simd.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/element_wise.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/elementary-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// What is loaded, computed and stored at a time.
constexpr std::size_t stretch = 512;
constexpr std::size_t inputs_most = 8;

// --- loading

template <typename T, typename Element>
HWY_INLINE T number_of(Element element) {
  if constexpr (std::is_same_v<Element, Half>) {
    return static_cast<T>(half_to_float(element.bits));
  } else {
    return static_cast<T>(element);
  }
}

template <typename T, typename Element>
void load_elements(const std::byte* from, std::uint64_t stride, std::size_t count, T* to) {
  if (stride == 1) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = number_of<T>(cpu::load<Element>(from + i * sizeof(Element)));
  } else if (stride == 0) {
    std::fill(to, to + count, number_of<T>(cpu::load<Element>(from)));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = number_of<T>(cpu::load<Element>(from + i * stride * sizeof(Element)));
  }
}

void load_halves(const std::byte* from, std::size_t count, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> halves;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    HWY_ALIGN std::uint16_t bits[hn::MaxLanes(d)];
    std::memcpy(bits, from + i * 2, lanes * 2);
    const auto loaded = hn::Load(halves, reinterpret_cast<const hwy::float16_t*>(bits));
    hn::StoreU(hn::PromoteTo(d, loaded), d, to + i);
  }
  for (; i < count; ++i) to[i] = half_to_float(cpu::load<std::uint16_t>(from + i * 2));
}

/// Elements as numbers, by their values.
template <typename T>
void load(DataType type, const std::byte* from, std::uint64_t stride, std::size_t count, T* to) {
  switch (type) {
    case DataType::Float32:
      return load_elements<T, float>(from, stride, count, to);
    case DataType::Float16:
      if constexpr (std::is_same_v<T, float>) {
        if (stride == 1) return load_halves(from, count, to);
      }
      return load_elements<T, Half>(from, stride, count, to);
    case DataType::Float64:
      return load_elements<T, double>(from, stride, count, to);
    case DataType::UInt8:
    case DataType::UInt4:
      return load_elements<T, std::uint8_t>(from, stride, count, to);
    case DataType::Int8:
    case DataType::Int4:
      return load_elements<T, std::int8_t>(from, stride, count, to);
    case DataType::UInt16:
      return load_elements<T, std::uint16_t>(from, stride, count, to);
    case DataType::Int16:
      return load_elements<T, std::int16_t>(from, stride, count, to);
    case DataType::UInt32:
      return load_elements<T, std::uint32_t>(from, stride, count, to);
    case DataType::Int32:
      return load_elements<T, std::int32_t>(from, stride, count, to);
    case DataType::UInt64:
      return load_elements<T, std::uint64_t>(from, stride, count, to);
    case DataType::Int64:
      return load_elements<T, std::int64_t>(from, stride, count, to);
  }
}

/// Elements as their bits.
template <typename T>
void load_bits(DataType type, const std::byte* from, std::uint64_t stride, std::size_t count,
               T* to) {
  switch (size_of(type)) {
    case 1:
      return load_elements<T, std::uint8_t>(from, stride, count, to);
    case 2:
      return load_elements<T, std::uint16_t>(from, stride, count, to);
    case 4:
      return load_elements<T, std::uint32_t>(from, stride, count, to);
    default:
      return load_elements<T, std::uint64_t>(from, stride, count, to);
  }
}

// --- storing

/// A float as an integer: truncated, saturated; NaN is 0.
template <typename Integer, typename T>
HWY_INLINE Integer saturated(T value) {
  using Limits = std::numeric_limits<Integer>;
  // As floats: the largest may be rounded up to a power of two, which is one too many.
  constexpr T low = static_cast<T>(Limits::min());
  constexpr T high = static_cast<T>(Limits::max());
  if (value != value) return Integer(0);
  if (value <= low) return Limits::min();
  if (value >= high) return Limits::max();
  return static_cast<Integer>(value);
}

template <typename Integer, StoreMode mode, typename T>
HWY_INLINE Integer integer_from(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    const T whole = mode == StoreMode::rounds ? std::nearbyint(value) : value;
    if constexpr (mode == StoreMode::truncates && sizeof(Integer) == 2)
      return static_cast<Integer>(saturated<std::int32_t>(whole));
    return saturated<Integer>(whole);
  } else if constexpr (mode == StoreMode::abs8 && std::is_same_v<Integer, std::int8_t>) {
    return static_cast<std::int8_t>(std::clamp<T>(value, T(-128), T(127)));
  } else {
    return static_cast<Integer>(value);
  }
}

template <typename Integer, StoreMode mode, typename T>
void store_integers(const T* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i)
    cpu::store(to + i * sizeof(Integer), integer_from<Integer, mode>(from[i]));
}

template <typename T>
void store_halves(const T* from, std::size_t count, std::byte* to) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<T, float>) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> halves;
    const std::size_t lanes = hn::Lanes(d);
    for (; HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4 &&
           i + lanes <= count;
         i += lanes) {
      HWY_ALIGN hwy::float16_t bits[hn::MaxLanes(d)];
      hn::Store(hn::DemoteTo(halves, hn::LoadU(d, from + i)), halves, bits);
      std::memcpy(to + i * 2, bits, lanes * 2);
    }
  }
  for (; i < count; ++i) cpu::store(to + i * 2, half_from_double(static_cast<double>(from[i])));
}

template <typename T>
void store_four_bits(bool is_signed, const T* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = integer_from<std::int32_t, StoreMode::rounds>(from[i]);
    cpu::store(to + i, static_cast<std::int8_t>(is_signed ? std::clamp(value, -8, 7)
                                                     : std::clamp(value, 0, 15)));
  }
}

template <StoreMode mode, typename T>
void store(DataType type, const T* from, std::size_t count, std::byte* to) {
  switch (type) {
    case DataType::Float32:
      for (std::size_t i = 0; i < count; ++i) cpu::store(to + i * 4, static_cast<float>(from[i]));
      return;
    case DataType::Float16:
      return store_halves(from, count, to);
    case DataType::Float64:
      for (std::size_t i = 0; i < count; ++i) cpu::store(to + i * 8, static_cast<double>(from[i]));
      return;
    case DataType::UInt8:
      return store_integers<std::uint8_t, mode>(from, count, to);
    case DataType::Int8:
      return store_integers<std::int8_t, mode>(from, count, to);
    case DataType::UInt16:
      return store_integers<std::uint16_t, mode>(from, count, to);
    case DataType::Int16:
      return store_integers<std::int16_t, mode>(from, count, to);
    case DataType::UInt32:
      return store_integers<std::uint32_t, mode>(from, count, to);
    case DataType::Int32:
      return store_integers<std::int32_t, mode>(from, count, to);
    case DataType::UInt64:
      return store_integers<std::uint64_t, mode>(from, count, to);
    case DataType::Int64:
      return store_integers<std::int64_t, mode>(from, count, to);
    case DataType::UInt4:
    case DataType::Int4:
      return store_four_bits(type == DataType::Int4, from, count, to);
  }
}

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

// --- the rows of the table

template <typename T>
using Numbers = std::array<const T*, inputs_most>;
template <typename T>
using Compute = void (*)(const Numbers<T>& in, const std::array<T, 4>& p, std::size_t count,
                         T* out);

#define EXPRESSION(name, inputs, class, store, expression)                                     \
  template <typename T>                                                                        \
  void compute_##name(const Numbers<T>& in, const std::array<T, 4>& p, std::size_t count,      \
                      T* HWY_RESTRICT out) {                                                   \
    [[maybe_unused]] const T p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];                       \
    const T* HWY_RESTRICT in0 = in[0];                                                         \
    const T* HWY_RESTRICT in1 = in[1];                                                         \
    const T* HWY_RESTRICT in2 = in[2];                                                         \
    for (std::size_t i = 0; i < count; ++i) {                                                  \
      [[maybe_unused]] const T a = in0[i];                                                     \
      [[maybe_unused]] const T b = inputs > 1 ? in1[i] : T(0);                                 \
      [[maybe_unused]] const T c = inputs > 2 ? in2[i] : T(0);                                 \
      [[maybe_unused]] const T d = inputs > 3 ? in[3][i] : T(0);                               \
      [[maybe_unused]] const T e = inputs > 4 ? in[4][i] : T(0);                               \
      [[maybe_unused]] const T f = inputs > 5 ? in[5][i] : T(0);                               \
      [[maybe_unused]] const T g = inputs > 6 ? in[6][i] : T(0);                               \
      [[maybe_unused]] const T h = inputs > 7 ? in[7][i] : T(0);                               \
      out[i] = static_cast<T>(expression);                                                     \
    }                                                                                          \
  }
#include "../../shaders/expressions.def"
#undef EXPRESSION

template <typename T>
constexpr bool computes(NumberClass number_class) {
  switch (number_class) {
    case NumberClass::real:
      return std::is_same_v<T, float>;
    case NumberClass::wide:
      return std::is_same_v<T, double>;
    case NumberClass::number:
      return true;
    case NumberClass::bits:
      return std::is_unsigned_v<T>;
    case NumberClass::truth:
      return std::is_same_v<T, std::uint32_t>;
  }
  return false;
}

template <typename T>
Compute<T> find_compute(Expression expression) {
  switch (expression) {
#define EXPRESSION(name, inputs, class, store, text)             \
  case Expression::name:                                         \
    if constexpr (computes<T>(NumberClass::class))               \
      return compute_##name<T>;                                  \
    break;
#include "../../shaders/expressions.def"
#undef EXPRESSION
    case Expression::cast:
      break;
  }
  throw std::logic_error("an expression is computed with a type that it has not");
}

template <typename T>
using Store = void (*)(DataType type, const T* from, std::size_t count, std::byte* to);

// Floats never wrap, and integers are never rounded.
template <typename T>
Store<T> find_store(StoreMode mode) {
  if constexpr (std::is_floating_point_v<T>) {
    if (mode == StoreMode::rounds) return store<StoreMode::rounds, T>;
    return store<StoreMode::truncates, T>;
  } else {
    if (mode == StoreMode::abs8) return store<StoreMode::abs8, T>;
    return store<StoreMode::wraps, T>;
  }
}

// --- casts

/// DML_OPERATOR_CAST: floats are truncated and saturated; integers keep their low bits, but those
/// of 8 bits are saturated from the low 32, and a negative INT8 is the largest UINT16.
template <typename To, typename From>
HWY_INLINE To cast_of(From from) {
  if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, Half>) return from;
    else if constexpr (std::is_integral_v<From> && sizeof(From) == 8)
      return {half_from_double(static_cast<double>(static_cast<float>(from)))};
    else return {half_from_double(static_cast<double>(from))};
  } else if constexpr (std::is_same_v<From, Half>) {
    return cast_of<To>(half_to_float(from.bits));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_floating_point_v<From>) {
    return saturated<To>(from);
  } else if constexpr (std::is_same_v<To, std::uint8_t>) {
    return static_cast<To>(std::min<std::uint32_t>(static_cast<std::uint32_t>(from), 255));
  } else if constexpr (std::is_same_v<To, std::int8_t>) {
    return static_cast<To>(
        std::clamp<std::int32_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(from)), -128,
                                 127));
  } else if constexpr (std::is_same_v<To, std::uint16_t> && std::is_same_v<From, std::int8_t>) {
    return from < 0 ? To(0xFFFF) : static_cast<To>(from);
  } else {
    return static_cast<To>(from);
  }
}

/// A float that FLOAT16 is rounded from as from the number itself: it has all digits that count, and
/// where a double has more, its last one is odd.
template <typename From>
HWY_INLINE float float_for_half(From number) {
  return static_cast<float>(number);
}
HWY_INLINE float float_for_half(double number) {
  const auto nearest = static_cast<float>(number);
  const auto back = static_cast<double>(nearest);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  bits = std::abs(back) > std::abs(number) ? bits - 1 : bits;
  return std::bit_cast<float>(back == number ? bits : bits | 1);
}

/// Between FLOAT16 and another type, through a stretch of floats.
template <typename To, typename From>
void cast_halves(const std::byte* from, std::uint64_t stride, std::size_t count, std::byte* to) {
  std::array<float, stretch> numbers;
  if constexpr (std::is_same_v<From, Half>) {
    load(DataType::Float16, from, stride, count, numbers.data());
    for (std::size_t i = 0; i < count; ++i)
      cpu::store(to + i * sizeof(To), cast_of<To>(numbers[i]));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = float_for_half(cpu::load<From>(from + i * stride * sizeof(From)));
    store_halves(numbers.data(), count, to);
  }
}

template <typename To, typename From>
void cast_elements(const std::byte* from, std::uint64_t stride, std::size_t count, std::byte* to) {
  if constexpr (std::is_same_v<To, Half> != std::is_same_v<From, Half>) {
    cast_halves<To, From>(from, stride, count, to);
  } else if (stride == 1) {
    for (std::size_t i = 0; i < count; ++i)
      cpu::store(to + i * sizeof(To), cast_of<To>(cpu::load<From>(from + i * sizeof(From))));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      cpu::store(to + i * sizeof(To), cast_of<To>(cpu::load<From>(from + i * stride * sizeof(From))));
  }
}

using Cast = void (*)(const std::byte* from, std::uint64_t stride, std::size_t count,
                      std::byte* to);
Cast find_cast(DataType from, DataType to) {
  return visit_type(from, [&](auto source) {
    return visit_type(to, [&](auto target) -> Cast {
      return cast_elements<decltype(target), decltype(source)>;
    });
  });
}

// --- rows of tensors

/// Goes through the rows of a stretch; each row is computed by `Row`.
class RowWalk {
 public:
  RowWalk(const ElementWiseKernel& kernel, Inputs inputs)
      : kernel_(kernel), row_(kernel.extents.back()) {
    std::size_t buffer = 0;
    for (const ElementWiseInput& input : kernel.inputs) {
      buffers_[static_cast<std::size_t>(&input - kernel.inputs.data())] =
          input.constant ? nullptr : inputs[buffer++].data();
      const std::uint64_t bytes = input.strides.back() * size_of(input.type);
      steps_each_ += bytes >= 4096 ? far_steps : 8;
    }
  }

  /// Calls row(pointers to the inputs, count, to) for unbroken elements of a row.
  template <typename Row>
  void run(std::uint64_t begin, std::uint64_t end, Output& output, Row&& row) const {
    while (begin < end) {
      const std::uint64_t o = begin % row_;
      const std::uint64_t most = std::min<std::uint64_t>(stretch, output.room(steps_each_));
      const std::uint64_t count = std::min({row_ - o, end - begin, most});
      std::array<const std::byte*, inputs_most> from{};
      for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
        if (buffers_[k] != nullptr) from[k] = source(k, begin);
      }
      row(from, static_cast<std::size_t>(count), output.take(count, steps_each_));
      begin += count;
    }
  }

 private:
  const std::byte* source(std::size_t k, std::uint64_t index) const {
    const ElementWiseInput& input = kernel_.inputs[k];
    std::uint64_t offset = 0;
    for (std::size_t i = kernel_.extents.size(); i-- > 0; index /= kernel_.extents[i])
      offset += index % kernel_.extents[i] * input.strides[i];
    return buffers_[k] + offset * size_of(input.type);
  }

  const ElementWiseKernel& kernel_;
  std::array<const std::byte*, inputs_most> buffers_{};
  std::uint64_t row_;
  std::uint64_t steps_each_ = 0;
};

template <typename T>
std::array<T, 4> numbers_of(const std::array<Parameter, 4>& parameters) {
  std::array<T, 4> numbers;
  std::transform(parameters.begin(), parameters.end(), numbers.begin(), [](const Parameter& one) {
    return std::is_floating_point_v<T> ? static_cast<T>(one.real) : static_cast<T>(one.integer);
  });
  return numbers;
}

template <typename T>
class ElementWise {
 public:
  ElementWise(const ElementWiseKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        about_(info(kernel.expression)),
        walk_(kernel, inputs),
        compute_(find_compute<T>(kernel.expression)),
        store_(find_store<T>(about_.store)),
        stored_type_(about_.number_class == NumberClass::bits ? bits_of(kernel.output_type)
                                                              : kernel.output_type),
        parameters_(numbers_of<T>(kernel.parameters)),
        numbers_(stretch * (kernel.inputs.size() + 1)) {}

  void run(std::uint64_t begin, std::uint64_t end, Output& output) {
    walk_.run(begin, end, output, [&](const auto& from, std::size_t count, std::byte* to) {
      Numbers<T> in{};
      for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) in[k] = loaded(k, from[k], count);
      T* out = numbers_.data() + kernel_.inputs.size() * stretch;
      compute_(in, parameters_, count, out);
      store_(stored_type_, out, count, to);
    });
  }

 private:
  const T* loaded(std::size_t k, const std::byte* from, std::size_t count) {
    const ElementWiseInput& input = kernel_.inputs[k];
    T* to = numbers_.data() + k * stretch;
    if (input.constant) {
      std::fill(to, to + count, static_cast<T>(*input.constant));
      return to;
    }
    const std::uint64_t stride = input.strides.back();
    if (about_.number_class == NumberClass::bits) {
      load_bits(input.type, from, stride, count, to);
    } else if (k == 0 && kernel_.input_scale) {
      load_scaled(input.type, from, stride, count, to);
    } else {
      load(input.type, from, stride, count, to);
    }
    if (about_.number_class == NumberClass::truth) {
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i] != T(0) ? T(1) : T(0);
    }
    return to;
  }

  // Integers are scaled as floats, and truncated to their type.
  void load_scaled(DataType type, const std::byte* from, std::uint64_t stride, std::size_t count,
                   T* to) {
    const float scale = kernel_.input_scale->scale, bias = kernel_.input_scale->bias;
    std::array<float, stretch> floats;
    cpu::HWY_NAMESPACE::load(type, from, stride, count, floats.data());
    for (std::size_t i = 0; i < count; ++i) floats[i] = floats[i] * scale + bias;
    if constexpr (std::is_same_v<T, float>) {
      std::copy(floats.begin(), floats.begin() + static_cast<std::ptrdiff_t>(count), to);
    } else {
      std::array<std::byte, stretch * 8> elements;
      store<StoreMode::truncates>(type, floats.data(), count, elements.data());
      cpu::HWY_NAMESPACE::load(type, elements.data(), 1, count, to);
    }
  }

  const ElementWiseKernel& kernel_;
  const ExpressionInfo& about_;
  RowWalk walk_;
  Compute<T> compute_;
  Store<T> store_;
  DataType stored_type_;
  std::array<T, 4> parameters_;
  std::vector<T> numbers_;  // a stretch of each input, and of the output
};

void apply_function(const NumberFunction& function, std::span<float> numbers) {
  const Compute<float> compute = find_compute<float>(function.expression);
  const std::array<float, 4> parameters = numbers_of<float>(function.parameters);
  std::array<float, stretch> given;
  for (std::size_t at = 0; at < numbers.size(); at += stretch) {
    const std::size_t count = std::min(stretch, numbers.size() - at);
    std::copy_n(numbers.data() + at, count, given.data());
    compute({given.data()}, parameters, count, numbers.data() + at);
  }
}

void execute_element_wise(const ElementWiseKernel& kernel, Inputs inputs, std::uint64_t begin,
                          std::uint64_t end, Output& output) {
  if (kernel.expression == Expression::cast) {
    const Cast cast = find_cast(kernel.inputs[0].type, kernel.output_type);
    const std::uint64_t stride = kernel.inputs[0].strides.back();
    return RowWalk(kernel, inputs)
        .run(begin, end, output, [&](const auto& from, std::size_t count, std::byte* to) {
          cast(from[0], stride, count, to);
        });
  }
  switch (kernel.compute) {
    case ComputeType::float32:
      return ElementWise<float>(kernel, inputs).run(begin, end, output);
    case ComputeType::float64:
      return ElementWise<double>(kernel, inputs).run(begin, end, output);
    case ComputeType::int32:
      return ElementWise<std::int32_t>(kernel, inputs).run(begin, end, output);
    case ComputeType::uint32:
      return ElementWise<std::uint32_t>(kernel, inputs).run(begin, end, output);
    case ComputeType::int64:
      return ElementWise<std::int64_t>(kernel, inputs).run(begin, end, output);
    case ComputeType::uint64:
      return ElementWise<std::uint64_t>(kernel, inputs).run(begin, end, output);
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
  run_stretch(stores, part, size_of(kernel.output_type), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                DMLOP_BEST_SIMD(execute_element_wise)(kernel, inputs, begin, end, output);
              });
}

}  // namespace dmlop::cpu
#endif
