// What debuggers show, as people paste it.
#include <doctest/doctest.h>

#include "cpp_text.hpp"

namespace dmlop::test::cpp_debugger_test {
namespace {

using Json = nlohmann::ordered_json;
using Made = MadeOfCpp;

const char* const watch_window =
    "-\t\tdesc\t{InputTensor=0x000000d2f0eff5a8 {Type=DML_TENSOR_TYPE_BUFFER (1) "
    "Desc=0x000000d2f0eff560 } OutputTensor=0x000000d2f0eff648 {Type=DML_TENSOR_TYPE_BUFFER (1) "
    "Desc=0x000000d2f0eff560 } PaddingMode=DML_PADDING_MODE_EDGE (1) PaddingValue=-1.50000000 "
    "DimensionCount=2 StartPadding=0x000000d2f0eff6a8 {0} EndPadding=0x000000d2f0eff6c8 {3}}\t"
    "DML_PADDING_OPERATOR_DESC\n"
    "+\t\t(DML_BUFFER_TENSOR_DESC*)desc.InputTensor->Desc\t0x000000d2f0eff560 "
    "{DataType=DML_TENSOR_DATA_TYPE_INT8 (8) Flags=DML_TENSOR_FLAG_NONE (0) DimensionCount=2 "
    "Sizes=0x000000d2f0eff530 {1} Strides=0x0000000000000000 <NULL> TotalTensorSizeInBytes=4 "
    "GuaranteedBaseOffsetAlignment=0}\tDML_BUFFER_TENSOR_DESC *\n";
const char* const watch_arrays =
    "-\t\tsizes,2\t0x000000d2f0eff530 {1, 4}\tconst unsigned int[2]\n"
    "-\t\tdesc.StartPadding,2\t0x000000d2f0eff6a8 {0}\tconst unsigned int[2]\n"
    "\t\t[0]\t0\tconst unsigned int\n"
    "\t\t[1]\t2\tconst unsigned int\n"
    "-\t\tdesc.EndPadding,2\t0x000000d2f0eff6c8 {3, 0}\tconst unsigned int[2]\n";

const char* const printed_by_gdb = R"((gdb) p (DML_PADDING_OPERATOR_DESC)desc
$1 = {InputTensor = 0x7ffe12345670, OutputTensor = 0x7ffe12345670, PaddingMode = DML_PADDING_MODE_EDGE,
  PaddingValue = -1.5, DimensionCount = 2, StartPadding = 0x7ffe12345600 <start>, EndPadding = 0x7ffe12345610}
(gdb) p *desc.InputTensor
$2 = {Type = DML_TENSOR_TYPE_BUFFER, Desc = 0x7ffe12345700}
(gdb) p *(DML_BUFFER_TENSOR_DESC*)0x7ffe12345700
$3 = {DataType = DML_TENSOR_DATA_TYPE_INT8, Flags = DML_TENSOR_FLAG_NONE, DimensionCount = 2,
  Sizes = 0x7ffe12345620, Strides = 0x0, TotalTensorSizeInBytes = 4, GuaranteedBaseOffsetAlignment = 0}
(gdb) p *(unsigned(*)[2])0x7ffe12345620
$4 = {1, 4}
(gdb) p *desc.StartPadding@2
$5 = {0, 2}
(gdb) p *desc.EndPadding@2
$6 = {3, 0}
)";
const char* const printed_by_lldb = R"((DML_PADDING_OPERATOR_DESC) desc = {
  InputTensor = 0x00007ffe12345670
  OutputTensor = 0x00007ffe12345670
  PaddingMode = DML_PADDING_MODE_EDGE
  PaddingValue = -1.5
  DimensionCount = 2
  StartPadding = 0x00007ffe12345600
  EndPadding = 0x00007ffe12345610
}
(DML_TENSOR_DESC *) $0 = 0x00007ffe12345670 { Type = DML_TENSOR_TYPE_BUFFER, Desc = 0x00007ffe12345700 }
(DML_BUFFER_TENSOR_DESC *) $1 = 0x00007ffe12345700 {
  DataType = DML_TENSOR_DATA_TYPE_INT8
  Flags = DML_TENSOR_FLAG_NONE
  DimensionCount = 2
  Sizes = 0x00007ffe12345620 { [0] = 1, [1] = 4 }
  Strides = 0x0000000000000000
  TotalTensorSizeInBytes = 4
  GuaranteedBaseOffsetAlignment = 0
}
(unsigned int *) $2 = 0x00007ffe12345600 { 0, 2 }
(unsigned int *) $3 = 0x00007ffe12345610 { 3, 0 }
)";

