#include "plan_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>

#include "cpu/preparation.hpp"
#include "end_of_page.hpp"
#include "gpu_device.hpp"
#include "job/backend.hpp"
#include "job/host_plan.hpp"
#include "layouts.hpp"
#include "measured_errors.hpp"
#include "ops/operator.hpp"
#include "ops/tiling.hpp"
#include "reference/number.hpp"
#include "spec/description.hpp"
#include "sweep.hpp"
#include "tile_run.hpp"

namespace dmlop::test {

bool is_gpu_asked_for() {
  const char* asked = std::getenv("DMLOP_TEST_BACKENDS");
  return asked != nullptr && std::string(asked) == "gpu";
}

namespace {

constexpr std::uint64_t some_bytes = 24;  // parts of a few elements, for several threads

// Gives every NaN of FLOAT32 or FLOAT16 the same bits.
void make_nan_alike(DataType type, std::vector<std::byte>& bytes) {
  const std::vector<std::byte> nan = element(type, std::nan(""));
  for (std::size_t at = 0; at < bytes.size(); at += nan.size()) {
    if (std::isnan(number(type, &bytes[at]))) std::copy(nan.begin(), nan.end(), &bytes[at]);
  }
}

/// "" if FLOAT32 or FLOAT16 numbers agree; NaN equals NaN.
std::string difference_within(double tolerance, DataType type, std::span<const std::byte> found,
                              std::span<const std::byte> expected) {
  for (std::size_t at = 0; at < expected.size(); at += size_of(type)) {
    const double is = number(type, &found[at]), must_be = number(type, &expected[at]);
    if (std::isnan(must_be) ? std::isnan(is) : is == must_be) continue;
    if (std::abs(is - must_be) <= tolerance * (1 + std::abs(must_be)) && std::isfinite(must_be))
      continue;
    return "element " + std::to_string(at / size_of(type)) + " is " + std::to_string(is) +
           ", must be " + std::to_string(must_be);
  }
  return "";
}

/// Whether a GPU runs a case. Most of a case's time goes into compiling its kernels, so of the
/// cases of a test it runs the first ones, and then one for each combination of types.
bool is_chosen_for_gpu(const Description& description, const Plan& plan) {
#ifdef _WIN32  // Direct3D compiles from HLSL, which takes ten times as long
  constexpr int first_cases = 1, alike_most = 0;
#else
  constexpr int first_cases = 5, alike_most = 1;
#endif
  static std::string test;
  static int cases = 0;
  static std::map<std::string, int> alike;
  if (const char* now = doctest::getContextOptions()->currentTest->m_name; test != now) {
    test = now;
    cases = 0;
  }
  std::string key = description.spec->name;
  for (const Slot& slot : plan.slots) {
    if (slot.data_type) key += " " + std::string(name_of(*slot.data_type));
  }
  key += " " + test;
  return ++cases <= first_cases || ++alike[key] <= alike_most;
}

/// Whether a GPU runs a case with other layouts, too: the first ones of each test.
bool is_relaid_for_gpu() {
#ifdef _WIN32
  constexpr int relaid_most = 0;
#else
  constexpr int relaid_most = 2;
#endif
  static std::map<std::string, int> relaid;
  return ++relaid[doctest::getContextOptions()->currentTest->m_name] <= relaid_most;
}

/// The outputs of a run, and how often each byte was written.
class Outputs {
 public:
  explicit Outputs(const Plan& plan) {
    for (const Slot& slot : plan.slots) {
      const bool is_output = slot.kind == SlotKind::output;
      bytes_.emplace_back(is_output ? slot.bytes() : 0);
      written_.emplace_back(is_output ? slot.bytes() : 0);
    }
  }

  OutputSink sink() {
    return [this](std::size_t slot, std::uint64_t offset, std::span<const std::byte> part) {
      if (offset + part.size() > bytes_[slot].size()) {
        is_outside_ = true;
        return;
      }
      for (std::size_t i = 0; i < part.size(); ++i) {
        bytes_[slot][offset + i] = part[i];
        ++written_[slot][offset + i];
      }
    };
  }

