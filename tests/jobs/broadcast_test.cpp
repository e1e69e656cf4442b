// "Broadcast": true and --broadcast: inputs that are stretched as NumPy does.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "batch.hpp"

namespace dmlop::test::broadcast_test {
namespace {

/// What adding a and b gives, as the elements of [2, 3], or the error.
std::string sum(const std::string& a_shape, const std::vector<float>& a, const std::string& b_shape,
                const std::vector<float>& b) {
  const Folder folder;
  folder.write("a.npy", float_npy(a_shape, a));
  folder.write("b.npy", float_npy(b_shape, b));
  const auto result = dmlop_program({"run", "ELEMENT_WISE_ADD", "-i", "ATensor=a.npy", "-i",
                                     "BTensor=b.npy", "-o", "c.bin:raw", "--broadcast", "--cpu"},
                                    {.folder = folder.path()});
  return result.code == 0 ? folder.read("c.bin") : result.error;
}

ProgramResult check(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"check"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return dmlop_program(all);
}

}  // namespace

TEST_CASE("broadcast: the same results as NumPy's") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const std::string columns = bytes_of<float>({11, 22, 33, 14, 25, 36});
  const std::string rows = bytes_of<float>({11, 12, 13, 24, 25, 26});
  CHECK(sum("(2, 3)", six, "(3,)", {10, 20, 30}) == columns);
  CHECK(sum("(3,)", {10, 20, 30}, "(2, 3)", six) == columns);
  CHECK(sum("(2, 3)", six, "(1, 3)", {10, 20, 30}) == columns);
  CHECK(sum("(2, 3)", six, "(2, 1)", {10, 20}) == rows);
  CHECK(sum("(2, 1)", {10, 20}, "(3,)", {1, 2, 3}) == bytes_of<float>({11, 12, 13, 21, 22, 23}));
  CHECK(sum("(2, 3)", six, "()", {1}) == bytes_of<float>({2, 3, 4, 5, 6, 7}));
  CHECK(sum("(2, 3)", six, "(2, 3)", six) == bytes_of<float>({2, 4, 6, 8, 10, 12}));
  CHECK(contains(sum("(2, 3)", six, "(2,)", {1, 2}), "BTensor has 1 dimension, must have 2"));
}

