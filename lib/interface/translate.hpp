// Turns what <dmlop/dmlop.hpp> shows into what the layers use, and back. Nothing else includes
// both.
#pragma once

#include <dmlop/dmlop.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/caller.hpp"
#include "base/confine.hpp"
#include "base/findings_error.hpp"
#include "job/job.hpp"
#include "spec/checking.hpp"

namespace dmlop {

/// Errors: std::invalid_argument for a number that is no ElementType.
DataType to_data_type(ElementType type);
ElementType to_element_type(DataType type);

/// UTF-8 with / on every system.
std::string path_text(const std::filesystem::path& path);

/// The path of the file that an operation names; of a folder, of the description in it. A folder
/// that is a program as a whole (program/open.hpp) stays as it is. Errors: usage for any other.
std::string file_of(const Operation& operation);

std::vector<Finding> to_findings(const Diagnostics& diagnostics, std::string_view word = "error");

/// A failure with the findings, whose texts are its message.
Failure to_failure(const Diagnostics& diagnostics);

TensorInfo to_info(const TensorUse& use);

/// A view, or a file, as what a call names for a tensor. Errors: std::invalid_argument.
NamedFile to_named_file(const Input& input);

/// A packed tensor, which has `name`, from its bytes.
Tensor to_tensor(const std::string& name, DataType type, const Sizes& sizes,
                 std::span<const std::byte> bytes);

/// How an operation is to be checked. Errors: usage for an unknown level or judge.
Checking to_checking(const Operation& operation);
SharedConfinement to_confinement(const Operation& operation);

/// Errors: usage for known_inputs and dimensions of what is not an ONNX model.
void refuse_parts_of_onnx(const Operation& operation);

/// What an operation asks for, after its JSON was read. Without targets its outputs go to no file.
/// Errors: those of check().
struct CheckedOperation {
  std::optional<Job> job;  // nothing where there are findings
  Diagnostics findings;
};
CheckedOperation check_operation(const Operation& operation, const std::vector<Input>& inputs,
                                 const std::vector<Target>* targets, Purpose purpose);

/// check() of a program.
CheckResult check_program(const Operation& source);
/// Whether the operation is a program. Errors: io_failed.
bool is_program(const Operation& operation);

/// Errors: usage for an unknown operator.
const OperatorSpec& spec_named(const std::string& name);

FailureKind to_failure_kind(ErrorKind kind);

/// Calls `action`, with messages for callers of the library. An Error of the layers leaves it as a
/// Failure.
template <typename Action>
decltype(auto) with_failures(Action&& action) {
  const CallerScope scope(Caller::library);
  try {
    return std::forward<Action>(action)();
  } catch (const FindingsError& error) {
    throw to_failure(error.findings());
  } catch (const Error& error) {
    throw Failure(to_failure_kind(error.kind()), error.what());
  }
}

}  // namespace dmlop
