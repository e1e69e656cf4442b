// What base/text.hpp promises.
#include "base/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/escape.hpp"
#include "program.hpp"

namespace dmlop::text_test {

using dmlop::edit_distance;
using dmlop::literal_pattern;
using dmlop::matches_pattern;
using dmlop::nearest_name;
using dmlop::printable;
using dmlop::shell_quoted;
using dmlop::trimmed;

TEST_CASE("the edit distance counts insertions, deletions and replacements, not case") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("EDGE", "edge") == 0);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ab", "ba") == 1);  // one mistake: two letters changed places
}

TEST_CASE("text is trimmed at its ends, not in the middle") {
  CHECK(trimmed("  two words ", " ") == "two words");
  CHECK(trimmed("'`EQUAL`'", "'`") == "EQUAL");
  CHECK(trimmed("EQUAL", "'`") == "EQUAL");
  CHECK(trimmed("   ", " ").empty());
  CHECK(trimmed("", " ").empty());
}

TEST_CASE("the nearest name is offered only where it is a likely misspelling") {
  const std::vector<std::string> names{"StartPadding", "EndPadding", "P", "Axis"};
  CHECK(nearest_name("EndPading", names) == "EndPadding");
  CHECK(nearest_name("startpadding", names) == "StartPadding");
  CHECK(nearest_name("Axs", names) == "Axis");
  CHECK(nearest_name("Color", names) == "");
  CHECK(nearest_name("", names) == "");
  CHECK(nearest_name("Q", names) == "");
  CHECK(nearest_name(std::string(1'000'000, 'E'), names) == "");
  CHECK(nearest_name("a", {"BTensor", "ATensor"}) == "ATensor");
  CHECK(nearest_name("Input", {"InputScaleTensor", "InputTensor"}) == "InputTensor");
  CHECK(nearest_name("tpye", {"desc", "type"}) == "type");
  CHECK(nearest_name("x.npy", {"b.npy", "x2.npy"}) == "x2.npy");
  CHECK(nearest_name("MAX", {"MIN", "SUM"}) == "");  // of three letters one may be wrong, not two
}

TEST_CASE("the nearest name: beginnings, last words, and the words of NumPy and ONNX") {
  const std::vector<std::string> types{"FLOAT32", "FLOAT16", "UINT8", "INT32"};
  for (const auto& [word, meant] : std::vector<std::pair<std::string, std::string>>{
           {"float32", "FLOAT32"}, {"HALF", "FLOAT16"}, {"double", ""}, {"int", "INT32"}}) {
    CAPTURE(word);
    CHECK(nearest_name(word, types) == meant);
  }
  CHECK(nearest_name("REFLECT", {"EDGE", "REFLECTION"}) == "REFLECTION");
  CHECK(nearest_name("RELU", {"ACTIVATION_LEAKY_RELU", "ACTIVATION_RELU"}) == "ACTIVATION_RELU");
  CHECK(nearest_name("MEAN", {"MAX", "AVERAGE", "MIN"}) == "AVERAGE");
  const std::vector<std::string> tensor{"Type", "DataType", "Sizes"};
  CHECK(nearest_name("dtype", tensor) == "DataType");
  CHECK(nearest_name("shape", tensor) == "Sizes");
}

TEST_CASE("lists and counts") {
  CHECK(dmlop::join(std::vector<std::string>{"a", "b"}) == "a, b");
  CHECK(dmlop::list_of(std::vector<int>{}) == "[]");
  CHECK(dmlop::list_of(std::vector<std::uint64_t>{1, 2, 3}) == "[1, 2, 3]");
  std::vector<int> many(20);
  std::iota(many.begin(), many.end(), 0);
  CHECK(dmlop::list_of(many) ==
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 20 values]");
  CHECK(dmlop::counted(1, "value") == "1 value");
  CHECK(dmlop::counted(0, "value") == "0 values");
}

