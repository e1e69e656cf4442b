#include "compare/compare.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/threshold.hpp"
#include "compare/advice.hpp"
#include "compare/element_pair.hpp"
#include "compare/relation.hpp"
#include "tensor/numpy_words.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

constexpr std::size_t listed_max = 5;

// Elements are compared one by one only in blocks that are not equal as a whole.
constexpr Threshold block_elements{4096, 5};

// Steps that each element of an unequal block counts. In the worst case each is further off than
// all before, and each starts the search for the smallest tolerances again.
constexpr std::uint64_t unequal_steps = 256;

// The smallest number that passes, if every larger one passes too; nothing if none does. The search
// starts at `guess`, which rounding may have put a few steps to either side.
template <typename Passes>
std::optional<double> smallest_passing(double guess, Passes passes) {
  // Doubles that are not negative are ordered like their bits.
  constexpr auto most = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::max());
  const auto holds = [&](std::uint64_t bits) { return passes(std::bit_cast<double>(bits)); };
  if (!holds(most)) return std::nullopt;
  std::uint64_t high = std::min(std::bit_cast<std::uint64_t>(guess), most);
  for (std::uint64_t step = 1; !holds(high); step *= 2) high += std::min(step, most - high);
  std::uint64_t low = high;
  for (std::uint64_t step = 1; low > 0 && holds(low); step *= 2) {
    high = low;
    low -= std::min(step, low);
  }
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    holds(middle) ? high = middle : low = middle + 1;
  }
  return std::bit_cast<double>(high);
}

template <typename Number>
void raise_to(std::optional<Number>& maximum, std::optional<Number> other) {
  if (!other) maximum.reset();
  if (maximum && *other > *maximum) maximum = other;
}

void raise_to(SmallestTolerances& to, const SmallestTolerances& other) {
  raise_to(to.rtol, other.rtol);
  raise_to(to.atol, other.atol);
  raise_to(to.ulp, other.ulp);
}

std::size_t histogram_place(std::uint64_t ulp) {
  return ulp == 0 ? 0 : static_cast<std::size_t>(std::bit_width(ulp - 1)) + 1;
}

// Keeps the first `listed_max` differences in the given order.
template <typename Before>
void keep_foremost(std::vector<ElementDifference>& kept, const ElementDifference& difference,
                   Before before) {
  if (kept.size() == listed_max && !before(difference, kept.back())) return;
  kept.insert(std::upper_bound(kept.begin(), kept.end(), difference, before), difference);
  if (kept.size() > listed_max) kept.pop_back();
}

bool is_earlier(const ElementDifference& a, const ElementDifference& b) {
  return a.index < b.index;
}

// Compares by what the tolerance measures: ULP, unless rtol or atol were given.
struct IsWorse {
  bool by_ulp;
  bool operator()(const ElementDifference& a, const ElementDifference& b) const {
    if (a.deviation.comparable != b.deviation.comparable) return !a.deviation.comparable;
    if (!by_ulp && a.deviation.absolute != b.deviation.absolute)
      return a.deviation.absolute > b.deviation.absolute;
    // ULP distinguish integers that doubles cannot.
    if (a.deviation.ulp != b.deviation.ulp) return a.deviation.ulp > b.deviation.ulp;
    return a.index < b.index;
  }
};

std::string tensor_text(DataType type, const Sizes& sizes) {
  return std::string(name_of(type)) + " " + list_of(sizes);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g%%",
                100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text.data();
}

}  // namespace

/// What one call of add() finds before it is merged into the result.
template <typename T>
class Comparator::Range {
 public:
  explicit Range(const Comparator& of)
      : region(of.result_.sizes),
        tolerance_(of.result_.tolerance),
        first_expected_(element::load<T>(of.first_expected_.data())),
        keeps_(of.keeps_) {}

