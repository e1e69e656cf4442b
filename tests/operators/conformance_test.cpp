// The cases of public suites and of DirectML itself (conformance/README.md), on every backend.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "golden_rules.hpp"
#include "job/job.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "sweep.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::conformance_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

Json read_json(const fs::path& path) {
  std::ifstream stream(path);
  REQUIRE_MESSAGE(stream.good(), path);
  return Json::parse(stream);
}

bool within(double found, double expected, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::abs(found - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

/// "" where the elements agree; without tolerance, bit for bit.
std::string deviation(DataType type, std::span<const std::byte> found,
                      std::span<const std::byte> expected, const Tolerance& tolerance) {
  const bool exact = tolerance.relative == 0 && tolerance.absolute == 0;
  if (exact || found.size() != expected.size()) return difference(type, found, expected);
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at < found.size(); at += size) {
    const double is = element_value(type, &found[at]);
    const double must_be = element_value(type, &expected[at]);
    if (within(is, must_be, tolerance)) continue;
    return "element " + std::to_string(at / size) + " is " + std::to_string(is) + ", must be " +
           std::to_string(must_be);
  }
  return "";
}

/// The case's description with the .npy of its folder bound to its inputs.
JobRequest request_of(const fs::path& folder) {
  JobRequest request{.description_path = (folder / "op.json").string()};
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string tensor = entry.path().stem().string();
    if (entry.path().extension() == ".npy" && tensor != "expected") {
      request.inputs.push_back({tensor, entry.path().string()});
    }
  }
  return request;
}

/// The bound inputs as buffers; how they are laid out is in the kernel.
std::vector<Tensor> buffers_of(const Job& job) {
  std::vector<Tensor> buffers;
  for (const BoundInput& input : job.inputs) {
    const auto data = input.file.data();
    REQUIRE_FALSE(input.file.header().big_endian);
    buffers.push_back({input.file.header().data_type, {}, {}, {data.begin(), data.end()}});
  }
  return buffers;
}

void check_folder(const fs::path& folder, const fs::path& golden, const Tolerance& tolerance) {
  CAPTURE(folder);
  Diagnostics diagnostics;
  const auto job = prepare_job(request_of(folder), Purpose::check, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  const NpyFile expected = NpyFile::open(golden.string());
  const TensorDesc& output = job->description.tensor("OutputTensor");
  REQUIRE(output.data_type == expected.header().data_type);
  REQUIRE(output.sizes == expected.header().sizes);

  const Kernel kernel = only_kernel(make_plan(job->description));
  const std::vector<Tensor> inputs = buffers_of(*job);
  for (const SweptBackend& backend : available_backends()) {
    CAPTURE(backend.name);
    const auto found = execute_guarded(backend, kernel, inputs, 0, output_elements(kernel));
    CHECK(deviation(*output.data_type, found, expected.data(), tolerance) == "");
  }
}

/// The folders of `root` that hold a case, in any depth.
std::vector<fs::path> cases_in(const char* root) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(conformance_path(root))) {
    if (entry.path().filename() == "op.json") folders.push_back(entry.path().parent_path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

TEST_CASE("conformance: 173 cases of public suites") {
  const std::vector<fs::path> folders = cases_in("public");
  CHECK(folders.size() == 173);
  for (const fs::path& folder : folders) {
    const Json json = read_json(folder / "tol.json");
    check_folder(folder, folder / "expected.npy", {json.at("rtol"), json.at("atol")});
  }
}

/// Cases in which dmlop differs on purpose. They are among the golden cases, too, whose test
/// compares all elements but those that an exception names.
constexpr GoldenException exceptions[] = {
#include "golden_exceptions.inc"
};

bool has_exception(const std::string& name) {
  return std::ranges::any_of(exceptions, [&](const auto& one) { return one.name == name; });
}

std::string bytes_of(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void check_is_golden_case(const fs::path& folder, const std::string& name) {
  CAPTURE(name);
  const fs::path golden = conformance_path("golden/open/" + name);
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "case.json") continue;
    ++count;
    CHECK(bytes_of(entry.path()) == bytes_of(golden / fs::relative(entry.path(), folder)));
  }
  CHECK(count >= 3);
}

TEST_CASE("conformance: 594 cases that DirectML computed") {
  const std::vector<fs::path> folders = cases_in("directml");
  CHECK(folders.size() == 600);
  int run = 0, skipped = 0;
  for (const fs::path& folder : folders) {
    const std::string name =
        folder.parent_path().filename().string() + "/" + folder.filename().string();
    if (has_exception(name)) {
      check_is_golden_case(folder, name);
      ++skipped;
      continue;
    }
    ++run;
    const Json about = read_json(folder / "case.json");
    const Json description = read_json(folder / "op.json");
    Tolerance tolerance;
    if (about.at("operator") == "DML_OPERATOR_LP_POOLING") {
      const bool half = description.at("desc").at("InputTensor").at("DataType") == "FLOAT16";
      tolerance = half ? Tolerance{2e-3, 1e-3} : Tolerance{4e-6, 1e-6};
    }
    check_folder(folder, folder / "expected" / "OutputTensor.npy", tolerance);
  }
  CHECK(run == 594);
  CHECK(skipped == 6);
}

}  // namespace
}  // namespace dmlop::test::conformance_test
