// C++ as people paste it: what each way of writing a value means.
#include "cpp_text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace dmlop::test::cpp_text_test {
namespace {

using Json = nlohmann::ordered_json;
using Made = MadeOfCpp;

struct Row {
  std::string code;
  std::string expression;
  Json value;
};

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
      {"#if 0\nUINT n = 9; f({\n#endif\nUINT n = 4;", "n", 4},
      {"#if 1\nUINT n = 4;\n#else\nUINT n = 9;\n#endif", "n", 4},
      {"#if 0\n#if A\nx\n#else\ny\n#endif\n#elif 1\nUINT n = 4;\n#endif", "n", 4},
      {"#define A\n#ifdef A\nUINT n = 4;\n#else\nUINT n = 9;\n#endif", "n", 4},
      {"#undef A\n#ifndef A\nUINT n = 4;\n#else\nUINT n = 9;\n#endif", "n", 4},
      {"#define A 1\n#if !A\nUINT n = 9;\n#elif defined(A)\nUINT n = 4;\n#endif", "n", 4},
      {"namespace a { constexpr UINT n = 4; }", "a::n", 4},
      {"namespace a::b { constexpr UINT n = 4; }\nUINT n = 9;", "a::b::n", 4},
      {"namespace a { namespace b { constexpr UINT n = 4; } }", "::a::b::n", 4},
      {"namespace { constexpr UINT n = 4; }", "n", 4},
      {"extern \"C\" { const UINT n = 4; }", "n", 4},
      {"namespace a { const UINT n = 4; }\nusing namespace a;", "n", 4},
      {"namespace a { const UINT n = 4; }\nusing a::n;", "n", 4},
      {"enum { a, b = 3, c };", "a + b + c", 7},
      {"enum Layout : UINT { a = 1, b = a << 2 };", "b + Layout::a", 5},
      {"enum class Layout { a = 1, b };\nUINT a = 9;", "static_cast<UINT>(Layout::b)", 2},
      {"namespace a { enum { n = 4 }; }", "a::n", 4},
      {"if (x) { y = 1; }", "1", 1},
      {"// n = 4\n/* ; } { */", "1", 1},
      {"UINT n = 3; /*/ n = 9; /**/ n += 1;", "n", 4},
      {"UINT n = 3; /**/ n = 5; /***/", "n", 5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code);
    CAPTURE(row.expression);
    const Made made = make_axis(row.code, row.expression);
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Axis") == row.value);
  }
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif
// What the compiler says: literals have types, and operands are converted before they are compared,
// divided and shifted.
TEST_CASE("from C++: expressions have the value that the compiler gives them") {
#define ROW(...) \
  { #__VA_ARGS__, static_cast < std::uint32_t>(__VA_ARGS__) }
  const std::pair<std::string, std::uint32_t> rows[] = {
      ROW(0xFFFFFFFF),
      ROW(0xFFFFFFFF > 0),
      ROW(4294967295 > -1),
      ROW(0xFFFFFFFF > -1),
      ROW(0x80000000 > -1),
      ROW(2147483648 > -1),
      ROW(037777777777 > -1),
      ROW(0xFFFFFFFFF > -1),
      ROW(-1 > 0u),
      ROW(-1 > 0),
      ROW(-1 > 0ull),
      ROW(-1 > 0ll),
      ROW(-1ll > 0u),
      ROW(0x80000000 >> 31),
      ROW(-8 >> 1),
      ROW(-8u >> 1),
      ROW(~0 >> 1),
      ROW(~0u >> 1),
      ROW(~0ull >> 63),
      ROW(1ull << 40 >> 38),
      ROW(-7 / 2),
      ROW(-7 % 3),
      ROW(7 % -3),
      ROW(-7u / 2),
      ROW(-7 / 2u),
      ROW(1u - 2 > 0),
      ROW(1 - 2 > 0),
      ROW(1 ? -1 : 0u),
      ROW((1 ? -1 : 0u) > 0),
      ROW((1 ? -1 : 0ull) / 4294967296),
      ROW(10 - 3 - 2),
      ROW(2 + 3 * 4 - 20 / 6 % 2),
      ROW(1 | 6 ^ 3 & 5),
      ROW(1 << 2 + 1),
      ROW(5 > 3 == 1),
      ROW(!5 + !0),
      ROW(0 || 3 && 0 || 2),
      ROW(-(-3) + +4),
      ROW(0b1011 + 017 + 0xAb + 1'0),
      ROW(3.9f * 2),
      ROW(7 / 2 * 2.0),
      // An int that becomes a float is rounded.
      ROW(16777217 - 1.0f),
      ROW(-(1.0f - 16777217)),
      ROW(16777217 - 1.0),
      ROW((unsigned char)300 + 1),
      ROW((short)40000),
      // What is smaller than int becomes one, with its sign.
      ROW((unsigned char)1 - 2 > 0),
      ROW((unsigned short)1 - 2 > 0),
      ROW((signed char)1 - 2 > 0),
      ROW((short)1 - 2 > 0),
      ROW((bool)1 - 2 > 0),
      ROW((unsigned)1 - 2 > 0),
      ROW(((unsigned char)1 - 4) / 2),
      ROW((unsigned short)40000 - 40008 >> 1),
      ROW(~(unsigned char)1 > 0),
      ROW((unsigned short)-1),
      ROW((int)3.99 + (int)-3.99),
      ROW(sizeof(double) + sizeof(short) * 10),
      ROW(true + true),
      ROW(1 ? 1.5f : 2),
  };
#undef ROW
  for (const auto& row : rows) {
    CAPTURE(row.first);
    const Made made = make_axis("", row.first);
    CHECK(made.findings == "");
    if (made.findings.empty()) CHECK(made.desc.at("Axis") == row.second);
  }
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

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

TEST_CASE("from C++: infinity and NaN have the names that C++ has for them, and no others") {
  const std::pair<std::string, std::string> words[] = {
      {"INFINITY", "inf"},
      {"std::numeric_limits<float>::infinity()", "inf"},
      {"std::numeric_limits<double>::infinity()", "inf"},
      {"std::numeric_limits<FLOAT>::infinity()", "inf"},
      {"NAN", "nan"},
      {"std::numeric_limits<float>::quiet_NaN()", "nan"},
      {"std::numeric_limits<double>::quiet_NaN()", "nan"},
      {"std::numeric_limits<FLOAT>::quiet_NaN()", "nan"}};
  for (const std::string sign : {"", "+", "-", "- -", "-+", "- - -"}) {
    const bool is_negative = std::ranges::count(sign, '-') % 2 == 1;
    for (const auto& [word, value] : words) {
      for (const std::string& expression : {sign + word, sign + "(" + word + ")"}) {
        CAPTURE(expression);
        const Made made = make_alpha("", expression);
        CHECK(made.findings == "");
        const std::string expected = is_negative && value == "inf" ? "-inf" : value;
        if (made.findings.empty()) CHECK(made.desc.at("Alpha") == expected);
      }
    }
    for (const std::string word :
         {"Infinity", "infinity", "inf", "INF", "Inf", "nan", "NaN", "Nan",
          "std::numeric_limits<float>::INFINITY()", "std::numeric_limits<float>::quiet_nan()"}) {
      CAPTURE(word);
      CHECK(contains(make_alpha("", sign + word).findings, "Alpha is not known from"));
    }
  }
}

TEST_CASE("from C++: every limit of every type is that of C++") {
  const auto check = [](const std::string& type, auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    std::vector<std::pair<std::string, double>> members{
        {"max", Limits::max()}, {"min", Limits::min()}, {"lowest", Limits::lowest()}};
    if (!Limits::is_integer) members.emplace_back("epsilon", Limits::epsilon());
    for (const auto& [member, value] : members) {
      // As a FLOAT, with what FLOAT does not hold moved into its range.
      const double factor = std::abs(value) > 1e100       ? 0x1p-900
                            : value < 1e-100 && value > 0 ? 0x1p900
                                                          : 1;
      const std::string expression = "std::numeric_limits<" + type + ">::" + member + "()";
      const std::string scaled =
          factor == 1 ? expression : expression + (factor < 1 ? " * 0x1p-900" : " * 0x1p900");
      CAPTURE(scaled);
      const Made made = make_alpha("", scaled);
      CHECK(made.findings == "");
      if (!made.findings.empty()) continue;
      CHECK(static_cast<float>(made.desc.at("Alpha").get<double>()) ==
            static_cast<float>(value * factor));
    }
  };
  check("float", 0.0F);
  check("FLOAT", 0.0F);
  check("double", 0.0);
  check("int8_t", std::int8_t{});
  check("uint8_t", std::uint8_t{});
  check("INT16", std::int16_t{});
  check("unsigned short", std::uint16_t{});
  check("int", 0);
  check("UINT", 0U);
  check("std::int64_t", std::int64_t{});
  check("UINT64", std::uint64_t{});
  check("size_t", std::uint64_t{});
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

TEST_CASE("from C++: a scalar union by each of its members, and by its bytes") {
  const Row rows[] = {
      {"INT32", ".Int32 = -5", -5},
      {"UINT64", ".UInt64 = 18446744073709551615ull", 18446744073709551615ull},
      {"FLOAT32", ".Float32 = 0.1f", 0.1},
      {"FLOAT64", ".Float64 = 0.1", 0.1},
      {"FLOAT16", ".UInt16 = 0x3C00", Json{{"UInt16", 15360}}},
      {"FLOAT32", "{0, 0, 0xC0, 0x3F}", 1.5},
      {"INT16", "{0xFE, 0xFF}", -2},
      {"FLOAT64", "{0, 0, 0, 0, 0, 0, 0xF8, 0x3F}", 1.5},
      {"FLOAT64", "{1, 0, 0, 0, 0, 0, 0xF0, 0xBF}", -1.0000000000000002},
      {"INT64", "{0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}", 9223372036854775806},
      {"UINT32", "{1, 2, 3, 4}", 0x04030201},
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
  CHECK(contains(made.warnings, "ATensor.TotalTensorSizeInBytes is left out"));
  CHECK(contains(made.warnings, "add is passed to Create; what that changes in it is not known"));
}

TEST_CASE("from C++: what a description may leave out and DirectML may not is a warning") {
  const std::string text = R"(
    UINT s[] = {2, 3};
    DML_BUFFER_TENSOR_DESC b = {};
    b.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
    b.DimensionCount = 2;
    b.Sizes = s;
    DML_TENSOR_DESC t = {DML_TENSOR_TYPE_BUFFER, &b};
    DML_GEMM_OPERATOR_DESC d = {};
    d.ATensor = &t;
    d.BTensor = &t;)";
  const Made forgotten = make(text);
  CHECK(forgotten.findings == "");
  CHECK(
      contains(forgotten.warnings, "ATensor.TotalTensorSizeInBytes is 0, which DirectML refuses"));
  CHECK(contains(forgotten.warnings, "in C++, set it to what DMLCalcBufferTensorSize returns"));
  CHECK(contains(forgotten.warnings, "OutputTensor is null, which DirectML refuses"));
  CHECK_FALSE(contains(forgotten.warnings, "CTensor"));  // optional
  CHECK_FALSE(forgotten.desc.contains("OutputTensor"));
  const Made complete = make(text + "d.OutputTensor = &t; b.TotalTensorSizeInBytes = 24;");
  CHECK(complete.warnings == "");
}

TEST_CASE(
    "from C++: memory that is set to zero, and values that change after the operator is made") {
  const Made zeroed = make(
      "DML_ONE_HOT_OPERATOR_DESC d;\nZeroMemory(&d, sizeof(d));\nd.Axis = 2;\n"
      "device->CreateOperator(&d);");
  CHECK(zeroed.findings == "");
  CHECK(
      contains(zeroed.warnings, "IndicesTensor is null, which DirectML refuses; the description "));
  CHECK(contains(zeroed.warnings, "help: in C++, point it to a DML_TENSOR_DESC"));
  CHECK(contains(zeroed.warnings, "OutputTensor is null"));
  CHECK(zeroed.desc == Json{{"Axis", 2}});
  CHECK(make("DML_ONE_HOT_OPERATOR_DESC d; memset(&d, 0, sizeof d);").desc == Json{{"Axis", 0}});
  CHECK(contains(make("DML_ONE_HOT_OPERATOR_DESC d; memset(&d, 1, sizeof d);").findings,
                 "this changes it, and is not evaluated"));
  CHECK(contains(make_axis("UINT a[] = {1}; memset(a, 0, sizeof a);", "a[0]").findings,
                 "this changes it, and is not evaluated"));
  const Made changed =
      make("DML_ONE_HOT_OPERATOR_DESC d = {};\ndevice->CreateOperator(&d);\nd.Axis = 3;\n");
  CHECK(changed.desc == Json{{"Axis", 3}});
  CHECK(contains(changed.warnings,
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

}  // namespace dmlop::test::cpp_text_test
