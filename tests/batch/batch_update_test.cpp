// dmlop batch --update-golden: golden files of many jobs that follow what is computed, and only
// where nothing but a difference stands in the way.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "batch.hpp"
#include "batch/conclusion.hpp"
#include "onnx_writer.hpp"
#include "paths.hpp"

namespace dmlop::test::batch_update_test {
namespace {

namespace fs = std::filesystem;

/// Folders of jobs: "same" passes, "other" differs in one element, "new" has no golden file.
class TreeFolder : public BatchFolder {
 public:
  TreeFolder() {
    add("same", "golden.npy");
    add("other", "other.npy");
    add("new", "");
  }

  void add(const std::string& id, const std::string& golden, const std::string& input = "x.npy") {
    write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    write("jobs/" + id + "/InputTensor.npy", read(input));
    if (!golden.empty()) write(golden_of(id), read(golden));
  }
  static std::string golden_of(const std::string& id) {
    return "jobs/" + id + "/expected/OutputTensor.npy";
  }
};

std::string update_of(const Json& record) {
  const auto comparisons = record.value("comparisons", Json::array());
  return comparisons.empty() ? "" : comparisons.at(0).value("update", "");
}

}  // namespace

TEST_CASE("--update-golden writes what is missing or differs, and such jobs are UPDATED") {
  for (const bool accept : {false, true}) {
    CAPTURE(accept);
    const TreeFolder folder;
    const std::string option = accept ? "--update-golden=accept" : "--update-golden";
    const auto first = folder.run({"jobs", option});
    CHECK(first.code() == (accept ? 0 : 1));
    CHECK(first.statuses() == "new UPDATED, other UPDATED, same PASSED");
    CHECK(first.record("other").at("exitCode") == (accept ? 0 : 1));
    CHECK(update_of(first.record("other")) == "replaced");
    CHECK(update_of(first.record("new")) == "created");
    CHECK(update_of(first.record("same")) == "");
    for (const char* id : {"same", "other", "new"})
      CHECK(folder.read(TreeFolder::golden_of(id)) == folder.read("golden.npy"));
    // What was there is compared with what is there now.
    const Json comparison = first.record("other").at("comparisons").at(0);
    CHECK(comparison.at("mismatches") == 1);
    CHECK(comparison.at("worst").at(0).at("actual") == "3");
    CHECK(comparison.at("worst").at(0).at("expected") == "3.5");
    const std::string golden = TreeFolder::golden_of("other");
    CHECK(contains(first.program.output,
                   "UPDATED other: OutputTensor: replaced " + golden +
                       ": 1 of 6 elements differs (16.7%)\n"
                       "  worst: [5] was 3.5, is 3: 0.5 off, relative 0.1429, 2097152 ULP\n"
                       "  the differences are too large for a tolerance\n"));
    CHECK(contains(first.program.output, "UPDATED new: OutputTensor: created " +
                                             TreeFolder::golden_of("new") + ": FLOAT32 [6]\n"));
    CHECK(contains(first.program.output,
                   ": 1 PASSED, 2 UPDATED\n  1 golden file replaced, "
                   "1 created; look at what changed before you keep it\n"));
    const auto again = folder.run({"jobs", option});
    CHECK(again.code() == 0);
    CHECK(again.statuses() == "new PASSED, other PASSED, same PASSED");
    CHECK_FALSE(contains(again.program.output, "golden file"));
  }
}

TEST_CASE("--update-golden leaves the golden files of other jobs alone") {
  const TreeFolder folder;
  CHECK(folder.batch({"jobs", "--update-golden=accept", "--filter", "n*"}).code == 0);
  CHECK(folder.read(TreeFolder::golden_of("other")) == folder.read("other.npy"));
  CHECK(folder.read(TreeFolder::golden_of("new")) == folder.read("golden.npy"));
  CHECK(folder.run({"jobs", "--update-golden=accept", "--atol", "0.5"}).statuses() ==
        "new PASSED, other PASSED, same PASSED");
  CHECK(folder.read(TreeFolder::golden_of("other")) == folder.read("other.npy"));
}

TEST_CASE("a job that fails for another reason than a difference is never blessed") {
  TreeFolder folder;
  folder.add("all_nan", "golden.npy", "nan3.npy");
  folder.add("new_nan", "", "nan3.npy");
  folder.add("nan_again", "nan.npy", "nan3.npy");
  folder.add("shape_nan", "one.npy", "nan3.npy");
  folder.add("broken", "golden.npy");
  folder.write("jobs/broken/op.json", "{" + edge_fields);
  folder.add("unread", "golden.npy");
  folder.write(TreeFolder::golden_of("unread"), "no array");
  folder.add("absent", "other.npy");
  fs::remove(folder / "jobs/absent/InputTensor.npy");
  folder.add("skipped", "other.npy");
  folder.write("jobs/skipped/job.json", R"({"skip": "why"})");
  folder.add("known", "other.npy");
  folder.write("jobs/known/job.json", R"({"xfail": "why"})");
  folder.add("unsupported", "other.npy");
  fs::remove(folder / "jobs/unsupported/op.json");
  folder.write("jobs/unsupported/model.json", "{" + unsupported_members + "}");
  std::map<std::string, std::string> before;
  for (const char* id : {"all_nan", "nan_again", "shape_nan", "broken", "unread", "absent",
                         "skipped", "known", "unsupported"})
    before[id] = folder.read(TreeFolder::golden_of(id));
  const auto outcome = folder.run({"jobs", "--update-golden=accept"});
  CHECK(outcome.statuses() ==
        "absent INVALID, all_nan MISTRUSTED, broken INVALID, known XFAIL, nan_again MISTRUSTED, "
        "new UPDATED, new_nan MISTRUSTED, other UPDATED, same PASSED, shape_nan MISTRUSTED, "
        "skipped SKIPPED, unread INVALID, unsupported UNSUPPORTED");
  for (const auto& [id, bytes] : before) {
    CAPTURE(id);
    CHECK(folder.read(TreeFolder::golden_of(id)) == bytes);
  }
  CHECK_FALSE(folder.has("jobs/new_nan/expected"));
  CHECK(contains(outcome.record("all_nan").at("message"), " is left alone, as "));
  CHECK(contains(outcome.record("all_nan").at("message"), "; --allow-trivial writes it"));
  CHECK(folder.run({"jobs", "--update-golden=accept", "--allow-trivial", "--filter", "*_nan"})
            .statuses() == "all_nan UPDATED, new_nan UPDATED, shape_nan UPDATED");
  CHECK(folder.read(TreeFolder::golden_of("all_nan")) == folder.read("nan.npy"));
}

TEST_CASE("--update-golden: jobs of lists name their golden files") {
  const BatchFolder folder({named_job("a", "other.npy"), named_job("b", "deep/new.npy"),
                            edge_job(R"("id": "c")"), named_job("d", "x.npy"),
                            named_job("e", "deep/new.npy")});
  const auto outcome = folder.run({"jobs.jsonl", "--update-golden=accept", "--jobs", "1"});
  CHECK(outcome.statuses() == "a UPDATED, b INVALID, c UNCOMPARED, d INVALID, e INVALID");
  CHECK(folder.read("other.npy") == folder.read("golden.npy"));
  CHECK_FALSE(folder.has("deep/new.npy"));
  // Neither an input nor the golden file of another job, which runs beside this one.
  CHECK(folder.read("x.npy") == float_npy("(3,)", {1, 2, 3}));
  CHECK(contains(outcome.record("d").at("message"), "would replace the file of InputTensor"));
  for (const char* id : {"b", "e"}) {
    CHECK(contains(outcome.record(id).at("message"),
                   "belongs to another job of this batch, too: deep/new.npy"));
  }
  // Without an update they may share it.
  folder.write("deep/new.npy", folder.read("golden.npy"));
  CHECK(folder.run({"jobs.jsonl", "--filter", "[be]"}).statuses() == "b PASSED, e PASSED");
}

TEST_CASE("--update-golden: no golden file replaces a report of the batch") {
  const BatchFolder folder({named_job("a", "report.xml")});
  const auto outcome =
      folder.run({"jobs.jsonl", "--update-golden=accept", "--junit", "report.xml"});
  CHECK(outcome.status("a") == "INVALID");
  CHECK(contains(outcome.record("a").at("message"), "which this batch writes as its report"));
}

TEST_CASE("--update-golden creates and replaces the golden files of models") {
  const BatchFolder folder;
  const std::string samples = source_path("samples/");
  folder.write("jobs/m/model.json", read_file(samples + "dxdispatch/padding.json"));
  folder.write("jobs/padding/InputTensor.npy", read_file(samples + "padding/InputTensor.npy"));
  CHECK(folder.run({"jobs"}).status("m") == "UNCOMPARED");
  CHECK(folder.run({"jobs", "--update-golden=accept"}).status("m") == "UPDATED");
  CHECK(folder.read("jobs/m/expected/Out.npy").size() > 128);
  CHECK(folder.run({"jobs"}).status("m") == "PASSED");
  folder.write("jobs/m/expected/Out.npy", float_npy("(1,)", {1}));
  const auto wrong = folder.run({"jobs"});
  CAPTURE(wrong.program.output);
  CHECK(wrong.status("m") == "FAILED");
  const auto updated = folder.run({"jobs", "--update-golden=accept"});
  CHECK(updated.status("m") == "UPDATED");
  CHECK(update_of(updated.record("m")) == "replaced");
  CHECK(folder.run({"jobs"}).status("m") == "PASSED");
  // Not what the model reads.
  std::string model = folder.read("jobs/m/model.json");
  const std::string input = "../padding/InputTensor.npy";
  model.replace(model.find(input), input.size(), "expected/Out.npy");
  folder.write("jobs/m/model.json", model);
  folder.write("jobs/m/expected/Out.npy", folder.read("jobs/padding/InputTensor.npy"));
  CHECK(folder.run({"jobs"}).status("m") == "FAILED");
  CHECK(folder.run({"jobs", "--update-golden=accept"}).status("m") == "INVALID");
  CHECK(folder.read("jobs/m/expected/Out.npy") == folder.read("jobs/padding/InputTensor.npy"));
}

TEST_CASE("--update-golden: of three golden files, whichever are missing are made") {
  const fs::path sample = source_path("samples/adam_optimizer");
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(sample / "expected"))
    names.push_back(file.path().filename().string());
  REQUIRE(names.size() == 3);
  for (unsigned missing = 1; missing < 8; ++missing) {
    CAPTURE(missing);
    const BatchFolder folder;
    fs::create_directory(folder / "jobs");
    fs::copy(sample, folder / "jobs/adam", fs::copy_options::recursive);
    for (unsigned i = 0; i < 3; ++i) {
      if ((missing >> i & 1) != 0) fs::remove(folder / ("jobs/adam/expected/" + names[i]));
    }
    CHECK(folder.run({"jobs", "--update-golden"}).code() == 1);
    for (const std::string& name : names)
      CHECK(folder.read("jobs/adam/expected/" + name) == read_file(sample / "expected" / name));
    CHECK(folder.run({"jobs", "--update-golden"}).code() == 0);
  }
}

