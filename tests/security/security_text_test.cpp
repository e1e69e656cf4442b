// Every text of every kind of input file, and every name on the command line, in every command:
// nothing that reaches standard output or standard error is executed by its reader or hides
// anything.
#include <doctest/doctest.h>

#include <set>

#include "hostile.hpp"

namespace dmlop::test::security_text_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

/// All strings of a document, names and values, each once.
void add_strings(const Json& json, std::set<std::string>& strings) {
  if (json.is_string()) strings.insert(json.get<std::string>());
  for (const auto& [name, value] : json.items()) {
    if (json.is_object()) strings.insert(name);
    if (json.is_structured()) add_strings(value, strings);
  }
}

/// The document with another string wherever one stands, as a name and as a value.
Json replaced(const Json& json, const std::string& from, const std::string& to) {
  if (json.is_string() && json.get<std::string>() == from) return to;
  if (!json.is_structured()) return json;
  Json result = json.is_array() ? Json::array() : Json::object();
  for (const auto& [name, value] : json.items()) {
    if (json.is_array()) result.push_back(replaced(value, from, to));
    if (json.is_object()) result[name == from ? to : name] = replaced(value, from, to);
  }
  return result;
}

/// Runs commands and checks what they print.
class Sweep {
 public:
  explicit Sweep(const BatchFolder& folder) : folder_(folder) {}
  ~Sweep() { CHECK(shown_ > 0); }  // or nothing was tried

  void run(const Arguments& arguments, const std::vector<std::string>& environment = {}) {
    CAPTURE(arguments);
    const auto result =
        dmlop_program(arguments, {.folder = folder_.path(), .environment = environment});
    check_harmless(result);
    CHECK(result.code < 128);
    CHECK_FALSE(contains(result.error, "internal"));
    const std::string text = result.output + result.error;
    if (contains(text, "\\u") || contains(text, "\\x")) ++shown_;
    const bool is_json = std::find(arguments.begin(), arguments.end(), "json") != arguments.end();
    if (is_json && result.code != 2 && !result.output.empty()) CHECK(Json::accept(result.output));
  }

  /// All strings of the documents, which are the lines of a file, in turn. As they are, no command
  /// ends with a higher code than `sound_code`: so that they get as far as commands can.
  void run_all(const std::string& file, const std::vector<Json>& lines,
               const std::vector<Arguments>& commands, int sound_code = 1) {
    for (const Arguments& command : commands) {
      CAPTURE(command);
      std::string text;
      for (const Json& line : lines) text += line.dump() + "\n";
      folder_.write(file, text);
      const auto result = dmlop_program(command, {.folder = folder_.path()});
      CAPTURE(result.error);
      CHECK(result.code <= sound_code);
    }
    std::set<std::string> strings;
    for (const Json& line : lines) add_strings(line, strings);
    // Every command meets every name, and so does every string. All three together would take twice
    // as long, and everything that is printed is escaped in one place.
    std::size_t turn = 0;
    for (const std::string& string : strings) {
      CAPTURE(string);
      ++turn;
      for (std::size_t i = 0; i < commands.size(); ++i) {
        const std::string& name = hostile_names[(turn + i) % hostile_names.size()];
        CAPTURE(name);
        std::string text;
        for (const Json& line : lines) text += replaced(line, string, name).dump() + "\n";
        folder_.write(file, text);
        run(commands[i]);
      }
    }
    // What does not even parse.
    for (const std::string& name : hostile_names) {
      folder_.write(file, "{\"type\": " + name + "}");
      for (const Arguments& command : commands) run(command);
    }
  }

 private:
  const BatchFolder& folder_;
  int shown_ = 0;
};

Json edge_op() {
  return Json::parse(
      R"({"$schema": "s", "type": "PADDING", "featureLevel": "5_0", "desc": {"InputTensor": )"
      R"({"DataType": "FLOAT32", "Sizes": [3], "Flags": "NONE"}, "PaddingMode": "EDGE", )"
      R"("PaddingValue": "inf", "StartPadding": [1], "EndPadding": [2]}, )"
      R"("bindings": {"InputTensor": "x.npy", "OutputTensor": "o.npy"}})");
}

