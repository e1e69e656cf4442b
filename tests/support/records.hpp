// Made-up results files.
#pragma once

#include <string>

#include "batch.hpp"

namespace dmlop::test {

/// Lines of results files.
inline std::string record_line(const std::string& id, const std::string& status, int code) {
  return Json{{"id", id}, {"status", status}, {"exitCode", code}, {"seconds", 0.5}}.dump() + "\n";
}
inline std::string summary_line(const std::string& shard = "", bool complete = true) {
  Json summary{{"complete", complete}, {"device", "cpu"}};
  if (!shard.empty()) summary["shard"] = shard;
  return Json{{"summary", summary}}.dump() + "\n";
}

}  // namespace dmlop::test
