#include "measured_errors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>

#include "compare/compare.hpp"
#include "gpu_device.hpp"
#include "spec/measurements.hpp"

namespace dmlop::test {
namespace {

/// How much of a tolerance the difference of two elements takes: 1 is all of it.
double share_of(const Tolerance& tolerance, DataType type, const std::byte* found,
                const std::byte* expected) {
  const Deviation deviation = deviation_of(type, found, expected, tolerance.nan_equals_nan);
  if (deviation.comparable && (deviation.absolute == 0 || deviation.ulp == 0)) return 0;
  double share = std::numeric_limits<double>::infinity();
  if (!deviation.comparable) return share;
  if (tolerance.rtol || tolerance.atol) {
    const double magnitude = deviation.relative > 0 ? deviation.absolute / deviation.relative : 0;
    const double most = tolerance.atol.value_or(0) + tolerance.rtol.value_or(0) * magnitude;
    if (most > 0) share = deviation.absolute / most;
  }
  if (tolerance.ulp.value_or(0) != 0)
    share =
        std::min(share, static_cast<double>(deviation.ulp) / static_cast<double>(*tolerance.ulp));
  return share;
}

/// The device among measured_devices; "" for another one.
std::string_view device_of(const ErrorSample& sample) {
  if (!sample.is_on_gpu) return "CPU";
#ifdef _WIN32
  return "";  // Direct3D
#else
  static const bool is_llvmpipe = open_gpu()->info().name.find("llvmpipe") != std::string::npos;
  return is_llvmpipe ? "llvmpipe" : "";
#endif
}

double largest_share(const ErrorSample& sample) {
  const Tolerance tolerance = sample.spec.default_tolerance(sample.type);
  double share = 0;
  for (std::size_t at = 0; at < sample.expected.size(); at += size_of(sample.type))
    share =
        std::max(share, share_of(tolerance, sample.type, &sample.found[at], &sample.expected[at]));
  return share;
}

/// The largest shares of this process, which it writes at its end if it is asked to.
class Largest {
 public:
  void add(const ErrorSample& sample, double share) {
    const std::string row = "[\"" + sample.spec.name + "\", \"" +
                            std::string(name_of(sample.type)) + "\", \"tolerance\", {\"" +
                            std::string(device_of(sample)) + "\": ";
    shares_[row] = std::max(shares_[row], share);
  }

  ~Largest() {
    const char* path = std::getenv("DMLOP_MEASURED_ERRORS");
    if (path == nullptr) return;
    std::ofstream file(path);
    for (const auto& [row, share] : shares_) file << row << share << "}]\n";
  }

 private:
  std::map<std::string, double> shares_;
};

/// The share that was published for a device.
std::optional<double> published(const ErrorSample& sample) {
  for (const MeasuredError* error : errors_of(sample.spec.name)) {
    if (error->measure->name == "tolerance" && error->data_type == name_of(sample.type))
      return error->find(device_of(sample));
  }
  return std::nullopt;
}

}  // namespace

void note_errors(const ErrorSample& sample) {
  static Largest largest;
  if (sample.spec.default_tolerance(sample.type).is_bitwise()) return;
  largest.add(sample, largest_share(sample));
}

void check_errors(const ErrorSample& sample) {
  note_errors(sample);
  const auto most = published(sample);
  if (most) CHECK(largest_share(sample) <= 2 * *most + 0.05);
}

}  // namespace dmlop::test
