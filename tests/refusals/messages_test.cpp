// What a finding about a description says to somebody who made a common mistake: one finding for
// one mistake, in words, with what to write instead.
#include <doctest/doctest.h>

#include "base/diagnostic.hpp"
#include "ops/operator.hpp"
#include "refusal.hpp"
#include "spec/description.hpp"
#include "spec/near_operators.hpp"

namespace dmlop::messages_test {
namespace {

using dmlop::Diagnostic;
using dmlop::Diagnostics;

Diagnostics findings_of(const std::string& text) {
  Diagnostics diagnostics;
  auto description = dmlop::read_description("op.json", text, std::nullopt, diagnostics);
  if (description) check_description(*description, diagnostics);
  return diagnostics;
}

/// The only finding about a description.
Diagnostic only_finding(const std::string& text) {
  CAPTURE(text);
  const Diagnostics found = findings_of(text);
  for (const Diagnostic& finding : found) CAPTURE(finding.message);
  REQUIRE(found.size() == 1);
  return found.front();
}

std::string tensor(const std::string& name, const std::string& sizes) {
  return "\"" + name + R"(": {"DataType": "FLOAT32", "Sizes": )" + sizes + "}, ";
}

std::string described(const std::string& type, const std::string& fields) {
  return R"({"type": ")" + type + R"(", "desc": {)" + fields + "}}";
}

std::string elu(const std::string& alpha) {
  return described("ACTIVATION_ELU", tensor("InputTensor", "[1]") + R"("Alpha": )" + alpha);
}

std::string reduce(const std::string& function) {
  return described("REDUCE",
                   tensor("InputTensor", "[2, 3]") + R"("Axes": [0], "Function": )" + function);
}

}  // namespace

