// check() of <dmlop/dmlop.hpp>, and what run() has in common with it.
#include "interface/translate.hpp"
#include "job/folder.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

std::optional<FeatureLevel> level_of(const Operation& operation) {
  const std::string& name = operation.feature_level;
  if (name.empty()) return std::nullopt;
  if (const auto level = feature_level_named(name)) return level;
  throw Error(ErrorKind::usage, "DirectML has no feature level \"" + name + "\": write one from " +
                                    to_text(feature_levels.front()) + " to " +
                                    to_text(newest_feature_level));
}

std::optional<Judge> judge_of(const Operation& operation) {
  if (operation.as.empty()) return std::nullopt;
  if (const auto judge = judge_named(operation.as)) return judge;
  throw Error(ErrorKind::usage, "nobody called \"" + operation.as +
                                    "\" decides what is valid: write one of " +
                                    join(judge_names()));
}

void require_contents(const Operation& operation) {
  if (operation.text.empty() && operation.file.empty())
    throw Error(ErrorKind::usage, "the operation has no JSON: give it a text or a file");
}

std::string text_of(const Operation& operation, const std::string& file) {
  if (!operation.text.empty()) return operation.text;
  return with_context("reading the description " + file, [&] { return json::read_text(file); });
}

}  // namespace

Checking to_checking(const Operation& operation) {
  return {.feature_level = level_of(operation), .judge = judge_of(operation)};
}

SharedConfinement to_confinement(const Operation& operation) {
  if (operation.confined_to.empty()) return nullptr;
  return std::make_shared<Confinement>(path_text(operation.confined_to));
}

NamedFile to_named_file(const Input& input) {
  if (const auto* path = std::get_if<std::filesystem::path>(&input.contents))
    return {input.name, path_text(*path)};
  const auto& [type, sizes, bytes, strides] = std::get<TensorView>(input.contents);
  return {.tensor = input.name,
          .path = "its buffer",
          .memory = MemoryTensor{to_data_type(type), sizes, strides, bytes}};
}

void refuse_parts_of_onnx(const Operation& operation) {
  if (!operation.known_inputs.empty())
    throw Error(ErrorKind::usage, "known_inputs are those of an ONNX model");
  if (!operation.dimensions.empty())
    throw Error(ErrorKind::usage, "dimensions are those of an ONNX model");
  if (operation.fuse) throw Error(ErrorKind::usage, "fuse applies only to ONNX models");
}

CheckedOperation check_operation(const Operation& operation, const std::vector<Input>& inputs,
                                 const std::vector<Target>* targets, Purpose purpose) {
  require_contents(operation);
  refuse_parts_of_onnx(operation);
  CheckedOperation prepared;
  JobRequest request{.checking = to_checking(operation),
                     .confinement = to_confinement(operation),
                     .is_of_library = true};
  for (const Input& input : inputs) request.inputs.push_back(to_named_file(input));
  request.outputs_may_be_dropped = targets == nullptr;
  if (targets != nullptr) {
    for (const Target& target : *targets)
      request.outputs.push_back({target.name, path_text(target.path)});
  }
  const std::string file = file_of(operation);
  std::string text = text_of(operation, file);
  if (operation.text.empty()) {
    request.description_path = file;
    request.found = files_beside(file, request.confinement, prepared.findings);
  }
  auto description =
      read_description(file, std::move(text), request.checking.feature_level, prepared.findings);
  if (!description && is_program(operation))
    throw Error(ErrorKind::usage,
                (file.empty() ? "this" : file) +
                    " is a graph or a model, and no op description: load it as a program (in "
                    "Python dmlop.load), and run that");
  if (description)
    prepared.job = prepare_job(std::move(*description), request, purpose, prepared.findings);
  return prepared;
}

std::string v0::operator_of(const Operation& operation) {
  return with_failures([&]() -> std::string {
    require_contents(operation);
    if (is_program(operation)) return "";
    const std::string file = file_of(operation);
    Diagnostics findings;
    const auto description = read_description(file, text_of(operation, file),
                                              to_checking(operation).feature_level, findings);
    if (!description) throw to_failure(findings);
    return description->spec->name;
  });
}

CheckResult v0::check(const Operation& operation, const std::vector<Input>& inputs) {
  return with_failures([&] {
    if (is_program(operation)) {
      if (inputs.empty()) return check_program(operation);
      throw Error(ErrorKind::usage, "inputs are checked when a program runs: check it alone");
    }
    CheckedOperation prepared = check_operation(operation, inputs, nullptr, Purpose::check);
    CheckResult result;
    result.findings = to_findings(prepared.findings);
    if (!prepared.job) return result;
    Description& description = prepared.job->description;
    result.warnings = to_findings(prepared.job->warnings, "warning");
    for (const TensorUse& use : tensors_of(description)) result.tensors.push_back(to_info(use));
    return result;
  });
}

}  // namespace dmlop
