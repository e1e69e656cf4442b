#include "compare_files.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "spec/facts.hpp"
#include "spec/near_operators.hpp"
#include "spec/spec.hpp"
#include "tensor_files.hpp"

namespace dmlop::app {
namespace {

/// The two files. What a raw one leaves open is what the other has.
struct OpenedFiles {
  NpyFile actual, expected;
};

NpyFile open_like(const FileText& file, std::optional<DataType> type, const Sizes& sizes) {
  const RawForm form = file.raw->completed(type, sizes);
  if (!form.data_type)
    throw Error(ErrorKind::usage, "nothing says the type of " + file.path + ": write " + file.path +
                                      ":FLOAT32, or another type");
  return open_tensor(file.path, form);
}

OpenedFiles open_files(const FileText& actual, const FileText& expected) {
  if (!actual.raw) {
    NpyFile opened = open_tensor(actual.path);
    const NpyHeader header = opened.header();
    if (!expected.raw) return {std::move(opened), open_tensor(expected.path)};
    return {std::move(opened), open_like(expected, header.data_type, header.sizes)};
  }
  if (!expected.raw) {
    NpyFile opened = open_tensor(expected.path);
    const NpyHeader header = opened.header();
    return {open_like(actual, header.data_type, header.sizes), std::move(opened)};
  }
  const RawForm &a = *actual.raw, &b = *expected.raw;
  return {open_like(actual, b.data_type, b.sizes), open_like(expected, a.data_type, a.sizes)};
}

const OperatorSpec& operator_called(const std::string& name) {
  if (const OperatorSpec* spec = find_spec(without_operator_prefix(upper_case(name)))) return *spec;
  const std::string meant = operator_suggestion(name);
  throw Error(ErrorKind::usage, "--operator: no operator of DirectML is called \"" + name + "\"; " +
                                    (meant.empty() ? "`dmlop ops` lists them" : meant));
}

// The type whose tolerance counts: of two floats the one with fewer digits, as the other cannot
// make it better; otherwise the float; otherwise that of the actual file.
DataType coarser_type(DataType actual, DataType expected) {
  if (!is_floating(expected)) return actual;
  if (!is_floating(actual)) return expected;
  return info(expected).fraction < info(actual).fraction ? expected : actual;
}

// ULP of a float as ULP of another with more digits.
void count_ulp_in(DataType type, DataType of, Tolerance& tolerance) {
  if (!tolerance.ulp || !is_floating(of) || type == of) return;
  const std::size_t shift = info(type).fraction - info(of).fraction;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> shift;
  tolerance.origin += ": " + std::to_string(*tolerance.ulp) + " ULP of it";
  tolerance.ulp =
      *tolerance.ulp > most ? std::numeric_limits<std::uint64_t>::max() : *tolerance.ulp << shift;
}

// `compared_as`: the type that both files are cast to.
Tolerance tolerance_of(const ComparingOptions& options, DataType actual, DataType expected,
                       DataType compared_as) {
  Tolerance given = options.tolerance.tolerance;
  given.origin = options.tolerance.given() ? "command line" : "default";
  if (options.operator_name.empty() || !given.is_bitwise()) return given;
  const DataType type = coarser_type(actual, expected);
  Tolerance tolerance = operator_called(options.operator_name).default_tolerance(type);
  if (options.cast) count_ulp_in(compared_as, type, tolerance);
  tolerance.nan_equals_nan = given.nan_equals_nan;
  tolerance.allow_trivial = given.allow_trivial;
  return tolerance;
}

Elements elements_as(const NpyFile& file, DataType type) {
  const Elements elements(file);
  return elements.data_type() == type ? elements : elements.cast(type);
}

}  // namespace

void ComparingOptions::add_to(OptionList& command) {
  tolerance.add_to(command);
  command
      .add_option("--operator", operator_name,
                  "Without --rtol, --atol and --ulp, use the tolerance that this operator has for "
                  "the type of the files (`dmlop ops NAME`)")
      .type_name("NAME")
      .choices(specified_operators());
  command.add_flag("--cast", cast,
                   "Compare files of different types by value, in a type that holds both");
}

ComparedFiles compare_files(const FileText& actual, const FileText& expected,
                            const ComparingOptions& options) {
  if (!options.operator_name.empty()) operator_called(options.operator_name);
  const auto [actual_file, expected_file] = open_files(actual, expected);
  stop_jobs_gently();  // not before, as a pipe may wait for ever
  const DataType a = actual_file.header().data_type, e = expected_file.header().data_type;
  const DataType common = common_type(a, e);
  const Tolerance tolerance = tolerance_of(options, a, e, common);
  const Elements actual_elements = elements_as(actual_file, options.cast ? common : a);
  const Elements expected_elements = elements_as(expected_file, options.cast ? common : e);
  const auto compare_both = [&] {
    return compare(actual_elements, expected_elements, tolerance, hardware_threads());
  };
  const bool is_cast = options.cast && a != e;
  ComparedFiles compared{
      is_cast ? with_context("comparing " + actual.path + " with " + expected.path, compare_both)
              : compare_both(),
      a, e, std::nullopt};
  const Comparison& comparison = compared.comparison;
  if (options.draw && comparison.unlike.empty() && comparison.elements != 0)
    compared.picture =
        error_picture(actual_elements, expected_elements, tolerance.nan_equals_nan, Legend::below);
  std::string& remedy = compared.comparison.remedy;
  if (!options.cast && a != e && actual_file.header().sizes == expected_file.header().sizes)
    remedy +=
        (remedy.empty() ? "" : ", or ") + std::string("compare the files by value with --cast");
  require_intact(actual_file, actual.path);
  require_intact(expected_file, expected.path);
  return compared;
}

nlohmann::ordered_json comparison_json(const ComparedFiles& compared) {
  nlohmann::ordered_json json = to_json(compared.comparison);
  if (!compared.is_cast()) return json;
  json["actualType"] = name_of(compared.actual_type);
  json["expectedType"] = name_of(compared.expected_type);
  return json;
}

std::string comparison_text(const ComparedFiles& compared) {
  const std::string details = to_text(compared.comparison);
  if (!compared.is_cast()) return details;
  return "  types: " + std::string(name_of(compared.actual_type)) + " and " +
         std::string(name_of(compared.expected_type)) + ", compared as " +
         std::string(name_of(compared.comparison.data_type)) + "\n" + details;
}

}  // namespace dmlop::app