  void compare(std::uint64_t first, std::span<const std::byte> actual,
               std::span<const std::byte> expected) {
    for (std::size_t at = 0; at < actual.size(); at += block_elements * sizeof(T)) {
      const std::size_t bytes =
          std::min<std::size_t>(block_elements * sizeof(T), actual.size() - at);
      const std::uint64_t begin = first + at / sizeof(T);
      steps_.add(block_elements * sizeof(T));
      look_for_content(actual.subspan(at, bytes), expected.subspan(at, bytes));
      const bool same = std::memcmp(actual.data() + at, expected.data() + at, bytes) == 0;
      if (same && tolerance_.nan_equals_nan) {
        found.histogram[0] += bytes / sizeof(T);
      } else {
        steps_.add(block_elements * unequal_steps);
        compare_block(begin, actual.subspan(at, bytes), expected.subspan(at, bytes));
        if (keeps_ && !same) keep(begin, actual.subspan(at, bytes));
      }
    }
  }

  Comparison found;
  RegionFinder region;
  std::vector<Kept> kept;
  bool some_number = false;
  bool some_nonzero = false;
  bool expected_varies = false;

 private:
  // Looks for signs that there is something to compare. Most tensors show them in their first
  // elements.
  void look_for_content(std::span<const std::byte> actual, std::span<const std::byte> expected) {
    for (std::size_t at = 0; at < actual.size(); at += sizeof(T)) {
      if (some_number && some_nonzero && expected_varies) return;
      const T a = element::load<T>(actual.data() + at);
      const T e = element::load<T>(expected.data() + at);
      some_number = some_number || !element::is_nan(a);
      some_nonzero = some_nonzero || element::value_of(a) != 0;
      expected_varies = expected_varies || !element::is_same_value(e, first_expected_);
    }
  }

  void keep(std::uint64_t first, std::span<const std::byte> actual) {
    kept.push_back({first, {actual.begin(), actual.end()}});
  }

  void compare_block(std::uint64_t first, std::span<const std::byte> actual,
                     std::span<const std::byte> expected) {
    for (std::size_t at = 0; at < actual.size(); at += sizeof(T)) {
      const T a = element::load<T>(actual.data() + at);
      const T e = element::load<T>(expected.data() + at);
      const bool same = std::memcmp(actual.data() + at, expected.data() + at, sizeof(T)) == 0;
      if (same && (tolerance_.nan_equals_nan || !element::is_nan(a))) {
        ++found.histogram[0];
      } else {
        note(first + at / sizeof(T), a, e);
      }
    }
  }

  void note(std::uint64_t index, T actual, T expected) {
    ElementDifference difference{.index = index};
    std::memcpy(difference.actual.data(), &actual, sizeof(T));
    std::memcpy(difference.expected.data(), &expected, sizeof(T));
    const Deviation deviation = element::deviation(actual, expected, tolerance_.nan_equals_nan);
    difference.deviation = deviation;
    keep_foremost(found.worst, difference, IsWorse{!tolerance_.rtol && !tolerance_.atol});
    if (deviation.comparable) {
      ++found.histogram[histogram_place(deviation.ulp)];
      measure(deviation, expected);
    } else {
      ++found.nan_mismatches;
      found.smallest = {std::nullopt, std::nullopt, std::nullopt};
    }
    if (element::passes(tolerance_, deviation, expected)) return;
    ++found.mismatches;
    region.add(index);
    keep_foremost(found.first, difference, is_earlier);
  }

  void measure(const Deviation& deviation, T expected) {
    SmallestTolerances& smallest = found.smallest;
    raise_to(smallest.ulp, std::optional(deviation.ulp));
    const auto by_atol = [&](double atol) {
      return element::is_near(deviation, expected, 0, atol);
    };
    if (smallest.atol && !by_atol(*smallest.atol))
      smallest.atol = smallest_passing(deviation.absolute, by_atol);
    const auto by_rtol = [&](double rtol) {
      return element::is_near(deviation, expected, rtol, 0);
    };
    if (smallest.rtol && !by_rtol(*smallest.rtol))
      smallest.rtol = smallest_passing(deviation.relative, by_rtol);
  }

  const Tolerance& tolerance_;
  T first_expected_;
  bool keeps_;
  Steps steps_;
};

