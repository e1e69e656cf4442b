// The functions that are fuzzed. They must survive any bytes. dmlop_fuzz feeds them libFuzzer's
// bytes; fuzz_test.cpp feeds them the seeds and everything that was found before.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dmlop::test {

/// A target reports a fault by throwing or by crashing.
struct FuzzTarget {
  std::string name;
  const char* what_it_reads;
  void (*run)(std::span<const std::byte> bytes);
  /// Inputs that lead far into the code. The fuzzer starts from them.
  std::vector<std::string> (*seeds)();
};

/// One row for each file of this folder.
const std::vector<FuzzTarget>& fuzz_targets();

/// A fault found by a target itself: something does not hold that must.
void require(bool holds, const std::string& what);

void fuzz_npy(std::span<const std::byte> bytes);
std::vector<std::string> npy_seeds();
void fuzz_description(std::span<const std::byte> bytes);
std::vector<std::string> description_seeds();
void fuzz_check(std::span<const std::byte> bytes);
std::vector<std::string> check_seeds();
void fuzz_graph(std::span<const std::byte> bytes);
std::vector<std::string> graph_seeds();
void fuzz_onnx(std::span<const std::byte> bytes);
std::vector<std::string> onnx_seeds();
void fuzz_batch(std::span<const std::byte> bytes);
std::vector<std::string> batch_seeds();
void fuzz_cpp(std::span<const std::byte> bytes);
std::vector<std::string> cpp_seeds();
void fuzz_structs(std::span<const std::byte> bytes);
std::vector<std::string> structs_seeds();
void fuzz_operators(std::span<const std::byte> bytes);
std::vector<std::string> operators_seeds();

}  // namespace dmlop::test
