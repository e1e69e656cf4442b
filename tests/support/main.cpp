// The test program. Unlike doctest's own main it fails when its filters match no test case, so that
// a misspelt filter cannot pass. With DMLOP_TEST_THRESHOLDS=small all thresholds are small
// (base/threshold.hpp). With DMLOP_TEST_SIMD=SSE4 kernels use that instruction set; "least" is what
// every machine has, and a name that is none lists those of this one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "cpu/simd.hpp"
// After it:
#include <hwy/highway.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/threshold.hpp"
#include "cpu/simd_dispatch.hpp"

namespace {

unsigned cases_run = 0;

struct CaseCounter : doctest::IReporter {
  explicit CaseCounter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& run) override {
    cases_run = run.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

/// From now on kernels use this instruction set only. If there is none of this name here, says
/// which there are, and returns false.
bool use_simd_target(std::string_view name) {
  const auto targets = static_cast<std::uint64_t>(dmlop::cpu::simd_targets());
  std::string names;
  for (std::uint64_t left = targets; left != 0; left &= left - 1) {
    const auto target = static_cast<std::int64_t>(left & -left);  // the best one that is left
    const bool is_last = std::has_single_bit(left);
    if (name == hwy::TargetName(target) || (is_last && name == "least")) {
      dmlop::cpu::limit_simd_targets(target);
      return true;
    }
    names.append(" ").append(hwy::TargetName(target));
  }
  std::fprintf(stderr, "DMLOP_TEST_SIMD is one of%s, not \"%s\"\n", names.c_str(),
               std::string(name).c_str());
  return false;
}

}  // namespace

DOCTEST_REGISTER_LISTENER("case_counter", 1, CaseCounter);

int main(int argument_count, char** arguments) {
  doctest::Context context(argument_count, arguments);
  const char* thresholds = std::getenv("DMLOP_TEST_THRESHOLDS");
  if (thresholds != nullptr && thresholds != std::string_view("small")) {
    std::fprintf(stderr, "DMLOP_TEST_THRESHOLDS is \"small\" or not set, not \"%s\"\n", thresholds);
    return 1;
  }
  if (thresholds != nullptr) dmlop::Threshold::make_small();
  const char* simd = std::getenv("DMLOP_TEST_SIMD");
  if (simd != nullptr && !use_simd_target(simd)) return 1;
  const int status = context.run();
  if (context.shouldExit()) return status;  // a query such as --list-test-cases
  if (cases_run == 0) {
    std::fputs("no test case matches the filters\n", stderr);
    return 1;
  }
  return status;
}
