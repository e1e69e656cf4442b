// --confine: paths in files stay inside the files' folder; paths that the user types need not.
#include "base/confine.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/file.hpp"
#include "batch.hpp"
#include "batch/job_runner.hpp"
#include "batch/manifest.hpp"
#include "paths.hpp"

namespace dmlop::test::confine_test {
namespace {

namespace fs = std::filesystem;
using dmlop::Confinement;

/// A folder with a checkout, jobs/, and files beside it that are not for the checkout's eyes: links
/// in jobs/ lead to them.
class Checkout : public BatchFolder {
 public:
  Checkout() {
    fs::create_directory(*this / "jobs");
    for (const char* name : {"x.npy", "golden.npy"}) fs::copy(*this / name, *this / "jobs");
    write("secret.npy", read("x.npy"));
    write("away/op.json", "{" + edge_fields + R"(, "bindings": {"InputTensor": "../x.npy"}})");
    link("secret.npy", "jobs/link.npy");
    link("away", "jobs/away");
    link("nothing.npy", "jobs/nowhere.npy");
    REQUIRE(::mkfifo((*this / "jobs/pipe.npy").c_str(), 0600) == 0);
    write("jobs/sub/y.npy", read("x.npy"));
    link("jobs/sub", "jobs/inside");
  }

  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(fs::path(path()) / target, *this / name);
  }

  ProgramResult run(const std::vector<std::string>& arguments,
                    const std::string& input = "") const {
    return dmlop_program(arguments, {.folder = path(), .input = input});
  }

  BatchOutcome jobs(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "jobs");
    return BatchFolder::run(arguments);
  }
};

/// Paths that no file of jobs/ may have, and what is said of them.
struct HostilePath {
  std::string path;
  std::string said;
};
/// Without those that Wine hides: it shows pipes as empty files, and no links to nothing.
std::vector<HostilePath> seen_by_the_program(std::vector<HostilePath> paths) {
  if (is_windows_program())
    std::erase_if(paths, [](const HostilePath& row) {
      return row.path == "nowhere.npy" || row.path == "pipe.npy";
    });
  return paths;
}
const std::vector<HostilePath> hostile_paths = seen_by_the_program({
    {"/etc/hostname", "which is absolute"},
    {"../secret.npy", "which has a part \"..\""},
    {"sub/../../secret.npy", "which has a part \"..\""},
    {"..\\\\secret.npy", "which has a part \"..\""},
    {"\\\\\\\\server\\\\share\\\\x.npy", "which is absolute"},
    {"C:\\\\x.npy", "which has a colon"},
    {"x.npy:stream", "which has a colon"},
    {"sub/nul.npy", "which names a device of Windows, \"nul.npy\""},
    {"-", "which is a standard stream"},
    {"link.npy", "which leads out of jobs, through a symbolic link"},
    {"away/x.npy", "which leads out of jobs, through a symbolic link"},
    {"nowhere.npy", "which cannot be followed"},
    {"pipe.npy", "which is not a regular file"},
    {"sub", "which is not a regular file"},
});

std::string op_with(const std::string& bindings) {
  return "{" + edge_fields + R"(, "bindings": {)" + bindings + "}}";
}

std::string model_with(const std::string& source, const std::string& target) {
  return R"({"resources": {"In": {"initialValues": {"sourcePath": ")" + source + R"("}}},
    "dispatchables": {}, "commands": [
    {"type": "writeFile", "resource": "In", "targetPath": ")" +
         target + R"("}]})";
}

}  // namespace

