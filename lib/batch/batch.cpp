#include "batch/batch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "batch/job_runner.hpp"

namespace dmlop {
namespace {

/// Jobs on their way from the manifest to the workers. The queue holds enough to keep the workers
/// busy.
class JobQueue {
 public:
  explicit JobQueue(std::size_t capacity) : capacity_(capacity) {}

  void push(BatchJob job) {
    {
      std::unique_lock lock(mutex_);
      has_room_.wait(lock, [&] { return jobs_.size() < capacity_; });
      jobs_.push_back(std::move(job));
    }
    has_job_.notify_one();
  }
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    has_job_.notify_all();
  }
  /// The next job; nothing if the queue is closed and empty. A thread that waits counts as spare.
  std::optional<BatchJob> pop(SpareThreads& spare) {
    std::unique_lock lock(mutex_);
    if (jobs_.empty()) {
      spare.add_one();
      has_job_.wait(lock, [&] { return !jobs_.empty() || closed_; });
      if (jobs_.empty()) return std::nullopt;
      spare.remove_one();
    }
    BatchJob job = std::move(jobs_.front());
    jobs_.pop_front();
    // The reader is not woken for every job, because it fills the queue once it is awake.
    const bool wakes_reader = jobs_.size() == capacity_ / 2;
    lock.unlock();
    if (wakes_reader) has_room_.notify_one();
    return job;
  }

 private:
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable has_job_;
  std::condition_variable has_room_;
  std::deque<BatchJob> jobs_;
  bool closed_ = false;
};

class BatchRun {
 public:
  BatchRun(Backend& backend, const BatchOptions& options,
           const std::function<void(const BatchResult&)>& finished)
      : options_(options),
        finished_(finished),
        runner_(backend, options),
        queue_(64 + 4 * std::size_t{options.workers}),
        spare_(std::max(options.workers, threads_of(options)) - options.workers) {
    summary.device = backend.spec();
  }

  void run(Manifest& manifest) {
    {
      std::vector<std::jthread> workers;
      try {
        start(workers);
        read(manifest, /*works_itself=*/workers.empty());
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::interrupted) keep_failure();
      } catch (...) {
        keep_failure();
      }
      queue_.close();
    }
    if (interruption_requested()) summary.interrupted = "interrupted";
    if (runner_.device_lost()) {
      summary.interrupted = device_lost_reason;
      summary.exit_code = worse_exit_code(summary.exit_code, exit_run_failed);
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  BatchSummary summary;

 private:
  static constexpr const char* device_lost_reason = "the device was lost";

  static unsigned threads_of(const BatchOptions& options) {
    return options.execution.threads != 0 ? options.execution.threads : hardware_threads();
  }

  // Starts as many workers as the system has threads and memory for.
  void start(std::vector<std::jthread>& workers) {
    try {
      for (unsigned i = 0; i < options_.workers; ++i) workers.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
  }

  void read(Manifest& manifest, bool works_itself) {
    JobFiles& files = runner_.job_files();
    const bool come_one_by_one =
        !files.are_of(manifest) && options_.update_golden != UpdateGolden::no;
    JobSelector jobs(manifest, options_.selection, come_one_by_one ? &files : nullptr,
                     !options_.output_folder.empty());
    while (auto job = jobs.next()) {
      if (has_failed_) return;
      if (options_.ignores_xfail || options_.against != nullptr) job->xfail_reason.clear();
      works_itself ? do_job(std::move(*job)) : queue_.push(std::move(*job));
    }
    summary.selected = jobs.selected();
  }

  void work() {
    while (auto job = queue_.pop(spare_)) do_job(std::move(*job));
  }

  // A failure outside of a job, including its report, ends the batch. The queue is still emptied,
  // because its reader may wait for room.
  void do_job(BatchJob job) {
    if (has_failed_) return;
    try {
      const std::string reason = stop_reason();
      if (reason.empty()) {
        finish(runner_.run(std::move(job)));
      } else {
        finish(runner_.not_run(job, reason));
      }
    } catch (...) {
      keep_failure();
    }
  }

  void keep_failure() {
    if (!has_failed_.exchange(true)) failure_ = std::current_exception();
  }

  std::string stop_reason() {
    if (interruption_requested()) return "interrupted";
    if (runner_.device_lost()) return device_lost_reason;
    const bool too_many = options_.max_failures != 0 && failures_ >= options_.max_failures;
    return too_many ? "the batch stopped after " + counted(options_.max_failures, "failure") : "";
  }

  void finish(const BatchResult& result) {
    const std::scoped_lock lock(mutex_);
    if (!result.is_good()) ++failures_;
    summary.add(result);
    finished_(result);
  }

  const BatchOptions& options_;
  const std::function<void(const BatchResult&)>& finished_;
  JobRunner runner_;
  JobQueue queue_;
  SpareThreads spare_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;  // the first; read when all threads have ended
};

}  // namespace

BatchSummary run_batch(Manifest& manifest, Backend& backend, const BatchOptions& options,
                       const std::function<void(const BatchResult&)>& finished) {
  const auto start = std::chrono::steady_clock::now();
  BatchRun run(backend, options, finished);
  run.run(manifest);
  BatchSummary summary = std::move(run.summary);
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.shard = options.selection.shard_text();
  return summary;
}

}  // namespace dmlop
