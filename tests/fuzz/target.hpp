// What is fuzzed: functions that must survive any bytes. dmlop_fuzz gives them bytes of
// libFuzzer's, without end; fuzz_test.cpp gives them the seeds and what was found before.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dmlop::test {

/// A target reports what it finds by throwing, or by crashing.
struct FuzzTarget {
  std::string name;
  const char* what_it_reads;
  void (*run)(std::span<const std::byte> bytes);
  /// Inputs that lead far into the code: what the fuzzer starts from.
  std::vector<std::string> (*seeds)();
};

/// A row for each file of this folder.
const std::vector<FuzzTarget>& fuzz_targets();

/// A finding of a target itself: something that must hold does not.
void require(bool holds, const std::string& what);

void fuzz_npy(std::span<const std::byte> bytes);
std::vector<std::string> npy_seeds();
void fuzz_description(std::span<const std::byte> bytes);
std::vector<std::string> description_seeds();
void fuzz_check(std::span<const std::byte> bytes);
std::vector<std::string> check_seeds();
void fuzz_batch(std::span<const std::byte> bytes);
std::vector<std::string> batch_seeds();
void fuzz_operators(std::span<const std::byte> bytes);
std::vector<std::string> operators_seeds();

}  // namespace dmlop::test
