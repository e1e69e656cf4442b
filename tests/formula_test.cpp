// What spec/formula.hpp promises: parsing, arithmetic, chains, inference and how formulas are
// shown.
#include "spec/formula.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <stdexcept>

namespace {

using dmlop::Formula;
using dmlop::Reference;
using Int = std::int64_t;
using Subscript = std::optional<std::size_t>;

/// Fields with known values: numbers, and arrays of them.
class Fields : public dmlop::Scope {
 public:
  std::map<std::string, Int> numbers;
  std::map<std::string, std::vector<Int>> arrays;

  std::optional<Int> value(const Reference& reference, Subscript subscript) const override {
    const std::string name = to_text(reference, std::nullopt);
    if (const auto number = numbers.find(name); number != numbers.end() && !subscript)
      return number->second;
    const auto array = arrays.find(name);
    if (array == arrays.end() || !subscript || *subscript >= array->second.size())
      return std::nullopt;
    return array->second[*subscript];
  }
  std::optional<std::size_t> length(const Reference& reference) const override {
    const auto array = arrays.find(to_text(reference, std::nullopt));
    if (array == arrays.end()) return std::nullopt;
    return array->second.size();
  }
  std::string show(const Reference& reference, Int number) const override {
    return reference.attribute == "DataType" ? "TYPE" + std::to_string(number)
                                             : std::to_string(number);
  }
};

const Fields fields = [] {
  Fields made;
  made.numbers = {{"P", 3},
                  {"Zero", 0},
                  {"Axis", 1},
                  {"A.DataType", 2},
                  {"B.DataType", 5},
                  {"Min", std::numeric_limits<Int>::min()},
                  {"Max", std::numeric_limits<Int>::max()}};
  made.arrays = {{"S", {10, 20, 30}}, {"T", {1, 2}}, {"In.Sizes", {4, 5, 6, 7}}};
  return made;
}();

Formula parse(std::string_view text) {
  return Formula::parse(text, [](std::string_view name) -> std::optional<Int> {
    if (name == "CONSTANT") return 0;
    return name == "EDGE" ? std::optional<Int>(1) : std::nullopt;
  });
}

/// The value of an expression: what a formula "P == EXPRESSION" would infer.
std::optional<Int> value_of(const std::string& expression, std::size_t i = 0) {
  const Formula formula = parse("P == " + expression);
  REQUIRE(formula.equation().has_value());
  return formula.evaluate(formula.equation()->value, fields, i);
}

std::optional<Int> nothing;

bool holds(const std::string& text, std::size_t i = 0) {
  return !parse(text).check(fields, i).has_value();
}

/// "subject must be bound", as a finding would say it.
std::string violation(const std::string& text, std::size_t i = 0) {
  const Formula formula = parse(text);
  const auto found = formula.check(fields, i);
  if (!found) return "";
  return formula.show_symbols(found->subject, fields, i) + " " + std::string(found->comparison) +
         " " + formula.show_numbers(found->bound, fields, i);
}

std::string parse_error(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "parsed";
}

}  // namespace

TEST_CASE("operators bind as in C") {
  CHECK(value_of("2 + 3 * 4") == 14);
  CHECK(value_of("(2 + 3) * 4") == 20);
  CHECK(value_of("20 - 5 - 3") == 12);
  CHECK(value_of("100 / 10 / 5") == 2);
  CHECK(value_of("7 % 4 * 2") == 6);
  CHECK(value_of("-2 - -3") == 1);
  CHECK(value_of("- 2 * 3") == -6);
  CHECK(value_of("abs(2 - 9) + 1") == 8);
  CHECK(value_of("-7 / 2") == -3);
  CHECK(value_of("-7 % 2") == -1);
  CHECK(holds("1 + 1 == 2 && 2 < 3"));
  CHECK(holds("0 == 1 || 1 == 1 && 1 == 1"));
  CHECK_FALSE(holds("(0 == 1 || 1 == 1) && 1 == 2"));
  CHECK(holds("!(1 == 2)"));
  CHECK_FALSE(holds("!(1 == 1)"));
}

TEST_CASE("conditions choose one of two, from the right") {
  CHECK(value_of("(1 == 1 ? 5 : 6)") == 5);
  CHECK(value_of("(1 == 2 ? 5 : 6)") == 6);
  CHECK(value_of("(1 == 2 ? 5 : 1 == 1 ? 7 : 8)") == 7);
  CHECK(value_of("(i == Axis ? 1 : In.Sizes[i])", 1) == 1);
  CHECK(value_of("(i == Axis ? 1 : In.Sizes[i])", 2) == 6);
  CHECK(value_of("(1 == 1 ? 5 : 1 / 0)") == 5);
}

TEST_CASE("chains hold where every link does") {
  CHECK(holds("1 <= P <= 3"));
  CHECK_FALSE(holds("1 <= P <= 2"));
  CHECK_FALSE(holds("4 <= P <= 9"));
  CHECK(holds("1 < 2 < 3 < 4"));
  CHECK_FALSE(holds("1 < 2 < 2 < 4"));
}

TEST_CASE("subscripts, attributes and enum values") {
  CHECK(value_of("S[1]") == 20);
  CHECK(value_of("S[i + 1]", 1) == 30);
  CHECK(value_of("In.Sizes[2]") == 6);
  CHECK(value_of("EDGE") == 1);
  CHECK(value_of("i", 7) == 7);
}

