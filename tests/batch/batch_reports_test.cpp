// The reports of dmlop batch: text, JUnit, results files, JSON, GitHub and HTML, also if they
// cannot be written.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <set>
#include <sstream>

#include "batch.hpp"
#include "batch/digest.hpp"
#include "batch/reports.hpp"
#include "paths.hpp"
#include "records.hpp"

namespace dmlop::test::batch_reports_test {
namespace {

using dmlop::BatchResult;
using dmlop::Status;

/// What is wrong with XML that holds elements, attributes and escaped text only; "" where nothing
/// is. Not a whole parser: no comments, no CDATA.
class XmlCheck {
 public:
  explicit XmlCheck(const std::string& text) : text_(text) {}

  std::string problem() {
    const std::string declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    if (!text_.starts_with(declaration)) return "no declaration";
    at_ = declaration.size();
    while (at_ < text_.size()) {
      if (text_[at_] == '<') {
        if (!tag()) return "a wrong tag at byte " + std::to_string(at_);
      } else if (!character(false)) {
        return "a wrong character at byte " + std::to_string(at_);
      }
    }
    return open_.empty() ? "" : "not closed: " + open_.back();
  }

 private:
  bool eat(const std::string& part) {
    if (text_.compare(at_, part.size(), part) != 0) return false;
    at_ += part.size();
    return true;
  }
  std::string name() {
    const std::size_t begin = at_;
    const auto is_part = [](char c) {
      return c == '-' || std::isalpha(static_cast<unsigned char>(c));
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool tag() {
    if (eat("</")) {
      if (open_.empty() || name() != open_.back()) return false;
      open_.pop_back();
      return eat(">");
    }
    eat("<");
    const std::string element = name();
    std::string attributes = " ";
    if (element.empty()) return false;
    while (eat(" ")) {
      const std::string attribute = name();
      if (attribute.empty() || contains(attributes, " " + attribute + " ")) return false;
      attributes += attribute + " ";
      if (!eat("=\"")) return false;
      while (!eat("\"")) {
        if (!character(true)) return false;
      }
    }
    if (eat("/>")) return true;
    open_.push_back(element);
    return eat(">");
  }
  bool character(bool in_attribute) {
    if (at_ >= text_.size()) return false;
    const auto code = static_cast<unsigned char>(text_[at_]);
    if (code == '&') {
      for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#10;"}) {
        if (eat(entity)) return true;
      }
      return false;
    }
    if (code == '<' || (in_attribute && code == '\n') ||
        (code < 0x20 && code != '\t' && code != '\n'))
      return false;
    return utf8(code);
  }
  // One character of UTF-8 that XML has.
  bool utf8(unsigned char first) {
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || at_ + length > text_.size()) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(text_[at_ + i]) & 0xC0) != 0x80) return false;
    }
    const std::string character = text_.substr(at_, length);
    at_ += length;
    const bool is_overlong = character < (length == 3 ? "\u0800" : length == 4 ? "\U00010000" : "");
    const bool is_surrogate = character >= "\xED\xA0" && character < "\xEE";
    return !is_overlong && !is_surrogate && character != "\uFFFE" && character != "\uFFFF";
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
};

std::string xml_problem(const std::string& text) {
  return XmlCheck(text).problem();
}

/// Jobs of every ending, in a folder.
BatchFolder& ending_folder() {
  static BatchFolder folder;
  std::vector<std::string> jobs;
  for (const EndingRow& row : endings()) jobs.push_back(row.job);
  folder.write("jobs.jsonl", lines_of(jobs));
  return folder;
}

std::string digest_of(const std::string& bytes) {
  return dmlop::digest_of(std::as_bytes(std::span(bytes)));
}

}  // namespace

TEST_CASE("JUnit: counts, a case for each job, and what stands in it") {
  const BatchFolder& folder = ending_folder();
  CHECK(folder.batch({"jobs.jsonl", "--junit", "all.xml"}).code == 6);
  const std::string xml = folder.read("all.xml");
  CHECK(xml_problem(xml) == "");
  const std::string counts = " tests=\"10\" failures=\"3\" errors=\"5\" skipped=\"1\" time=\"";
  CHECK(contains(xml, "<testsuites name=\"dmlop\"" + counts));
  CHECK(contains(xml, "<testsuite name=\"jobs.jsonl\"" + counts));
  CHECK(count_of(xml, "<testcase ") == 10);
  CHECK(count_of(xml, "<failure ") == 3);
  CHECK(count_of(xml, "<error ") == 5);
  CHECK(count_of(xml, "<skipped ") == 1);
  for (const EndingRow& row : endings()) {
    CAPTURE(row.id);
    const std::size_t at = xml.find(" name=\"" + row.id + "\"");
    REQUIRE(at != std::string::npos);
    const std::string text = xml.substr(at, xml.find("<testcase", at) - at);
    CHECK(contains(text, " type=\"" + row.status + "\"") ==
          (row.status != "PASSED" && row.status != "SKIPPED"));
    CHECK(contains(text, "repeat: dmlop batch ") == (row.status != "PASSED"));
  }
  CHECK(contains(
      xml, "<testcase classname=\"dmlop\" name=\"good\" file=\"jobs.jsonl\" line=\"1\" time=\"0."));
  CHECK(contains(xml, "<skipped message=\"not today\">"));
  CHECK(contains(xml, "[5]    148   3       0x40400000  3.5"));  // the details
}

