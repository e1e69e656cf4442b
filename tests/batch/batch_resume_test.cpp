// dmlop batch --resume: what a results file proves and what it does not prove.
#include <doctest/doctest.h>

#include "batch.hpp"
#include "batch/batch.hpp"
#include "batch/digest.hpp"
#include "paths.hpp"
#include "records.hpp"

namespace dmlop::test::batch_resume_test {
namespace {

namespace fs = std::filesystem;

/// A folder with three jobs a, b and c, each with files of its own, that was run once: jobs/ID, or
/// with the same in JSON Lines and JSON files.
class ResumeFolder : public BatchFolder {
 public:
  ResumeFolder() {
    for (const char* id : {"a", "b", "c"}) {
      const std::string job = "jobs/" + std::string(id) + "/";
      write(job + "op.json", "{" + edge_fields + "}");
      write(job + "InputTensor.npy", read("x.npy"));
      write(job + "expected.npy", read("golden.npy"));
      write(job + "tol.json", R"({"rtol": 0.0010000001})");
    }
    CHECK(run_again({}) == "a b c");
    CHECK(run_again({}) == "");
  }

  /// Resumes; the ids of the jobs that were run again, all others being counted as resumed.
  std::string run_again(std::vector<std::string> more, const std::string& jobs = "jobs",
                        const std::string& out = "out") const {
    more.insert(more.begin(), {"batch", jobs, "--resume", "--results", "r.jsonl", "-v", "--out",
                               out, "--jobs", "1"});
    if (std::find(more.begin(), more.end(), "--device") == more.end()) more.push_back("--cpu");
    const std::size_t before = has("r.jsonl") ? read_records(read("r.jsonl")).size() : 0;
    last = dmlop_program(more, {.folder = path()});
    std::vector<Json> records = read_records(read("r.jsonl"));
    records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(before));
    std::string ids;
    for (const Json& record : records) {
      if (record.contains("id"))
        ids += (ids.empty() ? "" : " ") + record.at("id").get<std::string>();
    }
    return ids;
  }
  mutable ProgramResult last;
};

}  // namespace

TEST_CASE("--resume skips what is proved done, and counts it") {
  const ResumeFolder folder;
  CHECK(folder.last.code == 0);
  CHECK(contains(folder.last.output, ": 3 PASSED (3 from an earlier run)\n"));
  CHECK(count_of(folder.last.output, "PASSED a\n") == 1);
  const auto records = read_records(folder.read("r.jsonl"));
  // A run that goes on with a file says so, the one that began it does not.
  CHECK(records.front().at("id") == "a");
  CHECK(records.at(records.size() - 2).at("started").contains("version"));
  CHECK(records.back().at("summary").at("complete") == true);
  CHECK(records.back().at("summary").at("counts").at("PASSED") == 3);
  CHECK(folder.batch({"jobs", "--resume"}).code == 2);
  CHECK(folder.batch({"jobs", "--resume", "--results", "-"}).code == 2);
}

TEST_CASE("--resume: what does not matter does not run a job again") {
  const ResumeFolder folder;
  folder.write("jobs/b/stray.npy", folder.read("x.npy"));
  folder.write("jobs/b/InputTensor.npy", folder.read("x.npy"));  // the same, written anew
  CHECK(folder.run_again({"--threads", "3"}) == "");
  CHECK(folder.run_again({"--timeout", "100"}) == "");
  CHECK(folder.run_again({}, "jobs/") == "");
}

TEST_CASE("--resume: another output path or feature level runs all again") {
  const ResumeFolder folder;
  CHECK(folder.run_again({}, "jobs", "other") == "a b c");
  CHECK(folder.run_again({}) == "a b c");
  CHECK(folder.run_again({"--feature-level", "5_0"}) == "a b c");
  CHECK(folder.run_again({"--feature-level", "5_0"}) == "");
}

TEST_CASE("--resume: another version, status or digest in the file proves nothing") {
  const ResumeFolder folder;
  const std::string records = folder.read("r.jsonl");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = records;
    const std::size_t line = text.find("{\"id\":\"b\"");
    const std::size_t at = text.find(from, line);
    REQUIRE(at < text.find('\n', line));
    text.replace(at, from.size(), to);
    folder.write("r.jsonl", text);
    return folder.run_again({});
  };
  CHECK(changed(R"("status":"PASSED","exitCode":0)", R"("status":"FAILED","exitCode":1)") == "b");
  CHECK(changed("\"status\":\"PASSED\"", "\"status\":\"NOT_RUN\"") == "b");
  CHECK(changed("\"digest\":\"", "\"digest\":\"0") == "b");
  CHECK(changed("\"digest\":", "\"digst\":") == "b");
  CHECK(changed("{\"id\":\"b\"", "{\"id\":\"B\"") == "b");
  CHECK(changed("\"seconds\"", "\"zeconds\"") == "");
}

