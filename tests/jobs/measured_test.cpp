// Measured numbers must mean what they say; it is not enough that they are present.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "batch.hpp"

namespace dmlop::test::measured_test {
namespace {

/// A folder with large.npy of 16 MiB, of which less.json takes four elements that lie far apart,
/// and one.npy, of which more.json makes as much.
class LargeFolder : public Folder {
 public:
  LargeFolder() {
    write("one.npy", float_npy("(1,)", {1}));
    write("large.npy", float_npy("(4194304,)", std::vector<float>(4194304, 1)));
    write("less.json", R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0], )"
                       R"("InputWindowSizes": [4194304], "InputWindowStrides": [1048576]}})");
    write("more.json", R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", )"
                       R"("StartPadding": [0], "EndPadding": [4194303]}})");
  }

  /// The last line of what the program printed, as JSON.
  Json run(const std::vector<std::string>& arguments) const {
    const auto result = dmlop_program(arguments, {.folder = path()});
    CAPTURE(result.error);
    REQUIRE(result.code == 0);
    return Json::parse(result.output);
  }
};

double number(const Json& json, const std::string& name) {
  CAPTURE(name);
  CAPTURE(json.dump());
  REQUIRE(json.at(name).is_number());
  return json.at(name);
}

/// Whether it is so in one of five runs. Times that are mixed up are so in none; other processes
/// may delay either of two that are compared.
bool holds_in_one_of_five(const std::function<bool()>& is_so) {
  for (int run = 0; run < 5; ++run) {
    if (is_so()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("measured: a job's seconds are those of its check and those of its execution") {
  const BatchFolder folder(
      {named_job("a"), named_job("b", "other.npy"), edge_job(R"("id": "c")"),
       R"({"id": "typo", "type": "PADDING", "desc": {"PaddingMode": "EDG"}})"});
  const auto outcome = folder.run({"jobs.jsonl", "--jobs", "1"});
  double sum = 0;
  for (const Json& record : outcome.records) {
    CAPTURE(record.dump());
    const double seconds = number(record, "seconds");
    sum += seconds;
    if (record.at("status") == "INVALID") continue;
    const Json& timings = record.at("timings");
    const double check = number(timings, "checkSeconds");
    const double execute = number(timings, "executeSeconds");
    CHECK(check > 0);
    CHECK(execute > 0);
    CHECK(check + execute == doctest::Approx(seconds).epsilon(1e-9));
  }
  CHECK(sum <= number(outcome.summary, "seconds"));
}

TEST_CASE(
    "measured: a job's check takes the time of its description, its execution of its tensor") {
  const LargeFolder folder;
  // Comments are read with the description: 8 MiB of them.
  folder.write("long.json", R"({"type": "SLICE1", /*)" + std::string(8 << 20, ' ') +
                                R"(*/ "desc": {"InputWindowOffsets": [0], )"
                                R"("InputWindowSizes": [1], "InputWindowStrides": [1]}})");
  const auto timings = [&](const std::string& op, const std::string& input) {
    return folder
        .run({"run", op, "--cpu", "--threads", "1", "-i", input, "-o", "y.npy", "--timings",
              "--format", "json"})
        .at("timings");
  };
  CHECK(holds_in_one_of_five([&] {
    const Json checked = timings("long.json", "one.npy");
    return number(checked, "checkSeconds") > number(checked, "executeAndWriteSeconds");
  }));
  CHECK(holds_in_one_of_five([&] {
    const Json executed = timings("more.json", "one.npy");
    return number(executed, "executeAndWriteSeconds") > number(executed, "checkSeconds");
  }));
}

TEST_CASE("measured: an upload takes the time of the input, a download that of the output") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  const LargeFolder folder;
  const auto seconds_of = [&](const std::string& op, const std::string& input) {
    const Json timings = folder
                             .run({"run", op, "--device", program_gpu(), "-i", input, "-o", "y.npy",
                                   "--timings", "--format", "json"})
                             .at("timings");
    return std::pair(number(timings, "deviceUploadSeconds"),
                     number(timings, "deviceDownloadSeconds"));
  };
  CHECK(holds_in_one_of_five([&] {
    const auto [upload_of_large, download_of_one] = seconds_of("less.json", "large.npy");
    const auto [upload_of_one, download_of_large] = seconds_of("more.json", "one.npy");
    return std::min(upload_of_large, download_of_large) > std::max(upload_of_one, download_of_one);
  }));
  // The records of a batch say the same.
  const auto record_of = [&](const std::string& id, const std::string& fields,
                             const std::string& input) {
    folder.write("jobs.jsonl", R"({"id": ")" + id + "\", " + fields +
                                   R"(, "bindings": {"InputTensor": ")" + input + "\"}}\n");
    (void)dmlop_program(
        {"batch", "jobs.jsonl", "--device", program_gpu(), "--results", "r.jsonl", "--out", "out"},
        {.folder = folder.path()});
    return read_records(folder.read("r.jsonl")).front().at("timings");
  };
  const std::string less = folder.read("less.json"), more = folder.read("more.json");
  CHECK(holds_in_one_of_five([&] {
    const Json of_less = record_of("less", less.substr(1, less.size() - 2), "large.npy");
    const Json of_more = record_of("more", more.substr(1, more.size() - 2), "one.npy");
    return number(of_less, "deviceUploadSeconds") > number(of_less, "deviceDownloadSeconds") &&
           number(of_more, "deviceDownloadSeconds") > number(of_more, "deviceUploadSeconds");
  }));
}

TEST_CASE("measured: bench tells bytes, seconds and rates that belong together") {
  const LargeFolder folder;
  std::vector<std::string> devices{"cpu"};
  if (!program_gpu().empty()) devices.push_back(program_gpu());
  for (const std::string& device : devices) {
    CAPTURE(device);
    for (const bool is_less : {true, false}) {
      CAPTURE(is_less);
      const Json json =
          folder.run({"bench", is_less ? "less.json" : "more.json", "--device", device, "-i",
                      is_less ? "large.npy" : "one.npy", "--min-time", "0.05", "--format", "json"});
      CAPTURE(json.dump());
      const double input = number(json, "inputBytes"), output = number(json, "outputBytes");
      CHECK(input == (is_less ? 16 : 4));  // what a slice reads
      CHECK(output == (is_less ? 16 : 16777216));
      CHECK(number(json, "minSeconds") > 0);
      CHECK(number(json, "minSeconds") <= number(json, "medianSeconds"));
      CHECK(number(json, "medianSeconds") <= number(json, "p95Seconds"));
      CHECK(number(json, "bytesPerSecond") ==
            doctest::Approx((input + output) / number(json, "medianSeconds")));
      if (!json.at("shareOfCopyRate").is_null())
        CHECK(number(json, "shareOfCopyRate") ==
              doctest::Approx(number(json, "bytesPerSecond") / number(json, "copyBytesPerSecond")));
      if (device == "cpu") continue;
      for (const char* copy : {"uploadSeconds", "downloadSeconds"}) {
        CHECK(json.at(copy).is_null());
        CHECK(json.at("notMeasured").at(copy) == "the tensors stay on the device");
      }
    }
  }
}

}  // namespace dmlop::test::measured_test
