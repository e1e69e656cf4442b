// Programs of <dmlop/dmlop.h>: graphs and models.
#include "c/handles.hpp"

using namespace dmlop::c;

dmlop_status dmlop_load(const dmlop_operation* source, dmlop_program** program,
                        dmlop_error** error) {
  if (program != nullptr) *program = nullptr;
  return guarded(error, [&] {
    auto& place = required(program, "program");
    place = new dmlop_program(to_operation(source));
  });
}

dmlop_tensors dmlop_program_inputs(const dmlop_program* program) {
  return program == nullptr ? dmlop_tensors{nullptr, 0} : program->inputs.list();
}
dmlop_tensors dmlop_program_outputs(const dmlop_program* program) {
  return program == nullptr ? dmlop_tensors{nullptr, 0} : program->outputs.list();
}

dmlop_status dmlop_program_report(const dmlop_program* program, char** report,
                                  dmlop_error** error) {
  if (report != nullptr) *report = nullptr;
  return guarded(error, [&] {
    auto& place = required(report, "report");
    Json nodes = Json::array();
    for (const dmlop::NodeInfo& node : required(program, "program").program.nodes())
      nodes.push_back({{"name", node.name},
                       {"operator", node.operator_name},
                       {"inputs", node.inputs},
                       {"outputs", node.outputs}});
    const Json json{{"nodes", std::move(nodes)},
                    {"warnings", to_json(program->program.warnings())}};
    place = to_text(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  });
}

dmlop_status dmlop_program_run(dmlop_context* context, const dmlop_program* program,
                               const dmlop_tensor* inputs, size_t input_count,
                               const dmlop_call* call, dmlop_result** result, dmlop_error** error) {
  if (result != nullptr) *result = nullptr;
  return guarded(call, error, [&](const dmlop_call& given) {
    auto& place = required(result, "result");
    auto made = std::make_unique<dmlop_result>();
    made->owned =
        required(context, "context")
            .runner.run(required(program, "program").program, to_inputs(inputs, input_count),
                        given.keep_edges != 0 ? &made->owned_edges : nullptr);
    for (dmlop::Tensor& tensor : made->owned) made->outputs.add(tensor);
    for (dmlop::Tensor& tensor : made->owned_edges) made->edges.add(tensor);
    place = made.release();
  });
}
void dmlop_program_free(dmlop_program* program) {
  delete program;
}