TEST_CASE("JUnit: whatever texts hold, the XML is well formed") {
  std::string control;
  for (char c = 1; c < 0x20; ++c) control += c;
  const std::string evil = "<a b=\"c\">&amp;]]></failure>" + control +
                           "\x7F\xFF\xC3(\xED\xA0\x80 \xE0\x80\x80\xF0\x80\x80\x80\xC0\x80" +
                           "\uFFFE\uFFFF\u00e4\U0001F600\xF8";
  std::vector<BatchResult> results{{.id = evil,
                                    .message = evil,
                                    .details = evil,
                                    .repeat = evil,
                                    .warnings = {evil, "</system-out>"}}};
  dmlop::BatchSummary summary;
  for (const Status status : {Status::passed, Status::failed, Status::skipped, Status::not_run}) {
    results.front().status = status;
    results.front().operator_name = evil;
    const std::string xml = dmlop::junit_xml({evil, "1", summary, results});
    CHECK(xml_problem(xml) == "");
    CHECK(contains(xml, "\u00e4\U0001F600"));
    CHECK(contains(xml, "&lt;a b=&quot;c&quot;&gt;&amp;amp;]]&gt;&lt;/failure&gt;"));
    CHECK_FALSE(contains(xml, "</failure>\x01"));
    CHECK(count_of(xml, "</system-out>") == 1);
  }
  results = {{.id = "a",
              .status = Status::failed,
              .message = "one\ntwo",
              .details = "x\n  y\n",
              .warnings = {"w: 1\n  rule: r", "w: 2"}}};
  const std::string xml = dmlop::junit_xml({"t", "1", summary, results});
  CHECK(contains(xml, "message=\"one&#10;two\""));
  CHECK(contains(xml, ">x\n  y\n</failure>\n"));
  // The schemas of JUnit have it behind the failure.
  CHECK(contains(xml, "</failure>\n      <system-out>w: 1\n  rule: r\nw: 2\n</system-out>\n"));
}

TEST_CASE("JUnit: the class of a job is the folder that its id names, at any depth") {
  dmlop::BatchSummary summary;
  for (const auto& row : {std::pair("job", "dmlop"), std::pair("a/job", "a"),
                          std::pair("a/b/job", "a/b"), std::pair("a/b/c/job", "a/b/c")}) {
    const std::string id = row.first, name = row.second;
    CAPTURE(id);
    const std::string xml = dmlop::junit_xml({"t", "1", summary, {{.id = id}}});
    CHECK(contains(xml, "<testcase classname=\"" + name + "\" name=\"" + id + "\""));
  }
}

TEST_CASE("JUnit: ids and paths that are no UTF-8 leave it well formed") {
  const BatchFolder folder;
  folder.write("jobs/a\xFF<\x01/op.json", "{" + edge_fields + "}");
  CHECK(folder
            .batch({"jobs", "--junit", "j.xml", "--results", "r.jsonl", "--html", "h.html",
                    "--format", "json"})
            .code == 3);
  CHECK(xml_problem(folder.read("j.xml")) == "");
  CHECK(read_records(folder.read("r.jsonl")).size() == 2);
}

TEST_CASE("results files: every line parses, a record has everything, the summary is last") {
  const BatchFolder& folder = ending_folder();
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out"});
  CHECK(outcome.records.size() == 10);
  CHECK(outcome.summary.at("complete") == true);
  CHECK(outcome.summary.at("device") == "cpu");
  CHECK_FALSE(outcome.summary.contains("shard"));
  std::uint64_t sum = 0;
  for (const auto& [name, count] : outcome.summary.at("counts").items())
    sum += count.get<std::uint64_t>();
  CHECK(sum == 10);
  const Json good = outcome.record("good");
  CHECK(good.at("operator") == "PADDING");
  CHECK(good.at("place") == "jobs.jsonl:1");
  CHECK(good.at("device") == "cpu");
  CHECK(good.at("seconds").get<double>() >= good.at("timings").at("checkSeconds").get<double>());
  CHECK(good.at("digest").get<std::string>().size() == 32);
  CHECK(good.at("comparisons").at(0).at("verdict") == "PASSED");
  const Json wrong = outcome.record("wrong");
  CHECK(wrong.at("comparisons").at(0).at("mismatches") == 1);
  CHECK(wrong.at("comparisons").at(0).at("actual") == "out/wrong/OutputTensor.npy");
  CHECK(wrong.at("comparisons").at(0).at("expected") == "other.npy");
  CHECK(contains(wrong.at("description"), R"("id": "wrong")"));
  CHECK(wrong.at("inputs").at("InputTensor") == good.at("inputs").at("InputTensor"));
  CHECK(outcome.record("void").at("inputs").at("InputTensor") !=
        good.at("inputs").at("InputTensor"));
  const auto shard = folder.run({"jobs.jsonl", "--shard", "0/2"});
  CHECK(shard.summary.at("shard") == "0/2");
}

