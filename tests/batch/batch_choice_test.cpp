// Which jobs of a batch run and what is expected of them: job.json, tags, skip and xfail, --list,
// --filter and --exclude, shards, several JOBS, and tolerances of the command line.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "batch.hpp"
#include "paths.hpp"

namespace dmlop::test::batch_choice_test {
namespace {

namespace fs = std::filesystem;

/// A folder "jobs" with jobs that pass ("good") and differ ("wrong", "worse").
class ChoiceFolder : public BatchFolder {
 public:
  ChoiceFolder() {
    add("good", "golden.npy");
    add("wrong", "other.npy");
    add("worse", "other.npy");
  }
  void add(const std::string& id, const std::string& golden) {
    write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    write("jobs/" + id + "/InputTensor.npy", read("x.npy"));
    write("jobs/" + id + "/expected.npy", read(golden));
  }
  /// The lines of --list.
  std::string list(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), "--list");
    const auto result = batch(arguments);
    CHECK(result.code == 0);
    std::string text = result.output;
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
};

/// What --list prints for shard i of n, without the jobs of other shards.
std::vector<std::size_t> dealt(const BatchFolder& folder, const std::string& jobs, int shards,
                               const std::vector<std::string>& options = {}) {
  std::vector<std::size_t> sizes;
  std::set<std::string> all;
  std::size_t sum = 0;
  for (int i = 0; i < shards; ++i) {
    std::vector<std::string> arguments{jobs, "--list", "--shard",
                                       std::to_string(i) + "/" + std::to_string(shards)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = folder.batch(arguments);
    CHECK(result.code == 0);
    sizes.push_back(count_of(result.output, "\n"));
    sum += sizes.back();
    for (std::size_t at = 0; at < result.output.size();) {
      const std::size_t end = result.output.find('\n', at);
      all.insert(result.output.substr(at, end - at));
      at = end + 1;
    }
  }
  CHECK(all.size() == sum);  // each job in one shard
  return sizes;
}

}  // namespace

TEST_CASE("job.json: tags choose the job, skip and xfail say what becomes of it") {
  ChoiceFolder folder;
  folder.write("jobs/good/job.json", R"({"$schema": "x.json", "tags": ["slow", "edge"]})");
  folder.write("jobs/wrong/job.json", R"({"xfail": "known since May", "tags": ["edge"],})");
  folder.write("jobs/worse/job.json", R"({"skip": "needs a GPU"})");
  const auto all = folder.run({"jobs"});
  CHECK(all.code() == 0);
  CHECK(all.statuses() == "good PASSED, worse SKIPPED, wrong XFAIL");
  CHECK(all.record("worse").at("message") == "needs a GPU");
  CHECK(all.record("wrong").at("message") ==
        "known since May; OutputTensor: 1 of 6 elements differs (16.7%)");
  CHECK(all.record("good").at("tags") == Json{"slow", "edge"});
  CHECK(folder.run({"jobs", "--tag", "slow"}).statuses() == "good PASSED");
  CHECK(folder.run({"jobs", "--tag", "edge"}).statuses() == "good PASSED, wrong XFAIL");
  // It belongs to a model, too.
  folder.write("jobs/model/model.json", "{");
  folder.write("jobs/model/job.json", R"({"skip": "not ready"})");
  CHECK(folder.run({"jobs"}).status("model") == "SKIPPED");
}

TEST_CASE("xfail passes where the job is FAILED, and fails where it ends in any other way") {
  const std::string xfail = R"("xfail": "known")";
  const BatchFolder folder(
      {named_job("wrong", "other.npy", xfail), named_job("good", "golden.npy", xfail),
       edge_job(R"("id": "blind", )" + xfail), named_job("absent", "none.npy", xfail),
       edge_job(R"("id": "void", "expect": "nan.npy", )" + xfail, "nan3.npy"),
       R"({"id": "typo", "type": "PADDING", "desc": {"PaddingMode": "EDG"}, )" + xfail + "}",
       named_job("both", "other.npy", R"("skip": "later", )" + xfail)});
  const auto outcome = folder.run({"jobs.jsonl", "--junit", "j.xml"});
  CHECK(outcome.statuses() ==
        "absent ERROR, blind UNCOMPARED, both SKIPPED, good XPASS, typo INVALID, void MISTRUSTED, "
        "wrong XFAIL");
  CHECK(outcome.record("wrong").at("exitCode") == 0);
  CHECK(outcome.record("good").at("exitCode") == 1);
  CHECK(outcome.record("good").at("message") ==
        "it matches its golden files, although its xfail says that it differs: known");
  CHECK_FALSE(contains(outcome.program.output, "XFAIL wrong"));
  CHECK(contains(outcome.program.output, "XPASS good: "));
  const std::string xml = folder.read("j.xml");
  CHECK(contains(xml, "tests=\"7\" failures=\"3\" errors=\"2\" skipped=\"2\""));
  CHECK(contains(xml,
                 "<skipped message=\"known; OutputTensor: 1 of 6 elements differs (16.7%)\" "
                 "type=\"XFAIL\">"));
  CHECK(folder.batch({"jobs.jsonl", "--filter", "wrong", "--fail-fast"}).code == 0);
  CHECK(folder.batch({"jobs.jsonl", "--filter", "good"}).code == 1);
}

TEST_CASE("--run-xfail runs jobs as if they had no xfail") {
  const std::string xfail = R"("xfail": "known")";
  const BatchFolder folder({named_job("wrong", "other.npy", xfail),
                            named_job("good", "golden.npy", xfail),
                            named_job("late", "other.npy", R"("skip": "later", )" + xfail)});
  const auto outcome = folder.run({"jobs.jsonl", "--run-xfail"});
  CHECK(outcome.statuses() == "good PASSED, late SKIPPED, wrong FAILED");
  CHECK(outcome.code() == 1);
  CHECK(outcome.record("wrong").at("message") == "OutputTensor: 1 of 6 elements differs (16.7%)");
  CHECK(contains(outcome.record("wrong").at("repeat").get<std::string>(), " --run-xfail "));
  // What passed so is no expected failure of a later run.
  CHECK(contains(folder.run({"jobs.jsonl", "--filter", "good", "--resume"}).program.output,
                 ": 1 XPASS\n"));
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"--list"}, {"--update-golden"}}) {
    std::vector<std::string> arguments{"jobs.jsonl", "--run-xfail"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    const auto refused = folder.batch(arguments);
    CHECK(refused.code == 2);
    CHECK(contains(refused.error, "--run-xfail"));
  }
  CHECK(folder.batch({"--merge", "records.jsonl", "--run-xfail"}).code == 2);
}

