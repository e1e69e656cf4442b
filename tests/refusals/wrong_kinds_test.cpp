// Values of the wrong kind: what was meant is found if the field takes it; otherwise an example of
// the operator stands in. No such finding is without a remedy.
#include <doctest/doctest.h>

#include "mending.hpp"

namespace dmlop::test::wrong_kinds_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* relu = "ACTIVATION_RELU";

/// The only finding about an operator's example with another value at a place.
Diagnostic finding_with(const std::string& operator_name, const std::string& pointer,
                        const std::string& json) {
  Json desc = Json::parse(find_spec(operator_name)->example);
  desc[Json::json_pointer(pointer)] = Json::parse(json);
  const Mended mended = check_and_mend_desc(operator_name, desc);
  CAPTURE(operator_name);
  CAPTURE(json);
  REQUIRE(mended.diagnostics.size() == 1);
  return mended.diagnostics.front();
}

struct Row {
  const char* operator_name;
  const char* pointer;
  const char* json;
  const char* help;
};

void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.pointer);
    CAPTURE(row.json);
    CHECK(finding_with(row.operator_name, row.pointer, row.json).suggestion.text() == row.help);
  }
}

/// Values of wrong kinds for a place where another value stands.
std::vector<Json> wrong_values(const Json& right) {
  std::vector<Json> values{nullptr,
                           true,
                           -1,
                           2.5,
                           99999999999,
                           "abc",
                           "",
                           "4",
                           Json::array(),
                           Json::array({right}),
                           Json::array({right, right}),
                           Json::object()};
  if (right.is_array()) values.push_back(right.dump());
  return values;
}

/// The pointers to all values below `json`.
void add_places(const Json& json, const std::string& pointer, std::vector<std::string>& places) {
  if (!pointer.empty()) places.push_back(pointer);
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) add_places(value, pointer + "/" + name, places);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i)
      add_places(json.at(i), pointer + "/" + std::to_string(i), places);
  }
}

}  // namespace

TEST_CASE("wrong kinds: a value in quotes or brackets is meant without them") {
  check_rows({
      {relu, "/InputTensor/Sizes", R"("2,3")", "write [2, 3], without the quotes"},
      {relu, "/InputTensor/Sizes", R"("[2, 3]")", "write [2, 3], without the quotes"},
      {relu, "/InputTensor/Sizes", "\"(2, 3)\"", "write [2, 3], without the quotes"},
      {relu, "/InputTensor/Sizes", R"("2x3")", "write [2, 3], without the quotes"},
      {relu, "/InputTensor/Sizes", "[[2, 3]]", "write [2, 3]"},
      {relu, "/InputTensor/Sizes/0", R"("2")", "write 2, without the quotes"},
      {relu, "/InputTensor/Sizes/0", R"("0x10")", "write 16, without the quotes"},
      {relu, "/InputTensor/Sizes/0", "[2]", "write 2"},
      {relu, "/InputTensor", R"(["FLOAT32"])",
       R"(write {"DataType": "FLOAT32", "Sizes": [2, 3]}, for example)"},
      {relu, "/InputTensor", "[2, 3]",
       R"(write {"DataType": "FLOAT32", "Sizes": [2, 3]}, for example)"},
      {relu, "/InputTensor", R"("FLOAT16:2,3")",
       R"(write {"DataType": "FLOAT16", "Sizes": [2, 3]}, without the quotes)"},
      {"ACTIVATION_ELU", "/Alpha", R"("0.5f")", "write 0.5, without the quotes"},
      {"ACTIVATION_ELU", "/Alpha", "[0.25]", "write 0.25"},
      {"UPSAMPLE_2D", "/ScaleSize", "[3, 2]", R"(write {"Width": 3, "Height": 2})"},
      {"ELEMENT_WISE_IDENTITY", "/ScaleBias", "[2, 0.5]", R"(write {"Scale": 2, "Bias": 0.5})"},
  });
}

TEST_CASE("wrong kinds: numbers, flags and nothing") {
  check_rows({
      {"CUMULATIVE_SUMMATION", "/Axis", "true", "write 1"},
      {"CUMULATIVE_SUMMATION", "/Axis", "null", "write 1, for example"},
      {"CUMULATIVE_SUMMATION", "/Axis", "0.5", "write 0 or 1"},
      {"CUMULATIVE_SUMMATION", "/HasExclusiveSum", R"("True")", "write true, without the quotes"},
      {"CUMULATIVE_SUMMATION", "/HasExclusiveSum", "2", "write true"},
      {"CUMULATIVE_SUMMATION", "/HasExclusiveSum", "null", "write false, for example"},
      {"CUMULATIVE_SUMMATION", "/AxisDirection", "null", "write \"INCREASING\", for example"},
      {"ACTIVATION_ELU", "/Alpha", "null", "write 0.5, for example"},
      {"PADDING", "/StartPadding/0", "-1", "write 0 or more"},
      {"PADDING", "/StartPadding/0", "99999999999", "write 4294967295 or less"},
      {"PADDING", "/DimensionCount", "null", "leave it out"},
      {"SLICE", "/Strides/0", "-1",
       "DML_OPERATOR_SLICE1 takes negative InputWindowStrides; there, write InputWindowOffsets "
       "for "
       "Offsets, InputWindowSizes for Sizes, InputWindowStrides for Strides"},
  });
}