TEST_CASE("--update-golden: the golden file of a job with xfail is nobody else's") {
  const BatchFolder folder(
      {named_job("known", "other.npy", R"("xfail": "why")"), named_job("new", "other.npy")});
  const std::string before = folder.read("other.npy");
  const auto outcome = folder.run({"jobs.jsonl", "--update-golden=accept", "--jobs", "1"});
  CHECK(outcome.statuses() == "known XFAIL, new INVALID");
  CHECK(folder.read("other.npy") == before);
}

TEST_CASE("--update-golden and --confine: nothing is written outside") {
  const TreeFolder folder;
  folder.write("far/keep", "");
  fs::create_directory_symlink("../../far", folder / "jobs/new/expected");
  const auto outcome = folder.run({"jobs", "--update-golden=accept", "--confine"});
  CHECK(outcome.statuses() == "new INVALID, new/expected INVALID, other UPDATED, same PASSED");
  CHECK_FALSE(folder.has("far/OutputTensor.npy"));
}

TEST_CASE("--update-golden: reports tell of the update as the records do") {
  const TreeFolder folder;
  const auto outcome = folder.run({"jobs", "--update-golden", "--html", "r.html", "--junit",
                                   "r.xml", "--github", "--format", "text"});
  CHECK(contains(folder.read("r.xml"), "failures=\"2\" errors=\"0\" skipped=\"0\""));
  CHECK(contains(folder.read("r.xml"), " type=\"UPDATED\""));
  CHECK(contains(outcome.program.output, "::error title=UPDATED other,file=jobs/other/op.json,"));
  const std::string html = folder.read("r.html");
  CHECK(contains(html, R"("update":"replaced")"));
  CHECK(contains(html, R"("pictures":{)"));  // of old and new
  CHECK_FALSE(contains(html.substr(html.find(R"("good":)"), 40), "UPDATED"));
  const auto json = folder.batch({"jobs", "--update-golden", "--format", "json", "-q"});
  CHECK(Json::parse(json.output).at("counts").at("PASSED") == 3);
  fs::remove(folder / TreeFolder::golden_of("new"));
  const auto accepted = folder.batch({"jobs", "--update-golden=accept", "--format", "json",
                                      "--junit", "a.xml", "--html", "a.html", "-q"});
  CHECK(accepted.code == 0);
  const Json summary = Json::parse(accepted.output);
  CHECK(summary.at("status") == "done");
  CHECK(summary.at("goldenFiles") == Json{{"created", 1}, {"replaced", 0}});
  CHECK(summary.at("jobs").at(0).at("status") == "UPDATED");
  CHECK(contains(folder.read("a.xml"), "failures=\"0\" errors=\"0\" skipped=\"0\""));
  CHECK(contains(folder.read("a.html").substr(folder.read("a.html").find(R"("good":)"), 40),
                 "UPDATED"));
}