TEST_CASE("text from files is shown without control characters and not at length") {
  CHECK(printable("plain") == "plain");
  CHECK(printable("a\x1b[31m\n\x7f") == "a\\u001b[31m\\u000a\\u007f");
  const std::string longest(60, 'x');
  CHECK(printable(longest) == longest);
  CHECK(printable(longest + "x") == longest + "...");
  std::string euros;
  for (int i = 0; i < 61; ++i) euros += "\u20ac";
  CHECK(printable(euros) == euros.substr(3) + "...");
}

TEST_CASE("what a line has before a text counts, and where a line starts") {
  using dmlop::LineEscaper;
  // Parts that are shown as they are, in brackets, and parts that are escaped.
  const auto shown = [](const std::vector<std::string>& parts, LineEscaper::Place place) {
    LineEscaper escaper(place);
    std::string text;
    for (const std::string& part : parts) {
      const bool is_passed = part.starts_with('[');
      std::string_view rest = part;
      if (is_passed) {
        rest = rest.substr(1, rest.size() - 2);
        escaper.pass(rest);
        text += rest;
        continue;
      }
      while (!rest.empty()) text += escaper.next(rest);
    }
    return text;
  };
  constexpr auto start = LineEscaper::Place::start_of_line;
  constexpr auto within = LineEscaper::Place::within_line;
  CHECK(shown({"::a"}, within) == "::a");
  CHECK(shown({"::a"}, start) == "\\u003a:a");
  CHECK(shown({"a::b"}, start) == "a::b");
  CHECK(shown({" \u00a0\u3000::a"}, start) == " \u00a0\u3000\\u003a:a");
  CHECK(shown({"[  ]", "::a"}, start) == "  \\u003a:a");
  CHECK(shown({"[ :]", ":a"}, start) == " :\\u003aa");
  CHECK(shown({"[x ]", "::a"}, start) == "x ::a");
  CHECK(shown({"[x\n]", "::a"}, start) == "x\n\\u003a:a");
  CHECK(shown({"[x\n]", "::a"}, within) == "x\n\\u003a:a");
  CHECK(shown({"", "::a"}, start) == "\\u003a:a");
  CHECK(shown({"[::error::]", "::a"}, start) == "::error::::a");
  CHECK(shown({"#", "#"}, within) == "#\\u0023");
  CHECK(shown({"[#]", "#a"}, within) == "#\\u0023a");
  CHECK(shown({"[#\n]", "#a"}, within) == "#\n#a");
  CHECK(shown({"a\xff\x1b\u202e\U000e0001"}, within) == "a\\xff\\u001b\\u202e\\udb40\\udc01");
}

TEST_CASE("a character shows as itself, or is a control, an end of a line or hidden") {
  using dmlop::shows_as_itself;
  for (const std::uint32_t hidden :
       {0x0U,    0xAU,    0x1BU,   0x1FU,   0x7FU,   0x80U,    0x85U,    0x9BU,    0x9FU,
        0xADU,   0x34FU,  0x61CU,  0x115FU, 0x180EU, 0x200BU,  0x200DU,  0x200EU,  0x2028U,
        0x2029U, 0x202AU, 0x202EU, 0x2060U, 0x2066U, 0x2069U,  0x206FU,  0x3164U,  0xFE0FU,
        0xFEFFU, 0xFFA0U, 0xFFF9U, 0xFFFEU, 0xFFFFU, 0x1D173U, 0xE0001U, 0xE0041U, 0xE01EFU}) {
    CAPTURE(hidden);
    CHECK_FALSE(shows_as_itself(hidden));
  }
  for (const std::uint32_t shown : {0x20U, 0x7EU, 0xA0U, 0xACU, 0xAEU, 0xE4U, 0x61BU, 0x200AU,
                                    0x2027U, 0x202FU, 0x20ACU, 0x3000U, 0xFFFDU, 0x1F600U}) {
    CAPTURE(shown);
    CHECK(shows_as_itself(shown));
  }
}

