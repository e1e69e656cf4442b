#include "batch/result.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/text.hpp"

namespace dmlop {

std::optional<Status> status_named(std::string_view name) {
  const auto found = std::find(status_names.begin(), status_names.end(), name);
  if (found == status_names.end()) return std::nullopt;
  return static_cast<Status>(found - status_names.begin());
}

bool may_end_with(Status status, int exit_code) {
  switch (status) {
    case Status::passed:
    case Status::skipped:
    case Status::not_run:
      return exit_code == 0;
    case Status::failed:
    case Status::mistrusted:
      return exit_code == 1;
    case Status::invalid:
      return exit_code == 3;
    case Status::unsupported:
      return exit_code == 4;
    case Status::error:
      return exit_code == 5 || exit_code == 6;
  }
  return false;
}

std::uint64_t BatchSummary::jobs() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void BatchSummary::add(const BatchResult& result) {
  constexpr std::size_t slowest_max = 5;
  ++counts[static_cast<std::size_t>(result.status)];
  exit_code = worse_exit_code(exit_code, result.exit_code);
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
  constexpr std::array order{0, 1, 4, 3, 2, 6, 5};
  return std::find(order.begin(), order.end(), exit_code) - order.begin();
}

// How bad a status is among those with the same exit code; higher is worse.
int rank(Status status) {
  switch (status) {
    case Status::not_run:
      return 0;
    case Status::passed:
    case Status::mistrusted:
      return 1;
    case Status::skipped:
    case Status::failed:
      return 2;
    case Status::unsupported:
    case Status::invalid:
    case Status::error:
      break;
  }
  return 3;
}

}  // namespace

int worse_exit_code(int a, int b) {
  return rank(a) < rank(b) ? b : a;
}

bool is_worse(const BatchResult& a, const BatchResult& b) {
  return std::pair(rank(a.exit_code), rank(a.status)) >
         std::pair(rank(b.exit_code), rank(b.status));
}

std::string counts_text(const StatusCounts& counts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0)
      parts.push_back(std::to_string(counts[i]) + " " + std::string(status_names[i]));
  }
  return join(parts);
}

}  // namespace dmlop