TEST_CASE("--resume notices an xfail that came, and proves nothing by one") {
  ChoiceFolder folder;
  const std::vector<std::string> resume{"jobs", "--resume", "--filter", "good"};
  CHECK(folder.run({"jobs", "--filter", "good"}).status("good") == "PASSED");
  CHECK(contains(folder.run(resume).program.output, "1 PASSED (1 from an earlier run)"));
  folder.write("jobs/good/job.json", R"({"xfail": "known"})");
  CHECK(contains(folder.run(resume).program.output, ": 1 XPASS\n"));
}

TEST_CASE("mistakes in job.json are found, with their places, and annotated there") {
  struct Row {
    std::string text;
    std::string message;
    std::string place;
  };
  for (const Row& row : std::vector<Row>{
           {"{\n \"tag\": [\"x\"]}", "unknown field \"tag\"; did you mean \"tags\"?", "2,col=2"},
           {R"({"skip": true})", "skip is true", "1,col=10"},
           {R"({"xfail": ""})", "xfail is the string \"\"", "1,col=11"},
           {R"({"tags": "x"})", "tags is the string \"x\"", "1,col=10"},
           {R"({"skip": })", "wrong JSON", "1,col=10"},
           {"7", "job.json is 7", "1,col=1"},
       }) {
    CAPTURE(row.text);
    const ChoiceFolder folder;
    folder.write("jobs/good/job.json", row.text);
    const auto outcome = folder.run({"jobs", "--filter", "good", "--github"});
    CHECK(outcome.status("good") == "INVALID");
    CHECK(outcome.record("good").at("message").get<std::string>().starts_with(row.message));
    CHECK(contains(outcome.program.output,
                   "::error title=INVALID good,file=jobs/good/job.json,line=" + row.place + "::"));
  }
}

