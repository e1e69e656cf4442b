#include "gpu/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/divide.hpp"
#include "base/error.hpp"
#include "gpu/launches.hpp"
#include "gpu/staging.hpp"

namespace dmlop::gpu {
namespace {

// From the parameters of a dispatch to those of the next one.
std::uint64_t place_bytes(const Dispatch& dispatch) {
  const std::uint64_t bytes = rounded_up(dispatch.parameters.size() * 4);
  return divided_up(bytes, range_alignment) * range_alignment;
}

// A driver cuts off what is bound beyond its limit, and kernels then compute with zeros. Whoever
// makes work has refused such work.
void require_buffers_within(std::uint64_t limit, const KernelRun& run) {
  const auto require = [&](std::uint64_t bytes) {
    if (bytes <= limit) return;
    throw std::logic_error(run.dispatch->kernel + " is given a buffer of " + std::to_string(bytes) +
                           " bytes, and the device's buffers have at most " +
                           std::to_string(limit));
  };
  require(run.dispatch->scratch_bytes);
  for (const ResidentRange& input : run.inputs) require(input.bytes);
  for (const ResidentRange& output : run.outputs) require(output.bytes);
}

}  // namespace

ResidentRange Stream::Room::range(BufferPool& pool, std::uint64_t bytes, MakeRoom make_room) {
  if (!buffer_ || buffer_->bytes() < bytes) {
    buffer_.reset();
    buffer_ = pool.make(place_, rounded_up(bytes), make_room);
  }
  return {buffer_.get(), 0, bytes};
}

Stream::Stream(Device& device, std::shared_ptr<BufferPool> pool)
    : device_(device), pool_(std::move(pool)), commands_(device.make_commands()) {}

std::span<std::byte> Stream::upload(const ResidentRange& to) {
  wait();
  if (uploads_.size() == pending_.size()) uploads_.emplace_back(Place::upload);
  const ResidentRange from = uploads_[pending_.size()].range(*pool_, to.bytes);
  pending_.push_back({from, to});
  return from.buffer->mapped().first(to.bytes);
}

// All kernels have parameters of their own, and take turns with the scratch.
std::vector<Bindings> Stream::bindings_for(std::span<const KernelRun> kernels, MakeRoom make_room) {
  std::uint64_t parameter_bytes = 0, scratch_bytes = 0;
  for (const KernelRun& run : kernels) {
    require_buffers_within(device_.buffer_bytes_limit(), run);
    parameter_bytes += place_bytes(*run.dispatch);
    scratch_bytes = std::max(scratch_bytes, rounded_up(run.dispatch->scratch_bytes));
  }
  ResidentRange parameters = parameters_.range(*pool_, parameter_bytes, make_room);
  const ResidentRange scratch = scratch_.range(*pool_, scratch_bytes, make_room);
  std::vector<Bindings> all;
  for (const KernelRun& run : kernels) {
    parameters.bytes = rounded_up(run.dispatch->parameters.size() * 4);
    Bindings& bindings = all.emplace_back();
    std::fill_n(bindings.begin(), first_output_slot, Binding{parameters});
    std::fill(bindings.begin() + first_output_slot, bindings.end(), Binding{scratch});
    for (std::size_t i = 0; i < run.inputs.size(); ++i)
      bindings.at(first_input_slot + i).range = run.inputs[i];
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      bindings.at(first_output_slot + i).range = run.outputs[i];
    if (run.dispatch->loads_around) bindings[first_input_slot].slack = slack_bytes;
    parameters.offset += place_bytes(*run.dispatch);
  }
  return all;
}

void Stream::record_copies(std::span<const RangeCopy> copies) {
  for (const RangeCopy& copy : copies) commands_->copy(copy.from, copy.to);
}

void Stream::record_parameters(std::span<const KernelRun> kernels,
                               std::span<const Bindings> bindings) {
  if (kernels.empty()) return;
  const ResidentRange& last = bindings.back()[parameters_slot].range;
  const ResidentRange from = parameter_upload_.range(*pool_, last.offset + last.bytes);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto bytes = std::as_bytes(std::span(kernels[i].dispatch->parameters));
    const std::uint64_t offset = bindings[i][parameters_slot].range.offset;
    std::copy(bytes.begin(), bytes.end(),
              from.buffer->mapped().begin() + static_cast<std::ptrdiff_t>(offset));
  }
  commands_->copy(from, {last.buffer, 0, from.bytes});
}

std::vector<KernelRun> Stream::kernels_of(std::span<const StreamWork> works) {
  std::vector<KernelRun> kernels;
  for (const StreamWork& work : works)
    kernels.insert(kernels.end(), work.kernels.begin(), work.kernels.end());
  return kernels;
}

bool Stream::make_room(std::span<const StreamWork> works, MakeRoom make_room) {
  wait();
  try {
    bindings_for(kernels_of(works), make_room);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run_failed) throw;
    return false;
  }
}

