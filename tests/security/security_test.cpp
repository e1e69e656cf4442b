// Files cannot harm those who look at the output, the machine's other users, or caches.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <regex>
#include <thread>

#include "base/text.hpp"
#include "batch.hpp"
#include "batch/reports.hpp"
#include "fault.hpp"
#include "gpu/cache_file.hpp"
#include "hostile.hpp"
#include "pages/templates.hpp"
#include "paths.hpp"

namespace dmlop::test::security_test {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

/// Looks for a pattern in the sources, but in the files whose names end so.
void check_sources(const std::regex& pattern, const std::vector<std::string>& exceptions) {
  std::size_t files = 0;
  for (const char* folder : {"lib", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_path()) / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      ++files;
      const std::string path = dmlop::to_text(entry.path());
      CAPTURE(path);
      const auto is_path = [&](const std::string& end) { return path.ends_with(end); };
      if (std::any_of(exceptions.begin(), exceptions.end(), is_path)) continue;
      const std::string text = read_file(entry.path());
      std::smatch found;
      const bool has_it = std::regex_search(text, found, pattern);
      CAPTURE(found.str());
      CHECK_FALSE(has_it);
    }
  }
  CHECK(files > 100);
}

}  // namespace

TEST_CASE("security: one_line leaves text as it is, and nothing that acts") {
  CHECK(dmlop::one_line("plain \"text\" # 1, \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") ==
        "plain \"text\" # 1, \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(dmlop::one_line("a\nb\tc\x1b") == "a\\u000ab\\u0009c\\u001b");
  CHECK(dmlop::one_line("\xC2\x9B\xC2\xA0\xE2\x80\xAE") == "\\u009b\xC2\xA0\\u202e");
  CHECK(dmlop::one_line("##[x] ###") == "#\\u0023[x] #\\u0023#");
  CHECK(dmlop::one_line("\x9B \xC3 \xFF") == "\\x9b \\xc3 \\xff");
  CHECK(dmlop::one_line("\U000e0041\U0001F600") == "\\udb40\\udc41\U0001F600");
  for (const std::string& text : hostile_texts) {
    CAPTURE(text);
    const std::string line = "x" + dmlop::one_line(text);
    CHECK(danger_in(line) == "");
    CHECK(dmlop::one_line(line) == line);
    CHECK(dmlop::one_line(text).find('\n') == std::string::npos);
  }
}

TEST_CASE("security: findings show no text of a file that a terminal or a CI log acts on") {
  const BatchFolder folder;
  for (const std::string& text : hostile_texts) {
    CAPTURE(text);
    const std::string q = quoted(text);
    const std::vector<std::string> files{
        "{\"type\": " + q + "}",
        "{" + edge_fields + ", " + q + ": 1, \"bindings\": {" + q + ": 1}}",
        "{" + edge_fields + ", \"bindings\": {\"InputTensor\": " + q + "}}",
        "{" + edge_fields + ", \"featureLevel\": " + q + "}",
        "{" + q + ": 1, " + q + ": 2}",
        "{\"type\": " + text + "}",
        "{\"type\": \"" + text,
        "{\"resources\": {" + q + ": {\"initialValues\": {\"sourcePath\": " + q + "}, " + q +
            ": 1}}, \"dispatchables\": {" + q + ": {\"type\": " + q +
            "}}, \"commands\": [{\"type\": \"print\", \"resource\": " + q +
            "}, {\"type\": \"dispatch\", \"dispatchable\": \"none\", \"bindings\": {}}]}",
    };
    for (const std::string& file : files) {
      CAPTURE(file);
      folder.write("x.json", file);
      for (const char* confine : {"--confine", "-q"}) {
        const auto result = dmlop_program({"check", "x.json", confine}, {.folder = folder.path()});
        CHECK(result.code >= 3);
        check_harmless(result);
      }
    }
  }
}

TEST_CASE("security: names of a model that runs reach the output on one line") {
  const BatchFolder folder;
  for (const std::string& text : hostile_texts) {
    CAPTURE(text);
    const std::string q = quoted(text);
    folder.write("x.json",
                 "{\"resources\": {" + q +
                     ": {\"initialValuesDataType\": \"FLOAT32\", \"initialValues\": [1, 2]}}, "
                     "\"dispatchables\": {}, \"commands\": [{\"type\": \"print\", \"resource\": " +
                     q + "}, {\"type\": \"writeFile\", \"resource\": " + q +
                     ", \"targetPath\": \"out.bin\"}]}");
    const auto result = dmlop_program({"run", "x.json", "--cpu"}, {.folder = folder.path()});
    CHECK(result.code == 0);
    check_harmless(result);
    CHECK(count_of(result.output, "\n") == 2);
  }
}

TEST_CASE("security: reports of a batch show hostile ids, paths and texts harmlessly") {
  const BatchFolder folder;
  for (const std::string& text : hostile_texts) {
    if (text.find('/') != std::string::npos) continue;  // no name of a folder
    folder.write("jobs/" + text + "/op.json", "{" + edge_fields + ", " + quoted(text) + ": 1}");
  }
  for (const std::string& text : hostile_texts) {
    // Written jobs: tags, a golden file that is not there, a reason.
    folder.write("jobs.jsonl",
                 edge_job("\"tags\": [" + quoted(text) + "], \"expect\": " + quoted(text)) + "\n" +
                     edge_job("\"id\": " + quoted(text)) + "\n" +
                     edge_job("\"skip\": " + quoted(text)) + "\n");
    CAPTURE(text);
    check_harmless(folder.batch({"jobs.jsonl", "-v", "--junit", "junit.xml"}));
  }
  const auto result = folder.batch({"jobs", "-v", "--github", "--html", "report.html", "--junit",
                                    "junit.xml", "--results", "records.jsonl"});
  CHECK(result.code == 3);
  // Some are no names of folders on Windows.
  const std::size_t wrong = count_of(folder.read("records.jsonl"), "\"status\":\"INVALID\"");
  CHECK(wrong > 5);
  check_harmless(result, std::min<std::size_t>(wrong, 10));

  const std::string junit = folder.read("junit.xml");
  for (const char* mark : {"\x1b", "\r", "\x07", "\x08", "<script", "<img"}) {
    CAPTURE(mark);
    CHECK_FALSE(contains(junit, mark));
  }
  const std::string html = folder.read("report.html");
  CHECK(count_of(html, "<script") == count_of(html, "</script"));
  for (const char* mark : {"\x1b", "\x07", "<script>alert", "<img src=x"}) {
    CAPTURE(mark);
    CHECK_FALSE(contains(html, mark));
  }
  // Whatever a report is: no terminal executes it, and no browser runs what a text says.
  for (const dmlop::ReportFormat& format : dmlop::report_formats) {
    const std::string name = "report.of" + std::string(format.option);
    CAPTURE(name);
    CHECK(folder.batch({"jobs", "-q", format.option, name}).code == 3);
    const std::string report = folder.read(name);
    CHECK(contains(report, "jobs/"));
    for (const char* mark : {"\x1b", "\x07", "\x08", "<script>alert", "<img src=x"}) {
      CAPTURE(mark);
      CHECK_FALSE(contains(report, mark));
    }
  }

  // The records, edited by hand, say the same things to who merges them.
  std::string records;
  for (const std::string& text : hostile_texts) {
    records += Json{{"id", text},      {"status", "FAILED"}, {"exitCode", 1},  {"place", text},
                    {"message", text}, {"details", text},    {"repeat", text}, {"operator", text}}
                   .dump() +
               "\n";
  }
  records += R"({"summary": {"complete": true, "device": "cpu"}})" + std::string("\n");
  folder.write("old.jsonl", records);
  const auto merged = folder.batch({"--merge", "old.jsonl", "--github", "--html", "merged.html"});
  CAPTURE(merged.output);
  std::string calm = merged.output;
  // Lines of "details" are lines: what stands on them is not a command at their start.
  CHECK(danger_in(calm, 10) == "");
  CHECK_FALSE(contains(folder.read("merged.html"), "<script>alert"));
}

TEST_CASE("security: the page of a report never makes markup of texts") {
  const std::string page = std::string(report_template()) + std::string(operators_page_template());
  for (const char* call : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                           "eval(", "new Function", "src=\"http", "href=\"http"}) {
    CAPTURE(call);
    CHECK_FALSE(contains(page, call));
  }
}

