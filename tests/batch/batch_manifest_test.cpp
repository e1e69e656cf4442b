// Which jobs a batch has: from a folder, a JSON file and JSON Lines, and what is said about jobs
// that are wrong.
#include <doctest/doctest.h>
#include <unistd.h>

#include <map>

#include "base/error.hpp"
#include "batch.hpp"
#include "batch/manifest.hpp"
#include "sanitized.hpp"

namespace dmlop::test::batch_manifest_test {
namespace {

std::vector<dmlop::BatchJob> jobs_of(const std::string& path) {
  dmlop::Diagnostics diagnostics;
  const auto manifest = dmlop::open_manifest({{path}}, diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(manifest != nullptr);
  std::vector<dmlop::BatchJob> jobs;
  while (auto job = manifest->next()) jobs.push_back(std::move(*job));
  if (manifest->size()) CHECK(*manifest->size() == jobs.size());
  return jobs;
}

std::string ids_of(const std::vector<dmlop::BatchJob>& jobs) {
  std::string ids;
  for (const auto& job : jobs) ids += (ids.empty() ? "" : " ") + job.id;
  return ids;
}

std::string files_of(const std::vector<dmlop::NamedFile>& files, const Folder& folder) {
  std::string text;
  for (const auto& file : files) {
    CHECK(file.path.starts_with(folder.path() + "/"));
    text += file.tensor + "=" + file.path.substr(folder.path().size() + 1) + " ";
  }
  return text;
}

/// What a batch of one job of JSON Lines says of it: its message and its details.
struct Said {
  std::string status;
  std::string message;
  std::string details;
};
Said said_of(const std::string& line) {
  const BatchFolder folder({line});
  const auto outcome = folder.run({"jobs.jsonl"});
  REQUIRE(outcome.records.size() == 1);
  const Json& record = outcome.records.front();
  CHECK(outcome.code() == record.at("exitCode"));
  return {record.at("status"), record.value("message", ""), record.value("details", "")};
}

}  // namespace

TEST_CASE("a folder's jobs are its op.json, sorted, called as their folders") {
  const Folder folder;
  for (const char* name : {"b/op.json", "a/z/op.json", "a/op.json", "a/other.json", "c/OP.JSON"})
    folder.write(name, "{" + edge_fields + "}");
  CHECK(ids_of(jobs_of(folder.path())) == "a a/z b");
  CHECK(ids_of(jobs_of(folder.path() + "/")) == "a a/z b");
  // A job in the folder itself has the folder's name.
  CHECK(ids_of(jobs_of(folder / "b")) == "b");
  CHECK(ids_of(jobs_of(folder / "b/")) == "b");
  CHECK(ids_of(jobs_of(folder / "a/../b/.")) == "b");
  CHECK(jobs_of(folder / "b").front().place == folder / "b/op.json");
}

TEST_CASE("links to folders are followed, but each folder once, however many lead to it") {
  const Folder folder;
  const auto link = [&](const std::string& target, const std::string& name) {
    std::filesystem::create_directory_symlink(target, folder / name);
  };
  folder.write("jobs/a/op.json", "{" + edge_fields + "}");
  folder.write("far/op.json", "{" + edge_fields + "}");
  folder.write("far/below/op.json", "{" + edge_fields + "}");
  link(folder / "far", "jobs/linked");
  link(folder / "far/below", "jobs/z");
  CHECK(ids_of(jobs_of(folder / "jobs")) == "a linked/below linked");
  // Round in circles, in more ways than anyone could go.
  for (const char* name : {"jobs/a/round", "jobs/a/again", "far/round", "far/again"})
    link("..", name);
  for (const char* name : {"jobs/here", "jobs/there", "jobs/a/here", "far/here"}) link(".", name);
  CHECK(ids_of(jobs_of(folder / "jobs")) == "a linked/below linked");
  CHECK(ids_of(jobs_of(folder / "far")) == "again/jobs/a below far");
  // Named twice in a folder, by the first name.
  link("linked", "jobs/b");
  CHECK(ids_of(jobs_of(folder / "jobs")) == "a b/below b");
}

TEST_CASE("jobs of folders are found however deep they are") {
  const Folder folder;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "d/";
  folder.write(deep + "op.json", "{" + edge_fields + "}");
  deep.pop_back();
  CHECK(ids_of(jobs_of(folder.path())) == deep);
}

TEST_CASE("no two jobs of a folder have the same id") {
  const Folder folder;
  for (const char* name :
       {"jobs/op.json", "jobs/model.json", "jobs/jobs/op.json", "jobs/a/op.json",
        "jobs/a/model.json", "jobs/a/model/op.json", "jobs/a/model-2/op.json", "jobs/b/model.json",
        "jobs/\xFF"
        "a/op.json",
        "jobs/\xFE"
        "a/op.json",
        "jobs/%FFa/op.json"})
    folder.write(name, "{}");
  const auto jobs = jobs_of(folder / "jobs");
  std::map<std::string, std::string> places;
  for (const auto& job : jobs) {
    CAPTURE(job.id);
    CHECK(places.emplace(job.id, job.place.substr(folder.path().size() + 6)).second);
  }
  CHECK(places == std::map<std::string, std::string>{{"jobs-2", "op.json"},
                                                     {"jobs/model", "model.json"},
                                                     {"jobs", "jobs/op.json"},
                                                     {"a", "a/op.json"},
                                                     {"a/model-3", "a/model.json"},
                                                     {"a/model", "a/model/op.json"},
                                                     {"a/model-2", "a/model-2/op.json"},
                                                     {"b", "b/model.json"},
                                                     {"%FEa",
                                                      "\xFE"
                                                      "a/op.json"},
                                                     {"%FFa-2",
                                                      "\xFF"
                                                      "a/op.json"},
                                                     {"%FFa", "%FFa/op.json"}});
}

TEST_CASE("files of jobs that are links to nothing, or to themselves, cost their jobs") {
  struct Row {
    std::string name;
    std::string said;
  };
  for (const Row& row :
       {Row{"a/expected.npy", "reading the golden file "}, Row{"a/expected", "listing "},
        Row{"a/tol.json", "reading "}, Row{"a/InputTensor.npy", "reading InputTensor from "},
        Row{"a/op.json", "reading the description "}}) {
    for (const char* target : {"nothing", "itself"}) {
      CAPTURE(row.name);
      CAPTURE(target);
      const BatchFolder folder;
      for (const char* job : {"a", "b"}) {
        folder.write("jobs/" + std::string(job) + "/op.json", "{" + edge_fields + "}");
        folder.write("jobs/" + std::string(job) + "/InputTensor.npy", folder.read("x.npy"));
      }
      const std::filesystem::path link = folder / ("jobs/" + row.name);
      std::filesystem::remove(link);
      std::filesystem::create_symlink(target == std::string("itself") ? link.filename() : target,
                                      link);
      std::filesystem::create_symlink("stray", folder / "jobs/stray");
      const auto outcome = folder.run({"jobs", "--out", "out"});
      CHECK(outcome.code() == 6);
      CHECK(outcome.statuses() == "a ERROR, b PASSED");
      CHECK(contains(outcome.record("a").at("message"), row.said));
    }
  }
}

TEST_CASE("a folder that cannot be listed costs its jobs") {
  if (::geteuid() == 0) {
    MESSAGE("SKIPPED: root may list every folder");
    return;
  }
  const BatchFolder folder;
  for (const char* job : {"a", "b"}) {
    folder.write("jobs/" + std::string(job) + "/op.json", "{" + edge_fields + "}");
    folder.write("jobs/" + std::string(job) + "/InputTensor.npy", folder.read("x.npy"));
  }
  std::filesystem::permissions(folder / "jobs/a", std::filesystem::perms::none);
  const auto outcome = folder.run({"jobs", "--out", "out"});
  std::filesystem::permissions(folder / "jobs/a", std::filesystem::perms::owner_all);
  CHECK(outcome.code() == 6);
  CHECK(outcome.statuses() == "a ERROR, b PASSED");
}

TEST_CASE("a folder's inputs, golden files and tolerance lie beside its op.json") {
  const Folder folder;
  folder.write("op.json", "{" + edge_fields + "}");
  for (const char* name : {"InputTensor.npy", "expected/OutputTensor.npy", "stray.npy",
                           "expected/notes.txt", "InputTensor.txt"})
    folder.write(name, "");
  folder.write("tol.json", R"({"rtol": 0.5, "ulp": 3, "nan": "differ", "allowTrivial": true})");
  const auto job = jobs_of(folder.path()).front();
  CHECK(job.findings.empty());
  CHECK(files_of(job.request.found.inputs, folder) ==
        "InputTensor=InputTensor.npy stray=stray.npy ");
  CHECK(files_of(job.request.found.expected, folder) == "OutputTensor=expected/OutputTensor.npy ");
  REQUIRE(job.request.tolerance.has_value());
  CHECK(job.request.tolerance->rtol == 0.5);
  CHECK_FALSE(job.request.tolerance->atol.has_value());
  CHECK(job.request.tolerance->ulp == 3);
  CHECK_FALSE(job.request.tolerance->nan_equals_nan);
  CHECK(job.request.tolerance->allow_trivial);
}

TEST_CASE("jobs of folders: a golden file that has the name of no output is not passed over") {
  const BatchFolder folder;
  const auto add = [&](const std::string& id, const std::vector<std::string>& golden_files) {
    folder.write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    folder.write("jobs/" + id + "/InputTensor.npy", folder.read("x.npy"));
    for (const std::string& file : golden_files)
      folder.write("jobs/" + id + "/expected/" + file, folder.read("golden.npy"));
  };
  add("slip", {"OutputTensr.npy"});
  add("slip_beside", {"OutputTensor.npy", "outputTensor.npy"});
  add("other", {"result.npy"});
  add("stray", {"OutputTensor.npy", "result.npy", "OutputTensor_old.npy", "OutputTensor1.npy",
                "InputTensor.npy", "._OutputTensor.npy"});
  const auto outcome = folder.run({"jobs", "--out", "out"});
  CHECK(outcome.statuses() == "other INVALID, slip INVALID, slip_beside INVALID, stray PASSED");
  const std::string slip = outcome.record("slip").at("details");
  CHECK(contains(slip,
                 "slip/expected/OutputTensr.npy: error: this golden file matches no output "
                 "of PADDING"));
  CHECK(contains(slip, "did you mean OutputTensor.npy?"));
  CHECK(contains(outcome.record("other").at("details"), "outputs: OutputTensor"));
}

TEST_CASE("jobs of folders: bindings win, strays do no harm, tol.json counts") {
  const BatchFolder folder;
  const auto add = [&](const std::string& id, const std::string& golden_at,
                       const std::string& golden) {
    folder.write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    folder.write("jobs/" + id + "/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/" + id + "/" + golden_at, folder.read(golden));
  };
  add("one", "expected.npy", "golden.npy");
  add("named", "expected/OutputTensor.npy", "golden.npy");
  folder.write("jobs/named/SequenceLengthsTensor.npy", "no .npy at all");
  folder.write("jobs/named/expected/notes.npy", "no .npy at all");
  add("wrong", "expected.npy", "other.npy");
  add("near", "expected.npy", "other.npy");
  folder.write("jobs/near/tol.json", R"({"atol": 0.5})");
  add("both", "expected.npy", "golden.npy");
  folder.write("jobs/both/expected/OutputTensor.npy", folder.read("golden.npy"));
  add("bound", "expected.npy", "golden.npy");
  folder.write("jobs/bound/op.json", edge_job("", "../../x.npy"));
  folder.write("jobs/bound/InputTensor.npy", "no .npy at all");
  add("badtol", "expected.npy", "golden.npy");
  folder.write("jobs/badtol/tol.json", "{\"rtol\": -1,\n \"ulps\": 3}");
  const auto outcome = folder.run({"jobs"});
  CHECK(outcome.statuses() ==
        "badtol INVALID, both INVALID, bound PASSED, named PASSED, near PASSED, one PASSED, "
        "wrong FAILED");
  CHECK(outcome.code() == 3);
  CHECK(contains(outcome.record("near").at("comparisons").at(0).dump(), "tol.json"));
  const std::string badtol = outcome.record("badtol").at("details");
  CHECK(contains(badtol, "jobs/badtol/tol.json:1:10: error: "));
  CHECK(contains(badtol, "jobs/badtol/tol.json:2:2: error: unknown field \"ulps\""));
  CHECK(contains(outcome.record("both").at("message"), "OutputTensor is given two files"));
}

TEST_CASE("a JSON file has a list of jobs, and defaults that are merged one level deep") {
  const Folder folder;
  const auto jobs = jobs_of(folder.write("deep/jobs.json", R"({
    "defaults": {"type": "PADDING", "tags": ["all"], "tolerance": {"rtol": 0.5, "atol": 1},
                 "desc": {"PaddingMode": "EDGE", "StartPadding": [1]}},
    "jobs": [
      {"desc": {"StartPadding": [2]}, "expect": "a.npy"},
      {"id": "own/id", "tags": ["mine"], "tolerance": {"rtol": 0.25}},
      {"expect": {"OutputTensor": "/b.npy"}, "skip": "broken"}
    ]})"));
  CHECK(ids_of(jobs) == "job-0 own/id job-2");
  CHECK(jobs.at(0).place == folder / "deep/jobs.json:5");
  CHECK(jobs.at(1).made_up_id == "job-1");
  CHECK(jobs.at(1).line == 6);
  CHECK(jobs.at(0).tags == std::vector<std::string>{"all"});
  CHECK(jobs.at(1).tags == std::vector<std::string>{"mine"});
  CHECK(jobs.at(0).request.tolerance->rtol == 0.5);
  CHECK(jobs.at(1).request.tolerance->rtol == 0.25);
  CHECK_FALSE(jobs.at(1).request.tolerance->atol.has_value());  // a tolerance is one rule
  CHECK(jobs.at(2).skip_reason == "broken");
  CHECK(files_of(jobs.at(0).request.expected, folder) == "=deep/a.npy ");
  CHECK(jobs.at(2).request.expected.front().tensor == "OutputTensor");
  CHECK(jobs.at(2).request.expected.front().path == "/b.npy");
  const auto* desc = jobs.at(0).root->find("desc");
  REQUIRE(desc != nullptr);
  CHECK(desc->find("PaddingMode")->text == "EDGE");
  REQUIRE(desc->find("StartPadding") != nullptr);
  CHECK(desc->find("StartPadding")->items.at(0).text == "2");
  CHECK(desc->members.size() == 2);
  CHECK(ids_of(jobs_of(folder.write("array.json", "[{}, {\"id\": \"b\"}]"))) == "job-0 b");
}

TEST_CASE("defaults are merged no deeper than one level, and reach the run") {
  const BatchFolder folder;
  folder.write("x2.npy", float_npy("(2,)", {8, 9}));
  folder.write("golden2.npy", float_npy("(5,)", {8, 8, 9, 9, 9}));
  folder.write("jobs.json", R"({"defaults": {)" + edge_fields +
                                R"(, "bindings": {"InputTensor": "x.npy"}, "expect": "golden.npy"},
    "jobs": [{"id": "as they are"},
             {"id": "another", "bindings": {"InputTensor": "x2.npy"}, "expect": "golden2.npy"},
             {"id": "sizes", "desc": {"InputTensor": {"Sizes": [3]}}}]})");
  CHECK(folder.run({"jobs.json"}).statuses() == "another PASSED, as they are PASSED, sizes PASSED");
  folder.write("deep.json",
               R"({"defaults": {"desc": {"InputTensor": {"DataType": "INT8"}}, )" +
                   std::string(R"("expect": "golden.npy"}, "jobs": [)") +
                   R"({"type": "PADDING", "bindings": {"InputTensor": "x.npy"}, )" +
                   R"("desc": {"InputTensor": {"Sizes": [3]}, "PaddingMode": "EDGE",)" +
                   R"("StartPadding": [1], "EndPadding": [2]}}]})");
  CHECK(folder.run({"deep.json"}).statuses() == "job-0 PASSED");
}

TEST_CASE("JSON Lines: empty lines are none, a last line needs no end, numbers are the file's") {
  const Folder folder;
  const std::string text = "\n{}\r\n  \t\n{\"id\": \"x\"} // said so\n\n{\"tags\": [\"t\"],}";
  for (const char* name : {"jobs.jsonl", "jobs.ndjson"}) {
    const auto jobs = jobs_of(folder.write(name, text));
    CHECK(ids_of(jobs) == "line-2 x line-6");
    CHECK(jobs.at(2).place == folder / name + ":6");
    CHECK(jobs.at(1).text == "{\"id\": \"x\"}");
    for (const auto& job : jobs) CHECK(job.findings.empty());
  }
  CHECK(jobs_of(folder.write("empty.jsonl", "")).empty());
  // Lines longer than what is read at once.
  const std::string tag(200'000, 't');
  const auto jobs = jobs_of(folder.write(
      "long.jsonl", "{}\n{\"tags\": [\"" + tag + "\"]}\n{}\n{\"tags\": [\"" + tag + "\"]}"));
  CHECK(ids_of(jobs) == "line-1 line-2 line-3 line-4");
  CHECK(jobs.at(3).tags.at(0) == tag);
}

TEST_CASE("lines that are wrong are INVALID with their places, and the others go on") {
  const BatchFolder folder({named_job("a"), "{\"type\":", "", "[1, 2]", R"({"type": "PADDING",,})",
                            edge_job(R"("expekt": "x")"), "\"\xFF\"", named_job("b"), "{} {}"});
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.code() == 3);
  CHECK(outcome.statuses() ==
        "a PASSED, b PASSED, line-2 INVALID, line-4 INVALID, line-5 INVALID, line-6 INVALID, "
        "line-7 INVALID, line-9 INVALID");
  for (const auto& [line, place] : std::vector<std::pair<std::string, std::string>>{
           {"line-2", "jobs.jsonl:2:9: error: wrong JSON"},
           {"line-4", "jobs.jsonl:4:1: error: "},
           {"line-5", "jobs.jsonl:5:20: error: wrong JSON"},
           {"line-6",
            "jobs.jsonl:6:132: error: unknown field \"expekt\"; did you mean \"expect\"?"},
           {"line-7", "jobs.jsonl:7:2: error: wrong JSON: this is not UTF-8 text"},
           {"line-9", "jobs.jsonl:9:4: error: wrong JSON"}}) {
    const std::string& id = line;  // lambdas of Clang before 16 capture no bindings
    CAPTURE(id);
    CAPTURE(outcome.record(id).at("details"));
    CHECK(contains(outcome.record(id).at("details"), place));
    CHECK(contains(outcome.program.output, place));
    CHECK(outcome.record(id).at("place") == "jobs.jsonl:" + id.substr(5));
  }
}

TEST_CASE("standard input is JSON Lines, with paths relative to the working folder") {
  const BatchFolder folder;
  const auto outcome = folder.run({"-"}, lines_of({named_job("a"), "{", named_job("b")}));
  CHECK(outcome.statuses() == "a PASSED, b PASSED, line-2 INVALID");
  CHECK(contains(outcome.program.output, "-:2:2: error: wrong JSON"));
  CHECK(folder.batch({"-"}).code == 2);  // no job
}

TEST_CASE("paths of jobs are relative to their manifest") {
  const BatchFolder folder;
  folder.write("deep/x.npy", float_npy("(1,)", {7}));
  folder.write("deep/golden.npy", float_npy("(4,)", {7, 7, 7, 7}));
  folder.write("deep/jobs.jsonl", named_job("a") + "\n" + named_job("b", "../golden.npy"));
  folder.write("deep/jobs.json", "[" + named_job("a") + "]");
  const auto outcome = folder.run({"deep/jobs.jsonl"});
  CHECK(outcome.statuses() == "a PASSED, b FAILED");
  CHECK(outcome.record("b").at("comparisons").at(0).at("expected") == "deep/../golden.npy");
  CHECK(folder.run({"deep/jobs.json"}).statuses() == "a PASSED");
}

TEST_CASE("ids are safe relative paths") {
  for (const char* id : {"a", "a/b.c", "two words", "...", "line", "line-", "line-1x", "job-a", "-",
                         "\u00e4\u20ac", "a'b\"c", "*"}) {
    CAPTURE(id);
    CHECK(said_of(named_job(id)).status == "PASSED");
  }
  for (const std::string& id : std::vector<std::string>{"",
                                                        "/",
                                                        "/etc",
                                                        "..",
                                                        "a/..",
                                                        "../a",
                                                        "a/../b",
                                                        ".",
                                                        "./a",
                                                        "a/.",
                                                        "a//../b",
                                                        "a//b",
                                                        "//a",
                                                        "a/",
                                                        "a\nb",
                                                        "a\tb",
                                                        std::string("a\0b", 3),
                                                        "\x7F",
                                                        "line-7",
                                                        "job-0",
                                                        std::string(201, 'x')}) {
    CAPTURE(id);
    const Said said = said_of(named_job(id));
    CHECK(said.status == "INVALID");
    CHECK(said.message.starts_with("the id "));
    CHECK(contains(said.details, "jobs.jsonl:1:"));
  }
  CHECK(said_of(named_job(std::string(200, 'x'))).status == "PASSED");
  CHECK(said_of(named_job("line-1")).status == "PASSED");  // what it is called anyway
  CHECK(said_of(edge_job(R"("id": 7)")).status == "INVALID");
}

TEST_CASE("--out: a job whose folder would be a file of another one is INVALID") {
  const std::string inner = "a/OutputTensor.npy";
  const BatchFolder folder({named_job("a"), named_job(inner), named_job("a/b")});
  CHECK(folder.run({"jobs.jsonl"}).code() == 0);
  const auto outcome = folder.run({"jobs.jsonl", "--out", "o"});
  CHECK(outcome.statuses() == "a PASSED, a/OutputTensor.npy INVALID, a/b PASSED");
  const std::string message =
      "the folder of the job \"a/OutputTensor.npy\" has the name of a file of the job \"a\"";
  CHECK(outcome.record(inner).at("message") == message);
  CHECK(contains(outcome.record(inner).at("details"), "jobs.jsonl:2:1: error: "));
  CHECK(folder.run({"jobs.jsonl", "--out", "p", "--exclude", "a"}).code() == 0);
  folder.write("jobs.jsonl", named_job(inner + "/c") + "\n" + named_job("a"));
  const auto reversed = folder.run({"jobs.jsonl", "--out", "q"});
  CHECK(reversed.statuses() == "a INVALID, a/OutputTensor.npy/c PASSED");
  CHECK(contains(reversed.record("a").at("message"), "the job \"a/OutputTensor.npy/c\""));
}

TEST_CASE("an id that is used twice: the later job is INVALID and has its made-up id") {
  const BatchFolder folder({named_job("a"), named_job("b"), named_job("a"), named_job("a")});
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.statuses() == "a PASSED, b PASSED, line-3 INVALID, line-4 INVALID");
  CHECK(outcome.code() == 3);
  CHECK(outcome.record("line-4").at("message") == "the id \"a\" is used before, on line 1");
  CHECK(contains(outcome.record("line-4").at("details"), "jobs.jsonl:4:1: error: "));
  folder.write("jobs.json", "[" + named_job("a") + ",\n" + named_job("a") + "]");
  CHECK(folder.run({"jobs.json"}).statuses() == "a PASSED, job-1 INVALID");
  CHECK(folder.run({"jobs.json", "--filter", "job-*"}).statuses() == "job-1 INVALID");
}

