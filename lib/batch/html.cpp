#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "batch/reports.hpp"
#include "pages/templates.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

std::string now_text() {
  using namespace std::chrono;
  const auto now = floor<seconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  return text.data();
}

// The job's record together with its pictures.
Json job_json(const BatchResult& result) {
  Json job = Json::parse(result.record, nullptr, /*allow_exceptions=*/false);
  if (!job.is_object()) job = {{"id", result.id}, {"status", name_of(result.status)}};
  if (result.resumed) job["resumed"] = true;
  if (job.contains("comparisons")) job.erase("details");  // the page shows them as tables
  if (result.pictures.empty()) return job;
  const Json pictures = Json::parse(result.pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (pictures[i].is_object()) job["comparisons"][i].update(pictures[i]);
  }
  return job;
}

// The statuses of jobs with which the run went well; an update may be accepted or not.
Json good_statuses(const std::vector<BatchResult>& results) {
  std::array<bool, statuses.size()> is_bad{};
  for (const BatchResult& result : results)
    is_bad[static_cast<std::size_t>(result.status)] |= !result.is_good();
  Json names = Json::array();
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (!is_bad[i]) names.push_back(statuses[i].name);
  }
  return names;
}

Json data_of(const BatchReport& report) {
  const BatchSummary& summary = report.summary;
  Json data{{"version", report.version},
            {"created", now_text()},
            {"title", report.title},
            {"device", summary.device},
            {"seconds", summary.seconds}};
  if (!summary.shard.empty()) data["shard"] = summary.shard;
  if (!summary.interrupted.empty()) data["interrupted"] = summary.interrupted;
  Json counts = Json::object();
  for (std::size_t i = 0; i < summary.counts.size(); ++i)
    counts[std::string(statuses[i].name)] = summary.counts[i];
  data["counts"] = std::move(counts);
  data["warnings"] = summary.warnings;
  data["good"] = good_statuses(report.results);
  data["jobs"] = Json::array();
  for (const BatchResult& result : report.results) data["jobs"].push_back(job_json(result));
  return data;
}

}  // namespace

std::string html_report(const BatchReport& report) {
  const std::string json =
      data_of(report).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  constexpr std::string_view placeholder = "@DATA@";
  const std::string_view page = report_template();
  const std::size_t at = page.find(placeholder);
  std::string html(page.substr(0, at));
  html.reserve(page.size() + json.size());
  for (const char c : json) {
    if (c == '<') {
      html += "\\u003c";  // no text may end the script element
    } else {
      html += c;
    }
  }
  html += page.substr(at + placeholder.size());
  return html;
}

}  // namespace dmlop
