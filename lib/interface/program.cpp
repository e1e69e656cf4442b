// Program of <dmlop/dmlop.hpp>, and how a Runner runs one.
#include <algorithm>

#include "base/buffer.hpp"
#include "base/text.hpp"
#include "interface/runner.hpp"
#include "model/outputs.hpp"
#include "model/prepared_model.hpp"
#include "model/run_commands.hpp"
#include "model/runtime.hpp"
#include "program/load.hpp"

namespace dmlop {

struct Program::State {
  explicit State(LoweredGraph lowered) : graph(std::move(lowered)), runners(graph.model) {}

  LoweredGraph graph;
  std::vector<BufferInfo> inputs = {};
  std::vector<TensorInfo> outputs = {};
  std::vector<NodeInfo> nodes = {};
  std::vector<Finding> warnings = {};
  std::vector<std::string> constants = {};  // the inputs that were known when it was read
  mutable Runners runners;
};

namespace {

/// Packed copies of strided inputs, which a program does not take.
class PackedInputs {
 public:
  explicit PackedInputs(const std::vector<Input>& inputs) {
    for (const Input& input : inputs) files.push_back(packed(to_named_file(input)));
  }
  std::vector<NamedFile> files;

 private:
  NamedFile packed(NamedFile file) {
    if (!file.memory || file.memory->strides.empty()) return file;
    MemoryTensor& memory = *file.memory;
    with_context("reading " + file.tensor + " from " + file.path,
                 [&] { NpyFile::in_memory(memory); });
    const ResourceTensor tensor{
        .data_type = memory.data_type, .sizes = memory.sizes, .strides = memory.strides};
    copies_.push_back(packed_elements(tensor, memory.bytes));
    memory.strides.clear();
    memory.bytes = copies_.back().bytes();
    return file;
  }
  std::vector<Buffer> copies_;
};

ProgramSource source_of(const Operation& source) {
  if (source.text.empty() && source.file.empty())
    throw Error(ErrorKind::usage, "the program has no contents: give it a text or a file");
  return {.path = file_of(source),
          .text = source.text,
          .dimensions = source.dimensions,
          .fuses = source.fuse,
          .size_source = onnx::SizeSource::call};
}

struct ReadProgram {
  std::optional<LoweredGraph> graph;  // nothing where there are findings
  Diagnostics findings;
  Diagnostics warnings;
};

ReadProgram read_program(const Operation& source) {
  ReadProgram read;
  const GraphRequest request{.checking = to_checking(source),
                             .confinement = to_confinement(source)};
  PackedInputs known(source.known_inputs);
  ProgramSource program = source_of(source);
  if (!is_onnx_program(program)) refuse_parts_of_onnx(source);
  program.inputs = std::move(known.files);
  read.graph = load_program(program, request, read.findings, read.warnings);
  if (!read.findings.empty()) read.graph.reset();
  return read;
}

const std::string& name_of_resource(const Model& model, std::size_t resource) {
  return model.resources[resource].name;
}

std::vector<BufferInfo> inputs_of(const LoweredGraph& graph) {
  std::vector<BufferInfo> inputs;
  for (const GraphInput& input : graph.inputs) {
    if (input.types.empty()) continue;  // no node reads it
    inputs.push_back({{name_of_resource(graph.model, input.resource),
                       to_element_type(input.types.front()), input.sizes},
                      {},
                      input.element_bytes});
  }
  return inputs;
}

std::vector<TensorInfo> outputs_of(const Model& model) {
  std::vector<TensorInfo> outputs;
  for (const std::size_t resource : results_of(model)) {
    const ResourceTensor tensor = tensor_of(model, resource);
    outputs.push_back(
        {name_of_resource(model, resource), to_element_type(tensor.data_type), tensor.sizes});
  }
  return outputs;
}

NodeInfo node_of(const Model& model, const DispatchCommand& command) {
  const Dispatchable& dispatchable = model.dispatchables[command.dispatchable];
  const OperatorSpec& spec = *dispatchable.description->spec;
  NodeInfo node{dispatchable.name, spec.name, {}, {}};
  for (const auto* bindings : {&dispatchable.owned, &command.bindings}) {
    for (const TensorBinding& binding : *bindings) {
      const bool is_output = spec.find_field(binding.tensor)->is_output();
      (is_output ? node.outputs : node.inputs)
          .push_back(name_of_resource(model, binding.range.resource));
    }
  }
  return node;
}

std::vector<NodeInfo> nodes_of(const Model& model) {
  std::vector<NodeInfo> nodes;
  for (const ModelCommand& command : model.commands) {
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command))
      nodes.push_back(node_of(model, *dispatch));
  }
  return nodes;
}

