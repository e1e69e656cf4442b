// An output of a job as a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/buffer.hpp"
#include "base/file.hpp"
#include "job/planned.hpp"

namespace dmlop {

/// An output as a file that is being written: .npy, or the elements alone. Then those of 4 bits are
/// packed, two in a byte, as in a buffer of DirectML. Errors of all calls: io_failed.
class OutputOfJob {
 public:
  OutputOfJob(const PlannedOutput& output, const std::string& path, bool is_raw);
  /// Part of its elements; may be called from several threads at once.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// The file with all that belongs into it.
  OutputFile& finished();

 private:
  std::string header_;
  Buffer unpacked_;
  OutputFile file_;
};

}  // namespace dmlop
