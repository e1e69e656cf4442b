// Element-wise operators and activations: each against its definition, in double or on integers.
#include "ops/element_wise.hpp"

#include <doctest/doctest.h>

#include "plan_case.hpp"
#include "reference/element_wise.hpp"
#include "reference/values.hpp"
#include "simd_targets.hpp"
#include "small_numbers.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::element_wise_test {
namespace {

using Json = nlohmann::ordered_json;

PlanCase case_of_tensors(const std::string& name, const Json& fields,
                         const std::vector<const char*>& names, const std::vector<Tensor>& inputs,
                         const Tensor& output, std::uint64_t ulp) {
  PlanCase a_case{"DML_OPERATOR_" + name, fields.is_null() ? Json::object() : fields, {}, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) a_case.inputs.push_back({names[i], inputs[i]});
  const bool is_real = output.type == DataType::Float32 || output.type == DataType::Float16;
  const bool moves = name == "ELEMENT_WISE_IDENTITY" || name == "ACTIVATION_IDENTITY";
  a_case.outputs.push_back({"OutputTensor", output, std::nullopt, ulp, 0, is_real && !moves});
  return a_case;
}

/// The output of a function of two inputs; the second may be the first once more.
template <typename Value>
Tensor mapped(DataType type, const std::vector<Tensor>& inputs, Value&& value) {
  Tensor output = Tensor::packed(type, inputs.front().sizes);
  for_each_index(output.sizes, [&](const Index& at) {
    const std::vector<std::byte> bytes = value(inputs.front().at(at), inputs.back().at(at));
    std::memcpy(output.at(at), bytes.data(), bytes.size());
  });
  return output;
}

TEST_CASE("element-wise: functions of real numbers are what they are defined to be") {
  Random random(51);
  for (const RealFunction& function : real_functions()) {
    CAPTURE(std::string(function.name));
    for (const DataType type : F2) {
      for (int i = 0; i < 12; ++i) {
        const bool is_special = i % 2 == 1;
        const List sizes = random_sizes(random.from_to(1, 8), random);
        std::vector<Tensor> inputs;
        for (std::size_t k = 0; k < function.inputs.size(); ++k)
          inputs.push_back(random_numbers(type, sizes, is_special, random));
        const Tensor output = mapped(type, inputs, [&](const std::byte* a, const std::byte* b) {
          return element(type, function.value(number(type, a), number(type, b)));
        });
        const std::uint64_t ulp =
            type == DataType::Float16 ? std::min<std::uint64_t>(function.ulp, 1) : function.ulp;
        check_plan_case(
            case_of_tensors(function.name, function.fields, function.inputs, inputs, output, ulp));
      }
    }
  }
}

// Whole blocks of packed numbers are computed where they lie.
TEST_CASE("element-wise: scale and bias come first, for any number of elements") {
  Random random(79);
  int functions = 0;
  for (const RealFunction& function : real_functions()) {
    if (find_spec(function.name)->find_field("ScaleBias") == nullptr) continue;
    CAPTURE(std::string(function.name));
    ++functions;
    for (const DataType type : F2) {
      for (const List& sizes : {List{3}, {128}, {2, 128}, {3, 129}}) {
        const double scale = random.one_in(2) ? 0.5 : -2, bias = random.one_in(2) ? 0.25 : 3;
        Json fields = function.fields.is_null() ? Json::object() : function.fields;
        fields["ScaleBias"] = {{"Scale", scale}, {"Bias", bias}};
        std::vector<Tensor> inputs;
        for (std::size_t k = 0; k < function.inputs.size(); ++k)
          inputs.push_back(small_numbers(type, sizes, random, 0.25));
        const Tensor output = mapped(type, inputs, [&](const std::byte* a, const std::byte* b) {
          const double scaled = f(number(type, a) * scale + bias);
          return element(type, function.value(scaled, number(type, b)));
        });
        const std::uint64_t ulp =
            type == DataType::Float16 ? std::min<std::uint64_t>(function.ulp, 1) : function.ulp;
        check_plan_case(
            case_of_tensors(function.name, fields, function.inputs, inputs, output, ulp));
      }
    }
  }
  CHECK(functions == 25);
}

TEST_CASE("element-wise: integers of every width wrap") {
  Random random(52);
  for (const IntegerFunction& function : integer_functions()) {
    CAPTURE(std::string(function.name));
    for (const DataType type : A11) {
      if (info(type).kind == NumberKind::floating) continue;
      for (int i = 0; i < 3; ++i) {
        const List sizes = random_sizes(random.from_to(1, 8), random);
        std::vector<Tensor> inputs;
        for (std::size_t k = 0; k < function.inputs.size(); ++k)
          inputs.push_back(random_tensor(type, sizes, random));
        // Zeros, equal elements, and the smallest one by -1.
        for (Tensor& input : inputs) {
          std::fill_n(input.bytes.begin(), size_of(type), std::byte{0});
          const bool is_signed = info(type).kind == NumberKind::signed_integer;
          if (!is_signed || input.bytes.size() < 2 * size_of(type)) continue;
          const auto second = input.bytes.begin() + static_cast<std::ptrdiff_t>(size_of(type));
          const bool is_first = &input == &inputs.front();
          std::fill_n(second, size_of(type), is_first ? std::byte{0} : std::byte{0xFF});
          if (is_first)
            *(second + static_cast<std::ptrdiff_t>(size_of(type)) - 1) = std::byte{0x80};
        }
        const DataType output_type = function.is_predicate ? DataType::UInt8 : type;
        const Tensor output =
            mapped(output_type, inputs, [&](const std::byte* a, const std::byte* b) {
              const Wide value = function.value(integer(type, a), integer(type, b));
              auto bytes = element_bytes(static_cast<std::uint64_t>(value));
              bytes.resize(size_of(output_type));
              return bytes;
            });
        check_plan_case(case_of_tensors(function.name, {}, function.inputs, inputs, output, 0));
      }
    }
  }
}

/// Integers of a type from their low bits.
Tensor integers_of(DataType type, const std::vector<std::int64_t>& values) {
  Tensor tensor = Tensor::packed(type, {values.size()});
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(tensor.at({i}), &values[i], size_of(type));
  return tensor;
}

TEST_CASE("element-wise: integers divided by 0 have all bits set") {
  for (const DataType type : A11) {
    if (info(type).kind == NumberKind::floating) continue;
    CAPTURE(std::string(name_of(type)));
    const bool is_signed = info(type).kind == NumberKind::signed_integer;
    const std::int64_t least =
        is_signed ? std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(type)) : 0;
    // By 0; then the smallest by -1 (0 by the largest, if unsigned), which is itself; then 7 by 2.
    const Tensor a = integers_of(type, {0, 1, 7, -1, least, -7, least, 7});
    const Tensor b = integers_of(type, {0, 0, 0, 0, 0, 0, -1, 2});
    const auto check = [&](const char* name, std::int64_t by_minus_one, std::int64_t by_two) {
      const Tensor output = integers_of(type, {-1, -1, -1, -1, -1, -1, by_minus_one, by_two});
      check_plan_case(case_of_tensors(name, {}, {"ATensor", "BTensor"}, {a, b}, output, 0));
    };
    check("ELEMENT_WISE_DIVIDE", least, 3);
    check("ELEMENT_WISE_MODULUS_FLOOR", 0, 1);
    check("ELEMENT_WISE_MODULUS_TRUNCATE", 0, 1);
  }
}

