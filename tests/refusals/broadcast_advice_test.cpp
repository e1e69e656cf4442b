// Inputs of different sizes where an operator wants equal ones: the fix that is suggested computes
// what NumPy's broadcasting would, with NumPy's sizes, or there is none. All small shapes of a
// binary operator, many of operators with three and four inputs.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "job/host_plan.hpp"
#include "mending.hpp"
#include "ops/operator.hpp"
#include "random.hpp"
#include "tensor/layout.hpp"

namespace dmlop::test::broadcast_advice_test {
namespace {

using Json = nlohmann::ordered_json;

struct Shaped {
  const char* name;
  DataType type;
  Sizes sizes;
  std::optional<Strides> strides = {};
};

/// An operator, its inputs that must have equal sizes, and the fields that it has beside them.
struct Case {
  std::string type;
  std::vector<Shaped> inputs;
  Json others = Json::object();
  std::optional<Sizes> output = {};  // of the first output, if it is written

  Json desc() const {
    Json desc = others;
    for (const Shaped& input : inputs) {
      desc[input.name] = {{"DataType", name_of(input.type)}, {"Sizes", input.sizes}};
      if (input.strides) desc[input.name]["Strides"] = *input.strides;
    }
    if (output) {
      const std::string& name =
          std::ranges::find_if(find_spec(type)->fields, [](const auto& field) {
            return field.is_output();
          })->name;
      desc[name] = {{"DataType", "FLOAT32"}, {"Sizes", *output}};
    }
    return desc;
  }
};

/// What NumPy broadcasts arrays of the same number of dimensions to; nothing where it refuses.
std::optional<Sizes> broadcast_sizes(const std::vector<Shaped>& inputs) {
  Sizes sizes(inputs.front().sizes.size(), 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const Shaped& input : inputs) {
      if (input.sizes[i] == 1) continue;
      if (sizes[i] != 1 && sizes[i] != input.sizes[i]) return std::nullopt;
      sizes[i] = input.sizes[i];
    }
  }
  return sizes;
}

/// Whether some size is 1 in one input and another in the next.
bool have_repeats(const std::vector<Shaped>& inputs) {
  for (std::size_t i = 0; i < inputs.front().sizes.size(); ++i) {
    const auto is_one = [&](const Shaped& input) { return input.sizes[i] == 1; };
    const auto ones = std::ranges::count_if(inputs, is_one);
    if (ones != 0 && static_cast<std::size_t>(ones) != inputs.size()) return true;
  }
  return false;
}

std::uint64_t elements_of(const Shaped& input) {
  return input.strides ? reached_elements(input.sizes, *input.strides).value()
                       : element_count(input.sizes).value();
}

/// The bytes of an input: every element is another number, or 0 and 1 in turn.
std::vector<std::byte> bytes_of(const Shaped& input, std::size_t index) {
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < elements_of(input); ++i) {
    if (input.type == DataType::UInt8) {
      bytes.push_back(static_cast<std::byte>((i + i / 3) % 2));
      continue;
    }
    const float value = 0.25F + static_cast<float>(100 * index + i);
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  }
  return bytes;
}

/// The same array with all repeated elements written out.
std::vector<std::byte> expanded(const Shaped& input, const std::vector<std::byte>& bytes,
                                const Sizes& sizes) {
  const std::size_t size = input.type == DataType::UInt8 ? 1 : 4;
  const Strides own = input.strides.value_or(packed_strides(input.sizes));
  std::vector<std::byte> result;
  for (std::uint64_t i = 0; i < element_count(sizes).value(); ++i) {
    std::uint64_t rest = i, at = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (input.sizes[d] != 1) at += rest % sizes[d] * own[d];
      rest /= sizes[d];
    }
    for (std::size_t byte = 0; byte < size; ++byte) result.push_back(bytes[at * size + byte]);
  }
  return result;
}

struct Output {
  std::string name;
  Sizes sizes;
  std::vector<std::byte> bytes;

  bool operator==(const Output&) const = default;
};

using Buffers = std::map<std::string, std::vector<std::byte>>;