namespace {

// Whether a type has every number of another one, or rounds it.
bool holds(DataType type, DataType other) {
  if (is_floating(type)) return true;
  const bool has_signs = is_signed_integer(type), had_signs = is_signed_integer(other);
  return !is_floating(other) && (has_signs || !had_signs) &&
         info(type).bits >= info(other).bits + (has_signs && !had_signs ? 1 : 0);
}

// What to save in place of the expected array, so that it has the type and the sizes; "" where that
// could change an element, or move it.
std::string remedy_for(const Elements& expected, DataType type, const Sizes& sizes) {
  const bool may_move = is_transposed(expected.sizes(), sizes);
  if (expected.count() != element_count(sizes) || may_move || !holds(type, expected.data_type()))
    return "";
  Alternative change;
  if (sizes != expected.sizes()) change = reshaping(sizes);
  if (type != expected.data_type()) change = casting(type, std::move(change));
  return "save the expected array as " + change.value;
}

}  // namespace

Comparator::Comparator(const Elements& expected, DataType data_type, Sizes sizes,
                       Tolerance tolerance, ActualElements actual)
    : expected_(expected),
      region_(result_.sizes),
      keeps_(actual == ActualElements::kept &&
             expected.count() <= kept_bytes_max / size_of(expected.data_type())) {
  result_.tolerance = std::move(tolerance);
  data_type = stored_as(data_type);
  result_.data_type = data_type;
  result_.sizes = std::move(sizes);
  if (data_type != expected.data_type() || result_.sizes != expected.sizes()) {
    result_.unlike = tensor_text(data_type, result_.sizes) + " instead of " +
                     tensor_text(expected.data_type(), expected.sizes());
    result_.remedy = remedy_for(expected, data_type, result_.sizes);
    result_.smallest = {std::nullopt, std::nullopt, std::nullopt};
    return;
  }
  result_.elements = expected.count();
  if (expected.count() == 0) return;
  std::vector<std::byte> scratch;
  const auto element = expected.read(0, 1, scratch);
  std::copy(element.begin(), element.end(), first_expected_.begin());
}

void Comparator::add(std::uint64_t first, std::span<const std::byte> actual) {
  if (!result_.unlike.empty()) return;
  visit_type(result_.data_type, [&]<typename T>(T) {
    Range<T> range(*this);
    // Works in pieces, because a file in another order is put into C order in memory.
    constexpr Threshold piece{std::uint64_t{1} << 18, 15};
    std::vector<std::byte> scratch;
    const std::uint64_t count = actual.size() / sizeof(T);
    for (std::uint64_t at = 0; at < count; at += piece) {
      const std::uint64_t elements = std::min<std::uint64_t>(piece, count - at);
      range.compare(first + at, actual.subspan(at * sizeof(T), elements * sizeof(T)),
                    expected_.read(first + at, elements, scratch));
    }
    const std::scoped_lock lock(mutex_);
    some_number_ = some_number_ || range.some_number;
    some_nonzero_ = some_nonzero_ || range.some_nonzero;
    expected_varies_ = expected_varies_ || range.expected_varies;
    result_.mismatches += range.found.mismatches;
    result_.nan_mismatches += range.found.nan_mismatches;
    raise_to(result_.smallest, range.found.smallest);
    region_.add(range.region);
    std::move(range.kept.begin(), range.kept.end(), std::back_inserter(kept_));
    for (std::size_t i = 0; i < result_.histogram.size(); ++i)
      result_.histogram[i] += range.found.histogram[i];
    const IsWorse is_worse{!result_.tolerance.rtol && !result_.tolerance.atol};
    for (const auto& difference : range.found.first)
      keep_foremost(result_.first, difference, is_earlier);
    for (const auto& difference : range.found.worst)
      keep_foremost(result_.worst, difference, is_worse);
  });
}

