// dmlop convert --from-cpp as a program, and texts that were made to break the reader.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "cpp_text.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::cpp_program_test {
namespace {

using Json = nlohmann::ordered_json;
using Made = MadeOfCpp;

const std::string samples = source_path("samples/");

}  // namespace

TEST_CASE("from C++: every beginning of a text, and texts that repeat or nest without end") {
  const std::string code = read_file(samples + "cpp/padding.cpp");
  std::size_t unclosed = 0;
  for (std::size_t size = 0; size < code.size(); size += 3) {
    try {
      const Made made = make(code.substr(0, size));
      CHECK(made.desc.is_object() == made.findings.empty());
    } catch (const dmlop::Error& error) {
      CHECK(contains(error.what(), ": this { has no }, so that what follows is not read"));
      ++unclosed;
    }
  }
  CHECK(unclosed > 0);
  const auto repeated = [](const std::string& part, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += part;
    return text;
  };
  for (const char* part : {"(",       "{",       "[",
                           "<",       "if (",    "a(",
                           "x = (",   "= {",     "-",
                           "!",       "&a.",     "a<",
                           "a->",     "{.a = ",  "for (;;)",
                           "else ",   "\t",      "0x123456789 {",
                           "a = {b=", "#if A\n", "namespace a {",
                           "UINT a[", "int f(",  "?:",
                           "a ? ",    "\"",      "/*",
                           "1e9999"}) {
    CAPTURE(part);
    for (const std::string prefix : {"", "DML_ONE_HOT_OPERATOR_DESC d = {", "0x123456789 {a = "}) {
      try {
        make(prefix + repeated(part, 30'000));
      } catch (const dmlop::Error& error) {
        const bool is_deep = contains(error.what(), "leave only the code of one description");
        CHECK((is_deep || contains(error.what(), "so that what follows is not read")));
      }
    }
  }
  // Calls and loops end in time, however many they would make.
  std::string calls = "UINT f0(UINT n) { return n + 1; }\n";
  std::string loops, structs = "struct S0 { UINT a[64]; };\n";
  for (int i = 1; i < 40; ++i) {
    const std::string now = std::to_string(i), last = std::to_string(i - 1);
    calls += "UINT f" + now + "(UINT n) { return f" + last + "(n) + f" + last + "(n); }\n";
    loops += "for (UINT i" + now + " = 0; i" + now + " < 1000; ++i" + now + ") ";
    structs += "struct S" + now + " { S" + last + " a, b; };\n";
  }
  const std::string endless[] = {
      calls + "UINT n = f39(1);",
      loops + "n += i1;",
      structs + "S39 s = {};",
      "struct S { S a, b; }; S s = {};",
      "UINT f(UINT n) { return f(n) + f(n); } UINT n = f(1);",
      "auto f = [](auto g) { return g(g); }; UINT n = f(f);",
      repeated("auto f = [&] { return f; };", 30'000),
      repeated("UINT f(UINT n) { return n; }\nUINT n = f(f(f(1)));", 30'000),
      repeated("for (UINT i = 0; i < 1000; ++i) v.push_back(v);", 30'000),
      "std::vector<UINT> v = {1}; for (UINT s : v) v.push_back(s);",
      repeated("if (1) ", 1'000) + ";",
      repeated("for (;;) ", 1'000) + ";",
      repeated("for (UINT i : {1, 2, 3, 4}) ", 3'000) + ";",
      repeated("switch (1) { case 1: ", 3'000),
  };
  for (const std::string& text : endless) {
    CAPTURE(text.substr(0, 80));
    try {
      make(text + "\nDML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, n};");
    } catch (const dmlop::Error& error) {
      CHECK(contains(error.what(), "leave only the code of one description"));
    }
  }
  std::string doubling = "UINT a0[4] = {1};\nstd::vector<UINT> v0 = {1, 2, 3, 4};\n";
  for (int i = 1; i < 60; ++i) {
    const std::string last = std::to_string(i - 1);
    doubling += "auto v" + std::to_string(i) + " = std::vector<X>{v" + last + ", v" + last + "};\n";
  }
  CHECK_THROWS_WITH(make(doubling),
                    "x.cpp: the text describes more than 500000 values; leave only the code of one "
                    "description");
  CHECK_THROWS_AS(make(std::string(2'000'000, ' ')), dmlop::Error);
}

TEST_CASE(
    "convert --from-cpp: a file, standard input, --to-op, and dmlop check's word on the result") {
  const Folder folder;
  const auto run = [&](std::vector<std::string> arguments, const std::string& input = "") {
    return dmlop_program(arguments, {.folder = folder.path(), .input = input});
  };
  const std::string cpp = samples + "cpp/padding.cpp";
  const auto printed = run({"convert", "--from-cpp", cpp});
  CHECK(printed.code == 0);
  CHECK(printed.error == "");
  CHECK(run({"convert", "--from-cpp", "-"}, read_file(cpp)).output == printed.output);
  const auto written = run({"convert", "--from-cpp", cpp, "--to-op", "op.json"});
  CHECK(written.output == "wrote op.json\n");
  CHECK(folder.read("op.json") == printed.output);
  CHECK(run({"check", "op.json"}).code == 0);

  const auto refused = run({"convert", "--from-cpp", "-", "--to-op", "no.json"},
                           "DML_ONE_HOT_OPERATOR_DESC d = {};\nd.Axis = n;\n");
  CHECK(refused.code == 3);
  CHECK(contains(refused.error, "standard input:2:10: error: Axis is not known from \"n\""));
  CHECK(!folder.has("no.json"));

  // A description that is whole and wrong is written, and checked.
  const auto wrong = run({"convert", "--from-cpp", "-", "--to-op", "wrong.json"},
                         "DML_ONE_HOT_OPERATOR_DESC d = {};\n");
  CHECK(wrong.code == 3);
  CHECK(folder.has("wrong.json"));
  CHECK(contains(wrong.error, "standard input:1:27: error: "));
  CHECK(contains(wrong.error, "dmlop: mend wrong.json before you run it\n"));

  // It does not replace a file, and the file keeps what it says.
  folder.write("kept.json", "{}");
  const auto kept = run({"convert", "--from-cpp", "-", "--to-op", "kept.json"},
                        "DML_ONE_HOT_OPERATOR_DESC d = {};\n");
  CHECK(kept.code == 3);
  CHECK(folder.read("kept.json") == "{}");
  CHECK(contains(kept.error, "standard input:1:27: error: "));
  CHECK(contains(kept.error, "dmlop: kept.json is left as it is\n"));

  folder.write("large.cpp", std::string(2'000'000, ' '));
  for (const std::string file : {"absent.cpp", ".", "large.cpp"}) {
    CAPTURE(file);
    const auto unread = run({"convert", "--from-cpp", file});
    CHECK(unread.code != 0);
    CHECK(contains(unread.error, "dmlop: error: " + file));
  }

  for (const std::vector<std::string>& more : {std::vector<std::string>{"op.json"},
                                               {"--to-model", "m.json"},
                                               {"-i", "x.npy"},
                                               {"--set", "Axis=1"}}) {
    std::vector<std::string> arguments{"convert", "--from-cpp", cpp};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CHECK(run(arguments).code == 2);
  }
  CHECK(run({"convert"}).code == 2);
  CHECK(run({"convert", "--from-cpp", "op.json", "--to-op", "op.json"}).code != 0);
}

TEST_CASE("convert --from-cpp: -D gives a parameter its value, and belongs to C++ alone") {
  const std::string code =
      "void Make(UINT axis) {\nDML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, "
      "axis};\n}\n";
  const auto run = [&](const std::vector<std::string>& defined) {
    std::vector<std::string> arguments{"convert", "--from-cpp", "-"};
    arguments.insert(arguments.end(), defined.begin(), defined.end());
    return dmlop_program(arguments, {.input = code});
  };
  const auto open = run({});
  CHECK(open.code == 3);
  CHECK(contains(open.error,
                 "standard input:1:16: error: Axis is not known from \"axis\": it is a "
                 "parameter of this function\n"));
  CHECK(contains(open.error, "  help: write its value, or give it: -D axis=VALUE\n"));
  for (const std::vector<std::string>& defined :
       {std::vector<std::string>{"-D", "axis=3"}, {"-Daxis=1+2"}, {"--define", "axis=3"}}) {
    const auto given = run(defined);
    CHECK(contains(given.output, "\"Axis\": 3"));
    CHECK_FALSE(contains(given.error, "is not known from"));
  }
  const auto unused = run({"-D", "axis=3", "-D", "n=4"});
  CHECK(unused.code == 3);
  CHECK(contains(unused.error, "standard input: -D n: error: the text needs no value of n"));
  CHECK(run({"-D", "axis=other"}).code == 2);
  CHECK(run({"-D", "axis=1", "-D", "axis=2"}).code == 2);
  const auto other =
      dmlop_program({"convert", samples + "padding/op.json", "--to-model", "m.json", "-D", "n=1"});
  CHECK(other.code == 2);
  CHECK(contains(other.error, "-D is for --from-cpp"));
}

TEST_CASE("convert --from-cpp: of a count and its arrays, the one that is wrong is named") {
  const auto refused = [](const std::string& count, const std::string& paddings) {
    return dmlop_program({"convert", "--from-cpp", "-"},
                         {.input = "UINT sizes[] = {1, 1, 2, 3};\n"
                                   "UINT n[] = {" +
                                   paddings +
                                   "};\n"
                                   "DML_BUFFER_TENSOR_DESC a = {DML_TENSOR_DATA_TYPE_FLOAT32, "
                                   "DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 24, 0};\n"
                                   "DML_TENSOR_DESC t{DML_TENSOR_TYPE_BUFFER, &a};\n"
                                   "DML_PADDING_OPERATOR_DESC d = {&t, &t, "
                                   "DML_PADDING_MODE_EDGE, 0, " +
                                   count + ", n, n};\n"});
  };
  const auto count = refused("5", "0, 0, 0, 0");
  CHECK(count.code == 3);
  CHECK(contains(count.error, "error: DimensionCount is 5, must be 4"));
  CHECK_FALSE(contains(count.error, "StartPadding"));
  const auto arrays = refused("4", "0, 0");
  CHECK(arrays.code == 3);
  CHECK(contains(arrays.error, "StartPadding and EndPadding have 2 values, must have 4"));
  CHECK_FALSE(contains(arrays.error, "DimensionCount is 4, must"));
  const auto forgotten = refused("0", "0, 0, 0, 0");
  CHECK(
      forgotten.error.ends_with("error: DimensionCount is 0, must be 4\n"
                                "  rule: DimensionCount == InputTensor.DimensionCount\n"
                                "  help: write 4\n"));
}

TEST_CASE("convert --from-cpp: a tensor's DimensionCount that is forgotten is named, not Sizes") {
  const auto refused = [](const std::string& sizes) {
    return dmlop_program({"convert", "--from-cpp", "-"},
                         {.input = sizes + "DML_BUFFER_TENSOR_DESC a = {};\n"
                                           "a.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;\n"
                                           "a.Sizes = sizes;\n"
                                           "a.TotalTensorSizeInBytes = 24;\n"
                                           "DML_TENSOR_DESC t{DML_TENSOR_TYPE_BUFFER, &a};\n"
                                           "DML_ACTIVATION_RELU_OPERATOR_DESC d = {&t, &t};\n"});
  };
  const auto known = refused("UINT sizes[] = {1, 1, 2, 3};\n");
  CHECK(known.code == 3);
  CHECK(contains(known.error,
                 "error: InputTensor.DimensionCount is 0, must be 4\n"
                 "  rule: Sizes has 4 values\n"
                 "  help: write 4\n"));
  CHECK_FALSE(contains(known.error, "Sizes is an empty array"));
  const auto unknown = refused("UINT first = 1; UINT* sizes = &first;\n");
  CHECK(contains(unknown.error, "error: InputTensor.DimensionCount is 0, must be an integer from"));
  CHECK_FALSE(contains(unknown.error, "Sizes is an empty array"));
}

TEST_CASE("convert --from-cpp: findings stand where the C++ sets what they are about") {
  const Folder folder;
  folder.write("x.cpp", R"(UINT sizes[] = {1, 1, 2, 3};
UINT otherSizes[] = {1, 1, 2, 4};
DML_BUFFER_TENSOR_DESC a = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 24, 0};
DML_BUFFER_TENSOR_DESC b = a;
b.Sizes = otherSizes;
b.TotalTensorSizeInBytes = 8;
DML_BUFFER_TENSOR_DESC c = a;
c.DataType = DML_TENSOR_DATA_TYPE_FLOAT16;
DML_TENSOR_DESC at{DML_TENSOR_TYPE_BUFFER, &a}, bt{DML_TENSOR_TYPE_BUFFER, &b}, ct{DML_TENSOR_TYPE_BUFFER, &c};
DML_ACTIVATION_ELU_OPERATOR_DESC elu = {.Alpha = 1};
DML_OPERATOR_DESC fused{DML_OPERATOR_ACTIVATION_ELU, &elu};
DML_ELEMENT_WISE_ADD1_OPERATOR_DESC add = {&at, &bt, &ct};
add.FusedActivation =
    &fused;
)");
  const auto found = dmlop_program({"convert", "--from-cpp", "x.cpp"}, {.folder = folder.path()});
  CHECK(found.code == 3);
  CHECK(contains(found.error, "x.cpp:2:31: error: BTensor.Sizes[3] is 4, must be 3\n"));
  CHECK(contains(found.error, "x.cpp:8:14: error: OutputTensor.DataType is FLOAT16"));
  // DirectML takes no struct that leaves its size out.
  CHECK(contains(found.error, "x.cpp:6:28: error: BTensor.TotalTensorSizeInBytes is 8"));
  CHECK_FALSE(contains(found.error, "leave it out"));
  CHECK_FALSE(contains(found.error, "standard output:"));
}

TEST_CASE("convert --from-cpp: advice has no end of what a struct cannot leave out") {
  const Folder folder;
  folder.write("x.cpp", R"(UINT sizes[] = {1, 1, 2, 3}, strides[] = {0, 0, 0, 1};
DML_BUFFER_TENSOR_DESC a = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 24, 0};
DML_BUFFER_TENSOR_DESC b = a;
b.Strides = strides;
DML_TENSOR_DESC at{DML_TENSOR_TYPE_BUFFER, &a}, bt{DML_TENSOR_TYPE_BUFFER, &b};
DML_ACTIVATION_RELU_OPERATOR_DESC relu = {&at, &bt};
)");
  const auto found = dmlop_program({"convert", "--from-cpp", "x.cpp"}, {.folder = folder.path()});
  CHECK(contains(found.error, "  help: write [6, 6, 3, 1] for a packed tensor\n"));
}

}  // namespace dmlop::test::cpp_program_test