std::vector<Output> run(const std::string& type, const Json& desc, const Buffers& inputs) {
  const Mended checked = check_and_mend_desc(type, desc);
  REQUIRE(checked.description);
  REQUIRE(messages_of(checked.diagnostics) == "");
  const Plan plan = make_plan(*checked.description);
  std::vector<std::span<const std::byte>> spans(plan.slots.size());
  for (const auto& [name, bytes] : inputs) spans[plan.find(name).value()] = bytes;
  std::vector<std::vector<std::byte>> results(plan.slots.size());
  for (const std::size_t slot : plan.slots_of(SlotKind::output))
    results[slot].resize(plan.slots[slot].bytes());
  const auto take = [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> part) {
    std::ranges::copy(part, results.at(slot).begin() + static_cast<std::ptrdiff_t>(offset));
  };
  run_on_host(plan, spans, 1, take);
  std::vector<Output> outputs;
  for (const FieldSpec& field : checked.description->spec->fields) {
    if (field.is_output() && plan.find(field.name))
      outputs.push_back({field.name, checked.description->tensor(field.name).sizes,
                         results[*plan.find(field.name)]});
  }
  return outputs;
}

/// The desc after all fixes; nothing where findings remain.
std::optional<Json> with_fixes(const std::string& type, Json desc) {
  for (std::size_t step = 0; step < 6; ++step) {
    const Mended checked = check_and_mend_desc(type, desc);
    REQUIRE(checked.description);
    if (checked.diagnostics.empty()) return desc;
    const auto mended = std::ranges::find_if(
        checked.diagnostics, [](const Diagnostic& each) { return !each.fix.empty(); });
    if (mended == checked.diagnostics.end()) return std::nullopt;
    desc = Json::parse(with_fix(*checked.description, mended->fix)).at("desc");
  }
  return std::nullopt;
}

struct Counts {
  std::size_t mended = 0, explained = 0;
};

void try_case(const Case& a_case, Counts& counts) {
  const auto sizes = broadcast_sizes(a_case.inputs);
  if (!sizes && !have_repeats(a_case.inputs)) return;  // a size that is just wrong
  const Json desc = a_case.desc();
  CAPTURE(desc.dump());
  const auto mended = with_fixes(a_case.type, desc);
  if (!sizes) CHECK_FALSE(mended);
  const bool must_be_mended = sizes && (!a_case.output || a_case.output == sizes);
  if (must_be_mended) CHECK(mended);
  if (!mended || !sizes) {
    ++counts.explained;
    for (const Diagnostic& finding : check_and_mend_desc(a_case.type, desc).diagnostics)
      CHECK(!finding.suggestion.empty());
    return;
  }
  ++counts.mended;
  CAPTURE(mended->dump());
  Buffers given, whole;
  Json equal = a_case.others;
  for (std::size_t i = 0; i < a_case.inputs.size(); ++i) {
    const Shaped& input = a_case.inputs[i];
    const auto bytes = bytes_of(input, i);
    given.emplace(input.name, bytes);
    whole.emplace(input.name, expanded(input, bytes, *sizes));
    equal[input.name] = {{"DataType", name_of(input.type)}, {"Sizes", *sizes}};
  }
  if (a_case.others.contains("TrainingStepTensor")) {
    const std::vector<std::byte> step(4, std::byte{0});
    given.emplace("TrainingStepTensor", step);
    whole.emplace("TrainingStepTensor", step);
  }
  const auto outputs = run(a_case.type, *mended, given);
  for (const Output& output : outputs) CHECK(output.sizes == *sizes);
  CHECK(outputs == run(a_case.type, equal, whole));
}

/// All lists of so many sizes.
std::vector<Sizes> all_sizes(std::size_t dimensions, std::uint64_t most) {
  std::vector<Sizes> list{{}};
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::vector<Sizes> longer;
    for (const Sizes& sizes : list) {
      for (std::uint64_t size = 1; size <= most; ++size) {
        longer.push_back(sizes);
        longer.back().push_back(size);
      }
    }
    list = std::move(longer);
  }
  return list;
}

/// Sizes that NumPy broadcasts to `whole`, and now and then do not fit.
Sizes part_of(const Sizes& whole, Random& random) {
  Sizes sizes = whole;
  for (std::uint64_t& size : sizes) {
    if (random.below(2) == 0) size = 1;
    if (random.below(16) == 0) size = 1 + random.below(4);
  }
  return sizes;
}

Sizes any_sizes(Random& random) {
  Sizes sizes(1 + random.below(4));
  for (std::uint64_t& size : sizes) size = 1 + random.below(4);
  return sizes;
}

