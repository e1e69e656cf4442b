// json/document.hpp keeps its promises: values have places, and a syntax error gives the place and
// what was expected there.
#include <doctest/doctest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "json/document.hpp"

namespace dmlop::json_test {
namespace {

using namespace std::string_literals;
using dmlop::Diagnostics;
using dmlop::json::Document;
using dmlop::json::Value;

/// What is wrong with `text`; "" where nothing is.
std::string wrong_with(const std::string& text) {
  Diagnostics diagnostics;
  const auto document = Document::parse("t", text, diagnostics);
  std::string all;
  for (const auto& diagnostic : diagnostics) {
    all += (all.empty() ? "" : "\n") + dmlop::to_text(diagnostic);
  }
  CHECK(document.has_value() == (all.empty() || all.find("given twice") != std::string::npos));
  return all;
}

Document parsed(const std::string& text) {
  Diagnostics diagnostics;
  auto document = Document::parse("t", text, diagnostics);
  REQUIRE(document.has_value());
  return std::move(*document);
}

struct Row {
  std::string text;
  std::string expected;
};

void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(wrong_with(row.text) == row.expected);
  }
}

std::string place(const Document& document, const Value& value) {
  const auto diagnostic = document.at(value, "");
  return std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) + " " +
         diagnostic.pointer;
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("values remember their places and pointers") {
  const Document document = parsed("{\"a\": [1,\n  {\"b/c~d\": 2.50}], \"\": null}");
  const Value& list = *document.root().find("a");
  CHECK(place(document, document.root()) == "1:1 ");
  CHECK(place(document, list) == "1:7 /a");
  CHECK(place(document, list.items[0]) == "1:8 /a/0");
  CHECK(place(document, *list.items[1].find("b/c~d")) == "2:13 /a/1/b~1c~0d");
  CHECK(place(document, *document.root().find("")) == "2:25 /");
  CHECK(document.source(*list.items[1].find("b/c~d")) == "2.50");
  CHECK(document.root().find("missing") == nullptr);
}

TEST_CASE("columns count characters, lines end with a line feed") {
  CHECK(place(parsed("[\"\u00e4\u20ac\U0001F600\", 1]"),
              parsed("[\"\u00e4\u20ac\U0001F600\", 1]").root().items[1]) == "1:9 /1");
  const Document windows = parsed("[\r\n\t1]");
  CHECK(place(windows, windows.root().items[0]) == "2:2 /0");
  const Document marked = parsed("\xEF\xBB\xBF[1]");
  CHECK(place(marked, marked.root().items[0]) == "1:2 /0");
}

TEST_CASE("strings are read with their escapes, numbers stay as they were written") {
  const Document document = parsed(R"(["a\"\\\/\b\u00e4\ud83d\ude00", -0.0e+10, 1e999, true, {}])");
  const auto& items = document.root().items;
  CHECK(items[0].text == "a\"\\/\b\u00e4\U0001F600");
  CHECK(items[1].text == "-0.0e+10");
  CHECK(items[2].text == "1e999");
  CHECK(items[3].boolean);
  CHECK(describe(items[2]) == "1e999");
  CHECK(describe(items[4]) == "an object");

  const auto nearest = [](const std::string& literal) {
    return *dmlop::json::nearest_double({.kind = Value::Kind::number, .text = literal});
  };
  CHECK(nearest("-1.5e3") == -1500);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::string zeros(400, '0');
  for (const std::string& large : std::vector<std::string>{
           "1e309", "17.5e308", "1" + zeros, "0.0001e9999", "0." + zeros + "1e1000",
           "1e99999999999999999999", "1" + zeros + "." + zeros + "e-1"}) {
    CAPTURE(large);
    CHECK(nearest(large) == infinity);
    CHECK(nearest("-" + large) == -infinity);
  }
  for (const std::string& small :
       std::vector<std::string>{"0", "0e999", "1e-400", "0." + zeros + "1", "1000e-999",
                                "5e-99999999999999999999", "1" + zeros + "e-1000", "0.0"}) {
    CAPTURE(small);
    CHECK(nearest(small) == 0);
    CHECK(std::signbit(nearest("-" + small)));
  }
  CHECK_FALSE(dmlop::json::nearest_double(document.root().items[3]));

  const std::string long_number = "-12." + std::string(1000, '7') + "e-3";
  const Document numbers = parsed("[" + long_number + ",\"1." + std::string(100, '8') + "\"]");
  CHECK(numbers.root().items[0].text == long_number);
  CHECK(numbers.root().items[1].text == "1." + std::string(100, '8'));
}