TEST_CASE("--resume and --merge take UPDATED records; what was updated runs again") {
  const TreeFolder folder;
  folder.run({"jobs", "--update-golden=accept"});
  CHECK(folder.batch({"--merge", "records.jsonl"}).code == 0);
  const auto resumed = folder.batch({"jobs", "--resume", "--results", "records.jsonl"});
  CHECK(resumed.code == 0);
  CHECK(contains(resumed.output, ": 3 PASSED (1 from an earlier run)\n"));
}

TEST_CASE("an update that cannot be written is an error, and the old golden file stays") {
  const TreeFolder folder;
  const std::string before = folder.read(TreeFolder::golden_of("other"));
  fs::create_directories(folder / "jobs/new");
  folder.write("jobs/new/expected", "a file where a folder would be");
  const auto outcome = folder.run({"jobs", "--update-golden=accept", "--filter", "new"});
  CHECK(outcome.status("new") == "ERROR");
  CHECK(outcome.code() == 6);
  CHECK(folder.read("jobs/new/expected") == "a file where a folder would be");
  CHECK(folder.read(TreeFolder::golden_of("other")) == before);
}

TEST_CASE("what several outputs come to: each has its own update, the job one status") {
  using dmlop::GoldenUpdate;
  using dmlop::Status;
  using dmlop::UpdateGolden;
  dmlop::OutputComparison same{"A", "a.npy", {}, GoldenUpdate::none};
  same.comparison.elements = 2;
  dmlop::OutputComparison wrong = same, created = same, replaced = same, refused = same;
  wrong.tensor = "B";
  wrong.comparison.mismatches = 1;
  created.update = GoldenUpdate::created;
  replaced = wrong;
  replaced.tensor = "C";
  replaced.update = GoldenUpdate::replaced;
  refused.update = GoldenUpdate::refused;
  struct Row {
    std::vector<dmlop::OutputComparison> outputs;
    std::string xfail;
    UpdateGolden update;
    Status status;
    int code;
  };
  for (const Row& row : std::vector<Row>{
           {{}, "", UpdateGolden::no, Status::passed, 0},
           {{same, same}, "", UpdateGolden::accept, Status::passed, 0},
           {{same, wrong}, "", UpdateGolden::no, Status::failed, 1},
           {{created, replaced, same}, "", UpdateGolden::write, Status::updated, 1},
           {{created, replaced, same}, "", UpdateGolden::accept, Status::updated, 0},
           {{created, refused}, "", UpdateGolden::accept, Status::mistrusted, 1},
           {{refused, wrong}, "", UpdateGolden::accept, Status::failed, 1},
           {{same, wrong}, "why", UpdateGolden::no, Status::xfail, 0},
           {{same}, "why", UpdateGolden::no, Status::xpass, 1},
           {{refused}, "why", UpdateGolden::no, Status::mistrusted, 1},
       }) {
    dmlop::BatchResult result;
    dmlop::conclude(row.outputs, row.xfail, row.update, result);
    CHECK(dmlop::name_of(result.status) == dmlop::name_of(row.status));
    CHECK(result.exit_code == row.code);
    CHECK(dmlop::outcome_of(result.status, result.exit_code).has_value());
  }
  dmlop::BatchResult result;
  dmlop::conclude({created, replaced, same}, "", UpdateGolden::write, result);
  CHECK(result.golden_created == 1);
  CHECK(result.golden_replaced == 1);
  CHECK(contains(result.message, "A: created a.npy"));
  CHECK(contains(result.brief, "C: replaced a.npy"));
}