TEST_CASE("--resume: the digest of a record covers what became of which job") {
  const BatchFolder folder(
      {named_job("a", "other.npy"), named_job("b", "golden.npy"), edge_job(R"("id": "blind")")});
  const std::vector<std::string> again{"jobs.jsonl", "--resume", "--results", "r.jsonl", "-v"};
  CHECK(folder.batch(again).code == 1);
  const std::string records = folder.read("r.jsonl");
  const auto resumed = [&](const std::string& from, const std::string& to) {
    std::string text = records;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    folder.write("r.jsonl", text.replace(at, from.size(), to));
    return folder.batch(again);
  };
  CHECK(contains(resumed("", "").output, "1 PASSED, 1 FAILED, 1 UNCOMPARED (1 from an earlier"));
  for (const char* outcome :
       {R"("status":"FAILED","exitCode":1)", R"("status":"UNCOMPARED","exitCode":1)"}) {
    CAPTURE(outcome);
    const auto result = resumed(outcome, R"("status":"PASSED","exitCode":0)");
    CHECK(result.code == 1);
    CHECK(contains(result.output, "1 PASSED, 1 FAILED, 1 UNCOMPARED (1 from an earlier"));
  }
}

TEST_CASE("--resume and --merge read records of earlier versions, and the first believes none") {
  const std::string job = named_job("a");
  const BatchFolder folder({job});
  CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 0);
  const Json record = read_records(folder.read("r.jsonl")).at(0);
  // What the result depends on: the whole digest of earlier versions, a part of today's.
  const auto digest_of = [](const std::vector<std::string>& parts) {
    dmlop::Digest digest;
    for (const std::string& part : parts) digest.add(part);
    return digest.text();
  };
  const auto array_digest = [&](const std::string& name) {
    return array_digest_of(dmlop::NpyFile::open(folder / name));
  };
  // A run that goes on with a file names its program there.
  CHECK(folder.batch({"jobs.jsonl", "--results", "s.jsonl"}).code == 0);
  CHECK(folder.batch({"jobs.jsonl", "--results", "s.jsonl", "--resume"}).code == 0);
  const std::string program =
      read_records(folder.read("s.jsonl")).at(2).at("started").at("program");
  if (!is_windows_program()) CHECK(program.size() == 40);
  const std::string old =
      digest_of({program, job, "", "", "cpu", job, "6_4", "InputTensor", array_digest("x.npy"),
                 "OutputTensor", array_digest("golden.npy"), "bit for bit", ""});
  CHECK(record.at("digest") == digest_of({"outcome", old, "a", "PASSED", "0"}));
  for (const auto& [digest, is_believed] : {std::pair{old, false}, {record.at("digest"), true}}) {
    Json changed = record;
    changed["digest"] = digest;
    folder.write("r.jsonl", changed.dump() + "\n" + summary_line());
    CHECK(folder.batch({"--merge", "r.jsonl"}).code == 0);
    const auto result = folder.batch({"jobs.jsonl", "--resume", "--results", "r.jsonl"});
    CHECK(result.code == 0);
    CHECK(contains(result.output, "earlier run") == is_believed);
  }
}