TEST_CASE("confine: a path in a file is relative, has no .. and is no device of any system") {
  const Confinement confinement(".");
  const auto what = [&](const std::string& path) { return confinement.problem_of_text(path).what; };
  for (const char* path : {"x.npy", "a/b/x.npy", "./x", "a//x", "a/./x", "..x", "x..", "a.b/..c/d",
                           "...x", "com/x", "console", "com0", "com10", "lpt", "nulls", "a nul"}) {
    CAPTURE(path);
    CHECK(what(path) == "");
  }
  for (const char* path :
       {"..", "../x", "a/..", "a/../x", "a\\..\\x", "...", "a/.. /x", "a/. ./x"}) {
    CAPTURE(path);
    CHECK(contains(what(path), "has a part \""));
  }
  for (const char* path : {"/x", "\\x", "//server/share", "\\\\?\\C:\\x"}) {
    CAPTURE(path);
    CHECK(what(path) == "is absolute");
  }
  for (const char* path : {"c:x", "C:/x", "x.npy:alternate"}) {
    CAPTURE(path);
    CHECK(contains(what(path), "has a colon"));
  }
  for (const char* path : {"NUL", "nul.npy", "a/Con", "AUX.tar.gz", "prn ", "a\\COM1.npy", "lpt9",
                           "com\xC2\xB9", "CONIN$", "conout$.x", "nul .npy"}) {
    CAPTURE(path);
    CHECK(contains(what(path), "names a device of Windows"));
  }
  CHECK(what("-") == "is a standard stream");
  CHECK(what(std::string("x\0y", 3)) == "has a NUL byte");
}

TEST_CASE("confine: where a path leads counts, links followed, also for files that come to be") {
  const Checkout folder;
  const Confinement confinement(folder / "jobs");
  const auto what = [&](const std::string& path) {
    return confinement.problem_of_file(folder / ("jobs/" + path)).what;
  };
  for (const char* path :
       {"x.npy", "new.npy", "new/folder/x.npy", "sub/y.npy", "inside/y.npy", "inside/new.npy"}) {
    CAPTURE(path);
    CHECK(what(path) == "");
  }
  for (const char* path : {"link.npy", "away/op.json", "away/new.npy", "../x.npy"}) {
    CAPTURE(path);
    CHECK(contains(what(path), "leads out of"));
    const bool is_link = !std::string(path).starts_with("..");
    CHECK(contains(what(path), "through a symbolic link") == is_link);
  }
  CHECK(contains(what("nowhere.npy"), "cannot be followed"));
  CHECK(what("pipe.npy") == "is not a regular file");
  CHECK(what("sub") == "is not a regular file");

  // A folder whose name begins like the other's is another folder.
  folder.write("jobs2/x.npy", "x");
  CHECK(contains(confinement.problem_of_file(folder / "jobs2/x.npy").what, "leads out of"));
  // A folder that comes to be.
  const Confinement later(folder / "out/job");
  CHECK_FALSE(later.problem_of_file(folder / "out/job/x.npy"));
  CHECK(later.problem_of_file(folder / "out/x.npy"));
  CHECK_FALSE(Confinement("/").problem_of_file("/etc/hostname"));
}

TEST_CASE("confine: a pinned file stays the one that was checked") {
  const Checkout folder;
  const auto confinement = std::make_shared<const Confinement>(folder / "jobs");
  const auto text_of = [](const std::string& path) {
    const dmlop::InputFile file = dmlop::InputFile::open(path);
    return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  };
  folder.write("jobs/a", "inside");
  folder.write("b", "outside");
  {
    const dmlop::PinnedFile pinned(confinement, folder / "jobs/a");
    fs::remove(folder / "jobs/a");
    folder.link("b", "jobs/a");
    // The file is gone from its folder, and what has its name now is not read.
    CHECK(text_of(pinned.path()) == "inside");
  }
  for (const char* name : {"a", "pipe.npy", "none"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(dmlop::PinnedFile(confinement, folder / ("jobs/" + std::string(name))),
                    dmlop::Error);
  }
  CHECK(text_of(dmlop::PinnedFile(nullptr, folder / "jobs/a").path()) == "outside");
}

TEST_CASE("confine: bindings of a description are refused, all at once, before any is opened") {
  const Checkout folder;
  for (const HostilePath& row : hostile_paths) {
    CAPTURE(row.path);
    folder.write("jobs/op.json", op_with(R"("InputTensor": ")" + row.path +
                                         R"(", "OutputTensor": ")" + row.path + "\""));
    for (const char* command : {"run", "check"}) {
      CAPTURE(command);
      const auto result = folder.run({command, "jobs/op.json", "--confine"});
      CHECK(result.code == 3);
      CAPTURE(result.error);
      CHECK(contains(result.error, "jobs/op.json:1:"));
      CHECK(contains(result.error, "bindings.InputTensor is the string"));
      CHECK(contains(result.error, "bindings.OutputTensor is the string"));
      CHECK(count_of(result.error, row.said) == 2);
      CHECK(count_of(result.error,
                     "rule: --confine: a path in a file is relative, has no \"..\" and stays in "
                     "jobs") == 2);
      CHECK(count_of(result.error, "help: ") == 2);
    }
  }
  CHECK(folder.read("secret.npy") == folder.read("x.npy"));
  CHECK_FALSE(folder.has("nothing.npy"));
}