TEST_CASE("a pattern matches whole texts, as a shell's does") {
  struct Row {
    const char* pattern;
    std::vector<const char*> matching;
    std::vector<const char*> others;
  };
  for (const Row& row : std::vector<Row>{
           {"", {""}, {"a"}},
           {"abc", {"abc"}, {"", "ab", "abcd", "xabc", "ABC"}},
           {"*", {"", "a", "a/b"}, {}},
           {"a*", {"a", "ab", "a*"}, {"", "ba"}},
           {"*b", {"b", "ab", "bab"}, {"", "ba"}},
           {"a*b*c", {"abc", "aXbYc", "abbcc", "abcbc"}, {"acb", "ab", "abcd"}},
           {"**a**", {"a", "bab"}, {"", "b"}},
           {"?", {"a", "?", "*"}, {"", "ab"}},
           {"a?c", {"abc", "a?c"}, {"ac", "abbc"}},
           {"[abc]", {"a", "c"}, {"", "d", "ab", "[abc]"}},
           {"[a-c]x", {"ax", "bx", "cx"}, {"dx", "-x", "x"}},
           {"[!a-c]", {"d", "-", "!"}, {"a", "b", ""}},
           {"[]]", {"]"}, {"[", ""}},
           {"[!]]", {"a", "!"}, {"]"}},
           {"[a-]", {"a", "-"}, {"b"}},
           {"[-a]", {"a", "-"}, {"b"}},
           {"[]-a]", {"]", "^", "a"}, {"-", "b"}},
           {"[*]", {"*"}, {"a", ""}},
           {"[?]x", {"?x"}, {"ax"}},
           {"[[]x", {"[x"}, {"x"}},
           {"[", {"["}, {"", "a"}},
           {"a[", {"a["}, {"a"}},
           {"[a", {"[a"}, {"a"}},
           {"[]", {"[]"}, {"", "]"}},
           {"*[ab]*c", {"ac", "xbyc", "abc"}, {"c", "ab"}},
           {"a\\*", {"a\\", "a\\b"}, {"a*", "ab"}},
       }) {
    CAPTURE(row.pattern);
    for (const char* text : row.matching) CHECK_MESSAGE(matches_pattern(text, row.pattern), text);
    for (const char* text : row.others) CHECK_MESSAGE(!matches_pattern(text, row.pattern), text);
  }
  // Time is not exponential in the number of stars.
  std::string stars;
  for (int i = 0; i < 100; ++i) stars += "*a";
  CHECK_FALSE(matches_pattern(std::string(10'000, 'a'), stars + "b"));
}

TEST_CASE("a literal pattern matches its text and nothing else") {
  const std::string letters = "a*?[]!-\\";
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; texts[i].size() < 3; ++i) {
    for (const char letter : letters) texts.push_back(texts[i] + letter);
  }
  for (const std::string& text : texts) {
    const std::string pattern = literal_pattern(text);
    const auto matching = std::count_if(texts.begin(), texts.end(), [&](const std::string& other) {
      return matches_pattern(other, pattern);
    });
    CAPTURE(pattern);
    CHECK(matching == 1);
    CHECK(matches_pattern(text, pattern));
  }
  CHECK(literal_pattern("plain/name-1") == "plain/name-1");
}

TEST_CASE("a shell reads quoted words back as they were") {
  CHECK(shell_quoted("plain/na-me_1.npy") == "plain/na-me_1.npy");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("two words") == "'two words'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  for (const std::string word : {"",           "plain",
                                 "two  words", "it's",
                                 "'",          "''",
                                 "\"",         "$HOME",
                                 "`x`",        "\\",
                                 "a\\\\b",     "*",
                                 "?",          "[a]",
                                 "~",          "#",
                                 "!",          "a;b",
                                 "a&b|c>d<e",  "(x)",
                                 "{a,b}",      "line\nend\n\n",
                                 "\t",         "=",
                                 "a=b",        "-n",
                                 "%s",         "\u00e4",
                                 "\xFF",       "\x01\x1b"}) {
    CAPTURE(word);
    const auto result = dmlop::test::shell("printf '%s|' " + dmlop::shell_quoted(word) + " end");
    CHECK(result.output == word + "|end|");
  }
}

}  // namespace dmlop::text_test