TEST_CASE("comments and trailing commas are accepted and move nothing") {
  const Document document = parsed("// one\n{/* two\n*/ \"a\": [1, 2, /* , */ ], // three\n}  ");
  CHECK(place(document, document.root().find("a")->items[1]) == "3:13 /a/1");
  CHECK(parsed("[\"// no comment /* , ]\"]").root().items[0].text == "// no comment /* , ]");
  CHECK(parsed("{\"a\": \"\\\"//\",}").root().find("a")->text == "\"//");
  CHECK(parsed("[[],]").root().items.size() == 1);
  CHECK(parsed("[/*/ 1, 2, /**/ 3]").root().items.size() == 1);
  CHECK(parsed("[/**/ 1, /***/ 2]").root().items.size() == 2);
  CHECK(parsed("[{},//\n]").root().items.size() == 1);
}

TEST_CASE("other commas are refused") {
  check_rows({
      {"[,]",
       "t:1:2: error: wrong JSON: unexpected ','; expected a value or ']'\n  help: leave this "
       "comma out"},
      {"[1,,]",
       "t:1:4: error: wrong JSON: unexpected ','; expected a value\n  help: leave this comma out"},
      {"[1,/**/,]",
       "t:1:8: error: wrong JSON: unexpected ','; expected a value\n  help: leave this comma out"},
      {"{,}",
       "t:1:2: error: wrong JSON: unexpected ','; expected a field name in double quotes or "
       "'}'\n  help: leave this comma out"},
      {"{\"a\",,}",
       "t:1:5: error: wrong JSON: unexpected ','; expected ':' and a value\n  help: write a colon "
       "and a value behind the name"},
      {"{\"a\":,}",
       "t:1:6: error: wrong JSON: unexpected ','; expected a value\n  help: leave this comma out"},
      {"{\"a\":1,,}",
       "t:1:8: error: wrong JSON: unexpected ','; expected a field name in double quotes\n  help: "
       "leave this comma out"},
      {"1,",
       "t:1:2: error: wrong JSON: unexpected ','; expected the end of the file\n  help: leave out "
       "what stands here and behind it"},
      {",",
       "t:1:1: error: wrong JSON: unexpected ','; expected a value\n  help: leave this comma out"},
  });
}

TEST_CASE("wrong syntax: the place, what is there, what was expected") {
  check_rows({
      {"",
       "t:1:1: error: the file is empty; expected a JSON object\n  help: `dmlop ops PADDING "
       "--example` prints one to begin with"},
      {" // only a comment\n",
       "t:2:1: error: the file is empty; expected a JSON object\n  help: `dmlop ops PADDING "
       "--example` prints one to begin with"},
      {"{",
       "t:1:2: error: wrong JSON: the file ends; expected a field name in double quotes or '}'\n  "
       "help: write } at the end"},
      {"{\"a\"",
       "t:1:5: error: wrong JSON: the file ends; expected ':' and a value\n  help: save the whole "
       "text: it ends in the middle of a value"},
      {"{\"a\": 1\n",
       "t:2:1: error: wrong JSON: the file ends; expected ',' or '}'\n  help: write } at the end"},
      {"[1",
       "t:1:3: error: wrong JSON: the file ends; expected ',' or ']'\n  help: write ] at the end"},
      {"{\"a\": 1\n \"b\": 2}",
       "t:2:2: error: wrong JSON: unexpected \"b\"; expected ',' or '}'\n  help: write a comma "
       "before it"},
      {"{\"a\" 1}",
       "t:1:6: error: wrong JSON: unexpected 1; expected ':' and a value\n  help: write a colon "
       "and a value behind the name"},
      {"{\"a\":}",
       "t:1:6: error: wrong JSON: unexpected '}'; expected a value\n  help: write a value before "
       "it"},
      {"[1 2]",
       "t:1:4: error: wrong JSON: unexpected 2; expected ',' or ']'\n  help: write a comma before "
       "it"},
      {"[1}", "t:1:3: error: wrong JSON: unexpected '}'; expected ',' or ']'\n  help: write ]"},
      {"{\"a\": 1]",
       "t:1:8: error: wrong JSON: unexpected ']'; expected ',' or '}'\n  help: write }"},
      {"]",
       "t:1:1: error: wrong JSON: unexpected ']'; expected a value\n  help: write a value before "
       "it"},
      {"{} {}",
       "t:1:4: error: wrong JSON: unexpected '{'; expected the end of the file\n  help: leave out "
       "what stands here and behind it"},
      {"{}\nx",
       "t:2:1: error: wrong JSON: unexpected x; expected the end of the file\n  help: leave out "
       "what stands here and behind it"},
      {"{a: 1}",
       "t:1:2: error: wrong JSON: unexpected a; expected a field name in double quotes or "
       "'}'\n  help: write \"a\""},
      {"{'a': 1}",
       "t:1:2: error: wrong JSON: unexpected 'a'; expected a field name in double "
       "quotes or '}'\n  help: write \"a\""},
      {"[tru]",
       "t:1:2: error: wrong JSON: unexpected tru; expected a value or ']'\n  help: write true"},
      {"[1, True]",
       "t:1:5: error: wrong JSON: unexpected True; expected a value\n  help: write true"},
      {"/* no end", "t:1:1: error: this /* comment never ends\n  help: write */ at its end"},
      {"[\"a\n\"]",
       "t:1:4: error: wrong JSON: invalid string: control character U+000A (LF) must be "
       "escaped to \\u000A or \\n\n  help: write \\n for a new line, and \\t for a tab"},
      {"[\"a]",
       "t:1:2: error: wrong JSON: this string has no closing quote\n  help: write \" at the end of "
       "the string"},
      {R"(["\x"])",
       "t:1:4: error: wrong JSON: invalid string: forbidden character after backslash\n  help: "
       "write \\\\ for a backslash; in paths, / works as well"},
  });
}