TEST_CASE("element-wise: powers of integers are exact") {
  for (const DataType type : {DataType::Int32, DataType::UInt32, DataType::Int16}) {
    for (const DataType exponent : {type, DataType::Float32}) {
      const Tensor exponents =
          exponent == type ? integers_of(type, {3, 2, 5, 0}) : floats({4}, {3, 2, 5, 0});
      check_plan_case(case_of_tensors("ELEMENT_WISE_POW", {}, {"InputTensor", "ExponentTensor"},
                                      {integers_of(type, {5, 181, 7, 9}), exponents},
                                      integers_of(type, {125, 32761, 16807, 1}), 0));
    }
  }
}

void check_powers(const Tensor& bases, const Tensor& exponents, const Tensor& powers) {
  check_plan_case(case_of_tensors("ELEMENT_WISE_POW", {}, {"InputTensor", "ExponentTensor"},
                                  {bases, exponents}, powers, 0));
}

TEST_CASE("element-wise: powers of integers at the ends of their ranges") {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  check_powers(
      integers_of(DataType::Int32, {2, 2, 2, -2, -2, -2, 46340, 46341, -1, -1, 0, 0, 0, 1, least}),
      integers_of(DataType::Int32, {30, 31, -1, 31, 32, 33, 2, 2, least, most, 0, 5, -1, least, 1}),
      integers_of(DataType::Int32, {1 << 30, most, 0, least, most, least, 2147395600, most, 1, -1,
                                    1, 0, most, 1, least}));
  // 8 bits saturate, 16 bits wrap.
  check_powers(integers_of(DataType::Int8, {20, -20, -6, 11}),
               integers_of(DataType::UInt32, {2, 3, 3, 2}),
               integers_of(DataType::Int8, {127, -128, -128, 121}));
  check_powers(integers_of(DataType::Int16, {200, -3, 2}), integers_of(DataType::Int8, {2, 21, 40}),
               integers_of(DataType::Int16, {-25536, 0, -1}));
  check_powers(integers_of(DataType::UInt32, {65535, 65536, 3}),
               integers_of(DataType::UInt16, {2, 2, 20}),
               integers_of(DataType::UInt32, {4294836225, 4294967295, 3486784401}));
}

