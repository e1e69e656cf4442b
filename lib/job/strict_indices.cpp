#include "job/strict_indices.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/caller.hpp"
#include "base/findings_error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "ops/indexed_inputs.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

// A message names so many positions.
constexpr std::size_t positions_shown = 8;

// A thread takes so many elements at a time.
constexpr std::uint64_t elements_at_once = std::uint64_t{1} << 18;

template <typename T>
bool is_inside(T index, std::uint64_t extent) {
  if constexpr (std::is_unsigned_v<T>) {
    return index < extent;
  } else if constexpr (std::is_integral_v<T>) {
    const auto most = static_cast<std::int64_t>(extent);
    return -most <= index && index < most;
  } else {
    return index >= 0 && static_cast<double>(index) < static_cast<double>(extent);
  }
}

std::string range_of(DataType type, std::uint64_t extent) {
  const bool counts_from_end = is_signed_integer(type);
  return "from " + (counts_from_end ? "-" + std::to_string(extent) : "0") + " to " +
         std::to_string(extent - 1);
}

/// Looks for indices out of range in one tensor.
class IndexSearch {
 public:
  IndexSearch(const TensorDesc& desc, const std::vector<std::uint64_t>& extents,
              std::span<const std::byte> bytes)
      : type_(*desc.data_type),
        sizes_(desc.sizes),
        strides_(input_strides(desc)),
        extents_(extents),
        bytes_(bytes),
        row_(sizes_.back()),
        elements_(*element_count(sizes_)) {}

  void run(unsigned threads) {
    const std::uint64_t pieces = (elements_ + elements_at_once - 1) / elements_at_once;
    parallel_for(threads, pieces, [&](unsigned, std::uint64_t index) {
      const std::uint64_t begin = index * elements_at_once;
      search(begin, std::min(elements_, begin + elements_at_once));
    });
  }

  std::uint64_t wrong_count() const { return wrong_count_; }

  /// How many elements are indices.
  std::uint64_t index_count() const {
    if (extents_.size() == 1) return elements_;
    const auto others = std::count(extents_.begin(), extents_.end(), 0);
    return elements_ / row_ * (row_ - static_cast<std::uint64_t>(others));
  }

  /// "[0, 2] is 7, [1, 0] is -6 and 3 more"
  std::string positions() const {
    std::string text;
    for (const std::uint64_t element : first_wrong_) {
      const std::byte* at = &bytes_[offset_of(element) * size_of(type_)];
      text += (text.empty() ? "" : ", ") + list_of(coordinates_of(element)) + " is " +
              element_text(type_, at);
    }
    const std::uint64_t more = wrong_count_ - first_wrong_.size();
    return more == 0 ? text : text + " and " + std::to_string(more) + " more";
  }

  /// "from -5 to 4", or "[..., 0] from -5 to 4, [..., 1] from -2 to 1"
  std::string ranges() const {
    if (extents_.size() == 1) return range_of(type_, extents_.front());
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      if (extents_[i] == 0) continue;
      ranges.push_back("[..., " + std::to_string(i) + "] " + range_of(type_, extents_[i]));
    }
    return join(ranges);
  }

 private:
  Sizes coordinates_of(std::uint64_t element) const {
    Sizes coordinates(sizes_.size());
    for (std::size_t i = sizes_.size(); i-- > 0; element /= sizes_[i])
      coordinates[i] = element % sizes_[i];
    return coordinates;
  }

  std::uint64_t offset_of(std::uint64_t element) const {
    const Sizes coordinates = coordinates_of(element);
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < coordinates.size(); ++i) offset += coordinates[i] * strides_[i];
    return offset;
  }

  void search(std::uint64_t begin, std::uint64_t end) {
    visit_type(type_, [&](auto element) {
      // Indices are integers but for the boxes of ROI_POOLING.
      using Stored = decltype(element);
      using Number = std::conditional_t<std::is_same_v<Stored, Half>, double, Stored>;
      search_as<Stored, Number>(begin, end);
    });
  }

  template <typename Stored, typename Number>
  void search_as(std::uint64_t begin, std::uint64_t end) {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> first;
    std::uint64_t column = begin % row_;
    Sizes row = coordinates_of(begin - column);
    std::uint64_t offset = offset_of(begin - column);
    while (begin < end) {
      const std::uint64_t stop = std::min(end, begin + row_ - column);
      for (; begin < stop; ++begin, ++column) {
        const std::uint64_t extent = extents_.size() == 1 ? extents_.front() : extents_[column];
        const std::byte* at = &bytes_[(offset + column * strides_.back()) * sizeof(Stored)];
        if (extent == 0 || is_inside(number_at<Stored, Number>(at), extent)) continue;
        ++count;
        if (first.size() < positions_shown) first.push_back(begin);
      }
      column = 0;
      to_next_row(row, offset);
    }
    if (count != 0) add(count, first);
  }

  void to_next_row(Sizes& row, std::uint64_t& offset) const {
    for (std::size_t i = row.size() - 1; i-- > 0;) {
      offset += strides_[i];
      if (++row[i] < sizes_[i]) return;
      offset -= sizes_[i] * strides_[i];
      row[i] = 0;
    }
  }

  template <typename Stored, typename Number>
  static Number number_at(const std::byte* at) {
    if constexpr (std::is_same_v<Stored, Half>) {
      return element_value(DataType::Float16, at);
    } else {
      Stored value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
  }

  void add(std::uint64_t count, const std::vector<std::uint64_t>& first) {
    const std::scoped_lock lock(mutex_);
    wrong_count_ += count;
    first_wrong_.insert(first_wrong_.end(), first.begin(), first.end());
    std::sort(first_wrong_.begin(), first_wrong_.end());
    if (first_wrong_.size() > positions_shown) first_wrong_.resize(positions_shown);
  }

  DataType type_;
  Sizes sizes_;
  Strides strides_;
  const std::vector<std::uint64_t>& extents_;
  std::span<const std::byte> bytes_;
  std::uint64_t row_;
  std::uint64_t elements_;
  std::mutex mutex_;
  std::uint64_t wrong_count_ = 0;
  std::vector<std::uint64_t> first_wrong_;  // row-major numbers of elements, in order
};

}  // namespace

void check_indices(const Plan& plan, const Description& description,
                   const ExecutionOptions& options,
                   const std::function<InputSource(std::size_t slot)>& source,
                   const std::string& where) {
  if (!options.strict_indices) return;
  Diagnostics findings;
  for (const IndexedInput& input : indexed_inputs(plan)) {
    const Slot& slot = plan.slots[input.slot];
    const InputSource from = source(input.slot);
    IndexSearch search(*description.find_tensor(slot.field, slot.element), input.extents,
                       from.bytes);
    search.run(options.threads != 0 ? options.threads : hardware_threads());
    if (search.wrong_count() == 0) continue;
    const std::uint64_t count = search.wrong_count();
    Diagnostic finding =
        description.at(Place{{slot.field}, slot.element},
                       where + std::to_string(count) + " of " +
                           std::to_string(search.index_count()) + " indices in " + slot.field +
                           (count == 1 ? " is" : " are") + " out of range: " + search.positions());
    finding.rule =
        option_text("--strict-indices") + ": an index in " + slot.field + " is " + search.ranges();
    finding.suggestion = "correct " + from.name + "; dmlop ops " + description.spec->name +
                         " says what such an index means without " +
                         option_text("--strict-indices");
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) throw FindingsError(std::move(findings));
}

}  // namespace dmlop
