// The limits that no file may exceed, and the cost of checking a file: time and memory are in
// proportion to its size, whatever is in it. Valid requests that are too large for the machine fail
// at once, with the number of bytes.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>

#include "batch.hpp"
#include "json/document.hpp"
#include "model/model.hpp"
#include "sanitized.hpp"

namespace dmlop::test::limits_test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr unsigned seconds_max = is_sanitized ? 600 : 60;  // of the processor
/// ThreadSanitizer takes 30 times as long beside other tests.
constexpr unsigned usual_seconds = is_sanitized ? seconds_max / 2 : seconds_max / 6;

std::string repeated(const std::function<std::string(std::size_t)>& part, std::size_t count,
                     const std::string& separator = ",") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : separator) + part(i);
  return text;
}
std::string repeated(const std::string& part, std::size_t count,
                     const std::string& separator = ",") {
  return repeated([&](std::size_t) { return part; }, count, separator);
}
std::string number(std::size_t i) {
  return std::to_string(i);
}

/// Why this system cannot refuse a terabyte of memory; "" where it does.
const char* reason_to_skip() {
  if (is_sanitized) return "SKIPPED: a sanitizer ends a program that asks for so much memory";
  std::ifstream setting("/proc/sys/vm/overcommit_memory");
  if (setting.get() == '1')
    return "SKIPPED: this system promises any memory (vm.overcommit_memory is 1)";
  return "";
}

std::string model_of(const std::string& resources, const std::string& dispatchables,
                     const std::string& commands) {
  return "{\"resources\": {" + resources + "}, \"dispatchables\": {" + dispatchables +
         "}, \"commands\": [" + commands + "]}";
}

const std::string four_values =
    R"("A": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]})";

/// A file that is checked, and what is found.
struct LimitRow {
  std::string name;
  std::string text;
  std::string said;  // "" where it is within the limit
};

/// Seconds of the processor and the most memory that a program took, and what it said.
struct Cost {
  int code = -1;
  double seconds = 0;
  double megabytes = 0;
  std::size_t output_bytes = 0;
};

Cost cost_of(const std::vector<std::string>& arguments, const Folder& folder) {
  const std::string output = folder / "output";
  std::fflush(nullptr);  // or the child says it once more
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (std::freopen(output.c_str(), "w", stdout) == nullptr ||
        std::freopen((output + "2").c_str(), "w", stderr) == nullptr)
      ::_exit(126);
    const rlimit seconds{seconds_max, seconds_max};
    ::setrlimit(RLIMIT_CPU, &seconds);
    std::vector<char*> pointers{const_cast<char*>(program_path().c_str())};
    for (const std::string& argument : arguments)
      pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    ::execv(program_path().c_str(), pointers.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          seconds(used.ru_utime) + seconds(used.ru_stime),
          static_cast<double>(used.ru_maxrss) / 1024,
          std::filesystem::file_size(output) + std::filesystem::file_size(output + "2")};
}

/// A text of about so many bytes, as many as the limits allow.
struct ShapeRow {
  std::string name;
  std::function<std::string(std::size_t bytes)> text;
};

