#include "job/golden.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/path.hpp"
#include "base/text.hpp"
#include "compare/comparison_text.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

bool proves_nothing(const Comparison& comparison) {
  const bool is_trivial = comparison.all_nan || comparison.all_zero;
  return comparison.verdict() == Verdict::mistrusted ||
         (is_trivial && !comparison.tolerance.allow_trivial);
}

std::string worst_text(const OutputComparison& output) {
  const Comparison& comparison = output.comparison;
  if (comparison.worst.empty()) return "";
  const ElementDifference& worst = comparison.worst.front();
  const std::string actual = value_text(comparison, worst.actual);
  const std::string expected = value_text(comparison, worst.expected);
  std::string text = "worst: " + list_of(indices_of(worst.index, comparison.sizes));
  text += output.was_written() ? " was " + expected + ", is " + actual
                               : " is " + actual + ", expected " + expected;
  const Deviation& deviation = worst.deviation;
  if (!deviation.comparable) return text + "\n";
  return text + ": " + rounded(deviation.absolute) + " off, relative " +
         rounded(deviation.relative) + ", " + std::to_string(deviation.ulp) + " ULP\n";
}

}  // namespace

GoldenFolder::GoldenFolder(const std::string& golden_file)
    : folder_(to_text(to_path(golden_file).parent_path())) {
  std::error_code error;
  if (folder_.empty()) return;
  is_new_ = fs::create_directories(to_path(folder_), error);
  if (error) throw Error(ErrorKind::io_failed, "creating " + folder_ + ": " + reason(error));
}

GoldenFolder::~GoldenFolder() {
  std::error_code ignored;
  if (is_new_) fs::remove(to_path(folder_), ignored);
}

OutputComparison new_golden(const std::string& output, const std::string& path, DataType type,
                            const Sizes& sizes, const Tolerance& tolerance) {
  OutputComparison made{output, path, {}, GoldenUpdate::created};
  made.comparison.tolerance = tolerance;
  made.comparison.data_type = type;
  made.comparison.sizes = sizes;
  made.comparison.elements = element_count(sizes).value_or(0);
  return made;
}

bool has_number(DataType type, std::span<const std::byte> elements) {
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at + size <= elements.size(); at += size) {
    if (!std::isnan(element_value(type, &elements[at]))) return true;
  }
  return false;
}

bool equals_nothing(DataType type, std::span<const std::byte> elements,
                    const Tolerance& tolerance) {
  if (tolerance.nan_equals_nan) return false;
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at + size <= elements.size(); at += size) {
    if (std::isnan(element_value(type, &elements[at]))) return true;
  }
  return false;
}

bool may_update(std::vector<OutputComparison>& comparisons) {
  const bool may =
      std::none_of(comparisons.begin(), comparisons.end(), [](const OutputComparison& output) {
        return output.update != GoldenUpdate::created && proves_nothing(output.comparison);
      });
  if (may) return true;
  for (OutputComparison& output : comparisons) {
    if (output.comparison.verdict() == Verdict::failed) output.update = GoldenUpdate::refused;
  }
  return false;
}

NewGoldenFile::NewGoldenFile(const PlannedOutput& output, const Expectation& expectation,
                             bool may_match)
    : expectation_(expectation),
      type_(*output.desc->data_type),
      proves_something_(expectation.tolerance.allow_trivial) {
  try {
    folder_.emplace(expectation.path);
    file_.emplace(output, expectation.path, expectation.raw.has_value());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io_failed || !may_match) throw;
    failure_ = std::current_exception();
  }
}

void NewGoldenFile::write_at(std::uint64_t offset, std::span<const std::byte> part) {
  if (!file_) return;
  if (!proves_something_ && has_number(type_, part)) proves_something_ = true;
  if (equals_nothing(type_, part, expectation_.tolerance)) matches_itself_ = false;
  file_->write_at(offset, part);
}

