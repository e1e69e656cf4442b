// Arguments of the program mean exactly what was typed: brackets and braces make no lists, and an
// option takes one value.
#include <doctest/doctest.h>

#include <set>

#include "batch.hpp"

namespace dmlop::test::verbatim_test {
namespace {

const std::string input = float_npy("(3,)", {1, 2, 3});
const std::string padded = float_npy("(6,)", {1, 1, 2, 3, 3, 3});

/// A folder with [op.json] and [x.npy], and with files of the names without brackets that are
/// something else.
class BracketFolder : public Folder {
 public:
  BracketFolder() {
    write("[op.json]", "{" + edge_fields + "}");
    write("[x.npy]", input);
    write("op.json", "{}");
    write("x.npy", "no array");
  }
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
};

/// The ids of the jobs that these arguments choose.
std::set<std::string> chosen(const BatchFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "jobs.jsonl");
  std::set<std::string> ids;
  for (const Json& record : folder.run(arguments).records) ids.insert(record.at("id"));
  return ids;
}
using Ids = std::set<std::string>;

}  // namespace

TEST_CASE("a positional in brackets is one file") {
  const BracketFolder folder;
  const std::string ok = "[op.json]: ok: PADDING: InputTensor FLOAT32 [3], OutputTensor FLOAT32 ";
  const auto one = folder.run({"check", "[op.json]", "-i", "InputTensor=[x.npy]"});
  CHECK(one.code == 0);
  CHECK(one.output == ok + "[6]\n");
  const auto two = folder.run({"check", "[op.json]", "[op.json]", "-i", "[x.npy]"});
  CHECK(two.code == 0);
  CHECK(two.output == ok + "[6]\n" + ok + "[6]\n");
  CHECK(folder.run({"inspect", "[x.npy]"}).output.starts_with("[x.npy]: FLOAT32 [3]"));
  for (const std::string absent : {"[none.json]", "[op.json,op.json]", "[]", "{}"}) {
    const auto result = folder.run({"check", absent});
    CHECK(result.code == 6);
    CHECK(contains(result.error, "reading the description " + absent + ": No such file"));
  }
}