TEST_CASE("wrong fields of jobs are findings with their places") {
  struct Row {
    std::string fields;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {R"("tags": "x")", "tags is the string \"x\""},
           {R"("tags": ["slow", 1])", "tags[1] is 1, must be a string"},
           {R"("skip": "")", "skip is the string \"\""},
           {R"("skip": true)", "skip is true"},
           {R"("tolerance": 1)", "tolerance is 1"},
           {R"("tolerance": {"rtol": "x"})", "tolerance.rtol is "},
           {R"("tolerance": {"abs": 1})", "unknown field \"abs\""},
           {R"("expect": 1)", "expect is 1"},
           {R"("expect": "")", "expect is the string \"\""},
           {R"("expect": "-")", "expect is the string \"-\""},
           {R"("expect": {"InputTensor": "golden.npy"})", "InputTensor is an "},
           {R"("expect": {"OutputTenso": "golden.npy"})", "no output \"OutputTenso\""},
           {R"("expect": {"OutputTensor": ["golden.npy"]})", "expect.OutputTensor is an array"},
           {R"("tag": ["x"])", "unknown field \"tag\"; did you mean \"tags\"?"},
       }) {
    CAPTURE(row.fields);
    const Said said = said_of(edge_job(row.fields));
    CAPTURE(said.details);
    CHECK(said.status == "INVALID");
    CHECK(contains(said.message, row.message));
    CHECK(contains(said.details, "jobs.jsonl"));
  }
}