TEST_CASE("security: no program is started and no shell is called") {
  const std::regex call(
      R"(\b(system|_?popen|fork|vfork|posix_spawnp?|exec(l|v|lp|vp|le|ve|vpe)|CreateProcess[AW]?|ShellExecute\w*|WinExec)\s*\()");
  check_sources(call, {});
  for (const char* line : {"system(\"ls\")", "::popen (x", "execvp(a, b)", "CreateProcessW("})
    CHECK(std::regex_search(line, call));
}

TEST_CASE("security: one file prints, and escapes what it prints") {
  const std::regex way_out(
      R"(\b(v?[fdw]?w?printf(_s)?|f?put[sc]|put[wc]?char|puts|fwrite|perror|psignal|syslog)\s*\(|)"
      R"([^/]\b(stdout|stderr|STD(OUT|ERR)_FILENO|STD_(OUTPUT|ERROR)_HANDLE)\b|)"
      R"(\bstd::w?(cout|cerr|clog)\b|\bstd::print|WriteConsole|OutputDebugString|)"
      R"(\.exit\([^,()]*\)|\bstandard_output\(\))");  // CLI11 prints, too
  check_sources(way_out, {"lib/base/output.cpp",
                          // Bytes, and who reads them.
                          "lib/base/system_file.hpp", "lib/base/system_file_posix.cpp",
                          "lib/base/system_file_windows.cpp", "lib/base/file.cpp",
                          "lib/base/output_file.cpp", "lib/base/input_file.cpp",
                          // Records, which it escapes.
                          "lib/batch/results_file.cpp",
                          // Reports to a debugger, which are escaped line by line.
                          "lib/layer/dll/reports.cpp"});
  for (const char* line :
       {"printf(\"x\")", "std::fprintf (stderr, x)", "vprintf(f, a)", "fputs(s, f)", "std::puts(s)",
        "putchar('a')", "std::fwrite(p, 1, n, f)", "dprintf(1, s)", "wprintf(s)", "perror(s)",
        "std::cout << x", "std::cerr<<x", "write(STDOUT_FILENO, p, n)", "app.exit(error)",
        "std::print(\"x\")", "std::println(x)"}) {
    CAPTURE(line);
    CHECK(std::regex_search(line, way_out));
  }
  for (const char* line : {"std::snprintf(text, 3, \"x\")", "print({x})", "std::exit(3)"}) {
    CAPTURE(line);
    CHECK_FALSE(std::regex_search(line, way_out));
  }
}

