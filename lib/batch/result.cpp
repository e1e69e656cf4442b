#include "batch/result.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace dmlop {

std::optional<Status> status_named(std::string_view name) {
  const auto found = std::find_if(statuses.begin(), statuses.end(),
                                  [&](const StatusInfo& row) { return row.name == name; });
  if (found == statuses.end()) return std::nullopt;
  return static_cast<Status>(found - statuses.begin());
}

std::optional<Outcome> outcome_of(Status status, int exit_code) {
  for (const StatusEnding& end : info(status).ends) {
    if (end.exit_code == exit_code) return end.outcome;
  }
  return std::nullopt;
}

Outcome BatchResult::outcome() const {
  return outcome_of(status, exit_code).value_or(info(status).ends.back().outcome);
}

bool BatchResult::is_good() const {
  return outcome() == Outcome::passed || outcome() == Outcome::skipped;
}

Location BatchResult::location() const {
  constexpr std::size_t digits_max = 9;
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos || colon + 1 == place.size()) return {.file = place};
  const std::string_view number = std::string_view(place).substr(colon + 1);
  const bool is_number = number.size() <= digits_max &&
                         number.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) return {.file = place};
  std::uint32_t line = 0;
  std::from_chars(number.data(), number.data() + number.size(), line);
  return {.file = place.substr(0, colon), .line = std::max(line, 1U)};
}

bool comes_before(const BatchResult& a, const BatchResult& b) {
  const Location first = a.location(), second = b.location();
  return std::tie(first.file, first.line, a.id) < std::tie(second.file, second.line, b.id);
}

std::uint64_t BatchSummary::jobs() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t BatchSummary::ran() const {
  const auto count = [&](Status status) { return counts[static_cast<std::size_t>(status)]; };
  return jobs() - resumed - count(Status::skipped) - count(Status::not_run);
}

void BatchSummary::add(const BatchResult& result) {
  constexpr std::size_t slowest_max = 5;
  ++counts[static_cast<std::size_t>(result.status)];
  exit_code = worse_exit_code(exit_code, result.exit_code);
  golden_created += result.golden_created;
  golden_replaced += result.golden_replaced;
  warnings += result.warnings.size();
  if (result.resumed) {
    ++resumed;
    return;
  }
  const auto slower = [](const BatchResult& a, const BatchResult& b) {
    return a.seconds > b.seconds;
  };
  if (slowest.size() == slowest_max && result.seconds <= slowest.back().seconds) return;
  BatchResult kept{.id = result.id, .status = result.status, .seconds = result.seconds};
  slowest.insert(std::upper_bound(slowest.begin(), slowest.end(), kept, slower), kept);
  if (slowest.size() > slowest_max) slowest.pop_back();
}

namespace {

// How bad an exit code is; higher is worse.
std::ptrdiff_t rank(int exit_code) {
  return std::find(worst_last.begin(), worst_last.end(), exit_code) - worst_last.begin();
}

}  // namespace

int worse_exit_code(int a, int b) {
  return rank(a) < rank(b) ? b : a;
}

bool is_worse(const BatchResult& a, const BatchResult& b) {
  return std::pair(rank(a.exit_code), info(a.status).severity) >
         std::pair(rank(b.exit_code), info(b.status).severity);
}

std::string counts_text(const StatusCounts& counts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0)
      parts.push_back(std::to_string(counts[i]) + " " + std::string(statuses[i].name));
  }
  return join(parts);
}

std::string warnings_text(const BatchSummary& summary) {
  return summary.warnings == 0 ? "" : ", " + counted(summary.warnings, "warning");
}

}  // namespace dmlop