TEST_CASE("--update-golden replaces nothing that another job reads, by whatever name") {
  struct Row {
    std::string golden;
    std::string input;
    std::string manifest;
  };
  for (const Row& row : std::vector<Row>{{"k2/in.npy", "k2/in.npy", "jobs.jsonl"},
                                         {"k2/in.npy", "link.npy", "jobs.jsonl"},
                                         {"link.npy", "k2/in.npy", "jobs.jsonl"},
                                         {"k2/in.npy", "./k2/../k2/in.npy", "jobs.json"},
                                         {"k2/in.npy", "k2/in.npy", "-"}}) {
    CAPTURE(row.golden);
    CAPTURE(row.input);
    CAPTURE(row.manifest);
    const BatchFolder folder;
    const std::string second = edge_job(R"("id": "second", "expect": "golden.npy")", row.input);
    const std::vector<std::string> jobs{second, named_job("first", row.golden)};
    folder.write("jobs.jsonl", lines_of(jobs));
    folder.write("jobs.json", "[" + jobs[1] + ", " + jobs[0] + "]");
    folder.write("k2/in.npy", folder.read("other.npy"));
    fs::create_symlink("k2/in.npy", folder / "link.npy");
    const auto outcome = folder.run({row.manifest, "--update-golden=accept", "--jobs", "1"},
                                    row.manifest == "-" ? lines_of(jobs) : "");
    CHECK(outcome.status("first") == "INVALID");
    CHECK(contains(outcome.record("first").at("message"),
                   "the golden file of OutputTensor belongs to another job of this batch, too"));
    CHECK(folder.read("k2/in.npy") == folder.read("other.npy"));
  }
}