TEST_CASE("what is wrong with a job and with its description is said at once") {
  const BatchFolder folder({edge_job(R"("id": "a", "tags": 1, "typo": 1)")});
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.status("a") == "INVALID");
  CHECK(contains(outcome.program.output, "tags is 1, must be an array of strings"));
  CHECK(contains(outcome.program.output, "unknown field \"typo\""));
}

TEST_CASE("a graph that a job names by another field") {
  const BatchFolder folder({R"({"id": "a", "model": "net.onnx"})",
                            R"({"id": "b", "Graph": "Partition_0.bin", "bindings": {}})",
                            R"({"id": "c", "path": "graph.JSON", "expect": "y.npy"})",
                            R"({"id": "d", "expect": "graph.json"})"});
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.statuses() == "a INVALID, b INVALID, c INVALID, d INVALID");
  for (const std::string field : {"model", "Graph", "path"}) {
    CHECK(contains(outcome.program.output,
                   "error: a job has no field \"" + field +
                       "\"\n    rule: \"graph\" names the graph or the ONNX model of a job\n"
                       "    help: write \"graph\" in place of \"" +
                       field + "\"\n"));
  }
  CHECK(contains(outcome.record("d").at("message"), "the field \"type\" is missing"));
}

TEST_CASE("a job's tolerance replaces that of the defaults as a whole") {
  const BatchFolder folder;
  const auto job = [](const std::string& id, const std::string& tolerance) {
    return named_job(id, "other.npy", tolerance);
  };
  folder.write("jobs.json", R"({"defaults": {"tolerance": {"atol": 1e9}}, "jobs": [)" +
                                job("loose", "") + "," +
                                job("strict", R"("tolerance": {"ulp": 1})") + "," +
                                job("exact", R"("tolerance": {})") + "]}");
  CHECK(folder.run({"jobs.json"}).statuses() == "exact FAILED, loose PASSED, strict FAILED");
}

