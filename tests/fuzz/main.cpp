// dmlop_fuzz: libFuzzer on one of fuzz_targets().
//
//   dmlop_fuzz --target=npy CORPUS -max_total_time=60     fuzzes (libFuzzer's options follow)
//   dmlop_fuzz --target=npy --seeds=CORPUS                writes the seeds that it starts from
//   dmlop_fuzz --targets                                  lists the targets
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include "fuzz/target.hpp"

namespace {

using dmlop::test::FuzzTarget;

const FuzzTarget* target = nullptr;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "dmlop_fuzz: %s\n", message.c_str());
  std::exit(2);
}

const FuzzTarget& target_named(const std::string& name) {
  for (const FuzzTarget& each : dmlop::test::fuzz_targets()) {
    if (each.name == name) return each;
  }
  fail("there is no target \"" + name + "\"; --targets lists them");
}

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto seeds = target->seeds();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(folder / ("seed-" + std::to_string(i)), std::ios::binary);
    file << seeds[i];
  }
  std::printf("%zu seeds of %s in %s\n", seeds.size(), target->name.c_str(), folder.c_str());
}

// Checks of the tests outside of a test case: a failure is a crash, which keeps the input.
void use_doctest_outside_of_tests() {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& check) {
    if (!check.m_failed) return;
    std::fprintf(stderr, "%s:%d: %s( %s ) is wrong: %s\n", check.m_file, check.m_line,
                 doctest::assertString(check.m_at), check.m_expr, check.m_decomp.c_str());
    std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argument_count, char*** arguments) {
  use_doctest_outside_of_tests();
  for (int i = 1; i < *argument_count; ++i) {
    const std::string argument = (*arguments)[i];
    if (argument == "--targets") {
      for (const FuzzTarget& each : dmlop::test::fuzz_targets())
        std::printf("%-12s %s\n", each.name.c_str(), each.what_it_reads);
      std::exit(0);
    }
    if (argument.starts_with("--target=")) target = &target_named(argument.substr(9));
    if (argument.starts_with("--seeds=") && target != nullptr) {
      write_seeds(argument.substr(8));
      std::exit(0);
    }
  }
  if (target == nullptr) fail("name a target: --target=NAME; --targets lists them");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    target->run(std::as_bytes(std::span(data, size)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a finding: %s\n", error.what());
    std::abort();
  }
  return 0;
}
