// C++ as people paste it: what each way of writing a value means, what is refused and how, what
// debuggers show, and texts that were made to break the reader.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cpp/convert.hpp"
#include "program.hpp"

namespace {

using Json = nlohmann::ordered_json;
using namespace dmlop::test;

struct Made {
  Json desc;  // null where the text is refused
  std::string type, findings, remarks;
};

std::string text_of(const dmlop::Diagnostics& findings) {
  std::string text;
  for (const auto& finding : findings) text += to_text(finding) + "\n";
  return text;
}

Made make(const std::string& text) {
  dmlop::Diagnostics findings;
  const auto made = dmlop::description_of_cpp("x.cpp", text, findings);
  CHECK(made.has_value() == findings.empty());
  if (!made) return {.findings = text_of(findings)};
  const Json json = Json::parse(made->text);
  return {.desc = json.at("desc"), .type = json.at("type"), .remarks = text_of(made->remarks)};
}

/// A description of one UINT: `Axis`, set to an expression after some other code.
Made make_axis(const std::string& code, const std::string& expression) {
  return make(code + "\nDML_ONE_HOT_OPERATOR_DESC desc = {nullptr, nullptr, nullptr, " +
              expression + "};");
}

/// A description of one FLOAT.
Made make_alpha(const std::string& code, const std::string& expression) {
  return make(code + "\nDML_ACTIVATION_ELU_OPERATOR_DESC desc = {nullptr, nullptr, " + expression +
              "};");
}

struct Row {
  std::string code;
  std::string expression;
  Json value;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string samples = DMLOP_SOURCE_DIR "/samples/";

}  // namespace

TEST_CASE("from C++: integers are computed as C++ computes them") {
  const Row rows[] = {
      {"", "7", 7},
      {"", "0x1F", 31},
      {"", "017", 15},
      {"", "0b101", 5},
      {"", "1'000u", 1000},
      {"", "4ull", 4},
      {"", "(2 + 3) * 4 - 10 / 3 % 2", 19},
      {"", "1 << 3 | 2 ^ 1 & 3", 11},
      {"", "true ? 4 : 5", 4},
      {"", "3 > 4 ? 1 : 2 == 2 && !0", 1},
      {"", "-(-3)", 3},
      {"", "UINT(3.9f)", 3},
      {"", "(UINT)-1", 4294967295},
      {"", "static_cast<uint8_t>(300)", 44},
      {"", "0u - 1", 4294967295},
      {"", "std::max(3, 2) + std::min<UINT>(4u, 7u)", 7},
      {"", "UINT_MAX", 4294967295},
      {"", "std::numeric_limits<uint16_t>::max()", 65535},
      {"", "DML_TENSOR_DIMENSION_COUNT_MAX1", 8},
      {"", "sizeof(float) * 2 + sizeof(UINT64)", 16},
      {"const int n = 4;", "n - 1", 3},
      {"constexpr auto n{6};", "n", 6},
      {"#define AXIS 2 /* the third */\n", "AXIS", 2},
      {"#define AXIS (1 + 2)\n", "AXIS * 2", 6},
      {"enum { a };\nstatic const UINT n(3);", "n", 3},
      {"UINT n; n = 2; n += 3; ++n; n *= 2;", "n", 12},
      {"uint8_t n = 257;", "n", 1},
      {"using Index = unsigned int; Index n = 9;", "n", 9},
      {"typedef UINT Index; Index n = -1;", "n", 4294967295},
      {"UINT a[] = {5, 6, 7};", "a[1] + ARRAYSIZE(a)", 9},
      {"UINT a[4] = {5};", "a[3]", 0},
      {"UINT a[4] = {5};", "sizeof(a) / sizeof(a[0])", 4},
      {"UINT a[2][2] = {{1, 2}, {3, 4}};", "a[1][0]", 3},
      {"std::array<UINT, 3> a{1, 2};", "a[2] + std::size(a)", 3},
      {"std::array<UINT, 3> a = {{1, 2, 6}};", "a[2]", 6},
      {"std::vector<UINT> a(3, 8); a[1] = 2; a.push_back(4);", "a[1] + a[2] + a[3]", 14},
      {"UINT n = 3; UINT& m = n; m = 5;", "n", 5},
      {"UINT n = 3; UINT* p = &n; *p = 6;", "*p", 6},
      {"UINT n = 3; UINT* p{&n}; *p = 6;", "n", 6},
      {"UINT n = 3; UINT& m{n}; m = 5;", "n", 5},
      {"UINT n = 3; UINT& m(n); m = 5;", "n", 5},
      {"UINT n = 3; static_cast<UINT&>(n) = 5;", "n", 5},
      {"UINT a[2] = {3, 4}; UINT* p = a; *p = 6;", "a[0] + a[1]", 10},
      {"UINT n = 3; Use(2); Log::Info(4); stream << n;", "n", 3},
      {"UINT n = 3; // a path: C:\\temp\\\nn = 9;\n", "n", 3},
      {"UINT n = 3; // a path: C:\\temp\\\r\nn = 9;\r\n", "n", 3},
      {"UINT n = 3; auto s = R\"(\"; n = 9; \")\";", "n", 3},
      {"UINT n = 3; auto s = u8R\"x()\"; n = 9; )x\";", "n", 3},
      {"struct S; DML_SIZE_2D s = {2, 3}; auto* p = &s;", "p->Height", 3},
      {"namespace a { constexpr UINT n = 2; UINT m = n + 1; }\nconstexpr UINT n = 4;", "n", 4},
      {"if (x) { y = 1; }", "1", 1},
      {"// n = 4\n/* ; } { */", "1", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code);
    CAPTURE(row.expression);
    const Made made = make_axis(row.code, row.expression);
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Axis") == row.value);
  }
}

TEST_CASE("from C++: floats are the nearest FLOAT, in its shortest form") {
  const Row rows[] = {
      {"", "0.1f", 0.1},
      {"", "1", 1.0},
      {"", "-2.5e-3", -0.0025},
      {"", "1.0f / 3.0f", 0.33333334},
      {"", "1 / 2", 0.0},
      {"", "1 / 2.", 0.5},
      {"", "0x1.8p1f", 3.0},
      {"", ".5F", 0.5},
      {"", "INFINITY", "inf"},
      {"", "-std::numeric_limits<float>::infinity()", "-inf"},
      {"", "NAN", "nan"},
      {"", "FLT_MAX", 3.4028235e38},
      {"const double a = 0.1;", "static_cast<FLOAT>(a)", 0.1},
      {"float a = 1; a /= 4;", "a", 0.25},
      {"", "-0.0f", -0.0},
      {"", "-0.0", -0.0},
      {"", "-0", 0.0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code);
    CAPTURE(row.expression);
    const Made made = make_alpha(row.code, row.expression);
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Alpha") == row.value);
    if (made.findings.empty() && row.value.is_number())
      CHECK(std::signbit(made.desc.at("Alpha").get<double>()) ==
            std::signbit(row.value.get<double>()));
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
       "  help: write its value, or add its declaration"},
      {"", "1 + axis()",
       "66: error: Axis is not known from \"axis()\": it is the result of a call"},
      {"", "1 / 0", "C++ defines no value for it"},
      {"#define N 1 + 2\n", "N * 2", "what a macro without parentheses means"},
      {"", "2147483647 + 1", "C++ defines no value for it"},
      {"", "1 << 32", "C++ defines no value for it"},
      {"", "99999999999999999999", "it is no number of C++ that fits 64 bits"},
      {"", "\"2\"", "it is a text"},
      {"", "new UINT", "this expression is not evaluated"},
      {"", "[] { return 1; }()", "this expression is not evaluated"},
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
      {"UINT n = 1; for (UINT& m : {n}) m = 2;", "n", "this may change it"},
      {"UINT n = 1; change(n);", "n", "this may change it, and is not evaluated"},
      {"UINT n = 1; x.change(&n);", "n", "this may change it, and is not evaluated"},
      {"UINT n = 1; auto f = [&] { n = 2; };", "n", "this may change it"},
      {"UINT a[] = {1}; std::iota(a, a + 1, 3);", "a[0]", "this may change it"},
      {"std::vector<UINT> a{1}; a.resize(4);", "a[0]", "this may change it"},
      {"UINT a[] = {1, 2}; a[i] = 3;", "a[0]", "the index of this element is not known"},
      {"void f(UINT n) {", "n", "it is a parameter of this function"},
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
      "auto f = [&] { n = 2; }; n = 1; f();",
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
        "TEST(Other, Case) { n = 2; }\n"}) {
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

TEST_CASE("from C++: a description in a body of any kind, and in text of any encoding") {
  const std::string desc = "DML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, 3};";
  for (const std::string& text :
       {"class A : public B {\n void f() {" + desc + "} };",
        "struct A { void f() {" + desc + "} };", "template <class T> void f() {" + desc + "}",
        "auto f = [&] {" + desc + "};", "auto f = [=](UINT a) mutable -> int {" + desc + "};\nf();",
        "Run(1, [&] {" + desc + "});", "A::A() {" + desc + "}",
        "A::A(UINT n) : B{n}, m(1) {" + desc + "}", "class A { A() : m(1) {" + desc + "} };",
        "class A { public: template <class T> static void f() {" + desc + "} };",
        "TEST(A, B) {" + desc + "}", "extern \"C\" {" + desc + "}",
        "TEST_CASE(\"x\") { SECTION(\"y\") {" + desc + "} }", "\xEF\xBB\xBF" + desc}) {
    CAPTURE(text);
    const Made made = make(text);
    CHECK(made.findings == "");
    CHECK(made.desc == Json{{"Axis", 3}});
  }
  CHECK(contains(make("operator()() [] {" + desc + "}").findings,
                 "DML_ONE_HOT_OPERATOR_DESC stands here, and the code around it is not read"));
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"})
    CHECK_THROWS_WITH(make(mark + desc),
                      "x.cpp is no UTF-8 text (perhaps it is UTF-16); save it as UTF-8");
  CHECK_THROWS_WITH(make(std::string("D\0", 2)),
                    "x.cpp is no UTF-8 text (perhaps it is UTF-16); save it as UTF-8");
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
      {"UINT a[] = {1, 2}; DML_PADDING_OPERATOR_DESC d = {.DimensionCount = 3, .StartPadding = a};",
       "StartPadding is not known from \"{1, 2}\": it has 2 values, and DimensionCount is 3"},
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

TEST_CASE("from C++: a scalar union by each of its members, and by its bytes") {
  const Row rows[] = {
      {"INT32", ".Int32 = -5", -5},
      {"UINT64", ".UInt64 = 18446744073709551615ull", 18446744073709551615ull},
      {"FLOAT32", ".Float32 = 0.1f", 0.1},
      {"FLOAT64", ".Float64 = 0.1", 0.1},
      {"FLOAT16", ".UInt16 = 0x3C00", Json{{"UInt16", 15360}}},
      {"FLOAT32", "{0, 0, 0xC0, 0x3F}", 1.5},
      {"INT16", "{0xFE, 0xFF}", -2},
      {"UINT8", "", 0},
      {"FLOAT32", ".Int32 = 1", Json{{"Int32", 1}}},  // dmlop check refuses it
  };
  for (const Row& row : rows) {
    CAPTURE(row.expression);
    const Made made =
        make("DML_FILL_VALUE_CONSTANT_OPERATOR_DESC d = {nullptr, DML_TENSOR_DATA_TYPE_" +
             std::string(row.code) + ", {" + row.expression + "}};");
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Value") == row.value);
  }
}

TEST_CASE("from C++: variables of other scopes, types and activations keep apart") {
  const Made made = make(R"(
    void Make(IDMLDevice* device, bool unused) {
      const UINT n = 1;
      {
        const UINT n = 7;
        Use(n);
      }
      DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC relu = {};
      relu.Alpha = 0.25f;
      DML_OPERATOR_DESC fused{DML_OPERATOR_ACTIVATION_LEAKY_RELU, &relu};
      UINT sizes[] = {n, 2};
      DML_BUFFER_TENSOR_DESC b{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, sizes};
      b.TotalTensorSizeInBytes = Align(8);
      DML_TENSOR_DESC t{DML_TENSOR_TYPE_BUFFER, &b};
      DML_ELEMENT_WISE_ADD1_OPERATOR_DESC add = {&t, &t, &t, &fused};
      Create(device, &add);
    })");
  CHECK(made.findings == "");
  CHECK(made.type == "DML_OPERATOR_ELEMENT_WISE_ADD1");
  CHECK(made.desc.at("ATensor").at("Sizes") == Json{1, 2});
  CHECK(made.desc.at("FusedActivation") ==
        Json{{"Type", "DML_OPERATOR_ACTIVATION_LEAKY_RELU"}, {"Desc", {{"Alpha", 0.25}}}});
  CHECK(contains(made.remarks, "ATensor.TotalTensorSizeInBytes is left out"));
  CHECK(contains(made.remarks, "add is passed to Create; what that changes in it is not known"));
}

TEST_CASE(
    "from C++: memory that is set to zero, and values that change after the operator is made") {
  const Made zeroed = make(
      "DML_ONE_HOT_OPERATOR_DESC d;\nZeroMemory(&d, sizeof(d));\nd.Axis = 2;\n"
      "device->CreateOperator(&d);");
  CHECK(zeroed.findings == "");
  CHECK(zeroed.remarks == "");
  CHECK(zeroed.desc == Json{{"Axis", 2}});
  CHECK(make("DML_ONE_HOT_OPERATOR_DESC d; memset(&d, 0, sizeof d);").desc == Json{{"Axis", 0}});
  CHECK(contains(make("DML_ONE_HOT_OPERATOR_DESC d; memset(&d, 1, sizeof d);").findings,
                 "this changes it, and is not evaluated"));
  CHECK(contains(make_axis("UINT a[] = {1}; memset(a, 0, sizeof a);", "a[0]").findings,
                 "this changes it, and is not evaluated"));
  const Made changed =
      make("DML_ONE_HOT_OPERATOR_DESC d = {};\ndevice->CreateOperator(&d);\nd.Axis = 3;\n");
  CHECK(changed.desc == Json{{"Axis", 3}});
  CHECK(contains(changed.remarks,
                 "x.cpp:3:1: error: an operator is created before this; the last value counts"));
}

TEST_CASE("from C++: an undeclared variable gets its type from the DML_OPERATOR_DESC") {
  const Made made = make(
      "m_desc.Axis = 3; m_desc.IndicesTensor = nullptr; m_desc.ValuesTensor = nullptr;"
      "m_desc.OutputTensor = nullptr;"
      "DML_OPERATOR_DESC op = {}; op.Type = DML_OPERATOR_ONE_HOT; op.Desc = &m_desc;");
  CHECK(made.findings == "");
  CHECK(made.type == "DML_OPERATOR_ONE_HOT");
}

namespace {

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

TEST_CASE("from C++: every beginning of a text, and texts that repeat or nest without end") {
  const std::string code = read_file(samples + "cpp/padding.cpp");
  const std::string watch = std::string(watch_window) + watch_arrays;
  for (const std::string& text : {code, watch}) {
    for (std::size_t size = 0; size < text.size(); size += 3) {
      const Made made = make(text.substr(0, size));
      CHECK(made.desc.is_object() == made.findings.empty());
    }
  }
  const auto repeated = [](const std::string& part, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += part;
    return text;
  };
  for (const char* part : {"(",       "{",       "[",
                           "<",       "if (",    "a(",
                           "x = (",   "= {",     "-",
                           "!",       "&a.",     "a<",
                           "a->",     "{.a = ",  "for (;;)",
                           "else ",   "\t",      "0x123456789 {",
                           "a = {b=", "#if A\n", "namespace a {",
                           "UINT a[", "int f(",  "?:",
                           "a ? ",    "\"",      "/*",
                           "1e9999"}) {
    CAPTURE(part);
    for (const std::string prefix : {"", "DML_ONE_HOT_OPERATOR_DESC d = {", "0x123456789 {a = "}) {
      try {
        make(prefix + repeated(part, 30'000));
      } catch (const dmlop::Error& error) {
        CHECK(contains(error.what(), "leave only the code of one description"));
      }
    }
  }
  std::string doubling = "UINT a0[4] = {1};\nstd::vector<UINT> v0 = {1, 2, 3, 4};\n";
  for (int i = 1; i < 60; ++i) {
    const std::string last = std::to_string(i - 1);
    doubling += "auto v" + std::to_string(i) + " = std::vector<X>{v" + last + ", v" + last + "};\n";
  }
  CHECK_THROWS_WITH(make(doubling),
                    "x.cpp: the text describes more than 500000 values; leave only the code of one "
                    "description");
  CHECK_THROWS_AS(make(std::string(2'000'000, ' ')), dmlop::Error);
}

TEST_CASE(
    "convert --from-cpp: a file, standard input, --to-op, and dmlop check's word on the result") {
  const Folder folder;
  const auto run = [&](std::vector<std::string> arguments, const std::string& input = "") {
    return dmlop_program(arguments, {.folder = folder.path(), .input = input});
  };
  const std::string cpp = samples + "cpp/padding.cpp";
  const auto printed = run({"convert", "--from-cpp", cpp});
  CHECK(printed.code == 0);
  CHECK(printed.error == "");
  CHECK(run({"convert", "--from-cpp", "-"}, read_file(cpp)).output == printed.output);
  const auto written = run({"convert", "--from-cpp", cpp, "--to-op", "op.json"});
  CHECK(written.output == "wrote op.json\n");
  CHECK(folder.read("op.json") == printed.output);
  CHECK(run({"check", "op.json"}).code == 0);

  const auto refused = run({"convert", "--from-cpp", "-", "--to-op", "no.json"},
                           "DML_ONE_HOT_OPERATOR_DESC d = {};\nd.Axis = n;\n");
  CHECK(refused.code == 3);
  CHECK(contains(refused.error, "standard input:2:10: error: Axis is not known from \"n\""));
  CHECK(!folder.has("no.json"));

  // A description that is whole and wrong is written, and checked.
  const auto wrong = run({"convert", "--from-cpp", "-", "--to-op", "wrong.json"},
                         "DML_ONE_HOT_OPERATOR_DESC d = {};\n");
  CHECK(wrong.code == 3);
  CHECK(folder.has("wrong.json"));
  CHECK(contains(wrong.error, "wrong.json:"));

  // It does not replace a file, and the file keeps what it says.
  folder.write("kept.json", "{}");
  const auto kept = run({"convert", "--from-cpp", "-", "--to-op", "kept.json"},
                        "DML_ONE_HOT_OPERATOR_DESC d = {};\n");
  CHECK(kept.code == 3);
  CHECK(folder.read("kept.json") == "{}");
  CHECK(contains(kept.error, "the description of standard input:"));

  folder.write("large.cpp", std::string(2'000'000, ' '));
  for (const std::string file : {"absent.cpp", ".", "large.cpp"}) {
    CAPTURE(file);
    const auto unread = run({"convert", "--from-cpp", file});
    CHECK(unread.code != 0);
    CHECK(contains(unread.error, "dmlop: error: " + file));
  }

  for (const std::vector<std::string>& more : {std::vector<std::string>{"op.json"},
                                               {"--to-model", "m.json"},
                                               {"-i", "x.npy"},
                                               {"--set", "Axis=1"}}) {
    std::vector<std::string> arguments{"convert", "--from-cpp", cpp};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CHECK(run(arguments).code == 2);
  }
  CHECK(run({"convert"}).code == 2);
  CHECK(run({"convert", "--from-cpp", "op.json", "--to-op", "op.json"}).code != 0);
}
