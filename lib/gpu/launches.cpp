#include "gpu/launches.hpp"

#include <algorithm>
#include <stdexcept>

namespace dmlop::gpu {
namespace {

// As in shaders/bindings.hlsli.
constexpr std::uint32_t groups_per_row = 65535;

std::uint32_t groups_of(std::uint32_t threads) {
  return static_cast<std::uint32_t>((std::uint64_t{threads} + group_threads - 1) / group_threads);
}

}  // namespace

Stage::Stage(std::uint64_t first_thread, std::uint64_t end_thread, std::uint64_t thread_work)
    : first(static_cast<std::uint32_t>(first_thread)),
      end(static_cast<std::uint32_t>(end_thread)),
      work(static_cast<std::uint32_t>(thread_work)) {
  if (thread_work == 0 || thread_work > thread_work_limit) {
    throw std::logic_error("a thread of a kernel has " + std::to_string(thread_work) +
                           " iterations of its loops: cut its work into stages of at most " +
                           std::to_string(thread_work_limit));
  }
}

void Launches::skip_empty_stages() {
  while (!done() && stages_[stage_].first + at_ >= stages_[stage_].end) {
    ++stage_;
    at_ = 0;
  }
}

Launch Launches::launch(std::uint32_t first, std::uint32_t end) const {
  const Stage& stage = stages_[stage_];
  const std::uint32_t groups = groups_of(end - first);
  const std::uint32_t columns = std::min(groups, groups_per_row);
  return {.row = {first, end, stage.step, stage.base},
          .groups = {columns, (groups + columns - 1) / columns},
          .awaits_writes = has_written_ && at_ == 0};
}

std::uint64_t Launches::least_work() const {
  const Stage& stage = stages_[stage_];
  return std::uint64_t{stage.work} *
         std::min<std::uint64_t>(group_threads, stage.end - stage.first - at_);
}

Submission Launches::next(std::uint64_t work) {
  Submission submission;
  while (!done() && submission.launches.size() < launches_together) {
    const Stage& stage = stages_[stage_];
    const std::uint64_t left = work - std::min(work, submission.work);
    std::uint64_t groups = left / (std::uint64_t{stage.work} * group_threads);
    if (groups == 0 && !submission.launches.empty()) break;
    const std::uint32_t first = stage.first + at_;
    groups = std::clamp<std::uint64_t>(groups, 1, groups_of(stage.end - first));
    // Whole rows: a device takes as long for the groups without threads in a last row as for others
    // that do little.
    if (groups > groups_per_row) groups -= groups % groups_per_row;
    const auto threads = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(stage.end - first, groups * group_threads));
    submission.launches.push_back(launch(first, first + threads));
    submission.work += std::uint64_t{stage.work} * threads;
    has_written_ = true;
    at_ += threads;
    skip_empty_stages();
  }
  return submission;
}

void Pace::took(std::uint64_t work, double seconds) {
  const std::uint64_t now = work_;
  // Little work says nothing of how long much of it takes.
  const bool is_much = work >= now / 2;
  if (seconds > 2 * wanted_seconds) {
    const double fitting = static_cast<double>(work) * wanted_seconds / seconds;
    work_ = std::max(least_work / 8, std::min(now, static_cast<std::uint64_t>(fitting)));
  } else if (is_much && seconds < wanted_seconds / 2) {
    constexpr std::uint64_t most_work = std::uint64_t{1} << 48;
    const double times = std::min(8.0, wanted_seconds / std::max(seconds, 1e-9));
    work_ = std::min(most_work, static_cast<std::uint64_t>(static_cast<double>(now) * times));
  }
}

}  // namespace dmlop::gpu
