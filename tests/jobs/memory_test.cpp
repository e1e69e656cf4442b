// How much memory products take besides their inputs and outputs, and what a large run says it
// takes.
#include <doctest/doctest.h>

#include "batch.hpp"
#include "sanitized.hpp"

namespace dmlop::test::memory_test {
namespace {

/// Runs a description with so many MiB of address space, the program, its threads' stacks and the
/// tensors included.
void check_runs_within(std::uint64_t mebibytes, const Folder& folder, const std::string& tensors) {
  if (is_sanitized || is_windows_program()) return;  // they take address space of their own
  const auto result =
      shell("ulimit -v " + std::to_string(mebibytes << 10) +
                "; exec dmlop run op.json --cpu --threads 2 -o OutputTensor=out.npy " + tensors,
            {.folder = folder.path()});
  CAPTURE(result.error);
  CHECK(result.code == 0);
}

/// So many numbers between -1 and 1.
std::string some_floats(const std::string& shape, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(i * 40503 % 65536) / 32768 - 1;
  return float_npy(shape, numbers);
}

}  // namespace

TEST_CASE("memory: a large run says what it will hold in memory, such as inputs in big endian") {
  if (is_sanitized || is_windows_program()) return;
  const Folder folder;
  folder.write("op.json", R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0], )"
                          R"("InputWindowSizes": [1], "InputWindowStrides": [1]}})");
  for (const auto& [type, held] : {std::pair("<f4", "0.0 GiB"), std::pair(">f4", "1.0 GiB")}) {
    CAPTURE(type);
    // A hole in a file takes no space.
    const std::string path = folder.write("x.npy", npy(type, "(268435456,)", ""));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + (std::size_t{1} << 30));
    // There is no memory for 1 GiB beside the file, so that the test is short.
    const auto result =
        shell("ulimit -v 1500000; exec dmlop run op.json --cpu --threads 1 -i x.npy -o y.npy",
              {.folder = folder.path()});
    CHECK(result.error.starts_with(
        "dmlop: reads 1.0 GiB and writes 0.0 GiB in parts; whole tensors in memory: " +
        std::string(held)));
    CHECK((result.code == 0) == (held == std::string("0.0 GiB")));
  }
}

// One head of 8192 tokens has 256 MiB of scores. Eight of 16,384 tokens, which have 8 GiB, ran in
// 112 MiB, inputs and outputs included.
TEST_CASE("memory: attention does not hold the scores of long sequences") {
  const Folder folder;
  constexpr std::size_t tokens = 8192;
  const std::string sizes = R"({"DataType": "FLOAT32", "Sizes": [1, 8192, 1]})";
  folder.write("op.json", R"({"type": "MULTIHEAD_ATTENTION", "desc": {"QueryTensor": )" + sizes +
                              R"(, "KeyTensor": )" + sizes + R"(, "ValueTensor": )" + sizes +
                              R"(, "OutputTensor": )" + sizes +
                              R"(, "Scale": 1, "HeadCount": 1, "MaskType": "NONE"}})");
  folder.write("x.npy", some_floats("(1, 8192, 1)", tokens));
  check_runs_within(128, folder, "-i QueryTensor=x.npy -i KeyTensor=x.npy -i ValueTensor=x.npy");
}

// The input has 4 MiB; its windows, written out, 196 MiB.
TEST_CASE("memory: a convolution does not hold the windows of its whole input") {
  const Folder folder;
  folder.write("op.json",
               R"({"type": "CONVOLUTION", "desc": {)"
               R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 512, 512]}, )"
               R"("FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 4, 7, 7]}, )"
               R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 512, 512]}, )"
               R"("Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1], )"
               R"("Dilations": [1, 1], "StartPadding": [3, 3], "EndPadding": [3, 3], )"
               R"("OutputPadding": [0, 0], "GroupCount": 1}})");
  folder.write("x.npy", some_floats("(1, 4, 512, 512)", std::size_t{4} * 512 * 512));
  folder.write("filter.npy", some_floats("(4, 4, 7, 7)", std::size_t{4} * 4 * 7 * 7));
  check_runs_within(128, folder, "-i InputTensor=x.npy -i FilterTensor=filter.npy");
}

}  // namespace dmlop::test::memory_test
