// ONNX's own tests of operators: which of them pass on the CPU, which are refused and why, and
// which differ. onnx_node_tests.txt lists them; DMLOP_UPDATE_GOLDEN=1 writes it. The tests' data
// are those of the package libonnx-testdata, or of the folder that DMLOP_ONNX_TESTS names, which
// has other tests beside the listed ones.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/path.hpp"
#include "base/text.hpp"
#include "onnx/test_folder.hpp"
#include "paths.hpp"

namespace dmlop::test::onnx_node_test {
namespace {

namespace fs = std::filesystem;

const std::string list_path = source_path("tests/onnx/onnx_node_tests.txt");

/// Tests that a result of DirectML cannot pass, and why.
const std::map<std::string, std::string> differences{
    {"test_maxunpool_export_with_output_shape",
     "ONNX counts indices in the output without output_shape, DirectML in the output"},
    {"test_resize_downsample_scales_linear_align_corners",
     "ONNX uses the size before it is rounded down, the provider the output's"},
    {"test_resize_downsample_sizes_linear_pytorch_half_pixel",
     "the provider looks whether the input has one pixel, ONNX whether the output has"},
    // Of later versions than the list's.
    {"test_resize_downsample_scales_linear_antialias", "DirectML's weights are its own"},
    {"test_resize_downsample_sizes_linear_antialias", "DirectML's weights are its own"},
    {"test_resize_tf_crop_and_resize_axes_2_3",
     "the provider takes a region of less than one pixel for one"},
    {"test_resize_tf_crop_and_resize_axes_3_2",
     "the provider takes a region of less than one pixel for one"},
    {"test_roialign_mode_max", "DirectML's maximum is that of the interpolated samples"},
};

/// The message without what stands in quotation marks, which are names and paths.
std::string reason_of(const Diagnostics& findings) {
  const Diagnostic& first = findings.front();
  const std::size_t name = first.message.find('"');
  const std::size_t end = name == std::string::npos ? name : first.message.find('"', name + 1);
  if (end == std::string::npos) return first.message;
  return first.message.substr(0, name) +
         first.message.substr(std::min(end + 2, first.message.size()));
}

std::string outcome_of(const fs::path& folder) {
  Diagnostics findings, notes;
  const std::string name = to_text(folder);
  const auto model = onnx::open_onnx(onnx::model_in(name), findings);
  if (!model) return "unreadable: " + findings.front().message;
  dmlop::Backend cpu;
  std::size_t compared = 0;
  for (const std::string& set : onnx::data_sets_in(name)) {
    const auto data = onnx::prepare_data_set(*model, set, {}, {}, findings, notes);
    if (!data) return "refused: " + reason_of(findings);
    for (const Diagnostic& note : notes)
      if (note.message.find("but the model says") != std::string::npos)
        return "warned: " + note.message;
    for (const OutputComparison& output :
         onnx::run_data_set(*data, onnx::default_tolerance(), cpu, {.threads = 1})) {
      ++compared;
      if (output.comparison.verdict() != Verdict::passed) return "differs";
    }
  }
  return compared > 0 ? "passes" : "compares nothing";
}

std::string outcome_or_error(const fs::path& folder) {
  try {
    return outcome_of(folder);
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

std::map<std::string, std::string> listed_outcomes() {
  std::map<std::string, std::string> listed;
  std::ifstream file(list_path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t middle = line.find(' ');
    if (!line.starts_with('#') && middle != std::string::npos)
      listed.emplace(line.substr(0, middle), line.substr(middle + 1));
  }
  return listed;
}

void write_list(const std::map<std::string, std::string>& outcomes) {
  std::ofstream file(list_path);
  file << "# What becomes of ONNX's tests of operators (libonnx-testdata 1.12). Written by "
          "onnx_node_test.\n";
  for (const auto& [name, outcome] : outcomes) file << name << " " << outcome << "\n";
}

std::optional<fs::path> tests_folder() {
  const char* chosen = std::getenv("DMLOP_ONNX_TESTS");
  const fs::path root = chosen != nullptr ? chosen : "/usr/share/libonnx-testdata/data/node";
  std::error_code error;
  if (fs::is_directory(root, error)) return root;
  return std::nullopt;
}

/// Whether the provider has the operator: the test is none of those that it cannot pass.
bool is_of_directml(const std::string& outcome) {
  for (const char* reason :
       {"the provider computes it with a shader", "it runs other nodes", "it works on",
        "does not have this operator", "does not read this operator", "depend on the values",
        "its output is random", "replaces it by the nodes", "which DirectML does not have",
        "of ONNX's operators"}) {
    if (outcome.find(reason) != std::string::npos) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("onnx: ONNX's tests of operators pass, or are refused with a reason") {
  const auto root = tests_folder();
  if (!root) {
    MESSAGE("skipped: install libonnx-testdata, or name a folder of tests in DMLOP_ONNX_TESTS");
    return;
  }
  std::map<std::string, std::string> outcomes;
  for (const auto& entry : fs::directory_iterator(*root))
    outcomes.emplace(to_text(entry.path().filename()), outcome_or_error(entry.path()));
  if (std::getenv("DMLOP_UPDATE_GOLDEN") != nullptr) write_list(outcomes);
  const auto listed = listed_outcomes();
  // Later versions have more tests, and some are refused for another reason.
  const bool is_listed_version = outcomes.size() == listed.size();
  std::size_t possible = 0, passed = 0;
  for (const auto& [name, outcome] : outcomes) {
    CAPTURE(name);
    possible += is_of_directml(outcome) ? 1 : 0;
    passed += outcome == "passes" ? 1 : 0;
    const bool is_known = outcome == "passes" || outcome.starts_with("refused: ") ||
                          (outcome == "differs" && differences.contains(name));
    CHECK_MESSAGE(is_known, outcome);
    const auto found = listed.find(name);
    const bool may_differ = !is_listed_version && outcome.starts_with("refused: ") &&
                            found != listed.end() && found->second.starts_with("refused: ");
    if (found != listed.end() && !may_differ) CHECK(outcome == found->second);
  }
  CHECK(outcomes.size() >= 900);
  CHECK(4 * passed >= 3 * possible);
  MESSAGE(passed << " pass of " << possible << " that the provider has, and of " << outcomes.size()
                 << " in all");
}

}  // namespace dmlop::test::onnx_node_test