TEST_CASE("a mistake that makes other sizes differ is one finding: a transform of GEMM") {
  const auto found = only_finding(
      described("GEMM", tensor("ATensor", "[1, 1, 2, 3]") + tensor("BTensor", "[1, 1, 3, 5]") +
                            tensor("OutputTensor", "[1, 1, 2, 5]") +
                            R"("TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 1, "Beta": 0)"));
  CHECK(found.message == "BTensor.Sizes[3] is 5, must be 3");
}

TEST_CASE("a mistake that makes other sizes differ is one finding: a filter in another order") {
  const auto found = only_finding(described(
      "CONVOLUTION",
      tensor("InputTensor", "[1, 3, 8, 8]") + tensor("FilterTensor", "[3, 16, 3, 3]") +
          tensor("BiasTensor", "[1, 16, 1, 1]") + tensor("OutputTensor", "[1, 16, 6, 6]") +
          R"("Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1],
          "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
          "OutputPadding": [0, 0], "GroupCount": 1)"));
  CHECK(found.message == "FilterTensor.Sizes[1] is 16, must be 3");
}

TEST_CASE("sizes that differ in the same way are one finding, which names their cause") {
  const auto found = only_finding(described(
      "RNN", tensor("InputTensor", "[1, 4, 2, 3]") + tensor("WeightTensor", "[1, 1, 5, 3]") +
                 tensor("RecurrenceTensor", "[1, 1, 5, 5]") +
                 tensor("OutputSequenceTensor", "[4, 1, 2, 5]") +
                 R"("ActivationDescs": [{"Type": "ACTIVATION_TANH"}, {"Type": "ACTIVATION_TANH"}],
          "Direction": "BIDIRECTIONAL")"));
  CHECK(found.message == "WeightTensor.Sizes[1] is 1, must be 2");
  CHECK(found.note ==
        "Each direction has its weights. RecurrenceTensor.Sizes[1], OutputSequenceTensor.Sizes[1] "
        "are 1, too.");
  CHECK(found.suggestion.text() == "write 2 for each, or change Direction");
  const auto both = only_finding(described(
      "ELEMENT_WISE_ADD", tensor("ATensor", "[3, 4]") + tensor("BTensor", "[3, 5]") +
                              R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": [3, 5]})"));
  CHECK(both.message == "BTensor.Sizes[1] is 5, must be 4");
  CHECK(both.note.ends_with(" OutputTensor.Sizes[1] is 5, too."));
  CHECK(both.suggestion.text() == "write 4 for both, or change ATensor.Sizes[1]");
}

std::string gemm_of(const std::string& b_sizes, const std::string& more) {
  return described("GEMM", tensor("ATensor", "[4, 8]") + tensor("BTensor", b_sizes) + more +
                               R"("TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1)");
}

TEST_CASE("help names what would satisfy the rule") {
  const auto transposed = only_finding(gemm_of("[16, 8]", ""));
  CHECK(transposed.suggestion.text() == "write 8, or \"TRANSPOSE\" for TransB");
  CHECK(only_finding(gemm_of("[7, 16]", "")).suggestion.text() == "write 8");
  const auto broadcast = only_finding(gemm_of("[8, 16]", tensor("CTensor", "[1, 16]")));
  CHECK(broadcast.suggestion.text() == "write 4, and [0, 1] for its Strides, which repeat it");
  const auto dimensions = only_finding(gemm_of("[8, 16]", tensor("CTensor", "[16]")));
  CHECK(dimensions.suggestion.text() == "add dimensions of size 1: write [1, 16]");
  const auto unfused =
      only_finding(gemm_of("[8, 16]", R"("FusedActivation": {"Type": "ACTIVATION_SWISH"}, )"));
  CHECK(unfused.message ==
        "FusedActivation.Type is ACTIVATION_SWISH, which cannot be fused into GEMM");
  CHECK(unfused.suggestion.text() ==
        "leave FusedActivation out and run ACTIVATION_SWISH on the output");
}

TEST_CASE("other mistakes are still found beside a wrong size") {
  const auto found = findings_of(described(
      "ELEMENT_WISE_ADD", tensor("ATensor", "[3, 4]") + tensor("BTensor", "[3, 5]") +
                              R"("OutputTensor": {"DataType": "FLOAT16", "Sizes": [9, 4]})"));
  std::vector<std::string> messages;
  for (const Diagnostic& finding : found) messages.push_back(finding.message);
  CHECK(messages == std::vector<std::string>{"OutputTensor.DataType is FLOAT16, must be FLOAT32",
                                             "BTensor.Sizes[1] is 5, must be 4",
                                             "OutputTensor.Sizes[0] is 9, must be 3"});
}

TEST_CASE("what must be given is said in words") {
  const auto found = only_finding(described(
      "RNN", tensor("InputTensor", "[1, 4, 2, 3]") + tensor("WeightTensor", "[1, 1, 5, 3]") +
                 tensor("RecurrenceTensor", "[1, 1, 5, 5]") +
                 R"("ActivationDescs": [{"Type": "ACTIVATION_TANH"}], "Direction": "FORWARD")"));
  CHECK(found.message == "OutputSequenceTensor or OutputSingleTensor must be given");
}

TEST_CASE("wrong enumerations list the values; names and numbers of DirectML.h are taken") {
  for (const char* value : {"\"AVERAGE\"", "\"DML_REDUCE_FUNCTION_AVERAGE\"", "2"})
    CHECK(findings_of(reduce(value)).empty());
  CHECK(only_finding(reduce("\"MEAN\"")).suggestion.text() == "did you mean \"AVERAGE\"?");
  const auto wrong = only_finding(reduce("99"));
  CHECK(wrong.message ==
        "Function is 99, must be one of ARGMAX (0), ARGMIN (1), AVERAGE (2), L1 (3), L2 (4), "
        "LOG_SUM (5), LOG_SUM_EXP (6), MAX (7), MIN (8), MULTIPLY (9), SUM (10), SUM_SQUARE (11)");
  const auto type = [](const std::string& name) {
    return described("ELEMENT_WISE_IDENTITY",
                     R"("InputTensor": {"DataType": )" + name + R"(, "Sizes": [1]})");
  };
  CHECK(findings_of(type("1")).empty());
  CHECK(findings_of(type("\"DML_TENSOR_DATA_TYPE_FLOAT32\"")).empty());
  CHECK(only_finding(type("\"HALF\"")).suggestion.text() == "did you mean \"FLOAT16\"?");
  CHECK(only_finding(type("\"float32\"")).suggestion.text() == "did you mean \"FLOAT32\"?");
}

TEST_CASE("numbers in quotes, with suffixes or from Python are told how to be written") {
  CHECK(only_finding(elu("\"1.5\"")).suggestion.text() == "write 1.5, without the quotes");
  CHECK(only_finding(elu("1.0f")).message == "wrong JSON: 1.0f is no JSON number");
  CHECK(only_finding(elu("1.0f")).suggestion.text() == "write 1.0");
  CHECK(only_finding(elu(".5")).suggestion.text() == "write 0.5");
  CHECK(only_finding(elu("True")).suggestion.text() == "write true");
  CHECK(only_finding(
            described("ELEMENT_WISE_IDENTITY", R"("InputTensor": {"DataType": 1, "Sizes": ["4"]})"))
            .suggestion.text() == "write 4, without the quotes");
}

TEST_CASE("the range of sizes is the one that is held") {
  const auto size = [](const std::string& value) {
    return only_finding(described("ELEMENT_WISE_IDENTITY",
                                  R"("InputTensor": {"DataType": 1, "Sizes": [)" + value + "]}"))
        .message;
  };
  CHECK(size("-1") == "InputTensor.Sizes[0] is -1, must be an integer from 1 to 4294967295 (UINT)");
  CHECK(size("0") == "InputTensor.Sizes[0] is 0, must be from 1 to 4294967295");
}

TEST_CASE("words of NumPy in a tensor desc suggest DirectML's") {
  const auto found = findings_of(
      described("ELEMENT_WISE_IDENTITY", R"("InputTensor": {"dtype": "FLOAT32", "shape": [1]})"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].message == "unknown field \"dtype\"; did you mean \"DataType\"?");
  CHECK(found[1].message == "unknown field \"shape\"; did you mean \"Sizes\"?");
}

TEST_CASE("a misspelt type is the only finding") {
  const auto found = only_finding(R"({"tpye": "PADDING", "desc": {}})");
  CHECK(found.message == "unknown field \"tpye\"; did you mean \"type\"?");
  CHECK(found.pointer == "/tpye");
}

TEST_CASE("without any field the description lacks desc, not each field") {
  const auto found = only_finding(R"({"type": "PADDING"})");
  CHECK(found.message == "the field \"desc\" is missing");
  CHECK(found.suggestion.text() == "`dmlop ops PADDING` lists them, with an example");
  CHECK(findings_of(R"({"type": "PADDING", "PaddingMode": "EDGE"})").size() == 3);
}

TEST_CASE("a field of another version of the operator says so") {
  const auto found = only_finding(
      described("ELEMENT_WISE_ADD", tensor("ATensor", "[1]") + tensor("BTensor", "[1]") +
                                        R"("FusedActivation": {"Type": "ACTIVATION_RELU"})"));
  CHECK(found.message == "unknown field \"FusedActivation\"");
  CHECK(found.suggestion.text() == "DML_OPERATOR_ELEMENT_WISE_ADD1 has this field");
}

TEST_CASE("names of other libraries suggest operators, or values of their fields") {
  CHECK(dmlop::operator_suggestion("reflect") ==
        "did you mean \"PADDING\" with \"PaddingMode\": \"REFLECTION\"?");
  CHECK(dmlop::operator_suggestion("MatMul") == "did you mean \"GEMM\"?");
  CHECK(dmlop::operator_suggestion("Concat") == "did you mean \"JOIN\"?");
  CHECK(dmlop::operator_suggestion("CumSum") == "did you mean \"CUMULATIVE_SUMMATION\"?");
  CHECK(dmlop::operator_suggestion("conv2d") == "did you mean \"CONVOLUTION\"?");
  CHECK(dmlop::operator_suggestion("PADING") == "did you mean \"PADDING\" or \"PADDING1\"?");
  CHECK(dmlop::operator_suggestion("xyzzy") == "");
}

TEST_CASE("an empty array says how many elements it must have, and what they look like") {
  const std::string tensor_list = R"([{"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}, )"
                                  R"({"DataType": "FLOAT32", "Sizes": [1, 1, 2, 4]}])";
  const std::string output = tensor("OutputTensor", "[1, 1, 2, 2]");
  for (const char* count : {"", R"("InputCount": 0, )"}) {
    const auto join =
        only_finding(described("JOIN", R"("InputTensors": [], "Axis": 1, )" + (count + output)));
    CHECK(join.message == "InputTensors is an empty array, must have at least 1 tensor");
    CHECK(join.rule == "InputCount >= 1");
    CHECK(join.suggestion.text() == "write 1 tensor or more, such as " + tensor_list);
  }
  const auto split = only_finding(described(
      "SPLIT", tensor("InputTensor", "[1, 1, 2, 2]") + R"("OutputTensors": [], "Axis": 1)"));
  CHECK(split.message == "OutputTensors is an empty array, must have at least 1 tensor");
  const auto two = only_finding(
      described("JOIN", R"("InputTensors": [], "InputCount": 2, "Axis": 1, )" + output));
  CHECK(two.message == "InputTensors has 0 tensors, must have 2");
  CHECK(two.suggestion.text() == "write 2 tensors, such as " + tensor_list);
}

TEST_CASE("of many wrong values eight are listed, and all count") {
  const auto found =
      findings_of(described("PADDING", tensor("InputTensor", "[1]") +
                                           R"("PaddingMode": "EDGE", "EndPadding": [0],
                     "StartPadding": [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1])"));
  CHECK(found.size() == 8);
  CHECK(count_of(found) == 10);
  CHECK(to_text(found.back()).ends_with("\n  and 2 more like this one"));
}

}  // namespace dmlop::messages_test
