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

Pace& Paces::of(const Dispatch& dispatch) {
  const std::scoped_lock lock(mutex_);
  return paces_.try_emplace({dispatch.kernel, dispatch.specialization}, first_work_).first->second;
}

double Paces::estimated_seconds(const Dispatch& dispatch) {
  double work = 0;
  for (const Stage& stage : dispatch.stages)
    work += static_cast<double>(stage.work) * (std::max(stage.first, stage.end) - stage.first);
  return work / static_cast<double>(of(dispatch).work()) * Pace::wanted_seconds;
}

std::uint64_t GivenWork::room(const Pace& pace) const {
  return static_cast<std::uint64_t>(std::max(0.0, 1 - filled_) * static_cast<double>(pace.work()));
}

void GivenWork::add(Pace& pace, std::uint64_t work) {
  filled_ += static_cast<double>(work) / static_cast<double>(pace.work());
  const auto part = std::ranges::find(parts_, &pace, &Part::pace);
  if (part == parts_.end())
    parts_.push_back({&pace, work});
  else
    part->work += work;
}

void GivenWork::took(double seconds) const {
  constexpr auto most_work = static_cast<double>(std::uint64_t{1} << 48);
  constexpr auto least_work = static_cast<double>(Pace::least_work);
  const double times_faster = Pace::wanted_seconds / std::max(seconds, 1e-9);
  // Little work says nothing of how long much of it takes.
  const bool may_grow = times_faster > 2 && filled_ >= 0.5;
  for (const auto& [pace, work] : parts_) {
    std::uint64_t before = pace->work();
    const auto now = static_cast<double>(before);
    // It took no longer than all of them.
    const double surely_fits = static_cast<double>(work) * times_faster;
    double fitting = now;
    if (times_faster < 0.5) fitting = std::min(now, std::max(least_work, surely_fits));
    if (may_grow) fitting = std::max(now, std::min({surely_fits, 8 * now, most_work}));
    if (fitting != now)
      pace->work_.compare_exchange_strong(before, static_cast<std::uint64_t>(fitting));
  }
}

}  // namespace dmlop::gpu
