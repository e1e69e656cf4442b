// How bench writes rows and times.
#pragma once

#include <string>
#include <string_view>

namespace dmlop::app {

/// The beginning of a row: what it is about.
std::string row_title(const char* name);

/// A unit in which a time is from 1 to 1000, where there is one.
struct TimeUnit {
  std::string_view name;
  double per_second;
};
TimeUnit unit_of(double seconds);

/// "12.3 ms".
std::string time_text(double seconds);

}  // namespace dmlop::app
