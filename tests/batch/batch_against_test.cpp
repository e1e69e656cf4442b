// batch --against: jobs are compared with what another device computes, and no golden file is read.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "batch.hpp"
#include "batch/batch.hpp"
#include "paths.hpp"
#include "recorded_device.hpp"

namespace dmlop::test::batch_against_test {
namespace {

namespace fs = std::filesystem;

/// A product of matrices whose sums are rounded in another order on a GPU.
const std::string product = R"({"id": "product", "type": "GEMM", "desc": {"TransA": "NONE",
  "TransB": "NONE", "Alpha": 1, "Beta": 0, "ATensor": {"DataType": "FLOAT32",
  "Sizes": [1, 1, 24, 700]}, "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 700, 24]}},
  "bindings": {"ATensor": {"random": "normal", "seed": 1}, "BTensor": {"random": "normal",
  "seed": 2}}})";

bool has_gpu() {
  if (program_gpu().empty()) MESSAGE("SKIPPED on gpu: dmlop devices lists none");
  return !program_gpu().empty();
}

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

}  // namespace

TEST_CASE("batch --against: operators, graphs and models, whatever their golden files hold") {
  if (!has_gpu()) return;
  const BatchFolder folder;
  fs::create_directory(folder / "jobs");
  for (const std::string sample : {"padding", "graph", "convolutional_network", "split"})
    fs::copy(source_path("samples/") + sample, folder / ("jobs/" + sample),
             fs::copy_options::recursive);
  folder.write("jobs/padding/expected/OutputTensor.npy", "no golden file");
  const auto outcome = folder.run({"jobs", "--against", program_gpu()});
  CHECK(outcome.code() == 0);
  CHECK(outcome.statuses() ==
        "convolutional_network PASSED, graph PASSED, padding PASSED, split PASSED");
  for (const Json& record : outcome.records) {
    CAPTURE(record.dump());
    CHECK(!record.at("comparisons").empty());
  }
  CHECK(outcome.record("split").at("comparisons").size() > 1);
}

TEST_CASE("batch --against: a difference names the device, and its command repeats it") {
  if (!has_gpu()) return;
  const BatchFolder folder;
  folder.write("jobs.jsonl", in_one_line(product));
  CHECK(folder.run({"jobs.jsonl", "--against", program_gpu()}).code() == 0);
  const auto outcome = folder.run({"jobs.jsonl", "--against", program_gpu(), "--atol", "1e-12"});
  CHECK(outcome.code() == 1);
  CHECK(outcome.statuses() == "product FAILED");
  const Json record = outcome.record("product");
  CHECK(contains(record.dump(), program_gpu()));
  CHECK(contains(outcome.program.output, "--against " + program_gpu()));
}

TEST_CASE("batch --against: a record of another comparison proves nothing to --resume") {
  if (!has_gpu()) return;
  const BatchFolder folder({named_job("a")});
  CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 0);
  const std::vector<std::string> again{"jobs.jsonl", "--results", "r.jsonl",
                                       "--resume",   "--against", program_gpu()};
  CHECK(contains(folder.batch(again).output, ": 1 PASSED\n"));
  CHECK(contains(folder.batch(again).output, "1 PASSED (1 from an earlier run)"));
}

TEST_CASE("batch --against: a record of a comparison with another device proves nothing, either") {
  const BatchFolder folder({named_job("a")});
  const auto digest_against = [&](const std::string& name) {
    Record given;
    dmlop::Backend cpu(dmlop::gpu::DeviceRequest{"cpu"});
    dmlop::Backend other(make_recorded_device(given, gpu::Pace::first_work, name));
    dmlop::Diagnostics findings;
    const auto manifest = dmlop::open_manifest({{folder / "jobs.jsonl"}}, findings);
    REQUIRE(manifest != nullptr);
    std::string digest;
    run_batch(*manifest, cpu, {.against = name.empty() ? nullptr : &other, .keep_records = true},
              [&](const dmlop::BatchResult& result) {
                digest = Json::parse(result.record).at("digest").get<std::string>();
              });
    CHECK(digest != "");
    return digest;
  };
  std::set<std::string> digests;
  for (const char* name : {"", "this GPU", "that GPU"}) {
    digests.insert(digest_against(name));
    CHECK(digests.contains(digest_against(name)));
  }
  CHECK(digests.size() == 3);
}

TEST_CASE("batch --against: what contradicts it is refused before anything runs") {
  const BatchFolder folder({named_job("a")});
  struct Row {
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {{"jobs.jsonl", "--against", "cpu"}, "--against cpu is cpu, which runs this already"},
           {{"jobs.jsonl", "--against", "none"}, "none"},
           {{"jobs.jsonl", "--against", "vulkan:0", "--update-golden"}, "--against needs none"},
           {{"jobs.jsonl", "--against", "vulkan:0", "--list"}, "--list runs nothing"},
           {{"--merge", "r.jsonl", "--against", "vulkan:0"}, "--merge runs nothing"}}) {
    const auto result = folder.batch(row.arguments);
    CAPTURE(row.arguments);
    CAPTURE(result.error);
    CHECK(result.code != 0);
    CHECK(contains(result.error, row.message));
    CHECK(result.output == "");
  }
}

}  // namespace dmlop::test::batch_against_test
