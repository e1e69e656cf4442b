// Compares tensors element by element and describes how they differ. It knows elements and
// tolerances, but no files, operators or devices.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/region.hpp"
#include "npy/elements.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

enum class Verdict { passed, failed, mistrusted };

/// How far one element is from the expected one.
struct Deviation {
  bool comparable = true;  // false if only one is NaN, or if NaN must differ from NaN
  double absolute = 0;
  double relative = 0;    // to the expected value; infinite if that is 0 or infinite
  std::uint64_t ulp = 0;  // representable values between; 0 for +0 and -0, and for two NaN
};

/// The deviation of one element, given by its bytes.
Deviation deviation_of(DataType data_type, const std::byte* actual, const std::byte* expected,
                       bool nan_equals_nan);

struct ElementDifference {
  std::uint64_t index = 0;        // in C order
  std::uint64_t byte_offset = 0;  // of the actual element, from the beginning of its file
  std::array<std::byte, 8> actual{};
  std::array<std::byte, 8> expected{};
  Deviation deviation;
};

/// The smallest value of each criterion that lets every element pass on its own.
struct SmallestTolerances {
  std::optional<double> rtol = 0;
  std::optional<double> atol = 0;
  std::optional<std::uint64_t> ulp = 0;
};

/// Counts of elements by ULP: [0] counts those 0 apart, [1] 1, [2] 2, [3] 3 to 4, [4] 5 to 8, and
/// so on.
using UlpHistogram = std::array<std::uint64_t, 66>;
/// The distances that a place of the histogram counts: "0", "3..4".
std::string ulp_range_text(std::size_t place);

struct Comparison {
  Tolerance tolerance;
  DataType data_type = DataType::Float32;  // of both, unless `unlike` says otherwise
  Sizes sizes;
  std::string unlike;  // "FLOAT32 [2] instead of FLOAT16 [2]": no element was compared
  std::string remedy;  // how to make the expected array alike, where NumPy can
  std::uint64_t elements = 0;
  std::uint64_t mismatches = 0;          // elements that no criterion allows
  std::uint64_t nan_mismatches = 0;      // mismatches without a distance, because one is NaN
  std::vector<ElementDifference> first;  // mismatches, at most 5
  std::vector<ElementDifference> worst;  // elements with any difference, the largest first
  UlpHistogram histogram{};              // without the NaN mismatches
  SmallestTolerances smallest;
  bool all_nan = false;   // every actual element
  bool all_zero = false;  // every actual element, although the expected ones are not all the same
  Region region;          // of the mismatches
  std::string relation;   // relation_of() or relation_of_unlike() both tensors
  double largest_expected = 0;  // magnitude of a finite expected element; 0 if no element differs

  Verdict verdict() const;
  /// One line with the result: "3 of 80 elements differ (3.75%)".
  std::string summary() const;
};

/// "PASSED", "FAILED", "MISTRUSTED".
std::string_view name_of(Verdict verdict);

/// Whether a Comparator keeps actual elements that differ, which it needs to tell why they do.
enum class ActualElements { kept, passed_to_finish };

/// Receives the actual elements in any order, from several threads at once.
class Comparator {
 public:
  /// `expected` and its data must outlive this. If data type, as files store it, or sizes differ
  /// from the expected ones, no element is compared and that is the result. It keeps elements of
  /// tensors up to kept_bytes_max.
  Comparator(const Elements& expected, DataType data_type, Sizes sizes, Tolerance tolerance,
             ActualElements actual = ActualElements::kept);

  static constexpr std::uint64_t kept_bytes_max = std::uint64_t{16} << 20;

  /// Whether data type and sizes are those expected, so that elements are compared.
  bool needs_elements() const { return result_.unlike.empty(); }

  /// Takes actual elements from index `first` on, in C order and native byte order.
  void add(std::uint64_t first, std::span<const std::byte> actual);

  /// The result, after every element was added. `byte_offset` gives an element's place in its file.
  /// `actual` is for a Comparator that keeps none. Errors: as check_for_stop().
  Comparison finish(const std::function<std::uint64_t(std::uint64_t index)>& byte_offset,
                    const Elements* actual = nullptr);

 private:
  template <typename T>
  class Range;
  /// Unbroken actual elements, some of which differ.
  struct Kept {
    std::uint64_t first;
    std::vector<std::byte> bytes;
  };

  std::string relation_to_kept() const;

  const Elements& expected_;
  Comparison result_;
  RegionFinder region_;
  bool keeps_;
  std::vector<Kept> kept_;
  std::array<std::byte, 8> first_expected_{};
  std::mutex mutex_;
  bool some_number_ = false;   // an actual element that is not NaN was seen
  bool some_nonzero_ = false;  // an actual element that is not 0 was seen
  bool expected_varies_ = false;
};

/// Compares two tensors on up to `threads` threads. Errors: interrupted.
Comparison compare(const Elements& actual, const Elements& expected, const Tolerance& tolerance,
                   unsigned threads);

}  // namespace dmlop