std::string replaced_if_there(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  REQUIRE(contains(text, from));
  return replaced_if_there(text, from, to);
}

/// A text that shows its struct at an address, so that what it shows again is the same struct.
std::string at_address(std::string text) {
  const std::pair<const char*, const char*> changes[] = {
      // Visual Studio
      {"\t\tdesc\t{", "\t\tdesc\t0x000000d2f0eff400 {"},
      {"}\tDML_PADDING_OPERATOR_DESC\n", "}\tDML_PADDING_OPERATOR_DESC *\n"},
      // gdb
      {"p (DML_PADDING_OPERATOR_DESC)desc\n", "p *(DML_PADDING_OPERATOR_DESC*)0x7ffe12345500\n"},
      {"p *desc.", "p *((DML_PADDING_OPERATOR_DESC*)0x7ffe12345500)->"},
      // lldb
      {"(DML_PADDING_OPERATOR_DESC) desc = {",
       "(DML_PADDING_OPERATOR_DESC *) desc = 0x00007ffe12345500 {"}};
  for (const auto& [from, to] : changes) text = replaced_if_there(text, from, to);
  return text;
}

/// The text with the digits of every address that `is_meant` in upper case.
std::string with_upper_addresses(const std::string& text,
                                 const std::function<bool(std::size_t)>& is_meant) {
  std::string upper = text;
  std::size_t count = 0;
  for (std::size_t at = text.find("0x"); at != std::string::npos; at = text.find("0x", at + 2)) {
    if (!is_meant(count++)) continue;
    for (std::size_t i = at + 2;
         i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])); ++i)
      upper[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i])));
  }
  return upper;
}

/// What a text makes. It makes the same if it shows the struct at an address, everything twice, and
/// some addresses in upper case.
Made make_shown(const std::string& text) {
  const Made made = make(text);
  const std::string once = at_address(text);
  const auto is_odd = [](std::size_t number) { return number % 2 == 1; };
  for (const std::string& other :
       {once, once + "\n" + once, text + "\n" + text, with_upper_addresses(text, is_odd),
        with_upper_addresses(text, std::not_fn(is_odd))}) {
    CAPTURE(other);
    const Made again = make(other);
    CHECK(again.desc.dump() == made.desc.dump());  // == takes -0 for 0
    CHECK(again.type == made.type);
    if (made.findings.empty()) CHECK(again.findings == "");
  }
  return made;
}

void check_padding(const std::string& text) {
  CAPTURE(text);
  const Made made = make_shown(text);
  CHECK(made.findings == "");
  REQUIRE(made.desc.is_object());
  CHECK(made.type == "DML_OPERATOR_PADDING");
  const Json tensor{{"DataType", "DML_TENSOR_DATA_TYPE_INT8"},
                    {"DimensionCount", 2},
                    {"Sizes", {1, 4}},
                    {"TotalTensorSizeInBytes", 4}};
  CHECK(made.desc == Json{{"InputTensor", tensor},
                          {"OutputTensor", tensor},
                          {"PaddingMode", "DML_PADDING_MODE_EDGE"},
                          {"PaddingValue", -1.5},
                          {"DimensionCount", 2},
                          {"StartPadding", {0, 2}},
                          {"EndPadding", {3, 0}}});
}

}  // namespace

TEST_CASE("from a debugger: Visual Studio's watch window, gdb and lldb") {
  check_padding(std::string(watch_window) + watch_arrays);
  check_padding(printed_by_gdb);
  check_padding(printed_by_lldb);
}