TEST_CASE("confine: what stays inside runs, and what the user types is his own") {
  const Checkout folder;
  folder.write("jobs/op.json",
               op_with(R"("InputTensor": "inside/y.npy", "OutputTensor": "sub/out.npy")"));
  CHECK(folder.run({"run", "jobs/op.json", "--cpu", "--confine"}).code == 0);
  CHECK(folder.read("jobs/sub/out.npy") == folder.read("golden.npy"));

  const std::string plain = folder.write("jobs/plain.json", "{" + edge_fields + "}");
  const auto typed = folder.run(
      {"run", plain, "--cpu", "--confine", "-i", "jobs/link.npy", "-o", folder / "typed.npy",
       "--expect", "../" + fs::path(folder.path()).filename().string() + "/golden.npy"});
  CAPTURE(typed.error);
  CHECK(typed.code == 0);
  CHECK(folder.read("typed.npy") == folder.read("golden.npy"));
}

TEST_CASE("confine: FOLDER may be another one, and standard input has the current folder") {
  const Checkout folder;
  const std::string op = op_with(R"("InputTensor": "link.npy", "OutputTensor": "out.npy")");
  folder.write("jobs/op.json", op);
  CHECK(folder.run({"run", "jobs/op.json", "--cpu", "--confine"}).code == 3);
  CHECK(folder.run({"run", "jobs/op.json", "--cpu", "--confine=jobs/sub"}).code == 3);
  CHECK(folder.run({"run", "jobs/op.json", "--cpu", "--confine=."}).code == 0);
  const auto none = folder.run({"run", "jobs/op.json", "--cpu", "--confine=none"});
  CHECK(none.code == 2);
  CHECK(contains(none.error, "--confine: none is not a folder"));

  CHECK(
      folder.run({"check", "-", "--confine"}, op_with(R"("InputTensor": "jobs/link.npy")")).code ==
      0);
  CHECK(folder.run({"check", "-", "--confine"}, op_with(R"("InputTensor": "/dev/null")")).code ==
        3);
}

TEST_CASE("confine: without it paths are followed as on a command line") {
  const Checkout folder;
  for (const char* path : {"../secret.npy", "link.npy", "sub/../x.npy"}) {
    CAPTURE(path);
    folder.write("jobs/op.json", op_with(R"("InputTensor": ")" + std::string(path) + "\""));
    CHECK(folder.run({"check", "jobs/op.json"}).code == 0);
    CHECK(folder.run({"check", "jobs/op.json", "--confine"}).code ==
          (path == std::string("x.npy") ? 0 : 3));
  }
}