TEST_CASE("a JSON file may be one job") {
  const BatchFolder folder;
  folder.write("one.json", named_job("a"));
  CHECK(folder.run({"one.json"}).statuses() == "a PASSED");
  folder.write("g.json", R"({"inputs": ["x"], "nodes": [{"type": "ACTIVATION_RELU",
      "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}},
      "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  folder.write("one.json", R"({"graph": "g.json", "bindings": {"x": "x.npy"}, "expect": "x.npy"})");
  CHECK(folder.run({"one.json", "--shard", "0/1"}).statuses() == "job-0 PASSED");
  // A description alone is one, too, and takes what lies beside it.
  folder.write("one.json", "{" + edge_fields + R"(, "bindings": {"InputTensor": "x.npy"}})");
  CHECK(folder.run({"one.json", "--out", "out"}).statuses() == "one PASSED");
  folder.write("one.json", R"({"jobs": [)" + named_job("b") + R"(], "id": "a"})");
  CHECK(contains(folder.batch({"one.json"}).error, "unknown field \"id\""));
}

TEST_CASE("advice to a job is what its file can hold") {
  const BatchFolder folder({
      R"({"id": "two", "type": "TOP_K1", "desc": {"Axis": 0, "K": 2, "AxisDirection": "INCREASING"}, "bindings": {"InputTensor": "x.npy"}, "expect": "golden.npy"})",
      R"({"id": "both", "type": "PADDING", "graph": "g.json", "bindings": {"x": "x.npy"}})",
      R"({"id": "input", "graph": "g.json", "expect": "x.npy"})",
      R"({"id": "edge", "graph": "g.json", "bindings": {"x": "x.npy"}, "expect": "x.npy"})",
  });
  const std::string graph = R"({"inputs": ["x"], "nodes": [
      {"type": "ACTIVATION_RELU", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}},
       "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
      {"type": "ELEMENT_WISE_NEGATE", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}},
       "bindings": {"InputTensor": "x", "OutputTensor": "z"}}]})";
  folder.write("g.json", graph);
  folder.write("cases/op/graph.json", graph);
  const auto list = folder.run({"jobs.jsonl"});
  const std::string& said = list.program.output;
  CAPTURE(said);
  CHECK(list.statuses() == "both INVALID, edge INVALID, input INVALID, two INVALID");
  CHECK(contains(said, "help: write \"expect\": {\"OutputValueTensor\": \"golden.npy\"}\n"));
  CHECK(contains(said, "help: write \"expect\": {\"EDGE\": \"x.npy\"}\n"));
  CHECK(contains(
      said,
      "help: name it in a job: {\"graph\": \"g.json\", \"bindings\": {\"x\": \"FILE.npy\"}}\n"));
  CHECK(list.record("both").at("message") == "this job has \"graph\" and \"type\"");
  CHECK(contains(folder.run({"cases", "--out", "out"}).program.output,
                 "help: put x.npy beside the graph\n"));
}

