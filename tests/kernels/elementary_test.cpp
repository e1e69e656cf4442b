// The errors of elementary functions against double, through the operators that compute them, on
// the CPU and on a GPU. FLOAT32: over numbers of every exponent, both signs, and near the zeros of
// sine and cosine, in units of the last place. FLOAT16: over all numbers. No error may be larger
// than specs/measurements.json says, which was measured with 10 million numbers:
//   DMLOP_ELEMENTARY_NUMBERS=10000000 build/dmlop_tests --source-file='*/elementary_test.cpp'
// prints its numbers. The numbers of a shorter run are the first of a longer one.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>

#include "gpu_device.hpp"
#include "job/backend.hpp"
#include "job/backend_gpu.hpp"
#include "job/host_plan.hpp"
#include "ops/operator.hpp"
#include "reference/elementary_functions.hpp"
#include "simd_targets.hpp"
#include "spec/description.hpp"
#include "spec/measurements.hpp"
#include "tensor/half.hpp"

namespace dmlop::test::elementary_test {
namespace {

using Json = nlohmann::ordered_json;
using Function = ElementaryFunction;
constexpr float infinity = std::numeric_limits<float>::infinity();

// --- numbers to try

using Numbers = std::vector<float>;

/// How many numbers are tried; 0 of them: not said.
std::size_t asked_numbers() {
  const char* asked = std::getenv("DMLOP_ELEMENTARY_NUMBERS");
  return asked == nullptr ? 0 : std::stoul(asked);
}
constexpr std::size_t usual_numbers = 200'000;

bool has_two_inputs(const Function& function) {
  return function.inputs.size() == 2;
}

/// Of every exponent within the function's range, evenly spread ones, and neighbors of multiples
/// of pi / 2.
Numbers arguments_of(const Function& function, std::size_t count) {
  std::mt19937_64 random(61);  // NOLINT(cert-msc51-cpp): every time the same
  // The last two are nearest to multiples of pi / 2, in their binade and of all.
  Numbers arguments{
      0.0F,          -0.0F, 1.0F, -1.0F, 0.5F, -0.5F, 1e-45F, 1.17549435e-38F, 1.30752269e+09F,
      0x1.f37b7ap95F};
  const float low = static_cast<float>(function.low), high = static_cast<float>(function.high);
  const auto is_outside = [&](float x) { return !(x >= low && x <= high); };
  std::erase_if(arguments, is_outside);
  const auto add = [&](float x) {
    if (!is_outside(x)) arguments.push_back(x);
  };
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  while (arguments.size() < count) {
    add(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const double width = std::min(function.high - function.low, 200.0);
    add(static_cast<float>(std::max(function.low, -100.0) + width * unit()));
    const double multiple = std::floor(std::exp2(24 * unit()));
    const auto near = static_cast<float>(multiple * std::acos(0.0));
    add(std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) +
                             static_cast<std::uint32_t>(random() % 3) - 1));
  }
  arguments.resize(count);
  return arguments;
}

/// Seconds for arguments of two inputs: any, near the first one, and for half of them such that
/// first^second is finite.
Numbers second_arguments(const Numbers& first) {
  std::mt19937_64 random(62);  // NOLINT(cert-msc51-cpp): every time the same
  Numbers second;
  for (const float x : first) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    switch (random() % 4) {
      case 0:
        second.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
        break;
      case 1:
        second.push_back(x * static_cast<float>(4 * unit - 2));
        break;
      default: {
        const double most =
            150 / std::max(std::abs(std::log2(std::abs(static_cast<double>(x)))), 1e-7);
        const double exponent = (2 * unit - 1) * most;
        second.push_back(static_cast<float>(x < 0 ? std::round(exponent) : exponent));
      }
    }
  }
  return second;
}

/// All pairs of numbers at which functions have special values.
std::pair<Numbers, Numbers> special_pairs() {
  const float nan = std::nanf("");
  Numbers special{0.0F,        1e-45F,      1e-30F, 0.5F,          0.99999994F, 1.0F,
                  1.00000012F, 1.5F,        2.0F,   3.0F,          8388607.0F,  8388607.5F,
                  16777215.0F, 16777216.0F, 1e30F,  3.4028235e38F, infinity,    nan};
  const std::size_t positive = special.size();
  for (std::size_t i = 0; i < positive; ++i) special.push_back(-special[i]);
  Numbers first, second;
  for (const float x : special) {
    for (const float y : special) first.push_back(x), second.push_back(y);
  }
  return {first, second};
}

