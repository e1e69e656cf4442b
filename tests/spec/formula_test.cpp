// What spec/formula.hpp promises: parsing, arithmetic, chains, inference and how formulas are
// shown.
#include "spec/formula.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

namespace dmlop::formula_test {
namespace {

using dmlop::Formula;
using dmlop::Number;
using dmlop::Place;
using dmlop::Reference;
using dmlop::Variables;
using Int = std::int64_t;

/// Fields with known values: numbers, arrays of them, and arrays of tensors (Tensors.Sizes).
class Fields : public dmlop::Scope {
 public:
  std::map<std::string, Number> numbers;
  std::map<std::string, std::vector<Int>> arrays;
  std::map<std::string, std::vector<std::vector<Int>>> tensors;
  std::map<std::string, bool> optional;

  std::optional<Number> value(const Place& place) const override {
    const std::string name = to_text(Place{.reference = place.reference});
    if (const auto number = numbers.find(name); number != numbers.end() && !place.subscript)
      return number->second;
    const auto* array = find_array(place);
    if (array == nullptr || !place.subscript || *place.subscript >= array->size())
      return std::nullopt;
    return Number((*array)[*place.subscript]);
  }
  std::optional<std::size_t> length(const Place& place) const override {
    const auto list = tensors.find(place.reference.field);
    if (list != tensors.end() && place.reference.attribute.empty()) return list->second.size();
    const auto* array = find_array(place);
    return array != nullptr ? std::optional(array->size()) : std::nullopt;
  }
  std::optional<bool> is_present(const Place& place) const override {
    const auto found = optional.find(place.reference.field);
    return found != optional.end() ? std::optional(found->second) : std::nullopt;
  }
  std::string show(const Reference& reference, const Number& number) const override {
    return reference.attribute == "DataType" ? "TYPE" + to_text(number) : to_text(number);
  }