/// Now and then strides with gaps.
void lay_out(Shaped& input, Random& random) {
  if (random.below(4) != 0) return;
  Sizes wider = input.sizes;
  for (std::uint64_t& size : wider) size += random.below(2);
  input.strides = packed_strides(wider);
}

}  // namespace

TEST_CASE("broadcast advice: two inputs of all small sizes") {
  Counts counts;
  for (const std::size_t dimensions : {1U, 2U}) {
    for (const Sizes& a : all_sizes(dimensions, 4)) {
      for (const Sizes& b : all_sizes(dimensions, 4)) {
        Case a_case{"ELEMENT_WISE_ADD",
                    {{"ATensor", DataType::Float32, a}, {"BTensor", DataType::Float32, b}}};
        try_case(a_case, counts);
        a_case.output = a;
        try_case(a_case, counts);
        a_case.output = broadcast_sizes(a_case.inputs);
        if (a_case.output) try_case(a_case, counts);
      }
    }
  }
  CHECK(counts.mended > 250);
  CHECK(counts.explained > 100);
}

TEST_CASE("broadcast advice: two inputs of up to four dimensions, also with strides") {
  Random random(1);
  Counts counts;
  for (int i = 0; i < 150; ++i) {
    const Sizes whole = any_sizes(random);
    Case a_case{"ELEMENT_WISE_SUBTRACT",
                {{"ATensor", DataType::Float32, part_of(whole, random)},
                 {"BTensor", DataType::Float32, part_of(whole, random)}}};
    for (Shaped& input : a_case.inputs) lay_out(input, random);
    try_case(a_case, counts);
  }
  CHECK(counts.mended > 50);
}

TEST_CASE("broadcast advice: three inputs, of which one has another type") {
  Random random(2);
  Counts counts;
  for (int i = 0; i < 200; ++i) {
    const Sizes whole = any_sizes(random);
    Case a_case{"ELEMENT_WISE_IF",
                {{"ConditionTensor", DataType::UInt8, part_of(whole, random)},
                 {"ATensor", DataType::Float32, part_of(whole, random)},
                 {"BTensor", DataType::Float32, part_of(whole, random)}}};
    for (Shaped& input : a_case.inputs) lay_out(input, random);
    if (random.below(3) == 0) a_case.output = broadcast_sizes(a_case.inputs);
    if (random.below(6) == 0) a_case.output = part_of(whole, random);
    try_case(a_case, counts);
  }
  CHECK(counts.mended > 70);
}

TEST_CASE("broadcast advice: four inputs and three outputs") {
  Random random(3);
  Counts counts;
  for (int i = 0; i < 100; ++i) {
    Sizes whole = any_sizes(random);
    whole.resize(4, 1);
    const Case a_case{
        "ADAM_OPTIMIZER",
        {{"InputParametersTensor", DataType::Float32, part_of(whole, random)},
         {"InputFirstMomentTensor", DataType::Float32, part_of(whole, random)},
         {"InputSecondMomentTensor", DataType::Float32, part_of(whole, random)},
         {"GradientTensor", DataType::Float32, part_of(whole, random)}},
        Json::parse(R"({"TrainingStepTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 1]},
                        "LearningRate": 0.5, "Beta1": 0.75, "Beta2": 0.5, "Epsilon": 1})")};
    try_case(a_case, counts);
  }
  CHECK(counts.mended > 30);
}