/// A model of the same; `values` are those of its input.
Json edge_model(const std::string& values = R"({"sourcePath": "x.npy"})") {
  return Json::parse(
      R"({"resources": {"A": {"initialValuesDataType": "FLOAT32", "initialValues": )" + values +
      R"(}, "B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, )"
      R"("value": 0}}, "C": {"initialValuesDataType": "INT8", "initialValues": [1, 2], )"
      R"("extra": 1}}, "dispatchables": {"pad": {"type": "DML_OPERATOR_PADDING", "desc": )"
      R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}, "OutputTensor": {"DataType": )"
      R"("FLOAT32", "Sizes": [6]}, "PaddingMode": "DML_PADDING_MODE_EDGE", "PaddingValue": 0, )"
      R"("DimensionCount": 1, "StartPadding": [1], "EndPadding": [2]}}}, "commands": )"
      R"([{"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "A", )"
      R"("OutputTensor": "B"}}, {"type": "print", "resource": "B"}, {"type": "writeFile", )"
      R"("resource": "B", "targetPath": "b.npy", "dimensions": [6]}]})");
}

}  // namespace

TEST_CASE("security: op descriptions") {
  const BatchFolder folder;
  folder.write("job/x.npy", folder.read("x.npy"));
  folder.write("job/expected.npy", folder.read("other.npy"));
  const std::string op = "job/op.json";
  Sweep(folder).run_all(op, {edge_op()},
                        {{"check", op},
                         {"check", op, "--format", "json"},
                         {"check", op, "--confine"},
                         {"run", op, "--cpu"},
                         {"run", op, "--cpu", "--timings", "--format", "json"},
                         {"run", op, "--cpu", "--expect", "other.npy"},
                         {"bench", op, "--cpu", "--min-time", "0"},
                         {"bench", op, "--cpu", "--min-time", "0", "--format", "json"},
                         {"convert", op, "--to-model", "m.json"},
                         {"batch", "job", "--cpu", "-v", "--results", "-"},
                         {"batch", "job", "--cpu", "--format", "json"}});
}

TEST_CASE("security: models") {
  const BatchFolder folder;
  folder.write("job/x.npy", folder.read("x.npy"));
  folder.write("job/expected/B.npy", folder.read("other.npy"));
  const Json model = edge_model();
  const std::string file = "job/model.json";
  Sweep(folder).run_all(file, {model},
                        {{"check", file},
                         {"check", file, "--format", "json"},
                         {"run", file, "--cpu", "--timings"},
                         {"run", file, "--cpu", "--format", "json"},
                         {"run", file, "--cpu", "-o", "B=o.npy", "--expect", "B=other.npy"},
                         {"bench", file, "--cpu", "--min-time", "0"},
                         {"bench", file, "--cpu", "--min-time", "0", "--format", "json"},
                         {"convert", file, "--to-op", "o.json"},
                         {"batch", "job", "--cpu", "-v", "--results", "-", "--out", "out"},
                         {"batch", "job", "--cpu", "--format", "json"}});
}

TEST_CASE("security: jobs") {
  const BatchFolder folder;
  const std::vector<Json> jobs{
      Json::parse(
          named_job("a", "other.npy", R"("tags": ["t", "u"], "tolerance": {"nan": "differ"})")),
      Json::parse(edge_job(R"("id": "b", "expect": {"OutputTensor": "golden.npy"})")),
      Json::parse(edge_job(R"("id": "c", "skip": "why")")),
      Json::parse(edge_job(R"("id": "c")", "none.npy"))};
  const std::vector<Arguments> more{{"-v", "--results", "-"},
                                    {"--format", "json", "--junit", "/dev/stderr"},
                                    {"--confine", "--out", "out", "--tag", "t"}};
  const auto commands = [&](const std::string& file) {
    std::vector<Arguments> all;
    for (const Arguments& options : more) {
      all.push_back({"batch", file, "--cpu"});
      all.back().insert(all.back().end(), options.begin(), options.end());
    }
    return all;
  };
  Sweep(folder).run_all("jobs.jsonl", jobs, commands("jobs.jsonl"), 6);
  const Json list{{"defaults", {{"type", "PADDING"}, {"featureLevel", "5_0"}}}, {"jobs", jobs}};
  Sweep(folder).run_all("jobs.json", {list}, commands("jobs.json"), 6);
}

