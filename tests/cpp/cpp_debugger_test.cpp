// What debuggers show, as people paste it.
#include <doctest/doctest.h>

#include "cpp_text.hpp"

namespace {

using Json = nlohmann::ordered_json;
using namespace dmlop::test;
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

void check_padding(const std::string& text) {
  CAPTURE(text);
  const Made made = make(text);
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
  check_padding(R"((gdb) p (DML_PADDING_OPERATOR_DESC)desc
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
)");
  check_padding(R"((DML_PADDING_OPERATOR_DESC) desc = {
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
)");
}

TEST_CASE("from a debugger: a number is read to its end, and an address has one value") {
  const auto with = [](std::string number, const std::string& more = "") {
    std::string text = std::string(watch_window) + watch_arrays;
    text.replace(text.find("-1.50000000"), 11, number);
    return make(text + more);
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
                   "PaddingValue is not known from \"" + odd + "\": it is no number of C++"));
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

TEST_CASE("from a debugger: what it does not show is refused, with what to show") {
  const Made first = make(watch_window);
  CHECK(contains(first.findings,
                 "InputTensor.Sizes is not known from \"{1}\": it has 1 value, and "
                 "DimensionCount is 2\n  help: show all elements: "
                 "(UINT*)0xd2f0eff530,2 in Visual Studio"));
  const std::string all = std::string(watch_window) + watch_arrays;
  const Made second = make(all.substr(0, all.find("+\t\t(DML_BUFFER")) + watch_arrays);
  CHECK(contains(second.findings,
                 "InputTensor.Desc is not known from \"0x000000d2f0eff560\": the "
                 "text does not show what is at this address"));
  CHECK(contains(second.findings, "(DML_BUFFER_TENSOR_DESC*)0xd2f0eff560"));
}

TEST_CASE("from a debugger: every beginning of a text") {
  const std::string watch = std::string(watch_window) + watch_arrays;
  for (std::size_t size = 0; size < watch.size(); size += 3) {
    const Made made = make(watch.substr(0, size));
    CHECK(made.desc.is_object() == made.findings.empty());
  }
}

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(contains(text, from));
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

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
  CHECK(contains(make(begin + rows + end).findings,
                 "EndPadding is not known from \"{3}\": it has 1 value, and DimensionCount is 2"));
  CHECK(contains(make(begin + rows.substr(rows.find("\t\tDim")) + end).findings,
                 "PaddingValue is not known"));
  const std::string missing = make(begin + rows.substr(rows.find("\t\tDim")) + end).findings;
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
  CHECK(contains(make(unshown).findings, "InputTensor.Desc is not known from \"0x0012f560\""));
}