TEST_CASE("broadcast advice: what is said") {
  struct Row {
    Sizes a, b, output;
    const char* message;
    const char* help;
  };
  const Row rows[] = {
      {{3, 1},
       {1, 4},
       {},
       "BTensor.Sizes is [1, 4], must be [3, 1]",
       "write [3, 4] for ATensor.Sizes and BTensor.Sizes, and [1, 0] for ATensor.Strides and "
       "[0, 1] for BTensor.Strides, which repeat them as NumPy does"},
      {{1, 7},
       {2, 7},
       {},
       "BTensor.Sizes[0] is 2, must be 1",
       "write [2, 7] for ATensor.Sizes, and [0, 1] for ATensor.Strides, which repeat it as NumPy "
       "does"},
      // The output says that B is wrong, and NumPy that the output is.
      {{1, 7},
       {2, 7},
       {1, 7},
       "BTensor.Sizes[0] is 2, must be 1",
       "write 1, or [2, 7] for ATensor.Sizes and OutputTensor.Sizes, and [0, 1] for "
       "ATensor.Strides, which repeat it as NumPy does"},
      {{1, 3, 2, 2},
       {1, 4, 1, 1},
       {},
       "BTensor.Sizes is [1, 4, 1, 1], must be [1, 3, 2, 2]",
       "make ATensor.Sizes[1] and BTensor.Sizes[1] equal, or make one of them 1, the "
       "only size that NumPy stretches"},
      {{3, 1, 1},
       {2, 3, 4, 5},
       {},
       "BTensor has 4 dimensions, must have 3",
       "write [2, 3, 4, 5] for ATensor.Sizes, and [0, 1, 0, 0] for ATensor.Strides, which repeat "
       "it as NumPy does"},
  };
  for (const Row& row : rows) {
    Case a_case{"ELEMENT_WISE_ADD",
                {{"ATensor", DataType::Float32, row.a}, {"BTensor", DataType::Float32, row.b}}};
    if (!row.output.empty()) a_case.output = row.output;
    const Mended checked = check_and_mend_desc(a_case.type, a_case.desc());
    REQUIRE(checked.diagnostics.size() == 1);
    CHECK(checked.diagnostics[0].message == row.message);
    CHECK(checked.diagnostics[0].suggestion.text() == row.help);
  }
}

TEST_CASE("broadcast advice: no fix gives up strides that are written") {
  const Json transposed = {{"DataType", "FLOAT32"}, {"Sizes", {3, 2}}, {"Strides", {1, 3}}};
  const Json whole = {{"DataType", "FLOAT32"}, {"Sizes", {1, 3, 2}}};
  const Json every_other = {{"DataType", "FLOAT32"}, {"Sizes", {3}}, {"Strides", {2}}};
  const Json matrix = {{"DataType", "FLOAT32"}, {"Sizes", {2, 2}}};
  const Json wide = {{"DataType", "FLOAT32"}, {"Sizes", {2, 3}}};
  CHECK_FALSE(with_fixes("ELEMENT_WISE_ADD",
                         {{"ATensor", whole}, {"BTensor", transposed}, {"OutputTensor", whole}}));
  CHECK_FALSE(with_fixes("GEMM", {{"ATensor", matrix},
                                  {"BTensor", wide},
                                  {"CTensor", every_other},
                                  {"TransA", "NONE"},
                                  {"TransB", "NONE"},
                                  {"Alpha", 1},
                                  {"Beta", 1}}));
}

TEST_CASE("broadcast advice: files are stretched by a field, of which the sizes are not written") {
  const auto finding = [](const Sizes& a, const Sizes& b) {
    const Mended checked =
        check_and_mend_files("ELEMENT_WISE_ADD", Json::object(), {{"ATensor", a}, {"BTensor", b}});
    REQUIRE(checked.diagnostics.size() == 1);
    return checked.diagnostics[0];
  };
  const Replacement a{"/desc/ATensor/Broadcast", "true"}, b{"/desc/BTensor/Broadcast", "true"};
  CHECK(finding({1, 2, 3, 3}, {2, 1, 1}).fix == Fix{b});
  CHECK(finding({2, 1, 1}, {1, 2, 3, 3}).fix == Fix{a});
  CHECK(finding({2, 3}, {1, 1, 1}).fix == Fix{a, b});
  CHECK(finding({3, 1}, {1, 4}).fix == Fix{a, b});
  CHECK(finding({1, 1}, {3, 4}).fix == Fix{a});
  CHECK(finding({3, 4}, {3, 1}).fix == Fix{b});
  CHECK(finding({3}, {1, 3}).fix == Fix{a});
  // NumPy would repeat other elements than those that the transposed array has.
  const Diagnostic both = finding({1, 3, 1}, {1, 1, 3});
  CHECK(both.fix == Fix{a, b});
  CHECK(
      both.suggestion.text() ==
      "write \"ATensor\": {\"Broadcast\": true} and \"BTensor\": {\"Broadcast\": true} to stretch "
      "them as NumPy does");
  const Diagnostic none = finding({1, 3, 2, 2}, {1, 4, 1, 1});
  CHECK(none.fix.empty());
  CHECK(none.suggestion.text().find("Broadcast") == std::string::npos);
}

}  // namespace dmlop::test::broadcast_advice_test
