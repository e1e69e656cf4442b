// Functions, lambdas and structs in C++, as programs that use DirectML have them.
#include <doctest/doctest.h>

#include "cpp_text.hpp"

namespace dmlop::test::cpp_calls_test {
namespace {

using Json = nlohmann::ordered_json;
using Made = MadeOfCpp;

// A program that makes its tensor descs with MakeDesc, and what goes before its main function.
std::string program_of(const std::string& helpers, const std::string& in, const std::string& out) {
  return helpers + "\nint main() {\n" +
         "  std::vector<UINT> inSizes = {1, 2, 3, 4}, outSizes = {1, 2, 3, 8};\n"
         "  DML_BUFFER_TENSOR_DESC in = " +
         in + ";\n  DML_BUFFER_TENSOR_DESC out = " + out +
         ";\n"
         "  DML_TENSOR_DESC inDesc{DML_TENSOR_TYPE_BUFFER, &in}, outDesc{DML_TENSOR_TYPE_BUFFER, "
         "&out};\n"
         "  UINT start[] = {0, 0, 0, 0}, end[] = {0, 0, 0, 4};\n"
         "  DML_PADDING_OPERATOR_DESC d = {&inDesc, &outDesc, DML_PADDING_MODE_EDGE, 0, 4, start, "
         "end};\n}\n";
}

void check_padding(const Made& made) {
  CHECK(made.findings == "");
  if (!made.findings.empty()) return;
  CHECK(made.desc.at("InputTensor").at("Sizes") == Json{1, 2, 3, 4});
  CHECK(made.desc.at("OutputTensor").at("Sizes") == Json{1, 2, 3, 8});
  CHECK(made.desc.at("InputTensor").at("DataType") == "DML_TENSOR_DATA_TYPE_FLOAT32");
  CHECK(made.desc.at("OutputTensor").at("DataType") == "DML_TENSOR_DATA_TYPE_FLOAT16");
}

}  // namespace

TEST_CASE("from C++: a function that makes tensor descs gives each call's own") {
  const std::string fields =
      "desc.DataType = type; desc.DimensionCount = static_cast<UINT>(sizes.size());"
      "desc.Sizes = sizes.data(); desc.TotalTensorSizeInBytes = 48;";
  const std::string helpers[] = {
      "DML_BUFFER_TENSOR_DESC MakeDesc(const std::vector<UINT>& sizes, DML_TENSOR_DATA_TYPE type) "
      "{\n  DML_BUFFER_TENSOR_DESC desc = {};\n" +
          fields + "  return desc;\n}",
      "DML_BUFFER_TENSOR_DESC MakeDesc(gsl::span<const UINT> sizes, DML_TENSOR_DATA_TYPE type, "
      "const UINT* strides = nullptr) {\n  DML_BUFFER_TENSOR_DESC desc = {};\n" +
          fields + "  if (strides) desc.Strides = strides;\n  return desc;\n}",
      "static auto MakeDesc(std::vector<UINT>& sizes, DML_TENSOR_DATA_TYPE type) -> "
      "DML_BUFFER_TENSOR_DESC {\n  return {type, DML_TENSOR_FLAG_NONE, "
      "gsl::narrow_cast<UINT>(std::size(sizes)), sizes.data(), nullptr, 48, 0};\n}",
      "void Fill(DML_BUFFER_TENSOR_DESC* desc, const std::vector<UINT>& s) {\n"
      "  desc->DimensionCount = 4;\n  desc->Sizes = &s[0];\n}\n"
      "DML_BUFFER_TENSOR_DESC MakeDesc(const std::vector<UINT>& sizes, DML_TENSOR_DATA_TYPE type) "
      "{\n  DML_BUFFER_TENSOR_DESC desc{type};\n  Fill(&desc, sizes);\n  return desc;\n}",
  };
  for (const std::string& helper : helpers) {
    CAPTURE(helper);
    const Made made = make(program_of(helper, "MakeDesc(inSizes, DML_TENSOR_DATA_TYPE_FLOAT32)",
                                      "MakeDesc(outSizes, DML_TENSOR_DATA_TYPE_FLOAT16)"));
    check_padding(made);
    CHECK_FALSE(contains(made.warnings, "ends with the call"));
  }
}

TEST_CASE("from C++: a lambda that makes tensor descs sees the variables around it") {
  const std::string code = program_of("", "{}", "{}");
  const std::string before = code.substr(0, code.find("  DML_BUFFER_TENSOR_DESC in"));
  const std::string after = code.substr(code.find("  DML_TENSOR_DESC inDesc"));
  for (const std::string captures : {"&", "=", "&count", "count", "&, count", "n = count"}) {
    CAPTURE(captures);
    const std::string name = captures.starts_with("n") ? "n" : "count";
    check_padding(make(before + "UINT count = 4;\nauto make = [" + captures +
                       "](const std::vector<UINT>& sizes, auto type) {\n"
                       "  return DML_BUFFER_TENSOR_DESC{type, DML_TENSOR_FLAG_NONE, " +
                       name +
                       ", sizes.data(), nullptr, 48};\n};\n"
                       "DML_BUFFER_TENSOR_DESC in = make(inSizes, DML_TENSOR_DATA_TYPE_FLOAT32);\n"
                       "auto out = make(outSizes, DML_TENSOR_DATA_TYPE_FLOAT16);\n" +
                       after));
  }
}

TEST_CASE("from C++: an array that ends with a call is a warning") {
  const std::string head = "DML_BUFFER_TENSOR_DESC MakeDesc(";
  const std::string body =
      " sizes, DML_TENSOR_DATA_TYPE type) {\n  return {type, DML_TENSOR_FLAG_NONE, 4, "
      "sizes.data(), nullptr, 48};\n}";
  const std::string out = "MakeDesc(outSizes, DML_TENSOR_DATA_TYPE_FLOAT16)";
  const Made by_value = make(program_of(head + "std::vector<UINT>" + body,
                                        "MakeDesc(inSizes, DML_TENSOR_DATA_TYPE_FLOAT32)", out));
  check_padding(by_value);
  CHECK(contains(by_value.warnings, "InputTensor.Sizes points to sizes, which ends with the call"));
  CHECK(
      contains(by_value.warnings, "OutputTensor.Sizes points to sizes, which ends with the call"));
  CHECK(contains(by_value.warnings, "  help: in C++, let it live as long as the description"));
  const Made temporary =
      make(program_of(head + "const std::vector<UINT>&" + body,
                      "MakeDesc({1, 2, 3, 4}, DML_TENSOR_DATA_TYPE_FLOAT32)", out));
  check_padding(temporary);
  CHECK(contains(temporary.warnings, "InputTensor.Sizes points to sizes, which ends"));
  CHECK_FALSE(contains(temporary.warnings, "OutputTensor.Sizes points to"));
}

TEST_CASE("from C++: sizes in a struct of the program, in each form of its braces") {
  const std::string type =
      "struct TensorInfo {\n  std::array<UINT, 4> sizes;\n  DML_TENSOR_DATA_TYPE type;\n"
      "  UINT count = 4;\n  UINT Count() const { return count; }\n};\n";
  const std::string c_type =
      "typedef struct { UINT sizes[4]; DML_TENSOR_DATA_TYPE type; UINT count; } TensorInfo;\n";
  const std::string desc =
      "DML_BUFFER_TENSOR_DESC Desc(const TensorInfo& info) {\n"
      "  return {info.type, DML_TENSOR_FLAG_NONE, info.count, &info.sizes[0], nullptr, 48};\n}\n";
  const std::string info = "TensorInfo a";
  const std::pair<std::string, std::string> forms[] = {
      {type, "{{1, 2, 3, 4}, DML_TENSOR_DATA_TYPE_FLOAT32}"},
      {type, " = {{{1, 2, 3, 4}}, DML_TENSOR_DATA_TYPE_FLOAT32, 4}"},
      {type, "{.sizes = {1, 2, 3, 4}, .type = DML_TENSOR_DATA_TYPE_FLOAT32}"},
      {type, "; a.sizes = {1, 2, 3, 4}; a.type = DML_TENSOR_DATA_TYPE_FLOAT32"},
      {c_type, " = {{1, 2, 3, 4}, DML_TENSOR_DATA_TYPE_FLOAT32, 4}"},
      {c_type,
       " = {}; a.count = 4; a.type = DML_TENSOR_DATA_TYPE_FLOAT32; "
       "for (UINT i = 0; i < 4; ++i) a.sizes[i] = i + 1"},
  };
  for (const auto& [declaration, braces] : forms) {
    CAPTURE(declaration);
    CAPTURE(braces);
    const std::string out = "TensorInfo b = {{1, 2, 3, 8}, DML_TENSOR_DATA_TYPE_FLOAT16, 4};\n";
    check_padding(
        make(program_of(declaration + info + braces + ";\n" + out + desc, "Desc(a)", "Desc(b)")));
  }
  CHECK(contains(make_axis(type + info + "{1, 2};", "a.sizes[0]").findings,
                 "sizes has no braces of its own here"));
  CHECK(contains(make_axis(type + info + "{.size = {1}};", "a.count").findings,
                 "it names no member of TensorInfo"));
  CHECK(contains(make_axis("struct S { S(UINT n); UINT n; }; S s{1};", "s.n").findings, "Axis"));
}

TEST_CASE("from C++: an operator that a function makes counts once, with the values of its call") {
  const std::string make_desc =
      "DML_ONE_HOT_OPERATOR_DESC Make(UINT axis) {\n"
      "  DML_ONE_HOT_OPERATOR_DESC d = {};\n  d.Axis = axis;\n  return d;\n}\n";
  const std::string create =
      "void Create(UINT axis) {\n  DML_ONE_HOT_OPERATOR_DESC d = {};\n  d.Axis = axis;\n"
      "  device->CreateOperator(&d);\n}\n";
  const std::string lambda =
      "void f() {\nauto make = [&](UINT axis) {\n  DML_ONE_HOT_OPERATOR_DESC d = {};\n"
      "  d.Axis = axis;\n  return d;\n};\n";
  for (const std::string& text :
       {make_desc + "auto desc = Make(3);", make_desc + "const auto desc{Make(3)};",
        create + "int main() { Create(3); }", create + "int main() { Create(3); Create(3); }",
        lambda + "auto desc = make(3);\n}"}) {
    CAPTURE(text);
    const Made made = make(text);
    CHECK(made.findings == "");
    CHECK(made.desc == Json{{"Axis", 3}});
  }
  CHECK(contains(make(create + "int main() { Create(3); Create(4); }").findings,
                 "calls make different operators of DML_ONE_HOT_OPERATOR_DESC d in line 2\n"
                 "  help: leave the call of one of them"));
  CHECK(contains(make(create).findings, "it is a parameter of this function"));
}

TEST_CASE("from C++: a call that is not followed says why, and leaves nothing it may change") {
  const std::pair<std::string, std::string> rows[] = {
      {"template <class T> T Get(T n) { return n; }", "which is not evaluated: it is a template"},
      {"UINT Get(UINT a, UINT b) { return a; }", "it takes another number of arguments"},
      {"UINT Get(UINT a) { return 1; }\nUINT Get(float a) { return 2; }",
       "several functions have this name and take as many arguments"},
      {"UINT Get(UINT a...) { return 1; }", "which is not evaluated: "},
      {"UINT Get(UINT a) { return Get(a); }", "more than 12 calls are nested"},
      {"UINT Get(UINT a) { if (unknown) return 2; return a; }",
       "whether this return runs is not known; whether \"unknown\" holds is not known: unknown is "
       "not declared"},
      {"UINT Get(UINT a) { throw 1; }", "this call throws"},
      {"UINT Get(UINT a) { a = 2; }", "the call of Get returns nothing"},
      {"UINT Get(UINT a) { static UINT n = 0; return ++n; }", "it is static, and keeps its value"},
      {"UINT Get(UINT a) { return Read(a); }", "it is the result of a call of Read"},
      {"#if A\nUINT Get(UINT a) { return 1; }\n#endif", "it is defined under a condition"},
      {"auto Get = [n = 1](UINT a) mutable { return n++; };", "it is mutable"},
  };
  for (const auto& [function, why] : rows) {
    CAPTURE(function);
    const Made made = make_axis(function, "Get(1)");
    CAPTURE(made.findings);
    CHECK(contains(made.findings, why));
  }
  for (const std::string function :
       {"template <class T> void Set(T* n) { *n = 2; }", "void Set(UINT* n, UINT m) { *n = 2; }",
        "void Set(UINT* n) { if (unknown) return; *n = 2; }",
        "void Set(UINT* n) { if (unknown) *n = 2; }"}) {
    CAPTURE(function);
    CHECK(contains(make_axis(std::string(function) + "\nUINT n = 1; Set(&n);", "n").findings,
                   "Axis is not known from"));
  }
}

TEST_CASE("from C++: definitions give values that the text does not, and only those") {
  const auto with = [](const std::vector<std::string>& defined, const std::string& code,
                       const std::string& expression) {
    dmlop::Diagnostics findings;
    const auto made = dmlop::description_of_cpp(
        "x.cpp",
        code + "\nDML_ONE_HOT_OPERATOR_DESC desc = {nullptr, nullptr, nullptr, " + expression +
            "};",
        findings, {}, defined);
    return made ? Json::parse(made->text).at("desc").dump() : text_of(findings);
  };
  CHECK(with({"n=2"}, "void f(UINT n) {", "n + 1") == R"({"Axis":3})");
  CHECK(with({"n=-1"}, "void f(UINT n) {", "n") == R"({"Axis":4294967295})");
  CHECK(with({"n=2"}, "", "n") == R"({"Axis":2})");
  CHECK(with({"n=2"}, "UINT n = Read();", "n * 2") == R"({"Axis":4})");
  CHECK(with({"Config::n=2"}, "", "Config::n") == R"({"Axis":2})");
  CHECK(with({"a={1,2,3}"}, "void f(const std::vector<UINT>& a) {", "a[1] + a.size()") ==
        R"({"Axis":5})");
  CHECK(with({"a={1,2,3}"}, "void f(const UINT* a) {", "a[2]") == R"({"Axis":3})");
  CHECK(with({"type=DML_TENSOR_DATA_TYPE_FLOAT16"}, "void f(DML_TENSOR_DATA_TYPE type) {",
             "type == DML_TENSOR_DATA_TYPE_FLOAT32 ? 4 : 2") == R"({"Axis":2})");
  CHECK(with({"HALF"}, "#ifdef HALF\nUINT n = 2;\n#else\nUINT n = 4;\n#endif", "n") ==
        R"({"Axis":2})");
  CHECK(with({"N=8"}, "#ifndef N\n#define N 4\n#endif", "N") == R"({"Axis":8})");
  CHECK(with({"n=2"}, "void f(UINT n) { }\nint main() { f(count); }", "1").find("-D n") ==
        std::string::npos);
  CHECK(contains(with({"m=2"}, "UINT n = 1;", "n"), "x.cpp: -D m: error: the text needs no value"));
  CHECK(contains(with({"n=2"}, "UINT n = 1;", "n"), "the text needs no value of n"));
  for (const std::string bad :
       {"n=", "n=m", "=1", "1n=2", "n=1;", "n={m}", "n=\"1\"", "", "n=f()"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(with({bad}, "", "n"), dmlop::Error);
  }
  CHECK_THROWS_AS(with({"n=1", "n=2"}, "", "n"), dmlop::Error);
}

}  // namespace dmlop::test::cpp_calls_test