// Less than a million values in each.
std::size_t at_most(std::size_t count) {
  return std::min<std::size_t>(count, 990'000);
}

std::vector<ShapeRow> description_shapes() {
  const std::string start = "{" + edge_fields;
  return {
      {"unknown members",
       [=](std::size_t n) {
         return start + "," +
                repeated([](std::size_t i) { return "\"f" + number(i) + "\":0"; },
                         at_most(n / 12)) +
                "}";
       }},
      {"one name repeated",
       [=](std::size_t n) { return start + "," + repeated("\"f\":0", at_most(n / 6)) + "}"; }},
      {"type and Type",
       [](std::size_t n) {
         return "{\"Type\":\"PADDING\"," + repeated("\"type\":\"PADDING\"", at_most(n / 17)) + "}";
       }},
      {"a long name", [=](std::size_t n) { return start + ",\"" + std::string(n, 'n') + "\":0}"; }},
      {"a long string", [](std::size_t n) { return "{\"type\":\"" + std::string(n, 'n') + "\"}"; }},
      {"an open string", [](std::size_t n) { return "{\"type\":\"" + std::string(n, 'n'); }},
      {"a control character",
       [](std::size_t n) { return "{\"type\":\"" + std::string(n, 'n') + "\x01\"}"; }},
      {"edges that nothing writes",
       [](std::size_t n) {
         const auto node = [](std::size_t i) {
           return R"({"type": "ACTIVATION_TANH", "bindings": {"InputTensor": "x)" + number(i) +
                  R"(", "OutputTensor": "y)" + number(i) + "\"}}";
         };
         return "{\"nodes\": [" + repeated(node, at_most(n / 90)) + "]}";
       }},
      {"a long number", [](std::size_t n) { return "{\"type\":" + std::string(n, '9') + "}"; }},
      {"a long fraction",
       [](std::size_t n) {
         return "{\"type\": \"PADDING\", \"PaddingValue\": 0." + std::string(n, '9') + "}";
       }},
      {"an open comment", [=](std::size_t n) { return start + "/*" + std::string(n, '*'); }},
      {"comments", [=](std::size_t n) { return start + repeated("/**/", n / 4, "") + "}"; }},
      {"exponents", [](std::size_t n) { return "[" + repeated("1e99999", at_most(n / 8)) + "]"; }},
      {"nesting at the limit",
       [](std::size_t n) {
         return "[" +
                repeated(std::string(60, '[') + std::string(60, ']'),
                         std::min<std::size_t>(n / 121, 16'000)) +
                "]";
       }},
      {"text after the end", [=](std::size_t n) { return start + "}" + std::string(n, 'x'); }},
      {"sizes",
       [](std::size_t n) {
         return R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [)" +
                repeated("-1", at_most(n / 3)) + "]}}}";
       }},
      {"bindings",
       [=](std::size_t n) {
         return start + ",\"bindings\":{" +
                repeated([](std::size_t i) { return "\"b" + number(i) + "\":\"x\""; },
                         at_most(n / 14)) +
                "}}";
       }},
      {"resources in one line",
       [](std::size_t n) {
         return model_of(repeated([](std::size_t i) { return "\"r" + number(i) + "\":{}"; },
                                  std::min<std::size_t>(n / 12, 9'900)),
                         "", "") +
                std::string(n, ' ');
       }},
      {"too many resources",
       [](std::size_t n) {
         return model_of(
             repeated([](std::size_t i) { return "\"r" + number(i) + "\":{}"; }, at_most(n / 12)),
             "", "");
       }},
      {"commands and long names",
       [](std::size_t n) {
         return model_of(
             repeated(
                 [&](std::size_t i) {
                   return "\"r" + number(i) + std::string(n / 9000 / 2, 'r') +
                          R"(":{"initialValuesDataType":"FLOAT32","initialValues":[1]})";
                 },
                 9'000),
             "",
             repeated(
                 [&](std::size_t i) {
                   return R"({"type":"print","resource":"r)" + number(i + 1) +
                          std::string(n / 9000 / 2, 'r') + "\"}";
                 },
                 9'000));
       }},
      {"findings below a long name",
       [](std::size_t n) {
         return model_of("\"" + std::string(n / 2, 'n') + "\":{" +
                             repeated([](std::size_t i) { return "\"x" + number(i) + "\":1"; },
                                      at_most(n / 40)) +
                             "}",
                         "", repeated("{\"type\":\"dispatch\",\"dispatchable\":\"d\"}", 9'900));
       }},
      {"bindings of a dispatch",
       [](std::size_t n) {
         return model_of(
             four_values,
             R"("d":{"type":"PADDING","desc":{"InputTensor":{"DataType":"FLOAT32","Sizes":[4]},)"
             R"("OutputTensor":{"DataType":"FLOAT32","Sizes":[7]},"PaddingMode":"EDGE",)"
             R"("StartPadding":[1],"EndPadding":[2]}})",
             R"({"type":"dispatch","dispatchable":"d","bindings":{)" +
                 repeated([](std::size_t i) { return "\"b" + number(i) + "\":\"A\""; },
                          at_most(n / 14)) +
                 "}}");
       }},
      {"findings of many dispatchables",
       [](std::size_t) {
         return model_of(
             four_values,
             repeated(
                 [](std::size_t i) {
                   return "\"d" + number(i) +
                          R"(":{"type":"PADDING","desc":{"InputTensor":{"DataType":"FLOAT32",)"
                          R"("Sizes":[0,0,0]},"OutputTensor":{"DataType":"FLOAT32",)"
                          R"("Sizes":[0,0,0]},"PaddingMode":"EDGE","StartPadding":[0,0,0],)"
                          R"("EndPadding":[0,0,0]}})";
                 },
                 9'900),
             "");
       }},
      {"files that are written",
       [](std::size_t n) {
         return model_of(four_values, "",
                         repeated(
                             [&](std::size_t i) {
                               return R"({"type":"writeFile","resource":"A","targetPath":")" +
                                      std::string(n / 9'900, 'w') + number(i) + "\"}";
                             },
                             9'900) +
                             ",{}");
       }},
  };
}

std::vector<ShapeRow> batch_shapes() {
  return {
      {"wrong jobs in one line",
       [](std::size_t n) { return "[" + repeated("{\"type\":\"PADDIN\"}", n / 18) + "]"; }},
      {"inherited fields",
       [](std::size_t n) {
         return R"({"defaults":{"x":")" + std::string(60'000, 'y') + "\"},\"jobs\":[" +
                repeated("{}", std::min<std::size_t>(n / 3, 1'000)) + "]}";
       }},
      {"too much to inherit",
       [](std::size_t n) {
         return R"({"defaults":{"x":")" + std::string(n / 2, 'y') + "\"},\"jobs\":[" +
                repeated("{}", n / 6) + "]}";
       }},
      {"tags",
       [](std::size_t n) {
         return R"([{"type":"PADDING","tags":[)" + repeated("1", n / 2) + "]}]";
       }},
      {"golden files",
       [](std::size_t n) {
         return R"([{"type":"PADDING","expect":{)" +
                repeated([](std::size_t i) { return "\"e" + number(i) + "\":1"; }, n / 14) + "}}]";
       }},
  };
}

// Generous: a machine may be busy, and what is quadratic takes minutes.
void check_cost(const ShapeRow& shape, const Cost& cost, std::size_t bytes, double bytes_per_byte) {
  CAPTURE(shape.name);
  CAPTURE(bytes);
  CHECK(cost.code == 3);
  CHECK(cost.seconds < usual_seconds);
  if (!is_sanitized)
    CHECK(cost.megabytes < 40 + bytes_per_byte * static_cast<double>(bytes) / mebibyte);
  CHECK(cost.output_bytes < 2 * mebibyte);
}

}  // namespace

TEST_CASE("limits: what a description and a model may have") {
  const std::string at_limit = repeated("1", 4096);
  const auto sizes = [](const std::string& list) {
    return R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [)" +
           list + R"(]}, "PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [0]}})";
  };
  const auto print = R"({"type": "print", "resource": "A"})";
  const std::vector<LimitRow> rows{
      {"an array of a field", sizes(at_limit + ",1"),
       "InputTensor.Sizes has 4097 values, must have at most 4096"},
      {"dimensions", sizes(repeated("1", 9)), "dimensions"},
      {"a size", sizes("4294967296"), "an integer from 1 to 4294967295 (UINT)"},
      {"commands", model_of(four_values, "", repeated(print, 10'000)), ""},
      {"more commands", model_of(four_values, "", repeated(print, 10'001)),
       "the model has 10001 commands, must have at most 10000"},
      {"resources",
       model_of(repeated([](std::size_t i) { return "\"" + number(i) + "\": {}"; }, 10'001), "",
                ""),
       "the model has 10001 resources, must have at most 10000"},
      {"dispatchables",
       model_of("", repeated([](std::size_t i) { return "\"" + number(i) + "\": {}"; }, 10'001),
                ""),
       "the model has 10001 dispatchables, must have at most 10000"},
      {"a resource",
       model_of(R"("A": {"initialValuesDataType": "UINT8", "sizeInBytes": 1099511627776, )"
                R"("initialValues": [1]})",
                "", ""),
       ""},
      {"a larger resource",
       model_of(R"("A": {"initialValuesDataType": "UINT8", "sizeInBytes": 1099511627777, )"
                R"("initialValues": [1]})",
                "", ""),
       "A has 1099511627777 bytes, must have at most 1099511627776"},
  };
  const Folder folder;
  for (const LimitRow& row : rows) {
    CAPTURE(row.name);
    const auto result = dmlop_program({"check", folder.write("x.json", row.text)});
    CAPTURE(result.error.substr(0, 2000));
    CHECK(result.code == (row.said.empty() ? 0 : 3));
    CHECK(contains(result.error, row.said));
  }
}

TEST_CASE("limits: what a batch may have") {
  const BatchFolder folder;
  const auto entries = [](std::size_t count) {
    return repeated([](std::size_t i) { return "\"t" + number(i) + "\""; }, count);
  };
  const auto expect = [](std::size_t count) {
    return "{" + repeated([](std::size_t i) { return "\"t" + number(i) + "\": \"x\""; }, count) +
           "}";
  };
  const std::vector<LimitRow> rows{
      {"tags", R"("expect": "golden.npy", "tags": [)" + entries(4096) + "]", ""},
      {"more tags", R"("expect": "golden.npy", "tags": [)" + entries(4097) + "]",
       "tags has 4097 entries, must have at most 4096"},
      {"golden files", R"("expect": )" + expect(4097),
       "expect has 4097 entries, must have at most 4096"},
      {"an id", R"("expect": "golden.npy", "id": ")" + std::string(200, 'i') + "\"", ""},
      {"a longer id", R"("expect": "golden.npy", "id": ")" + std::string(201, 'i') + "\"",
       "is longer than 200 bytes"},
  };
  for (const LimitRow& row : rows) {
    CAPTURE(row.name);
    folder.write("jobs.jsonl", edge_job(row.text) + "\n");
    const auto outcome = folder.run({"jobs.jsonl"});
    REQUIRE(outcome.records.size() == 1);
    CHECK(outcome.records[0].at("status") == (row.said.empty() ? "PASSED" : "INVALID"));
    CHECK(contains(outcome.records[0].value("details", ""), row.said));
    std::filesystem::remove(folder / "records.jsonl");
  }
  const auto defaults = [&](std::size_t bytes) {
    const std::string start = R"({"tags": [")";
    const std::string end = R"("], "skip": "no"})";
    folder.write("jobs.json", R"({"defaults": )" + start +
                                  std::string(bytes - start.size() - end.size(), 't') + end +
                                  R"(, "jobs": [{}]})");
    return folder.batch({"jobs.json"});
  };
  CHECK(defaults(65536).code == 0);
  const auto refused = defaults(65537);
  CHECK(refused.code == 3);
  CHECK(contains(refused.error, "defaults have 65537 bytes, must have at most 65536"));

  folder.write("jobs.jsonl", std::string(dmlop::json::max_text_bytes + 200'000, ' '));
  const auto line = folder.batch({"jobs.jsonl"});
  CHECK(line.code == 3);
  CHECK(contains(line.output, "this line has more than 67108864 bytes"));
}

TEST_CASE("limits: records of earlier runs that nobody wrote are refused") {
  const BatchFolder folder;
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& line :
       {R"({"id": "a", "status": "FAILED", "exitCode": 1, "details": )" + deep + "}",
        R"({"id": "a", "status": "FAILED", "exitCode": 1, "comparisons": )" +
            std::string(1000, '[') + std::string(1000, ']') + "}",
        R"({"id": "a", "status": "FAILED", "exitCode": 1, "seconds": 0.)" + std::string(1000, '1') +
            "}",
        std::string(R"({"summary": {"complete": "yes"}})"),
        std::string(R"({"summary": {"complete": true, "shard": 7}})"), std::string("[]"),
        std::string("{"), std::string(R"({"started": true})")}) {
    CAPTURE(line.substr(0, 60));
    folder.write("old.jsonl", line + "\n");
    const auto result = folder.batch({"--merge", "old.jsonl", "--html", "report.html"});
    CHECK(result.code == 3);
    CHECK(contains(result.error, "old.jsonl:1: this line is not a record of a batch"));
  }
  folder.write("old.jsonl", R"({"summary": {"complete": true, "shard": "0/18446744073709551615"}})"
                            "\n");
  const auto shards = folder.batch({"--merge", "old.jsonl"});
  CHECK(shards.code == 3);
  CHECK(contains(shards.error, "18446744073709551615 shards, must be at most 1000000"));
}

TEST_CASE("limits: findings are printed up to a thousand, and counted") {
  const Folder folder;
  const std::string path = folder.write(
      "model.json",
      model_of(four_values, "", repeated(R"({"type": "print", "resource": "B"})", 2'500)));
  const auto text = dmlop_program({"check", path});
  CHECK(text.code == 3);
  CHECK(count_of(text.error, "no resource is called \"B\"") == 1000);
  CHECK(contains(text.error, "and 1500 more\n2500 errors\n"));
  const Json json = Json::parse(dmlop_program({"check", path, "--format", "json"}).output);
  CHECK(json.at("diagnostics").size() == 1000);
  CHECK(json.at("diagnosticsNotShown") == 1500);
}

TEST_CASE("limits: names that there are, are listed up to sixteen") {
  const Folder folder;
  const std::string path = folder.write(
      "model.json",
      model_of(repeated(
                   [](std::size_t i) {
                     return "\"r" + number(i) +
                            R"(": {"initialValuesDataType": "UINT8", "initialValues": [1]})";
                   },
                   20),
               "", R"({"type": "print", "resource": "q"})"));
  const auto result = dmlop_program({"check", path});
  CHECK(contains(result.error, "r14, r15, and 4 more"));
}

TEST_CASE("limits: what a check costs follows the size of the file") {
  const Folder folder;
  for (const ShapeRow& shape : description_shapes()) {
    constexpr std::size_t bytes = 2 * mebibyte;
    const std::string path = folder.write("x.json", shape.text(bytes));
    check_cost(shape, cost_of({"check", path}, folder), bytes, 100);
  }
}

TEST_CASE("limits: what a batch costs to read follows the size of the file") {
  const Folder folder;
  for (const ShapeRow& shape : batch_shapes()) {
    constexpr std::size_t bytes = mebibyte / 2;
    const std::string path = folder.write("x.json", shape.text(bytes));
    check_cost(shape, cost_of({"batch", "--cpu", "-q", "--jobs", "1", path}, folder), bytes, 150);
  }
}

TEST_CASE("limits: a file that is too large is not read") {
  // It takes no room on the disk.
  const Folder folder;
  constexpr double megabytes_max = is_sanitized ? 2000 : 180;
  const auto large = [&](const std::string& name) {
    const std::string path = folder.write(name, "{");
    std::filesystem::resize_file(path, std::uintmax_t{3} << 30);
    return path;
  };
  const std::string op = large("jobs/a/op.json");
  large("jobs/b/tol.json");
  folder.write("jobs/b/op.json", "{}");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"check", op},
           {"run", op, "--cpu"},
           {"check", "/dev/zero"},
           {"batch", op, "--cpu"},
           {"batch", folder / "jobs", "--cpu", "--results", folder / "r.jsonl"}}) {
    CAPTURE(arguments);
    if (arguments[1] == "/dev/zero" && is_windows_program()) {
      MESSAGE("SKIPPED: Windows has no /dev/zero");
      continue;
    }
    const Cost cost = cost_of(arguments, folder);
    CHECK(cost.code == 3);
    CHECK(cost.megabytes < megabytes_max);
    const std::string said = folder.read("output") + folder.read("output2");
    CAPTURE(said);
    CHECK(contains(said, "bytes, must have at most 67108864"));
  }
  const auto records = read_records(folder.read("r.jsonl"));
  REQUIRE(records.size() == 3);
  for (std::size_t i = 0; i < 2; ++i) CHECK(records[i].at("status") == "INVALID");
}

TEST_CASE("limits: --timeout counts for the digests of files as well") {
  const BatchFolder folder;
  const std::string path = folder.write("large.npy", npy("<f4", "(1610612736,)", ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + (std::uintmax_t{6} << 30));
  folder.write("jobs.jsonl",
               R"({"id": "large", "type": "SLICE1", "desc": {"InputWindowOffsets": [0], )"
               R"("InputWindowSizes": [1], "InputWindowStrides": [1]}, "expect": "one.npy", )"
               R"("bindings": {"InputTensor": "large.npy"}})"
               "\n");
  const auto outcome = folder.run({"jobs.jsonl", "--timeout", "0.05"});
  CHECK(outcome.status("large") == "ERROR");
  CHECK(contains(outcome.record("large").at("message"), "stopped after 0.05 s (--timeout)"));
}

TEST_CASE("limits: what records of earlier runs cost to read follows the size of the file") {
  const Folder folder;
  const auto members = [](std::size_t count) {
    return "{" + repeated([](std::size_t i) { return "\"k" + number(i) + "\":\"\""; }, count) + "}";
  };
  const auto record = [](const std::string& value, const std::string& field = "inputs") {
    return R"({"id": "a", "status": "PASSED", "exitCode": 0, ")" + field + "\": " + value + "}\n";
  };
  const std::string summary = R"({"summary": {"complete": true}})" + std::string("\n");
  struct RecordRow {
    std::string name;
    std::string text;
    int code;
  };
  for (const RecordRow& row : std::vector<RecordRow>{
           {"members at the limit", record(members(10'000)), 0},
           {"one member more", record(members(10'001)), 3},
           {"colons in strings", record("[\"" + std::string(20'000, ':') + "\"]", "tags"), 0},
           {"objects at the limit in one line",
            record("[" + repeated(members(10'000), 20) + "]", "later"), 0},
           {"lines at the limit", repeated(record(members(10'000)), 20, ""), 0},
           {"too many members", record(members(100'000)), 3},
           {"too many members of a summary", R"({"summary": )" + members(100'000) + "}\n", 3}}) {
    CAPTURE(row.name);
    const std::string path = folder.write("old.jsonl", row.text + summary);
    const Cost cost = cost_of({"batch", "--merge", path}, folder);
    CHECK(cost.code == row.code);
    CHECK(cost.seconds < usual_seconds);
  }
}

TEST_CASE("limits: without memory for a copy of a big-endian file, its name and bytes are said") {
  if (const char* reason = reason_to_skip(); *reason != '\0') {
    MESSAGE(reason);
    return;
  }
  const BatchFolder folder;
  // It takes no room on the disk.
  const std::string path = folder.write("big.npy", npy(">f4", "(1048576, 262144)", ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + (std::uintmax_t{1} << 40));
  const std::string fields =
      R"("type": "SLICE1", "desc": {"InputWindowOffsets": [0, 0], "InputWindowSizes": [1, 1], )"
      R"("InputWindowStrides": [1, 1]}, "bindings": {"InputTensor": "big.npy", )"
      R"("OutputTensor": "out.npy"})";
  folder.write("op.json", "{" + fields + "}");
  folder.write("jobs.jsonl", R"({"id": "big", )" + fields + "}\n");
  const std::string said = "big.npy of 1099511627776 bytes";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "op.json", "--cpu"},
        std::vector<std::string>{"convert", "op.json", "--to-model", "model.json"}}) {
    CAPTURE(arguments);
    const auto result = dmlop_program(arguments, {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(result.code == 5);
    CHECK(contains(result.error, "out of memory for "));
    CHECK(contains(result.error, said));
    CHECK_FALSE(folder.has("out.npy"));
  }
  const auto batch = folder.batch({"jobs.jsonl"});
  CHECK(batch.code == 5);
  CHECK(contains(batch.output, said));
}

TEST_CASE("limits: a petabyte fails at once, with its number, and leaves nothing") {
  if (const char* reason = reason_to_skip(); *reason != '\0') {
    MESSAGE(reason);
    return;
  }
  const BatchFolder folder;
  // 1 + (2^32 - 1) elements in one dimension, 2^18 in the other: 2^50 elements.
  folder.write("one.npy", npy("|u1", "(1, 1)", "x"));
  const std::string fields =
      R"("type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [4294967294, 262143], )"
      R"("EndPadding": [0, 0]})";
  const std::string bindings = R"(, "bindings": {"InputTensor": "one.npy"})";
  folder.write("op.json", "{" + fields + bindings + "}");
  folder.write("golden.npy", npy("|u1", "(1, 1)", "x"));
  const std::string bytes = "1125899906580480";  // (2^32 - 1) * 2^18, without the header
  const auto run = [&](std::vector<std::string> arguments) {
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  const auto before = std::chrono::steady_clock::now();
  CHECK(run({"check", "op.json"}).code == 0);
  const std::vector<std::string> targets{"out.npy", "-", "/dev/null"};
  for (const std::string& target : targets) {
    CAPTURE(target);
    const auto result = run({"run", "op.json", "--cpu", "-o", target});
    CAPTURE(result.error);
    CHECK(result.code == 6);
    CHECK(contains(result.error, bytes.substr(0, 9)));
    CHECK(result.output.empty());
  }
  // The golden file is not of this size: that is all there is to find.
  const auto expect = run({"run", "op.json", "--cpu", "--expect", "golden.npy"});
  CHECK(expect.code == 1);
  CHECK(contains(expect.output, "UINT8 [4294967295, 262144] instead of UINT8 [1, 1]"));
  const auto updated = run({"run", "op.json", "--cpu", "--expect", "new.npy", "--update-golden"});
  CHECK(updated.code == 6);
  CHECK(contains(updated.error, bytes.substr(0, 9)));
  const auto bench = run({"bench", "op.json", "--cpu", "--min-time", "0"});
  CHECK(bench.code == 5);
  CHECK(contains(bench.error, "out of memory for " + bytes + " bytes"));

  folder.write("jobs.jsonl", "{" + fields + bindings +
                                 R"(, "id": "golden", "expect": "golden.npy"})" + "\n{" + fields +
                                 bindings + R"(, "id": "kept"})" + "\n");
  const auto batch = folder.run({"jobs.jsonl", "--out", "out"});
  CHECK(batch.status("golden") == "ERROR");
  CHECK(batch.status("kept") == "ERROR");
  CHECK(contains(batch.record("kept").at("message"), bytes.substr(0, 9)));
  std::filesystem::remove(folder / "records.jsonl");
  const auto compared = folder.run({"jobs.jsonl"});
  CHECK(compared.status("golden") == "FAILED");
  CHECK(compared.status("kept") == "UNCOMPARED");

  folder.write("model.json",
               model_of(R"("A": {"initialValuesDataType": "UINT8", "sizeInBytes": 1099511627776, )"
                        R"("initialValues": [1]})",
                        "", R"({"type": "writeFile", "resource": "A", "targetPath": "a.bin"})"));
  const auto model = run({"run", "model.json", "--cpu"});
  CHECK(model.code == 5);
  CHECK(contains(model.error, "out of memory for \"A\" of 1099511627776 bytes"));
  CHECK_FALSE(folder.has("a.bin"));
  CHECK_FALSE(folder.has("out.npy"));
  CHECK_FALSE(folder.has("new.npy"));
  CHECK(folder.list().find(".tmp") == std::string::npos);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - before;
  CHECK(elapsed.count() < 25);
}

}  // namespace dmlop::test::limits_test
