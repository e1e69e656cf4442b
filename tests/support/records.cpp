#include "records.hpp"

namespace dmlop::test {

std::string record_line(const std::string& id, const std::string& status, int code) {
  return Json{{"id", id}, {"status", status}, {"exitCode", code}, {"seconds", 0.5}}.dump() + "\n";
}

std::string record_line_of(const std::string& id, const std::string& place) {
  return Json{{"id", id}, {"status", "PASSED"}, {"exitCode", 0}, {"seconds", 0.5}, {"place", place}}
             .dump() +
         "\n";
}

std::string summary_line(const std::string& shard, bool complete) {
  Json summary{{"complete", complete}, {"device", "cpu"}};
  if (!shard.empty()) summary["shard"] = shard;
  return Json{{"summary", summary}}.dump() + "\n";
}

}  // namespace dmlop::test
