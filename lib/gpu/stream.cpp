#include "gpu/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "gpu/launches.hpp"
#include "gpu/staging.hpp"

namespace dmlop::gpu {

ResidentRange Stream::Room::range(Device& device, std::uint64_t bytes) {
  if (!buffer_ || buffer_->bytes() < bytes) {
    buffer_.reset();
    buffer_ = device.make_buffer(place_, rounded_up(bytes));
  }
  return {buffer_.get(), 0, bytes};
}

Stream::Stream(Device& device) : device_(device), commands_(device.make_commands()) {}

std::span<std::byte> Stream::upload(const ResidentRange& to) {
  wait();
  if (uploads_.size() == pending_.size()) uploads_.emplace_back(Place::upload);
  const ResidentRange from = uploads_[pending_.size()].range(device_, to.bytes);
  pending_.push_back({from, to});
  return from.buffer->mapped().first(to.bytes);
}

Bindings Stream::bindings_for(const Dispatch& dispatch, std::span<const ResidentRange> inputs,
                              std::span<const ResidentRange> outputs) {
  const ResidentRange parameters =
      parameters_.range(device_, rounded_up(dispatch.parameters.size() * 4));
  const ResidentRange scratch = scratch_.range(device_, rounded_up(dispatch.scratch_bytes));
  Bindings bindings;
  std::fill_n(bindings.begin(), first_output_slot, Binding{parameters});
  std::fill(bindings.begin() + first_output_slot, bindings.end(), Binding{scratch});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    bindings.at(first_input_slot + i).range = inputs[i];
  for (std::size_t i = 0; i < outputs.size(); ++i)
    bindings.at(first_output_slot + i).range = outputs[i];
  if (dispatch.loads_around) bindings[first_input_slot].slack = slack_bytes;
  return bindings;
}

void Stream::record_uploads(const Dispatch& dispatch, const ResidentRange& parameters) {
  for (const Upload& upload : pending_) commands_->copy(upload.from, upload.to);
  pending_.clear();
  if (dispatch.parameters.empty()) return;
  const auto bytes = std::as_bytes(std::span(dispatch.parameters));
  const ResidentRange from = parameter_upload_.range(device_, bytes.size());
  std::memcpy(from.buffer->mapped().data(), bytes.data(), bytes.size());
  commands_->copy(from, {parameters.buffer, parameters.offset, bytes.size()});
}

void Stream::run(const Dispatch& dispatch, std::span<const ResidentRange> inputs,
                 std::span<const ResidentRange> outputs, const ResidentRange* download) {
  wait();
  times_ = {};
  const Bindings bindings = bindings_for(dispatch, inputs, outputs);
  commands_->begin();
  commands_->stamp(Moment::begin);
  commands_->barrier();  // buffers hold what earlier commands, also of other streams, left there
  record_uploads(dispatch, bindings[parameters_slot].range);
  commands_->barrier();
  commands_->stamp(Moment::uploaded);
  launch_all(dispatch, bindings);
  downloaded_ = {};
  if (download != nullptr) {
    const ResidentRange to = download_.range(device_, download->bytes);
    commands_->barrier();
    commands_->copy(*download, to);
    downloaded_ = to.buffer->mapped().first(to.bytes);
  }
  commands_->stamp(Moment::end);
  submit("running " + dispatch.kernel);
}

// As many launches at a time as the pace allows; the last ones are left to be submitted.
void Stream::launch_all(const Dispatch& dispatch, const Bindings& bindings) {
  std::vector<std::uint32_t> words(std::tuple_size_v<decltype(Launch::row)>);
  words.insert(words.end(), dispatch.constants.begin(), dispatch.constants.end());
  Launches launches(dispatch.stages);
  for (;;) {
    const Submission submission = launches.next(device_.pace().work());
    commands_->bind(dispatch, bindings);
    for (const Launch& launch : submission.launches) {
      if (launch.awaits_writes) commands_->barrier();
      std::copy(launch.row.begin(), launch.row.end(), words.begin());
      commands_->launch(launch.groups, words);
    }
    work_ = submission.work;
    commands_->stamp(Moment::computed);
    if (launches.done()) return;
    commands_->stamp(Moment::end);
    submit("running " + dispatch.kernel);
    wait();
    commands_->begin();
    commands_->stamp(Moment::begin);
    commands_->stamp(Moment::uploaded);
  }
}

std::span<const std::byte> Stream::finish() {
  wait();
  return downloaded_;
}

void Stream::write(const ResidentRange& to, std::span<const std::byte> bytes) {
  wait();
  if (uploads_.empty()) uploads_.emplace_back(Place::upload);
  in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
    const ResidentRange from = uploads_.front().range(device_, count);
    std::memcpy(from.buffer->mapped().data(), bytes.data() + at, count);
    copy(from, {to.buffer, to.offset + at, count});
  });
}

void Stream::read(const ResidentRange& from, std::span<std::byte> bytes) {
  wait();
  in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
    const ResidentRange to = download_.range(device_, count);
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
  if (work_ > 0) take_times();
  work_ = 0;
}

// Of launches that are done.
void Stream::take_times() {
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - submitted_;
  const auto seconds = commands_->seconds();
  device_.pace().took(work_, seconds ? (*seconds)[1] : waited.count());
  if (!seconds) return;
  const auto add = [](std::optional<double>& sum, double more) { sum = sum.value_or(0) + more; };
  add(times_.upload, (*seconds)[0]);
  add(times_.kernel, (*seconds)[1]);
  add(times_.download, (*seconds)[2]);
}

}  // namespace dmlop::gpu
