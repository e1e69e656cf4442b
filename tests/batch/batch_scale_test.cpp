// dmlop batch with many jobs, with many workers and on a GPU gives the same results.
#include <doctest/doctest.h>

#include <limits>

#include "batch.hpp"
#include "paths.hpp"
#include "sanitized.hpp"

namespace dmlop::test::batch_scale_test {
namespace {

const std::string samples = source_path("samples");

/// What a record says that must be the same in every run.
std::string essence(Json record) {
  for (const char* name : {"seconds", "timings", "repeat", "digest", "outputs"}) {
    if (name == std::string("outputs") && record.contains(name)) continue;
    record.erase(name);
  }
  if (record.contains("outputs")) {
    for (auto& output : record.at("outputs")) output.erase("file");
  }
  if (record.contains("comparisons")) {
    for (auto& comparison : record.at("comparisons")) comparison.erase("actual");
  }
  return record.dump();
}

/// The most memory that a batch of so many jobs took, in KiB, once it is done with all of them.
long peak_memory(const BatchFolder& folder, int jobs) {
  std::string text;
  for (int i = 0; i < jobs; ++i) text += named_job("job/" + std::to_string(i)) + "\n";
  folder.write("many.jsonl", text);
  const auto result = shell(
      "mkfifo jobs; dmlop batch - --cpu --jobs 2 --results r.jsonl < jobs & id=$!\n"
      "exec 3> jobs; cat many.jsonl >&3\n"
      "until [ \"$(grep -c . r.jsonl 2> /dev/null)\" = " +
          std::to_string(jobs) +
          " ]\n"
          "do sleep 0.05; done\n"
          "grep VmHWM /proc/$id/status | tr -dc 0-9; echo; exec 3>&-; wait $id",
      {.folder = folder.path()});
  CHECK(result.code == 0);
  CHECK(contains(result.output, "on cpu: " + std::to_string(jobs) + " PASSED"));
  std::filesystem::remove(folder / "jobs");
  return std::stol(result.output);
}

bool has_gpu() {
  if (!program_gpu().empty()) return true;
  MESSAGE("SKIPPED on gpu: dmlop devices lists none");
  return false;
}

}  // namespace

TEST_CASE("results depend neither on --jobs nor on --threads") {
  const Folder folder;
  // Files are slow to open in Wine: there these are the cases of every operator, run two times.
  const bool is_slow = is_windows_program();
  const std::string many_cases = conformance_path() + std::string(is_slow ? "/directml" : "");
  std::map<std::string, std::string> first;
  const auto run = [&](const std::string& jobs, const std::string& threads) {
    std::vector<std::string> arguments{"batch", many_cases,   "--cpu",     "--jobs", jobs,
                                       "--out", "out" + jobs, "--results", "r.jsonl"};
    if (!threads.empty()) arguments.insert(arguments.end(), {"--threads", threads});
    const auto result = dmlop_program(arguments, {.folder = folder.path()});
    std::map<std::string, std::string> results{{"exit code", std::to_string(result.code)}};
    for (const Json& record : read_records(folder.read("r.jsonl"))) {
      if (record.contains("id")) results[record.at("id")] = essence(record);
    }
    return results;
  };
  first = run("1", "1");
  CHECK(first.size() > 500);
  std::vector<std::pair<std::string, std::string>> rows{{"8", "16"}};
  if (!is_slow) rows.insert(rows.end(), {{"1", "3"}, {"2", ""}, {"8", "1"}});
  for (const auto& row : rows) {
    const auto& jobs = row.first;
    const auto& threads = row.second;
    CAPTURE(jobs);
    CAPTURE(threads);
    CHECK((run(jobs, threads) == first));
  }
}

TEST_CASE("ten thousand jobs from JSON Lines, and memory stays flat") {
  const BatchFolder folder;
  const long few = peak_memory(folder, is_sanitized ? 100 : 1'000);
  const long many = peak_memory(folder, is_sanitized ? 1'000 : 10'000);
  CHECK(few > 1000);
  if (!is_sanitized) CHECK(many - few < 8 * 1024);
}

TEST_CASE("batch on a GPU: the samples pass, also by several workers, and equal the CPU's") {
  if (!has_gpu()) return;
  const Folder folder;
  const auto on = [&](const std::string& device, const std::string& jobs, const std::string& more) {
    return shell(
        "unset DMLOP_DEVICE DMLOP_VULKAN_VALIDATION; export XDG_CACHE_HOME=$PWD/cache; "
        "dmlop batch '" +
            samples +
            "' --filter padding --filter lp_pooling --filter slice1 --filter reverse_subsequences"
            " --device " +
            device + " --jobs " + jobs + more,
        {.folder = folder.path()});
  };
  const std::string count = " 4 PASSED";
  REQUIRE(on("cpu", "2", " --out cpu").code == 0);
  for (const char* jobs : {"1", "4"}) {
    const auto result = on(program_gpu(), jobs, " --out gpu --results r.jsonl");
    CHECK_FALSE(contains(result.error, "error"));  // slow machines show progress there
    CHECK_FALSE(contains(result.error, "warning"));
    CHECK(result.code == 0);
    CHECK(contains(result.output, "on " + program_gpu() + ":" + count));
    for (const Json& record : read_records(folder.read("r.jsonl"))) {
      if (!record.contains("id")) continue;
      CHECK(record.at("device") == program_gpu());
      const std::string output = "/" + record.at("id").get<std::string>() + "/OutputTensor.npy";
      if (record.at("operator") != "LP_POOLING")
        CHECK(folder.read("gpu" + output) == folder.read("cpu" + output));
    }
  }
}

TEST_CASE("batch on a GPU: many jobs by many workers pass") {
  if (!has_gpu()) return;
  std::vector<std::string> jobs;
  for (int i = 0; i < 200; ++i)
    jobs.push_back(named_job(std::to_string(i), i % 10 == 0 ? "other.npy" : "golden.npy"));
  const BatchFolder folder(jobs);
  const auto result = shell(
      "unset DMLOP_DEVICE DMLOP_VULKAN_VALIDATION; export XDG_CACHE_HOME=$PWD/cache; "
      "dmlop batch jobs.jsonl --jobs 8 --device " +
          program_gpu(),
      {.folder = folder.path()});
  CHECK(result.code == 1);
  CHECK(contains(result.output, ": 180 PASSED, 20 FAILED\n"));
}

}  // namespace dmlop::test::batch_scale_test