TEST_CASE("security: temporary files cannot be guessed, nor made beforehand") {
  const BatchFolder folder;
  folder.write("jobs.jsonl", long_job() + "\n");
  folder.write("op.json", edge_job());
  // A name that is taken is not used: O_EXCL. What a run leaves is its output only.
  const auto result =
      dmlop_program({"run", "op.json", "--cpu", "-o", "out.npy"}, {.folder = folder.path()});
  CHECK(result.code == 0);
  CHECK_FALSE(contains(folder.list(), ".tmp"));
  struct stat found {};
  REQUIRE(::stat((folder / "out.npy").c_str(), &found) == 0);
  CHECK((found.st_mode & S_IWOTH) == 0);

  if (!can_inject_faults()) return;
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i) {
    ProgramOptions options{.folder = folder.path()};
    options.environment = without_unnamed_files;
    Process process({program_path(), "batch", "--cpu", "jobs.jsonl"}, options);
    std::string name;
    for (int step = 0; step < 2000 && name.empty() && process.is_running(); ++step) {
      for (const auto& entry : fs::directory_iterator(folder.path())) {
        const std::string file = entry.path().filename().string();
        if (file.ends_with(".tmp")) name = file;
      }
      ::usleep(5'000);
    }
    process.send(SIGTERM);
    process.wait();
    REQUIRE_FALSE(name.empty());
    fs::remove(folder / name);  // stays where no handler ran
    names.push_back(name);
  }
  const std::regex form(R"(\.long\.npy\.[a-z2-7]{12}\.tmp)");
  CHECK(std::regex_match(names[0], form));
  CHECK(std::regex_match(names[1], form));
  CHECK(names[0] != names[1]);
}