TEST_CASE("results files: digests are the files'") {
  const BatchFolder& folder = ending_folder();
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out"});
  int checked = 0;
  for (const Json& record : outcome.records) {
    if (!record.contains("outputs")) continue;
    const Json& output = record.at("outputs").at("OutputTensor");
    CHECK(output.at("file") == "out/" + record.at("id").get<std::string>() + "/OutputTensor.npy");
    CHECK(output.at("digest") == digest_of(folder.read(output.at("file"))));
    ++checked;
  }
  CHECK(checked == 4);
  // XXH3, 128 bits: what xxhsum -H2 prints.
  CHECK(digest_of("") == "99aa06d3014798d86001c324468d497f");
  if (has_command("xxhsum")) {
    const auto xxhsum = shell("xxhsum -H2 golden.npy", {.folder = folder.path()});
    CHECK(xxhsum.output.starts_with(digest_of(folder.read("golden.npy"))));
  }
}

TEST_CASE("--results - streams records while standard input is still open") {
  const BatchFolder folder;
  folder.write("one", named_job("one") + "\n");
  folder.write("two", "{\n");
  const auto result = shell(
      "mkfifo in out; dmlop batch - --cpu --results - < in > out & exec 3> in 4< out\n"
      "cat one >&3; read -r first <&4; cat two >&3; read -r second <&4\n"
      "printf '%s\\n%s\\n--\\n' \"$first\" \"$second\"; exec 3>&-; cat <&4; wait $!; echo $?",
      {.folder = folder.path()});
  const std::size_t cut = result.output.find("--\n");
  REQUIRE(cut != std::string::npos);
  const auto streamed = read_records(result.output.substr(0, cut));
  REQUIRE(streamed.size() == 2);
  CHECK(streamed.at(0).at("id") == "one");
  CHECK(streamed.at(0).at("status") == "PASSED");
  CHECK(streamed.at(1).at("status") == "INVALID");
  const std::string rest = result.output.substr(cut + 3);
  CHECK(rest.ends_with("\n3\n"));
  CHECK(read_records(rest.substr(0, rest.size() - 2)).at(0).contains("summary"));
  // Text for people does not disturb what programs read.
  CHECK(contains(result.error, "INVALID line-2: wrong JSON"));
  CHECK(folder.batch({"-", "--results", "-", "--format", "json"}).code == 2);
}

TEST_CASE("text: of jobs with the same mistake eight are listed, and the rest is counted") {
  std::vector<std::string> jobs;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    jobs.push_back(named_job("lost" + number, "absent" + number + ".npy"));
    jobs.push_back(edge_job(R"("id": "blind)" + number + "\""));
    jobs.push_back(named_job("wrong" + number, "other.npy"));
  }
  const BatchFolder folder(jobs);
  const auto listed = [&](const std::vector<std::string>& options, const std::string& line) {
    std::vector<std::string> arguments{"jobs.jsonl"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return count_of("\n" + folder.batch(arguments).output, "\n" + line);
  };
  CHECK(listed({}, "ERROR lost") == 8);
  CHECK(listed({}, "and 12 more jobs like these, ERROR: help: create it with --update-golden\n") ==
        1);
  CHECK(listed({}, "UNCOMPARED blind") == 8);
  CHECK(listed({}, "and 12 more jobs like these, UNCOMPARED: no output is kept or compared") == 1);
  CHECK(listed({}, "FAILED wrong") == 20);  // each differs in its own way
  CHECK(listed({"-v"}, "ERROR lost") == 20);
  CHECK(listed({"-v"}, "and ") == 0);
}

TEST_CASE("text: what is not PASSED by default, all and the slowest with -v, errors with -q") {
  const BatchFolder& folder = ending_folder();
  const auto text = folder.batch({"jobs.jsonl", "--jobs", "1"});
  CHECK(text.error == "");
  CHECK_FALSE(contains(text.output, "good"));
  CHECK_FALSE(contains(text.output, "late"));
  CHECK_FALSE(contains(text.output, "slowest"));
  CHECK(contains(text.output, "FAILED wrong: OutputTensor: 1 of 6 elements differs (16.7%)\n"));
  CHECK(contains(text.output, "\n  OutputTensor against other.npy:\n"));
  CHECK(
      text.output.ends_with(" on cpu: 1 PASSED, 1 FAILED, 1 MISTRUSTED, 1 UNCOMPARED, 1 "
                            "UNSUPPORTED, 2 INVALID, 2 ERROR, 1 SKIPPED\n"));
  CHECK(contains(text.output, "\n10 jobs in "));
  const auto verbose = folder.batch({"jobs.jsonl", "-v"});
  CHECK(contains(verbose.output, "PASSED good\n"));
  CHECK(contains(verbose.output, "SKIPPED late: not today\n"));
  CHECK(contains(verbose.output, "slowest:\n"));
  CHECK(count_of(verbose.output.substr(verbose.output.find("slowest:")), " s  ") == 5);
  const auto quiet = folder.batch({"jobs.jsonl", "-q"});
  CHECK(quiet.code == 6);
  CHECK(quiet.output == "");
  CHECK(count_of(quiet.error, "INVALID ") == 2);
  CHECK(count_of(quiet.error, "ERROR ") == 2);
  CHECK(count_of(quiet.error, "UNSUPPORTED ") == 1);
  for (const char* other : {"FAILED", "MISTRUSTED", "SKIPPED", " jobs in "})
    CHECK_FALSE(contains(quiet.error, other));
}

