// The errors of elementary functions against double, through the operators that compute them, on
// the CPU and on a GPU. FLOAT32: over numbers of every exponent, both signs, and near the zeros of
// sine and cosine, in units of the last place. FLOAT16: over all numbers. What is larger than the
// table below says fails; tests/README.md has what was measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "gpu_device.hpp"
#include "job/backend.hpp"
#include "job/host_plan.hpp"
#include "ops/operator.hpp"
#include "simd_targets.hpp"
#include "spec/description.hpp"
#include "tensor/half.hpp"

namespace dmlop::test {
namespace {

using Json = nlohmann::ordered_json;

struct Function {
  const char* name;  // of the operator
  double (*exact)(double x, double y);
  double low, high;       // beyond them only the special values are tried
  double on_cpu, on_gpu;  // the most ULP of FLOAT32
  std::vector<const char*> inputs = {"InputTensor"};
  Json parameters = Json::object();
};

constexpr double largest = std::numeric_limits<float>::max();
constexpr float infinity = std::numeric_limits<float>::infinity();
#ifdef _WIN32
// The C library of mingw-w64 reduces angles with 66 bits of pi: too few for the sine of larger
// ones.
constexpr double largest_angle = 1e5;
#else
constexpr double largest_angle = largest;
#endif

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// The bounds on a GPU leave room for its quotients and square roots, which Vulkan allows to be
/// inexact.
const std::vector<Function>& functions() {
  const Json alpha{{"Alpha", 1.0}};
  static const std::vector<Function> all{
      {"ELEMENT_WISE_ACOS", [](double x, double) { return std::acos(x); }, -1, 1, 2, 4},
      {"ELEMENT_WISE_ACOSH", [](double x, double) { return std::acosh(x); }, 1, largest, 2, 4},
      {"ELEMENT_WISE_ASIN", [](double x, double) { return std::asin(x); }, -1, 1, 2, 4},
      {"ELEMENT_WISE_ASINH", [](double x, double) { return std::asinh(x); }, -largest, largest, 2,
       4},
      {"ELEMENT_WISE_ATAN", [](double x, double) { return std::atan(x); }, -largest, largest, 2, 4},
      {"ELEMENT_WISE_ATANH", [](double x, double) { return std::atanh(x); }, -1, 1, 2, 4},
      {"ELEMENT_WISE_COS", [](double x, double) { return std::cos(x); }, -largest_angle,
       largest_angle, 1, 4},
      {"ELEMENT_WISE_COSH", [](double x, double) { return std::cosh(x); }, -100, 100, 2, 4},
      {"ELEMENT_WISE_ERF", [](double x, double) { return std::erf(x); }, -largest, largest, 1, 4},
      {"ELEMENT_WISE_EXP", [](double x, double) { return std::exp(x); }, -110, 90, 1, 4},
      {"ELEMENT_WISE_LOG", [](double x, double) { return std::log(x); }, 0, largest, 1, 4},
      {"ELEMENT_WISE_RECIP", [](double x, double) { return 1 / x; }, -largest, largest, 0.5, 4},
      {"ELEMENT_WISE_SIN", [](double x, double) { return std::sin(x); }, -largest_angle,
       largest_angle, 1, 4},
      {"ELEMENT_WISE_SINH", [](double x, double) { return std::sinh(x); }, -100, 100, 2, 4},
      {"ELEMENT_WISE_SQRT", [](double x, double) { return std::sqrt(x); }, 0, largest, 0.5, 4},
      {"ELEMENT_WISE_TAN", [](double x, double) { return std::tan(x); }, -largest_angle,
       largest_angle, 1.5, 4},
      {"ELEMENT_WISE_TANH", [](double x, double) { return std::tanh(x); }, -largest, largest, 2, 4},
      {.name = "ACTIVATION_CELU",
       .exact = [](double x, double) { return std::max(0.0, x) + std::min(0.0, std::expm1(x)); },
       .low = -largest,
       .high = largest,
       .on_cpu = 2,
       .on_gpu = 4,
       .parameters = alpha},
      {.name = "ACTIVATION_ELU",
       .exact = [](double x, double) { return x < 0 ? std::expm1(x) : x; },
       .low = -largest,
       .high = largest,
       .on_cpu = 2,
       .on_gpu = 4,
       .parameters = alpha},
      // A rounded x / sqrt(2), a quotient, a power and their product.
      {"ACTIVATION_GELU", [](double x, double) { return 0.5 * x * std::erfc(x * -std::sqrt(0.5)); },
       -largest, largest, 3, 4},
      {"ACTIVATION_SIGMOID", [](double x, double) { return sigmoid(x); }, -100, 100, 2.5, 4},
      {.name = "ACTIVATION_SOFTPLUS",
       .exact = [](double x, double) { return softplus(x); },
       .low = -largest,
       .high = largest,
       .on_cpu = 2,
       .on_gpu = 4,
       .parameters = {{"Steepness", 1.0}}},
      {"ACTIVATION_SOFTSIGN", [](double x, double) { return x / (1 + std::abs(x)); }, -largest,
       largest, 2, 4},
      // Below -87 the sigmoid is a denormal of few bits, and so is its product with x.
      {.name = "ACTIVATION_SWISH",
       .exact = [](double x, double) { return x * sigmoid(x); },
       .low = -87,
       .high = 100,
       .on_cpu = 3,
       .on_gpu = 4,
       .parameters = {{"SigmoidInputScale", 1.0}}},
      {.name = "ELEMENT_WISE_ATAN_YX",
       .exact = [](double y, double x) { return std::atan2(y, x); },
       .low = -largest,
       .high = largest,
       .on_cpu = 1.5,
       .on_gpu = 4,
       .inputs = {"ATensor", "BTensor"}},
      {.name = "ELEMENT_WISE_DIVIDE",
       .exact = [](double x, double y) { return x / y; },
       .low = -largest,
       .high = largest,
       .on_cpu = 0.5,
       .on_gpu = 4,
       .inputs = {"ATensor", "BTensor"}},
      {.name = "ELEMENT_WISE_POW",
       .exact = [](double x, double y) { return std::pow(x, y); },
       .low = -largest,
       .high = largest,
       .on_cpu = 1.5,
       .on_gpu = 4,
       .inputs = {"InputTensor", "ExponentTensor"}},
  };
  return all;
}

// --- numbers to try

using Numbers = std::vector<float>;

bool has_two_inputs(const Function& function) {
  return function.inputs.size() == 2;
}

/// Of every exponent within the function's range, evenly spread ones, and neighbours of multiples
/// of pi / 2.
Numbers arguments_of(const Function& function) {
  std::mt19937_64 random(61);  // NOLINT(cert-msc51-cpp): every time the same
  // The last two are nearest to multiples of pi / 2, in their binade and of all.
  Numbers arguments{
      0.0F,          -0.0F, 1.0F, -1.0F, 0.5F, -0.5F, 1e-45F, 1.17549435e-38F, 1.30752269e+09F,
      0x1.f37b7ap95F};
  const float low = static_cast<float>(function.low), high = static_cast<float>(function.high);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  while (arguments.size() < 400'000) {
    arguments.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const double width = std::min(function.high - function.low, 200.0);
    arguments.push_back(static_cast<float>(std::max(function.low, -100.0) + width * unit()));
    const double multiple = std::floor(std::exp2(24 * unit()));
    const auto near = static_cast<float>(multiple * std::acos(0.0));
    arguments.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) +
                                             static_cast<std::uint32_t>(random() % 3) - 1));
  }
  std::erase_if(arguments, [&](float x) { return !(x >= low && x <= high); });
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
    if (!all_count && (is_denormal(x[i]) || is_denormal(y[i]) || std::abs(exact) < 0x1.000002p-126))
      continue;
    const double error = error_of(results[i], exact, float32);
    if (error > worst.error) worst = {error, x[i], y[i]};
  }
  return worst;
}