TEST_CASE("records: a field of another type is no record, whatever reads it") {
  const BatchFolder folder({named_job("a", "other.npy", R"("tags": ["t"])")});
  CHECK(folder.batch({"jobs.jsonl", "--out", "out", "--results", "sound.jsonl"}).code == 1);
  Json sound = read_records(folder.read("sound.jsonl")).at(0);
  sound["warnings"] = {"a warning"};
  // Pointers to every value, at any depth.
  std::vector<Json::json_pointer> places;
  const Json flat = sound.flatten();
  for (const auto& [place, value] : flat.items()) {
    for (Json::json_pointer at(place); !at.empty(); at = at.parent_pointer()) {
      if (std::find(places.begin(), places.end(), at) == places.end()) places.push_back(at);
    }
  }
  CHECK(places.size() > 60);
  for (const Json::json_pointer& place : places) {
    for (const Json& value : {Json(5), Json("x"), Json(true), Json(Json::array({Json::array()})),
                              Json{{"x", Json::array()}}}) {
      const Json& now = sound.at(place);
      // A number that is not known, or a relation where none was found.
      const bool is_text = !place.empty() && place.back() == "relation";
      const bool is_allowed = now.is_null() && (is_text ? value.is_string() : value.is_number());
      const bool is_same = value.type() == now.type() || (value.is_number() && now.is_number());
      if (is_allowed || (is_same && !now.is_array())) continue;
      Json changed = sound;
      changed[place] = value;
      CAPTURE(changed.dump());
      folder.write("r.jsonl", sound.dump() + "\n" + changed.dump() + "\n" + summary_line());
      const auto merged = folder.batch({"--merge", "r.jsonl", "--html", "h.html"});
      CHECK(merged.code == 3);
      CHECK(contains(merged.error, "r.jsonl:2: this line is not a record of a batch"));
      CHECK(folder.batch({"jobs.jsonl", "--resume", "--results", "r.jsonl"}).code == 3);
    }
  }
  folder.write("r.jsonl", R"({"id": "bad", "status": "PASSED", "exitCode": 0, "tags": 5})"
                          "\n");
  CHECK(contains(folder.batch({"--merge", "r.jsonl"}).error,
                 "not a record of a batch: its \"tags\" is of another type"));
}

TEST_CASE("--resume: another program runs all again, also of the same version") {
  const BatchFolder folder({named_job("a")});
  dmlop::EarlierRecords records;
  const auto is_resumed = [&](const std::string& program) {
    dmlop::Diagnostics diagnostics;
    const auto manifest = dmlop::open_manifest({{folder / "jobs.jsonl"}}, diagnostics);
    dmlop::Backend backend({"cpu"});
    dmlop::BatchOptions options;
    options.version = "1.2.3";
    options.program = program;
    options.keep_records = true;
    options.earlier = records;
    bool resumed = false;
    run_batch(*manifest, backend, options, [&](const dmlop::BatchResult& result) {
      CHECK(result.status == dmlop::Status::passed);
      resumed = result.resumed;
      records[result.id] = result.record;
    });
    return resumed;
  };
  for (const char* program : {"1", "2", "1"}) {
    CHECK_FALSE(is_resumed(program));
    CHECK(is_resumed(program));
  }
}

TEST_CASE("records of 0.1.0 are read: --merge reports them, and --resume runs their jobs again") {
  const Folder folder;
  const fs::path samples = source_path("samples");
  for (const char* name : {"padding", "lp_pooling", "slice1", "wrong", "skipped"}) {
    const std::string sample = fs::exists(samples / name) ? name : "padding";
    fs::create_directories(fs::path(folder / "jobs"));
    fs::copy(samples / sample, folder / ("jobs/" + std::string(name)), fs::copy_options::recursive);
  }
  const std::string records = read_file(test_data_path("results_0.1.0.jsonl"));
  folder.write("old.jsonl", records);
  const auto merged = dmlop_program({"batch", "--merge", "old.jsonl", "--html", "report.html"},
                                    {.folder = folder.path()});
  CHECK(merged.code == 3);
  CHECK(contains(merged.output, "2 PASSED, 1 FAILED, 1 INVALID, 1 SKIPPED"));
  const auto resumed = dmlop_program(
      {"batch", "jobs", "--cpu", "--out", "out", "--resume", "--results", "old.jsonl"},
      {.folder = folder.path()});
  CHECK(resumed.code == 0);
  CHECK(contains(resumed.output, "5 jobs"));
  CHECK_FALSE(contains(resumed.output, "earlier run"));
  CHECK(folder.read("old.jsonl").starts_with(records));
}

TEST_CASE("digests: the same everywhere, and where a part ends counts") {
  CHECK(dmlop::short_digest("") == 0x2d06800538d394c2);
  CHECK(dmlop::short_digest("a") == 0xe6c632b61e964e1f);
  const auto of = [](const std::vector<std::string>& parts) {
    dmlop::Digest digest;
    for (const std::string& part : parts) digest.add(part);
    return digest.text();
  };
  CHECK(of({"ab", "c"}) == of({"ab", "c"}));
  CHECK(of({"ab", "c"}) != of({"a", "bc"}));
  CHECK(of({"ab"}) != of({"ab", ""}));
  CHECK(of({"1", "1:1"}) != of({"11:1", "1"}));
}