void Stream::run(std::span<const StreamWork> works, const ResidentRange* download) {
  wait();
  times_ = {};
  const std::vector<KernelRun> kernels = kernels_of(works);
  const std::vector<Bindings> bindings = bindings_for(kernels);
  commands_->begin();
  commands_->stamp(Moment::begin);
  commands_->barrier();  // buffers hold what earlier commands, also of other streams, left there
  record_copies(pending_);
  pending_.clear();
  record_parameters(kernels, bindings);
  commands_->stamp(Moment::uploaded);
  std::size_t first = 0;
  for (const StreamWork& work : works) {
    record_work(work, std::span(bindings).subspan(first, work.kernels.size()));
    first += work.kernels.size();
  }
  commands_->stamp(Moment::computed);
  downloaded_ = {};
  if (download != nullptr) {
    commands_->barrier();
    const ResidentRange to = download_.range(*pool_, download->bytes);
    commands_->copy(*download, to);
    downloaded_ = to.buffer->mapped().first(to.bytes);
  }
  submit_kernels();
}

void Stream::record_work(const StreamWork& work, std::span<const Bindings> bindings) {
  commands_->barrier();
  record_copies(work.copies_before);
  if (!work.copies_before.empty()) commands_->barrier();
  record_kernels(work.kernels, bindings);
  if (!work.copies_after.empty()) commands_->barrier();
  record_copies(work.copies_after);
}

void Stream::record_kernels(std::span<const KernelRun> kernels,
                            std::span<const Bindings> bindings) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (i > 0) commands_->barrier();
    record_launches(*kernels[i].dispatch, bindings[i]);
  }
}

// As many launches at a time as the paces allow; the last ones are left to be submitted.
void Stream::record_launches(const Dispatch& dispatch, const Bindings& bindings) {
  std::vector<std::uint32_t> words(std::tuple_size_v<decltype(Launch::row)>);
  words.insert(words.end(), dispatch.constants.begin(), dispatch.constants.end());
  Pace& pace = device_.paces().of(dispatch);
  bool is_bound = false;
  for (Launches launches(dispatch.stages); !launches.done();) {
    const bool is_full = launches_ >= launches_together ||
                         launches.least_work() > given_.room(pace) ||
                         (!is_bound && kernels_.size() == binds_most);
    if (launches_ > 0 && is_full) {
      begin_next_list();
      is_bound = false;
    }
    if (!is_bound) {
      commands_->bind(dispatch, bindings);
      kernels_.push_back(dispatch.kernel);
      is_bound = true;
    }
    const Submission submission = launches.next(given_.room(pace));
    for (const Launch& launch : submission.launches) {
      if (launch.awaits_writes) commands_->barrier();
      std::copy(launch.row.begin(), launch.row.end(), words.begin());
      commands_->launch(launch.groups, words);
    }
    launches_ += submission.launches.size();
    given_.add(pace, submission.work);
  }
}

void Stream::begin_next_list() {
  commands_->stamp(Moment::computed);
  submit_kernels();
  wait();
  commands_->begin();
  commands_->stamp(Moment::begin);
  commands_->stamp(Moment::uploaded);
}

void Stream::submit_kernels() {
  commands_->stamp(Moment::end);
  std::string names;
  for (auto kernel = kernels_.begin(); kernel != kernels_.end(); ++kernel) {
    if (std::find(kernels_.begin(), kernel, *kernel) == kernel)
      names += (names.empty() ? "" : ", ") + *kernel;
  }
  submit("running " + names);
}

std::span<const std::byte> Stream::finish() {
  wait();
  return downloaded_;
}

void Stream::write(const ResidentRange& to, std::span<const std::byte> bytes) {
  wait();
  if (uploads_.empty()) uploads_.emplace_back(Place::upload);
  in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
    const ResidentRange from = uploads_.front().range(*pool_, count);
    std::memcpy(from.buffer->mapped().data(), bytes.data() + at, count);
    copy(from, {to.buffer, to.offset + at, count});
  });
}

void Stream::read(const ResidentRange& from, std::span<std::byte> bytes) {
  wait();
  in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
    const ResidentRange to = download_.range(*pool_, count);
    copy({from.buffer, from.offset + at, count}, to);
    std::memcpy(bytes.data() + at, to.buffer->mapped().data(), count);
  });
}

void Stream::copy(const ResidentRange& from, const ResidentRange& to) {
  wait();
  commands_->begin();
  commands_->barrier();
  commands_->copy(from, to);
  commands_->barrier();
  submit("copying " + std::to_string(from.bytes) + " bytes");
  wait();
}

void Stream::submit(const std::string& doing) {
  commands_->submit(doing);
  is_busy_ = true;
  submitted_ = std::chrono::steady_clock::now();
}

void Stream::wait() {
  if (!is_busy_) return;
  commands_->wait();
  is_busy_ = false;
  if (!given_.empty()) take_times();
  kernels_.clear();
  launches_ = 0;
  given_ = {};
}

// Of launches that are done.
void Stream::take_times() {
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - submitted_;
  const auto seconds = commands_->seconds();
  given_.took(seconds ? (*seconds)[1] : waited.count());
  if (!seconds) return;
  const auto add = [](std::optional<double>& sum, double more) { sum = sum.value_or(0) + more; };
  add(times_.upload, (*seconds)[0]);
  add(times_.kernel, (*seconds)[1]);
  add(times_.download, (*seconds)[2]);
}

}  // namespace dmlop::gpu