TEST_CASE("element-wise: fractional powers of integers are truncated") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  check_powers(
      integers_of(DataType::Int32, {4, 2, 8, 81, 16, 27, 26, -2, -8, 1, 3, 3, 0, -1, 2, 2, 2, 5}),
      floats({18}, {0.5F, 0.5F, 1.5F, 0.75F, -0.25F, 1.0F / 3, 1.0F / 3, 0.5F, 3, NAN, NAN,
                    INFINITY, -0.5F, -INFINITY, -INFINITY, 30.9999F, 1e-40F, -1e-30F}),
      integers_of(DataType::Int32,
                  {2, 1, 22, 27, 0, 3, 2, 0, -512, 1, 0, most, most, 1, 0, 2147336018, 1, 1}));
}

// What C's pow gives, which is off by less than one unit of a double.
TEST_CASE("element-wise: powers of random integers are those of FLOAT64, truncated") {
  Random random(71);
  constexpr std::size_t count = 4000;
  std::vector<std::int64_t> bases, powers;
  std::vector<float> exponents;
  for (std::size_t i = 0; i < count; ++i) {
    bases.push_back(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(32))));
    const auto fraction = static_cast<double>(random.below(1 << 20)) / (1 << 20);
    const double largest = 32 / std::log2(static_cast<double>(bases.back()) + 1.01);
    exponents.push_back(static_cast<float>(fraction * std::min(largest, 40.0)));
    const double power = std::pow(static_cast<double>(bases.back()), exponents.back());
    powers.push_back(static_cast<std::int64_t>(std::min(power, 4294967295.0)));
  }
  check_powers(integers_of(DataType::UInt32, bases), floats({count}, exponents),
               integers_of(DataType::UInt32, powers));
}

