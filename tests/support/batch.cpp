#include "batch.hpp"

#include <limits>
#include <map>

namespace dmlop::test {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::string edge_job(const std::string& fields, const std::string& input) {
  return "{" + edge_fields + R"(, "bindings": {"InputTensor": ")" + input + "\"}" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

std::string long_job(const std::string& id) {
  return R"({"id": ")" + id +
         R"(", "type": "LP_POOLING", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
         R"("Sizes": [1, 1, 4096, 4096], "Strides": [0, 0, 0, 0]}, "Strides": [1, 1], )"
         R"("WindowSize": [2048, 2048], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 7}, )"
         R"("bindings": {"InputTensor": "one.npy", "OutputTensor": ")" +
         id + R"(.npy"}})";
}

std::string named_job(const std::string& id, const std::string& golden, const std::string& fields) {
  return edge_job(R"("id": )" + Json(id).dump() + R"(, "expect": ")" + golden + "\"" +
                  (fields.empty() ? "" : ", " + fields));
}

std::string lines_of(const std::vector<std::string>& jobs) {
  std::string text;
  for (const std::string& job : jobs) text += job + "\n";
  return text;
}

std::vector<EndingRow> endings() {
  return {
      {"good", named_job("good"), "PASSED", 0},
      {"late", named_job("late", "golden.npy", R"("skip": "not today")"), "SKIPPED", 0},
      {"wrong", named_job("wrong", "other.npy"), "FAILED", 1},
      {"blind", edge_job(R"("id": "blind")"), "UNCOMPARED", 1},
      {"void", edge_job(R"("id": "void", "expect": "nan.npy")", "nan3.npy"), "MISTRUSTED", 1},
      {"foreign", "{\"id\": \"foreign\", " + unsupported_members + "}", "UNSUPPORTED", 4},
      {"typo", R"({"id": "typo", "type": "PADDING", "desc": {"PaddingMode": "EDG"}})", "INVALID",
       3},
      {"unbound", "{" + edge_fields + R"(, "id": "unbound", "expect": "golden.npy"})", "INVALID",
       3},
      {"absent", edge_job(R"("id": "absent", "expect": "golden.npy")", "none.npy"), "ERROR", 6},
      {"goldless", named_job("goldless", "none.npy"), "ERROR", 6},
  };
}

const Json& BatchOutcome::record(const std::string& id) const {
  for (const Json& record : records) {
    if (record.at("id") == id) return record;
  }
  FAIL("no record of " << id);
  return summary;
}

std::string BatchOutcome::statuses() const {
  std::map<std::string, std::string> sorted;
  for (const Json& record : records) sorted[record.at("id")] = record.at("status");
  std::string text;
  for (const auto& [id, status] : sorted) text += (text.empty() ? "" : ", ") + id + " " + status;
  return text;
}

std::vector<Json> read_records(const std::string& text) {
  std::vector<Json> records;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    REQUIRE(end != std::string::npos);
    records.push_back(Json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return records;
}

BatchFolder::BatchFolder() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  write("x.npy", float_npy("(3,)", {1, 2, 3}));
  write("one.npy", float_npy("(1,)", {1}));
  write("golden.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 3}));
  write("other.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 3.5F}));
  write("nan3.npy", float_npy("(3,)", {nan, nan, nan}));
  write("nan.npy", float_npy("(6,)", {nan, nan, nan, nan, nan, nan}));
}

BatchFolder::BatchFolder(const std::vector<std::string>& jobs) : BatchFolder() {
  write("jobs.jsonl", lines_of(jobs));
}

ProgramResult BatchFolder::batch(std::vector<std::string> arguments,
                                 const std::string& input) const {
  arguments.insert(arguments.begin(), {"batch", "--cpu"});
  return dmlop_program(arguments, {.folder = path(), .input = input});
}

BatchOutcome BatchFolder::run(std::vector<std::string> arguments, const std::string& input) const {
  arguments.insert(arguments.end(), {"--results", "records.jsonl"});
  BatchOutcome outcome;
  outcome.program = batch(arguments, input);
  CAPTURE(outcome.program.output);
  CAPTURE(outcome.program.error);
  REQUIRE(has("records.jsonl"));
  outcome.records = read_records(read("records.jsonl"));
  REQUIRE_FALSE(outcome.records.empty());
  REQUIRE(outcome.records.back().contains("summary"));
  outcome.summary = outcome.records.back().at("summary");
  outcome.records.pop_back();
  return outcome;
}

}  // namespace dmlop::test
