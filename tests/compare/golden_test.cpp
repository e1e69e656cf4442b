// Golden files from outside: dmlop compare and dmlop run --expect, as CI jobs use them.
#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace dmlop::test::golden_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with op.json (an EDGE padding), x.npy, and golden.npy, which is its output.
class GoldenFolder : public Folder {
 public:
  GoldenFolder() {
    write(
        "op.json",
        R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})");
    write("x.npy", float_npy("(3,)", {1, 2, 3}));
    write("golden.npy", golden);
  }
  const std::string golden = float_npy("(6,)", {1, 1, 2, 3, 3, 3});

  ProgramResult dmlop(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
  /// run with x.npy and these arguments.
  ProgramResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"run", "op.json", "--cpu", "-i", "x.npy"});
    return dmlop(arguments);
  }
  ProgramResult compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    return dmlop(arguments);
  }
};

/// A folder with an LP_POOLING whose result is `expected`, of type "f4" or "f2".
class PoolingFolder : public Folder {
 public:
  explicit PoolingFolder(const std::string& type) : type_(type) {
    write("op.json", R"({"type": "LP_POOLING", "desc": {"Strides": [1, 1], "WindowSize": [1, 2],)"
                     R"( "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2}})");
    // Of 3 and 4 the norm is 5.
    write("x.npy", type == "f4"
                       ? npy("<f4", "(1, 1, 1, 2)", bytes_of<float>({3, 4}))
                       : npy("<f2", "(1, 1, 1, 2)", bytes_of<std::uint16_t>({0x4200, 0x4400})));
  }
  /// The verdict on a golden file that is so many ULP above 5.
  ProgramResult run(unsigned ulp, std::vector<std::string> options = {}) const {
    const std::string shape = "(1, 1, 1, 1)";
    write("golden.npy",
          type_ == "f4" ? npy("<f4", shape,
                              bytes_of<std::uint32_t>({std::bit_cast<std::uint32_t>(5.0F) + ulp}))
                        : npy("<f2", shape,
                              bytes_of<std::uint16_t>({static_cast<std::uint16_t>(0x4500 + ulp)})));
    options.insert(options.begin(),
                   {"run", "op.json", "--cpu", "-i", "x.npy", "--expect", "golden.npy"});
    return dmlop_program(options, {.folder = path()});
  }

 private:
  std::string type_;
};

/// A time long ago, which a file that is left alone keeps.
fs::file_time_type set_old(const std::string& path) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  fs::last_write_time(path, old);
  return fs::last_write_time(path);
}

}  // namespace