TEST_CASE("text: the rate counts the jobs that this run ran") {
  const BatchFolder folder;
  const auto merge = [&](const std::string& records) {
    folder.write("r.jsonl", records + summary_line());
    return folder.batch({"--merge", "r.jsonl"}).output;
  };
  // Each record took half a second.
  const std::string ran = record_line("a", "PASSED", 0) + record_line("b", "ERROR", 5),
                    others = record_line("c", "NOT_RUN", 0) + record_line("d", "SKIPPED", 0);
  CHECK(contains(merge(ran), "2 jobs in 1 s (2/s) on cpu: 1 PASSED, 1 ERROR\n"));
  CHECK(contains(merge(ran + others), "4 jobs in 2 s (1/s) on cpu: "));
  CHECK(contains(merge(others), "2 jobs in 1 s on cpu: 1 SKIPPED, 1 NOT_RUN\n"));

  folder.write("jobs.jsonl", lines_of({named_job("a")}));
  const std::vector<std::string> resume{"jobs.jsonl", "--results", "new.jsonl", "--resume"};
  CHECK(contains(folder.batch(resume).output, "/s) on cpu: 1 PASSED\n"));
  CHECK(contains(folder.batch(resume).output, " s on cpu: 1 PASSED (1 from an earlier run)\n"));
}

TEST_CASE("every finding of a job in a list names the job's line") {
  std::vector<std::string> jobs{named_job("first")};
  for (const EndingRow& row : endings()) jobs.push_back(row.job);
  jobs.push_back(edge_job(R"("id": "stray", "expect": {"Foo": "golden.npy"})"));
  const BatchFolder folder(jobs);
  const auto result = folder.batch({"jobs.jsonl", "--jobs", "1"});
  std::istringstream lines(result.output);
  std::set<std::string> places;
  for (std::string line; std::getline(lines, line);) {
    if (!contains(line, ": error: ")) continue;
    CAPTURE(line);
    std::size_t number = 0;
    CHECK(std::sscanf(line.c_str(), "  jobs.jsonl:%zu:", &number) == 1);
    places.insert(std::to_string(number));
  }
  std::set<std::string> expected{std::to_string(jobs.size())};
  const auto rows = endings();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].code >= 3) expected.insert(std::to_string(i + 2));
  CHECK(places == expected);
}

TEST_CASE("colors and a progress line are for terminals, colors not with NO_COLOR") {
  const BatchFolder& folder = ending_folder();
  CHECK_FALSE(contains(folder.batch({"jobs.jsonl"}).output, "\x1b"));
  if (const std::string problem = terminal_problem(); !problem.empty()) {
    MESSAGE("SKIPPED: " << problem);
    return;
  }
  const auto on_terminal = [&](const std::string& environment) {
    return shell("unset NO_COLOR; " + environment +
                     " script -qec 'dmlop batch jobs.jsonl --cpu -v' /dev/null < /dev/null",
                 {.folder = folder.path()});
  };
  const auto colored = on_terminal("");
  CHECK(colored.code == 6);
  CHECK(contains(colored.output, "\x1b[31mFAILED\x1b[0m wrong: "));
  CHECK(contains(colored.output, "\x1b[32mPASSED\x1b[0m good"));
  const auto plain = on_terminal("NO_COLOR=1");
  CHECK(contains(plain.output, "FAILED wrong: "));
  CHECK_FALSE(contains(plain.output, "\x1b[3"));
  CHECK(contains(on_terminal("NO_COLOR=").output, "\x1b[31mFAILED"));
}

TEST_CASE("tests of terminals know when the system gives none") {
  const Folder folder;
  const std::string script = folder.write(
      "script", "#!/bin/sh\necho 'script: failed to create pseudo-terminal' >&2\nexit 1\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  CHECK(terminal_problem(script) ==
        "the system gives no pseudo-terminal: script: failed to create pseudo-terminal\n");
  CHECK(terminal_problem(folder / "none") == "there is no command script");
}