TEST_CASE("security: a pipe in the place of a cache is neither read nor waited for") {
  const Folder folder;
  const std::string cache = folder / "dmlop/pipelines";
  const std::vector<std::byte> data(100, std::byte{7});
  dmlop::gpu::write_cache(cache, data);
  const std::string sound = read_file(cache);
  fs::remove(cache);
  REQUIRE(::mkfifo(cache.c_str(), 0600) == 0);
  // Whoever waits for the pipe gets a sound cache, so that a fault is seen and nothing hangs.
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const int pipe = ::open(cache.c_str(), O_WRONLY | O_NONBLOCK);
      if (pipe >= 0) CHECK(::write(pipe, sound.data(), sound.size()) > 0);
      if (pipe >= 0) ::close(pipe);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  REQUIRE(dmlop::gpu::read_cache(cache).empty());
  writer = {};
  dmlop::gpu::write_cache(cache, data);
  CHECK(dmlop::gpu::read_cache(cache) == data);
}

TEST_CASE("security: a cache with a damaged byte is not read") {
  const Folder folder;
  const std::string cache = folder / "dmlop/pipelines";
  const std::vector<std::byte> data(100, std::byte{7});
  dmlop::gpu::write_cache(cache, data);
  const std::string sound = read_file(cache);
  REQUIRE(sound.size() == 124);
  for (std::size_t at = 0; at < sound.size(); ++at) {
    CAPTURE(at);
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    folder.write("dmlop/pipelines", damaged);
    CHECK(dmlop::gpu::read_cache(cache).empty());
  }
  folder.write("dmlop/pipelines", sound);
  CHECK(dmlop::gpu::read_cache(cache) == data);
}

TEST_CASE("security: a cache that others could have written is not read") {
  const Folder folder;
  const std::string cache = folder / "cache/dmlop/pipelines";
  const std::string caches = folder / "cache/dmlop";
  const std::vector<std::byte> data(100, std::byte{7});
  const auto mode_of = [](const std::string& path) {
    struct stat found {};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    return found.st_mode & 0777U;
  };
  const auto read = [&] { return dmlop::gpu::read_cache(cache); };
  const mode_t before = ::umask(0);
  dmlop::gpu::write_cache(cache, data);
  ::umask(before);
  CHECK(mode_of(caches) == 0700);
  CHECK(read() == data);

  for (const mode_t mode : {0777U, 0770U, 0702U}) {
    CAPTURE(mode);
    REQUIRE(::chmod(caches.c_str(), mode) == 0);
    CHECK(read().empty());
    dmlop::gpu::write_cache(cache, data);
    CHECK((mode_of(caches) & 0022U) == 0);
    CHECK(read() == data);
  }

  CHECK(mode_of(cache) == 0600);
  for (const mode_t mode : {0666U, 0620U, 0602U}) {
    CAPTURE(mode);
    REQUIRE(::chmod(cache.c_str(), mode) == 0);
    CHECK(read().empty());
    dmlop::gpu::write_cache(cache, data);
    CHECK(mode_of(cache) == 0600);
    CHECK(read() == data);
  }

  // Links lead to where somebody else may write.
  fs::rename(caches, folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", caches);
  CHECK(read().empty());
  dmlop::gpu::write_cache(cache, std::vector<std::byte>(50));
  CHECK(dmlop::gpu::read_cache(folder / "elsewhere/pipelines") == data);
  fs::remove(caches);
  fs::rename(folder / "elsewhere", caches);
  CHECK(read() == data);

  if (::geteuid() != 0) {
    MESSAGE("SKIPPED: files of another user can be made by root only");
    return;
  }
  constexpr uid_t nobody = 65534;
  REQUIRE(::lchown(cache.c_str(), nobody, nobody) == 0);
  CHECK(read().empty());
  REQUIRE(::lchown(cache.c_str(), 0, 0) == 0);
  CHECK(read() == data);
  REQUIRE(::lchown(caches.c_str(), nobody, nobody) == 0);
  CHECK(read().empty());
  dmlop::gpu::write_cache(cache, std::vector<std::byte>(50));
  REQUIRE(::lchown(caches.c_str(), 0, 0) == 0);
  CHECK(read() == data);
}

}  // namespace dmlop::test::security_test
