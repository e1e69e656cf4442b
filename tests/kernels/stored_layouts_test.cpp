// Every stored case of DirectML once more with a layout of its own for each input: permuted, with
// gaps or with strides of 0. The values are the same, so the outputs must be, up to the order in
// which floats are added. What the layouts of all cases cover together is counted.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "end_of_page.hpp"
#include "job/host_plan.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "spec/spec.hpp"
#include "stored_jobs.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::stored_layouts_test {
namespace {

namespace fs = std::filesystem;

using Outputs = std::vector<std::vector<std::byte>>;

/// The bytes of all outputs, by slots.
Outputs computed(const Plan& plan, const std::vector<StoredInput>& inputs) {
  std::deque<EndOfPage> bytes;
  std::vector<std::span<const std::byte>> spans(plan.slots.size());
  for (const StoredInput& input : inputs) {
    if (const auto slot = plan.find(input.field, input.element))
      spans[*slot] = bytes.emplace_back(input.tensor.bytes).bytes();
  }
  Outputs outputs;
  for (const Slot& slot : plan.slots)
    outputs.emplace_back(slot.kind == SlotKind::output ? slot.bytes() : 0);
  run_on_host(
      plan, spans, 1, [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> part) {
        std::ranges::copy(part, outputs[slot].begin() + static_cast<std::ptrdiff_t>(offset));
      });
  return outputs;
}

/// Whether numbers agree up to the order of sums.
bool agree(DataType type, const std::byte* found, const std::byte* expected) {
  if (std::memcmp(found, expected, size_of(type)) == 0) return true;
  const double tolerance = type == DataType::Float32 ? 1e-5 : type == DataType::Float16 ? 2e-3 : 0;
  const double is = element_value(type, found), must_be = element_value(type, expected);
  if (std::isnan(must_be) || std::isnan(is)) return std::isnan(must_be) && std::isnan(is);
  return std::abs(is - must_be) <= tolerance * (1 + std::abs(must_be));
}

std::string difference(const Plan& plan, const Outputs& found, const Outputs& expected) {
  for (std::size_t slot = 0; slot < plan.slots.size(); ++slot) {
    const Slot& about = plan.slots[slot];
    if (about.kind != SlotKind::output) continue;
    REQUIRE(found[slot].size() == expected[slot].size());
    const DataType type = *about.data_type;
    for (std::size_t at = 0; at < found[slot].size(); at += size_of(type)) {
      if (!agree(type, &found[slot][at], &expected[slot][at]))
        return about.field + ": element " + std::to_string(at / size_of(type)) + " is " +
               std::to_string(element_value(type, &found[slot][at])) + ", must be " +
               std::to_string(element_value(type, &expected[slot][at]));
    }
  }
  return "";
}

/// What the cases of an operator cover.
class Coverage {
 public:
  void add(const Description& description, const std::set<std::string>& inputs,
           const std::set<std::string>& relaid) {
    for (const std::string& a : inputs) {
      occurs_.insert(a);
      for (const std::string& b : inputs) {
        const Pair pair{a, b};
        if (a >= b) continue;
        occur_.insert(pair);
        if (relaid.contains(a) && relaid.contains(b)) relaid_.insert(pair);
      }
    }
    one_relaid_.insert(relaid.begin(), relaid.end());
    if (relaid.empty()) return;
    for (const Field& field : description.fields) {
      if (field.is_absent()) absent_.insert(field.spec->name);
    }
  }

  /// Inputs that had no layout of their own in any case, and pairs of which no case gave both one.
  std::vector<std::string> lacking() const {
    std::vector<std::string> lacking;
    std::ranges::set_difference(occurs_, one_relaid_, std::back_inserter(lacking));
    for (const Pair& pair : occur_) {
      if (!relaid_.contains(pair)) lacking.push_back(pair.first + " and " + pair.second);
    }
    return lacking;
  }
  /// Whether some case lacks an input, and has another one with a layout of its own.
  bool has_without(const std::string& input) const { return absent_.contains(input); }
  bool has_one_of_several(const std::string& input) const {
    return occurs_.size() > 1 && occurs_.contains(input);
  }
  std::size_t pairs() const { return relaid_.size(); }

 private:
  using Pair = std::pair<std::string, std::string>;
  std::set<std::string> occurs_, one_relaid_, absent_;
  std::set<Pair> occur_, relaid_;
};

struct StoredCase {
  std::string operator_name;
  fs::path folder;
};

std::vector<StoredCase> stored_cases() {
  std::vector<StoredCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(conformance_path("golden"))) {
    if (entry.path().filename() != "case.json") continue;
    const fs::path folder = entry.path().parent_path();
    cases.push_back({folder.parent_path().filename().string(), folder});
  }
  return cases;
}

/// Runs a case as it is and with other layouts, and compares. Whether any input had another one.
bool check_layouts(const StoredCase& one, std::uint64_t seed, Coverage& coverage) {
  CAPTURE(one.operator_name + "/" + one.folder.filename().string());
  Diagnostics diagnostics;
  const auto job = stored_job(one.folder, diagnostics);
  if (!job) return false;
  std::vector<StoredInput> inputs = stored_inputs(*job);
  if (inputs.empty()) return false;
  Random random(seed);
  const Outputs expected = computed(make_plan(job->description), inputs);
  Description description = job->description;
  const std::set<std::string> relaid = lay_out(description, inputs, random);
  std::set<std::string> fields;
  for (const StoredInput& input : inputs) {
    if (element_count(input.tensor.sizes) != 1) fields.insert(input.field);  // one has no layout
  }
  coverage.add(description, fields, relaid);
  if (relaid.empty()) return false;
  const Plan plan = make_plan(description);
  CAPTURE(join(std::vector(relaid.begin(), relaid.end())));
  CHECK(difference(plan, computed(plan, inputs), expected) == "");
  return true;
}

// One round covers most operators; those that lack something get more.
TEST_CASE("stored cases: layouts of inputs do not change what is computed") {
  constexpr std::uint64_t rounds = 40;
  const std::vector<StoredCase> cases = stored_cases();
  std::map<std::string, Coverage> coverage;
  std::size_t ran = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const StoredCase& one : cases) {
      Coverage& covered = coverage[one.operator_name];
      if (round > 0 && covered.lacking().empty()) continue;
      const std::uint64_t seed = std::stoul(one.folder.filename().string()) * rounds + round;
      ran += check_layouts(one, seed, covered) ? 1 : 0;
    }
  }
  CHECK(ran > 3500);
  std::size_t pairs = 0;
  for (const auto& [name, covered] : coverage) {
    CAPTURE(name);
    pairs += covered.pairs();
    CHECK(join(covered.lacking()) == "");
    for (const auto& field : find_spec(name)->fields) {
      if (field.optional && field.is_input() && covered.has_one_of_several(field.name))
        CHECK_MESSAGE(covered.has_without(field.name), field.name);
    }
  }
  CHECK(pairs > 300);
  CHECK(coverage.size() > 160);
  MESSAGE(ran << " runs, " << pairs << " pairs of inputs with layouts of their own");
}

}  // namespace
}  // namespace dmlop::test::stored_layouts_test