TEST_CASE("a terminal has a progress line that makes room for other output") {
  if (const std::string problem = terminal_problem(); !problem.empty()) {
    MESSAGE("SKIPPED: " << problem);
    return;
  }
  const BatchFolder folder;
  folder.write("one", named_job("one") + "\n");
  folder.write("two", named_job("two", "other.npy") + "\n" + named_job("three") + "\n");
  folder.write("four", named_job("four", "other.npy") + "\n");
  folder.write(
      "command",
      "(cat one; sleep 0.5; cat two; sleep 0.5; cat four) | dmlop batch - --cpu --jobs 1 $1");
  const auto run = [&](const std::string& option) {
    return shell("script -qec 'sh command " + option + "' /dev/null < /dev/null",
                 {.folder = folder.path()})
        .output;
  };
  const std::string text = run("");
  // The first job after a moment's silence shows it; nothing is printed behind it.
  CHECK(contains(text, "\r\x1b[K2 jobs, 1 not passed, "));
  CHECK(contains(text, " jobs/s\r\x1b[K\x1b[31mFAILED\x1b[0m four: "));
  CHECK(contains(text, " jobs/s\r\x1b[K4 jobs in "));
  CHECK_FALSE(contains(run("-q"), " jobs"));
  CHECK_FALSE(contains(shell("sh command", {.folder = folder.path()}).error, " jobs"));
}

TEST_CASE("--format json is one document with the jobs that went wrong") {
  const BatchFolder& folder = ending_folder();
  const auto result = folder.batch({"jobs.jsonl", "--format", "json"});
  CHECK(result.code == 6);
  const Json json = Json::parse(result.output);
  CHECK(json.at("status") == "error");
  CHECK(json.at("exitCode") == 6);
  CHECK(json.at("device") == "cpu");
  CHECK(json.at("counts").at("PASSED") == 1);
  CHECK(json.at("jobs").size() == 8);
  for (const Json& job : json.at("jobs")) {
    CHECK(job.at("status") != "PASSED");
    CHECK_FALSE(job.at("repeat").get<std::string>().empty());
  }
  CHECK(contains(result.error, "FAILED wrong: "));
  const auto good = folder.batch({"jobs.jsonl", "--format", "json", "--filter", "good"});
  CHECK(Json::parse(good.output).at("status") == "done");
  CHECK(good.error.ends_with("on cpu: 1 PASSED\n"));
  const auto wrong = folder.batch({"jobs.jsonl", "--format", "json", "--filter", "wrong", "-q"});
  CHECK(Json::parse(wrong.output).at("status") == "different");
  CHECK(wrong.error == "");
}

TEST_CASE("--github: at most ten annotations, escaped, and a step summary that is appended") {
  std::vector<std::string> jobs;
  for (int i = 0; i < 60; ++i)
    jobs.push_back(named_job("a,b:c%|" + std::to_string(i), "other.npy"));
  const BatchFolder folder(jobs);
  folder.write("summary.md", "before\n");
  const auto result =
      shell("GITHUB_STEP_SUMMARY=summary.md dmlop batch jobs.jsonl --cpu --jobs 1 --github",
            {.folder = folder.path()});
  CHECK(result.code == 1);
  CHECK(count_of(result.output, "::error ") == 10);
  CHECK(contains(result.output,
                 "\n::error title=FAILED a%2Cb%3Ac%25|0,file=jobs.jsonl,line=1,col=1::"
                 "OutputTensor: 1 of 6 elements differs (16.7%25)%0A"
                 "worst: [5] is 3, expected 3.5: 0.5 off, relative 0.1429, 2097152 ULP%0A"
                 "the differences are too large for a tolerance%0A\n"));
  CHECK_FALSE(contains(result.output.substr(0, result.output.find("\n60 jobs")),
                       "::OutputTensor: 1 of 6 elements differs (16.7%25)%0A  "));
  const std::string summary = folder.read("summary.md");
  CHECK(summary.starts_with("before\n### dmlop: ` jobs.jsonl `\n\n60 FAILED in "));
  CHECK(contains(summary, " s on ` cpu `\n"));
  CHECK(count_of(summary, "\n| ` a,b:c%\\|") == 50);
  CHECK(contains(summary, "\n10 more are not listed.\n"));
  const auto unwritable =
      shell("GITHUB_STEP_SUMMARY=none/summary.md dmlop batch jobs.jsonl --cpu --github -q",
            {.folder = folder.path()});
  CHECK(unwritable.code == 6);
  CHECK(contains(unwritable.error, "none/summary.md"));
  const auto unset = shell("unset GITHUB_STEP_SUMMARY; dmlop batch jobs.jsonl --cpu --github -q",
                           {.folder = folder.path()});
  CHECK(unset.code == 1);
}