TEST_CASE("confine: sourcePath stays in the model's folder, targetPath in the current one") {
  const Checkout folder;
  for (const HostilePath& row : hostile_paths) {
    CAPTURE(row.path);
    folder.write("jobs/model.json", model_with(row.path, row.path));
    for (const char* command : {"run", "check"}) {
      CAPTURE(command);
      const auto result =
          dmlop_program({command, "model.json", "--confine"}, {.folder = folder / "jobs"});
      CHECK(result.code == 3);
      CAPTURE(result.error);
      const std::string said = row.said.starts_with("which leads out")
                                   ? "which leads out of ., through a symbolic link"
                                   : row.said;
      CHECK(contains(result.error, "In.initialValues.sourcePath is the string"));
      CHECK(contains(result.error, "commands[0].targetPath is the string"));
      CHECK(count_of(result.error, said) == 2);
    }
  }
  CHECK_FALSE(folder.has("nothing.npy"));

  folder.write("jobs/model.json", model_with("x.npy", "made/x.npy"));
  CHECK(folder.run({"run", "jobs/model.json", "--cpu", "--confine"}).code == 0);
  CHECK(folder.has("made/x.npy"));
  // The current folder is no second place to look in.
  folder.write("jobs/model.json", model_with("other.npy", "made/y.npy"));
  CHECK(folder.run({"run", "jobs/model.json", "--cpu"}).code == 0);
  CHECK(folder.run({"run", "jobs/model.json", "--cpu", "--confine"}).code == 6);
  // Folders that the user names are what is confined to.
  folder.write("jobs/model.json", model_with("y.npy", "y.npy"));
  CHECK(folder
            .run({"run", "jobs/model.json", "--cpu", "--confine", "--input-path", "jobs/sub",
                  "--output-path", "made"})
            .code == 0);
  CHECK(folder.has("made/y.npy"));
}

TEST_CASE("confine: jobs of a batch with such paths are INVALID, and the others run") {
  const Checkout folder;
  std::vector<std::string> jobs{named_job("good")};
  for (std::size_t i = 0; i < hostile_paths.size(); ++i) {
    const std::string& path = hostile_paths[i].path;
    jobs.push_back(
        edge_job(R"("id": "expect)" + std::to_string(i) + R"(", "expect": ")" + path + "\""));
    jobs.push_back(
        edge_job(R"("id": "input)" + std::to_string(i) + R"(", "expect": "golden.npy")", path));
  }
  folder.write("jobs/jobs.jsonl", lines_of(jobs));
  std::string list = "[";
  for (const std::string& job : jobs) list += (list.size() > 1 ? ",\n" : "") + job;
  folder.write("jobs/jobs.json", list + "]");
  for (const char* name : {"jobs/jobs.jsonl", "jobs/jobs.json"}) {
    CAPTURE(name);
    const auto outcome = folder.BatchFolder::run({name, "--confine"});
    CHECK(outcome.code() == 3);
    CHECK(outcome.status("good") == "PASSED");
    for (std::size_t i = 0; i < hostile_paths.size(); ++i) {
      CAPTURE(hostile_paths[i].path);
      for (const char* kind : {"expect", "input"}) {
        CAPTURE(kind);
        const Json& record = outcome.record(kind + std::to_string(i));
        CHECK(record.at("status") == "INVALID");
        if (hostile_paths[i].path != "-") {
          CHECK(contains(record.at("message"), hostile_paths[i].said));
        }
      }
    }
    fs::remove(folder / "records.jsonl");
  }
}

TEST_CASE("confine: a job's golden file and its inputs are refused at once") {
  const Checkout folder;
  folder.write("jobs/jobs.jsonl",
               edge_job(R"("id": "a", "expect": "/golden.npy")", "../x.npy") + "\n");
  const auto outcome = folder.BatchFolder::run({"jobs/jobs.jsonl", "--confine"});
  const std::string details = outcome.record("a").at("details");
  CHECK(contains(details, "expect is the string \"/golden.npy\", which is absolute"));
  CHECK(contains(details, "bindings.InputTensor is the string \"../x.npy\", which has a part"));
}

