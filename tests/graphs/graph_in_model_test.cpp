// DxDispatch models whose dispatchables are serialized graphs.
#include <nlohmann/json.hpp>

#include "graph_folder.hpp"

namespace dmlop::test::graph_in_model_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A model beside the graph cnn_relu_pool, which reads x and writes softmax_10.
class GraphModel : public CaseFolder {
 public:
  GraphModel() : CaseFolder("cnn_relu_pool") {
    json = {
        {"resources",
         {{"image", {{"initialValues", {{"sourcePath", "input.x.npy"}}}}},
          {"scores",
           {{"initialValuesDataType", "FLOAT32"},
            {"initialValues", {{"valueCount", 10}, {"value", 0}}}}}}},
        {"dispatchables",
         {{"net", {{"type", "dmlSerializedGraph"}, {"sourcePath", "Partition_0.bin"}}}}},
        {"commands", Json::array({{{"type", "dispatch"},
                                   {"dispatchable", "net"},
                                   {"bindings", {{"x", "image"}, {"softmax_10", "scores"}}}}})}};
  }

  ProgramResult run_model(std::vector<std::string> more = {}) const {
    write("model.json", json.dump());
    more.insert(more.begin(), {"run", "model.json", "--cpu"});
    return run(more);
  }
  /// The error of a model that is refused.
  std::string error(std::vector<std::string> more = {}) const {
    const auto refused = run_model(more);
    CHECK(refused.code == 3);
    return refused.error;
  }
  Json& bindings() { return json["commands"][0]["bindings"]; }

  Json json;
};

TEST_CASE("graph in a model: it computes what the graph does alone") {
  GraphModel model;
  CHECK(model.run_model({"-o", "scores=a.npy", "-q"}).code == 0);
  CHECK(model.run({"run", "Partition_0.bin", "-i", "input.x.npy", "--cpu", "-o", "b.npy", "-q"})
            .code == 0);
  CHECK(model.read("a.npy").substr(model.read("a.npy").size() - 40) ==
        model.read("b.npy").substr(model.read("b.npy").size() - 40));
}

TEST_CASE("graph in a model: it can be dispatched twice, between operators") {
  GraphModel model;
  model.json["resources"]["second"] = model.json["resources"]["scores"];
  model.json["resources"]["sum"] = model.json["resources"]["scores"];
  const Json desc{{"DataType", "FLOAT32"}, {"Sizes", {10}}};
  model.json["dispatchables"]["add"] = {
      {"type", "DML_OPERATOR_ELEMENT_WISE_ADD"},
      {"desc", {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}}}};
  Json again = model.json["commands"][0];
  again["bindings"]["softmax_10"] = {{"name", "second"}};
  model.json["commands"].push_back(again);
  model.json["commands"].push_back(
      {{"type", "dispatch"},
       {"dispatchable", "add"},
       {"bindings", {{"ATensor", "scores"}, {"BTensor", "second"}, {"OutputTensor", "sum"}}}});
  model.json["commands"].push_back({{"type", "print"}, {"resource", "sum"}});
  const auto result = model.run_model({"--format", "json"});
  CHECK(result.code == 0);
  const Json done = Json::parse(result.output);
  double total = 0;
  for (const Json& value : done.at("commands").back().at("values")) total += value.get<double>();
  CHECK(total == doctest::Approx(2));  // of two softmaxes
  CHECK(done.at("commands").at(0).at("dispatchable") == "net/relu_4_dmlEp_0");
}

TEST_CASE("graph in a model: bindings are the graph's inputs and outputs") {
  GraphModel model;
  model.bindings() = {{"x", "image"}};
  CHECK(contains(model.error(), "softmax_10 is not bound"));
  model.bindings() = {{"x", "scores"}, {"softmax_10", "image"}};
  CHECK(contains(model.error(), "x needs 1728 bytes, but \"scores\" has 40"));
  model.bindings() = {{"x", "image"}, {"softmax_10", "image"}};
  CHECK(contains(model.error(), "\"image\" is bound twice, and the graph writes it"));
  model.bindings() = {{"x", "imag"}, {"softmax_10", "scores"}};
  CHECK(contains(model.error(), "did you mean \"image\"?"));
  model.bindings() = {{"x", Json::object()}, {"softmax_10", "scores"}};
  CHECK(contains(model.error(), "x.name"));
  model.bindings() = {{"x", {{"name", "image"}, {"elementOffset", 1}}}, {"softmax_10", "scores"}};
  CHECK(model.run_model().code == 4);
  model.bindings() = {{"x", "image"}, {"softmax_10", "scores"}, {"y", "scores"}};
  const auto ignored = model.run_model();
  CHECK(ignored.code == 0);
  CHECK(contains(ignored.error, "\"y\""));
}

TEST_CASE("graph in a model: a graph that cannot be read is one finding") {
  GraphModel model;
  Json& net = model.json["dispatchables"]["net"];
  net["sourcePath"] = "input.x.npy";
  const std::string error = model.error();
  CHECK(contains(error, "this is not a serialized DirectML graph"));
  CHECK_FALSE(contains(error, "no dispatchable is called"));
  net["sourcePath"] = "w1.bin";
  CHECK(contains(model.error(), "this is not a serialized DirectML graph"));
  net.erase("sourcePath");
  CHECK(contains(model.error(), "net.sourcePath"));
  net["sourcePath"] = "nowhere.bin";
  CHECK(model.run_model().code == 6);
  net["sourcePath"] = "../Partition_0.bin";
  CHECK(contains(model.error({"--confine"}), "net.sourcePath"));
  // A node that a feature level does not have.
  net["sourcePath"] = "Partition_0.bin";
  CHECK(contains(model.error({"--feature-level", "5_0"}), "softmax_10_dmlEp_0"));
}

TEST_CASE("graph in a model: a batch runs it again after the graph or a constant has changed") {
  GraphModel model;
  model.write("model.json", model.json.dump());
  fs::create_directory(model / "expected");
  const auto batch = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"batch", "model.json", "--cpu"});
    return model.run(more);
  };
  CHECK(batch({"--update-golden=accept"}).code == 0);
  CHECK(model.has("expected/scores.npy"));
  const auto resumes = [&] {
    return contains(batch({"--results", "r.jsonl", "--resume"}).output, "(1 from an earlier run)");
  };
  resumes();
  CHECK(resumes());
  const std::string constant = model.read("w8.bin");
  std::string changed = constant;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  model.write("w8.bin", changed);
  CHECK_FALSE(resumes());
  model.write("w8.bin", constant);
  resumes();
  CHECK(resumes());
  // The same graph in other bytes: they end with padding.
  model.write("Partition_0.bin", model.read("Partition_0.bin") + std::string(4, '\0'));
  CHECK_FALSE(resumes());
}

}  // namespace
}  // namespace dmlop::test::graph_in_model_test