TEST_CASE("bindings to standard streams are refused") {
  for (const char* tensor : {"InputTensor", "OutputTensor"}) {
    const std::string other =
        std::string(tensor) == "OutputTensor" ? R"(, "InputTensor": "x.npy"})" : std::string("}");
    const Said said = said_of("{" + edge_fields + R"(, "expect": "golden.npy", "bindings": {")" +
                              tensor + R"(": "-")" + other + "}");
    CHECK(said.status == "INVALID");
    CHECK(contains(said.details, "bindings." + std::string(tensor) + " is \"-\""));
    CHECK(contains(said.details, "jobs.jsonl:1:"));
  }
}

TEST_CASE("files that are missing are named") {
  const Said input = said_of(edge_job(R"("expect": "golden.npy")", "none.npy"));
  CHECK(input.status == "ERROR");
  CHECK(input.message ==
        "reading InputTensor from none.npy: No such file or directory; did you mean one.npy?");
  const Said golden = said_of(named_job("a", "none.npy"));
  CHECK(golden.status == "ERROR");
  CHECK(golden.message ==
        "reading the golden file none.npy: No such file or directory; did you mean one.npy?");
  CHECK(said_of(named_job("a", "jobs.jsonl")).status == "INVALID");
  CHECK(said_of(named_job("a", ".")).status == "INVALID");
}