Tensor packed_tensor(const Model& model, const ResourceTensor& tensor,
                     std::span<const std::byte> contents) {
  return to_tensor(name_of_resource(model, tensor.resource), tensor.data_type, tensor.sizes,
                   packed_elements(tensor, contents).bytes());
}

void keep_edges(const Model& model, const DispatchCommand& command, Runtime& runtime,
                std::vector<Tensor>& edges) {
  const Description& description = *model.dispatchables[command.dispatchable].description;
  for (const TensorBinding& binding : command.bindings) {
    if (!description.spec->find_field(binding.tensor)->is_output()) continue;
    edges.push_back(packed_tensor(model, written_tensor(description, binding),
                                  runtime.contents(binding.range.resource)));
  }
}

}  // namespace

bool is_program(const Operation& operation) {
  if (operation.text.empty() && operation.file.empty()) return false;
  return is_program(source_of(operation));
}

CheckResult check_program(const Operation& source) {
  const ReadProgram read = read_program(source);
  CheckResult result{to_findings(read.findings), to_findings(read.warnings, "warning"), {}};
  if (!read.graph) return result;
  for (const BufferInfo& input : inputs_of(*read.graph)) result.tensors.push_back(input);
  for (TensorInfo& output : outputs_of(read.graph->model))
    result.tensors.push_back(std::move(output));
  return result;
}

Program::Program(const Operation& source)
    : state_(with_failures([&] {
        ReadProgram read = read_program(source);
        if (!read.graph) throw to_failure(read.findings);
        auto state = std::make_shared<State>(std::move(*read.graph));
        keep_constants_in_memory(state->graph.model);
        state->inputs = inputs_of(state->graph);
        state->outputs = outputs_of(state->graph.model);
        state->nodes = nodes_of(state->graph.model);
        state->warnings = to_findings(read.warnings, "warning");
        for (const Input& known : source.known_inputs) state->constants.push_back(known.name);
        return std::shared_ptr<const State>(std::move(state));
      })) {}

const std::vector<BufferInfo>& Program::inputs() const noexcept {
  return state_->inputs;
}
const std::vector<TensorInfo>& Program::outputs() const noexcept {
  return state_->outputs;
}
const std::vector<NodeInfo>& Program::nodes() const noexcept {
  return state_->nodes;
}
const std::vector<Finding>& Program::warnings() const noexcept {
  return state_->warnings;
}

std::vector<Tensor> Runner::run(const Program& program, const std::vector<Input>& inputs,
                                std::vector<Tensor>* edges) {
  return with_failures([&] {
    const std::shared_ptr<const Program::State> state = program.state_;
    LoweredGraph graph = state->graph;
    PackedInputs packed(inputs);
    Diagnostics findings;
    for (const std::string& name : state->constants) {
      const auto is_its = [&](const NamedFile& file) { return file.tensor == name; };
      if (std::erase_if(packed.files, is_its) == 0) continue;
      findings.push_back({.kind = ErrorKind::usage,
                          .message = "the input \"" + printable(name) +
                                     "\" is a constant, which known_inputs gave its elements",
                          .suggestion = "leave it out, or read the program without it"});
    }
    bind_inputs(graph, {.inputs = packed.files, .is_of_library = true}, findings);
    if (!findings.empty()) throw to_failure(findings);
    const Model& model = graph.model;
    Runtime runtime(model, state_->backend, state_->execution,
                    state->runners.prepared_by(state_->programs));
    const std::vector<std::size_t> results = results_of(model);
    run_commands(model, results, {&runtime}, [&](const ModelCommand& command, std::size_t) {
      const auto* dispatch = std::get_if<DispatchCommand>(&command);
      if (dispatch == nullptr) return;
      runtime.enqueue(*dispatch);
      if (edges != nullptr) keep_edges(model, *dispatch, runtime, *edges);
    });
    std::vector<Tensor> outputs;
    for (const std::size_t resource : results)
      outputs.push_back(
          packed_tensor(model, tensor_of(model, resource), runtime.contents(resource)));
    return outputs;
  });
}

}  // namespace dmlop