// --- running

enum class Place { cpu, gpu };

dmlop::Backend& gpu_backend() {
  static dmlop::Backend backend(open_gpu());
  return backend;
}

/// The results of an operator on one-dimensional tensors.
template <typename Element>
std::vector<Element> computed(const Function& function, Place place, DataType type,
                              const std::vector<std::vector<Element>>& arguments) {
  const Json tensor{{"DataType", std::string(name_of(type))},
                    {"Sizes", {arguments.front().size()}}};
  Json desc = function.parameters;
  for (const char* input : function.inputs) desc[input] = tensor;
  desc["OutputTensor"] = tensor;
  const Json json{{"type", std::string("DML_OPERATOR_") + function.name}, {"desc", desc}};
  Diagnostics diagnostics;
  const auto description =
      read_description("op.json", json.dump(), newest_feature_level, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  const Plan plan = make_plan(*description);
  std::vector<std::span<const std::byte>> inputs(plan.slots.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    inputs[*plan.find(function.inputs[i], {})] = std::as_bytes(std::span(arguments[i]));
  std::vector<Element> results(arguments.front().size());
  const OutputSink sink = [&](std::size_t, std::uint64_t offset, std::span<const std::byte> part) {
    std::memcpy(reinterpret_cast<std::byte*>(results.data()) + offset, part.data(), part.size());
  };
  if (place == Place::cpu) {
    run_on_host(plan, inputs, 1, sink);
  } else {
    CHECK(gpu_backend().execute(plan, inputs, {}, sink).notice == "");
  }
  return results;
}

Numbers computed(const Function& function, Place place, const Numbers& x, const Numbers& y) {
  if (has_two_inputs(function)) return computed<float>(function, place, DataType::Float32, {x, y});
  return computed<float>(function, place, DataType::Float32, {x});
}

/// Whether the GPU keeps denormals; if not, it takes them for 0, as Vulkan and Direct3D allow.
bool keeps_denormals(Place place) {
  if (place == Place::cpu) return true;
  const Function doubled{.name = "ELEMENT_WISE_MULTIPLY", .inputs = {"ATensor", "BTensor"}};
  static const bool keeps = computed(doubled, place, {1e-40F}, {2.0F}).front() == 2e-40F;
  return keeps;
}

// --- errors

/// What a floating-point type holds.
struct Format {
  int mantissa_bits;
  int least_exponent;
  double largest;
  double infinite_from;  // what is nearer to the next power of two than to `largest`
};
constexpr Format float32{23, -126, largest, 0x1.ffffffp127};
constexpr Format float16{10, -14, 65504, 65520};

constexpr double far_off = 1e9;

/// In units of the last place of the exact result, which are no smaller than the least denormal.
/// The sign counts.
double error_of(double found, double exact, const Format& format) {
  if (std::isnan(exact) || std::isnan(found))
    return std::isnan(exact) == std::isnan(found) ? 0 : far_off;
  if (std::signbit(found) != std::signbit(exact)) return found == 0 && exact != 0 ? 1 : far_off;
  if (std::abs(exact) > format.largest) {
    if (std::isinf(found)) return std::abs(exact) >= format.infinite_from ? 0 : 1;
    return std::isinf(exact) ? far_off : 1;
  }
  if (std::isinf(found)) return std::abs(exact) == format.largest ? 1 : far_off;
  const int exponent =
      std::max(exact == 0 ? format.least_exponent : std::ilogb(exact), format.least_exponent);
  return std::abs(found - exact) / std::ldexp(1, exponent - format.mantissa_bits);
}

bool is_denormal(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() && x != 0.0F;
}

/// A device that takes denormals for 0 may lose a part of results that are smaller than this.
constexpr double least_result = 0x1p-118;

/// The largest error over some numbers, and where it is.
struct Worst {
  double error = 0;
  float x = 0, y = 0;
};

Worst worst_of(const Function& function, Place place, const Numbers& x, const Numbers& y) {
  const Numbers results = computed(function, place, x, y);
  const bool all_count = keeps_denormals(place);
  Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (function.high == largest_angle && std::isfinite(x[i]) && std::abs(x[i]) > largest_angle)
      continue;
    const double exact = function.exact(x[i], y[i]);
    if (!all_count && (is_denormal(x[i]) || is_denormal(y[i]) || std::abs(exact) < least_result))
      continue;
    const double error = error_of(results[i], exact, float32);
    if (error > worst.error) worst = {error, x[i], y[i]};
  }
  return worst;
}

// --- what is published

/// The published error of a function: of FLOAT32 in ULP, of FLOAT16 how many of all 65,536 results
/// are not rounded as they should be.
std::optional<double> published(const Function& function, DataType type, const char* device) {
  for (const MeasuredError* error : errors_of(function.name)) {
    if (error->data_type == name_of(type)) return error->find(device);
  }
  FAIL("specs/measurements.json has no error of " << function.name << " for " << name_of(type));
  return {};
}

/// The device of the table that this is; "" if the table does not have it.
const char* measured_device(Place place) {
  if (place == Place::cpu) return "CPU";
  if (!gpu_backend().spec().starts_with("vulkan")) return "";
  const std::string name = gpu_backend().gpu()->device->info().name;
  for (const MeasuredDevice& device : measured_devices()) {
    if (name.find(device.name) != std::string::npos) return device.name.c_str();
  }
  return "";
}

/// Another GPU, or another compiler of shaders, may divide and take square roots less exactly.
double most_ulp(const Function& function, Place place) {
  return published(function, DataType::Float32, measured_device(place)).value_or(4);
}
double most_halves(const Function& function, Place place) {
  return published(function, DataType::Float16, measured_device(place))
      .value_or(65 + published(function, DataType::Float16, "llvmpipe").value_or(0));
}

/// For who measures the table anew: a cell of it.
void print_cell(const Function& function, Place place, const char* column, double value) {
  if (asked_numbers() == 0) return;
  std::printf("%s %s %s %g\n", function.name, place == Place::cpu ? "cpu" : "gpu", column, value);
}

void check_errors(Place place) {
  const std::size_t count = asked_numbers() != 0 ? asked_numbers() : usual_numbers;
  for (const Function& function : elementary_functions()) {
    CAPTURE(std::string(function.name));
    const Numbers x = arguments_of(function, count);
    const Numbers y = has_two_inputs(function) ? second_arguments(x) : x;
    const Worst worst = worst_of(function, place, x, y);
    CAPTURE(worst.x);
    CAPTURE(worst.y);
    print_cell(function, place, "ulp", worst.error);
    CHECK(worst.error <= most_ulp(function, place));
    CHECK(worst.error > 0);  // a float is never exact throughout
  }
}

void check_special_values(Place place) {
  const auto [x, y] = special_pairs();
  for (const Function& function : elementary_functions()) {
    CAPTURE(std::string(function.name));
    const Worst worst = worst_of(function, place, x, y);
    CAPTURE(worst.x);
    CAPTURE(worst.y);
    CHECK(worst.error <= most_ulp(function, place));
  }
}

void check_halves(Place place) {
  std::vector<std::uint16_t> all(65'536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const Function& function : elementary_functions()) {
    if (has_two_inputs(function)) continue;
    CAPTURE(std::string(function.name));
    const auto results = computed<std::uint16_t>(function, place, DataType::Float16, {all});
    double worst = 0;
    int not_rounded = 0;
    float at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float x = half_to_float(all[i]);
      const double exact = function.exact(x, x);
      const double error = error_of(half_to_float(results[i]), exact, float16);
      if (error > worst) worst = error, at = x;
      if (results[i] != half_from_double(exact) && !std::isnan(exact)) ++not_rounded;
    }
    CAPTURE(at);
    print_cell(function, place, "halves", not_rounded);
    CHECK(worst <= 1);
    CHECK(not_rounded <= most_halves(function, place));
  }
}