TEST_CASE("--resume never trusts a file because it exists") {
  const ResumeFolder folder;
  fs::remove(folder / "r.jsonl");
  CHECK(folder.run_again({}) == "a b c");
  folder.write("r.jsonl", "");
  CHECK(folder.run_again({}) == "a b c");
}

TEST_CASE("--resume runs jobs again that did not pass, and the last record counts") {
  const BatchFolder folder({named_job("a"), named_job("b", "late.npy"), named_job("c", "other.npy"),
                            named_job("d", "golden.npy", R"("skip": "no")")});
  const std::vector<std::string> again{"jobs.jsonl", "--resume", "--results", "r.jsonl"};
  CHECK(folder.batch(again).code == 6);
  folder.write("late.npy", folder.read("golden.npy"));
  const auto second = folder.batch(again);
  CHECK(second.code == 1);
  CHECK(contains(second.output, ": 2 PASSED, 1 FAILED, 1 SKIPPED (1 from an earlier run)\n"));
  const auto third = folder.batch(again);
  CHECK(contains(third.output, ": 2 PASSED, 1 FAILED, 1 SKIPPED (2 from an earlier run)\n"));
}

TEST_CASE("--resume with JSON: the job's own text and the defaults count") {
  const ResumeFolder folder;
  const auto jobs = [&](const std::string& defaults, const std::string& b) {
    folder.write("jobs.json", "{\"defaults\": {" + edge_fields + defaults + "}, \"jobs\": [" +
                                  R"({"id": "a", "bindings": {"InputTensor": "x.npy"}}, )" +
                                  R"({"id": "b", "bindings": {"InputTensor": "x.npy"})" + b +
                                  "}]}");
    return folder.run_again({}, "jobs.json");
  };
  CHECK(jobs("", "") == "a b");
  CHECK(jobs("", "") == "");
  CHECK(jobs("", R"(, "featureLevel": "5_0")") == "b");
  CHECK(jobs("", R"(, "featureLevel": "5_0")") == "");
  CHECK(jobs(R"(, "featureLevel": "6_0")", R"(, "featureLevel": "5_0")") == "a b");
}

TEST_CASE("--resume: half a last line is cut off, another line that is no record is refused") {
  const ResumeFolder folder;
  const std::string records = folder.read("r.jsonl");
  for (const std::string half : {"{", "{\"id\":\"a\",\"status\":\"FAI", "{\"id\":\"a\"}"}) {
    folder.write("r.jsonl", records + half);
    const auto result = folder.batch({"jobs", "--resume", "--results", "r.jsonl", "--out", "out"});
    CHECK(result.code == 0);
    CHECK(contains(result.output, "(3 from an earlier run)"));
    CHECK(folder.read("r.jsonl").starts_with(records + "{\"started\":{\"version\":\""));
    CHECK(read_records(folder.read("r.jsonl")).back().contains("summary"));
  }
  // Half of the first run's first line.
  folder.write("r.jsonl", records.substr(0, 100));
  CHECK(folder.batch({"jobs", "--resume", "--results", "r.jsonl", "--out", "out"}).code == 0);
  CHECK(read_records(folder.read("r.jsonl")).size() == 4);
  folder.write("r.jsonl", "no record\n" + records);
  const auto refused = folder.batch({"jobs", "--resume", "--results", "r.jsonl"});
  CHECK(refused.code == 3);
  CHECK(contains(refused.error,
                 "r.jsonl:1: this line is not a record of a batch; name a file that "
                 "dmlop batch --results wrote, or remove this one"));
  CHECK(folder.read("r.jsonl") == "no record\n" + records);
  // Nor is a file of something else cut off at its last line end.
  folder.write("r.jsonl", "no record\nhalf a line");
  CHECK(folder.batch({"jobs", "--resume", "--results", "r.jsonl"}).code == 3);
  CHECK(folder.read("r.jsonl") == "no record\nhalf a line");
}

TEST_CASE("--resume on another kind of device runs all again") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  const ResumeFolder folder;
  CHECK(folder.run_again({"--device", program_gpu()}) == "a b c");
  CHECK(folder.run_again({"--device", program_gpu()}) == "");
  CHECK(folder.run_again({}) == "a b c");
}

TEST_CASE("without --resume a results file is started anew") {
  const BatchFolder folder({named_job("a"), named_job("b")});
  CHECK(folder.run({"jobs.jsonl"}).records.size() == 2);
  CHECK(folder.run({"jobs.jsonl", "--filter", "a"}).records.size() == 1);
}

}  // namespace dmlop::test::batch_resume_test
