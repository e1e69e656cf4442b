// How a dispatch is given to a device: in short pieces, so that a request to stop takes effect soon
// and no driver takes the device for hung. Pure; every backend launches kernels this way only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/threshold.hpp"
#include "gpu/device.hpp"

namespace dmlop::gpu {

/// Some threads of a stage.
struct Launch {
  std::array<std::uint32_t, 4> row;  // first thread, end of its threads, step and base of its stage
  std::array<std::uint32_t, 2> groups;
  bool awaits_writes;  // of the stages before its own
};

/// A launch takes some microseconds, however little its threads do. So a device is given about this
/// many together at most.
inline constexpr Threshold launches_together{256, 3};

/// Launches that a device is given together.
struct Submission {
  std::vector<Launch> launches;
  std::uint64_t work = 0;  // of their threads, at most
};

/// The launches of a dispatch's stages, in order.
class Launches {
 public:
  /// The stages must outlive it.
  explicit Launches(std::span<const Stage> stages) : stages_(stages) { skip_empty_stages(); }
  bool done() const { return stage_ == stages_.size(); }
  /// The work of the least that next() gives.
  std::uint64_t least_work() const;
  /// The next ones: as many threads as do no more than `work` together, but at least a group.
  Submission next(std::uint64_t work);

 private:
  void skip_empty_stages();
  Launch launch(std::uint32_t first, std::uint32_t end) const;

  std::span<const Stage> stages_;
  std::size_t stage_ = 0;
  std::uint32_t at_ = 0;  // threads of the stage that are launched
  bool has_written_ = false;
};

/// How much work of a kernel a device is given at a time. It is found by experience, from little to
/// as much as takes a tenth of a second. Several threads may use it.
class Pace {
 public:
  /// What llvmpipe does in a tenth of a second on one core.
  static constexpr std::uint64_t first_work = std::uint64_t{1} << 26;
  static constexpr std::uint64_t least_work = first_work / 8;
  static constexpr double wanted_seconds = 0.1;

  explicit Pace(std::uint64_t work = first_work) : work_(work) {}
  std::uint64_t work() const { return work_; }

 private:
  friend class GivenWork;
  std::atomic<std::uint64_t> work_;
};

/// The paces of a device's kernels as they are specialized. An iteration of one may take a hundred
/// times as long as that of another, and loops may end early. Several threads may use it.
class Paces {
 public:
  explicit Paces(std::uint64_t first_work = Pace::first_work) : first_work_(first_work) {}
  /// It lives as long as this.
  Pace& of(const Dispatch& dispatch);
  /// How long the device takes for all stages of a dispatch, if its kernel's pace is right.
  double estimated_seconds(const Dispatch& dispatch);

 private:
  const std::uint64_t first_work_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::vector<std::uint32_t>>, Pace> paces_;
};

/// Work of several kernels that a device is given together. The paces must outlive it.
class GivenWork {
 public:
  bool empty() const { return parts_.empty(); }
  /// How much more work of a kernel fits.
  std::uint64_t room(const Pace& pace) const;
  void add(Pace& pace, std::uint64_t work);
  /// All of it took so long together: makes the paces smaller where that was too long, and larger
  /// as far as each kernel is known to be fast.
  void took(double seconds) const;

 private:
  struct Part {
    Pace* pace;
    std::uint64_t work;
  };

  std::vector<Part> parts_;
  double filled_ = 0;  // 1: as much as the paces allow
};

}  // namespace dmlop::gpu