OutputFile& NewGoldenFile::finished() {
  if (failure_) std::rethrow_exception(failure_);
  return file_->finished();
}

NewGoldenFile& NewGoldenFiles::begin(const PlannedOutput& output, const Expectation& expectation,
                                     bool may_match) {
  return files_.emplace_back(output, expectation, may_match);
}

void NewGoldenFiles::update(const Job& job, JobResult& result) {
  auto& comparisons = result.comparisons;
  if (!may_update(comparisons)) return;
  std::vector<std::size_t> changed;
  std::vector<OutputFile*> together;
  bool may_be_golden = true;
  for (std::size_t i = 0; i < job.expected.size(); ++i) {
    const Expectation& expectation = job.expected[i];
    const bool is_missing = !expectation.file;
    if (is_missing) {
      const TensorDesc& desc =
          *job.description.find_tensor(expectation.tensor, expectation.element);
      comparisons.insert(comparisons.begin() + static_cast<std::ptrdiff_t>(i),
                         new_golden(expectation.name(), expectation.path, *desc.data_type,
                                    desc.sizes, expectation.tolerance));
    }
    OutputComparison& output = comparisons[i];
    if (!is_missing && output.comparison.verdict() == Verdict::passed) continue;
    output.update = is_missing ? GoldenUpdate::created : GoldenUpdate::replaced;
    changed.push_back(i);
    const auto file = std::find_if(files_.begin(), files_.end(), [&](const NewGoldenFile& one) {
      return &one.expectation() == &expectation;
    });
    together.push_back(&file->finished());
    may_be_golden = may_be_golden && file->may_be_golden();
  }
  if (may_be_golden && !together.empty()) commit_together(together);
  if (may_be_golden) return;
  for (const std::size_t i : changed) comparisons[i].update = GoldenUpdate::refused;
}

std::string_view name_of(GoldenUpdate update) {
  constexpr std::array<std::string_view, 4> names{"none", "created", "replaced", "refused"};
  return names[static_cast<std::size_t>(update)];
}

std::string_view word_of(const OutputComparison& output) {
  if (output.was_written()) return "UPDATED";
  if (output.update == GoldenUpdate::refused) return name_of(Verdict::mistrusted);
  return name_of(output.comparison.verdict());
}

std::string summary_of(const OutputComparison& output) {
  const Comparison& comparison = output.comparison;
  switch (output.update) {
    case GoldenUpdate::none:
      return comparison.summary();
    case GoldenUpdate::created:
      return "created " + output.expected_path + ": " + std::string(name_of(comparison.data_type)) +
             " " + list_of(comparison.sizes);
    case GoldenUpdate::replaced:
      return "replaced " + output.expected_path + ": " + comparison.summary();
    case GoldenUpdate::refused:
      break;
  }
  const bool is_zero = comparison.all_zero;
  const bool is_trivial = is_zero || comparison.all_nan;
  if (!comparison.tolerance.nan_equals_nan && (!is_trivial || comparison.tolerance.allow_trivial))
    return output.expected_path +
           " is left alone, as the output holds NaN, which equals nothing with this tolerance, "
           "not even a copy of itself; let NaN equal NaN (\"nan\": \"equal\"), or mend the output";
  return output.expected_path + " is left alone, as " +
         (is_zero ? "every element of the output is 0, and the golden ones are not all the same"
          : comparison.all_nan || comparison.verdict() == Verdict::passed ||
                  !comparison.unlike.empty()
              ? "every element of the output is NaN, or there is none"
              : "another output of the job proves nothing") +
         "; --allow-trivial writes it";
}

std::string brief_of(const OutputComparison& output) {
  const Comparison& comparison = output.comparison;
  if (comparison.mismatches == 0) return "";
  std::string text = worst_text(output);
  for (const std::string& line : difference_lines(comparison)) text += line + "\n";
  return text + advice_text(comparison, output.was_written() ? "would have passed" : "would pass") +
         "\n";
}

}  // namespace dmlop
