#include "sweep.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>

#include "cpu/execute.hpp"
#include "end_of_page.hpp"
#include "gpu_device.hpp"
#include "measured_errors.hpp"
#include "ops/operator.hpp"
#include "reference/number.hpp"
#include "spec/description.hpp"

namespace dmlop::test {
namespace {

constexpr std::size_t guard_size = 64;
constexpr std::byte guard{0xA5};

/// A copy of exactly these bytes at an odd address, so that sanitizers see any read beside them.
class UnalignedCopy {
 public:
  explicit UnalignedCopy(std::span<const std::byte> bytes)
      : buffer_(new std::byte[bytes.size() + 1]), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), buffer_.get() + 1);
  }
  std::span<const std::byte> bytes() const { return {buffer_.get() + 1, size_}; }

 private:
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t size_;
};

/// Where a number stands in the order of all numbers of its format: neighbors are one apart.
std::int64_t rank(DataType type, const std::byte* element) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, size_of(type));
  const std::uint32_t sign = type == DataType::Float16 ? 0x8000U : 0x80000000U;
  return (bits & sign) != 0 ? -static_cast<std::int64_t>(bits - sign)
                            : static_cast<std::int64_t>(bits);
}

bool agree(DataType type, const std::byte* found, const std::byte* expected, std::uint64_t ulp) {
  if (std::memcmp(found, expected, size_of(type)) == 0) return true;
  if (ulp == 0) return false;
  const bool found_nan = std::isnan(number(type, found));
  const bool expected_nan = std::isnan(number(type, expected));
  if (found_nan || expected_nan) return found_nan && expected_nan;
  const std::int64_t distance = rank(type, found) - rank(type, expected);
  return std::abs(distance) <= static_cast<std::int64_t>(ulp);
}

std::string bits_and_number(DataType type, const std::byte* element) {
  std::string text = "0x";
  for (std::size_t i = size_of(type); i-- > 0;) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(element[i]));
    text += digits;
  }
  if (type == DataType::Float32 || type == DataType::Float16) {
    char value[32];
    std::snprintf(value, sizeof value, " (%.9g)", number(type, element));
    text += value;
  }
  return text;
}

std::optional<Description> checked(const nlohmann::ordered_json& description, FeatureLevel level,
                                   Diagnostics& diagnostics) {
  auto read = read_description("op.json", description.dump(), level, diagnostics);
  if (read) check_description(*read, diagnostics);
  return read;
}

