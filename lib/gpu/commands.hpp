// What a device is given: copies, kernels over ranges of buffers, and what waits for what. Each
// backend implements it, and does nothing else with a device; gpu/stream.hpp says what is given.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gpu/device.hpp"

namespace dmlop::gpu {

/// A range that a kernel is given, with so many bytes in front of it and behind it.
struct Binding {
  ResidentRange range;
  std::uint64_t slack = 0;
};

/// Where the buffers of a kernel are bound (shaders/bindings.hlsli): the parameters, the inputs,
/// the outputs, and the scratch.
inline constexpr std::size_t parameters_slot = 0;
inline constexpr std::size_t first_input_slot = 1;
inline constexpr std::size_t first_output_slot = first_input_slot + inputs_most;
inline constexpr std::size_t scratch_slot = first_output_slot + outputs_most;
inline constexpr std::size_t slot_count = scratch_slot + 1;

/// One for each slot. What a kernel does not use is bound to its parameters or to its scratch.
using Bindings = std::array<Binding, slot_count>;

/// The most times that a list of commands binds a kernel.
inline constexpr std::size_t binds_most = 64;

/// Moments between which time is taken.
enum class Moment : std::uint8_t { begin, uploaded, computed, end };
inline constexpr std::size_t moment_count = 4;

/// Seconds from each moment to the next, by a clock that begins anew after `last_tick`. None where
/// the clock runs backwards: half of its ticks or more seem to have passed.
inline std::optional<std::array<double, moment_count - 1>> seconds_between(
    const std::array<std::uint64_t, moment_count>& ticks, double seconds_per_tick,
    std::uint64_t last_tick = ~std::uint64_t{0}) {
  std::array<double, moment_count - 1> seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::uint64_t passed = (ticks[i + 1] - ticks[i]) & last_tick;
    if (passed > last_tick / 2) return std::nullopt;
    seconds[i] = static_cast<double>(passed) * seconds_per_tick;
  }
  return seconds;
}

/// A list of commands that a device is given as a whole. It is begun, recorded, submitted and
/// waited for, again and again. Errors of all calls: run_failed or device_lost, naming what was
/// being done; of wait() also as check_for_stop(). The destructor waits for what is in flight.
class Commands {
 public:
  virtual ~Commands() = default;
  /// Begins anew; what was submitted before is done.
  virtual void begin() = 0;
  virtual void stamp(Moment moment) = 0;
  /// The ranges have the same number of bytes.
  virtual void copy(const ResidentRange& from, const ResidentRange& to) = 0;
  /// At most binds_most times from begin() to submit().
  virtual void bind(const Dispatch& dispatch, const Bindings& bindings) = 0;
  /// Runs groups of what is bound; `words` are the launch's row and the dispatch's constants.
  virtual void launch(std::array<std::uint32_t, 2> groups,
                      std::span<const std::uint32_t> words) = 0;
  /// What was recorded before is done, and its results are seen by what follows, in this list and
  /// in later ones.
  virtual void barrier() = 0;
  virtual void submit(const std::string& doing) = 0;
  /// Waits for what was submitted; the host then sees what was copied to it.
  virtual void wait() = 0;
  /// Seconds from each moment to the next, of what was waited for; none without a clock, or
  /// with one that runs backwards.
  virtual std::optional<std::array<double, moment_count - 1>> seconds() const = 0;
};

}  // namespace dmlop::gpu
