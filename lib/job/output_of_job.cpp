#include "job/output_of_job.hpp"

#include <algorithm>

#include "tensor/element.hpp"

namespace dmlop {
namespace {

bool is_of_half_bytes(const PlannedOutput& output, bool is_raw) {
  return is_raw && has_4_bits(*output.desc->data_type);
}

std::uint64_t element_bytes(const PlannedOutput& output, bool is_raw) {
  return is_of_half_bytes(output, is_raw) ? (output.bytes() + 1) / 2 : output.bytes();
}

}  // namespace

OutputOfJob::OutputOfJob(const PlannedOutput& output, const std::string& path, bool is_raw)
    : header_(is_raw ? "" : output.header()),
      unpacked_(is_of_half_bytes(output, is_raw) ? output.bytes() : 0, "an output of 4 bits"),
      file_(path, header_.size() + element_bytes(output, is_raw)) {
  if (!is_raw) file_.write_at(0, std::as_bytes(std::span(header_)));
}

void OutputOfJob::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (unpacked_.size() == 0) return file_.write_at(header_.size() + offset, bytes);
  std::copy(bytes.begin(), bytes.end(), unpacked_.data() + offset);
}

OutputFile& OutputOfJob::finished() {
  if (unpacked_.size() != 0) file_.write_at(0, packed_4_bits(unpacked_.bytes()));
  return file_;
}

}  // namespace dmlop