TEST_CASE("element-wise: bounds of 64 bits keep all their bits") {
  Random random(73);
  const auto check = [&]<typename T>(DataType type, T smallest) {
    // Of any length in bits.
    const auto number = [&] {
      return static_cast<T>(static_cast<std::uint64_t>(smallest) +
                            (random.below(~std::uint64_t{0}) >> random.below(64)));
    };
    for (int i = 0; i < 12; ++i) {
      const auto [low, high] = std::minmax({number(), number()});
      std::vector<T> values{low, high}, expected;
      for (int j = 0; j < 30; ++j) values.push_back(number());
      for (const T value : values) expected.push_back(std::clamp(value, low, high));
      check_plan_case(case_of_tensors(
          "ELEMENT_WISE_CLIP1", {{"MinMaxDataType", name_of(type)}, {"Min", low}, {"Max", high}},
          {"InputTensor"}, {Tensor::of(type, {values.size()}, values)},
          Tensor::of(type, {expected.size()}, expected), 0));
    }
  };
  check(DataType::UInt64, std::uint64_t{0});
  check(DataType::Int64, std::int64_t{0});
  check(DataType::Int64, std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("element-wise: what only one operator does") {
  const auto bytes = [](DataType type, const std::vector<std::uint8_t>& values) {
    return Tensor::of(type, {values.size()}, values);
  };
  const auto check = [](const char* name, const Json& fields, const std::vector<const char*>& names,
                        const std::vector<Tensor>& inputs, const Tensor& output) {
    CAPTURE(name);
    check_plan_case(case_of_tensors(name, fields, names, inputs, output, 0));
  };
  const std::vector<const char*> one{"InputTensor"}, two{"ATensor", "BTensor"};
  // The smallest INT8 saturates, the smallest INT16 stays.
  check("ELEMENT_WISE_ABS", {}, one, {bytes(DataType::Int8, {0x80, 0xFF, 5})},
        bytes(DataType::Int8, {127, 1, 5}));
  check("ELEMENT_WISE_NEGATE", {}, one,
        {Tensor::of<std::uint16_t>(DataType::Int16, {2}, {0x8000, 3})},
        Tensor::of<std::uint16_t>(DataType::Int16, {2}, {0x8000, 0xFFFD}));
  // A scale on integers is computed in float, truncated and saturated; 16 bits wrap.
  check("ELEMENT_WISE_CLIP",
        {{"Min", 0}, {"Max", 255}, {"ScaleBias", {{"Scale", 2.5}, {"Bias", 1.7}}}}, one,
        {bytes(DataType::UInt8, {2, 200})}, bytes(DataType::UInt8, {6, 255}));
  check("ELEMENT_WISE_IDENTITY", {{"ScaleBias", {{"Scale", 2.5}, {"Bias", 1.7}}}}, one,
        {Tensor::of<std::uint16_t>(DataType::UInt16, {1}, {65535})},
        Tensor::of<std::uint16_t>(DataType::UInt16, {1}, {32767}));
  // UINT16 as UINT32, and INT16 as INT32.
  check("ELEMENT_WISE_IDENTITY", {{"ScaleBias", {{"Scale", 50000}, {"Bias", -151552}}}}, one,
        {Tensor::of<std::uint16_t>(DataType::UInt16, {4}, {0, 2, 3, 60000})},
        Tensor::of<std::uint16_t>(DataType::UInt16, {4}, {0, 0, 0, 3584}));
  check("ELEMENT_WISE_IDENTITY", {{"ScaleBias", {{"Scale", 100000}, {"Bias", -150000}}}}, one,
        {Tensor::of<std::uint16_t>(DataType::Int16, {3}, {0, 1, 30000})},
        Tensor::of<std::uint16_t>(DataType::Int16, {3}, {46608, 15536, 65535}));
  check("ELEMENT_WISE_POW", {}, {"InputTensor", "ExponentTensor"},
        {Tensor::of<std::uint16_t>(DataType::UInt16, {3}, {47785, 65535, 65535}),
         Tensor::of<std::uint16_t>(DataType::UInt16, {3}, {2, 2, 3})},
        Tensor::of<std::uint16_t>(DataType::UInt16, {3}, {913, 1, 65535}));
  // Bounds on integers are truncated toward zero; 64-bit unions keep all their bits.
  check("ELEMENT_WISE_CLIP", {{"Min", 2.6}, {"Max", 10.6}}, one,
        {bytes(DataType::Int8, {0, 5, 100})}, bytes(DataType::Int8, {2, 5, 10}));
  check("ELEMENT_WISE_CLIP1",
        {{"MinMaxDataType", "UINT64"}, {"Min", 1}, {"Max", 18446744073709551614ULL}}, one,
        {Tensor::of<std::uint64_t>(DataType::UInt64, {2}, {0, ~std::uint64_t{0}})},
        Tensor::of<std::uint64_t>(DataType::UInt64, {2}, {1, ~std::uint64_t{1}}));
  check("ELEMENT_WISE_IF", {}, {"ConditionTensor", "ATensor", "BTensor"},
        {bytes(DataType::UInt8, {0, 7}),
         Tensor::of<std::uint64_t>(DataType::Float64, {2}, {1, 0x7FF0000000000001}),
         Tensor::of<std::uint64_t>(DataType::Float64, {2}, {3, 4})},
        Tensor::of<std::uint64_t>(DataType::Float64, {2}, {3, 0x7FF0000000000001}));
  check("ELEMENT_WISE_BIT_SHIFT_LEFT", {}, two,
        {bytes(DataType::UInt8, {3, 3, 3}), bytes(DataType::UInt8, {32, 8, 7})},
        bytes(DataType::UInt8, {3, 0, 128}));
  check("ELEMENT_WISE_LOGICAL_XOR", {}, two,
        {bytes(DataType::UInt8, {0, 2, 4}), bytes(DataType::UInt8, {0, 8, 0})},
        bytes(DataType::UInt8, {0, 0, 1}));
  check("ELEMENT_WISE_POW", {}, {"InputTensor", "ExponentTensor"},
        {Tensor::of<std::uint32_t>(DataType::UInt32, {2}, {3, 2}),
         Tensor::of<std::uint32_t>(DataType::UInt32, {2}, {20, 0})},
        Tensor::of<std::uint32_t>(DataType::UInt32, {2}, {3486784401, 1}));
  check("ELEMENT_WISE_IS_INFINITY", {{"InfinityMode", "NEGATIVE"}}, one,
        {floats({4}, {-INFINITY, INFINITY, NAN, 1})}, bytes(DataType::UInt8, {1, 0, 0, 0}));
  check("ELEMENT_WISE_IS_NAN", {}, one, {floats({3}, {-INFINITY, NAN, 1})},
        bytes(DataType::UInt8, {0, 1, 0}));
}

TEST_CASE("element-wise: NaN becomes a number where DirectML's does") {
  const auto check = [](const char* name, const Json& fields, float result) {
    CAPTURE(name);
    check_plan_case(case_of_tensors(name, fields, {"InputTensor"}, {floats({1}, {NAN})},
                                    floats({1}, {result}), 0));
  };
  check("ACTIVATION_CELU", {{"Alpha", 2}}, 0);
  check("ACTIVATION_HARD_SIGMOID", {{"Alpha", 0.5}, {"Beta", 0.5}}, 0);
  check("ACTIVATION_RELU", {}, 0);
  check("ACTIVATION_SHRINK", {{"Bias", 1}, {"Threshold", 2}}, 0);
  check("ACTIVATION_ELU", {{"Alpha", 2}}, NAN);
  check("ELEMENT_WISE_CLIP", {{"Min", 3}, {"Max", 7}}, 7);
  check("ELEMENT_WISE_CLIP1", {{"MinMaxDataType", "FLOAT32"}, {"Min", 3}, {"Max", 7}}, 7);
  check("ELEMENT_WISE_SIGN", {}, 0);
  check("ELEMENT_WISE_THRESHOLD", {{"Min", 3}}, 3);
}

TEST_CASE("SOFTPLUS: what is finite does not overflow on the way") {
  const auto check = [](const char* name, const Json& fields, const std::vector<float>& inputs,
                        const std::vector<float>& results) {
    CAPTURE(name);
    check_plan_case(case_of_tensors(name, fields, {"InputTensor"},
                                    {floats({inputs.size()}, inputs)},
                                    floats({results.size()}, results), 0));
  };
  check("ACTIVATION_SOFTPLUS", {{"Steepness", 2}}, {3e38F, -3e38F, INFINITY, NAN, 100},
        {3e38F, 0, INFINITY, NAN, 100});
  check("ACTIVATION_PARAMETRIC_SOFTPLUS", {{"Alpha", 0.25}, {"Beta", 2}},
        {3e38F, -3e38F, INFINITY, NAN, 100}, {1.5e38F, 0, INFINITY, NAN, 50});
}

TEST_CASE("element-wise: scaled integers saturate, those of 16 bits as 32 bits") {
  const auto check = [](DataType type, std::int64_t result) {
    CAPTURE(std::string(name_of(type)));
    check_plan_case(case_of_tensors(
        "ELEMENT_WISE_IDENTITY", {{"ScaleBias", {{"Scale", 1e10}, {"Bias", 0}}}}, {"InputTensor"},
        {integers_of(type, {1, 0})}, integers_of(type, {result, 0}), 0));
  };
  check(DataType::Int8, 127);
  check(DataType::UInt8, 255);
  check(DataType::Int16, -1);
  check(DataType::UInt16, 65535);
  check(DataType::Int32, 2147483647);
  check(DataType::UInt32, 4294967295);
}

TEST_CASE("element-wise: casts truncate and saturate floats, and keep the low bits of integers") {
  const auto check = [](const Tensor& input, const Tensor& output) {
    check_plan_case(case_of_tensors("CAST", {}, {"InputTensor"}, {input}, output, 0));
  };
  check(floats({6}, {1.9F, -1.9F, 300, -300, NAN, 1e30F}),
        Tensor::of<std::uint8_t>(DataType::Int8, {6}, {1, 0xFF, 127, 0x80, 0, 127}));
  check(Tensor::of<std::uint64_t>(DataType::Int64, {3}, {~std::uint64_t{0}, 0x100000005, 300}),
        Tensor::of<std::uint8_t>(DataType::UInt8, {3}, {255, 5, 255}));
  check(Tensor::of<std::uint32_t>(DataType::UInt32, {3}, {0xFFFFFFFF, 200, 0x10001}),
        Tensor::of<std::uint8_t>(DataType::Int8, {3}, {0xFF, 127, 127}));
  check(Tensor::of<std::uint8_t>(DataType::Int8, {2}, {0xFF, 5}),
        Tensor::of<std::uint16_t>(DataType::UInt16, {2}, {0xFFFF, 5}));
  check(Tensor::of<std::uint32_t>(DataType::UInt32, {2}, {0x12345678, 5}),
        Tensor::of<std::uint16_t>(DataType::Int16, {2}, {0x5678, 5}));
  check(floats({4}, {65519, 65520, 1e-7F, 1}),
        Tensor::of<std::uint16_t>(DataType::Float16, {4}, {0x7BFF, 0x7C00, 2, 0x3C00}));
}

TEST_CASE("element-wise: casts of elements that are a stride apart, or all the same") {
  for (const DataType type : {DataType::UInt8, DataType::Int16, DataType::Float16, DataType::UInt32,
                              DataType::Float32, DataType::Float64}) {
    for (const std::uint64_t stride : {0, 2, 3}) {
      CAPTURE(name_of(type));
      CAPTURE(stride);
      Tensor input = Tensor::strided(type, {5}, {stride});
      for (std::uint64_t i = 0; i < 5; ++i) set_value(input, {i}, static_cast<double>(i + 1));
      std::vector<float> expected{1, 2, 3, 4, 5};
      if (stride == 0) expected.assign(5, 5);  // the last that was set
      check_plan_case(
          case_of_tensors("CAST", {}, {"InputTensor"}, {input}, floats({5}, expected), 0));
    }
  }
}

TEST_CASE("element-wise: casts to FLOAT16 are rounded once, however many there are") {
  Random random(58);
  const std::vector<double> extremes{INFINITY, -INFINITY, 65519.9, 65520,
                                     -65520,   1e30,      1e-30,   -1e-8};
  const auto check = [&](DataType from, auto narrowed) {
    CAPTURE(std::string(name_of(from)));
    using Number = decltype(narrowed(0.0));
    std::vector<Number> numbers;
    std::vector<std::uint16_t> halves;
    const auto add = [&](Number number) {
      const auto bytes = element(DataType::Float16, static_cast<double>(number));
      numbers.push_back(number);
      halves.resize(numbers.size());
      std::memcpy(&halves.back(), bytes.data(), 2);
    };
    if (std::is_floating_point_v<Number>) {
      for (const double number : extremes) add(narrowed(number));
    }
    while (numbers.size() < 3093) {
      // A number in the middle of two halves, or beside it.
      const auto bits = element_bytes(static_cast<std::uint16_t>(random.below(0x7C00)));
      const double half = number(DataType::Float16, bits.data());
      const double step = std::max(std::exp2(std::ilogb(std::max(half, 1e-9)) - 11), 0x1p-25);
      add(narrowed(half + step * (1 + (static_cast<double>(random.below(3)) - 1) * 1e-7)));
    }
    const PlanCase cast =
        case_of_tensors("CAST", {}, {"InputTensor"}, {Tensor::of<Number>(from, {3, 1031}, numbers)},
                        Tensor::of<std::uint16_t>(DataType::Float16, {3, 1031}, halves), 0);
    on_every_target([&] { check_plan_case(cast); });
  };
  check(DataType::Float64, [](double number) { return number; });
  check(DataType::Float32, [](double number) { return static_cast<float>(number); });
  check(DataType::UInt32, [](double number) { return static_cast<std::uint32_t>(number); });
  check(DataType::Int64, [](double number) { return static_cast<std::int64_t>(-number); });
  check(DataType::UInt8,
        [](double number) { return static_cast<std::uint8_t>(std::min(number, 255.0)); });
}

TEST_CASE("element-wise: quantization rounds halves to even, saturates, and takes blocks") {
  const auto bytes = [](DataType type, const List& sizes, const std::vector<std::uint8_t>& values) {
    return Tensor::of(type, sizes, values);
  };
  PlanCase linear{"DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR",
                  Json::object(),
                  {{"InputTensor", floats({5}, {0.5F, 1.5F, -300, 1000, NAN})},
                   {"ScaleTensor", floats({5}, {1, 1, 1, 1, 1})},
                   {"ZeroPointTensor", bytes(DataType::Int8, {5}, {1, 1, 1, 1, 1})}},
                  {{"OutputTensor", bytes(DataType::Int8, {5}, {1, 3, 0x80, 127, 0})}}};
  check_plan_case(linear);
  // Two scales of two elements each; without a zero point UINT8 has 128.
  PlanCase blocks{"DML_OPERATOR_QUANTIZE",
                  {{"QuantizationType", "SCALE"}, {"QuantizationTensorCount", 1}},
                  {{"InputTensor", floats({1, 4}, {1, 2, 3, 4})},
                   {"QuantizationTensors", floats({1, 2}, {1, 2}), 0}},
                  {{"OutputTensor", bytes(DataType::UInt8, {1, 4}, {129, 130, 130, 130})}}};
  check_plan_case(blocks);
  PlanCase back{"DML_OPERATOR_DEQUANTIZE",
                {{"QuantizationType", "SCALE_ZERO_POINT"}, {"QuantizationTensorCount", 2}},
                {{"InputTensor", bytes(DataType::Int4, {1, 4}, {7, 0xF8, 0, 1})},
                 {"QuantizationTensors", floats({1, 2}, {1, 2}), 0},
                 {"QuantizationTensors", bytes(DataType::Int4, {1, 2}, {0, 1}), 1}},
                {{"OutputTensor", floats({1, 4}, {7, -8, -2, 0})}}};
  check_plan_case(back);
}

// Each input has a layout of its own, so that each must be read by its own strides.
TEST_CASE("element-wise: quantization takes each scale and zero point from its place") {
  Random random(77);
  for (int i = 0; i < 60; ++i) {
    const DataType bytes = random.one_in(2) ? DataType::Int8 : DataType::UInt8;
    const DataType reals = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const Tensor numbers = with_small_numbers(random_tensor(reals, sizes, random), random, 9.5);
    const Tensor codes = random_tensor(bytes, sizes, random);
    const Tensor zeros = random_tensor(bytes, sizes, random);
    const Tensor scales = powers_of_two(reals, sizes, random);
    Tensor quantized_numbers = Tensor::packed(bytes, sizes), back = Tensor::packed(reals, sizes);
    for_each_index(sizes, [&](const Index& at) {
      const double zero = value_at(zeros, at), scale = value_at(scales, at);
      set_value(quantized_numbers, at, quantized(value_at(numbers, at) / scale, zero, bytes));
      set_value(back, at, (value_at(codes, at) - zero) * scale);
    });
    const std::vector<const char*> names{"InputTensor", "ScaleTensor", "ZeroPointTensor"};
    check_plan_case(case_of_tensors("ELEMENT_WISE_QUANTIZE_LINEAR", {}, names,
                                    {numbers, scales, zeros}, quantized_numbers, 0));
    check_plan_case(case_of_tensors("ELEMENT_WISE_DEQUANTIZE_LINEAR", {}, names,
                                    {codes, scales, zeros}, back, 0));
  }
}

TEST_CASE("element-wise: IF chooses between elements of any type, each from its place") {
  Random random(78);
  for (int i = 0; i < 60; ++i) {
    const DataType type = random.one_of(A11);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    Tensor condition = random_tensor(DataType::UInt8, sizes, random);
    for (std::byte& byte : condition.bytes) byte = random.one_in(2) ? byte : std::byte{0};
    const Tensor a = random_tensor(type, sizes, random), b = random_tensor(type, sizes, random);
    Tensor output = Tensor::packed(type, sizes);
    for_each_index(sizes, [&](const Index& at) {
      const Tensor& chosen = *condition.at(at) != std::byte{0} ? a : b;
      std::memcpy(output.at(at), chosen.at(at), output.element_size());
    });
    PlanCase a_case =
        case_of_tensors("ELEMENT_WISE_IF", {}, {"ConditionTensor", "ATensor", "BTensor"},
                        {condition, a, b}, output, 0);
    a_case.outputs.front().has_any_nan = false;  // bits are moved
    check_plan_case(a_case);
  }
}

TEST_CASE("fused activations: a clip scales its input, and softmax takes rows") {
  const auto gemm = [](const Json& activation) {
    return PlanCase{"DML_OPERATOR_GEMM",
                    {{"TransA", "NONE"},
                     {"TransB", "NONE"},
                     {"Alpha", 1},
                     {"Beta", 0},
                     {"FusedActivation", activation}},
                    {{"ATensor", floats({1, 1, 2, 1}, {1, 2})},
                     {"BTensor", floats({1, 1, 1, 2}, {0, std::log(3.0F)})}},
                    {}};
  };
  PlanCase clip =
      gemm({{"Type", "ELEMENT_WISE_CLIP"},
            {"Desc", {{"Min", 0}, {"Max", 5}, {"ScaleBias", {{"Scale", 4}, {"Bias", 1}}}}}});
  clip.outputs = {{"OutputTensor", floats({1, 1, 2, 2}, {1, 5, 1, 5})}};
  check_plan_case(clip);
  PlanCase softmax = gemm({{"Type", "ACTIVATION_SOFTMAX"}, {"Desc", Json::object()}});
  softmax.outputs = {
      {"OutputTensor", floats({1, 1, 2, 2}, {0.25F, 0.75F, 0.1F, 0.9F}), std::nullopt, 0, 1e-6}};
  check_plan_case(softmax);
  PlanCase columns =
      gemm({{"Type", "ACTIVATION_SOFTMAX1"}, {"Desc", {{"AxisCount", 1}, {"Axes", {2}}}}});
  columns.outputs = {
      {"OutputTensor", floats({1, 1, 2, 2}, {0.5F, 0.25F, 0.5F, 0.75F}), std::nullopt, 0, 1e-6}};
  check_plan_case(columns);
}

TEST_CASE("element-wise: axes that all inputs walk as one are one") {
  const std::vector<ElementWiseOperand> packed{{0, DataType::Float32, {12, 4, 1}}};
  CHECK(element_wise(Expression::exp, {2, 3, 4}, packed, DataType::Float32).extents ==
        std::vector<std::uint64_t>{24});
  const std::vector<ElementWiseOperand> row{{0, DataType::Float32, {12, 4, 1}},
                                            {1, DataType::Float32, {0, 0, 1}}};
  CHECK(element_wise(Expression::add, {2, 3, 4}, row, DataType::Float32).extents ==
        std::vector<std::uint64_t>{6, 4});
}

}  // namespace
}  // namespace dmlop::test::element_wise_test
