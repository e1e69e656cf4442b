#include "recorded_device.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "base/error.hpp"

namespace dmlop::test {
namespace {

std::uint64_t rounded(std::uint64_t bytes) {
  return std::max<std::uint64_t>(16, (bytes + 15) / 16 * 16);
}

class RecordedBuffer : public gpu::ResidentBuffer {
 public:
  RecordedBuffer(Record& record, gpu::Place place, std::uint64_t bytes)
      : ResidentBuffer(bytes), record_(record), memory_(rounded(bytes)), place_(place) {
    if (place != gpu::Place::device) return;
    if (bytes_on_device() > record_.device_room - record_.device_bytes)
      throw Error(ErrorKind::run_failed, "the device has no room");
    for (std::uint64_t i = 0; i < bytes; ++i) memory_[i] = byte_at(i);
    ++record_.device_buffers;
    record_.device_bytes += bytes_on_device();
    record_.most_device_bytes = std::max(record_.most_device_bytes, record_.device_bytes);
  }
  ~RecordedBuffer() override {
    if (place_ == gpu::Place::device) record_.device_bytes -= bytes_on_device();
  }
  std::span<std::byte> mapped() override {
    return place_ == gpu::Place::device ? std::span<std::byte>()
                                        : std::span(memory_).first(bytes());
  }
  std::byte* at(std::uint64_t offset) { return memory_.data() + offset; }

 private:
  std::uint64_t bytes_on_device() const { return memory_.size() + 2 * gpu::slack_bytes; }

  Record& record_;
  std::vector<std::byte> memory_;
  gpu::Place place_;
};

bool lies_within(const gpu::ResidentRange& range) {
  return range.buffer != nullptr && range.offset <= range.buffer->bytes() &&
         range.bytes <= range.buffer->bytes() - range.offset;
}

class RecordedCommands : public gpu::Commands {
 public:
  explicit RecordedCommands(Record& record) : record_(record) {}

  void begin() override {
    require(state_ == State::idle, "commands are begun before the last ones are done");
    state_ = State::recording;
    is_bound_ = false;
  }
  void stamp(gpu::Moment) override {}

  void copy(const gpu::ResidentRange& from, const gpu::ResidentRange& to) override {
    require(state_ == State::recording, "a copy is recorded before commands are begun");
    require(from.bytes == to.bytes, "a copy has two sizes");
    require(lies_within(from) && lies_within(to), "a copy reaches behind a buffer");
    if (from.bytes != to.bytes || !lies_within(from) || !lies_within(to)) return;
    ++record_.works;
    ++record_.copies;
    record_.touch(from, false, "a copy");
    record_.touch(to, true, "a copy");
    std::memcpy(static_cast<RecordedBuffer*>(to.buffer)->at(to.offset),
                static_cast<RecordedBuffer*>(from.buffer)->at(from.offset), from.bytes);
  }

  void bind(const gpu::Dispatch& dispatch, const gpu::Bindings& bindings) override {
    require(state_ == State::recording, "a kernel is bound before commands are begun");
    if (stage_ == 0 && at_ == 0) check_bindings(dispatch, bindings);
    dispatch_ = dispatch;
    bindings_ = bindings;
    is_bound_ = true;
    if (stage_ == 0 && at_ == 0) begin_stages();
  }

  void launch(std::array<std::uint32_t, 2> groups, std::span<const std::uint32_t> words) override {
    require(is_bound_, dispatch_.kernel + ": a launch without a kernel that these commands bind");
    require(words.size() == 4 + dispatch_.constants.size() && words.size() <= 32,
            dispatch_.kernel + ": a launch has not the words of its dispatch");
    if (stage_ == dispatch_.stages.size())
      return require(false, dispatch_.kernel + ": more launches than stages");
    const gpu::Stage& stage = dispatch_.stages[stage_];
    require(words[0] == stage.first + at_ && words[1] <= stage.end && words[2] == stage.step &&
                words[3] == stage.base,
            dispatch_.kernel + ": a launch has not the threads of its stage");
    require(std::uint64_t{groups[0]} * groups[1] * gpu::group_threads >= words[1] - words[0],
            dispatch_.kernel + ": a launch has too few groups");
    if (at_ == 0) ++record_.works;
    touch_bindings();
    at_ = words[1] - stage.first;
    if (stage.first + at_ < stage.end) return;
    ++stage_;
    ++record_.stages;
    begin_stages();
    if (stage_ == dispatch_.stages.size()) stage_ = at_ = 0;
  }

