#include "batch/job_pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/path.hpp"
#include "batch/record_json.hpp"
#include "compare/picture.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// At most this many failures get pictures, so that a browser can still open the report.
constexpr unsigned pictures_max = 200;
constexpr std::uint64_t picture_bytes_max = std::uint64_t{1} << 28;

}  // namespace

std::string JobPictures::of(const JobResult& result) const {
  Json list = Json::array();
  for (const OutputComparison& output : result.comparisons) list.push_back(pictures_of(output));
  return list.dump();
}

// The difference is reported even if its picture cannot be made.
Json JobPictures::pictures_of(const OutputComparison& output) const {
  try {
    return made_pictures(output);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run_failed) throw;
    return {{"picturesMissing", error.what()}};
  }
}

Json JobPictures::made_pictures(const OutputComparison& output) const {
  const Comparison& comparison = output.comparison;
  if (comparison.verdict() != Verdict::failed || comparison.worst.empty()) return nullptr;
  if (pictures_.fetch_add(1) >= pictures_max)
    return {{"picturesMissing",
             "only the first " + std::to_string(pictures_max) + " failures have pictures"}};
  const std::uint64_t bytes = comparison.elements * size_of(comparison.data_type);
  const auto is_same = [&](const auto& other) { return other.name() == output.tensor; };
  const auto& outputs = job_.outputs;
  const auto bound = std::find_if(outputs.begin(), outputs.end(), is_same);
  const std::string path = bound == outputs.end() ? "" : bound->path;
  const auto& golden = job_.expected;
  const auto expectation = std::find_if(golden.begin(), golden.end(), is_same);
  std::error_code error;
  const bool was_kept = fs::is_regular_file(to_path(path), error);  // and went into no pipe
  if (!was_kept && bytes > picture_bytes_max)
    return {{"picturesMissing", "the output is large and was not kept; use --out"}};
  const Elements expected(*expectation->file);
  const std::uint64_t worst = comparison.worst.front().index;
  const bool nan_equals_nan = comparison.tolerance.nan_equals_nan;
  if (was_kept) {
    std::optional<RawForm> form;
    if (bound->is_raw) form = {comparison.data_type, comparison.sizes};
    const NpyFile written = with_context(
        "reading " + path, [&] { return NpyFile::open(PinnedFile(nullptr, path), form); });
    Json json = pictures_json(plane_pictures(Elements(written), expected, worst, nan_equals_nan));
    require_intact(written, path);
    return json;
  }
  const auto actual = outputs_in_memory(job_, backend_, options_, nullptr, output.tensor);
  return pictures_json(plane_pictures(actual.front().elements(), expected, worst, nan_equals_nan));
}

}  // namespace dmlop
