#include "interface/translate.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/folder.hpp"
#include "program/open.hpp"

namespace dmlop {

DataType to_data_type(ElementType type) {
  for (const DataTypeInfo& row : data_types) {
    if (static_cast<std::uint8_t>(row.type) == static_cast<std::uint8_t>(type)) return row.type;
  }
  throw std::invalid_argument("there is no ElementType " +
                              std::to_string(static_cast<unsigned>(type)));
}

ElementType to_element_type(DataType type) {
  return static_cast<ElementType>(type);
}

std::string path_text(const std::filesystem::path& path) {
  return to_text(path);
}

std::string file_of(const Operation& operation) {
  const std::string path = path_text(operation.file);
  std::error_code ignored;
  if (!std::filesystem::is_directory(operation.file, ignored)) return path;
  if (std::string description = description_in(path); !description.empty()) return description;
  if (is_binary_program({.path = path})) return path;
  throw Error(ErrorKind::usage, text_without_description(path));
}

FailureKind to_failure_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return FailureKind::usage;
    case ErrorKind::invalid_input:
      return FailureKind::invalid_input;
    case ErrorKind::unavailable:
      return FailureKind::unavailable;
    case ErrorKind::run_failed:
    case ErrorKind::device_lost:
      return FailureKind::run_failed;
    case ErrorKind::interrupted:
      return FailureKind::canceled;
    case ErrorKind::io_failed:
      return FailureKind::io_failed;
  }
  return FailureKind::run_failed;
}

std::vector<Finding> to_findings(const Diagnostics& diagnostics, std::string_view word) {
  std::vector<Finding> findings;
  for (const Diagnostic& diagnostic : diagnostics)
    findings.push_back({.kind = to_failure_kind(diagnostic.kind),
                        .message = diagnostic.message,
                        .rule = diagnostic.rule,
                        .help = diagnostic.suggestion.text(),
                        .note = diagnostic.note,
                        .file = diagnostic.file,
                        .line = diagnostic.line,
                        .column = diagnostic.column,
                        .pointer = diagnostic.pointer,
                        .text = to_text(diagnostic, word)});
  return findings;
}

Failure to_failure(const Diagnostics& diagnostics) {
  std::vector<std::string> texts;
  for (const Diagnostic& diagnostic : diagnostics) texts.push_back(to_text(diagnostic));
  return {to_failure_kind(worst_kind(diagnostics)), join(texts, "\n"), to_findings(diagnostics)};
}

TensorInfo to_info(const TensorUse& use) {
  return {use.name(), to_element_type(*use.desc->data_type), use.desc->sizes};
}

Tensor to_tensor(const std::string& name, DataType type, const Sizes& sizes,
                 std::span<const std::byte> bytes) {
  return {{name, to_element_type(type), sizes}, {bytes.begin(), bytes.end()}};
}

std::string_view v0::name_of(ElementType type) {
  return dmlop::name_of(to_data_type(type));
}

std::size_t v0::size_of(ElementType type) {
  return dmlop::size_of(to_data_type(type));
}

struct StopCondition::State {
  StopWhen stop;
};

StopCondition::StopCondition(std::function<bool()> condition)
    : state_(new State{StopWhen(std::move(condition))}) {}
StopCondition::~StopCondition() = default;

Failure::Failure(FailureKind kind, const std::string& message, std::vector<Finding> findings)
    : std::runtime_error(message),
      kind_(kind),
      findings_(std::make_shared<const std::vector<Finding>>(std::move(findings))) {}

}  // namespace dmlop