TEST_CASE("numbers that JSON does not have") {
  check_rows({
      {"[01]", "t:1:2: error: wrong JSON: 01 is no JSON number\n  help: write 1"},
      {"[0x10]", "t:1:2: error: wrong JSON: 0x10 is no JSON number\n  help: write 16"},
      {"[1.]",
       "t:1:2: error: wrong JSON: 1. is not a number: expected digit after '.'\n  help: write 1.0"},
      {R"("invalid number; x"d)",
       "t:1:20: error: wrong JSON: unexpected d; expected the end of the file\n  help: leave out "
       "what stands here and behind it"},
      {"[.5]",
       "t:1:2: error: wrong JSON: unexpected .5; expected a value or ']'\n  help: write 0.5"},
      {"{\"a\":+1}", "t:1:6: error: wrong JSON: unexpected +1; expected a value\n  help: write 1"},
      {"[NaN]",
       "t:1:2: error: wrong JSON: unexpected NaN; expected a value or ']'\n  help: write \"nan\""},
      {"[1, inf]",
       "t:1:5: error: wrong JSON: unexpected inf; expected a value\n  help: write \"inf\""},
      {"[-Infinity]",
       "t:1:2: error: wrong JSON: -Infinity is not a number: expected digit after '-'\n  help: "
       "write "
       "\"-inf\""},
  });
}

TEST_CASE("numbers of programming languages are offered as JSON has them") {
  const auto row = [](const std::string& word, const std::string& number,
                      const std::string& why = "is no JSON number") {
    return Row{"[" + word + "]",
               "t:1:2: error: wrong JSON: " + word + " " + why + "\n  help: write " + number};
  };
  const std::string no_digit = "is not a number: expected digit after '.'";
  const std::string any_value =
      "a number, true, false, a \"string\", a [list] or an {\"object\": 1}";
  check_rows({row("1.0f", "1.0"), row("-2.5F", "-2.5"), row("7u", "7"), row("7ULL", "7"),
              row("1e5f", "1e5"), row("1.5e-3L", "1.5e-3"), row("-1E+10f", "-1e+10"),
              row("1.f", "1.0", no_digit), row("-3.F", "-3.0", no_digit), row("0x1F", "31"),
              row("1_000", "1000"), row("1_0f", "10"), row("01f", "1"), row("2*3", any_value),
              row("0x1.8p1f", any_value)});
}

TEST_CASE("bytes that are no UTF-8 text") {
  check_rows({
      {"[\"\xFF\"]",
       "t:1:3: error: wrong JSON: this is not UTF-8 text\n  help: save the file as UTF-8"},
      {"[\"\xC3\"]",
       "t:1:4: error: wrong JSON: this is not UTF-8 text\n  help: save the file as UTF-8"},
      {"{}\0"s,
       "t:1:3: error: a NUL byte, which no JSON text has\n  help: name a file of JSON in UTF-8"},
      {"{\"a\": 1}\0{\"b\": 2}"s,
       "t:1:9: error: a NUL byte, which no JSON text has\n  help: name a file of JSON in UTF-8"},
      {"\xFF\xFE{\0}\0"s, "t:1:1: error: this is UTF-16 text\n  help: save the file as UTF-8"},
      {"\xFE\xFF\0{\0}"s, "t:1:1: error: this is UTF-16 text\n  help: save the file as UTF-8"},
      {"\xFF\xFE\0\0{\0\0\0"s, "t:1:1: error: this is UTF-32 text\n  help: save the file as UTF-8"},
      {"\0\0\xFE\xFF\0\0\0{"s, "t:1:1: error: this is UTF-32 text\n  help: save the file as UTF-8"},
  });
}