  void check(const OperatorSpec& spec, std::size_t slot, const NamedTensor& expected) const {
    CHECK_FALSE(is_outside_);
    const auto& times = written_[slot];
    CHECK_MESSAGE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }),
                  "every byte is handed out once");
    const Tensor& tensor = expected.tensor;
    check_errors({spec, tensor.type, bytes_[slot], tensor.bytes, is_gpu_asked_for()});
    if (expected.tolerance != 0) {
      CHECK(difference_within(expected.tolerance, tensor.type, bytes_[slot], tensor.bytes) == "");
      return;
    }
    std::vector<std::byte> found = bytes_[slot], must_be = tensor.bytes;
    if (expected.has_any_nan) {
      make_nan_alike(tensor.type, found);
      make_nan_alike(tensor.type, must_be);
    }
    if (tensor.type == DataType::Float32 && expected.ulp != 0 && is_gpu_asked_for())
      restore_lost_denormals(found, must_be);
    CHECK(difference(tensor.type, found, must_be, ulp_of(expected)) == "");
  }

 private:
  // A GPU may take denormals for 0 (specs/README.md, "Differences between devices").
  static void restore_lost_denormals(std::span<std::byte> found,
                                     std::span<const std::byte> must_be) {
    constexpr std::uint32_t magnitude = 0x7FFFFFFF, first_normal = 0x00800000;
    for (std::size_t at = 0; at < found.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t is = 0, wanted = 0;
      std::memcpy(&is, &found[at], sizeof is);
      std::memcpy(&wanted, &must_be[at], sizeof wanted);
      if ((is & magnitude) == 0 && (wanted & magnitude) < first_normal)
        std::memcpy(&found[at], &wanted, sizeof wanted);
    }
  }

  // A GPU adds floats up in FLOAT32, where the CPU has double.
  static std::uint64_t ulp_of(const NamedTensor& expected) {
    constexpr std::uint64_t gpu_ulp = 4;
    const bool is_rounded = expected.ulp != 0 && expected.tensor.type == DataType::Float32;
    return is_rounded && is_gpu_asked_for() ? std::max(expected.ulp, gpu_ulp) : expected.ulp;
  }

  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::vector<std::uint8_t>> written_;
  std::atomic<bool> is_outside_{false};
};

dmlop::Backend& gpu_backend() {
  static dmlop::Backend backend(open_gpu());
  return backend;
}

}  // namespace

nlohmann::ordered_json PlanCase::description() const {
  nlohmann::ordered_json desc = fields;
  for (const auto* tensors : {&inputs, &outputs}) {
    for (const NamedTensor& named : *tensors) {
      if (named.element) {
        desc[named.field].push_back(tensor_desc(named.tensor));
      } else {
        desc[named.field] = tensor_desc(named.tensor);
      }
    }
  }
  return {{"type", type}, {"as", name_of(judge)}, {"desc", desc}};
}

namespace {

/// A valid case, ready to run.
struct CheckedCase {
  Diagnostics diagnostics;  // which reading the description fills
  std::optional<Description> description;

