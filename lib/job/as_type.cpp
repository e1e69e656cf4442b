#include "job/as_type.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "job/planned.hpp"
#include "npy/converted.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

/// Whether a field says a floating-point type: that of a scalar, or of an output.
bool is_floating_type(const Field& field) {
  const auto* value = std::get_if<std::int64_t>(&field.value);
  if (field.spec->enum_name != "DML_TENSOR_DATA_TYPE" || value == nullptr || *value == 0)
    return false;
  return is_floating(static_cast<DataType>(*value));
}

/// Returns whether there is a floating-point type.
bool replace_types(Description& description, DataType type) {
  bool has_any = false;
  for (const TensorUse& use : tensors_of(description)) {
    if (!use.desc->data_type || !is_floating(*use.desc->data_type)) continue;
    has_any = true;
    if (use.desc->data_type == type) continue;
    use.desc->data_type = type;
    use.desc->total_size_in_bytes.reset();  // it counts elements of the other type
  }
  for (Field& field : description.fields) {
    if (is_floating_type(field)) {
      has_any = true;
      field.value = static_cast<std::int64_t>(type);
    }
    // A number in the union's member of the other type is that number. A FLOAT16 there is bits.
    auto* scalar = std::get_if<Scalar>(&field.value);
    const bool is_number = scalar != nullptr && scalar->member.starts_with("Float");
    if (is_number && scalar->type && is_floating(*scalar->type)) scalar->member.clear();
    if (scalar != nullptr) scalar->is_narrowed = true;
  }
  return has_any;
}

struct Changed {
  Description description;
  Diagnostics findings;
};

Changed changed_to(DataType type, const Description& description) {
  Changed changed{description, {}};
  changed.description.warnings.clear();
  replace_types(changed.description, type);
  check_description(changed.description, changed.findings);
  return changed;
}

Diagnostic refusal(DataType type, const Description& description, const std::string& title,
                   const Diagnostic& finding) {
  std::vector<std::string> accepted;
  for (const DataTypeInfo& other : data_types) {
    if (is_floating(other.type) && changed_to(other.type, description).findings.empty())
      accepted.emplace_back(other.name);
  }
  return {.kind = finding.kind,
          .file = description.file(),
          .message = title + " cannot be computed in " + std::string(name_of(type)) + ": " +
                     finding.message,
          .rule = finding.rule,
          .feature_level = finding.feature_level,
          .suggestion =
              accepted.empty()
                  ? "leave --as-type out: all of it in one floating-point type is not accepted"
                  : "of the floating-point types it accepts " + join(accepted, " and "),
          .argument = as_type_option(type)};
}

// The description says in which order the file has its elements.
void convert_input(DataType type, BoundInput& input) {
  const NpyHeader& header = input.file.header();
  if (header.data_type == type || !is_floating(header.data_type)) return;
  const NativeInput native(input);
  Buffer numbers(input.file.element_count() * size_of(type), "converted elements");
  convert_elements(header.data_type, native.bytes(), type, numbers.bytes());
  require_intact(input.file, input.path);
  input.file = NpyFile::holding(type, header.sizes, std::move(numbers));
}

// Adds what was not warned of before.
void add_new(Diagnostics& warnings, const Diagnostics& more) {
  for (const Diagnostic& warning : more) {
    const auto is_same = [&](const Diagnostic& other) { return other.message == warning.message; };
    if (std::none_of(warnings.begin(), warnings.end(), is_same)) warnings.push_back(warning);
  }
}

}  // namespace

std::optional<Description> description_as(DataType type, const Description& description,
                                          const std::string& title, Diagnostics& diagnostics) {
  Changed changed = changed_to(type, description);
  if (changed.findings.empty()) return std::move(changed.description);
  diagnostics.push_back(refusal(type, description, title, changed.findings.front()));
  return std::nullopt;
}

std::string as_type_option(DataType type) {
  return "--as-type " + std::string(name_of(type));
}

bool has_floating_type(const Description& description) {
  Description changed = description;
  return replace_types(changed, DataType::Float32);
}

Diagnostic nothing_to_compute_as(DataType type, const std::string& file) {
  return {.kind = ErrorKind::usage,
          .file = file,
          .message = "nothing here is a floating-point number",
          .suggestion = "leave --as-type out",
          .argument = as_type_option(type)};
}

void convert_file(DataType type, NpyFile& file, const std::string& path) {
  const DataType own = file.header().data_type;
  if (own == type || !is_floating(own)) return;
  with_context("reading " + path, [&] { file = converted(file, type); });
}

void compute_as(DataType type, Job& job, const std::optional<Tolerance>& tolerance,
                Diagnostics& diagnostics) {
  if (!has_floating_type(job.description)) {
    diagnostics.push_back(nothing_to_compute_as(type, job.description.file()));
    return;
  }
  auto description = description_as(type, job.description, job.description.spec->name, diagnostics);
  if (!description) return;
  job.description = std::move(*description);
  add_new(job.warnings, job.description.warnings);
  for (BoundInput& input : job.inputs) convert_input(type, input);
  for (Expectation& expectation : job.expected) {
    if (expectation.file) convert_file(type, *expectation.file, expectation.path);
    const TensorDesc& desc = *job.description.find_tensor(expectation.tensor, expectation.element);
    expectation.tolerance = resolved_tolerance(tolerance, job.description, *desc.data_type);
  }
}

}  // namespace dmlop