/// Indices that cut [0, count) into parts: every element for itself where there are few.
List random_cuts(std::uint64_t count, Random& random) {
  List cuts{0, count};
  if (count <= 16) {
    for (std::uint64_t i = 1; i < count; ++i) cuts.push_back(i);
  } else {
    for (std::uint64_t i = random.from_to(1, 4); i > 0; --i)
      cuts.push_back(random.below(count + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// How far the spec lets norms be off, in units in the last place.
std::uint64_t pooling_promise(DataType type) {
  return find_spec("LP_POOLING")->default_tolerance(type).ulp.value();
}

// Those asked for by DMLOP_TEST_BACKENDS: "gpu"; without it the CPU.
bool is_asked_for(const SweptBackend& backend) {
  const char* asked = std::getenv("DMLOP_TEST_BACKENDS");
  return backend.name.starts_with(asked != nullptr ? asked : "cpu");
}

}  // namespace

const std::vector<SweptBackend>& backends() {
  const std::uint64_t promise = pooling_promise(DataType::Float32);
  static const std::vector<SweptBackend> all{
      {.name = "cpu", .computes_parts = true, .execute = cpu::execute},
      {.name = "gpu",
       .unavailable = gpu_unavailable,
       .runs_one_in = 4,
       .pooling_ulp = promise,
       .execute = execute_on_gpu},
      {.name = "gpu in tiles",
       .unavailable = gpu_unavailable,
       .runs_one_in = 8,
       .pooling_ulp = promise,
       .execute = execute_in_tiles_on_gpu}};
  return all;
}

const std::vector<SweptBackend>& available_backends() {
  static const std::vector<SweptBackend> available = [] {
    std::vector<SweptBackend> list;
    for (const SweptBackend& backend : backends()) {
      if (!is_asked_for(backend)) continue;
      if (backend.unavailable().empty()) {
        list.push_back(backend);
      } else {
        MESSAGE("SKIPPED on " << std::string(backend.name) << ": " << backend.unavailable());
      }
    }
    return list;
  }();
  return available;
}

List random_sizes(std::size_t dimensions, Random& random) {
  constexpr std::uint64_t elements_max = 400;
  List sizes(dimensions, 1);
  std::uint64_t elements = 1;
  std::uint64_t size_max = dimensions <= 2 ? 20 : dimensions <= 4 ? 6 : 4;
  if (random.one_in(16)) size_max = elements_max;  // rows of several vectors
  // From a random dimension on, so that none is always the small one.
  const std::size_t first = random.below(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::uint64_t& size = sizes[(first + i) % dimensions];
    if (!random.one_in(4)) size = random.from_to(1, std::min(size_max, elements_max / elements));
    elements *= size;
  }
  return sizes;
}

Tensor random_tensor(DataType type, const List& sizes, Random& random) {
  const bool transposed = random.one_in(4), broadcast = random.one_in(4), gaps = random.one_in(4);
  std::vector<std::size_t> order(sizes.size());  // of the dimensions, the fastest first
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  for (std::size_t i = order.size(); transposed && i-- > 1;) {
    std::swap(order[i], order[random.below(i + 1)]);
  }
  List strides(sizes.size(), 0);
  std::uint64_t next = gaps ? random.from_to(1, 3) : 1;
  for (const std::size_t i : order) {
    if (broadcast && random.one_in(2)) continue;
    strides[i] = next;
    next = next * sizes[i] + (gaps ? random.below(3) : 0);
  }
  Tensor tensor = Tensor::strided(type, sizes, strides);
  random.fill(tensor.bytes);
  return tensor;
}

Tensor random_numbers(DataType type, const List& sizes, bool special, Random& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> specials{0.0, -0.0, infinity, -infinity, std::nan(""), 6e-8, -1e-40};
  Tensor tensor = random_tensor(type, sizes, random);
  const std::size_t size = tensor.element_size();
  for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
    const int exponent = static_cast<int>(random.below(16)) - 8;
    const double magnitude = std::ldexp(static_cast<double>(random.below(1 << 24)), exponent - 24);
    double value = random.one_in(2) ? -magnitude : magnitude;
    if (random.one_in(8)) value = random.one_in(2) ? -0.0 : 0.0;
    if (special && random.one_in(8)) value = random.one_of(specials);
    std::memcpy(tensor.bytes.data() + at, element(type, value).data(), size);
  }
  return tensor;
}

std::string difference(DataType type, std::span<const std::byte> found,
                       std::span<const std::byte> expected, std::uint64_t ulp) {
  if (found.size() != expected.size()) return "the lengths differ";
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at < found.size(); at += size) {
    if (agree(type, &found[at], &expected[at], ulp)) continue;
    return "element " + std::to_string(at / size) + " is " + bits_and_number(type, &found[at]) +
           ", must be " + bits_and_number(type, &expected[at]);
  }
  return "";
}

std::vector<std::byte> execute_guarded(const SweptBackend& backend, const Kernel& kernel,
                                       const std::vector<Tensor>& inputs, std::uint64_t begin,
                                       std::uint64_t end) {
  std::deque<UnalignedCopy> unaligned;
  std::deque<EndOfPage> at_end;
  std::vector<std::span<const std::byte>> spans;
  for (const Tensor& input : inputs) {
    spans.push_back(begin % 2 == 1 ? unaligned.emplace_back(input.bytes).bytes()
                                   : at_end.emplace_back(input.bytes).bytes());
  }
  const std::size_t size = (end - begin) * output_element_size(kernel);
  const std::size_t at = guard_size + begin % 2;  // at even and odd addresses
  std::vector<std::byte> output(at + size + guard_size, guard);
  backend.execute(kernel, spans, begin, end, output.data() + at);
  const auto first = output.begin() + static_cast<std::ptrdiff_t>(at);
  const auto last = first + static_cast<std::ptrdiff_t>(size);
  const auto is_guard = [](std::byte byte) { return byte == guard; };
  CHECK_MESSAGE(std::all_of(output.begin(), first, is_guard), "written before the output");
  CHECK_MESSAGE(std::all_of(last, output.end(), is_guard), "written after the output");
  return {first, last};
}

namespace {

std::uint64_t allowed_ulp(const Case& a_case, const SweptBackend& backend, const Kernel& kernel) {
  const auto* pooling = std::get_if<WindowKernel>(&kernel);
  if (pooling == nullptr || pooling->function != WindowFunction::norm) return a_case.ulp;
  // Halves are sums in FLOAT32, rounded once.
  if (pooling->data_type == DataType::Float16 && pooling->p <= 4)
    return std::min(a_case.ulp, pooling_promise(DataType::Float16));
  return std::max(a_case.ulp, backend.pooling_ulp);
}

// Checks it on the backends that run a case of this number.
void check_numbered_case(const Case& a_case, std::uint64_t number, Random& random) {
  CAPTURE(a_case.description.dump());
  Diagnostics diagnostics;
  const auto description = checked(a_case.description, newest_feature_level, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  const Tensor& expected = a_case.expected;
  CHECK(description->tensor("OutputTensor").sizes == expected.sizes);
  const Kernel kernel = only_kernel(make_plan(*description));
  const std::uint64_t count = output_elements(kernel);
  const std::size_t size = output_element_size(kernel);
  REQUIRE(count * size == expected.bytes.size());

  for (const SweptBackend& backend : available_backends()) {
    if (number % backend.runs_one_in != 0) continue;
    CAPTURE(backend.name);
    const auto whole = execute_guarded(backend, kernel, a_case.inputs, 0, count);
    const std::uint64_t ulp = allowed_ulp(a_case, backend, kernel);
    note_errors({*description->spec, expected.type, whole, expected.bytes, backend.name != "cpu"});
    CHECK(difference(expected.type, whole, expected.bytes, ulp) == "");
    if (!backend.computes_parts) continue;
    const List cuts = random_cuts(count, random);
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      CAPTURE(cuts[i - 1]);
      CAPTURE(cuts[i]);
      // Parts have the bytes of the whole, also where these are rounded.
      const auto part = execute_guarded(backend, kernel, a_case.inputs, cuts[i - 1], cuts[i]);
      const auto same = std::span(whole).subspan(cuts[i - 1] * size, part.size());
      CHECK(difference(expected.type, part, same) == "");
    }
  }
}

}  // namespace

void check_case(const Case& a_case, Random& random) {
  check_numbered_case(a_case, 0, random);
}

void check_one_of_many(const Case& a_case, Random& random) {
  static Random numbers(10);  // a count would choose the same place in every loop
  check_numbered_case(a_case, numbers.below(1 << 20), random);
}

namespace {

std::vector<RandomOperator>& known_random_operators() {
  static std::vector<RandomOperator> known;
  return known;
}

}  // namespace

RandomOperator::RandomOperator(const char* operator_name, Case (*a_case)(Random& random))
    : name(operator_name), random_case(a_case) {
  known_random_operators().push_back(*this);
}

const std::vector<RandomOperator>& random_operators() {
  return known_random_operators();
}

void check_reference(const Tensor& reference, const Tensor& expected, std::uint64_t ulp) {
  CHECK(reference.sizes == expected.sizes);
  CHECK(difference(expected.type, reference.bytes, expected.bytes, ulp) == "");
}

Diagnostics findings(const nlohmann::ordered_json& description, FeatureLevel level) {
  Diagnostics diagnostics;
  checked(description, level, diagnostics);
  return diagnostics;
}

std::string messages(const nlohmann::ordered_json& description, FeatureLevel level) {
  std::string text;
  for (const Diagnostic& diagnostic : findings(description, level)) {
    text += (text.empty() ? "" : "\n") + diagnostic.message;
  }
  return text;
}

Kernel only_kernel(const Plan& plan) {
  REQUIRE(plan.passes.size() == 1);
  return plan.passes.front().kernel;
}

Kernel kernel_of(const nlohmann::ordered_json& description) {
  CAPTURE(description.dump());
  Diagnostics diagnostics;
  const auto read = checked(description, newest_feature_level, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  return only_kernel(make_plan(*read));
}

nlohmann::ordered_json tensor_desc(const Tensor& tensor, bool with_strides) {
  nlohmann::ordered_json desc{{"DataType", name_of(tensor.type)}, {"Sizes", tensor.sizes}};
  const bool packed = tensor.strides == Tensor::packed_strides(tensor.sizes);
  if (with_strides && !packed) desc["Strides"] = tensor.strides;
  return desc;
}

}  // namespace dmlop::test
