// A device without hardware: it writes down what it is given, checks it, and copies.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gpu/commands.hpp"
#include "gpu/launches.hpp"

namespace dmlop::test {

/// What was wrong, and what was given. Accesses stay in it until a barrier.
struct Record {
  struct Access {
    const gpu::ResidentBuffer* buffer;
    std::uint64_t begin, end;
    bool is_write;
    std::uint64_t work;  // accesses of the same work do not wait for each other
    std::string what;
  };

  std::set<std::string> faults;
  std::uint64_t copies = 0, stages = 0, submissions = 0;
  std::uint64_t waits = 0;  // for submissions
  std::vector<Access> unawaited;
  std::uint64_t works = 0;
  // Of buffers that the host does not see.
  std::uint64_t device_bytes = 0, most_device_bytes = 0, device_buffers = 0;
  std::uint64_t device_room = ~std::uint64_t{0};
  std::uint64_t buffer_bytes_limit = std::uint64_t{1} << 30;
  bool has_matrices = false;

  void touch(const gpu::ResidentRange& range, bool is_write, const std::string& what);
};

/// What a new buffer of the device holds at an offset.
std::byte byte_at(std::uint64_t offset);

/// Its kernels compute nothing; the pace of each is so much work at first.
std::unique_ptr<gpu::Device> make_recorded_device(Record& record,
                                                  std::uint64_t pace_work = gpu::Pace::first_work,
                                                  const std::string& name = "");

}  // namespace dmlop::test
