#include "job/planned.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace dmlop {

NativeInput::NativeInput(const BoundInput& input) : bytes_(input.file.data()) {
  const NpyHeader& header = input.file.header();
  const std::size_t size = size_of(header.data_type);
  if (!header.big_endian || size == 1) return;
  swapped_ = Buffer(bytes_.size(), "a little-endian copy of " + input.path);
  in_pieces(bytes_.size() / size, size, [&](std::uint64_t i, std::uint64_t end) {
    for (; i < end; ++i) {
      const auto element = bytes_.subspan(i * size, size);
      std::reverse_copy(element.begin(), element.end(), swapped_.data() + i * size);
    }
  });
  bytes_ = swapped_.bytes();
}

std::vector<PlannedOutput> planned_outputs(const Plan& plan, const Description& description) {
  std::vector<PlannedOutput> outputs;
  for (const FieldSpec& field : description.spec->fields) {
    if (!field.is_output()) continue;
    const auto add = [&](std::size_t slot, std::optional<std::size_t> element) {
      outputs.push_back({slot, field.name, element, description.find_tensor(field.name, element)});
    };
    if (const auto slot = plan.find(field.name)) add(*slot, std::nullopt);
    for (std::size_t i = 0; const auto slot = plan.find(field.name, i); ++i) add(*slot, i);
  }
  return outputs;
}

}  // namespace dmlop
