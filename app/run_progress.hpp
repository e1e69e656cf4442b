// How far a single long run is, and what it is going to take.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "job/job.hpp"

namespace dmlop::app {

/// Before a run of a gigabyte or more: how much it reads, writes and keeps in memory; "" for
/// others.
std::string large_run_notice(const Job& job);

/// Where standard error is a terminal, one line that is rewritten while this lives, from the first
/// second on. Nothing else may be printed meanwhile.
class RunProgress {
 public:
  RunProgress(const Job& job, bool quiet);
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;
  ~RunProgress();

 private:
  void show_until_end();

  std::uint64_t total_bytes_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace dmlop::app