/// The operators that are one expression, with it (lib/ops/element_wise.def).
const std::vector<std::pair<std::string, std::string>>& expressions_of_operators() {
  static const std::vector<std::pair<std::string, std::string>> all{
#define DMLOP_ELEMENT_WISE(name, expression) {#name, #expression},
#include "ops/element_wise.def"
#undef DMLOP_ELEMENT_WISE
  };
  return all;
}

TEST_CASE("elementary functions: every operator of one expression is exact or in the table") {
  // Exact: a float that is there already or the nearest one to the result, or an integer. Then sums
  // and products, each rounded by itself.
  const std::set<std::string> exact{"abs",
                                    "add",
                                    "bit_and",
                                    "bit_count",
                                    "bit_not",
                                    "bit_or",
                                    "bit_shift_left",
                                    "bit_shift_right",
                                    "bit_xor",
                                    "cast",
                                    "ceil",
                                    "choose",
                                    "clip",
                                    "clip_grad",
                                    "equals",
                                    "floor",
                                    "greater",
                                    "greater_or_equal",
                                    "identity",
                                    "is_nan",
                                    "less",
                                    "less_or_equal",
                                    "logical_and",
                                    "logical_not",
                                    "logical_or",
                                    "logical_xor",
                                    "maximum",
                                    "minimum",
                                    "multiply",
                                    "negate",
                                    "relu",
                                    "relu_grad",
                                    "sign",
                                    "subtract",
                                    "threshold",
                                    "thresholded_relu"};
  const std::set<std::string> sums_and_products{
      "difference_square", "hard_sigmoid",     "hard_swish",         "leaky_relu", "linear", "mean",
      "modulus_floor",     "modulus_truncate", "parameterized_relu", "shrink"};
  std::set<std::string> in_table, used;
  for (const Function& function : elementary_functions()) in_table.insert(function.name);
  for (const auto& [name, expression] : expressions_of_operators()) {
    CAPTURE(name);
    used.insert(expression);
    const bool is_plain = exact.contains(expression) || sums_and_products.contains(expression);
    CHECK(is_plain != in_table.contains(name));
    in_table.erase(name);
  }
  CHECK(in_table.empty());
  for (const auto& names : {exact, sums_and_products}) {
    for (const std::string& name : names) CHECK_MESSAGE(used.contains(name), name);
  }
}