TEST_CASE("confine: what a folder batch finds is confined to it") {
  const std::string op = "{" + edge_fields + "}";
  const auto secret = R"({"secret": "kept"})";
  struct Row {
    std::string what;
    void (*make)(const Checkout&);
    std::string id;
  };
  const std::vector<Row> rows{
      {"a description", [](const Checkout& f) { f.link("secret.json", "jobs/a/op.json"); }, "a"},
      {"a model", [](const Checkout& f) { f.link("secret.json", "jobs/a/model.json"); }, "a/model"},
      {"an input",
       [](const Checkout& f) {
         fs::remove(f / "jobs/a/InputTensor.npy");
         f.link("secret.npy", "jobs/a/InputTensor.npy");
       },
       "a"},
      {"an input that is a pipe",
       [](const Checkout& f) {
         fs::remove(f / "jobs/a/InputTensor.npy");
         REQUIRE(::mkfifo((f / "jobs/a/InputTensor.npy").c_str(), 0600) == 0);
       },
       "a"},
      {"a golden file", [](const Checkout& f) { f.link("golden.npy", "jobs/a/expected.npy"); },
       "a"},
      {"a folder of golden files",
       [](const Checkout& f) {
         f.write("goldens/OutputTensor.npy", f.read("golden.npy"));
         f.link("goldens", "jobs/a/expected");
       },
       "a"},
      {"a golden file of a model",
       [](const Checkout& f) {
         f.write("jobs/a/model.json", model_with("InputTensor.npy", "made.npy"));
         fs::remove(f / "jobs/a/op.json");
         f.link("golden.npy", "jobs/a/expected/In.npy");
       },
       "a"},
      {"a golden file of a model that is a pipe",
       [](const Checkout& f) {
         f.write("jobs/a/model.json", model_with("InputTensor.npy", "made.npy"));
         fs::remove(f / "jobs/a/op.json");
         REQUIRE(::mkfifo((f / "jobs/a/expected/In.npy").c_str(), 0600) == 0);
       },
       "a"},
      {"an output of an ONNX test",
       [](const Checkout& f) {
         fs::remove(f / "jobs/a/op.json");
         fs::copy(source_path("samples/onnx"), f / "jobs/a", fs::copy_options::recursive);
         fs::rename(f / "jobs/a/test_data_set_0/output_0.pb", f / "output.pb");
         f.link("output.pb", "jobs/a/test_data_set_0/output_0.pb");
       },
       "a"},
      {"tolerances", [](const Checkout& f) { f.link("secret.json", "jobs/a/tol.json"); }, "a"},
      {"a folder", [](const Checkout& f) { f.link("away", "jobs/linked"); }, "linked"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    if (contains(row.what, "that is a pipe") && is_windows_program()) {
      MESSAGE("SKIPPED: Wine shows a pipe as an empty file");
      continue;
    }
    const Checkout folder;
    fs::remove(folder / "jobs/away");
    folder.write("secret.json", secret);
    folder.write("jobs/a/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/b/op.json", op);
    folder.write("jobs/b/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/b/expected.npy", folder.read("golden.npy"));
    if (row.what != "a description") folder.write("jobs/a/op.json", op);
    if (row.what != "a golden file" && row.what != "a folder of golden files")
      folder.write("jobs/a/expected/OutputTensor.npy", folder.read("golden.npy"));
    row.make(folder);
    const auto outcome = folder.jobs({"--confine"});
    CHECK(outcome.code() == 3);
    CHECK(outcome.status("b") == "PASSED");
    CHECK(outcome.status(row.id) == "INVALID");
    CHECK_FALSE(contains(folder.read("records.jsonl"), "kept"));
    CHECK(contains(outcome.record(row.id).at("details"), "rule: --confine: "));
  }
}

TEST_CASE("confine: a link in --out does not lead a job's files out of it") {
  const Checkout folder;
  folder.write("jobs/jobs.jsonl", named_job("a") + "\n" + named_job("b") + "\n");
  fs::create_directory(folder / "out");
  folder.link("away", "out/a");
  const auto outcome = folder.BatchFolder::run({"jobs/jobs.jsonl", "--confine", "--out", "out"});
  CHECK(outcome.statuses() == "a INVALID, b PASSED");
  CHECK(folder.has("out/b/OutputTensor.npy"));
  CHECK_FALSE(folder.has("away/OutputTensor.npy"));
}

TEST_CASE("confine: nor does a link that has the name of an output") {
  for (const char* target : {"secret.npy", "nothing.npy"}) {
    CAPTURE(target);
    if (target == std::string("nothing.npy") && is_windows_program()) {
      MESSAGE("SKIPPED: Wine shows no link to nothing");
      continue;
    }
    const Checkout folder;
    folder.write("jobs/jobs.jsonl", named_job("a") + "\n" + named_job("b") + "\n");
    fs::create_directories(folder / "out/a");
    folder.link(target, "out/a/OutputTensor.npy");
    const auto outcome = folder.BatchFolder::run({"jobs/jobs.jsonl", "--confine", "--out", "out"});
    CHECK(outcome.statuses() == "a INVALID, b PASSED");
    CHECK(folder.read("secret.npy") == folder.read("x.npy"));
    CHECK_FALSE(folder.has("nothing.npy"));
  }
}

TEST_CASE("confine: a golden file that a model's job names is refused before any is opened") {
  const Checkout folder;
  std::string model = model_with("x.npy", "made.npy");
  std::replace(model.begin(), model.end(), '\n', ' ');
  model.replace(0, 1, R"({"id": "a", "expect": {"In": "link.npy"}, )");
  folder.write("jobs/jobs.jsonl", model + "\n");
  const auto outcome = folder.BatchFolder::run({"jobs/jobs.jsonl", "--confine"});
  CHECK(outcome.status("a") == "INVALID");
  CHECK(contains(outcome.record("a").at("message"), "which leads out of jobs"));
}

TEST_CASE("confine: a description that becomes a link while the batch runs is not followed") {
  const Checkout folder;
  fs::remove(folder / "jobs/away");
  folder.write("secret.json", R"({"secret": "kept"})");
  folder.write("jobs/a/op.json", "{" + edge_fields + "}");
  folder.write("jobs/b/op.json", "{" + edge_fields + "}");
  dmlop::Diagnostics diagnostics;
  const auto manifest = dmlop::open_manifest(
      {{folder / "jobs", std::make_shared<const Confinement>(folder / "jobs")}}, diagnostics);
  REQUIRE(manifest != nullptr);
  manifest->next();
  dmlop::BatchJob job = *manifest->next();
  CHECK(job.id == "b");
  CHECK(job.findings.empty());
  fs::remove(folder / "jobs/b/op.json");
  folder.link("secret.json", "jobs/b/op.json");
  dmlop::BatchOptions options;
  options.keep_records = true;
  dmlop::Backend backend;
  dmlop::JobRunner runner(backend, options);
  const dmlop::BatchResult result = runner.run(std::move(job));
  CHECK(result.status == dmlop::Status::invalid);
  CHECK(contains(result.message, "leads out of"));
  CHECK_FALSE(contains(result.record, "kept"));
}

TEST_CASE("an id never leads out of --out") {
  const BatchFolder folder;
  std::string lines;
  for (const char* id : {"..", "../a", "a/..", "a/../../b", "/a", "./a", "a/", "."})
    lines += named_job(id) + "\n";
  folder.write("jobs.jsonl", lines);
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out"});
  CHECK(outcome.records.size() == 8);
  for (const Json& record : outcome.records) {
    CHECK(record.at("status") == "INVALID");
    CHECK(contains(record.at("message"), "names a folder below --out"));
  }
  CHECK_FALSE(folder.has("a"));
  CHECK_FALSE(folder.has("b"));
}

}  // namespace dmlop::test::confine_test