TEST_CASE("a formula with i speaks of every i that all its arrays have") {
  CHECK(parse("S[i] == T[i]").index_count(fields) == 2);
  CHECK(parse("In.Sizes[i + 2] == S[i]").index_count(fields) == 2);
  CHECK(parse("In.Sizes[i + 9] == 1").index_count(fields) == 0);
  CHECK(parse("S[i] == Unknown[i]").index_count(fields) == 3);
  CHECK(parse("Unknown[i] == 1").index_count(fields) == 0);
  CHECK(parse("S[0] == 1").index_count(fields) == 1);
  CHECK(parse("P == 1").index_count(fields) == 1);
}

TEST_CASE("what is unknown decides nothing") {
  CHECK(value_of("Unknown + 1") == nothing);
  CHECK(value_of("S[3]") == nothing);
  CHECK(value_of("S[0 - 1]") == nothing);
  CHECK(value_of("(Unknown == 1 ? 2 : 3)") == nothing);
  CHECK(holds("P == Unknown"));
  CHECK_FALSE(holds("1 == 2 && Unknown == 1"));
  CHECK(holds("1 == 1 || Unknown == 1"));
}

TEST_CASE("arithmetic that leaves 64 bits, or divides by zero, has no value") {
  CHECK(value_of("Max + 1") == nothing);
  CHECK(value_of("Max + 0") == std::numeric_limits<Int>::max());
  CHECK(value_of("Min - 1") == nothing);
  CHECK(value_of("Max * 2") == nothing);
  CHECK(value_of("-Min") == nothing);
  CHECK(value_of("abs(Min)") == nothing);
  CHECK(value_of("abs(-2147483648)") == 2147483648);
  CHECK(value_of("Min / -1") == nothing);
  CHECK(value_of("Min % -1") == nothing);
  CHECK(value_of("1 / Zero") == nothing);
  CHECK(value_of("1 % Zero") == nothing);
}

TEST_CASE("violations name what must change and what it must be") {
  CHECK(violation("P == 3") == "");
  CHECK(violation("P == 1 + 4") == "P must be 1 + 4 = 5");
  CHECK(violation("P != 3") == "P must not be 3");
  CHECK(violation("P < 3") == "P must be less than 3");
  CHECK(violation("P > 3") == "P must be greater than 3");
  CHECK(violation("4 <= P <= 9") == "P must be at least 4");
  CHECK(violation("1 <= P <= 2") == "P must be at most 2");
  CHECK(violation("3 < P") == "P must be greater than 3");
  CHECK(violation("S[i] <= T[i] * 10 - 1", 1) == "S[1] must be at most 2 * 10 - 1 = 19");
  CHECK(violation("A.DataType == B.DataType") == "A.DataType must be TYPE5");
  CHECK(violation("P == 1 || P == 2") == "P == 1 || P == 2 does not hold 3 == 1 || 3 == 2 = 0");
}

TEST_CASE("an equation tells what it determines") {
  const auto equation = parse("S[i + 1] == T[i] + 1").equation();
  REQUIRE(equation.has_value());
  CHECK(equation->target == Reference{"S", ""});
  CHECK(equation->exact);
  const Formula bounded = parse("1 <= In.Sizes[i] <= 8");
  REQUIRE(bounded.equation().has_value());
  CHECK(bounded.equation()->target == Reference{"In", "Sizes"});
  CHECK_FALSE(bounded.equation()->exact);
  CHECK(bounded.evaluate(bounded.equation()->value, fields, 0) == 8);
  for (const char* text : {"P >= 1", "P < S[0]", "P + 1 == 2", "P == 1 && P == 2"}) {
    CHECK_FALSE(parse(text).equation().has_value());
  }
}

TEST_CASE("formulas are shown as they were written, i and values put in") {
  const Formula formula = parse("S[i+1]==(In.Sizes[i] - T[i])/2 + abs(-P)");
  CHECK(formula.show_symbols(fields, 1) == "S[2] == (In.Sizes[1] - T[1]) / 2 + abs(-P)");
  CHECK(formula.show_numbers(formula.equation()->value, fields, 1) == "(5 - 2) / 2 + abs(-3) = 4");
  const Formula choice = parse("P == (i == Axis ? EDGE : !P)");
  CHECK(choice.show_symbols(fields, 0) == "P == (0 == Axis ? EDGE : !P)");
  const Formula logic = parse("P % 2 == 1 || P * 2 < 3 && P != 4");
  CHECK(logic.show_symbols(fields, 0) == "P % 2 == 1 || P * 2 < 3 && P != 4");
}

TEST_CASE("references come in the text's order, once each") {
  const Formula formula = parse("P == S[i] + P + T[i]");
  std::string names;
  for (const auto& [reference, subscript] : formula.references(fields, 1)) {
    names += to_text(reference, subscript) + " ";
  }
  CHECK(names == "P S[1] T[1] ");
}

TEST_CASE("wrong formulas are refused with the position") {
  const std::string before = "formula \"";
  CHECK(parse_error("") == before + "\", position 0: expected a name, a number or (");
  CHECK(parse_error("P ==") == before + "P ==\", position 4: expected a name, a number or (");
  CHECK(parse_error("P = 1") == before + "P = 1\", position 2: expected an operator");
  CHECK(parse_error("(P") == before + "(P\", position 2: expected )");
  CHECK(parse_error("S[1") == before + "S[1\", position 3: expected ]");
  CHECK(parse_error("abs P") == before + "abs P\", position 4: expected (");
  CHECK(parse_error("P ? 1") == before + "P ? 1\", position 5: expected :");
  CHECK(parse_error("P == 99999999999999999999") ==
        before + "P == 99999999999999999999\", position 5: the number does not fit 64 bits");
}
