// Conditions and loops in C++: what the text decides is run, and the rest makes nothing up.
#include <doctest/doctest.h>

#include "cpp_text.hpp"

namespace dmlop::test::cpp_control_test {
namespace {

using Made = MadeOfCpp;

}  // namespace

TEST_CASE("from C++: a loop that only reads changes nothing that it reads") {
  // How often each runs is not known.
  const char* const loops[] = {
      "for (UINT i = 0; i < count; ++i) printf(\"%u\", a[i]);",
      "for (UINT i = 0; i < count; ++i) { total += a[i]; }",
      "for (UINT i = 0; a[i] != count; i++) total *= a[i];",
      "while (total < count) total += a[0];",
      "for (UINT s : a) { if (s == count) break; total += s; }",
      "for (const auto& s : a) { if (s == count) continue; std::cout << s; }",
      "for (UINT& s : other) { s = a[0]; if (total > count) break; }",
      "do { total += a[0]; } while (total < count);",
      "if (a[0] > count) printf(\"%u\", a[1]);",
      "switch (count) { case 1: total = a[0]; break; default: total = a[1]; }",
  };
  for (const std::string loop : loops) {
    for (const std::string array : {"UINT a[] = {5, 6};", "std::vector<UINT> a = {5, 6};"}) {
      CAPTURE(array);
      CAPTURE(loop);
      const std::string code = array + " UINT other[] = {1, 2}; UINT total = 0; " + loop;
      const Made read = make_axis(code, "a[0] + a[1]");
      CHECK(read.findings == "");
      if (read.findings.empty()) CHECK(read.desc.at("Axis") == 11);
    }
  }
}

TEST_CASE(
    "from C++: what a loop or a branch that is not decided assigns is refused, with the reason") {
  const std::pair<std::string, std::string> rows[] = {
      {"for (UINT i = 0; i < count; ++i) n = 2;",
       "whether \"i < count\" holds is not known: count is not declared in this text "
       "(give it: -D count=VALUE)"},
      {"if (count > 1) n = 2;", "whether \"count > 1\" holds is not known: count is not declared"},
      {"if (count > 1) {} else n = 2;", "whether \"count > 1\" holds is not known"},
      {"if (n == 8) {} else if (count) n = 2; else n = 3;", "whether \"count\" holds is not known"},
      {"for (UINT i = 0; i < 4; ++i) { if (i == count) break; n = i; }",
       "whether a break in the loop runs is not known"},
      {"for (UINT i = 0; i < 4; ++i) { if (i == count) continue; n = i; }",
       "it is assigned under a condition"},
      {"for (UINT i = 0; i < 2000; ++i) n = i;", "the loop runs more than 1024 times"},
      {"for (;;) n = 2;", "the loop runs more than 1024 times"},
      {"while (true) { n = 2; if (count) break; }",
       "whether a break in the loop runs is not known"},
      {"for (UINT i = 0; i < 900; ++i) for (UINT j = 0; j < 900; ++j) n = j;",
       "take more than 100000 steps"},
      {"for (UINT s : Sizes()) n = s;", "what the loop goes over is not known"},
      {"for (auto [s, t] : pairs) n = s;", "the head of the loop is not understood"},
      {"switch (count) { case 1: n = 2; }", "the case of a switch is not known: count"},
      {"UINT m = 4; switch (m) { case 1: n = 2; case count: n = 3; }", "the case of a switch"},
      {"UINT m = 1; for (UINT i = 0; i < count; ++i) { n = m; m = 2; }", "it is assigned under"},
      {"bool b = false; for (UINT i = 0; i < 3; ++i) { if (count) b = true; if (b) n = 2; }",
       "whether \"b\" holds is not known: it is assigned under a condition"},
  };
  for (const auto& [code, reason] : rows) {
    CAPTURE(code);
    const Made made = make_axis("UINT n = 7; " + code, "n");
    CAPTURE(made.findings);
    CHECK(contains(made.findings, reason));
  }
}

TEST_CASE("from C++: what a loop may change is not read as if it ran once") {
  // The description inside sees the loop's own variable.
  for (const std::string loop : {"for (UINT i = 0; i < count; ++i)", "for (UINT i : sizes)",
                                 "UINT i = 0; while (i++ < 4)"}) {
    CAPTURE(loop);
    const Made made =
        make(loop + " { DML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, i}; }");
    CHECK(contains(made.findings, "Axis is not known from \""));
  }
}

TEST_CASE("from C++: of the branches that the text decides, one counts") {
  const std::string desc = "DML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, ";
  const Made made =
      make("const bool half = false;\nif (half) {" + desc + "1}; } else {" + desc + "2}; }");
  CHECK(made.findings == "");
  CHECK(made.desc == nlohmann::ordered_json{{"Axis", 2}});
  CHECK(make_axis("UINT n = 1; if (n == 2) return; n = 3;", "n").desc.at("Axis") == 3);
  CHECK(make_axis("UINT n = 1; if (n == 1) { n = 4; } else { n = count; }", "n").findings == "");
}

}  // namespace dmlop::test::cpp_control_test
