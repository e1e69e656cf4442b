#include "batch/conclusion.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "compare/comparison_text.hpp"
#include "job/golden.hpp"

namespace dmlop {
namespace {

Status status_of(const OutputComparison& output) {
  if (output.was_written()) return Status::updated;
  if (output.update == GoldenUpdate::refused) return Status::mistrusted;
  switch (output.comparison.verdict()) {
    case Verdict::passed:
      return Status::passed;
    case Verdict::mistrusted:
      return Status::mistrusted;
    case Verdict::failed:
      break;
  }
  return Status::failed;
}

// The status of the job is that of the first output that has the first of these.
constexpr std::array order{Status::failed, Status::mistrusted, Status::updated, Status::passed};

void add(const OutputComparison& output, bool is_first, BatchResult& result) {
  if (status_of(output) == Status::passed) return;
  const std::string summary = output.tensor + ": " + summary_of(output);
  if (is_first) {
    result.message = summary;
  } else {
    result.brief += summary + "\n";
  }
  result.brief += brief_of(output);
  result.details += one_line(output.tensor + " against " + output.expected_path) + ":\n";
  result.details += output.update == GoldenUpdate::none || output.update == GoldenUpdate::replaced
                        ? to_text(output.comparison)
                        : "  " + one_line(summary_of(output)) + "\n";
}

// A job that is to differ is fine where it does, and nowhere else.
void apply(const std::string& xfail, BatchResult& result) {
  if (result.status == Status::failed) {
    result.status = Status::xfail;
    result.exit_code = exit_done;
    result.message = xfail + "; " + result.message;
  } else if (result.status == Status::passed) {
    result.status = Status::xpass;
    result.exit_code = exit_different;
    result.message =
        "it matches its golden files, although its xfail says that it differs: " + xfail;
    result.brief = "remove xfail from the job\n";
  }
}

}  // namespace

void conclude(const std::vector<OutputComparison>& comparisons, const std::string& xfail,
              UpdateGolden update, BatchResult& result) {
  const OutputComparison* first = nullptr;
  result.status = Status::passed;
  for (const Status status : order) {
    const auto found =
        std::find_if(comparisons.begin(), comparisons.end(),
                     [&](const OutputComparison& output) { return status_of(output) == status; });
    if (found == comparisons.end()) continue;
    result.status = status;
    first = &*found;
    break;
  }
  const bool is_accepted = result.status == Status::updated && update == UpdateGolden::accept;
  result.exit_code = result.status == Status::passed || is_accepted ? exit_done : exit_different;
  result.message = result.brief = result.details = "";
  if (first != nullptr) add(*first, true, result);
  for (const OutputComparison& output : comparisons) {
    if (&output != first) add(output, false, result);
    if (output.update == GoldenUpdate::created) ++result.golden_created;
    if (output.update == GoldenUpdate::replaced) ++result.golden_replaced;
  }
  if (!xfail.empty()) apply(xfail, result);
}

}  // namespace dmlop
