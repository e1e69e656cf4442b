// The rows of shaders/expressions.def as functions that compute blocks of numbers. All loops are
// over contiguous numbers, for the compiler to vectorize. Included once per instruction set.
//
// Integers wrap: the build gives files that include this one -fwrapv.
#if defined(DMLOP_CPU_EXPRESSIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_EXPRESSIONS_INL
#undef DMLOP_CPU_EXPRESSIONS_INL
#else
#define DMLOP_CPU_EXPRESSIONS_INL
#endif

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "cpu/elementary-inl.hpp"
#include "cpu/numbers-inl.hpp"
#include "cpu/usual-inl.hpp"
#include "ops/kernels/element_wise.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// Of the expressions.
constexpr std::size_t inputs_most = 8;

template <typename T>
using Numbers = std::array<const T*, inputs_most>;

/// Computes `count` numbers, in whole blocks: all arrays have room for those.
template <typename T>
using Compute = void (*)(const Numbers<T>& in, const std::array<T, 4>& p, std::size_t count,
                         T* out);
constexpr std::size_t block = 128;
static_assert(stretch % block == 0);

// A block is computed for usual numbers, and once more for all if one of it was rare. Where
// `in_row`, each input but the first has one number for all, so that what depends on these alone is
// computed once.
#define EXPRESSION(name, inputs, class, store, expression)                                \
  template <typename T, bool in_row>                                                      \
  void compute_##name(const Numbers<T>& in, const std::array<T, 4>& p, std::size_t count, \
                      T* HWY_RESTRICT out) {                                              \
    [[maybe_unused]] const T p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];                  \
    for (std::size_t begin = 0; begin < count; begin += block, out += block) {            \
      const T* HWY_RESTRICT in0 = in[0] + begin;                                          \
      [[maybe_unused]] const std::size_t at = in_row ? 0 : begin;                         \
      [[maybe_unused]] const T* HWY_RESTRICT in1 = in[1] + at;                            \
      [[maybe_unused]] const T* HWY_RESTRICT in2 = in[2] + at;                            \
      Rare rare = 0;                                                                      \
      HWY_UNROLL(1)                                                                       \
      for (std::size_t i = 0; i < block; ++i) {                                           \
        DMLOP_NUMBERS(inputs)                                                             \
        DMLOP_USUAL_FUNCTIONS                                                             \
        out[i] = static_cast<T>(expression);                                              \
      }                                                                                   \
      if (rare >> 31 == 0) continue;                                                      \
      HWY_UNROLL(1)                                                                       \
      for (std::size_t i = 0; i < block; ++i) {                                           \
        DMLOP_NUMBERS(inputs)                                                             \
        out[i] = static_cast<T>(expression);                                              \
      }                                                                                   \
    }                                                                                     \
  }
#define DMLOP_NUMBERS(inputs)                                       \
  [[maybe_unused]] const std::size_t j = in_row ? 0 : i;            \
  [[maybe_unused]] const T a = in0[i];                              \
  [[maybe_unused]] const T b = (inputs) > 1 ? in1[j] : T(0);        \
  [[maybe_unused]] const T c = (inputs) > 2 ? in2[j] : T(0);        \
  [[maybe_unused]] const T d = (inputs) > 3 ? in[3][at + j] : T(0); \
  [[maybe_unused]] const T e = (inputs) > 4 ? in[4][at + j] : T(0); \
  [[maybe_unused]] const T f = (inputs) > 5 ? in[5][at + j] : T(0); \
  [[maybe_unused]] const T g = (inputs) > 6 ? in[6][at + j] : T(0); \
  [[maybe_unused]] const T h = (inputs) > 7 ? in[7][at + j] : T(0);
// Their names stand before those of the functions for all numbers.
#define DMLOP_USUAL_FUNCTIONS                                                                 \
  [[maybe_unused]] const auto exp_of = [&](auto x) HWY_ATTR { return usual_exp(x, rare); };   \
  [[maybe_unused]] const auto log_of = [&](auto x) HWY_ATTR { return usual_log(x, rare); };   \
  [[maybe_unused]] const auto sin_of = [&](auto x) HWY_ATTR { return usual_sin(x, rare); };   \
  [[maybe_unused]] const auto cos_of = [&](auto x) HWY_ATTR { return usual_cos(x, rare); };   \
  [[maybe_unused]] const auto tan_of = [&](auto x) HWY_ATTR { return usual_tan(x, rare); };   \
  [[maybe_unused]] const auto sigmoid_of = [&](auto x)                                        \
                                               HWY_ATTR { return usual_sigmoid(x, rare); };   \
  [[maybe_unused]] const auto swish_of = [&](auto x, auto z)                                  \
                                             HWY_ATTR { return usual_swish(x, z, rare); };    \
  [[maybe_unused]] const auto softplus_of = [&](auto x)                                       \
                                                HWY_ATTR { return usual_softplus(x, rare); }; \
  [[maybe_unused]] const auto pow_of = [&](auto x, auto y)                                    \
                                           HWY_ATTR { return usual_pow(x, y, rare); };
#include "../../shaders/expressions.def"
#undef EXPRESSION
#undef DMLOP_NUMBERS
#undef DMLOP_USUAL_FUNCTIONS

/// Whether the bits of a result depend on those at the same places only, or on whether a number is
/// 0: then bytes need not become wider numbers.
constexpr bool is_bytewise(Expression expression) {
  switch (expression) {
    case Expression::logical_and:
    case Expression::logical_or:
    case Expression::logical_xor:
    case Expression::logical_not:
    case Expression::bit_and:
    case Expression::bit_or:
    case Expression::bit_xor:
    case Expression::bit_not:
    case Expression::choose:
      return true;
    default:
      return false;
  }
}

template <typename T>
constexpr bool computes(Expression expression, NumberClass number_class) {
  if constexpr (sizeof(T) == 1) return is_bytewise(expression);
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
#define EXPRESSION(name, inputs, class, store, text)                 \
  case Expression::name:                                             \
    if constexpr (computes<T>(Expression::name, NumberClass::class)) \
      return compute_##name<T, false>;                               \
    break;
#include "../../shaders/expressions.def"
#undef EXPRESSION
    case Expression::cast:
      break;
  }
  throw std::logic_error("an expression is computed with a type that it has not");
}

/// The same where each input but the first has one number for a row, for expressions of at least
/// `row_inputs` floats. Others have none: they gain little.
constexpr std::size_t row_inputs = 3;
template <typename T>
Compute<T> find_row_compute([[maybe_unused]] Expression expression) {
  if constexpr (std::is_same_v<T, float>) {
    switch (expression) {
#define EXPRESSION(name, inputs, class, store, text)                                 \
  case Expression::name:                                                             \
    if constexpr ((inputs) >= row_inputs && NumberClass::class == NumberClass::real) \
      return compute_##name<T, true>;                                                \
    break;
#include "../../shaders/expressions.def"
#undef EXPRESSION
      case Expression::cast:
        break;
    }
  }
  return nullptr;
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