TEST_CASE("security: tolerances") {
  const BatchFolder folder;
  folder.write("job/op.json", "{" + edge_fields + "}");
  folder.write("job/InputTensor.npy", folder.read("x.npy"));
  folder.write("job/expected.npy", folder.read("other.npy"));
  Sweep(folder).run_all("job/tol.json", {Json::parse(R"({"rtol": 1e-9, "nan": "differ"})")},
                        {{"batch", "job", "--cpu", "-v", "--results", "-"}});
}

TEST_CASE("security: records") {
  const BatchFolder folder({named_job("a", "other.npy", R"("tags": ["t"])"), named_job("b"),
                            R"({"id": "c", "type": "NONE"})"});
  folder.batch({"jobs.jsonl", "--results", "r.jsonl"});
  std::vector<Json> lines = read_records(folder.read("r.jsonl"));
  lines.insert(lines.end() - 1, Json{{"started", {{"version", "1"}}}});
  lines.back().at("summary").update({{"shard", "0/1"}, {"interrupted", "so"}});
  Sweep(folder).run_all(
      "r.jsonl", lines,
      {{"batch", "--merge", "r.jsonl", "-v"},
       {"batch", "--merge", "r.jsonl", "--results", "-", "--junit", "/dev/stderr"},
       {"batch", "--merge", "r.jsonl", "--format", "json"},
       {"batch", "jobs.jsonl", "--cpu", "--resume", "--results", "r.jsonl", "-v"}},
      5);
  // Files that disagree.
  for (const std::string& name : hostile_names) {
    for (const auto& [file, status, code] : {std::tuple{"1", "FAILED", 1}, {"2", "PASSED", 0}}) {
      folder.write(name + file,
                   Json{{"id", name}, {"status", status}, {"exitCode", code}}.dump() + "\n");
    }
    Sweep(folder).run({"batch", "--merge", name + "1", name + "2", "-v"});
  }
}

TEST_CASE("security: headers of .npy files") {
  const BatchFolder folder;
  folder.write("op.json", "{" + edge_fields + "}");
  std::vector<std::string> texts = hostile_names;
  texts.insert(texts.end(), {"e\x9b"
                             "31m",
                             "e\xff"});  // no UTF-8
  Sweep sweep(folder);
  for (const std::string& text : texts) {
    const std::string sound = folder.read("x.npy");
    const auto header = [&](const std::string& part, const std::string& by) {
      std::string bytes = sound;
      const std::size_t at = bytes.find(part);
      REQUIRE(at != std::string::npos);
      return bytes.replace(at, part.size(), by);
    };
    for (const std::string& bytes : {header("<f4", text), header("'descr'", "'" + text + "'"),
                                     header("(3,)", "(" + text + ")"), header("(3,)", text),
                                     header("False", text), header("}", text), header("{", text),
                                     header("\x93NUMPY", text), text, sound.substr(0, 10) + text}) {
      folder.write("e.npy", bytes);
      for (const Arguments& command :
           {Arguments{"inspect", "e.npy"},
            {"inspect", "e.npy", "--format", "json"},
            {"compare", "e.npy", "x.npy"},
            {"compare", "x.npy", "e.npy", "--format", "json"},
            {"check", "op.json", "-i", "e.npy"},
            {"run", "op.json", "--cpu", "-i", "e.npy", "-o", "o.npy"},
            {"run", "op.json", "--cpu", "-i", "x.npy", "--expect", "e.npy", "--format", "json"}})
        sweep.run(command);
    }
  }
}