TEST_CASE("job.json is confined like the other files of a job") {
  const ChoiceFolder folder;
  folder.write("secret.json", R"({"skip": "the secret"})");
  fs::create_symlink("../../secret.json", folder / "jobs/good/job.json");
  const auto outcome = folder.run({"jobs", "--confine", "--filter", "good"});
  CHECK(outcome.status("good") == "INVALID");
  CHECK_FALSE(contains(outcome.program.output, "the secret"));
}

TEST_CASE("--list prints the selected jobs and runs none") {
  const ChoiceFolder folder;
  folder.write("jobs/wrong/job.json", R"({"xfail": "known", "tags": ["a", "b"]})");
  CHECK(folder.list({"jobs"}) == "good worse wrong ");
  CHECK(folder.list({"jobs", "--filter", "w*"}) == "worse wrong ");
  CHECK(folder.list({"jobs", "--exclude", "wor*"}) == "good wrong ");
  CHECK(folder.list({"jobs", "--filter", "w*", "--exclude", "wrong", "--exclude", "x"}) ==
        "worse ");
  CHECK(folder.list({"jobs", "--tag", "b"}) == "wrong ");
  const auto verbose = folder.batch({"jobs", "--list", "-v", "--tag", "a"});
  CHECK(verbose.output == "wrong\n  jobs/wrong/op.json  #a  #b  xfail: known\n");
  const auto json = folder.batch({"jobs", "--list", "--format", "json", "--tag", "a"});
  CHECK(Json::parse(json.output) == Json{{"jobs",
                                          {{{"id", "wrong"},
                                            {"place", "jobs/wrong/op.json"},
                                            {"tags", {"a", "b"}},
                                            {"xfail", "known"}}}}});
  CHECK(folder.batch({"jobs", "--list", "--filter", "none"}).code == 2);
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--junit", "j.xml"},
                                             {"--results", "r.jsonl"},
                                             {"--html", "h.html"},
                                             {"--github"},
                                             {"--update-golden"}}) {
    std::vector<std::string> arguments{"jobs", "--list"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    CHECK(folder.batch(arguments).code == 2);
  }
  CHECK_FALSE(folder.has("j.xml"));
}

TEST_CASE("shards are dealt out evenly: of folders, JSON files and JSON Lines") {
  BatchFolder folder;
  std::vector<std::string> lines, tagged;
  for (int i = 0; i < 10; ++i) {
    const std::string id = "job" + std::to_string(i);
    const std::string tag = i < 6 ? R"("tags": ["t"])" : R"("tags": [])";
    lines.push_back(named_job(id, "golden.npy", tag));
    folder.write("jobs/" + id + "/op.json", edge_job("", "../../x.npy"));
    folder.write("jobs/" + id + "/expected.npy", folder.read("golden.npy"));
    folder.write("jobs/" + id + "/job.json", "{" + tag + "}");
  }
  folder.write("jobs.jsonl", lines_of(lines));
  std::string list;
  for (const std::string& line : lines) list += (list.empty() ? "" : ",") + line;
  folder.write("jobs.json", "[" + list + "]");
  for (const char* jobs : {"jobs", "jobs.json", "jobs.jsonl"}) {
    CAPTURE(jobs);
    CHECK(dealt(folder, jobs, 1) == std::vector<std::size_t>{10});
    CHECK(dealt(folder, jobs, 4) == std::vector<std::size_t>{3, 3, 2, 2});
    CHECK(dealt(folder, jobs, 5) == std::vector<std::size_t>{2, 2, 2, 2, 2});
    // What is not selected takes no place.
    CHECK(dealt(folder, jobs, 3, {"--tag", "t"}) == std::vector<std::size_t>{2, 2, 2});
    CHECK(dealt(folder, jobs, 2, {"--exclude", "job[89]"}) == std::vector<std::size_t>{4, 4});
  }
  // The same jobs in the same shard, from a folder or a list.
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    std::multiset<std::string> of_folder, of_list;
    for (const Json& record : folder.run({"jobs", "--shard", shard}).records)
      of_folder.insert(record.at("id"));
    for (const Json& record : folder.run({"jobs.json", "--shard", shard}).records)
      of_list.insert(record.at("id"));
    CHECK((of_folder == of_list));
  }
}