// Both tensors as they were, as far as that is known: blocks without differences were not kept.
std::string Comparator::relation_to_kept() const {
  const std::size_t size = size_of(result_.data_type);
  Buffer actual(expected_.count() * size, "a tensor that differs");
  copy_elements(expected_, actual.data());
  for (const Kept& kept : kept_) {
    check_for_stop();
    std::copy(kept.bytes.begin(), kept.bytes.end(), actual.data() + kept.first * size);
  }
  return relation_of(Elements(result_.data_type, result_.sizes, actual.bytes()), expected_,
                     result_);
}

Comparison Comparator::finish(const std::function<std::uint64_t(std::uint64_t)>& byte_offset,
                              const Elements* actual) {
  result_.all_nan = result_.elements > 0 && !some_number_;
  result_.all_zero = result_.elements > 0 && !some_nonzero_ && expected_varies_;
  for (auto* list : {&result_.first, &result_.worst}) {
    for (ElementDifference& difference : *list)
      difference.byte_offset = byte_offset(difference.index);
  }
  if (result_.mismatches == 0) return std::move(result_);
  result_.region = region_.found();
  result_.largest_expected = largest_magnitude(expected_);
  if (actual != nullptr) {
    result_.relation = relation_of(*actual, expected_, result_);
  } else if (keeps_) {
    result_.relation = relation_to_kept();
  }
  return std::move(result_);
}

Comparison compare(const Elements& actual, const Elements& expected, const Tolerance& tolerance,
                   unsigned threads) {
  Comparator comparator(expected, actual.data_type(), actual.sizes(), tolerance,
                        ActualElements::passed_to_finish);
  constexpr Threshold part{std::uint64_t{1} << 18, 11};
  const bool alike =
      actual.data_type() == expected.data_type() && actual.sizes() == expected.sizes();
  const std::uint64_t parts = alike ? (actual.count() + part - 1) / part : 0;
  parallel_for(threads, parts, [&](unsigned, std::uint64_t i) {
    std::vector<std::byte> scratch;
    const std::uint64_t count = std::min<std::uint64_t>(part, actual.count() - i * part);
    comparator.add(i * part, actual.read(i * part, count, scratch));
  });
  Comparison comparison =
      comparator.finish([&](std::uint64_t index) { return actual.byte_offset(index); }, &actual);
  if (!comparison.unlike.empty())
    comparison.relation = relation_of_unlike(actual, expected, tolerance);
  return comparison;
}

Verdict Comparison::verdict() const {
  if (!unlike.empty() || mismatches > 0) return Verdict::failed;
  const bool trivial = elements == 0 || all_nan || all_zero;
  return trivial && !tolerance.allow_trivial ? Verdict::mistrusted : Verdict::passed;
}

std::string Comparison::summary() const {
  if (!unlike.empty()) return unlike;
  if (elements == 0) return "nothing was compared: the tensor has no elements";
  std::string text;
  if (mismatches > 0) {
    text = std::to_string(mismatches) + " of " + counted(elements, "element") +
           (mismatches == 1 ? " differs (" : " differ (") + percent_text(mismatches, elements) +
           ")";
  } else {
    text = counted(elements, "element") + " agree" + (elements == 1 ? "s" : "");
  }
  if (all_nan) text += "; every element is NaN";
  if (all_zero) text += "; every element is 0, and the expected ones are not all the same";
  return text;
}

Deviation deviation_of(DataType data_type, const std::byte* actual, const std::byte* expected,
                       bool nan_equals_nan) {
  return visit_type(data_type, [&]<typename T>(T) {
    return element::deviation(element::load<T>(actual), element::load<T>(expected), nan_equals_nan);
  });
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "PASSED";
    case Verdict::failed:
      return "FAILED";
    case Verdict::mistrusted:
      break;
  }
  return "MISTRUSTED";
}

std::string ulp_range_text(std::size_t place) {
  if (place < 3) return std::to_string(place);
  const auto low = (std::uint64_t{1} << (place - 2)) + 1;
  const auto high =
      place - 1 < 64 ? std::uint64_t{1} << (place - 1) : std::numeric_limits<std::uint64_t>::max();
  return std::to_string(low) + ".." + std::to_string(high);
}

}  // namespace dmlop