TEST_CASE("broadcast: a file in Fortran order and strides of its own") {
  const Folder folder;
  folder.write("a.npy", npy("<f4", "(2, 3)", bytes_of<float>({1, 4, 2, 5, 3, 6}), true));
  folder.write("b.npy", float_npy("(2, 2, 3)", std::vector<float>(12, 0)));
  folder.write("op.json",
               R"({"type": "ELEMENT_WISE_ADD", "desc": {"ATensor": {"Broadcast": true}}, )"
               R"("bindings": {"ATensor": "a.npy", "BTensor": "b.npy"}})");
  const auto run = [&] {
    const auto result =
        dmlop_program({"run", "op.json", "-o", "c.bin:raw", "--cpu"}, {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(result.code == 0);
    return folder.read("c.bin");
  };
  CHECK(run() == bytes_of<float>({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
  folder.write("op.json", R"({"type": "ELEMENT_WISE_ADD", "desc": {"ATensor": {"Broadcast": true, )"
                          R"("Sizes": [2, 1], "Strides": [2, 1]}}, )"
                          R"("bindings": {"ATensor": "a.npy", "BTensor": "b.npy"}})");
  CHECK(run() == bytes_of<float>({1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
}

TEST_CASE("broadcast: check says which strides DirectML needs") {
  const auto text = check({"ELEMENT_WISE_ADD", "--set", "ATensor=FLOAT32:2,3", "--set",
                           "BTensor=FLOAT32:3", "--set", "BTensor.Broadcast=true"});
  CAPTURE(text.error);
  CHECK(text.code == 0);
  CHECK(contains(text.output,
                 "\n  BTensor [3] is stretched to [2, 3]: DirectML needs these Sizes "
                 "and the Strides [0, 1]\n"));
  const auto json = Json::parse(check({"ELEMENT_WISE_IF", "--set", "ConditionTensor=UINT8:3,1",
                                       "--set", "ATensor=FLOAT32:2,1,3", "--set",
                                       "BTensor=FLOAT32:1", "--broadcast", "--format", "json"})
                                    .output);
  const Json& tensors = json.at("descriptions")[0].at("tensors");
  CHECK(tensors.at("ConditionTensor").at("sizes") == Json({2, 3, 3}));
  CHECK(tensors.at("ConditionTensor").at("strides") == Json({0, 1, 0}));
  CHECK(tensors.at("ATensor").at("strides") == Json({3, 0, 1}));
  CHECK(tensors.at("BTensor").at("strides") == Json({0, 0, 0}));
  CHECK(json.at("descriptions")[0].at("stretched").size() == 3);
}

TEST_CASE("broadcast: GEMM's C has the sizes of an output that need not be written") {
  const auto with = [](const std::string& c, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"GEMM",
                                       "--set",
                                       "ATensor=FLOAT32:2,3",
                                       "--set",
                                       "BTensor=FLOAT32:3,4",
                                       "--set",
                                       "CTensor=FLOAT32:" + c,
                                       "--set",
                                       "Alpha=1",
                                       "--set",
                                       "Beta=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return check(arguments);
  };
  const auto strides = [&](const std::string& c) {
    const auto result = with(
        c, {"--broadcast", "--set", "TransA=NONE", "--set", "TransB=NONE", "--format", "json"});
    CHECK_MESSAGE(result.code == 0, result.error);
    const Json tensor =
        Json::parse(result.output).at("descriptions").at(0).at("tensors").at("CTensor");
    CHECK(tensor.at("sizes") == Json({2, 4}));
    return tensor.value("strides", Json());
  };
  CHECK(strides("4") == Json({0, 1}));
  CHECK(strides("1,4") == Json({0, 1}));
  CHECK(strides("2,1") == Json({1, 0}));
  CHECK(strides("1") == Json({0, 0}));
  CHECK(with("3", {"--broadcast", "--set", "TransA=NONE", "--set", "TransB=NONE"}).code == 3);
  const auto proposed = with("1,4", {"--set", "TransA=NONE", "--set", "TransB=NONE"});
  CHECK(contains(proposed.error, "help: write 2, and [0, 1] for its Strides, which repeat it"));
  // A turned A has other rows.
  CHECK(with("3,1", {"--broadcast", "--set", "TransA=TRANSPOSE", "--set", "TransB=NONE"}).code ==
        3);
}

TEST_CASE("broadcast: files that repeat are told how, in a circle for none") {
  const Folder folder;
  folder.write("x.npy", float_npy("(2, 3, 4)", std::vector<float>(24, 1)));
  folder.write("one.npy", float_npy("(1, 1, 1)", {0.5F}));
  folder.write("zero.npy", npy("|u1", "(1, 1, 1)", std::string(1, '\2')));
  folder.write("channels.npy", float_npy("(3,)", {1, 2, 3}));
  const auto error_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    return dmlop_program(arguments, {.folder = folder.path()}).error;
  };
  std::vector<std::string> files{
      "ELEMENT_WISE_QUANTIZE_LINEAR", "-i", "InputTensor=x.npy",       "-i",
      "ScaleTensor=one.npy",          "-i", "ZeroPointTensor=zero.npy"};
  CHECK(contains(error_of(files), "help: add --broadcast to stretch them as NumPy does, or save"));
  const std::string begin =
      R"({"type": "ELEMENT_WISE_QUANTIZE_LINEAR", "bindings": {"InputTensor": "x.npy",
          "ScaleTensor": "one.npy", "ZeroPointTensor": "zero.npy"}, "desc": {)";
  folder.write("op.json", begin + "}}");
  CHECK(contains(error_of({"op.json"}),
                 R"(help: write "ScaleTensor": {"Broadcast": true} and "ZeroPointTensor": )"
                 R"({"Broadcast": true} to stretch them as NumPy does)"));
  folder.write("op.json", begin + R"("ScaleTensor": {"Broadcast": true},
                                     "ZeroPointTensor": {"Sizes": [2, 3, 4]}}})");
  CHECK(contains(error_of({"op.json"}),
                 "help: write \"Strides\": [0, 0, 0], which repeat the file's elements"));
  folder.write("op.json", begin + R"("ScaleTensor": {"Broadcast": true},
                          "ZeroPointTensor": {"Sizes": [2, 3, 4], "Strides": [0, 0, 0]}}})");
  CHECK(error_of({"op.json"}) == "");
  CHECK(contains(
      error_of({"ELEMENT_WISE_ADD", "-i", "ATensor=x.npy", "-i", "BTensor=channels.npy"}),
      "help: save array.reshape(1, 3, 1) and add --broadcast to stretch it as NumPy does"));
}

TEST_CASE("broadcast: what is refused, and what is proposed") {
  const auto other =
      check({"ELEMENT_WISE_ADD", "--set", "ATensor=FLOAT32:2,3", "--set", "BTensor=FLOAT32:3"});
  CHECK(other.code == 3);
  CAPTURE(other.error);
  CHECK(contains(other.error, "help: add --broadcast to stretch it as NumPy does, or "));
  const auto unlike =
      check({"ELEMENT_WISE_ADD", "--set", "ATensor=FLOAT32:2,3", "--set", "BTensor=FLOAT32:2"});
  CHECK(!contains(unlike.error, "--broadcast"));
  const auto no_rule = check({"TILE", "--set", "InputTensor=FLOAT32:2", "--set",
                              "InputTensor.Broadcast=true", "--set", "Repeats=3"});
  CHECK(no_rule.code == 3);
  CHECK(contains(no_rule.error,
                 "InputTensor cannot be stretched: no rule of DML_OPERATOR_TILE "
                 "gives it the sizes of another tensor"));
  const auto none = check({"ELEMENT_WISE_ADD", "--set", "ATensor=FLOAT32:2,3", "--set",
                           "BTensor=FLOAT32:2", "--set", "BTensor.Broadcast=true"});
  CHECK(contains(none.error,
                 "BTensor cannot be stretched: [2] and ATensor.Sizes [2, 3] differ in "
                 "a dimension, counted from the last, where neither is 1"));
  const auto not_all = check({"GEMM", "--example", "--broadcast"});
  CHECK(not_all.code == 0);
  CHECK(not_all.error.empty());
  const auto output = check(
      {"ELEMENT_WISE_ADD", "--set", "ATensor=FLOAT32:2", "--set", "OutputTensor.Broadcast=true"});
  CHECK(contains(output.error, "OutputTensor cannot be stretched: it is an output"));
}

// DxDispatch reads none of these, so the model gets a copy of the elements in C order.
TEST_CASE("broadcast: a model repeats inputs that are copied, too") {
  const Folder folder;
  folder.write("a.npy", float_npy("(2, 3)", {1, 2, 3, 4, 5, 6}));
  folder.write("c.npy", float_npy("(2, 3)", {11, 22, 33, 14, 25, 36}));
  folder.write("raw.bin", bytes_of(std::vector<float>{10, 20, 30}));
  std::string swapped = bytes_of(std::vector<float>{10, 20, 30});
  for (std::size_t i = 0; i < swapped.size(); i += 4) std::reverse(&swapped[i], &swapped[i] + 4);
  folder.write("swapped.npy", npy(">f4", "(3,)", swapped));
  folder.write("fortran.npy", npy("<f4", "(1, 3)", bytes_of(std::vector<float>{10, 20, 30}),
                                  /*fortran_order=*/true));
  for (const char* file : {"raw.bin:FLOAT32:3", "swapped.npy", "fortran.npy"}) {
    CAPTURE(file);
    folder.write("op.json",
                 R"({"type": "ELEMENT_WISE_ADD", "desc": {"BTensor": {"Broadcast": true}}, )"
                 R"("bindings": {"ATensor": "a.npy", "BTensor": ")" +
                     std::string(file) + R"("}})");
    const auto converted = dmlop_program({"convert", "op.json", "--to-model", "model.json"},
                                         {.folder = folder.path()});
    CAPTURE(converted.error);
    CHECK(converted.code == 0);
    const auto run = dmlop_program({"run", "model.json", "--expect", "OutputTensor=c.npy", "--cpu"},
                                   {.folder = folder.path()});
    CAPTURE(run.error);
    CHECK(run.code == 0);
  }
}

TEST_CASE("broadcast: a model gets the sizes and strides") {
  const Folder folder;
  folder.write("a.npy", float_npy("(2, 3)", {1, 2, 3, 4, 5, 6}));
  folder.write("b.npy", float_npy("(3,)", {10, 20, 30}));
  folder.write("op.json",
               R"({"type": "ELEMENT_WISE_ADD", "desc": {"BTensor": {"Broadcast": true}}, )"
               R"("bindings": {"ATensor": "a.npy", "BTensor": "b.npy"}})");
  const auto converted =
      dmlop_program({"convert", "op.json", "--to-model", "model.json"}, {.folder = folder.path()});
  CAPTURE(converted.error);
  CHECK(converted.code == 0);
  CHECK(!contains(folder.read("model.json"), "Broadcast"));
  folder.write("c.npy", float_npy("(2, 3)", {11, 22, 33, 14, 25, 36}));
  const auto run = dmlop_program({"run", "model.json", "--expect", "OutputTensor=c.npy", "--cpu"},
                                 {.folder = folder.path()});
  CAPTURE(run.error);
  CHECK(run.code == 0);
}

}  // namespace dmlop::test::broadcast_test
