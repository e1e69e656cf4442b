// What is known about an operator, in the words that users read: the same in `dmlop ops`, in its
// page and in the tables of the documents. Nothing here prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/measurements.hpp"
#include "spec/spec.hpp"

namespace dmlop {

/// Where operators run: "cpu", "vulkan", "d3d12".
const std::vector<std::string>& places();

/// "DML_PADDING_OPERATOR_DESC", the operator's struct in DirectML.h.
std::string struct_name(const OperatorSpec& spec);
/// Other versions of an operator, and its gradient or what it is the gradient of, by name.
std::vector<std::string> related_operators(std::string_view name);

/// The C type of the field's values, as DirectML.h has it.
std::string kind_text(const FieldSpec& field);
/// The values of a field that is an enumeration: "CONSTANT", "WRAP (from 5_0)"; of a fused
/// activation the operators that the operator takes.
std::vector<std::string> value_texts(const OperatorSpec& spec, const FieldSpec& field);
/// Who does not check a rule, as a sentence; "" if everybody does.
std::string authority_text(const Rule& rule);

std::vector<std::string> type_names(const SupportRow& row);
/// "4", "1 to 8".
std::string dimension_range(const SupportRow& row);

/// What the lengths of sums have to do with the tolerance; "" if it has no terms.
std::string terms_text(const OperatorSpec& spec);

/// "FLOAT32", "FLOAT32 (from -87 on)".
std::string type_text(const MeasuredError& error);
/// "0.86 ULP".
std::string error_text(const MeasuredError& error, double value);
/// "FLOAT32: CPU 0.86 ULP, llvmpipe 0.86 ULP".
std::string errors_text(const MeasuredError& error);
/// What a user should know where no error of an operator was measured.
std::string unmeasured_text(const OperatorSpec& spec);

/// "1.03", "3.5 ms, 39 TFLOP/s".
std::string speed_text(const SpeedValue& value);
/// "shares of memcpy's rate"; "" for a run without shares.
std::string share_text(const SpeedRun& run);

/// A table of speeds has a column for each type and for each other program, in this order.
struct SpeedColumns {
  std::vector<std::string> types, peers;
};
SpeedColumns columns_of(const std::vector<const Speed*>& rows);
/// The cell of a type or of another program; "" if there is none.
std::string type_cell(const Speed& row, std::string_view type);
std::string peer_cell(const Speed& row, std::string_view peer);
/// The rows of a run, in the file's order.
std::vector<const Speed*> speeds_of_run(const SpeedRun& run, const std::vector<const Speed*>& rows);

/// A complete OP.json, with each field on one line.
std::string example_text(const OperatorSpec& spec);

}  // namespace dmlop