TEST_CASE("wrong kinds: a name at the end of a longer one is meant") {
  check_rows({
      {relu, "/InputTensor/DataType", R"("DML_FLOAT32")", "did you mean \"FLOAT32\"?"},
      {relu, "/InputTensor/DataType", R"("torch.float32")", "did you mean \"FLOAT32\"?"},
      {relu, "/InputTensor/DataType", R"("DML_TENSOR_DATA_TYPE::FLOAT32")",
       "did you mean \"FLOAT32\"?"},
      {"REDUCE", "/Function", R"("'SUM'")", "did you mean \"SUM\"?"},
  });
}

TEST_CASE("wrong kinds: the name of an activation stands for the activation, which then is taken") {
  const std::string tanh = R"({"Type": "ACTIVATION_TANH", "Desc": {}})";
  const std::string elu = R"({"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 0.5}})";
  check_rows({
      {"GEMM", "/FusedActivation", R"("TANH")", ("write " + tanh).c_str()},
      {"GEMM", "/FusedActivation", R"("elu")", ("write " + elu).c_str()},
      {"GEMM", "/FusedActivation", R"("DML_OPERATOR_ACTIVATION_ELU")", ("write " + elu).c_str()},
      {"GEMM", "/FusedActivation", R"("ACTIVATION_SWISH")",  // which cannot be fused
       R"(write {"Type": "ACTIVATION_RELU", "Desc": {}}, for example)"},
      {"RNN", "/ActivationDescs/0", R"("TANH")", ("write " + tanh).c_str()},
      {"RNN", "/ActivationDescs", R"("ACTIVATION_TANH")", ("write [" + tanh + "]").c_str()},
  });
  CHECK(finding_with("RNN", "/ActivationDescs/0", R"("TANH")").fix ==
        Fix{{"/desc/ActivationDescs/0", tanh}});
  CHECK(finding_with("GEMM", "/FusedActivation", R"("elu")").fix ==
        Fix{{"/desc/FusedActivation", elu}});
}

TEST_CASE("wrong kinds: a path where a tensor is wanted stands in bindings") {
  const Diagnostic finding = finding_with("ACTIVATION_RELU", "/InputTensor", R"("x.npy")");
  CHECK(finding.message ==
        "InputTensor is the string \"x.npy\", must be a tensor desc, or be left out where a file "
        "gives it");
  CHECK(finding.suggestion.text() ==
        R"(leave it out, and write "bindings": {"InputTensor": "x.npy"} beside "type")");
}

TEST_CASE("wrong kinds: an unknown field that resembles none is left out") {
  const Diagnostic finding = finding_with("ACTIVATION_RELU", "/Frobnicate", "3");
  CHECK(finding.suggestion.text() == "leave it out");
  CHECK(finding.fix == Fix{{"/desc/Frobnicate", "null"}});
}

TEST_CASE("wrong kinds: a count that does not fit its array may be left out") {
  const Diagnostic finding = finding_with("SPLIT", "/OutputCount", "7");
  CHECK(finding.suggestion.text().ends_with("tensors or leave OutputCount out"));
  CHECK(finding.fix == Fix{{"/desc/OutputCount", "null"}});
}

TEST_CASE("wrong kinds: an empty array is filled, its count is not changed") {
  const std::string input = R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]})";
  const auto found = check_and_mend_desc(
      "REDUCE", Json::parse("{" + input + R"(, "Function": "SUM", "AxisCount": 1, "Axes": []})"));
  REQUIRE(found.diagnostics.size() == 1);
  CHECK(found.diagnostics.front().suggestion.text() == "write 1 value, such as [0]");
  CHECK(found.diagnostics.front().fix == Fix{{"/desc/Axes", "[0]"}});
}

TEST_CASE("wrong kinds: every finding has a remedy, and every fix works") {
  std::size_t findings = 0, fixes = 0;
  for (const char* name : {"PADDING", "JOIN", "REDUCE", "TOP_K1", "GEMM", "UPSAMPLE_2D",
                           "FILL_VALUE_CONSTANT", "ELEMENT_WISE_CLIP", "SLICE1"}) {
    const Json example = Json::parse(find_spec(name)->example);
    std::vector<std::string> places;
    add_places(example, "", places);
    for (const std::string& place : places) {
      const Json::json_pointer pointer(place);
      for (const Json& wrong : wrong_values(example.at(pointer))) {
        Json desc = example;
        desc[pointer] = wrong;
        const Mended mended = check_and_mend_desc(name, desc);
        for (const Diagnostic& finding : mended.diagnostics) {
          CAPTURE(name);
          CAPTURE(place);
          CAPTURE(wrong.dump());
          CAPTURE(to_text(finding));
          ++findings;
          const bool asks = finding.message.find("did you mean") != std::string::npos;
          CHECK((asks || !finding.suggestion.empty()));
          if (finding.fix.empty()) continue;
          ++fixes;
          CHECK(mends(mended, finding));
        }
      }
    }
  }
  CHECK(findings > 1200);
  CHECK(fixes * 3 > findings);
}

}  // namespace dmlop::test::wrong_kinds_test