TEST_CASE("duplicate keys are named at the second, and the first one counts") {
  check_rows({
      {"{\"a\": 1, \"b\": {\"a\": 2}}", ""},
      {"{\"a\": 1,\n \"a\": 2}",
       "t:2:2: error: the field \"a\" is given twice\n  help: keep one of them"},
      {"[{\"x\": {\"a\": 1, \"\\u0061\": 2}}]",
       "t:1:17: error: the field \"a\" is given twice\n  help: keep one of them"},
  });
  Diagnostics diagnostics;
  const auto document = Document::parse("t", "{\"a\": 1, \"a\": 2}", diagnostics);
  REQUIRE(document.has_value());
  CHECK(document->root().find("a")->text == "1");
  CHECK(diagnostics.at(0).pointer == "/a");
}

TEST_CASE("bombs are refused") {
  CHECK(wrong_with(repeated("[", 64) + repeated("]", 64)) == "");
  const std::string too_deep =
      ":65: error: wrong JSON: nesting is deeper than 64 levels\n  help: leave the outer brackets "
      "out";
  CHECK(wrong_with(repeated("[", 65) + repeated("]", 65)) == "t:1" + too_deep);
  CHECK(wrong_with(repeated("[", 100000)) == "t:1" + too_deep);
  CHECK(wrong_with("[" + repeated("{\"a\":", 100000)).find("deeper than 64") != std::string::npos);
  CHECK(wrong_with("[" + repeated("0,", 1'000'000) + "]").find("more than 1000000 values") !=
        std::string::npos);
  const std::string huge(dmlop::json::max_text_bytes + 1, ' ');
  CHECK(wrong_with(huge) ==
        "t:1:1: error: the file has 67108865 bytes; a JSON description may have at most 67108864"
        "\n  help: write elements of tensors into .npy files");
}

TEST_CASE("messages stay short and the time linear") {
  constexpr std::size_t size = 2'000'000;
  const std::vector<std::string> texts{
      "[\"" + std::string(size, 'x'),        "[" + std::string(size, 'x') + "]",
      "[" + std::string(size, '9') + "]",    std::string(size, ' '),
      "/*" + std::string(size, '*'),         "{" + repeated("\"a\":1,", size / 6) + "}",
      "[" + repeated("[],", size / 3) + "]", repeated("//\n", size / 3),
  };
  for (const std::string& text : texts) {
    CAPTURE(text.substr(0, 20));
    const std::clock_t begin = std::clock();
    CHECK(wrong_with(text).size() < 1000);
    // Quadratic time would be hours. This is a busy machine's clock on Windows, and the processor's
    // elsewhere.
    CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 120);
  }
}

TEST_CASE("a text that is part of a file counts lines from its first one") {
  Diagnostics diagnostics;
  const dmlop::json::Source source{"lines", 12};
  const auto document = Document::parse(source, "[1,\n {\"a\": 2}]", diagnostics);
  REQUIRE(document.has_value());
  CHECK(document->line_of(document->root()) == 12);
  CHECK(document->line_of(document->root().items[1]) == 13);
  CHECK(place(*document, document->root()) == "12:1 ");
  CHECK(place(*document, *document->root().items[1].find("a")) == "13:8 /1/a");
  const auto first_finding = [&](const std::string& text) {
    Diagnostics found;
    Document::parse(source, text, found);
    REQUIRE(found.size() == 1);
    const std::string finding = dmlop::to_text(found.front());
    return finding.substr(0, finding.find(':', finding.find("error")));
  };
  CHECK(first_finding("{\n\"a\":}") == "lines:13:5: error");
  CHECK(first_finding("[\xFF]") == "lines:12:2: error");
  CHECK(first_finding("{}\n\n\n x") == "lines:15:2: error");
  CHECK(first_finding("{\"a\": 1,\n \"a\": 2}") == "lines:13:2: error");
}

TEST_CASE("the number of values has a limit that a source may set") {
  const auto problem = [](const std::string& text, std::size_t max_values) {
    Diagnostics diagnostics;
    const auto document =
        Document::parse(dmlop::json::Source{"t", 1, max_values}, text, diagnostics);
    CHECK(document.has_value() == diagnostics.empty());
    return diagnostics.empty() ? "" : dmlop::to_text(diagnostics.front());
  };
  CHECK(problem("[1, 2, 3]", 4) == "");
  CHECK(problem("[1, 2, 3]", 3).find("more than 3 values") != std::string::npos);
  CHECK(problem("{\"a\": {\"b\": []}}", 3) == "");
  CHECK(problem("{\"a\": {\"b\": []}}", 2).find("more than 2 values") != std::string::npos);
  CHECK(problem("[" + repeated("0,", 1'000'000) + "]", 2'000'000) == "");
}

}  // namespace dmlop::json_test