void check_errors(Place place) {
  for (const Function& function : functions()) {
    CAPTURE(std::string(function.name));
    const Numbers x = arguments_of(function);
    const Numbers y = has_two_inputs(function) ? second_arguments(x) : x;
    const Worst worst = worst_of(function, place, x, y);
    MESSAGE(std::string(function.name)
            << ": at most " << worst.error << " ULP, at " << worst.x << ", " << worst.y);
    CHECK(worst.error <= (place == Place::cpu ? function.on_cpu : function.on_gpu));
    CHECK(worst.error > 0);  // a float is never exact throughout
  }
}

void check_special_values(Place place) {
  const auto [x, y] = special_pairs();
  for (const Function& function : functions()) {
    CAPTURE(std::string(function.name));
    const Worst worst = worst_of(function, place, x, y);
    CAPTURE(worst.x);
    CAPTURE(worst.y);
    CHECK(worst.error <= (place == Place::cpu ? function.on_cpu : function.on_gpu));
  }
}

void check_halves(Place place) {
  std::vector<std::uint16_t> all(65'536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const Function& function : functions()) {
    if (has_two_inputs(function)) continue;
    CAPTURE(std::string(function.name));
    const auto results = computed<std::uint16_t>(function, place, DataType::Float16, {all});
    double worst = 0;
    int rounded = 0;
    float at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float x = half_to_float(all[i]);
      const double exact = function.exact(x, x);
      const double error = error_of(half_to_float(results[i]), exact, float16);
      if (error > worst) worst = error, at = x;
      if (results[i] == half_from_double(exact) || std::isnan(exact)) ++rounded;
    }
    MESSAGE(std::string(function.name) << ": at most " << worst << " ULP, at " << at << "; "
                                       << 65'536 - rounded << " not rounded as they should be");
    CHECK(worst <= 1);
    CHECK(rounded >= 65'536 * 0.999);
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
  for (const Function& function : functions()) {
    CAPTURE(std::string(function.name));
    Numbers x = arguments_of(function);
    x.resize(20'011);
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
}  // namespace dmlop::test