TEST_CASE("from a debugger: a number is read to its end, and an address has one value") {
  const auto with = [](std::string number, const std::string& more = "") {
    std::string text = std::string(watch_window) + watch_arrays;
    text.replace(text.find("-1.50000000"), 11, number);
    return make_shown(text + more);
  };
  const std::pair<std::string, Json> numbers[] = {
      {"1.#INF0000", "inf"}, {"-1.#INF0000", "-inf"}, {"-1.#IND0000", "nan"}, {"1.#QNAN000", "nan"},
      {"inf", "inf"},        {"-nan(ind)", "nan"},    {"nan(0x8)", "nan"},    {"2", 2.0},
      {"-0.000000000", -0.0}};
  for (const auto& [number, value] : numbers) {
    CAPTURE(number);
    const Made made = with(number);
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("PaddingValue") == value);
  }
  for (const std::string odd : {"0,5", "1.5#", "1.#X", "1.5:2", "2/3"}) {
    CAPTURE(odd);
    CHECK(contains(with(odd).findings,
                   "PaddingValue is not known from \"" + odd + "\": it is not a C++ number"));
  }
  const char* const again[] = {
      "+\t\tsizes,2\t0x000000d2f0eff530 {1, 5}\tconst unsigned int[2]\n",
      "+\t\tsizes,2\t0x000000d2f0eff530 {1, 4}\tconst unsigned int[2]\n\t\t[1]\t5\tunsigned int\n"};
  for (const std::string more : again) {
    CAPTURE(more);
    CHECK(contains(with("2", more).findings,
                   "InputTensor.Sizes[1] is not known from \"5\": "
                   "another value is shown for it before this"));
  }
}

namespace {

/// The text of each debugger with another value of one member.
std::vector<std::string> with_member(const std::string& name, const std::string& from,
                                     const std::string& to) {
  std::vector<std::string> texts;
  std::string watch = replaced(std::string(watch_window) + watch_arrays, "_EDGE (1)", "_EDGE");
  watch = replaced(replaced(watch, "-1.50000000", "-1.5"), "0x0000000000000000 <NULL>", "0x0");
  for (const std::string& text : {watch, std::string(printed_by_gdb),
                                  replaced(printed_by_lldb, "0x0000000000000000", "0x0")}) {
    const std::size_t member = text.find(name + (text == watch ? "=" : " = "));
    REQUIRE(member != std::string::npos);
    const std::size_t at = text.find(from, member);
    texts.push_back(text.substr(0, at) + to + text.substr(at + from.size()));
  }
  return texts;
}

}  // namespace

TEST_CASE("from a debugger: a value that is shown twice, of every kind") {
  const std::pair<const char*, const char*> numbers[] = {{"nan", "\"nan\""},
                                                         {"-nan", "\"nan\""},
                                                         {"nan(0x400000)", "\"nan\""},
                                                         {"inf", "\"inf\""},
                                                         {"-inf", "\"-inf\""},
                                                         {"1.#QNAN000", "\"nan\""},
                                                         {"1.#INF0000", "\"inf\""},
                                                         {"-1.#INF0000", "\"-inf\""},
                                                         {"0", "0.0"},
                                                         {"-0.0", "-0.0"},
                                                         {"-0", "-0.0"},
                                                         {"3.40282347e+38", "3.4028235e+38"},
                                                         {"-1.40129846e-45", "-1e-45"},
                                                         {"0.100000001", "0.1"}};
  for (const auto& [shown, value] : numbers) {
    for (const std::string& text : with_member("PaddingValue", "-1.5", shown)) {
      CAPTURE(text);
      const Made made = make_shown(text);
      CHECK(made.findings == "");
      if (made.desc.is_object()) CHECK(made.desc.at("PaddingValue").dump() == std::string(value));
    }
  }
  for (const char* const two : {"2", "0x00000002", "2 '\\002'", "2 \"text\""}) {
    for (const std::string& text : with_member("DimensionCount", "2", two)) check_padding(text);
  }
  for (const char* const null : {"0x0000000000000000", "0x0", "0x0 <NULL>", "nullptr", "NULL"}) {
    for (const std::string& text : with_member("Strides", "0x0", null)) check_padding(text);
  }
  for (const char* const edge : {"DML_PADDING_MODE_EDGE", "DML_PADDING_MODE_EDGE (1)"}) {
    for (const std::string& text : with_member("PaddingMode", "DML_PADDING_MODE_EDGE", edge))
      check_padding(text);
  }
}

TEST_CASE("from a debugger: two different values of one member are refused, of every kind") {
  const auto check = [](const std::string& member, const std::string& from,
                        const std::vector<std::string>& values) {
    for (const std::string& first : values) {
      for (const std::string& second : values) {
        if (first == second) continue;
        const auto before = with_member(member, from, first);
        const auto after = with_member(member, from, second);
        for (std::size_t i = 0; i < before.size(); ++i) {
          for (const std::string& text :
               {before[i] + "\n" + after[i], at_address(before[i]) + "\n" + at_address(after[i])}) {
            CAPTURE(text);
            CHECK(contains(make(text).findings, member + " is not known from"));
          }
        }
      }
    }
  };
  check("PaddingValue", "-1.5", {"-1.5", "nan", "inf", "-inf", "0.5", "3.40282347e+38"});
  check("PaddingMode", "DML_PADDING_MODE_EDGE",
        {"DML_PADDING_MODE_EDGE", "DML_PADDING_MODE_REFLECTION"});
  const std::string watch = std::string(watch_window) + watch_arrays;
  for (const std::string other : {"other", "a.desc", "desc.b"}) {
    CAPTURE(other);
    const std::string text = watch + replaced(watch, "\tdesc\t", "\t" + other + "\t");
    CHECK(contains(make(text).findings, "the text describes several operators"));
  }
  check("Strides", "0x0", {"0x0", "0x7ffe12345678", "0x7ffe12345680"});
}

