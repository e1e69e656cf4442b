#include "bench_text.hpp"

#include "base/output.hpp"
#include "base/text.hpp"

namespace dmlop::app {

std::string row_title(const char* name) {
  return padded(name, 10) + " ";
}

TimeUnit unit_of(double seconds) {
  for (const TimeUnit unit : {TimeUnit{"s", 1}, TimeUnit{"ms", 1e3}, TimeUnit{"us", 1e6}}) {
    if (seconds * unit.per_second >= 1) return unit;
  }
  return {"ns", 1e9};
}

std::string time_text(double seconds) {
  const TimeUnit unit = unit_of(seconds);
  return rounded(seconds * unit.per_second) + " " + std::string(unit.name);
}

}  // namespace dmlop::app
