// Models that ONNX Runtime serialized, with what its DirectML provider computed: every graph is
// checked, and runs on the backend that DMLOP_TEST_BACKENDS asks for.
#include <cstdlib>
#include <map>

#include "base/text.hpp"
#include "gpu_device.hpp"
#include "graph.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"
#include "sweep.hpp"

namespace dmlop::test::graph_cases_test {
namespace {

namespace fs = std::filesystem;

/// Graphs with a node that its page does not allow and DirectML accepts, and how the warning about
/// it ends.
const std::map<std::string, std::string> warned{
    {"cast_chain/Partition_0.bin", "MinMaxDataType"},
    {"convtranspose_padding/Partition_1.bin", "OutputTensor.Sizes[3] is 13, must be 11"},
    {"onehot_reverse/Partition_1.bin", "ValuesTensor has 4 dimensions, must have 3"},
    {"pool_ceil/Partition_1.bin", "OutputTensor.Sizes[3] is 3, must be 2"},
    {"pool_ceil/Partition_2.bin", "OutputTensor.Sizes[3] is 3, must be 2"},
};

dmlop::Backend make_backend() {
  const char* asked = std::getenv("DMLOP_TEST_BACKENDS");
  const bool on_gpu = asked != nullptr && std::string(asked) == "gpu" && has_gpu();
  return on_gpu ? dmlop::Backend(open_gpu()) : dmlop::Backend();
}

/// How far an output may be from what the software driver computed.
Tolerance tolerance_for(const GraphCase& a_case, DataType type) {
  Tolerance tolerance{.allow_trivial = true};
  if (type == DataType::Float16 && a_case.has_tag("no_native16")) {
    tolerance.ulp = 2;
  } else if (info(type).kind == NumberKind::floating) {
    tolerance.rtol = tolerance.atol = type == DataType::Float16 ? 2e-2 : 1e-4;
  }
  return tolerance;
}

/// Runs the graphs of a model one after the other, and compares their outputs.
class CaseRunner {
 public:
  CaseRunner(const GraphCase& a_case, dmlop::Backend& backend) : case_(a_case), backend_(backend) {}

  void run(const std::string& path) {
    CAPTURE(path);
    const std::string name = case_.name() + "/" + to_text(to_path(path).filename());
    const Graph graph = valid_graph(path);
    Diagnostics diagnostics, notes;
    auto lowered = lower_graph(graph, {}, diagnostics, notes);
    CHECK_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
    const auto expected = warned.find(name);
    CHECK(notes.empty() == (expected == warned.end()));
    if (!notes.empty() && expected != warned.end())
      CHECK(notes.back().message.find(expected->second) != std::string::npos);
    if (!lowered) return;
    bind_inputs(*lowered, {.inputs = files_of_inputs(*lowered)}, diagnostics);
    REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
    run(lowered->model);
  }

  std::size_t graphs = 0;
  std::size_t compared = 0;  // outputs
  std::size_t resident_dispatches = 0;

 private:
  // The model's own file or else what an earlier graph or a node outside of the graphs computed.
  std::vector<NamedFile> files_of_inputs(const LoweredGraph& lowered) const {
    std::vector<NamedFile> files;
    for (const GraphInput& input : lowered.inputs) {
      const std::string& name = lowered.model.resources[input.resource].name;
      for (const std::string& path : {case_.file("input." + name + ".npy"), made_ / (name + ".npy"),
                                      case_.file("output." + name + ".npy")}) {
        if (!fs::exists(to_path(path))) continue;
        files.push_back({name, path});
        break;
      }
    }
    return files;
  }

  void run(const Model& model) {
    ++graphs;
    Runtime runtime(model, backend_, {});
    for (const ModelCommand& command : model.commands)
      runtime.dispatch(std::get<DispatchCommand>(command));
    resident_dispatches += runtime.resident_dispatches();
    for (const std::size_t output : model.outputs) {
      const ResourceTensor tensor = tensor_of(model, output);
      const std::string& name = model.resources[output].name;
      write_npy(tensor, runtime.contents(output), made_ / (name + ".npy"));
      const std::string golden = case_.file("output." + name + ".npy");
      if (!fs::exists(to_path(golden))) continue;
      ++compared;
      const auto result =
          compare_resource(model, {output, golden, NpyFile::open(golden)}, runtime.contents(output),
                           tolerance_for(case_, tensor.data_type));
      CHECK_MESSAGE(result.comparison.verdict() == Verdict::passed,
                    name << ": " << result.comparison.summary());
    }
  }

  const GraphCase& case_;
  dmlop::Backend& backend_;
  Folder made_;
};

// Direct3D's compiler takes most of a case's time.
std::size_t runs_one_in(const dmlop::Backend& backend) {
#ifdef _WIN32
  return backend.is_gpu() ? 8 : 1;
#else
  (void)backend;
  return 1;
#endif
}

TEST_CASE("graph cases: every graph is checked, and computes what DirectML computed") {
  if (std::getenv("DMLOP_TEST_BACKENDS") != nullptr && !has_gpu()) {
    available_backends();  // says that it is skipped
    return;
  }
  dmlop::Backend backend = make_backend();
  std::size_t graphs = 0, compared = 0, resident = 0;
  for (std::size_t i = 0; i < graph_cases().size(); i += runs_one_in(backend)) {
    const GraphCase& a_case = graph_cases()[i];
    CAPTURE(a_case.name());
    CaseRunner runner(a_case, backend);
    for (const std::string& path : a_case.graphs()) runner.run(path);
    graphs += runner.graphs;
    compared += runner.compared;
    resident += runner.resident_dispatches;
  }
  CHECK(graph_cases().size() == 47);
  if (runs_one_in(backend) == 1) {
    CHECK(graphs == 86);
    CHECK(compared == 106);
  }
  CHECK((resident > 0) == backend.is_gpu());
}

}  // namespace
}  // namespace dmlop::test::graph_cases_test