TEST_CASE("a line that is too long is INVALID, and the others go on") {
  const BatchFolder folder;
  constexpr std::size_t most = dmlop::json::max_text_bytes;
  const auto blank = [](std::size_t count) { return std::string(count, ' ') + "\n"; };
  // The second job has as many bytes as a job may have, the line after it one more.
  std::string full = named_job("full");
  full.insert(1, most - full.size(), ' ');
  folder.write("jobs.jsonl", named_job("a") + "\n" + full + "\n" + blank(most + 1) +
                                 named_job("b") + "\n" + std::string(most + 1, ' '));
  const auto outcome = folder.run({"jobs.jsonl", "--junit", "junit.xml"});
  CHECK(outcome.code() == 3);
  CHECK(outcome.statuses() == "a PASSED, b PASSED, full PASSED, line-3 INVALID, line-5 INVALID");
  for (const char* line : {"3", "5"}) {
    const Json& record = outcome.record("line-" + std::string(line));
    CHECK(record.at("details") ==
          "jobs.jsonl:" + std::string(line) +
              ":1: error: this line has more than 67108864 bytes\n"
              "  rule: a job has at most 67108864 bytes of JSON\n"
              "  help: put large tensors into .npy files and name them in bindings\n");
    CHECK(contains(record.at("repeat"), "--filter line-" + std::string(line)));
  }
  CHECK(contains(folder.read("junit.xml"), "tests=\"5\""));
  CHECK(outcome.summary.at("complete") == true);
}

