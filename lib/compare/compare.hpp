// Compares tensors element by element and says how they differ. It knows elements and tolerances;
// files, operators and devices are others' business.
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

#include "npy/elements.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

enum class Verdict { passed, failed, mistrusted };

/// How far one element is from the expected one.
struct Deviation {
  bool comparable = true;  // false where only one is NaN, or NaN is to differ from NaN
  double absolute = 0;
  double relative = 0;    // to the expected value; infinite where that is 0 or infinite
  std::uint64_t ulp = 0;  // representable values between; +0 and -0 are 0 apart, as are two NaNs
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

/// The smallest value of each criterion that, given alone, every element would pass.
struct SmallestTolerances {
  std::optional<double> rtol = 0;
  std::optional<double> atol = 0;
  std::optional<std::uint64_t> ulp = 0;
};

/// Counts of elements by ULP: [0] are 0 apart, [1] 1, [2] 2, [3] 3 to 4, [4] 5 to 8 and so on.
using UlpHistogram = std::array<std::uint64_t, 66>;
/// "0", "3..4": the distances that a place of the histogram counts.
std::string ulp_range_text(std::size_t place);

struct Comparison {
  Tolerance tolerance;
  DataType data_type = DataType::Float32;  // of both, unless `unlike` says otherwise
  Sizes sizes;
  std::string unlike;  // "FLOAT32 [2] instead of FLOAT16 [2]": no element was compared
  std::uint64_t elements = 0;
  std::uint64_t mismatches = 0;          // elements that no criterion allows
  std::uint64_t nan_mismatches = 0;      // those of them that cannot be measured: one is NaN
  std::vector<ElementDifference> first;  // mismatches, at most 5
  std::vector<ElementDifference> worst;  // elements with any difference, the largest first
  UlpHistogram histogram{};              // without the NaN mismatches
  SmallestTolerances smallest;
  bool all_nan = false;   // every actual element
  bool all_zero = false;  // every actual element, where the expected ones are not all the same

  Verdict verdict() const;
  /// One line that says what was found: "3 of 80 elements differ (3.75%)".
  std::string summary() const;
};

/// "PASSED", "FAILED", "MISTRUSTED".
std::string_view name_of(Verdict verdict);

/// Receives the actual elements in any order, from several threads at once.
class Comparator {
 public:
  /// What `expected` refers to must outlive this. Where data type or sizes differ from the expected
  /// ones nothing is compared, which is the finding.
  Comparator(const Elements& expected, DataType data_type, Sizes sizes, Tolerance tolerance);

  /// Actual elements from index `first` on, in C order and native byte order.
  void add(std::uint64_t first, std::span<const std::byte> actual);

  /// The result, once every element was added. `byte_offset` tells where an element stands.
  Comparison finish(const std::function<std::uint64_t(std::uint64_t index)>& byte_offset);

 private:
  template <typename T>
  class Range;

  const Elements& expected_;
  Comparison result_;
  std::array<std::byte, 8> first_expected_{};
  std::mutex mutex_;
  bool some_number_ = false;   // an actual element that is no NaN was seen
  bool some_nonzero_ = false;  // likewise
  bool expected_varies_ = false;
};

/// Compares two tensors on up to `threads` threads. Errors: interrupted.
Comparison compare(const Elements& actual, const Elements& expected, const Tolerance& tolerance,
                   unsigned threads);

}  // namespace dmlop