TEST_CASE("security: names of files and values of options") {
  std::vector<std::string> names = hostile_names;
  names.insert(names.end(), {"e\x9b"
                             "31m",
                             "e\xff"});  // no UTF-8
  for (const std::string& n : names) {
    CAPTURE(n);
    const BatchFolder folder;
    const std::string other = n + "2", op = n + ".json", jobs = n + ".jsonl", model = n + "m.json";
    folder.write(n, folder.read("x.npy"));
    folder.write(other, folder.read("other.npy"));
    folder.write(op, "{" + edge_fields + "}");
    folder.write(model, R"({"resources": {"A": {"initialValuesDataType": "INT8", )"
                        R"("initialValues": [1]}}, "dispatchables": {}, "commands": []})");
    folder.write(jobs, named_job("a", "other.npy") + "\n" + named_job("b") + "\n");
    folder.write(n + "d/" + n + "/op.json", "{" + edge_fields + "}");
    folder.write("op.json", "{" + edge_fields + "}");
    Sweep sweep(folder);
    for (const Arguments& command : std::vector<Arguments>{
             {n},
             {"run", "--" + n},
             {"run", op, n},
             {"inspect", n},
             {"inspect", n, "--format", "json"},
             {"inspect", n + "none", "--format", "json"},
             {"inspect", n + "none"},
             {"compare", n, n},
             {"compare", n, other, "--format", "json"},
             {"compare", "golden.npy", other, "--heatmap", n + ".png"},
             {"compare", n, n, "--heatmap", n},
             {"compare", n, other, "--heatmap", n + ".png"},
             {"check", op},
             {"check", op, "--format", "json"},
             {"check", op, "--confine=" + n},
             {"check", n + "none"},
             {"check", op, "-i", other, "--feature-level", n},
             {"run", op, "--cpu", "-i", n, "-o", n + "o"},
             {"run", op, "--cpu", "-i", n, "-o", n + "o", "--format", "json"},
             {"run", op, "--cpu", "-i", n, "--expect", other},
             {"run", op, "--cpu", "-i", n, "--expect", other, "--format", "json"},
             {"run", op, "--cpu", "-i", n, "--expect", n + "g", "--update-golden"},
             {"run", op, "--cpu", "-i", n + "=" + n, "-o", n + "/o"},
             {"run", op, "--device", n, "-i", n, "-o", n + "o"},
             {"run", model, "--cpu", "-o", n + "=" + n + "o"},
             {"run", model, "--cpu", "-o", "A=" + n + "o", "--expect", "A=" + other},
             {"run", model, "--cpu", "--output-path", n, "--input-path", n},
             {"bench", op, "--cpu", "--min-time", "0", "-i", n},
             {"bench", op, "--cpu", "--min-time", n},
             {"convert", op, "--to-model", n + "c.json", "-i", n},
             {"convert", op, "--to-model", op, "-i", n},
             {"convert", model, "--to-op", n + "c.json"},
             {"convert", "op.json", "--to-model", "m.json", "-i", "x.npy", "-o", n},
             {"ops", n},
             {"schema", n},
             {"completion", n},
             {"batch", jobs, "--cpu", "-v", "--results", "-"},
             {"batch", jobs, "--cpu", "--out", n + "out", "--format", "json"},
             {"batch", jobs, "--cpu", "--confine", "--results", n + "r", "--junit", n + "j"},
             {"batch", "--merge", n + "r", n + "r", "--junit", "/dev/stderr"},
             {"batch", jobs, "--cpu", "--html", op},
             {"batch", jobs, "--cpu", "--junit", n + "/j"},
             {"batch", jobs, "--cpu", "--filter", n},
             {"batch", jobs, "--cpu", "--tag", n},
             {"batch", jobs, "--cpu", "--shard", n},
             {"batch", n + "d", "--cpu", "-v", "--results", "-", "--out", "out"},
             {"batch", n + "d", "--cpu", "--format", "json"},
             {"batch", n + "none", "--cpu"}})
      sweep.run(command);
    sweep.run({"run", "op.json", "-i", "x.npy", "-o", "o.npy"}, {"DMLOP_DEVICE=" + n});
  }
}