TEST_CASE("compare says PASSED and exits with 0, or what differs and 1") {
  const GoldenFolder folder;
  folder.write("other.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 3.125F}));
  const auto same = folder.compare({"golden.npy", "golden.npy"});
  CHECK(same.code == 0);
  CHECK(same.output ==
        "PASSED: golden.npy: 6 elements agree\n"
        "  tolerance: bit for bit (default)\n");
  CHECK(same.error == "");
  const auto other = folder.compare({"other.npy", "golden.npy"});
  CHECK(other.code == 1);
  CHECK(other.error == "");
  CHECK(other.output ==
        "FAILED: other.npy: 1 of 6 elements differs (16.7%)\n"
        "  tolerance: bit for bit (default)\n"
        "  first mismatches:\n"
        "    index  byte  actual  bits        expected  bits        absolute  relative  ULP\n"
        "    [5]    148   3.125   0x40480000  3         0x40400000  0.125     0.04167   524288\n"
        "  largest differences:\n"
        "    index  byte  actual  bits        expected  bits        absolute  relative  ULP\n"
        "    [5]    148   3.125   0x40480000  3         0x40400000  0.125     0.04167   524288\n"
        "  elements by ULP: 0: 5, 262145..524288: 1\n"
        "  would pass with --rtol 0.041666666666666664, --atol 0.125 or --ulp 524288\n");
  // What it says would pass does, and --quiet leaves the exit code.
  CHECK(folder.compare({"other.npy", "golden.npy", "--rtol", "0.041666666666666664"}).code == 0);
  CHECK(folder.compare({"other.npy", "golden.npy", "--atol", "0.125"}).code == 0);
  CHECK(folder.compare({"other.npy", "golden.npy", "--ulp", "524288"}).code == 0);
  const auto quiet = folder.compare({"other.npy", "golden.npy", "-q"});
  CHECK(quiet.code == 1);
  CHECK(quiet.output + quiet.error == "");
}

TEST_CASE("compare trusts no tensor that proves nothing") {
  const GoldenFolder folder;
  folder.write("nan.npy", float_npy("(2,)", {NaN, NaN}));
  folder.write("zero.npy", float_npy("(2,)", {0, 0}));
  folder.write("small.npy", float_npy("(2,)", {1e-9F, 2e-9F}));
  const auto check = [&](std::vector<std::string> arguments, const std::string& summary) {
    const auto found = folder.compare(arguments);
    CHECK(found.code == 1);
    CHECK(found.output.starts_with("MISTRUSTED: " + arguments.front() + ": " + summary + "\n"));
    arguments.push_back("--allow-trivial");
    const auto allowed = folder.compare(arguments);
    CHECK(allowed.code == 0);
    CHECK(allowed.output.starts_with("PASSED: "));
  };
  check({"nan.npy", "nan.npy", "--ulp", "4"}, "2 elements agree; every element is NaN");
  check({"zero.npy", "small.npy", "--atol", "1e-6"},
        "2 elements agree; every element is 0, and the expected ones are not all the same");
  CHECK(folder.compare({"zero.npy", "zero.npy"}).code == 0);
  CHECK(folder.compare({"nan.npy", "nan.npy", "--allow-trivial", "--nan", "differ"}).code == 1);
}

TEST_CASE("compare says first that types or sizes differ") {
  const GoldenFolder folder;
  folder.write("half.npy", npy("<f2", "(6,)", bytes_of<std::uint16_t>({1, 1, 2, 3, 3, 3})));
  folder.write("matrix.npy", float_npy("(2, 3)", {1, 1, 2, 3, 3, 3}));
  const auto type = folder.compare({"half.npy", "golden.npy", "--ulp", "9"});
  CHECK(type.code == 1);
  CHECK(type.output ==
        "FAILED: half.npy: FLOAT16 [6] instead of FLOAT32 [6]\n"
        "  tolerance: 9 ULP (command line)\n"
        "  help: save the expected array as array.astype(numpy.float16), or compare the files by "
        "value with --cast\n");
  const auto sizes = folder.compare({"matrix.npy", "golden.npy", "--allow-trivial"});
  CHECK(sizes.code == 1);
  CHECK(sizes.output.starts_with("FAILED: matrix.npy: FLOAT32 [2, 3] instead of FLOAT32 [6]\n"));
  CHECK(sizes.output.ends_with("  help: save the expected array as array.reshape(2, 3)\n"));
  // The elements of another order may be those of a transposed array.
  folder.write("swapped.npy", float_npy("(3, 2)", {1, 1, 2, 3, 3, 3}));
  CHECK_FALSE(contains(folder.compare({"matrix.npy", "swapped.npy"}).output, "help: "));
  const auto both = folder.compare({"half.npy", "matrix.npy"});
  CHECK(both.output.ends_with(
      "  help: save the expected array as array.astype(numpy.float16).reshape(6)\n"));
}

TEST_CASE("compare advises no change of an array that loses something by it") {
  const GoldenFolder folder;
  folder.write("integers.npy", npy("<i4", "(6,)", bytes_of<std::int32_t>({1, 1, 2, 3, 3, 3})));
  folder.write("five.npy", float_npy("(5,)", {1, 1, 2, 3, 3}));
  CHECK(folder.compare({"integers.npy", "golden.npy"})
            .output.ends_with("  help: compare the files by value with --cast\n"));
  CHECK_FALSE(contains(folder.compare({"five.npy", "golden.npy"}).output, "help: "));
  const auto type_of_help = [&](const char* actual, const char* expected) {
    folder.write("a.npy",
                 npy(actual, "(1,)", std::string(static_cast<std::size_t>(actual[2] - '0'), '\0')));
    folder.write("e.npy", npy(expected, "(1,)",
                              std::string(static_cast<std::size_t>(expected[2] - '0'), '\0')));
    const std::string output = folder.compare({"a.npy", "e.npy"}).output;
    return contains(output, "astype");
  };
  CHECK(type_of_help("<i4", "<i2"));
  CHECK(type_of_help("<i4", "<u2"));
  CHECK(type_of_help("<f2", "<i8"));
  CHECK_FALSE(type_of_help("<i2", "<i4"));
  CHECK_FALSE(type_of_help("<i4", "<u4"));
  CHECK_FALSE(type_of_help("<u4", "<i4"));
  CHECK_FALSE(type_of_help("<u8", "<f8"));
}

TEST_CASE("compare reads files of any order, and standard input") {
  const GoldenFolder folder;
  folder.write("c.npy", float_npy("(2, 2)", {1, 2, 3, 4}));
  folder.write("big_fortran.npy", npy(">f4", "(2, 2)", bytes_of<float>({1, 3, 2, 4}, true), true));
  CHECK(folder.compare({"c.npy", "big_fortran.npy"}).code == 0);
  CHECK(folder.compare({"big_fortran.npy", "c.npy"}).code == 0);
  const auto piped = shell("dmlop compare - c.npy < c.npy", {.folder = folder.path()});
  CHECK(piped.code == 0);
  CHECK(piped.output.starts_with("PASSED: -: 4 elements agree\n"));
  const auto run = shell("dmlop run op.json --cpu -q -i x.npy -o - | dmlop compare - golden.npy",
                         {.folder = folder.path()});
  CHECK(run.code == 0);
}

TEST_CASE("compare of files that cannot be read") {
  const GoldenFolder folder;
  CHECK(folder.compare({"golden.npy"}).code == 2);
  CHECK(folder.compare({"golden.npy", "golden.npy", "x.npy"}).code == 2);
  const auto missing = folder.compare({"golden.npy", "none.npy"});
  CHECK(missing.code == 6);
  CHECK(missing.error == "dmlop: error: reading none.npy: No such file or directory\n");
  const auto text = folder.compare({"op.json", "golden.npy", "--format", "json"});
  CHECK(text.code == 3);
  CHECK(text.error == "");
  CHECK(Json::parse(text.output).at("exitCode") == 3);
}

TEST_CASE("compare --format json is the comparison as one document") {
  const GoldenFolder folder;
  folder.write("other.npy", float_npy("(6,)", {1, 1, NaN, 3, 3, inf}));
  const auto result = folder.compare({"other.npy", "golden.npy", "--ulp", "4", "--format", "json"});
  CHECK(result.code == 1);
  CHECK(result.error == "");
  const Json json = Json::parse(result.output);
  CHECK(json.at("status") == "different");
  CHECK(json.at("exitCode") == 1);
  CHECK(json.at("actual") == "other.npy");
  CHECK(json.at("expected") == "golden.npy");
  CHECK(json.at("verdict") == "FAILED");
  CHECK(json.at("tolerance") == "4 ULP");
  CHECK(json.at("toleranceOrigin") == "command line");
  CHECK(json.at("mismatches") == 2);
  CHECK(json.at("nanMismatches") == 1);
  CHECK(json.at("first").size() == 2);
  CHECK(json.at("first").at(1).at("index") == Json{5});
  CHECK(json.at("first").at(1).at("absolute").is_null());
  CHECK(json.at("first").at(1).at("ulp") == 0x7F800000 - 0x40400000);
  CHECK(json.at("smallest").at("ulp").is_null());
  const auto same = folder.compare({"golden.npy", "golden.npy", "--format", "json", "-q"});
  CHECK(same.code == 0);
  const Json done = Json::parse(same.output);
  CHECK(done.at("status") == "done");
  CHECK(done.at("exitCode") == 0);
  CHECK(done.at("verdict") == "PASSED");
}

TEST_CASE("run --expect compares the output, and needs no -o") {
  const GoldenFolder folder;
  const auto passed = folder.run({"--expect", "golden.npy"});
  CHECK(passed.code == 0);
  CHECK(passed.error == "");
  CHECK(passed.output ==
        "PASSED: OutputTensor against golden.npy: 6 elements agree\n"
        "  tolerance: bit for bit (default of PADDING)\n");
  CHECK(folder.list() == "golden.npy op.json x.npy");
  folder.write("x.npy", float_npy("(3,)", {1, 2.5F, 3}));
  const auto failed = folder.run({"--expect", "OutputTensor=golden.npy", "-o", "y.npy"});
  CHECK(failed.code == 1);
  CHECK(failed.error == "");
  CHECK(failed.output.starts_with(
      "OutputTensor: FLOAT32 [6] in y.npy\n"
      "FAILED: OutputTensor against golden.npy: 1 of 6 elements differs (16.7%)\n"));
  // The row of the element, its place in the output's file, and its bits there.
  CHECK(contains(failed.output, "\n    [2]    136   2.5     0x40200000  2         0x40000000  "));
  CHECK(folder.read("y.npy") == float_npy("(6,)", {1, 1, 2.5F, 3, 3, 3}));
  CHECK(folder.read("y.npy").substr(136, 4) == bytes_of<float>({2.5F}));
  CHECK(folder.read("golden.npy") == folder.golden);
  CHECK(folder.run({"--expect", "golden.npy", "--atol", "0.5"}).code == 0);
  CHECK(folder.run({"--expect", "golden.npy", "--atol", "0.49"}).code == 1);
  CHECK(folder.run({"--expect", "golden.npy", "-q"}).output == "");
}

TEST_CASE("run --expect: goldens of other types, sizes, orders, and outputs that prove nothing") {
  const GoldenFolder folder;
  folder.write("golden.npy", npy(">f4", "(6,)", bytes_of<float>({1, 1, 2, 3, 3, 3}, true)));
  CHECK(folder.run({"--expect", "golden.npy"}).code == 0);
  folder.write("golden.npy", float_npy("(7,)", {1, 1, 2, 3, 3, 3, 3}));
  const auto sizes = folder.run({"--expect", "golden.npy"});
  CHECK(sizes.code == 1);
  CHECK(
      sizes.output.starts_with("FAILED: OutputTensor against golden.npy: "
                               "FLOAT32 [6] instead of FLOAT32 [7]\n"));
  folder.write("golden.npy", npy("<i4", "(6,)", bytes_of<int>({1, 1, 2, 3, 3, 3})));
  CHECK(contains(folder.run({"--expect", "golden.npy"}).output,
                 "FLOAT32 [6] instead of INT32 [6]\n"));
  folder.write("x.npy", float_npy("(3,)", {NaN, NaN, NaN}));
  folder.write("golden.npy", float_npy("(6,)", {NaN, NaN, NaN, NaN, NaN, NaN}));
  const auto trivial = folder.run({"--expect", "golden.npy"});
  CHECK(trivial.code == 1);
  CHECK(trivial.output.starts_with("MISTRUSTED: OutputTensor against golden.npy: "));
  CHECK(folder.run({"--expect", "golden.npy", "--allow-trivial"}).code == 0);
}

TEST_CASE("run --expect --format json") {
  const GoldenFolder folder;
  folder.write("x.npy", float_npy("(3,)", {1, 2.5F, 3}));
  const auto result =
      folder.run({"--expect", "golden.npy", "-o", "y.npy", "--ulp", "1", "--format", "json"});
  CHECK(result.code == 1);
  CHECK(result.error == "");
  const Json json = Json::parse(result.output);
  CHECK(json.at("status") == "different");
  CHECK(json.at("exitCode") == 1);
  CHECK(json.at("outputs").at(0).at("file") == "y.npy");
  REQUIRE(json.at("comparisons").size() == 1);
  const Json& comparison = json.at("comparisons").at(0);
  CHECK(comparison.at("name") == "OutputTensor");
  CHECK(comparison.at("expected") == "golden.npy");
  CHECK(comparison.at("verdict") == "FAILED");
  CHECK(comparison.at("mismatches") == 1);
  CHECK(comparison.at("smallest").at("atol") == 0.5);
  CHECK_FALSE(json.contains("updated"));
  const Json updated = Json::parse(
      folder.run({"--expect", "new.npy", "--update-golden", "--format", "json"}).output);
  CHECK(updated.at("status") == "different");
  CHECK(updated.at("updated") == Json{"new.npy"});
}

TEST_CASE("LP_POOLING's results may be off by what its spec says, which the output names") {
  const PoolingFolder single("f4");
  const auto near = single.run(4);
  CHECK(near.code == 0);
  CHECK(contains(near.output, "  tolerance: 4 ULP (default of LP_POOLING for FLOAT32)\n"));
  CHECK(single.run(5).code == 1);
  CHECK(single.run(5, {"--ulp", "5"}).code == 0);
  CHECK(single.run(1, {"--ulp", "0"}).code == 1);
  const PoolingFolder half("f2");
  const auto near_half = half.run(1);
  CHECK(near_half.code == 0);
  CHECK(contains(near_half.output, "  tolerance: 1 ULP (default of LP_POOLING for FLOAT16)\n"));
  CHECK(half.run(2).code == 1);
}

TEST_CASE("a golden file that is missing is said with what to do") {
  const GoldenFolder folder;
  const auto missing = folder.run({"--expect", "new.npy"});
  CHECK(missing.code == 6);
  CHECK(missing.output == "");
  CHECK(missing.error ==
        "dmlop: error: reading the golden file new.npy: No such file or directory\n"
        "  help: create it with --update-golden\n");
  CHECK(folder.list() == "golden.npy op.json x.npy");
  folder.write("text.npy", "no array");
  CHECK(folder.run({"--expect", "text.npy"}).code == 3);
  CHECK_FALSE(contains(folder.run({"--expect", "text.npy"}).error, "--update-golden"));
}

TEST_CASE("--update-golden writes a missing golden file and exits with 1; =accept exits with 0") {
  for (const bool accept : {false, true}) {
    const GoldenFolder folder;
    const std::string option = accept ? "--update-golden=accept" : "--update-golden";
    const auto written = folder.run({"--expect", "new.npy", option});
    CHECK(written.code == (accept ? 0 : 1));
    CHECK(written.error == "");
    CHECK(written.output == "UPDATED: OutputTensor: created new.npy: FLOAT32 [6]\n");
    CHECK(folder.read("new.npy") == folder.golden);
    // It passes from now on, and is left alone.
    const auto old = set_old(folder / "new.npy");
    const auto again = folder.run({"--expect", "new.npy", option});
    CHECK(again.code == 0);
    CHECK(again.output.starts_with("PASSED: "));
    CHECK(fs::last_write_time(folder / "new.npy") == old);
    CHECK(folder.list() == "golden.npy new.npy op.json x.npy");
  }
}

TEST_CASE("--update-golden replaces a golden file that is different") {
  for (const bool accept : {false, true}) {
    const GoldenFolder folder;
    folder.write("golden.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 4}));
    const std::string option = accept ? "--update-golden=accept" : "--update-golden";
    const auto result = folder.run({"--expect", "golden.npy", option, "-o", "y.npy"});
    CHECK(result.code == (accept ? 0 : 1));
    CHECK(result.output ==
          "OutputTensor: FLOAT32 [6] in y.npy\n"
          "UPDATED: OutputTensor: replaced golden.npy: 1 of 6 elements differs (16.7%)\n"
          "  worst: [5] was 4, is 3: 1 off, relative 0.25, 4194304 ULP\n"
          "  the differences are too large for a tolerance\n");
    CHECK(folder.read("golden.npy") == folder.golden);
    CHECK(folder.read("y.npy") == folder.golden);
    CHECK(folder.run({"--expect", "golden.npy"}).code == 0);
  }
  // Of another type and size, too.
  const GoldenFolder folder;
  folder.write("golden.npy", npy("<i4", "(1,)", bytes_of<int>({1})));
  const auto unlike = folder.run({"--expect", "golden.npy", "--update-golden=accept"});
  CHECK(unlike.code == 0);
  CHECK(unlike.output ==
        "UPDATED: OutputTensor: replaced golden.npy: FLOAT32 [6] instead of INT32 [1]\n");
  CHECK(folder.read("golden.npy") == folder.golden);
}

TEST_CASE("--update-golden --format json: what became of each golden file, old against new") {
  const GoldenFolder folder;
  folder.write("golden.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 4}));
  const auto result =
      folder.run({"--expect", "golden.npy", "--update-golden=accept", "--format", "json"});
  CHECK(result.code == 0);
  const Json json = Json::parse(result.output);
  CHECK(json.at("status") == "done");
  CHECK(json.at("updated") == Json{"golden.npy"});
  const Json& comparison = json.at("comparisons").at(0);
  CHECK(comparison.at("update") == "replaced");
  CHECK(comparison.at("mismatches") == 1);
  CHECK(comparison.at("worst").at(0).at("expected") == "4");
  CHECK(comparison.at("smallest").at("atol") == 1);
  const Json created = Json::parse(
      folder.run({"--expect", "new.npy", "--update-golden", "--format", "json"}).output);
  CHECK(created.at("status") == "different");
  CHECK(created.at("comparisons").at(0).at("update") == "created");
}

TEST_CASE("--update-golden leaves a golden file alone that passes, near or exactly") {
  const GoldenFolder folder;
  const std::string near = float_npy("(6,)", {1, 1, 2, 3, 3, 3.25F});
  for (const std::string& bytes : {folder.golden, near}) {
    for (const char* option : {"--update-golden", "--update-golden=accept"}) {
      folder.write("golden.npy", bytes);
      const auto old = set_old(folder / "golden.npy");
      CHECK(folder.run({"--expect", "golden.npy", option, "--atol", "0.25"}).code == 0);
      CHECK(folder.read("golden.npy") == bytes);
      CHECK(fs::last_write_time(folder / "golden.npy") == old);
    }
  }
}

TEST_CASE("--update-golden leaves golden files alone where the output proves nothing") {
  const GoldenFolder folder;
  folder.write("x.npy", float_npy("(3,)", {NaN, NaN, NaN}));
  folder.write("matrix.npy", float_npy("(1, 6)", {1, 1, 2, 3, 3, 3}));
  fs::create_directory(folder / "empty");
  for (const char* option : {"--update-golden", "--update-golden=accept"}) {
    for (const std::string golden : {"golden.npy", "matrix.npy", "new/new.npy", "empty/new.npy"}) {
      CAPTURE(golden);
      const auto refused = folder.run({"--expect", golden, option});
      CHECK(refused.code == 1);
      CHECK(refused.output == "MISTRUSTED: OutputTensor: " + golden +
                                  " is left alone, as every element of the output is NaN, or "
                                  "there is none; --allow-trivial writes it\n" +
                                  (golden == "golden.npy"
                                       ? "  worst: [0] is nan, expected 1\n"
                                         "  relation: actual is NaN where it differs\n"
                                         "  no tolerance would pass\n"
                                       : ""));
    }
  }
  CHECK(folder.read("golden.npy") == folder.golden);
  CHECK(folder.list() == "empty golden.npy matrix.npy op.json x.npy");
  CHECK(folder.run({"--expect", "new.npy", "--update-golden=accept", "--allow-trivial"}).code == 0);
  // Zeros where there were numbers.
  folder.write("x.npy", float_npy("(3,)", {0, 0, 0}));
  const auto zero = folder.run({"--expect", "golden.npy", "--update-golden=accept"});
  CHECK(zero.code == 1);
  CHECK(contains(zero.output, "every element of the output is 0, and the golden ones are not all"));
  CHECK(folder.read("golden.npy") == folder.golden);
}

// Outputs are handed out in parts: NaN in any of them counts.
TEST_CASE("--update-golden --nan differ: NaN anywhere leaves a golden file alone") {
  const Folder folder;
  folder.write(
      "op.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [1]}})");
  constexpr std::size_t count = 1'500'000;
  const auto run = [&](std::optional<std::size_t> nan_at, const char* threads) {
    std::vector<float> elements(count, 1);
    if (nan_at) elements[*nan_at] = NaN;
    folder.write("x.npy", float_npy("(" + std::to_string(count) + ",)", elements));
    return dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "--expect", "new.npy", "--nan",
                          "differ", "--update-golden=accept", "--threads", threads},
                         {.folder = folder.path()});
  };
  for (const char* threads : {"1", "3"}) {
    for (const std::size_t at : {std::size_t{0}, count / 2, count - 2}) {
      CAPTURE(at);
      const auto refused = run(at, threads);
      CHECK(refused.code == 1);
      CHECK(contains(refused.output, "MISTRUSTED: OutputTensor: new.npy is left alone"));
      CHECK_FALSE(folder.has("new.npy"));
    }
  }
  CHECK(run(std::nullopt, "1").code == 0);
  CHECK(folder.has("new.npy"));
}

TEST_CASE("options about golden files are wrong usage without one, or on an output's own file") {
  const GoldenFolder folder;
  const std::vector<std::vector<std::string>> without{
      {"--ulp", "4"},      {"--rtol", "0"},     {"--atol", "0"},           {"--nan", "equal"},
      {"--allow-trivial"}, {"--update-golden"}, {"--update-golden=accept"}};
  for (std::vector<std::string> options : without) {
    CAPTURE(options.front());
    options.insert(options.end(), {"-o", "y.npy"});
    const auto result = folder.run(options);
    CHECK(result.code == 2);
    CHECK(result.error ==
          "dmlop: error: a tolerance or --update-golden needs a golden file; "
          "add --expect GOLDEN.npy\n");
  }
  CHECK(folder.run({"--expect", "golden.npy", "--update-golden=perhaps"}).code == 2);
  CHECK(folder.run({"--expect", "golden.npy", "--expect", "x.npy"}).code == 2);
  CHECK(folder.run({"--expect", "InputTensor=golden.npy"}).code == 2);
  CHECK(folder.run({"--expect", "Output=golden.npy"}).code == 2);
  fs::create_symlink("golden.npy", folder / "link.npy");
  for (const char* output : {"golden.npy", "./golden.npy", "link.npy"}) {
    const auto result = folder.run({"--expect", "golden.npy", "-o", output});
    CHECK(result.code == 2);
    CHECK(contains(result.error, "OutputTensor would replace the golden file: golden.npy"));
  }
  CHECK(folder.read("golden.npy") == folder.golden);
  CHECK(folder.list() == "golden.npy link.npy op.json x.npy");
}

TEST_CASE("--update-golden replaces neither an input nor the description") {
  const GoldenFolder folder;
  const std::string input = folder.read("x.npy"), description = folder.read("op.json");
  for (const char* option : {"--update-golden", "--update-golden=accept"}) {
    const auto result = folder.run({"--expect", "./x.npy", option});
    CHECK(result.code == 2);
    CHECK(contains(result.error, "--update-golden would replace the file of InputTensor: ./x.npy"));
    CHECK(folder.run({"--expect", "op.json", option}).code != 0);
  }
  CHECK(folder.read("x.npy") == input);
  CHECK(folder.read("op.json") == description);
  // To be compared with an input is no harm: this golden file differs in its sizes only.
  CHECK(folder.run({"--expect", "x.npy"}).code == 1);
}

TEST_CASE("--nan and --allow-trivial leave the operator's own tolerance") {
  const PoolingFolder folder("f4");
  const auto trivial = folder.run(4, {"--allow-trivial"});
  CHECK(trivial.code == 0);
  CHECK(contains(trivial.output, "  tolerance: 4 ULP "));
  const auto differ = folder.run(4, {"--nan", "differ"});
  CHECK(differ.code == 0);
  CHECK(contains(differ.output, "  tolerance: 4 ULP, NaN differs from NaN "));
  CHECK(folder.run(5, {"--allow-trivial"}).code == 1);
}

TEST_CASE("threads change nothing of what run --expect finds") {
  const Folder folder;
  folder.write(
      "op.json",
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1, 1], "EndPadding": [2, 0]}})");
  std::vector<float> elements;
  for (int i = 0; i < 900 * 801; ++i) elements.push_back(static_cast<float>(i % 1009));
  folder.write("x.npy", float_npy("(900, 801)", elements));
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"run", "op.json", "--cpu", "-i", "x.npy", "--expect", "golden.npy"});
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  CHECK(run({"--update-golden=accept"}).code == 0);
  for (const std::size_t i : {5U, 300000U, 300001U, 720000U}) elements[i] += 1;
  folder.write("x.npy", float_npy("(900, 801)", elements));
  const auto one = run({"--threads", "1"});
  CHECK(one.code == 1);
  CHECK(contains(one.output, "5 of 724206 elements differ"));  // [0, 5] is the edge's as well
  for (const char* threads : {"2", "3", "8"})
    CHECK(run({"--threads", threads}).output == one.output);
}

}  // namespace dmlop::test::golden_test
