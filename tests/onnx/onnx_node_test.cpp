// ONNX's own tests of operators: which of them pass on the CPU, which are refused and why. The list
// is onnx_node_tests.txt; DMLOP_UPDATE_GOLDEN=1 writes it. The tests' data are those of the package
// libonnx-testdata, or of the folder that DMLOP_ONNX_TESTS names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/text.hpp"
#include "onnx/test_folder.hpp"

namespace dmlop::test {
namespace {

namespace fs = std::filesystem;

std::string outcome_of(const fs::path& folder) {
  try {
    Diagnostics findings, notes;
    const auto model = onnx::open_onnx(onnx::model_in(folder.string()), findings);
    if (!model) return "unreadable: " + findings.front().message;
    Backend cpu;
    for (const std::string& set : onnx::data_sets_in(folder.string())) {
      const auto outputs = onnx::run_data_set(*model, set, {}, {}, onnx::default_tolerance(), cpu,
                                              {.threads = 1}, findings, notes);
      if (!findings.empty()) return "refused: " + findings.front().message;
      for (const OutputComparison& output : outputs) {
        if (output.comparison.verdict() != Verdict::passed)
          return "differs: " + output.tensor + ": " + output.comparison.summary();
      }
    }
    return "passes";
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

}  // namespace

TEST_CASE("onnx: node tests") {
  const char* chosen = std::getenv("DMLOP_ONNX_TESTS");
  const fs::path root = chosen != nullptr ? chosen : "/usr/share/libonnx-testdata/data/node";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders)
    std::cout << folder.filename().string() << ": " << outcome_of(folder) << "\n";
}

}  // namespace dmlop::test