  void barrier() override {
    require(state_ == State::recording, "a barrier is recorded before commands are begun");
    record_.unawaited.clear();
  }
  void submit(const std::string&) override {
    require(state_ == State::recording, "what was not begun is submitted");
    state_ = State::submitted;
    ++record_.submissions;
  }
  void wait() override {
    if (state_ == State::submitted) ++record_.waits;
    state_ = State::idle;
  }
  std::optional<std::array<double, gpu::moment_count - 1>> seconds() const override {
    return std::array{0.0, 1.0, 0.0};  // slow: what is given at a time stays little
  }

 private:
  enum class State : std::uint8_t { idle, recording, submitted };

  void require(bool is_right, const std::string& fault) {
    if (!is_right) record_.faults.insert(fault);
  }

  // To the next stage that has threads.
  void begin_stages() {
    at_ = 0;
    while (stage_ < dispatch_.stages.size() &&
           dispatch_.stages[stage_].first >= dispatch_.stages[stage_].end)
      ++stage_;
  }

  void check_bindings(const gpu::Dispatch& dispatch, const gpu::Bindings& bindings) {
    const std::string& name = dispatch.kernel;
    for (std::size_t slot = 0; slot < bindings.size(); ++slot) {
      const auto& [range, slack] = bindings[slot];
      require(range.buffer != nullptr && range.offset % gpu::range_alignment == 0 &&
                  range.offset + range.bytes <= rounded(range.buffer->bytes()),
              name + ": a range reaches behind its buffer, or begins anywhere");
      require(range.bytes <= rounded(record_.buffer_bytes_limit),
              name + ": a range is larger than the device's buffers");
      const bool has_slack = slot == gpu::first_input_slot && dispatch.loads_around;
      require(slack == (has_slack ? gpu::slack_bytes : 0), name + ": slack where there is none");
    }
    require(bindings[gpu::scratch_slot].range.bytes >= dispatch.scratch_bytes,
            name + ": the scratch is too small");
    const gpu::ResidentRange& parameters = bindings[gpu::parameters_slot].range;
    const auto wanted = std::as_bytes(std::span(dispatch.parameters));
    require(parameters.bytes >= wanted.size() &&
                std::equal(wanted.begin(), wanted.end(),
                           static_cast<RecordedBuffer*>(parameters.buffer)->at(parameters.offset)),
            name + ": other parameters than the dispatch's");
  }

  void touch_bindings() {
    for (std::size_t slot = 0; slot < bindings_.size(); ++slot)
      record_.touch(bindings_[slot].range, slot >= gpu::first_output_slot, dispatch_.kernel);
  }

  Record& record_;
  State state_ = State::idle;
  bool is_bound_ = false;  // since these commands were begun
  gpu::Dispatch dispatch_;
  gpu::Bindings bindings_;
  std::size_t stage_ = 0;  // the one that is being launched
  std::uint32_t at_ = 0;   // threads of it that were launched
};

class RecordedDevice : public gpu::Device {
 public:
  RecordedDevice(Record& record, std::uint64_t pace_work, const std::string& name)
      : record_(record), paces_(pace_work) {
    info_.name = name;
    info_.has_matrices = record.has_matrices;
  }
  const gpu::DeviceInfo& info() const override { return info_; }
  std::uint64_t buffer_bytes_limit() const override { return record_.buffer_bytes_limit; }
  std::string refusal() const override { return ""; }
  void prepare(const gpu::Dispatch&) override {}
  std::unique_ptr<gpu::Commands> make_commands() override {
    return std::make_unique<RecordedCommands>(record_);
  }
  std::unique_ptr<gpu::ResidentBuffer> make_buffer(gpu::Place place, std::uint64_t bytes) override {
    return std::make_unique<RecordedBuffer>(record_, place, bytes);
  }
  gpu::Paces& paces() override { return paces_; }

 private:
  Record& record_;
  gpu::DeviceInfo info_;
  gpu::Paces paces_;
};

}  // namespace

std::byte byte_at(std::uint64_t offset) {
  return static_cast<std::byte>((offset * 0x9E3779B97F4A7C15U) >> 56);
}

void Record::touch(const gpu::ResidentRange& range, bool is_write, const std::string& what) {
  const Access access{range.buffer, range.offset, range.offset + range.bytes,
                      is_write,     works,        what};
  for (const Access& earlier : unawaited) {
    if (earlier.buffer != access.buffer || earlier.work == works || earlier.begin >= access.end ||
        access.begin >= earlier.end || !(earlier.is_write || is_write))
      continue;
    faults.insert(what + " does not wait for " + earlier.what);
  }
  unawaited.push_back(access);
}

std::unique_ptr<gpu::Device> make_recorded_device(Record& record, std::uint64_t pace_work,
                                                  const std::string& name) {
  return std::make_unique<RecordedDevice>(record, pace_work, name);
}

}  // namespace dmlop::test
