#include "spec/tensor_checker.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/text.hpp"
#include "spec/ideas.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t largest_size = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t bytes_max = std::numeric_limits<std::int64_t>::max();

// After this many findings about one tensor's sizes, the rest are not listed.
constexpr std::size_t sizes_listed = 8;

Advice some_elements() {
  Alternative one = Alternative::write("1", " or more");
  one.reason = "a tensor without elements cannot be used; ";
  return one;
}

Advice packed_or_none(const Sizes& sizes) {
  return {Alternative::write(list_of(packed_strides(sizes)), " for a packed tensor"),
          Alternative::leave_out()};
}

}  // namespace

void TensorChecker::add(Diagnostic diagnostic, std::string rule, Advice suggestion) {
  diagnostic.rule = std::move(rule);
  diagnostic.suggestion = std::move(suggestion);
  diagnostics_.push_back(std::move(diagnostic));
}

// What mends the last finding.
void TensorChecker::propose(const Place& place, std::string json) {
  diagnostics_.back().ideas = {{replacement(fields_, place, std::move(json))}};
}

void TensorChecker::check_dimension_count(const TensorUse& use) {
  const std::string name = use.name();
  TensorDesc& tensor = *use.desc;
  if (tensor.sizes.empty()) return;
  if (tensor.dimension_count && *tensor.dimension_count != tensor.sizes.size()) {
    add(fields_.at(use.place("DimensionCount"),
                   name + ".DimensionCount is " + std::to_string(*tensor.dimension_count) +
                       ", must be " + std::to_string(tensor.sizes.size())),
        "Sizes has " + counted(tensor.sizes.size(), "value"),
        {Alternative::write(std::to_string(tensor.sizes.size())), Alternative::leave_out()});
    propose(use.place("DimensionCount"), std::to_string(tensor.sizes.size()));
  }
  tensor.dimension_count = tensor.sizes.size();
}

void TensorChecker::check_sizes(const TensorUse& use, FieldScope& scope) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  std::size_t findings = 0;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] >= 1 && tensor.sizes[i] <= largest_size) continue;
    const Place size = use.place("Sizes", i);
    if (!scope.refuse(size)) continue;
    if (++findings > sizes_listed) {
      ++diagnostics_.back().more;
      continue;
    }
    add(fields_.at(size, to_text(size) + " is " + std::to_string(tensor.sizes[i]) +
                             ", must be from 1 to " + std::to_string(largest_size)),
        "every size of a tensor is a UINT of at least 1",
        tensor.sizes[i] == 0 ? some_elements() : Advice());
  }
}

// The limit is that of a file: 63 bits.
void TensorChecker::check_element_count(const TensorUse& use) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  if (tensor.sizes.empty()) return;
  const auto count = element_count(tensor.sizes);
  const std::uint64_t size = tensor.data_type ? size_of(*tensor.data_type) : 1;
  if (is_too_large_ || (count && *count <= bytes_max / size)) return;
  is_too_large_ = true;
  add(fields_.at(use.place("Sizes"), name + " of sizes " + list_of(tensor.sizes) + " is too large"),
      "a tensor has at most " + std::to_string(bytes_max) + " bytes" +
          (tensor.data_type ? ", here " + std::to_string(size) + " per element" : ""),
      "make the sizes smaller");
}

void TensorChecker::check_buffer(const TensorUse& use) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  check_flags(use);
  const auto count = element_count(tensor.sizes);
  if (tensor.sizes.empty() || !count || *count > bytes_max / sizeof(std::uint64_t)) return;
  const auto is_refused = [](std::uint64_t size) { return size < 1 || size > largest_size; };
  if (std::any_of(tensor.sizes.begin(), tensor.sizes.end(), is_refused) || !check_strides(use))
    return;
  if (tensor.data_type) {
    check_total_size(use);
    check_alignment(use);
  }
}