  explicit CheckedCase(const PlanCase& a_case)
      : description(read_description("op.json", a_case.description().dump(), newest_feature_level,
                                     diagnostics)) {
    if (description) check_description(*description, diagnostics);
  }
};

/// The bytes of a case's inputs, by the slots of its plan. Either nothing can be read behind them,
/// or they lie at odd addresses.
class InputBytes {
 public:
  InputBytes(const PlanCase& a_case, const Plan& plan, bool at_end_of_page)
      : spans_(plan.slots.size()) {
    for (const NamedTensor& named : a_case.inputs) {
      const auto slot = plan.find(named.field, named.element);
      if (!slot) continue;
      const auto& bytes = named.tensor.bytes;
      if (at_end_of_page) {
        spans_[*slot] = at_end_.emplace_back(bytes).bytes();
        continue;
      }
      copies_.emplace_back(new std::byte[bytes.size() + 1]);
      std::copy(bytes.begin(), bytes.end(), copies_.back().get() + 1);
      spans_[*slot] = {copies_.back().get() + 1, bytes.size()};
    }
  }
  std::span<const std::span<const std::byte>> spans() const { return spans_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> copies_;
  std::deque<EndOfPage> at_end_;
  std::vector<std::span<const std::byte>> spans_;
};

void check_outputs(const PlanCase& a_case, const OperatorSpec& spec, const Plan& plan,
                   const Outputs& outputs) {
  for (const NamedTensor& expected : a_case.outputs) {
    CAPTURE(expected.field);
    CAPTURE(expected.element.value_or(0));
    const auto slot = plan.find(expected.field, expected.element);
    REQUIRE(slot);
    outputs.check(spec, *slot, expected);
  }
  CHECK(plan.slots_of(SlotKind::output).size() == a_case.outputs.size());
}

void check_on_cpu(const PlanCase& a_case, const Description& description,
                  const std::vector<std::uint64_t>& parts) {
  const Plan plan = make_plan(description);
  for (const std::uint64_t part_bytes : parts) {
    CAPTURE(part_bytes);
    const InputBytes inputs(a_case, plan, part_bytes != 1);
    Outputs outputs(plan);
    run_on_host(plan, inputs.spans(), part_bytes == some_bytes ? 3 : 1, outputs.sink(), part_bytes);
    check_outputs(a_case, *description.spec, plan, outputs);
  }
}

// As a model runs it again and again: outputs go to memory, and what is made of inputs is kept.
void check_again_and_again(const PlanCase& a_case, const Description& description) {
  const Plan plan = make_plan(description);
  const InputBytes inputs(a_case, plan, false);
  HostPlan host_plan(plan, std::vector<bool>(plan.slots.size(), true));
  for (int run = 0; run < 2; ++run) {
    CAPTURE(run);
    std::vector<std::vector<std::byte>> written;
    for (const Slot& slot : plan.slots)
      written.emplace_back(slot.kind == SlotKind::output ? slot.bytes() : 0, std::byte{0xA5});
    const std::vector<std::span<std::byte>> memory(written.begin(), written.end());
    host_plan.run_into(inputs.spans(), memory, 1 + 2 * run, some_bytes);
    Outputs outputs(plan);
    for (const std::size_t slot : plan.slots_of(SlotKind::output))
      outputs.sink()(slot, 0, written[slot]);
    check_outputs(a_case, *description.spec, plan, outputs);
  }
}

// Blocks of long rows, which threads share.
void check_small_blocks(const PlanCase& a_case, const Description& description) {
  const Plan plan = make_plan(description);
  const InputBytes inputs(a_case, plan, false);
  for (const std::uint64_t block : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{64}}) {
    CAPTURE(block);
    const cpu::SmallBlocks small(block);
    Outputs outputs(plan);
    run_on_host(plan, inputs.spans(), block == 5 ? 3 : 1, outputs.sink(),
                block == 64 ? some_bytes : host_part_bytes);
    check_outputs(a_case, *description.spec, plan, outputs);
  }
}

// As a GPU that has no room for whole tensors runs it.
void check_tiles(const PlanCase& a_case, const Description& description) {
  const Plan plan = make_plan(description);
  const InputBytes inputs(a_case, plan, false);
  Outputs outputs(plan);
  bool was_cut = false;
  for (const Pass& pass : plan.passes) {
    if (!has_tiles(pass.kernel) || !plan.slots_of(SlotKind::temporary).empty()) return;
    std::vector<std::span<const std::byte>> read;
    for (const std::size_t slot : pass.reads) read.push_back(inputs.spans()[slot]);
    const TileLimits limits = cutting_limits(pass.kernel, read);
    const auto grid = TileGrid::make(pass.kernel, limits);
    if (!grid) return;
    was_cut = was_cut || grid->size() > 1;
    outputs.sink()(pass.writes.front(), 0, run_in_tiles(pass.kernel, read, *grid, limits));
  }
  if (was_cut) check_outputs(a_case, *description.spec, plan, outputs);
}

void run_on_gpu(const PlanCase& a_case, const Description& description, const Plan& plan) {
  const InputBytes inputs(a_case, plan, false);
  Outputs outputs(plan);
  gpu_backend().execute(plan, inputs.spans(), {}, outputs.sink());
  check_outputs(a_case, *description.spec, plan, outputs);
}

void check_on_gpu(const PlanCase& a_case, const Description& description) {
  if (!has_gpu()) return;
  const Plan plan = make_plan(description);
  if (a_case.is_for_every_gpu || is_chosen_for_gpu(description, plan))
    run_on_gpu(a_case, description, plan);
}

/// The same case with another layout of each input that may have one.
PlanCase relaid_case(const PlanCase& a_case) {
  std::uint64_t seed = 0;
  for (const char c : a_case.description().dump()) seed = seed * 31 + static_cast<unsigned char>(c);
  Random random(seed);
  PlanCase all = a_case;
  for (NamedTensor& input : all.inputs) input.tensor = relaid(input.tensor, random);
  if (CheckedCase(all).diagnostics.empty()) return all;
  PlanCase some = a_case;
  for (std::size_t i = 0; i < some.inputs.size(); ++i) {
    std::swap(some.inputs[i], all.inputs[i]);
    if (!CheckedCase(some).diagnostics.empty()) std::swap(some.inputs[i], all.inputs[i]);
  }
  return some;
}

// Laying out large tensors takes longer than computing with them.
bool is_small(const PlanCase& a_case) {
  constexpr std::size_t bytes_most = std::size_t{1} << 16;
  return std::all_of(a_case.inputs.begin(), a_case.inputs.end(), [](const NamedTensor& input) {
    std::uint64_t elements = input.tensor.element_size();
    for (const std::uint64_t size : input.tensor.sizes) elements *= size;
    return elements <= bytes_most;
  });
}

void check_relaid(const PlanCase& a_case) {
  const PlanCase relaid = relaid_case(a_case);
  CAPTURE(relaid.description().dump());
  const CheckedCase checked(relaid);
  if (!is_gpu_asked_for()) {
    check_on_cpu(relaid, *checked.description, {some_bytes});
    return check_tiles(relaid, *checked.description);
  }
  run_on_gpu(relaid, *checked.description, make_plan(*checked.description));
}

}  // namespace

void check_plan_case(const PlanCase& a_case) {
  CAPTURE(a_case.description().dump());
  const CheckedCase checked(a_case);
  REQUIRE_MESSAGE(checked.diagnostics.empty(), to_text(checked.diagnostics.front()));
  if (is_gpu_asked_for()) {
    check_on_gpu(a_case, *checked.description);
    const bool is_relaid = is_small(a_case) && is_relaid_for_gpu();
    if (is_relaid && has_gpu()) check_relaid(a_case);
    return;
  }
  check_on_cpu(a_case, *checked.description, {1, some_bytes, host_part_bytes});
  check_again_and_again(a_case, *checked.description);
  check_small_blocks(a_case, *checked.description);
  if (!is_small(a_case)) return;
  check_tiles(a_case, *checked.description);
  check_relaid(a_case);
}

}  // namespace dmlop::test