TEST_CASE("files of options in brackets are read and written under these names") {
  for (const std::vector<std::string>& files : std::vector<std::vector<std::string>>{
           {"-i", "[x.npy]", "-o", "[y.npy]"},
           {"-i[x.npy]", "-o[y.npy]"},
           {"--input=[x.npy]", "--output=[y.npy]"},
           {"-i", "InputTensor=[x.npy]", "-o", "OutputTensor=[y.npy]"}}) {
    CAPTURE(files.front());
    const BracketFolder folder;
    std::vector<std::string> arguments{"run", "[op.json]", "--cpu"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const auto result = folder.run(arguments);
    CHECK(!contains(result.error, "error"));
    CHECK(result.output == "OutputTensor: FLOAT32 [6] in [y.npy]\n");
    CHECK(folder.read("[y.npy]") == padded);
    CHECK(folder.list() == "[op.json] [x.npy] [y.npy] op.json x.npy");
    CHECK(folder.run({"compare", "[y.npy]", "[y.npy]"}).code == 0);
    CHECK(folder.run({"run", "[op.json]", "--cpu", "-i", "[x.npy]", "--expect", "[y.npy]"}).code ==
          0);
  }
}

TEST_CASE("--filter and --tag in brackets are patterns and tags") {
  std::vector<std::string> jobs;
  for (const char* id : {"a", "b", "ab", "[a]", "[ab]", "*", "{}"}) {
    jobs.push_back(named_job(id, "golden.npy",
                             R"("tags": [")" + std::string(id) + R"(", "[)" + id + R"(]"])"));
  }
  const BatchFolder folder(jobs);
  CHECK((chosen(folder, {"--filter", "[ab]"}) == Ids{"a", "b"}));
  CHECK((chosen(folder, {"--filter=[ab]"}) == Ids{"a", "b"}));
  CHECK((chosen(folder, {"--filter", "[a]"}) == Ids{"a"}));
  CHECK((chosen(folder, {"--filter", "[[]a]"}) == Ids{"[a]"}));
  CHECK((chosen(folder, {"--filter", "[[]*]"}) == Ids{"[a]", "[ab]"}));
  CHECK((chosen(folder, {"--filter", "[*]"}) == Ids{"*"}));
  CHECK((chosen(folder, {"--filter", "{}"}) == Ids{"{}"}));
  CHECK((chosen(folder, {"--tag", "[a]"}) == Ids{"a", "[a]"}));
  CHECK((chosen(folder, {"--tag", "[[a]]"}) == Ids{"[a]"}));
  folder.write("[1].jsonl]", folder.read("records.jsonl"));
  CHECK(folder.batch({"--merge", "[1].jsonl]", "[1].jsonl]", "--merge=[1].jsonl]"}).code == 0);
}

TEST_CASE("a folder {} is a folder, and an empty value is empty") {
  const BracketFolder folder;
  folder.write("op.json", edge_job("", "[x.npy]"));
  folder.write("{}/op.json", edge_job());
  folder.write("{}/x.npy", input);
  CHECK(folder.run({"check", "{}/op.json", "--confine={}"}).code == 0);
  CHECK(folder.run({"check", "op.json", "--confine"}).code == 0);
  CHECK(folder.run({"check", "op.json", "--confine={}"}).code != 0);
  const auto outside = folder.run({"check", "{}/op.json", "--confine={]"});
  CHECK(contains(outside.error, "--confine: {] is not a folder"));
  folder.write("jobs.jsonl", named_job("a", "[y.npy]") + "\n");
  const auto result = folder.run({"batch", "--cpu", "--junit=", "jobs.jsonl"});
  CAPTURE(result.output);
  CHECK(contains(result.output,
                 "INVALID a: "));  // its input is no array, and the golden file is not there
  CHECK(folder.list() == "[op.json] [x.npy] jobs.jsonl op.json x.npy {}");
}

TEST_CASE("an option takes one value, and what follows is no value of it") {
  const BatchFolder folder({named_job("a"), named_job("b")});
  folder.write("op.json", "{" + edge_fields + "}");
  const auto check = dmlop_program({"check", "-i", "x.npy", "op.json", "op.json", "-q"},
                                   {.folder = folder.path()});
  CHECK(check.error == "");
  CHECK(check.code == 0);
  CHECK(contains(folder.batch({"--filter", "a", "jobs.jsonl"}).output, "1 job in"));
}

TEST_CASE("what is refused is quoted as it was typed") {
  struct Row {
    std::vector<std::string> arguments;
    std::string error;
  };
  for (const Row& row : std::vector<Row>{
           {{"run", "op.json", "[x]"}, "unexpected argument \"[x]\"\n"},
           {{"run", "op.json", "--foo]"}, "unknown option \"--foo]\"\n"},
           {{"run", "op.json", "--inptu=[x]"},
            "unknown option \"--inptu\"; did you mean \"--input\"?\n"},
           {{"run", "op.json", "-q]"}, "unknown option \"-]\"\n"},
           {{"[run]"}, "unknown command \"[run]\""},
           {{"run", "op.json", "-i", "InputTensor="}, "\"InputTensor=\" names no file\n"},
           {{"run", "op.json", "--threads", "[2]"},
            "--threads: \"[2]\" must be an integer from 1 to 4096\n"},
           {{"run", "op.json", "--format", "[json]"},
            "--format: \"[json]\" must be one of json, text\n"},
           {{"run", "op.json", "--device-memory", "{}"},
            "--device-memory: \"{}\" must be a whole number of bytes from 4096"},
           {{"run", "op.json", "--cpu=[x]"}, "--cpu takes no value, but \"[x]\" is given\n"},
           {{"run", "op.json", "--rtol", "[1]"}, "--rtol: \"[1]\" must be a number"},
           {{"run", "op.json", "--update-golden={}"},
            "--update-golden: \"{}\" must be one of write, accept"},
       }) {
    CAPTURE(row.arguments.back());
    const auto result = dmlop_program(row.arguments);
    CHECK(result.code == 2);
    CAPTURE(result.error);
    CHECK(result.error.starts_with("dmlop: error: " + row.error));
  }
}

}  // namespace dmlop::test::verbatim_test