void TensorChecker::check_flags(const TensorUse& use) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  const auto owned = std::find(tensor.flags.begin(), tensor.flags.end(), "OWNED_BY_DML");
  if (!use.spec->is_output() || owned == tensor.flags.end()) return;
  add(fields_.at(use.place("Flags"), name + ".Flags is OWNED_BY_DML, must be NONE"),
      "only inputs can be owned by DirectML (DML_TENSOR_FLAG_OWNED_BY_DML)",
      Alternative::leave_out());
  propose(use.place("Flags"), "null");
}

bool TensorChecker::check_strides(const TensorUse& use) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  if (!tensor.strides) return true;
  const Place strides = use.place("Strides");
  if (tensor.strides->size() != tensor.sizes.size()) {
    add(fields_.at(strides, name + ".Strides has " + counted(tensor.strides->size(), "value") +
                                ", must have " + std::to_string(tensor.sizes.size())),
        "one stride, in elements, for each size", packed_or_none(tensor.sizes));
    propose(strides, list_of(packed_strides(tensor.sizes)));
    return false;
  }
  const auto reached = reached_elements(tensor.sizes, *tensor.strides);
  const std::uint64_t size = tensor.data_type ? size_of(*tensor.data_type) : 1;
  if (!reached || *reached > bytes_max / size) {
    add(fields_.at(strides, name + ".Strides " + list_of(*tensor.strides) + " reach too far"),
        "a tensor has at most " + std::to_string(bytes_max) +
            " bytes; it has (sum of (size - 1) * stride) + 1 elements",
        "make the strides smaller");
    return false;
  }
  if (use.spec->is_output() && may_overlap(tensor.sizes, *tensor.strides)) {
    add(fields_.at(strides, name + ".Strides " + list_of(*tensor.strides) +
                                " let parts of the output overlap or interleave"),
        "every element of an output has a place of its own, and each stride is at least what the "
        "dimensions with smaller strides span",
        packed_or_none(tensor.sizes));
    propose(strides, list_of(packed_strides(tensor.sizes)));
  }
  return true;
}

void TensorChecker::check_total_size(const TensorUse& use) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  if (!tensor.total_size_in_bytes) return;
  const Strides strides = tensor.strides.value_or(packed_strides(tensor.sizes));
  const std::uint64_t reached = *reached_elements(tensor.sizes, strides);
  const std::uint64_t bits = info(*tensor.data_type).bits;
  const std::uint64_t bytes = bits < 8 ? (reached + 1) / 2 : reached * (bits / 8);
  const std::uint64_t needed = (bytes + 3) / 4 * 4;
  if (*tensor.total_size_in_bytes >= needed) return;
  const Place total = use.place("TotalTensorSizeInBytes");
  add(fields_.at(total, to_text(total) + " is " + std::to_string(*tensor.total_size_in_bytes) +
                            ", must be at least " + std::to_string(needed)),
      "the last element ends at byte " + std::to_string(bytes) + ", rounded up to a multiple of 4",
      {Alternative::write(std::to_string(needed)), Alternative::leave_out()});
  propose(total, std::to_string(needed));
}

void TensorChecker::check_alignment(const TensorUse& use) {
  const std::string name = use.name();
  const TensorDesc& tensor = *use.desc;
  const std::uint64_t alignment = tensor.base_offset_alignment;
  const std::uint64_t size = size_of(*tensor.data_type);
  if (alignment == 0 || (std::has_single_bit(alignment) && alignment >= size)) return;
  const Place place = use.place("GuaranteedBaseOffsetAlignment");
  add(fields_.at(place, to_text(place) + " is " + std::to_string(alignment) +
                            ", must be 0 or a power of two of at least " + std::to_string(size)),
      std::string(name_of(*tensor.data_type)) + " has " + std::to_string(size) +
          " bytes per element",
      Alternative::leave_out());
  propose(place, "null");
}

}  // namespace dmlop
