// The sweep of every operator's tests. The library reads, checks and plans a description. Every
// backend then executes the kernel, whole and in parts, from inputs of exact size, which lie at odd
// addresses or at the end of a page, into guarded outputs. New operators need no code here, and new
// backends only a row in backends().
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "ops/plan.hpp"
#include "random.hpp"
#include "reference/tensor.hpp"
#include "spec/feature_level.hpp"

namespace dmlop::test {

using Inputs = std::span<const std::span<const std::byte>>;

/// For backends that run everywhere.
inline const std::string& always_available() {
  static const std::string no_reason;
  return no_reason;
}

struct SweptBackend {
  std::string_view name;
  /// Why it cannot run here; "" if it can.
  const std::string& (*unavailable)() = always_available;
  bool computes_parts = false;    // or else is only asked for whole outputs
  std::uint64_t runs_one_in = 1;  // of the random cases, to save time
  std::uint64_t pooling_ulp = 0;  // how far its norms may be off where a case asks for less
  /// Writes output elements [begin, end) to `output`.
  void (*execute)(const Kernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
                  std::byte* output);
};

/// All backends of this build.
const std::vector<SweptBackend>& backends();
/// The backends that DMLOP_TEST_BACKENDS asks for ("gpu"; the CPU by default) and that run here. If
/// one does not run, the test's output says why, once.
const std::vector<SweptBackend>& available_backends();

/// `dimensions` sizes with a small product.
List random_sizes(std::size_t dimensions, Random& random);
/// A tensor of random bytes. It may be packed, transposed, broadcast, have gaps, or combine these.
Tensor random_tensor(DataType type, const List& sizes, Random& random);
/// The same with FLOAT32 or FLOAT16 numbers of many magnitudes. If `special`, there are also
/// infinities, NaN, zeros of both signs and denormals.
Tensor random_numbers(DataType type, const List& sizes, bool special, Random& random);

/// "" if the elements agree within `ulp` units in the last place (NaN equals NaN; 0 means the same
/// bytes). Otherwise the first element that does not.
std::string difference(DataType type, std::span<const std::byte> found,
                       std::span<const std::byte> expected, std::uint64_t ulp = 0);

/// A description, its inputs and its output.
struct Case {
  nlohmann::ordered_json description;
  std::vector<Tensor> inputs;
  Tensor expected;  // packed
  std::uint64_t ulp = 0;
};

/// Runs a case on every backend and checks its output; `random` cuts it into parts.
void check_case(const Case& a_case, Random& random);
/// The same for one of thousands of random cases. A slow backend runs one in `runs_one_in` of them.
void check_one_of_many(const Case& a_case, Random& random);

/// An operator's random valid cases, for tests other than the operator's own, such as the fuzzer.
/// Each is one static object beside the operator's test.
struct RandomOperator {
  const char* name;
  Case (*random_case)(Random& random);

  RandomOperator(const char* operator_name, Case (*a_case)(Random& random));
};
const std::vector<RandomOperator>& random_operators();

/// Checks a reference's output against a known one.
void check_reference(const Tensor& reference, const Tensor& expected, std::uint64_t ulp);

/// The findings of the library about a description.
Diagnostics findings(const nlohmann::ordered_json& description,
                     FeatureLevel level = newest_feature_level);
/// The messages of these findings, one per line.
std::string messages(const nlohmann::ordered_json& description,
                     FeatureLevel level = newest_feature_level);

/// The kernel of a plan that has one pass.
Kernel only_kernel(const Plan& plan);

/// The same of a valid description's plan.
Kernel kernel_of(const nlohmann::ordered_json& description);

/// Elements [begin, end) of a kernel's output. Checks that nothing else is written.
std::vector<std::byte> execute_guarded(const SweptBackend& backend, const Kernel& kernel,
                                       const std::vector<Tensor>& inputs, std::uint64_t begin,
                                       std::uint64_t end);

nlohmann::ordered_json tensor_desc(const Tensor& tensor, bool with_strides = true);

/// {"type": …, "desc": …} for a use of an operator of reference/.
template <typename Operator>
nlohmann::ordered_json description_of(const Operator& use, const std::vector<Tensor>& inputs,
                                      const Tensor& output) {
  nlohmann::ordered_json fields = use.fields();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fields[Operator::inputs[i]] = tensor_desc(inputs[i]);
  }
  fields["OutputTensor"] = tensor_desc(output);
  return {{"type", Operator::name}, {"desc", fields}};
}

/// A case with a known output: a literal of a test, or the reference's result.
template <typename Operator>
Case case_of(const Operator& use, std::vector<Tensor> inputs, Tensor expected, std::uint64_t ulp) {
  return {description_of(use, inputs, expected), std::move(inputs), std::move(expected), ulp};
}
template <typename Operator>
Case case_of(const Operator& use, std::vector<Tensor> inputs, std::uint64_t ulp = 0) {
  Tensor expected = use.result(inputs);
  return case_of(use, std::move(inputs), std::move(expected), ulp);
}

/// Checks the reference, and the library on every backend, against a known output.
template <typename Operator>
void check_known(const Operator& use, const std::vector<Tensor>& inputs, const Tensor& expected,
                 std::uint64_t ulp = 0) {
  check_reference(use.result(inputs), expected, ulp);
  Random random(1);
  check_case(case_of(use, inputs, expected, ulp), random);
}

}  // namespace dmlop::test
