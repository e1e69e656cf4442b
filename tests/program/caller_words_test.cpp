// What callers of the C++ and the C interface are told about an operation: the operator that it
// names, and mistakes in the words of the interface.
#include <dmlop/dmlop.h>
#include <doctest/doctest.h>

#include <dmlop/dmlop.hpp>
#include <string>
#include <vector>

#include "paths.hpp"
#include "public_failure.hpp"

namespace dmlop::test::caller_words_test {
namespace {

using dmlop::FailureKind;
using dmlop::view;

const std::string samples = source_path("samples/");

std::string operator_in(const std::string& text) {
  return dmlop::operator_of({.text = text});
}

}  // namespace

TEST_CASE("operator of: the description's, whatever else is wrong in it") {
  CHECK(operator_in(R"({"type": "DML_OPERATOR_PADDING", /* "type": */ "desc": {"Mode": 5,},})") ==
        "PADDING");
  CHECK(operator_in(R"({"Type": "GEMM", "Desc": {}})") == "GEMM");
  CHECK(dmlop::operator_of({.file = samples + "padding"}) == "PADDING");
  for (const char* program : {"graph/graph.json", "onnx/model.onnx", "attention_block/model.json"})
    CHECK(dmlop::operator_of({.file = samples + program}) == "");
  for (const char* wrong : {"{", "[]", "{}", R"({"type": 5})", R"({"type": "PADING"})"}) {
    const auto failure = failure_of([&] { operator_in(wrong); });
    CHECK(failure.kind() == FailureKind::invalid_input);
    CHECK_FALSE(failure.findings().empty());
  }
  CHECK(failure_of([] { operator_in(""); }).kind() == FailureKind::usage);
  CHECK(failure_of([] { dmlop::operator_of({.file = "no/such.json"}); }).kind() ==
        FailureKind::io_failed);
}

TEST_CASE("operator of: in C a program has none, which is no error") {
  dmlop_operation operation = DMLOP_OPERATION;
  operation.text = R"({"type": "padding", "desc": {}})";
  char* name = nullptr;
  CHECK(dmlop_operator_of(&operation, &name, nullptr) == DMLOP_INVALID);
  CHECK(name == nullptr);
  operation.text = R"({"type": "PADDING", "desc": {}})";
  REQUIRE(dmlop_operator_of(&operation, &name, nullptr) == DMLOP_DONE);
  CHECK(std::string(name) == "PADDING");
  dmlop_text_free(name);
  operation = DMLOP_OPERATION;
  const std::string graph = samples + "graph/graph.json";
  operation.file = graph.c_str();
  CHECK(dmlop_operator_of(&operation, &name, nullptr) == DMLOP_DONE);
  CHECK(name == nullptr);
  CHECK(dmlop_operator_of(&operation, nullptr, nullptr) == DMLOP_USAGE);
  CHECK(dmlop_operator_of(nullptr, &name, nullptr) == DMLOP_USAGE);
}

TEST_CASE("callers: messages call an option what the argument is called") {
  const std::string desc =
      R"("desc": {"InputTensor": {"DataType": "FLOAT64", "Sizes": [2]}, "Repeats": [2]}})";
  const auto findings = dmlop::check({.text = R"({"type": "TILE", )" + desc}).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].note.find("dmlop with the judge \"directml-1.15.4\"") != std::string::npos);
  const std::vector<float> numbers(4000, 1);
  dmlop::Runner runner({.device = "cpu", .host_memory_bytes = 1});
  const dmlop::Operation softmax{.text = R"({"type": "ACTIVATION_SOFTMAX", "desc": {}})"};
  const auto failure = failure_of([&] {
    runner.run(softmax, {{"InputTensor", view(numbers, {1, 1, 40, 100})}});
  });
  CHECK(std::string(failure.what()).find(", and host_memory_bytes allows 1") != std::string::npos);
}

}  // namespace dmlop::test::caller_words_test
