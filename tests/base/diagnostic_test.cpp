// What base/diagnostic.hpp promises.
#include "base/diagnostic.hpp"

#include <doctest/doctest.h>

namespace dmlop::diagnostic_test {

using dmlop::Diagnostic;
using dmlop::Diagnostics;
using dmlop::ErrorKind;

TEST_CASE("a finding as text: place, message, then rule and help where there are any") {
  const Diagnostic full{.file = "pad.json",
                        .line = 9,
                        .column = 37,
                        .message = "is 11, must be 10",
                        .rule = "4 + 2 + 4",
                        .suggestion = "write 10"};
  CHECK(to_text(full) ==
        "pad.json:9:37: error: is 11, must be 10\n"
        "  rule: 4 + 2 + 4\n"
        "  help: write 10");
  CHECK(to_text(Diagnostic{.message = "lost"}) == "error: lost");
  CHECK(to_text(Diagnostic{.file = "pad.json", .message = "lost"}) == "pad.json: error: lost");
}

TEST_CASE("findings stand in the file's order; those without a place come last, as they came") {
  const auto at = [](std::uint32_t line, std::uint32_t column, const char* message) {
    return Diagnostic{.line = line, .column = column, .message = message};
  };
  Diagnostics diagnostics{at(0, 0, "f"), at(2, 1, "d"), at(1, 9, "b"), at(1, 2, "a"),
                          at(0, 0, "g"), at(1, 9, "c"), at(10, 1, "e")};
  dmlop::sort_by_position(diagnostics);
  std::string order;
  for (const Diagnostic& diagnostic : diagnostics) order += diagnostic.message;
  CHECK(order == "abcdefg");
}

TEST_CASE("the kind that decides: input, then files, then what is not available, then usage") {
  const auto worst = [](std::vector<ErrorKind> kinds) {
    Diagnostics diagnostics;
    for (const ErrorKind kind : kinds) diagnostics.push_back({.kind = kind});
    return dmlop::worst_kind(diagnostics);
  };
  CHECK(worst({ErrorKind::usage}) == ErrorKind::usage);
  CHECK(worst({ErrorKind::usage, ErrorKind::unavailable}) == ErrorKind::unavailable);
  CHECK(worst({ErrorKind::unavailable, ErrorKind::invalid_input}) == ErrorKind::invalid_input);
  CHECK(worst({ErrorKind::unavailable, ErrorKind::io_failed}) == ErrorKind::io_failed);
  CHECK(worst({ErrorKind::invalid_input, ErrorKind::io_failed}) == ErrorKind::invalid_input);
}

TEST_CASE("an exception is a finding, but an interruption ends what collects findings") {
  const Diagnostic finding = finding_of(Error(ErrorKind::io_failed, "no such file"), "reading x");
  CHECK(finding.message == "reading x: no such file");
  CHECK(finding.kind == ErrorKind::io_failed);
  CHECK(finding_of(Error(ErrorKind::usage, "wrong")).message == "wrong");
  try {
    finding_of(Error(ErrorKind::interrupted, "stopped"), "reading x");
    FAIL("an interruption became a finding");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::interrupted);
    CHECK(error.what() == std::string("stopped"));
  }
}

}  // namespace dmlop::diagnostic_test