TEST_CASE("from a debugger: what it does not show is refused, with what to show") {
  const Made first = make_shown(watch_window);
  CHECK(contains(first.findings,
                 "InputTensor.Sizes is not known from \"{1}\": it has 1 value, and "
                 "DimensionCount is 2\n  help: show all elements: "
                 "(UINT*)0xd2f0eff530,2 in Visual Studio"));
  const std::string all = std::string(watch_window) + watch_arrays;
  const Made second = make_shown(all.substr(0, all.find("+\t\t(DML_BUFFER")) + watch_arrays);
  CHECK(contains(second.findings,
                 "InputTensor.Desc is not known from \"0x000000d2f0eff560\": the "
                 "text does not show what is at this address"));
  CHECK(contains(second.findings, "(DML_BUFFER_TENSOR_DESC*)0xd2f0eff560"));
}

TEST_CASE("from a debugger: every beginning of a text") {
  const std::string watch = std::string(watch_window) + watch_arrays;
  for (std::size_t size = 0; size < watch.size(); size += 3) {
    const Made made = make_shown(watch.substr(0, size));
    CHECK(made.desc.is_object() == made.findings.empty());
  }
}

TEST_CASE("from a debugger: Visual Studio cuts long values, and other rows show the rest") {
  const std::string all = std::string(watch_window) + watch_arrays;
  const std::string cut = replaced(
      replaced(all, "OutputTensor=0x000000d2f0eff648 {Type=DML_TENSOR_TYPE_BUFFER (1) ",
               "OutputTensor=0x000000d2f0eff5a8 {...} PaddingMode=DML_PADDING_MODE_EDGE (1) "
               "...}\tDML_PADDING_OPERATOR_DESC\n#"),
      "{3, 0}", "{3, ...}");
  const std::string rows =
      "\t\tPaddingValue\t-1.50000000\tfloat\n"
      "\t\tDimensionCount\t2\tunsigned int\n"
      "+\t\tStartPadding\t0x000000d2f0eff6a8 {...}\tconst unsigned int *\n"
      "+\t\tEndPadding\t0x000000d2f0eff6c8 {3}\tconst unsigned int *\n";
  const std::size_t rest = cut.find('#');
  const std::string begin = cut.substr(0, rest), end = cut.substr(cut.find('\n', rest) + 1);
  check_padding(begin + rows + end + "\t\t[1]\t0\tconst unsigned int\n");
  CHECK(contains(make_shown(begin + rows + end).findings,
                 "EndPadding is not known from \"{3}\": it has 1 value, and DimensionCount is 2"));
  CHECK(contains(make_shown(begin + rows.substr(rows.find("\t\tDim")) + end).findings,
                 "PaddingValue is not known"));
  const std::string missing = make_shown(begin + rows.substr(rows.find("\t\tDim")) + end).findings;
  CHECK(contains(missing,
                 ": the text is cut short (...)\n  help: open it in the debugger, and copy"));
  CHECK_FALSE(contains(missing, "it is never given a value"));
}

TEST_CASE("from a debugger: addresses of 32 bits") {
  std::string all =
      replaced(std::string(watch_window) + watch_arrays, "0x000000d2f0eff", "0x0012f");
  all = replaced(replaced(all, "0x0000000000000000 <NULL>", "0x00000000 <NULL>"),
                 "OutputTensor=0x0012f648", "OutputTensor=0x0012F5A8");
  check_padding(all);
  check_padding(replaced(all, "DimensionCount=2", "DimensionCount=0x00000002"));
  const std::string unshown = all.substr(0, all.find("+\t\t(DML_BUFFER")) + watch_arrays;
  CHECK(
      contains(make_shown(unshown).findings, "InputTensor.Desc is not known from \"0x0012f560\""));
}

}  // namespace dmlop::test::cpp_debugger_test
