// Which tolerance the results of a graph get where the user gives none.
#include <doctest/doctest.h>

#include <memory>

#include "graph/json_graph.hpp"
#include "graph/lower.hpp"
#include "json/document.hpp"
#include "model/tolerances.hpp"

namespace dmlop::test::result_tolerances_test {
namespace {

/// "4 ULP (default of ...)" of the output "y" of a graph with these nodes, whose inputs a and b,
/// and constant c, are FLOAT32 {1, 1, 2, 2}.
std::string tolerance_of(const std::string& nodes, const std::optional<Tolerance>& given = {}) {
  Diagnostics findings, warnings;
  auto document = json::Document::parse("graph.json",
                                        R"({"inputs": [
      {"name": "a", "DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
      {"name": "b", "DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}],
    "constants": {"c": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "Values": [0.25, -0.5, 0, 0]}},
    "nodes": [)" + nodes + R"(], "outputs": ["y"]})",
                                        findings);
  REQUIRE(document);
  auto shared = std::make_shared<const json::Document>(std::move(*document));
  const auto graph = read_json_graph(std::move(shared), {}, findings);
  REQUIRE_MESSAGE(graph, to_text(findings.front(), "error"));
  const auto lowered = lower_graph(*graph, {}, findings, warnings);
  REQUIRE_MESSAGE(lowered, to_text(findings.front(), "error"));
  const Model& model = lowered->model;
  const Tolerance tolerance = ResultTolerances(model, given).of(model.outputs.front());
  return to_text(tolerance) + " (" + tolerance.origin + ")";
}

/// A node with an input, an output and other members of its desc.
std::string node(const std::string& type, const std::string& from, const std::string& to,
                 const std::string& desc = "") {
  return R"({"type": ")" + type + R"(", "bindings": {"InputTensor": ")" + from +
         R"(", "OutputTensor": ")" + to + R"("}, "desc": {)" + desc + "}}";
}

std::string binary(const std::string& type, const std::string& a, const std::string& b,
                   const std::string& to) {
  return R"({"type": ")" + type + R"(", "bindings": {"ATensor": ")" + a + R"(", "BTensor": ")" + b +
         R"(", "OutputTensor": ")" + to + R"("}})";
}

const std::string erf = node("ELEMENT_WISE_ERF", "a", "e");
const std::string of_erf = "atol 1e-06 or 4 ULP (default of ELEMENT_WISE_ERF for FLOAT32)";

const std::string gemm = R"({"type": "GEMM",
  "desc": {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0},
  "bindings": {"ATensor": "a", "BTensor": "b", "OutputTensor": "p"}})";

TEST_CASE("result tolerances: an operator's own, and none for what is exact") {
  CHECK(tolerance_of(node("ELEMENT_WISE_ERF", "a", "y")) == of_erf);
  CHECK(tolerance_of(node("ELEMENT_WISE_NEGATE", "a", "y")) ==
        "bit for bit (default of ELEMENT_WISE_NEGATE)");
}

TEST_CASE("result tolerances: what is exact passes on the largest of its inputs") {
  CHECK(tolerance_of(erf + ", " + node("ELEMENT_WISE_NEGATE", "e", "y")) == of_erf);
  CHECK(tolerance_of(erf + ", " + node("ELEMENT_WISE_NEGATE", "e", "n") + ", " +
                     node("ACTIVATION_RELU", "n", "y")) == of_erf);
  CHECK(tolerance_of(erf + ", " + binary("ELEMENT_WISE_ADD", "b", "e", "y")) == of_erf);
  // An operator with a tolerance of its own says how exact it is.
  CHECK(tolerance_of(erf + ", " + node("ELEMENT_WISE_SQRT", "e", "y")) ==
        tolerance_of(node("ELEMENT_WISE_SQRT", "a", "y")));
  // A product of matrices has the larger atol, and ERF has the ULP.
  CHECK(tolerance_of(erf + ", " + gemm + ", " + binary("ELEMENT_WISE_MAX", "e", "p", "y")) ==
        "rtol 1e-05, atol 1e-05 or 4 ULP (default of GEMM for FLOAT32)");
}

TEST_CASE("result tolerances: what is absolute is multiplied by a factor that is known") {
  for (const auto& [a, b] : {std::pair("e", "c"), std::pair("c", "e")})
    CHECK(tolerance_of(erf + ", " + binary("ELEMENT_WISE_MULTIPLY", a, b, "y")) ==
          "atol 5e-07 or 4 ULP (default of ELEMENT_WISE_ERF for FLOAT32)");
  // A factor that is computed, or an input without a file, is not known.
  CHECK(tolerance_of(erf + ", " + binary("ELEMENT_WISE_MULTIPLY", "e", "e", "y")) ==
        "4 ULP (default of ELEMENT_WISE_ERF for FLOAT32)");
  CHECK(tolerance_of(erf + ", " + binary("ELEMENT_WISE_MULTIPLY", "e", "b", "y")) ==
        "4 ULP (default of ELEMENT_WISE_ERF for FLOAT32)");
  CHECK(tolerance_of(
            erf + ", " +
            node("ELEMENT_WISE_ABS", "e", "y", R"("ScaleBias": {"Scale": -1000, "Bias": 0})")) ==
        "atol 0.001 or 4 ULP (default of ELEMENT_WISE_ERF for FLOAT32)");
}

TEST_CASE("result tolerances: integers and comparisons are exact, whatever they come from") {
  CHECK(tolerance_of(erf + ", " +
                     node("CAST", "e", "y", R"("OutputTensor": {"DataType": "INT32"})")) ==
        "bit for bit (default of CAST)");
  CHECK(tolerance_of(erf + ", " +
                     node("CAST", "e", "i", R"("OutputTensor": {"DataType": "INT32"})") + ", " +
                     node("CAST", "i", "y", R"("OutputTensor": {"DataType": "FLOAT32"})")) ==
        "bit for bit (default of CAST)");
}

TEST_CASE("result tolerances: another floating-point type has another unit") {
  const auto cast = [](const std::string& from, const std::string& to, const std::string& type) {
    return node("CAST", from, to, R"("OutputTensor": {"DataType": ")" + type + R"("})");
  };
  CHECK(tolerance_of(erf + ", " + cast("e", "y", "FLOAT16")) ==
        "atol 1e-06 or 1 ULP (default of ELEMENT_WISE_ERF for FLOAT32)");
  CHECK(tolerance_of(gemm + ", " + cast("p", "y", "FLOAT16")) ==
        "rtol 1e-05, atol 1e-05 or 1 ULP (default of GEMM for FLOAT32)");
  const std::string half_erf =
      cast("a", "h", "FLOAT16") + ", " + node("ELEMENT_WISE_ERF", "h", "e") + ", ";
  CHECK(tolerance_of(half_erf + cast("e", "y", "FLOAT32")) ==
        "rtol 0.0009765625, atol 0.001 (default of ELEMENT_WISE_ERF for FLOAT16)");
}

TEST_CASE("result tolerances: the user's criterion wins, and else the user's rules apply") {
  const std::string nodes = erf + ", " + node("ELEMENT_WISE_NEGATE", "e", "y");
  CHECK(tolerance_of(nodes, Tolerance{.ulp = 9, .origin = "--ulp"}) == "9 ULP (--ulp)");
  CHECK(tolerance_of(nodes, Tolerance{.allow_trivial = true}) == of_erf);
}

}  // namespace
}  // namespace dmlop::test::result_tolerances_test