 private:
  const std::vector<Int>* find_array(const Place& place) const {
    if (place.element) {
      const auto list = tensors.find(place.reference.field);
      const bool exists = list != tensors.end() && *place.element < list->second.size();
      return exists ? &list->second[*place.element] : nullptr;
    }
    const auto array = arrays.find(to_text(Place{.reference = place.reference}));
    return array != arrays.end() ? &array->second : nullptr;
  }
};

const Fields fields = [] {
  Fields made;
  made.numbers = {{"P", 3},
                  {"Zero", 0},
                  {"Axis", 1},
                  {"Half", Number::real(0.5)},
                  {"NaN", Number::real(std::numeric_limits<double>::quiet_NaN())},
                  {"A.DataType", 2},
                  {"B.DataType", 5},
                  {"Min", std::numeric_limits<Int>::min()},
                  {"Max", std::numeric_limits<Int>::max()}};
  made.arrays = {
      {"S", {10, 20, 30}}, {"T", {1, 2}}, {"Twice", {4, 7, 4}}, {"In.Sizes", {4, 5, 6, 7}}};
  made.tensors = {{"Tensors", {{2, 3}, {2, 5, 9}}}};
  made.optional = {{"Given", true}, {"Absent", false}};
  return made;
}();

/// Variables of which i has a value.
Variables with_i(Int i) {
  Variables variables{};
  variables['i' - 'a'] = i;
  return variables;
}

Formula parse(std::string_view text) {
  return Formula::parse(text, [](std::string_view name) -> std::optional<Int> {
    if (name == "CONSTANT") return 0;
    return name == "EDGE" ? std::optional<Int>(1) : std::nullopt;
  });
}

/// The value of an expression: what a formula "P == EXPRESSION" would infer.
std::optional<Number> value_of(const std::string& expression, Int i = 0) {
  const Formula formula = parse("P == " + expression);
  REQUIRE(formula.equation().has_value());
  return formula.evaluate(formula.equation()->value, fields, with_i(i));
}

const std::optional<Number> nothing;

bool holds(const std::string& text, Int i = 0) {
  return !parse(text).check(fields, with_i(i)).has_value();
}

/// "subject must be bound", as a finding would say it.
std::string violation(const std::string& text, Int i = 0) {
  const Formula formula = parse(text);
  const auto found = formula.check(fields, with_i(i));
  if (!found) return "";
  std::string message =
      formula.show_symbols(found->subject, fields, with_i(i)) + " " + found->words;
  if (found->bound) message += " " + formula.show_numbers(*found->bound, fields, with_i(i));
  return message;
}

/// Every set of variables that a formula speaks of: "i=0 i=1", "j=0,i=2".
std::string statements(const std::string& text) {
  std::string list;
  parse(text).for_each(fields, [&](const Variables& variables) {
    if (!list.empty()) list += " ";
    list += std::to_string(variables['j' - 'a']) + ":" + std::to_string(variables['i' - 'a']);
    return true;
  });
  return list;
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

TEST_CASE("a formula with i speaks of every i that its arrays have") {
  CHECK(statements("S[i] > T[i]") == "0:0 0:1");
  CHECK(statements("In.Sizes[i + 2] > S[i]") == "0:0 0:1");
  CHECK(statements("In.Sizes[i - 1] > 0") == "0:1 0:2 0:3 0:4");
  CHECK(statements("In.Sizes[i + 9] == 1") == "");
  CHECK(statements("S[i] > Unknown[i]") == "0:0 0:1 0:2");
  CHECK(statements("Unknown[i] == 1") == "");
  CHECK(statements("S[0] == 1") == "0:0");
  CHECK(statements("P == 1") == "0:0");
}

TEST_CASE("what an equation determines says of which i it speaks, and choices limit nothing") {
  CHECK(statements("S[i] == T[i]") == "0:0 0:1 0:2");
  CHECK(statements("Unknown[i] == T[i]") == "0:0 0:1");
  CHECK(statements("S[i] == (i < 2 ? T[i] : In.Sizes[i - 2])") == "0:0 0:1 0:2");
  CHECK(statements("P == 3 => S[i] == T[i]") == "0:0 0:1 0:2");
  CHECK(statements("Unknown[i] == (P == 3 ? T[i] : 0)") == "0:0 0:1");
}

TEST_CASE("a second variable goes over the tensors of an array, each with its own dimensions") {
  CHECK(statements("Tensors[j].Sizes[i] > 0") == "0:0 0:1 1:0 1:1 1:2");
  CHECK(statements("Tensors[j].DataType == A.DataType") == "0:0 1:0");
  CHECK(value_of("Tensors[1].Sizes[2]") == 9);
  CHECK(value_of("Tensors[2].Sizes[0]") == nothing);
  CHECK(violation("Tensors[1].Sizes[i] < 9", 2) == "Tensors[1].Sizes[2] must be less than 9");
}

TEST_CASE("aggregates go over every value that their subscripts allow") {
  CHECK(value_of("sum(k: S[k])") == 60);
  CHECK(value_of("product(k: T[k] + 1)") == 6);
  CHECK(value_of("count(k: S[k] > 10)") == 2);
  CHECK(value_of("sum(k: Tensors[k].Sizes[1])") == 8);
  CHECK(value_of("sum(k: k < 2 ? S[k] : 0)") == 30);
  CHECK(value_of("sum(k: S[k] * i)", 2) == 120);
  CHECK(value_of("sum(k: Unknown[k])") == nothing);
  CHECK(value_of("sum(k: Tensors[k].Sizes[2])") == nothing);  // the first has none
  CHECK(holds("all(k: S[k] % 10 == 0)"));
  CHECK_FALSE(holds("all(k: S[k] != 20)"));
  CHECK(holds("any(k: S[k] == 20)"));
  CHECK_FALSE(holds("any(k: S[k] == 21)"));
  CHECK(holds("any(k: S[k] == Unknown)"));  // nobody knows
  CHECK(violation("P == sum(k: T[k] * i)", 2) == "P must be 6");
}

TEST_CASE("implication, membership, presence and other words") {
  CHECK(holds("P == 4 => 1 == 2"));
  CHECK_FALSE(holds("P == 3 => 1 == 2"));
  CHECK(holds("Unknown == 1 => 1 == 2"));
  CHECK(holds("P in {1, 3}"));
  CHECK(violation("P in {1, EDGE, 7}") == "P must be one of 1, EDGE, 7");
  CHECK(violation("P in {1, S[0]}") == "P must be one of 1, S[0] = 10");
  CHECK(violation("!(P in {1, 3})") == "P must not be one of 1, 3");
  CHECK(holds("P in {Unknown, 1}"));
  CHECK(holds("20 in S"));
  CHECK_FALSE(holds("21 in S"));
  CHECK(value_of("(i in T ? 5 : 6)", 2) == 5);
  CHECK(holds("present(Given)"));
  CHECK(violation("present(Absent)") == "Absent is missing");
  CHECK(violation("!present(Given)") == "Given must be left out");
  CHECK(holds("present(Unknown)"));
  CHECK(violation("present(Given) == present(Absent)") ==
        "present(Given) must be present(Absent) = left out");
  CHECK(holds("distinct(S)"));
  CHECK(violation("distinct(Twice)") == "Twice must not have a value twice");
  CHECK(value_of("length(S)") == 3);
  CHECK(value_of("length(Tensors)") == 2);
  CHECK(value_of("length(Unknown)") == nothing);
  CHECK(value_of("min(P, 2) + max(P, 7)") == 9);
}

TEST_CASE("numbers with a point are doubles, and so is what they are mixed with") {
  CHECK(holds("0 < Half < 1"));
  CHECK(violation("Half >= 1") == "Half must be at least 1");
  CHECK(violation("Half == 0.25 * 4") == "Half must be 0.25 * 4 = 1");
  CHECK(value_of("floor(Half * 5)") == 2);
  CHECK(value_of("floor(-Half)") == -1);
  CHECK(holds("finite(Half) && finite(P)"));
  CHECK(violation("finite(Half / 0.0)") == "Half / 0 must be a finite number");
  CHECK(violation("finite(-0.0 / 0.0)") == "-0 / 0 must be a finite number");
  CHECK(value_of("P / 2") == 1);
  CHECK(value_of("P / 2.0") == Number::real(1.5));
  CHECK(value_of("1e3") == 1000);
  CHECK_FALSE(holds("NaN >= 0"));
  CHECK_FALSE(holds("NaN <= 0"));
}

TEST_CASE("a remainder of 0 is a multiple") {
  CHECK(violation("S[1] % P == 0") == "S[1] must be a multiple of 3");
  CHECK(holds("S[2] % P == 0"));
}

TEST_CASE("of what is said together the part that does not hold is named") {
  CHECK(violation("P == 3 && Axis == 2") == "Axis must be 2");
  CHECK(violation("P == 3 => Axis == 2") == "Axis must be 2");
  CHECK(violation("(P == 4)") == "P must be 4");
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

TEST_CASE("arithmetic that leaves 64 bits goes on as a double; a division by zero has no value") {
  CHECK(value_of("Max + 1") == Number::real(0x1p63));
  CHECK(value_of("4294967295 * 4294967295 * 2")->is_real());
  CHECK_FALSE(holds("P == 4294967295 * 4294967295 * 2"));
  CHECK(value_of("Max + 0") == std::numeric_limits<Int>::max());
  CHECK(value_of("Min - 1") == Number::real(-0x1p63));
  CHECK(value_of("Max * 2") == Number::real(0x1p64));
  CHECK(value_of("-Min") == Number::real(0x1p63));
  CHECK(value_of("abs(Min)") == Number::real(0x1p63));
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
  CHECK(violation("P == 1 || P == 2") == "P == 1 || P == 2 does not hold");
}

TEST_CASE("an equation tells what it determines") {
  const Formula exact = parse("S[i + 1] == T[i] + 1");
  REQUIRE(exact.equation().has_value());
  CHECK(exact.place_at(exact.equation()->target, fields, with_i(1)) ==
        Place{.reference = {"S"}, .subscript = 2});
  CHECK(exact.equation()->exact);
  const Formula bounded = parse("1 <= In.Sizes[i] <= 8");
  REQUIRE(bounded.equation().has_value());
  CHECK(*bounded.reference_at(bounded.equation()->target) == Reference{"In", "Sizes"});
  CHECK_FALSE(bounded.equation()->exact);
  CHECK(bounded.evaluate(bounded.equation()->value, fields, with_i(0)) == 8);
  const Formula conditional = parse("P == i => Tensors[j].Sizes[i] == 4");
  REQUIRE(conditional.equation().has_value());
  CHECK(conditional.equation_applies(fields, with_i(3)));
  CHECK_FALSE(conditional.equation_applies(fields, with_i(2)));
  CHECK(*conditional.reference_at(conditional.equation()->target) == Reference{"Tensors", "Sizes"});
  for (const char* text : {"P >= 1", "P < S[0]", "P + 1 == 2", "P == 1 && P == 2", "P in {1}"}) {
    CHECK_FALSE(parse(text).equation().has_value());
  }
}

TEST_CASE("formulas are shown as they were written, variables and values put in") {
  const Formula formula = parse("S[i+1]==(In.Sizes[i] - T[i])/2 + abs(-P)");
  CHECK(formula.show_symbols(fields, with_i(1)) == "S[2] == (In.Sizes[1] - T[1]) / 2 + abs(-P)");
  CHECK(formula.show_numbers(formula.equation()->value, fields, with_i(1)) ==
        "(5 - 2) / 2 + abs(-3) = 4");
  for (const char* text :
       {"P == (Unknown == Axis ? EDGE : !P)", "P % 2 == 1 || P * 2 < 3 && P != 4",
        "P == 1 => Tensors[0].Sizes[1] == 2", "P in {1, EDGE} && 3 in S", "distinct(S)",
        "finite(P)", "present(Given) == present(Absent)", "P == min(1, max(P, 2)) + floor(0.5)",
        "P == sum(k: k < 2 ? S[k] : 0) + length(S)", "-P < 2 && !(P == 1)"}) {
    CHECK(parse(text).show_symbols(fields, with_i(0)) == text);
  }
}

TEST_CASE("of what is decided only what was chosen is shown") {
  CHECK(parse("P == (i == Axis ? EDGE : S[i] + 1)").show_symbols(fields, with_i(1)) == "P == EDGE");
  CHECK(parse("P == (i == Axis ? EDGE : S[i] + 1)").show_symbols(fields, with_i(0)) ==
        "P == (S[0] + 1)");
  CHECK(parse("P == 3 => Axis == 2").show_symbols(fields, with_i(0)) == "Axis == 2");
  std::string names;
  const Formula choice = parse("P == (i == Axis ? S[i] : T[i])");
  for (const Place& place : choice.places(fields, with_i(1))) names += to_text(place) + " ";
  CHECK(names == "P S[1] Axis ");
}

TEST_CASE("places come in the text's order, once each") {
  const Formula formula = parse("P == S[i] + P + T[i] + Tensors[0].Sizes[i]");
  std::string names;
  for (const Place& place : formula.places(fields, with_i(1))) names += to_text(place) + " ";
  CHECK(names == "P S[1] T[1] Tensors[0].Sizes[1] ");
}

TEST_CASE("wrong formulas are refused with the position") {
  const std::string before = "formula \"";
  CHECK(parse_error("") == before + "\", position 0: expected a name, a number or (");
  CHECK(parse_error("P ==") == before + "P ==\", position 4: expected a name, a number or (");
  CHECK(parse_error("P = 1") == before + "P = 1\", position 2: expected an operator");
  CHECK(parse_error("(P") == before + "(P\", position 2: expected )");
  CHECK(parse_error("S[1") == before + "S[1\", position 3: expected ]");
  CHECK(parse_error("abs P") == before + "abs P\", position 4: expected an operator");
  CHECK(parse_error("min(P)") == before + "min(P)\", position 5: expected ,");
  CHECK(parse_error("sum(P: 1)") ==
        before + "sum(P: 1)\", position 5: expected a variable, a small letter");
  CHECK(parse_error("present(1)") ==
        before + "present(1)\", position 8: expected a name, a number or (");
  CHECK(parse_error("P in 3") == before + "P in 3\", position 5: expected a name, a number or (");
  CHECK(parse_error("P ? 1") == before + "P ? 1\", position 5: expected :");
  CHECK(parse_error("P == 99999999999999999999") ==
        before + "P == 99999999999999999999\", position 5: the number does not fit 64 bits");
}

}  // namespace dmlop::formula_test