TEST_CASE("an empty shard of a batch that has jobs passes with a note") {
  const BatchFolder folder({named_job("a"), named_job("b")});
  folder.write("jobs.json", "[" + named_job("a") + "," + named_job("b") + "]");
  for (const char* jobs : {"jobs.json", "jobs.jsonl"}) {
    CAPTURE(jobs);
    CHECK(folder.batch({jobs, "--shard", "0/1000000", "-q"}).code == 0);
    const auto many = folder.batch({jobs, "--shard", "0/1000001"});
    CHECK(many.code == 2);
    CHECK(contains(many.error, "N at most 1000000"));
    const auto empty = folder.batch({jobs, "--shard", "2/3", "--results", "r2.jsonl"});
    CHECK(empty.code == 0);
    CHECK(empty.error == "dmlop: note: shard 2/3 has none of the 2 jobs\n");
    CHECK(folder.batch({jobs, "--shard", "2/3", "-q"}).error == "");
    // Nobody misses it when the shards are put together.
    folder.batch({jobs, "--shard", "0/3", "--results", "r0.jsonl"});
    folder.batch({jobs, "--shard", "1/3", "--results", "r1.jsonl"});
    CHECK(folder.batch({"--merge", "r0.jsonl", "r1.jsonl", "r2.jsonl"}).code == 0);
    CHECK(folder.batch({"--merge", "r0.jsonl", "r1.jsonl"}).code == 5);
    // No job at all is another matter.
    const auto none = folder.batch({jobs, "--shard", "2/3", "--filter", "none"});
    CHECK(none.code == 2);
    CHECK(contains(none.error, "no job is selected"));
  }
}

TEST_CASE("several JOBS are one batch, with ids that begin with their names") {
  ChoiceFolder folder;
  folder.write("more/jobs/good/op.json", edge_job("", "../../../x.npy"));
  folder.write("more/jobs/good/expected.npy", folder.read("golden.npy"));
  folder.write("list.jsonl", lines_of({named_job("good"), edge_job(R"("expect": "golden.npy")")}));
  folder.write("list.json", "[" + named_job("good", "other.npy") + "]");
  folder.write("edge.json", edge_job());
  const std::vector<std::string> all{"jobs", "more/jobs/", "list.jsonl", "list.json", "edge.json"};
  CHECK(folder.list(all) ==
        "jobs/good jobs/worse jobs/wrong jobs-2/good list/good list/line-2 list-2/good edge ");
  std::vector<std::string> some = all;
  some.insert(some.end(), {"--filter", "*/good", "--out", "out"});
  const auto outcome = folder.run(some);
  CHECK(outcome.code() == 1);
  CHECK(outcome.statuses() ==
        "jobs-2/good PASSED, jobs/good PASSED, list-2/good FAILED, list/good PASSED");
  CHECK(folder.has("out/list/good/OutputTensor.npy"));
  // What repeats one of them names them all.
  const auto again = shell(
      outcome.record("list-2/good").at("repeat").get<std::string>() + " --results again.jsonl",
      {.folder = folder.path()});
  CHECK(again.code == 1);
  CHECK(read_records(folder.read("again.jsonl")).at(0).at("id") == "list-2/good");
  // As a shell names them.
  CHECK(folder.list({"jobs/good", "jobs/worse/op.json"}) == "good worse ");
  CHECK(folder.batch({"jobs", "-"}).code == 2);
  CHECK(folder.batch({"jobs", "none"}).code == 6);
  folder.write("empty/notes.txt", "");
  const auto empty = folder.batch({"jobs", "empty"});
  CHECK(empty.code == 3);
  CHECK(contains(empty.error, "empty: error: no op.json lies in this folder or below it"));
}

TEST_CASE("no two jobs of several JOBS have the same id") {
  BatchFolder folder;
  for (const char* name : {"a/op.json", "a/model.json", "a/model/op.json", "a/a/op.json",
                           "b/a/op.json", "a-2/op.json"})
    folder.write(name, "{}");
  const auto result = folder.batch({"a", "b/a", "a-2", "--list"});
  std::set<std::string> ids;
  for (std::size_t at = 0; at < result.output.size();) {
    const std::size_t end = result.output.find('\n', at);
    CHECK(ids.insert(result.output.substr(at, end - at)).second);
    at = end + 1;
  }
  CHECK(ids.size() == 6);
}