TEST_CASE("security: a command that repeats a job is one harmless line and selects the job") {
  BatchFolder folder;
  std::vector<std::string> names = hostile_names;
  names.insert(names.end(),
               {"it's\x1b", "!\\\x1b!##x", "\xff", "e\n", "%s%b\\0101\x07", "$HOME`x`\x07"});
  for (const std::string& name : names) {
    for (const std::string& job : {name, name + "?"}) {
      const std::string place = "jobs\x1b\n" + std::string("/") + job + "/";
      folder.write(place + "op.json", "{" + edge_fields + "}");
      folder.write(place + "InputTensor.npy", folder.read("x.npy"));
      folder.write(place + "expected.npy", folder.read("other.npy"));
    }
  }
  const auto outcome = folder.run({"jobs\x1b\n", "-v"});
  check_harmless(outcome.program);
  CHECK(outcome.records.size() == 2 * names.size());
  for (const Json& record : outcome.records) {
    CHECK(record.at("status") == "FAILED");
    const std::string command = record.at("repeat");
    CAPTURE(command);
    CHECK(danger_in(command) == "");
    CHECK_FALSE(contains(command, "\n"));
    CHECK(contains(outcome.program.output, "\n  repeat: " + command + "\n"));
    for (const char* name : {"sh", "bash"}) {
      if (!has_command(name)) continue;
      folder.write("again", command + " --results again.jsonl");
      const auto again = shell(std::string(name) + " ./again", {.folder = folder.path()});
      CAPTURE(again.error);
      const auto records = read_records(folder.read("again.jsonl"));
      REQUIRE(records.size() == 2);
      CHECK(records[0].at("id") == record.at("id"));
    }
  }
}

TEST_CASE("security: a job from standard input is repeated as it was, whatever is in it") {
  const BatchFolder folder;
  for (const std::string& name : hostile_names) {
    const std::string job = R"({"id": ")" + name + R"('\\!", "type": "PADDING"})";  // raw
    const auto outcome = folder.run({"-"}, named_job("a\u202e", "other.npy") + "\n" + job + "\n");
    check_harmless(outcome.program);
    for (const Json& record : outcome.records) {
      const std::string command = record.at("repeat");
      CAPTURE(command);
      CHECK(danger_in(command) == "");
      const auto again = shell(command + " --results again.jsonl", {.folder = folder.path()});
      const auto records = read_records(folder.read("again.jsonl"));
      REQUIRE(records.size() >= 2);
      CHECK(records[0].at("message") == record.at("message"));
      CHECK(records[0].at("description") == record.at("description"));
    }
  }
}

TEST_CASE(
    "a name that is no UTF-8 is shown in JSON, and never written where it would name no file") {
  const BatchFolder folder;
  const std::string name = "e\xff.npy";
  folder.write(name, folder.read("x.npy"));
  const auto inspected =
      dmlop_program({"inspect", name, "--format", "json"}, {.folder = folder.path()});
  CHECK(inspected.code == 0);
  CHECK(Json::parse(inspected.output).at(0).at("file") == "e\ufffd.npy");

  folder.write("op.json", "{" + edge_fields + "}");
  folder.write("model.json", edge_model(R"([1, 2, 3])").dump());
  const std::string before = folder.list();
  for (const Arguments& command :
       {Arguments{"convert", "op.json", "--to-model", "m.json", "-i", name},
        {"convert", "op.json", "--to-model", "m.json", "-i", "x.npy", "-o", "o\xff.npy"},
        {"convert", "model.json", "--to-op", "o\xff.json"}}) {
    CAPTURE(command);
    const auto refused = dmlop_program(command, {.folder = folder.path()});
    CHECK(refused.code == 3);
    CHECK(contains(refused.error, "a JSON file cannot name "));
    CHECK(contains(refused.error, "\\xff"));
    CHECK(folder.list() == before);
  }
}

}  // namespace dmlop::test::security_text_test