TEST_CASE("a line that is too long is read over as it comes, in little memory") {
  const BatchFolder folder({named_job("b")});
  const std::string limit = is_sanitized ? "" : "ulimit -v 1000000; ";
  // 1 GiB of a line, of which the program keeps 64 MiB for a while.
  const auto result = shell("{ head -c 1073741824 /dev/zero; echo; cat jobs.jsonl; } | { " + limit +
                                "exec dmlop batch - --cpu --jobs 1 --results r.jsonl; }",
                            {.folder = folder.path()});
  CHECK(result.code == 3);
  CHECK(contains(result.output, "INVALID line-1: this line has more than 67108864 bytes\n"));
  CHECK_FALSE(contains(result.output, "repeat:"));  // nobody could type it
  CHECK(contains(result.output, ": 1 PASSED, 1 INVALID\n"));
}

TEST_CASE("what is no batch is refused as a whole") {
  const BatchFolder folder;
  folder.write("empty/notes.txt", "");
  struct Row {
    std::string text;
    std::string error;
  };
  for (const Row& row : std::vector<Row>{
           {"{", "jobs.json:1:2: error: wrong JSON"},
           {"{}", "jobs.json:1:1: error: the field \"jobs\" is missing"},
           {R"({"jobs": {}})", "jobs.json:1:10: error: jobs is an object"},
           {R"({"jobs": [], "defaults": []})", "jobs.json:1:26: error: defaults is an empty array"},
           {R"({"jobs": [], "default": {}})", "jobs.json:1:14: error: unknown field \"default\""},
           {"7", "jobs.json:1:1: error: "},
       }) {
    CAPTURE(row.text);
    folder.write("jobs.json", row.text);
    const auto result = folder.batch({"jobs.json"});
    CHECK(result.code == 3);
    CHECK(result.error.starts_with(row.error));
    CHECK(result.output == "");
    const auto json = folder.batch({"jobs.json", "--format", "json"});
    CHECK(json.code == 3);
    CHECK(Json::parse(json.output).at("exitCode") == 3);
  }
  CHECK(folder.batch({"empty"}).code == 3);
  CHECK(contains(folder.batch({"empty"}).error, "no op.json lies in this folder or below it"));
  for (const char* name : {"none", "none.json", "none.jsonl"}) {
    const auto result = folder.batch({name});
    CHECK(result.code == 6);
    CHECK(result.error ==
          "dmlop: error: reading the jobs " + std::string(name) + ": No such file or directory\n");
  }
  CHECK(folder.batch({}).code == 2);
}

}  // namespace dmlop::test::batch_manifest_test