TEST_CASE("one op description or model is a batch of one, with the files beside it") {
  ChoiceFolder folder;
  folder.write("jobs/good/job.json", R"({"tags": ["t"]})");
  const auto one = folder.run({"jobs/good/op.json"});
  CHECK(one.statuses() == "good PASSED");
  CHECK(one.record("good").at("tags") == Json{"t"});
  fs::copy_file(folder / "jobs/good/op.json", folder / "jobs/good/edge.json");
  // Of a folder that may have many, no file is anybody's by its name.
  CHECK(folder.run({"jobs/good/edge.json"}).statuses() == "edge INVALID");
  folder.write("jobs/good/tol.json", R"({"rtol": "x"})");
  CHECK(folder.run({"jobs/good/op.json"}).status("good") == "INVALID");
  // One that is broken is a broken job, by its name, and the others go on.
  folder.write("jobs/worse/op.json", "{");
  CHECK(folder.run({"jobs/worse/op.json", "jobs/wrong/op.json"}).statuses() ==
        "worse INVALID, wrong FAILED");
  const std::string samples = source_path("samples/");
  CHECK(folder.run({samples + "dxdispatch/padding.json", "--out", "out"}).statuses() ==
        "padding PASSED");
  CHECK(folder.has("out/padding/padded.npy"));
}

TEST_CASE("tolerances of the command line win over the jobs'") {
  ChoiceFolder folder;
  CHECK(folder.run({"jobs", "--filter", "wrong"}).status("wrong") == "FAILED");
  const auto loose = folder.run({"jobs", "--filter", "wrong", "--atol", "0.5"});
  CHECK(loose.status("wrong") == "PASSED");
  CHECK(loose.record("wrong").at("comparisons").at(0).at("toleranceOrigin") == "command line");
  folder.write("jobs/wrong/tol.json", R"({"atol": 0.5})");
  CHECK(folder.run({"jobs", "--filter", "wrong"}).status("wrong") == "PASSED");
  const auto tight = folder.run({"jobs", "--filter", "wrong", "--atol", "0.25"});
  CHECK(tight.status("wrong") == "FAILED");
  CHECK(contains(tight.record("wrong").at("repeat"), " --atol 0.25 "));
  // Without a criterion the job's own holds.
  CHECK(folder.run({"jobs", "--filter", "wrong", "--allow-trivial"}).status("wrong") == "PASSED");
  const BatchFolder nan({edge_job(R"("id": "a", "expect": "nan.npy")", "nan3.npy")});
  CHECK(nan.run({"jobs.jsonl"}).status("a") == "MISTRUSTED");
  CHECK(nan.run({"jobs.jsonl", "--allow-trivial"}).status("a") == "PASSED");
  CHECK(nan.run({"jobs.jsonl", "--allow-trivial", "--nan", "differ", "--ulp", "1"}).status("a") ==
        "FAILED");
  // --nan holds for a job with a tolerance of its own, too.
  const BatchFolder own(
      {edge_job(R"("id": "a", "expect": "nan.npy", "tolerance": {"ulp": 1})", "nan3.npy")});
  CHECK(own.run({"jobs.jsonl", "--allow-trivial"}).status("a") == "PASSED");
  CHECK(own.run({"jobs.jsonl", "--allow-trivial", "--nan", "differ"}).status("a") == "FAILED");
  // An earlier run with another tolerance proves nothing.
  folder.run({"jobs", "--filter", "wrong", "--atol", "0.5"});
  CHECK(folder.run({"jobs", "--filter", "wrong", "--atol", "0.4", "--resume"}).code() == 1);
}

TEST_CASE("a job whose tags cannot be read is INVALID whatever tags are asked for") {
  const BatchFolder folder;
  for (const char* text :
       {"{\"tags\": [\"slow\"", "[]", R"({"tags": "slow"})", R"({"tags": [1]})"}) {
    CAPTURE(text);
    folder.write("jobs/a/op.json", "{" + edge_fields + "}");
    folder.write("jobs/a/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/a/job.json", text);
    CHECK(folder.run({"jobs", "--tag", "fast"}).statuses() == "a INVALID");
  }
  folder.write("jobs.jsonl",
               lines_of({"{", named_job("b", "golden.npy", R"("tags": 1)"), named_job("c"),
                         named_job("d", "golden.npy", R"("tags": ["fast"])")}));
  CHECK(folder.run({"jobs.jsonl", "--tag", "fast"}).statuses() ==
        "b INVALID, d PASSED, line-1 INVALID");
}

}  // namespace dmlop::test::batch_choice_test
