// C++ as people paste it: what is refused, and how.
#include <doctest/doctest.h>

#include "cpp_text.hpp"

namespace dmlop::test::cpp_refusal_test {
namespace {

using Json = nlohmann::ordered_json;
using Made = MadeOfCpp;

}  // namespace

TEST_CASE("from C++: what begins and does not end is refused where it begins") {
  const std::string desc = "DML_ACTIVATION_LINEAR_OPERATOR_DESC d = {};\n";
  const std::string relu = "DML_ACTIVATION_RELU_OPERATOR_DESC d = { nullptr";
  struct Row {
    std::string text;
    std::string finding;
  };
  const Row rows[] = {
      {"#if 0", "line 1, column 1: this #if has no #endif"},
      {desc + "#if 0\n", "line 2, column 1: this #if has no #endif"},
      {desc + "#if 1\n#else\n", "line 2, column 1: this #if has no #endif"},
      {desc + "#if 0\n#if 0\n#endif\n", "line 2, column 1: this #if has no #endif"},
      {desc + "/*/ d.Alpha = 3.0f;", "line 2, column 1: this comment has no */"},
      {desc + " /* a */ /* b", "line 2, column 10: this comment has no */"},
      {desc + "s = R\"(d.Alpha = 3.0f;", "line 2, column 5: this raw string does not end"},
      {desc + "s = u8R\"x(a)y\";", "line 2, column 5: this raw string does not end"},
      {relu, "line 1, column 39: this { has no }, so that what follows is not read; close it"},
      {relu + ", nullptr\n", "line 1, column 39: this { has no }"},
      {relu + ";\nDML_OPERATOR_DESC o = { DML_OPERATOR_ACTIVATION_RELU, &d };",
       "line 1, column 39: this { has no }"},
      {"void f() { UINT sizes[] = { 1, 2; }", "line 1, column 27: this { has no }"},
      {"UINT a[2][1] = { { 1 }, { 2 ;\n" + desc, "line 1, column 16: this { has no }"},
      {relu + ", (nullptr };", "line 1, column 50: this ( has no )"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    dmlop::Diagnostics findings;
    try {
      (void)dmlop::description_of_cpp("a.cpp", row.text, findings);
      FAIL_CHECK("it was read");
    } catch (const dmlop::Error& error) {
      CHECK(error.kind() == dmlop::ErrorKind::invalid_input);
      CHECK(std::string(error.what()).find(row.finding) != std::string::npos);
    }
  }
}

TEST_CASE("from C++: a definition that does not end is refused as one") {
  dmlop::Diagnostics findings;
  try {
    (void)dmlop::description_of_cpp("a.cpp", "", findings, {}, {"sizes={1, 2"});
    FAIL_CHECK("it was read");
  } catch (const dmlop::Error& error) {
    CHECK(error.kind() == dmlop::ErrorKind::usage);
    CHECK(std::string(error.what()).starts_with("-D \"sizes={1, 2\" must be NAME=VALUE"));
  }
}

TEST_CASE("from C++: what the text does not say is refused, with its place and a way out") {
  struct Refused {
    std::string code;
    std::string expression;
    std::string finding;
  };
  const Refused rows[] = {
      {"", "n",
       "2:62: error: Axis is not known from \"n\": n is not declared in this text\n"
       "  note: a debugger knows what the text does not say: stop behind the statements that fill "
       "desc, and convert what it shows of it in the same way; dmlop check ONE_HOT --set "
       "Axis=VALUE needs no code\n"
       "  help: write its value, add its declaration, or give it: -D n=VALUE"},
      {"", "1 + axis()",
       "66: error: Axis is not known from \"axis()\": it is the result of a call of axis, which "
       "this "
       "text does not define above"},
      {"", "1 / 0", "C++ defines no value for it"},
      {"#define N 1 + 2\n", "N * 2", "what a macro without parentheses means"},
      {"", "2147483647 + 1", "C++ defines no value for it"},
      {"", "1 << 32", "C++ defines no value for it"},
      {"", "99999999999999999999", "it is not a C++ number that fits 64 bits"},
      {"", "\"2\"", "it is a text"},
      {"", "new UINT", "this expression is not evaluated; \"new\" in it is not understood"},
      {"UINT n;", "n", "it is never given a value"},
      {"UINT a[2];", "a[0]", "it is never given a value"},
      {"UINT a[2] = {1, 2};", "a[2]", "it is never given a value"},
      {"UINT a[1] = {1, 2};", "a[0]", "it has 2 values for an array of 1"},
      {"UINT a[n] = {1};", "a[0]", "the length of the array is not known"},
      {"UINT n = 1; if (x) n = 2;", "n",
       "1:20: error: Axis is not known from \"n = 2\": it is assigned under a condition"},
      {"UINT n = 1; if (x) { n = 2; }", "n", "it is assigned under a condition or in a loop"},
      {"UINT n = 1; while (x) { if (y) n++; }", "n",
       "it is assigned under a condition or in a loop"},
      {"UINT n = 1; switch (x) { case 1: n = 2; }", "n", "it is assigned under a condition"},
      {"UINT n = 1;\n#if A\nn = 2;\n#endif", "n", "it is assigned under a condition"},
      {"#if A\nUINT n = 1;\n#else\nUINT n = 2;\n#endif", "n", "it is declared more than once"},
      {"#ifdef A\nUINT n = 1;\n#else\nUINT n = 2;\n#endif", "n", "it is declared more than once"},
      {"UINT n = 1;\n#if 0\n#elif A\nn = 2;\n#endif", "n", "it is assigned under a condition"},
      {"#if A\n#define B\n#endif\n#ifdef B\nUINT n = 1;\n#else\nUINT n = 2;\n#endif", "n",
       "it is declared more than once"},
      {"enum class E { a = 4 };", "a", "a is not declared in this text"},
      {"namespace a { const UINT n = 4; }", "n", "n is not declared in this text"},
      {"UINT n = 1; for (UINT& m : Get(&n)) m = 2;", "n", "this may change it"},
      {"UINT n = 1; change(n);", "n", "this may change it, and is not evaluated"},
      {"UINT n = 1; x.change(&n);", "n", "this may change it, and is not evaluated"},
      {"UINT a[] = {1}; std::iota(a, a + 1, 3);", "a[0]", "this may change it"},
      {"std::vector<UINT> a{1}; a.resize(4);", "a[0]", "this may change it"},
      {"UINT a[] = {1, 2}; a[i] = 3;", "a[0]", "the index of this element is not known"},
      {"void f(UINT n) {", "n",
       "it is a parameter of this function\n"
       "  note: a debugger knows"},
      {"void f(UINT n) {", "n", "  help: write its value, or give it: -D n=VALUE"},
      {"UINT n = 1; goto x; n ? ? 2;", "n", "this may change it"},
      {"", "1, 2", "it has 5 values, and DML_ONE_HOT_OPERATOR_DESC has 4 members"},
  };
  for (const Refused& row : rows) {
    CAPTURE(row.code);
    CAPTURE(row.expression);
    const Made made = make_axis(row.code, row.expression);
    CAPTURE(made.findings);
    CHECK(contains(made.findings, row.finding));
    CHECK(contains(made.findings, "  help: "));
  }
}

TEST_CASE("from C++: a variable that something else may change is refused") {
  // Each changes n, or may change it, without an assignment that is certain to run.
  const char* const rows[] = {
      "UINT* p = &n; Get(p);",
      "UINT* p{&n}; Get(p);",
      "auto q{&n}; Get(q);",
      "UINT* p = &n; UINT** q = &p; Get(q);",
      "UINT* p = &n; if (x) p = &m; *p = 2;",
      "UINT* p = x ? &n : &m; *p = 2;",
      "UINT* p = &n; p += i; *p = 2;",
      "UINT a[1] = {}; UINT* p = a; if (x) p = &n; Get(p);",
      "Holder h{n}; h.Run();",
      "Holder h{&n}; h.Run();",
      "Holder h = {&n};",
      "Holder h; h.p = &n; h.Run();",
      "Holder h; h.p = &n; Init(&h);",
      "Holder h; h.p = &n; Holder* p = &h; p->Run();",
      "Holder h; h.p = &n; Outer o; o.h = &h; o.Run();",
      "unknown = &n; n = 2; Run();",
      "unknown[i] = &n; Run();",
      "std::vector<UINT*> p{&n}; Get(p);",
      "std::span<UINT> s{&n, 1}; s[0] = 2;",
      "std::vector<std::reference_wrapper<UINT>> s{n}; s[0].get() = 2;",
      "auto f = [&] { n = 2; }; n = 1; Run(f);",
      "auto f = [&] { n = 2; }; std::thread t(f);",
      "auto f = [&] { n = 2; }; auto g = [&] { f(); }; Run(g);",
      "Run([&n] { n = 2; });",
      "config.Get(\"value\", n);",
      "config->Get(4, &n);",
      "config.size(n);",
      "std::ifstream f(\"a\"); f >> n;",
      "stream >> m >> n;",
      "x = archive & n;",
      "x && (n = 4);",
      "x || ++n;",
      "false && n++;",
      "true ? 1 : n++;",
      "UINT k = sizeof(n++);",
      "assert(n++);",
      "decltype(n++) k = 1;",
      "return; n = 4;",
      "goto end; n = 4; end:",
      "std::max(n, m) = 4;",
      "UINT& r = std::max(n, m); r = 4;",
      "reinterpret_cast<float&>(n) = 4;",
      "float* p = (float*)&n; *p = 2;",
  };
  for (const std::string code : rows) {
    CAPTURE(code);
    const Made made = make_axis("UINT n = 1, m = 1; " + code, "n");
    CAPTURE(made.findings);
    const bool says_why = contains(made.findings, "this may change it, and is not evaluated") ||
                          contains(made.findings, "it is assigned under a condition or in a loop");
    CHECK(says_why);
  }
}

TEST_CASE("from C++: what another function changes is refused") {
  const std::string make_desc =
      "void Make() { DML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, n}; }\n";
  for (const std::string other :
       {"void Other() { n = 2; }\n", "void Other() { Get(&n); }\n",
        "int Type::Other() { return n++; }\n", "Type::Type() : m(1) { n = 2; }\n",
        "TEST(Other, Case) { n = 2; }\n", "auto Other() { return [] { n = 2; }; }\n",
        "auto Other() { return [] { Get(&n); }; }\n"}) {
    CAPTURE(other);
    for (const std::string& text : {other + make_desc, make_desc + other}) {
      const Made made = make("UINT n = 1;\n" + text);
      CHECK(contains(made.findings, "Axis is not known from \"n\": another function changes it"));
    }
  }
  // Its own variables are its own, and the description's function may change what it reads.
  const Made made = make("UINT n = 1;\nvoid Other() { UINT n = 2; n = 3; }\n" +
                         make_desc.substr(0, 14) + "n = 4; " + make_desc.substr(14));
  CHECK(made.findings == "");
  CHECK(made.desc == Json{{"Axis", 4}});
}

TEST_CASE("from C++: members, structs and pointers that do not fit are refused") {
  const std::pair<std::string, std::string> rows[] = {
      {"DML_ONE_HOT_OPERATOR_DESC d; d.Axis = 1;",
       "1:27: error: IndicesTensor is not known from \"d\": it is never given a value"},
      {"DML_ONE_HOT_OPERATOR_DESC d = {}; d.Axes = 1;",
       "DML_ONE_HOT_OPERATOR_DESC has no member \"Axes\"\n  help: did you mean \"Axis\"?"},
      {"DML_PADDING_OPERATOR_DESC d = {}; d.PaddingMode = DML_PADDING_MODE_EGDE;",
       "PaddingMode is not known from \"DML_PADDING_MODE_EGDE\": it is no DML_PADDING_MODE\n"
       "  help: did you mean \"DML_PADDING_MODE_EDGE\"?"},
      {"DML_PADDING_OPERATOR_DESC d = {.DimensionCount = 3};",
       "StartPadding is not known from \"{.DimensionCount = 3}\": it is null, and DimensionCount "
       "is 3"},
      {"DML_TENSOR_DESC t = {DML_TENSOR_TYPE_BUFFER, &b};"
       "DML_ONE_HOT_OPERATOR_DESC d = {&t};",
       "IndicesTensor.Desc is not known from \"b\": b is not declared in this text"},
      {"DML_ONE_HOT_OPERATOR_DESC d = {}; DML_OPERATOR_DESC o = {DML_OPERATOR_PADDING, &d};",
       "o.Type is not known from \"DML_OPERATOR_PADDING\": its Desc is a "
       "DML_ONE_HOT_OPERATOR_DESC\n"
       "  help: write DML_OPERATOR_ONE_HOT"},
      {"DML_ONE_HOT_OPERATOR_DESC d = {};\nDML_PADDING_OPERATOR_DESC e = {};",
       "2:27: error: the text describes several operators: DML_ONE_HOT_OPERATOR_DESC d in line 1, "
       "DML_PADDING_OPERATOR_DESC e in line 2"},
      {"DML_FILL_VALUE_CONSTANT_OPERATOR_DESC d = {nullptr, DML_TENSOR_DATA_TYPE_FLOAT16, "
       "{.Float16 = 1}};",
       "DML_SCALAR_UNION has no member \"Float16\" (Value)"},
      {"int main() { return 0; }", "the text has no variable of a type DML_..._OPERATOR_DESC"},
      {"", "the text has no variable of a type DML_..._OPERATOR_DESC"},
      {"DML_BUFFER_TENSOR_DESC b = {}; DML_BUFFER_BINDING_DESC c = {};",
       "the text has no variable of a type DML_..._OPERATOR_DESC"},
      {"DML_OPERATOR_DESC o = {DML_OPERATOR_PADDING, &x};\nDML_PADING_OPERATOR_DESC d = {};",
       "2:1: error: DML_PADING_OPERATOR_DESC is not an operator's struct in DirectML.h\n"
       "  help: did you mean \"DML_PADDING_OPERATOR_DESC\"?"},
      {"DML_PADDING_OPERATR_DESC d = {};",
       "1:1: error: DML_PADDING_OPERATR_DESC is not an operator's struct in DirectML.h\n"
       "  help: did you mean \"DML_PADDING_OPERATOR_DESC\"?"},
      {"DML_FROBNICATE_OPERATOR_DESC d = {};",
       "1:1: error: DML_FROBNICATE_OPERATOR_DESC is not an operator's struct in DirectML.h\n"
       "  help: `dmlop ops` lists the operators"},
      {"auto scope = dml::Graph(device);\nauto out = dml::Identity(in);",
       "1:14: error: DirectMLX (dml::) is not read\n  help: stop in DirectMLX.h"},
      {"DML_SCALAR_UNION u; u.Int32 = 1; u.Float32 = 2;\n"
       "DML_FILL_VALUE_CONSTANT_OPERATOR_DESC d = {nullptr, DML_TENSOR_DATA_TYPE_INT32, u};",
       "several members of the union are set\n  help: set only Int32"},
  };
  for (const auto& [text, finding] : rows) {
    CAPTURE(text);
    const Made made = make(text);
    CAPTURE(made.findings);
    CHECK(contains(made.findings, finding));
  }
}

TEST_CASE("from C++: descriptions in branches of a condition are told from several operators") {
  const std::string desc = "DML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, ";
  for (const std::string& text : {"#if USE_HALF\n" + desc + "1};\n#else\n" + desc + "2};\n#endif\n",
                                  "if (half) {" + desc + "1}; } else {" + desc + "2}; }"}) {
    CAPTURE(text);
    const Made made = make(text);
    CHECK(contains(made.findings, "the text describes several operators: "));
    CHECK(contains(made.findings, "; an if, and an #if that the text does not decide"));
  }
  CHECK(!contains(make(desc + "1};\n{" + desc + "2}; }").findings, "conditions"));
}

}  // namespace dmlop::test::cpp_refusal_test
