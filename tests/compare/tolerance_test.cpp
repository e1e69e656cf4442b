// Tolerances as they are written: on the command line, in JSON, in a spec, and as text.
#include "tensor/tolerance.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "guide/words.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "program.hpp"
#include "spec/tolerance_reader.hpp"
#include "spec/validate.hpp"
#include "types.hpp"

namespace dmlop::test::tolerance_test {
namespace {

struct Read {
  Tolerance tolerance;
  std::string messages;
};

Read read(const std::string& text) {
  Read result;
  Diagnostics diagnostics;
  const auto document = json::Document::parse("tol.json", text, diagnostics);
  REQUIRE(document.has_value());
  FieldReader reader(*document, diagnostics);
  result.tolerance = read_tolerance(reader, document->root(), "tolerance");
  for (const Diagnostic& diagnostic : diagnostics) result.messages += diagnostic.message + "\n";
  return result;
}

/// A folder with a.npy (1, 2) and b.npy (1, 2.5).
class TwoFiles : public Folder {
 public:
  TwoFiles() {
    write("a.npy", float_npy("(2,)", {1, 2}));
    write("b.npy", float_npy("(2,)", {1, 2.5F}));
  }
  ProgramResult compare(std::vector<std::string> options) const {
    options.insert(options.begin(), {"compare", "a.npy", "b.npy"});
    return dmlop_program(options, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("a tolerance as text says all that is allowed") {
  CHECK(to_text(Tolerance{}) == "bit for bit");
  CHECK(to_text({.ulp = 4}) == "4 ULP");
  CHECK(to_text({.rtol = 1e-5}) == "rtol 1e-05");
  CHECK(to_text({.atol = 0.5}) == "atol 0.5");
  CHECK(to_text({.rtol = 1e-5, .atol = 1e-8, .ulp = 4}) == "rtol 1e-05, atol 1e-08 or 4 ULP");
  CHECK(to_text({.atol = 0, .ulp = 0}) == "atol 0 or 0 ULP");
  CHECK(to_text({.nan_equals_nan = false}) == "bit for bit, NaN differs from NaN");
}

TEST_CASE("a number's text reads back as the number") {
  CHECK(shortest_text(0) == "0");
  CHECK(shortest_text(0.1) == "0.1");
  for (const double number : {1.0 / 3, 0x1p-1074, 1e300, std::numeric_limits<double>::max(),
                              0x1.fffffffffffffp-2, 2.5, 123456789.0}) {
    CHECK(std::strtod(shortest_text(number).c_str(), nullptr) == number);
  }
}

TEST_CASE("a tolerance in JSON: every field, alone and together") {
  const Read all = read(
      R"({"rtol": 1e-3, "atol": 0, "ulp": 9223372036854775807, "nan": "differ", "allowTrivial": true})");
  CHECK(all.messages == "");
  CHECK(all.tolerance.rtol == 1e-3);
  CHECK(all.tolerance.atol == 0);
  CHECK(all.tolerance.ulp == 0x7FFFFFFFFFFFFFFFU);
  CHECK_FALSE(all.tolerance.nan_equals_nan);
  CHECK(all.tolerance.allow_trivial);
  CHECK(all.tolerance.origin == "tolerance");
  const Read none = read("{}");
  CHECK(none.messages == "");
  CHECK(none.tolerance.is_bitwise());
  CHECK(none.tolerance.nan_equals_nan);
  CHECK_FALSE(none.tolerance.allow_trivial);
  const Read usual = read(R"({"ulp": 4, "nan": "equal", "allowTrivial": false})");
  CHECK(usual.messages == "");
  CHECK_FALSE(usual.tolerance.rtol.has_value());
  CHECK_FALSE(usual.tolerance.atol.has_value());
  CHECK(usual.tolerance.ulp == 4);
  CHECK(usual.tolerance.nan_equals_nan);
  CHECK_FALSE(usual.tolerance.allow_trivial);
}

TEST_CASE("a tolerance in JSON that means nothing is refused, with what it must be") {
  const auto number = " must be a number that is not negative, such as 1e-5\n";
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"(4)", "tolerance is 4, must be an object such as {\"rtol\": 1e-5, \"atol\": 1e-8}\n"},
      {R"({"rtol": -1})", std::string("tolerance.rtol is -1,") + number},
      {R"({"rtol": "1"})", std::string("tolerance.rtol is the string \"1\",") + number},
      {R"({"atol": null})", std::string("tolerance.atol is null,") + number},
      {R"({"atol": 1e999})", std::string("tolerance.atol is 1e999,") + number},
      {R"({"ulp": -1})",
       "tolerance.ulp is -1, must be an integer from 0 to 9223372036854775807 (ULP)\n"},
      {R"({"ulp": 1.5})",
       "tolerance.ulp is 1.5, must be an integer from 0 to 9223372036854775807 (ULP)\n"},
      {R"({"nan": "same"})",
       "tolerance.nan is the string \"same\", must be one of equal, differ\n"},
      {R"({"nan": true})", "tolerance.nan is true, must be one of equal, differ\n"},
      {R"({"allowTrivial": 1})", "tolerance.allowTrivial is 1, must be true or false\n"},
      {R"({"rtoll": 1})", "unknown field \"rtoll\"; did you mean \"rtol\"?\n"},
  };
  for (const auto& [text, messages] : rows) CHECK(read(text).messages == messages);
}

TEST_CASE("an operator's own tolerance is its spec's, and bit for bit where it has none") {
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    for (const DataType type : A11) {
      const Tolerance tolerance = spec.default_tolerance(type);
      const bool has_one = spec.tolerances.contains(type);
      CAPTURE(name);
      CAPTURE(name_of(type));
      CHECK(tolerance.nan_equals_nan);
      CHECK_FALSE(tolerance.allow_trivial);
      CHECK(tolerance.is_bitwise() == !has_one);
      const std::string of_type = has_one ? " for " + std::string(name_of(type)) : "";
      CHECK(tolerance.origin == "default of " + name + of_type);
    }
  }
  CHECK(find_spec("LP_POOLING")->default_tolerance(DataType::Float32).ulp == 4U);
  CHECK(find_spec("LP_POOLING")->default_tolerance(DataType::Float16).ulp == 1U);
  CHECK(find_spec("GEMM")->default_tolerance(DataType::Float32).atol.value_or(0) > 0);
  CHECK(find_spec("PADDING")->default_tolerance(DataType::Float32).is_bitwise());
}

double default_atol(const char* text) {
  Diagnostics diagnostics;
  auto description = read_description("op.json", text, newest_feature_level, diagnostics);
  REQUIRE(description);
  check_description(*description, diagnostics);
  REQUIRE(diagnostics.empty());
  return description->default_tolerance(DataType::Float32).atol.value_or(0);
}

TEST_CASE("the longer the sums, the larger an operator's own absolute tolerance") {
  const auto gemm = [](const char* a, const char* b, const char* transform) {
    return std::string(
               R"({"type": "GEMM", "desc": {"ATensor": {"DataType": "FLOAT32", "Sizes": )") +
           a + R"(}, "BTensor": {"DataType": "FLOAT32", "Sizes": )" + b + R"(}, "TransA": ")" +
           transform + R"(", "TransB": "NONE", "Alpha": 1, "Beta": 0}})";
  };
  CHECK(default_atol(gemm("[3, 8]", "[8, 2]", "NONE").c_str()) == 1e-5);
  CHECK(default_atol(gemm("[3, 4096]", "[4096, 2]", "NONE").c_str()) == 4096 * 0x1p-23);
  CHECK(default_atol(gemm("[4096, 3]", "[4096, 2]", "TRANSPOSE").c_str()) == 4096 * 0x1p-23);
  for (const bool is_backward : {false, true}) {
    const std::string convolution = std::string(R"({"type": "CONVOLUTION", "desc": {
          "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 256, 9, 9]},
          "FilterTensor": {"DataType": "FLOAT32", "Sizes": )") +
                                    (is_backward ? "[256, 5, 3, 2]" : "[6, 128, 3, 2]") +
                                    R"(}, "Mode": "CROSS_CORRELATION", "Direction": ")" +
                                    (is_backward ? "BACKWARD" : "FORWARD") +
                                    R"(", "Strides": [1, 1], "Dilations": [1, 1],
          "StartPadding": [0, 0], "EndPadding": [0, 0], "OutputPadding": [0, 0], "GroupCount": 2}})";
    CHECK(default_atol(convolution.c_str()) == 128 * 6 * 0x1p-23);
  }
}