TEST_CASE("--update-golden: a folder's job and a model keep their inputs from other jobs") {
  const TreeFolder folder;
  folder.write("jobs/m/model.json", read_file(source_path("samples/dxdispatch/padding.json")));
  folder.write("jobs/padding/InputTensor.npy", folder.read("other.npy"));
  folder.write("list.json", "[" + named_job("a", "jobs/same/InputTensor.npy") + ", " +
                                named_job("b", "jobs/padding/InputTensor.npy") + "]");
  const std::string before = folder.read("jobs/same/InputTensor.npy");
  const auto outcome = folder.run({"jobs", "list.json", "--update-golden=accept"});
  CHECK(outcome.status("list/a") == "INVALID");
  CHECK(outcome.status("list/b") == "INVALID");
  CHECK(folder.read("jobs/same/InputTensor.npy") == before);
  CHECK(folder.read("jobs/padding/InputTensor.npy") == folder.read("other.npy"));
}

TEST_CASE("--update-golden: graphs and ONNX models keep their data from other jobs") {
  namespace onnx = onnx_bytes;
  const std::string weights = onnx::external_tensor("w", 1, {6}, "golden.npy");
  const std::string graph = R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [3]}],
    "constants": {"c": "golden.npy"}, "nodes": [{"type": "ACTIVATION_RELU",
    "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})";
  for (const bool is_onnx : {false, true}) {
    CAPTURE(is_onnx);
    const std::string file = is_onnx ? "model.onnx" : "graph.json";
    const BatchFolder folder(
        {named_job("a", "golden.npy"),
         R"({"id": "b", "graph": ")" + file + R"(", "bindings": {"x": "x.npy", "y": "y.npy"}})"});
    folder.write("golden.npy", folder.read("other.npy"));
    folder.write("graph.json", graph);
    folder.write("model.onnx", onnx::model({.nodes = {onnx::node("Relu", {"x"}, {"y"})},
                                            .initializers = {weights},
                                            .inputs = {onnx::value("x", {"3"})},
                                            .outputs = {onnx::value("y", {"3"})}}));
    const std::string before = folder.read("golden.npy");
    const auto outcome = folder.run({"jobs.jsonl", "--update-golden=accept"});
    CHECK(outcome.status("a") == "INVALID");
    CHECK(folder.read("golden.npy") == before);
  }
}

TEST_CASE("--update-golden: a golden file of two jobs is replaced for neither, however chosen") {
  for (const char* manifest : {"jobs.jsonl", "jobs.json"}) {
    for (const std::vector<std::string>& choice : std::vector<std::vector<std::string>>{
             {}, {"--filter", "a"}, {"--exclude", "a"}, {"--shard", "0/2"}, {"--shard", "1/2"}}) {
      CAPTURE(manifest);
      CAPTURE(dmlop::join(choice));
      const std::vector<std::string> jobs{named_job("a", "other.npy"), named_job("b", "other.npy")};
      const BatchFolder folder(jobs);
      folder.write("jobs.json", "[" + jobs[0] + ", " + jobs[1] + "]");
      const std::string before = folder.read("other.npy");
      std::vector<std::string> arguments{manifest, "--update-golden=accept"};
      arguments.insert(arguments.end(), choice.begin(), choice.end());
      const auto outcome = folder.run(arguments);
      CHECK(outcome.records.size() == (choice.empty() ? 2 : 1));
      for (const Json& record : outcome.records) CHECK(record.at("status") == "INVALID");
      CHECK(folder.read("other.npy") == before);
    }
  }
}

TEST_CASE(
    "--update-golden: NaN that equals nothing is never UPDATED, as the next batch would fail") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* golden : {"some.npy", "other.npy", "new.npy"}) {
    CAPTURE(golden);
    const BatchFolder folder({edge_job(
        R"("id": "a", "tolerance": {"nan": "differ"}, "expect": ")" + std::string(golden) + "\"",
        "in.npy")});
    folder.write("in.npy", float_npy("(3,)", {1, nan, 3}));
    folder.write("some.npy", float_npy("(6,)", {1, 1, nan, 3, 3, 3}));
    const std::string before = folder.has(golden) ? folder.read(golden) : "";
    const auto outcome = folder.run({"jobs.jsonl", "--update-golden=accept"});
    CHECK(outcome.code() == 1);
    CHECK(outcome.status("a") == "MISTRUSTED");
    CHECK(contains(outcome.record("a").at("message"), "the output holds NaN"));
    CHECK((folder.has(golden) ? folder.read(golden) : "") == before);
  }
}

}  // namespace dmlop::test::batch_update_test