TEST_CASE("--github points at the file, line and column that are wrong") {
  const BatchFolder folder;
  const auto add = [&](const std::string& id, const std::string& name, const std::string& text) {
    folder.write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    folder.write("jobs/" + id + "/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/" + id + "/expected.npy", folder.read("golden.npy"));
    folder.write("jobs/" + id + "/" + name, text);
  };
  add("desc", "op.json",
      "{\n  \"type\": \"PADDING\",\n  \"desc\": {\"PaddingMode\": \"EDG\", "
      "\"StartPadding\": [1], \"EndPadding\": [2]}\n}");
  add("tolerance", "tol.json", "{\n  \"rtol\": \"x\"\n}");
  add("golden", "expected/OutputTenso.npy", folder.read("golden.npy"));
  const auto result = folder.batch({"jobs", "--github", "--results", "r.jsonl"});
  const auto has = [&](const std::string& text) { return contains(result.output, text); };
  CHECK(has("::error title=INVALID desc,file=jobs/desc/op.json,line=3,col=27::PaddingMode is "));
  CHECK(has("::error title=INVALID tolerance,file=jobs/tolerance/tol.json,line=2,col=11::"));
  CHECK(
      has("::error title=INVALID golden,file=jobs/golden/expected/OutputTenso.npy,line=1,col=1"
          "::this golden file matches no output of PADDING%0Arule: "));
  // The records know as much, for whoever merges them.
  const auto merged = folder.batch({"--github", "--merge", "r.jsonl"});
  const auto annotations = [](const std::string& text) {
    std::set<std::string> lines;
    for (std::size_t at = text.find("::error"); at != std::string::npos;
         at = text.find("::error", at + 1))
      lines.insert(text.substr(at, text.find('\n', at) - at));
    return lines;
  };
  CHECK(annotations(merged.output).size() == 3);
  CHECK((annotations(merged.output) == annotations(result.output)));
}

TEST_CASE("JUnit: the same jobs in the same order with the same names, however they end") {
  const BatchFolder folder;
  const auto add = [&](const std::string& id, const std::string& golden) {
    folder.write("jobs/" + id + "/op.json", "{" + edge_fields + "}");
    folder.write("jobs/" + id + "/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/" + id + "/expected.npy", folder.read(golden));
  };
  for (int i = 0; i < 20; ++i)
    add("set/job" + std::to_string(i), i % 3 == 0 ? "other.npy" : "golden.npy");
  add("top", "golden.npy");
  // Class, name, file and line of every case.
  const auto cases = [](const std::string& xml) {
    std::string text;
    for (std::size_t at = xml.find("<testcase "); at != std::string::npos;
         at = xml.find("<testcase ", at + 1))
      text += xml.substr(at, xml.find(" time=", at) - at) + "\n";
    return text;
  };
  const auto run = [&](const std::string& jobs) {
    folder.batch({jobs, "--junit", "j.xml", "--results", "r.jsonl"});
    folder.batch({"--merge", "r.jsonl", "--junit", "m.xml"});
    CHECK(cases(folder.read("m.xml")) == cases(folder.read("j.xml")));
    return cases(folder.read("j.xml"));
  };
  const std::string first = run("jobs");
  CHECK(count_of(first, "\n") == 21);
  CHECK(
      first.starts_with("<testcase classname=\"set\" name=\"set/job0\" "
                        "file=\"jobs/set/job0/op.json\" line=\"1\"\n"));
  CHECK(
      first.ends_with("<testcase classname=\"dmlop\" name=\"top\" "
                      "file=\"jobs/top/op.json\" line=\"1\"\n"));
  for (int i = 0; i < 3; ++i) CHECK(run("jobs") == first);
  folder.write("jobs/set/job1/op.json", "{");
  folder.write("jobs/top/job.json", R"({"skip": "why"})");
  CHECK(run("jobs") == first);
  folder.write("jobs.jsonl", lines_of({named_job("b"), "", named_job("a"), "{"}));
  CHECK(run("jobs.jsonl") ==
        "<testcase classname=\"dmlop\" name=\"b\" file=\"jobs.jsonl\" line=\"1\"\n"
        "<testcase classname=\"dmlop\" name=\"a\" file=\"jobs.jsonl\" line=\"3\"\n"
        "<testcase classname=\"dmlop\" name=\"line-4\" file=\"jobs.jsonl\" line=\"4\"\n");
}

TEST_CASE("the statuses: each name once, and an outcome for each way to end") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < dmlop::statuses.size(); ++i) {
    const auto status = static_cast<Status>(i);
    CAPTURE(dmlop::name_of(status));
    CHECK(names.insert(dmlop::name_of(status)).second);
    CHECK(dmlop::status_named(dmlop::name_of(status)) == status);
    int ways = 0;
    for (int code = 0; code < 256; ++code) {
      const auto outcome = dmlop::outcome_of(status, code);
      if (!outcome) continue;
      ++ways;
      const bool is_good = BatchResult{.status = status, .exit_code = code}.is_good();
      // A batch goes well exactly where its exit code says so; it did not come to NOT_RUN.
      CHECK(is_good == (code == 0 && status != Status::not_run));
    }
    CHECK(ways == (status == Status::updated || status == Status::error ? 2 : 1));
  }
  CHECK_FALSE(dmlop::status_named("passed").has_value());
}