TEST_CASE("the options of a tolerance") {
  const TwoFiles folder;
  struct Row {
    std::vector<std::string> options;
    int code;
    std::string tolerance;
  };
  const std::vector<Row> rows{
      {{}, 1, "bit for bit (default)"},
      {{"--ulp", "2097152"}, 0, "2097152 ULP (command line)"},
      {{"--ulp", "2097151"}, 1, "2097151 ULP (command line)"},
      {{"--ulp=18446744073709551615"}, 0, "18446744073709551615 ULP (command line)"},
      {{"--rtol", "0.2"}, 0, "rtol 0.2 (command line)"},
      {{"--rtol", "0.19"}, 1, "rtol 0.19 (command line)"},
      {{"--atol", "0.5"}, 0, "atol 0.5 (command line)"},
      {{"--atol=5e-1"}, 0, "atol 0.5 (command line)"},
      {{"--atol", "0.49"}, 1, "atol 0.49 (command line)"},
      {{"--rtol", "0.1", "--atol", "0.25"}, 0, "rtol 0.1, atol 0.25 (command line)"},
      {{"--rtol", "0", "--ulp", "2097152"}, 0, "rtol 0 or 2097152 ULP (command line)"},
      {{"--nan", "differ", "--atol", "1"}, 0, "atol 1, NaN differs from NaN (command line)"},
      {{"--nan=equal"}, 1, "bit for bit (command line)"},
  };
  for (const Row& row : rows) {
    const auto result = folder.compare(row.options);
    CAPTURE(result.output);
    CHECK(result.code == row.code);
    CHECK(result.error == "");
    CHECK(result.output.find("\n  tolerance: " + row.tolerance + "\n") != std::string::npos);
  }
}

