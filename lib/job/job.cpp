#include "job/job.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fixes/fixes.hpp"
#include "job/bind.hpp"
#include "job/confined_files.hpp"
#include "job/file_names.hpp"
#include "job/folder.hpp"
#include "spec/broadcast.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

std::string read_text(const std::string& path) {
  return with_context("reading the description " + path, [&] { return json::read_text(path); });
}

// Elements of INT4 and UINT4 have a byte in a file, but not its range.
void check_four_bit_inputs(const Job& job, Diagnostics& diagnostics) {
  for (const BoundInput& input : job.inputs) {
    const TensorDesc* desc = job.description.find_tensor(input.tensor, input.element);
    if (desc == nullptr || !desc->data_type || !has_4_bits(*desc->data_type)) continue;
    if (input.file.header().data_type != stored_as(*desc->data_type)) continue;  // said elsewhere
    const auto bytes = input.file.data();
    const auto wrong = first_beyond_4_bits(*desc->data_type, bytes);
    if (!wrong) continue;
    const std::string type(name_of(*desc->data_type));
    Diagnostic diagnostic =
        job.description.at(Place{{input.tensor, "DataType"}, input.element},
                           "element " + std::to_string(*wrong) + " of " + input.path + " is " +
                               element_text(stored_as(*desc->data_type), &bytes[*wrong]) +
                               ", which does not fit " + type);
    diagnostic.rule = input.name() + " is " + type +
                      ": a .npy file has a byte for each element, from " +
                      range_text(*desc->data_type);
    diagnostic.suggestion = "clip the array before it is saved, or write another DataType";
    diagnostics.push_back(std::move(diagnostic));
  }
}

// A golden folder that has files for some outputs only is probably incomplete.
void warn_of_incomplete_golden(Job& job, const JobRequest& request) {
  if (!request.compares_with_found || request.found.expected.empty() || job.expected.empty())
    return;
  for (const std::string& name : output_file_names(job.description, request)) {
    const auto is_it = [&](const Expectation& expectation) {
      return file_name_of(expectation.tensor, expectation.element) == name;
    };
    if (std::any_of(job.expected.begin(), job.expected.end(), is_it)) continue;
    job.warnings.push_back(
        {.file = request.found.golden_folder,
         .message = name + " is not compared, as it has no golden file here",
         .rule = "NAME.npy in a folder expected/ is compared with the output NAME",
         .suggestion = "create it with --update-golden"});
  }
}

// What is said about the description comes before what is said about files.
void collect_warnings(Job& job) {
  Diagnostics all = std::exchange(job.description.warnings, {});
  std::move(job.warnings.begin(), job.warnings.end(), std::back_inserter(all));
  job.warnings = std::move(all);
}

}  // namespace

Tolerance with_default(const std::optional<Tolerance>& given, Tolerance usual) {
  if (!given) return usual;
  if (!given->is_bitwise()) return *given;
  usual.nan_equals_nan = given->nan_equals_nan;
  usual.allow_trivial = given->allow_trivial;
  return usual;
}

Tolerance resolved_tolerance(const std::optional<Tolerance>& given, const Description& description,
                             DataType type) {
  return with_default(given, description.default_tolerance(type));
}

std::optional<Job> prepare_job(const JobRequest& request, Purpose purpose,
                               Diagnostics& diagnostics) {
  auto description = read_description(request.description_path, read_text(request.description_path),
                                      request.checking.feature_level, diagnostics);
  if (!description) return std::nullopt;
  return prepare_job(std::move(*description), request, purpose, diagnostics);
}

std::optional<Job> prepare_job(std::shared_ptr<const json::Document> document,
                               std::shared_ptr<const json::Value> root, const JobRequest& request,
                               Purpose purpose, Diagnostics& diagnostics, Diagnostics* warnings) {
  auto description = read_description(std::move(document), std::move(root), {},
                                      request.checking.feature_level, diagnostics);
  if (!description) return std::nullopt;
  return prepare_job(std::move(*description), request, purpose, diagnostics, warnings);
}

std::optional<Job> prepare_job(Description description, const JobRequest& requested,
                               Purpose purpose, Diagnostics& diagnostics, Diagnostics* warnings) {
  Job job{std::move(description), {}, {}, {}};
  read_file_texts(job.description, diagnostics);
  const JobRequest request =
      with_files_found(requested, job.description, diagnostics, job.warnings);
  if (!check_confined(job.description, request, diagnostics)) {
    sort_by_position(diagnostics);
    return std::nullopt;
  }
  job.inputs = bind_inputs(job.description, request, purpose, diagnostics);
  job.outputs = bind_outputs(job.description, request, purpose, diagnostics);
  job.expected = bind_expected(job.description, request, job.outputs, diagnostics);
  warn_of_incomplete_golden(job, request);
  if (request.broadcasts) broadcast_all(job.description);
  if (request.checking.judge) job.description.judge = *request.checking.judge;
  check_and_mend(job.description, diagnostics);
  check_four_bit_inputs(job, diagnostics);
  if (diagnostics.empty()) make_random_inputs(job.description, job.inputs, purpose, diagnostics);
  open_raw_expected(job.description, request, job.expected, diagnostics);
  for (Expectation& expectation : job.expected) {
    const TensorDesc* desc = job.description.find_tensor(expectation.tensor, expectation.element);
    const auto type = desc != nullptr ? desc->data_type : std::nullopt;
    if (!type) continue;
    expectation.tolerance = resolved_tolerance(request.tolerance, job.description, *type);
  }
  collect_warnings(job);
  if (warnings != nullptr) {
    *warnings = std::exchange(job.warnings, {});
  } else if (request.checking.warnings_as_errors) {
    refuse_warnings(job.warnings, diagnostics);
  }
  sort_by_position(diagnostics);
  return diagnostics.empty() ? std::optional(std::move(job)) : std::nullopt;
}

std::string file_name_of(const std::string& field, std::optional<std::size_t> element) {
  return element ? field + "." + std::to_string(*element) : field;
}

std::string tensor_name(const std::string& field, std::optional<std::size_t> element) {
  return to_text(Place{{field}, element});
}

Verdict JobResult::verdict() const {
  Verdict worst = Verdict::passed;
  for (const OutputComparison& output : comparisons) {
    const Verdict verdict = output.comparison.verdict();
    if (worst == Verdict::passed || verdict == Verdict::failed) worst = verdict;
  }
  return worst;
}

}  // namespace dmlop