TEST_CASE("documents and help have a row for each status, with its exit codes") {
  const std::string document = read_file(source_path("samples/README.md"));
  const std::string help = dmlop_program({"batch", "--help"}).output;
  for (const auto& status : dmlop::statuses) {
    CAPTURE(status.name);
    const std::string row = "\n| " + std::string(status.name) + " | ";
    REQUIRE(count_of(document, row) == 1);
    const std::size_t begin = document.find(row);
    const std::string line = document.substr(begin + 1, document.find('\n', begin + 1) - begin - 1);
    const int first = status.ends.front().exit_code, last = status.ends.back().exit_code;
    const std::string codes =
        first == last ? std::to_string(first) : std::to_string(first) + ", " + std::to_string(last);
    // The batch did not come to NOT_RUN; what stopped it has the code.
    const bool is_last = status.name == "NOT_RUN";
    CHECK(line.ends_with(is_last ? "| |" : "| " + codes + " |"));
    CHECK(contains(help, "\n  " + std::string(status.name) + " "));
    CHECK(contains(help, std::string(status.when) + "\n"));
  }
}

TEST_CASE("GitHub texts: line ends, places without lines, table cells") {
  const std::vector<BatchResult> results{
      {.id = "a\r\nb", .status = Status::error, .place = "x/op.json", .message = "100%\nof\r"},
      {.id = "good", .status = Status::passed, .place = "x"},
      {.id = "s", .status = Status::skipped, .place = "x"}};
  CHECK(github_annotations(results) ==
        "::error title=ERROR a%0D%0Ab,file=x/op.json,line=1,col=1::100%25%0Aof%0D%0A\n");
  dmlop::BatchSummary summary;
  summary.counts[0] = 2;
  const std::vector<BatchResult> warned{
      {.id = "a,b",
       .status = Status::passed,
       .place = "x:3",
       .warnings = {"x:3:9: w: 5%\n  rule: |"}},
      {.id = "c", .status = Status::xfail, .place = "x:4", .warnings = {12, "\r::error::"}}};
  const std::string annotations = github_annotations(warned);
  CHECK(annotations.starts_with(
      "::warning title=a%2Cb,file=x,line=3,col=1::x:3:9: w: 5%25%0A  rule: |\n"
      "::warning title=c,file=x,line=4,col=1::%0D::error::\n"));
  CHECK(count_of(annotations, "\n") == 10);  // as many as GitHub shows
  const std::string warnings = dmlop::github_step_summary({"t", "1", summary, warned});
  CHECK(contains(warnings,
                 "\n| job | warning |\n|---|---|\n| ` a,b ` | ` x:3:9: w: 5%   rule: \\| ` |\n"));
  CHECK_FALSE(contains(warnings, "| job | status |"));
  const std::vector<BatchResult> cells{
      {.id = "<b>*_|", .status = Status::failed, .message = "one\ntwo <img>"},
      {.id = "`a``", .status = Status::failed, .message = "\\|"},
      {.id = "https://x.org @name $1+1$ #1 :tada: a@b.org [l](x)", .status = Status::failed}};
  const std::string text = dmlop::github_step_summary({"@t", "1", summary, cells});
  CHECK(text.starts_with("### dmlop: ` @t `\n"));
  // Code of any number of backticks, which alone keeps links, names and formulas plain text.
  CHECK(contains(text, "\n| ` <b>*_\\| ` | FAILED | ` one two <img> ` |\n"));
  CHECK(contains(text, "\n| ``` `a`` ``` | FAILED | ` \\\\u007c ` |\n"));
  CHECK(
      contains(text, "\n| ` https://x.org @name $1+1$ #1 :tada: a@b.org [l](x) ` | FAILED |  |\n"));
}

TEST_CASE("--html: one page with the data, in which no text ends the script") {
  const BatchFolder folder({named_job("</script><b>", "other.npy"), named_job("good"),
                            named_job("<!--<script>", "none.npy")});
  CHECK(folder.batch({"jobs.jsonl", "--html", "report.html"}).code == 6);
  const std::string html = folder.read("report.html");
  const std::string begin = R"(id="data")";
  REQUIRE(contains(html, begin));
  std::size_t at = html.rfind(begin);
  at = html.find('>', at) + 1;
  const std::size_t end = html.find("</script>", at);
  REQUIRE(end != std::string::npos);
  const std::string data = html.substr(at, end - at);
  CHECK_FALSE(contains(data, "<"));
  const Json json = Json::parse(data);
  REQUIRE(json.at("jobs").size() == 3);
  CHECK(json.at("title") == "jobs.jsonl");
  CHECK(json.at("counts").at("FAILED") == 1);
  bool has_pictures = false;
  for (const Json& job : json.at("jobs")) {
    if (job.at("id") != "</script><b>") continue;
    const Json& pictures = job.at("comparisons").at(0).at("pictures");
    for (const char* name : {"actual", "expected", "difference"})
      CHECK(pictures.at(name).get<std::string>().starts_with("data:image/png;base64,iVBORw0KGgo"));
    has_pictures = true;
  }
  CHECK(has_pictures);
  CHECK_FALSE(contains(html, "@DATA@"));
}