TEST_CASE("options of a tolerance that mean nothing are wrong usage") {
  const TwoFiles folder;
  const std::vector<std::vector<std::string>> rows{
      {"--rtol", "-1"},  {"--atol", "-0.5"},
      {"--rtol", "nan"}, {"--atol", "nan"},
      {"--rtol", "inf"}, {"--atol", "x"},
      {"--ulp", "-1"},   {"--ulp", "1.5"},
      {"--ulp", "nan"},  {"--nan", "never"},
      {"--rtol"},        {"--allow-trivial=maybe"},
      {"--ulp", ""},     {"--ulp", "18446744073709551616"}};
  for (const auto& row : rows) {
    const auto result = folder.compare(row);
    CAPTURE(row.front() + " " + row.back());
    CHECK(result.code == 2);
    CHECK(result.output == "");
    CHECK(result.error.starts_with("dmlop: error: "));
    CHECK(result.error.find(row.front().substr(0, 5)) != std::string::npos);
  }
}

// A tolerance that is too large hides wrong results from every comparison of a user. So each one,
// which their golden files depend on, changes in two places or not at all.
TEST_CASE("default tolerances are those that are published") {
  std::string tolerances;
  for (const std::string& name : specified_operators()) {
    const OperatorSpec& spec = *find_spec(name);
    for (const DataTypeInfo& type : data_types) {
      const Tolerance tolerance = spec.default_tolerance(type.type);
      if (to_text(tolerance) == to_text(Tolerance{})) continue;
      tolerances += name + " " + std::string(type.name) + ": " + to_text(tolerance) + "\n";
    }
    if (const std::string terms = terms_text(spec); !terms.empty())
      tolerances += name + ": " + terms + "\n";
  }
  const std::string path = test_data_path("tolerances.txt");
  if (std::getenv("DMLOP_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << tolerances;
  CHECK(tolerances == read_file(path));
}

}  // namespace dmlop::test::tolerance_test