TEST_CASE("elementary functions: the table has a row for each, and no other") {
  std::set<std::string> functions, published;
  for (const Function& function : elementary_functions()) functions.insert(function.name);
  for (const MeasuredError& error : measured_errors()) {
    if (error.measure->name == "tolerance") continue;  // of a sweep
    CHECK(published.insert(error.operator_name + " " + error.data_type).second);
    CHECK(functions.contains(error.operator_name));
  }
  for (const Function& function : elementary_functions()) {
    for (const MeasuredError* error : errors_of(function.name)) {
      if (error->measure->name == "tolerance") continue;
      CHECK(error->find("CPU").has_value());
      CHECK(error->find("llvmpipe").has_value());
    }
    CHECK(published.contains(std::string(function.name) + " FLOAT32"));
    CHECK(published.contains(std::string(function.name) + " FLOAT16") != has_two_inputs(function));
  }
}

TEST_CASE("elementary functions: none errs by more than is stated") {
  check_errors(Place::cpu);
}
TEST_CASE("elementary functions: none errs by more than is stated (on a GPU)") {
  if (has_gpu()) check_errors(Place::gpu);
}

TEST_CASE("elementary functions: zeros and infinities and NaN and whole exponents") {
  check_special_values(Place::cpu);
}
TEST_CASE("elementary functions: zeros and infinities and NaN and whole exponents (on a GPU)") {
  if (has_gpu()) check_special_values(Place::gpu);
}

TEST_CASE("elementary functions: every FLOAT16") {
  check_halves(Place::cpu);
}
TEST_CASE("elementary functions: every FLOAT16 (on a GPU)") {
  if (has_gpu()) check_halves(Place::gpu);
}

TEST_CASE("elementary functions: every instruction set gives the same bits") {
  for (const Function& function : elementary_functions()) {
    CAPTURE(std::string(function.name));
    const Numbers x = arguments_of(function, 20'011);
    const Numbers y = has_two_inputs(function) ? second_arguments(x) : x;
    const Numbers expected = computed(function, Place::cpu, x, y);
    on_every_target([&] {
      const Numbers found = computed(function, Place::cpu, x, y);
      const auto same = [](float a, float b) {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
               (std::isnan(a) && std::isnan(b));
      };
      CHECK(std::equal(found.begin(), found.end(), expected.begin(), same));
    });
  }
}

}  // namespace
}  // namespace dmlop::test::elementary_test