TEST_CASE("--skip-code: only when every job was SKIPPED or UNSUPPORTED") {
  const std::string skipped = named_job("s", "golden.npy", R"("skip": "no")");
  const std::string unsupported = "{\"id\": \"u\", " + unsupported_members + "}";
  const auto code = [](const std::vector<std::string>& jobs,
                       const std::vector<std::string>& more = {}) {
    const BatchFolder folder(jobs);
    std::vector<std::string> arguments{"jobs.jsonl", "--skip-code", "77"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return folder.batch(arguments).code;
  };
  CHECK(code({skipped}) == 77);
  CHECK(code({unsupported}) == 77);
  CHECK(code({unsupported, skipped}) == 77);
  CHECK(code({skipped, named_job("a")}) == 0);
  CHECK(code({unsupported, named_job("a")}) == 4);
  CHECK(code({skipped, named_job("a", "other.npy")}) == 1);
  CHECK(code({skipped}, {"--junit", "/dev/full"}) == 6);
  CHECK(code({skipped}, {"--filter", "none", "--allow-empty"}) == 0);
}

TEST_CASE("a full disk under a report is said, and the jobs go on") {
  const BatchFolder folder({named_job("a"), named_job("b", "other.npy"), named_job("c")});
  const auto results = folder.batch({"jobs.jsonl", "--results", "/dev/full"});
  CHECK(results.code == 6);
  CHECK(count_of(results.error, "/dev/full") == 1);
  CHECK(contains(results.error,
                 "writing the results /dev/full: No space left on device; the "
                 "batch goes on without records\n"));
  CHECK(contains(results.output, "2 PASSED, 1 FAILED\n"));
  for (const dmlop::ReportFormat& format : dmlop::report_formats) {
    const auto report =
        folder.batch({"jobs.jsonl", format.option, "/dev/full", "--results", "r.jsonl"});
    CHECK(report.code == 6);
    CHECK(contains(report.error, "/dev/full"));
    CHECK(contains(report.output, "2 PASSED, 1 FAILED\n"));
    CHECK(read_records(folder.read("r.jsonl")).size() == 4);
  }
  const auto both = folder.batch({"jobs.jsonl", "--junit", "/dev/full", "--html", "h.html"});
  CHECK(both.code == 6);
  CHECK(folder.has("h.html"));
  const auto output = dmlop_program({"batch", "jobs.jsonl", "--cpu", "--filter", "a"},
                                    {.folder = folder.path(), .output_path = "/dev/full"});
  CHECK(output.code == 6);
  const auto closed = dmlop_program({"batch", "jobs.jsonl", "--cpu", "--results", "-"},
                                    {.folder = folder.path(), .closed_output = true});
  CHECK(closed.code == 6);
}

TEST_CASE("a report on standard output is alone there: text goes to standard error") {
  for (const dmlop::ReportFormat& format : dmlop::report_formats) {
    const BatchFolder folder({named_job("a"), named_job("b", "other.npy")});
    CAPTURE(std::string(format.option));
    REQUIRE(folder.batch({"jobs.jsonl", format.option, "report"}).code == 1);
    const std::string file = folder.read("report");
    const std::string end = file.substr(file.size() - 10);
    const auto piped = folder.batch({"jobs.jsonl", format.option, "-"});
    CHECK(piped.code == 1);
    CHECK(piped.output.starts_with(format.beginning));
    CHECK(piped.output.ends_with(end));
    CHECK(contains(piped.error, "1 PASSED, 1 FAILED\n"));
    for (const char* name : {"> out", "| cat > out"}) {
      CAPTURE(name);
      shell(
          "dmlop batch jobs.jsonl --cpu -q " + std::string(format.option) + " /dev/stdout " + name,
          {.folder = folder.path()});
      CHECK(folder.read("out").starts_with(format.beginning));
      CHECK(folder.read("out").ends_with(end));
    }
  }
}

TEST_CASE("standard output takes one of the reports, the results and the summary") {
  const BatchFolder folder({named_job("a")});
  std::vector<std::vector<std::string>> outputs{{"--results", "-"}, {"--format", "json"}};
  for (const dmlop::ReportFormat& format : dmlop::report_formats)
    outputs.push_back({format.option, "-"});
  for (const auto& first : outputs) {
    for (const auto& second : outputs) {
      if (first == second) continue;
      const auto result = folder.batch({"jobs.jsonl", first[0], first[1], second[0], second[1]});
      CHECK(result.code == 2);
      const std::string text = result.error + result.output;  // as JSON where that is asked for
      for (const auto& each : {first, second}) CHECK(contains(text, each[0]));
      CHECK(contains(text, " can write to standard output; give the others a file"));
    }
  }
}

}  // namespace dmlop::test::batch_reports_test
