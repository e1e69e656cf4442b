#include "batch/record_json.hpp"

#include <filesystem>

#include "base/path.hpp"
#include "batch/digest.hpp"
#include "compare/comparison_json.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

Json optional_seconds(const std::optional<double>& seconds) {
  return seconds ? Json(*seconds) : Json(nullptr);
}

Json timings_json(const RecordParts& parts) {
  Json json{{"checkSeconds", parts.check_seconds},
            {"executeSeconds", parts.result.seconds - parts.check_seconds}};
  if (parts.times.kernel) {
    json["deviceUploadSeconds"] = optional_seconds(parts.times.upload);
    json["deviceKernelSeconds"] = optional_seconds(parts.times.kernel);
    json["deviceDownloadSeconds"] = optional_seconds(parts.times.download);
  }
  return json;
}

std::string base64(const Png& bytes) {
  constexpr const char* letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group =
          group << 8 | (at + i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + i <= bytes.size() ? letters[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

// For records that others may have written: to find a key among many takes an ordered_json a time
// that follows their number.
using ReadJson = nlohmann::json;

// The exit code of a record; nothing where the job cannot have ended as `status` with it.
std::optional<int> exit_code_in(const ReadJson& record, Status status) {
  constexpr std::uint64_t code_max = 255;
  const auto code = record.find("exitCode");
  if (code == record.end() || !code->is_number_unsigned() || code->get<std::uint64_t>() > code_max)
    return std::nullopt;
  const int number = code->get<int>();
  return may_end_with(status, number) ? std::optional(number) : std::nullopt;
}

std::string data_uri(const Png& png) {
  return "data:image/png;base64," + base64(png);
}

}  // namespace

std::string record_of(const RecordParts& parts) {
  const BatchResult& result = parts.result;
  Json json{{"id", result.id}, {"status", name_of(result.status)}, {"exitCode", result.exit_code}};
  const auto add = [&json](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  };
  add("operator", result.operator_name);
  if (!parts.tags.empty()) json["tags"] = parts.tags;
  add("place", result.place);
  add("device", parts.device);
  json["seconds"] = result.seconds;
  if (parts.check_seconds != 0) json["timings"] = timings_json(parts);
  add("message", result.message);
  add("details", result.details);
  add("repeat", result.repeat);
  add("description", parts.description);
  // Lists and objects are made before they are put in: a null that becomes one is left broken where
  // memory runs out.
  Json comparisons = Json::array(), inputs = Json::object(), outputs = Json::object();
  for (const OutputComparison& output : parts.comparisons) {
    Json comparison{{"tensor", output.tensor}, {"expected", output.expected_path}};
    for (const OutputRecord& written : parts.outputs) {
      if (written.tensor == output.tensor) comparison["actual"] = written.path;
    }
    comparison.update(to_json(output.comparison));
    comparisons.push_back(std::move(comparison));
  }
  if (!comparisons.empty()) json["comparisons"] = std::move(comparisons);
  add("digest", parts.digest);
  for (const auto& [tensor, digest] : parts.inputs) inputs[tensor] = digest;
  if (!inputs.empty()) json["inputs"] = std::move(inputs);
  for (const OutputRecord& output : parts.outputs)
    outputs[output.tensor] = {{"file", output.path}, {"digest", output.digest}};
  if (!outputs.empty()) json["outputs"] = std::move(outputs);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<BatchResult> earlier_result(const std::string& record) {
  const auto json = ReadJson::parse(record, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("id") || !json["id"].is_string()) return std::nullopt;
  try {
    const auto status = status_named(json.value("status", ""));
    if (!status) return std::nullopt;
    const auto exit_code = exit_code_in(json, *status);
    if (!exit_code) return std::nullopt;
    return BatchResult{.id = json["id"],
                       .status = *status,
                       .exit_code = *exit_code,
                       .operator_name = json.value("operator", ""),
                       .place = json.value("place", ""),
                       .seconds = json.value("seconds", 0.0),
                       .message = json.value("message", ""),
                       .details = json.value("details", ""),
                       .repeat = json.value("repeat", ""),
                       .record = record};
  } catch (const ReadJson::exception&) {  // a field of another type
    return std::nullopt;
  }
}

bool proves(const std::string& record, const std::string& digest,
            const std::vector<NamedFile>& outputs) {
  const auto json = ReadJson::parse(record, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("digest") || json["digest"] != digest) return false;
  const ReadJson recorded = json.value("outputs", ReadJson::object());
  for (const NamedFile& output : outputs) {
    const std::string found = digest_of_file(output.path);
    const auto entry = recorded.find(output.tensor);
    if (found.empty() || entry == recorded.end() || !entry->is_object()) return false;
    if (!entry->contains("digest") || (*entry)["digest"] != found) return false;
  }
  return true;
}

std::string digest_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(to_path(path), error)) return "";
  try {
    return InputFile::open(path).read_intact(digest_of);
  } catch (const Error&) {
    return "";
  }
}

nlohmann::ordered_json pictures_json(const PlanePictures& pictures) {
  return {{"pictures",
           {{"plane", pictures.plane},
            {"actual", data_uri(pictures.actual)},
            {"expected", data_uri(pictures.expected)},
            {"difference", data_uri(pictures.difference)},
            {"low", pictures.low},
            {"high", pictures.high},
            {"maxDifference", pictures.max_difference}}}};
}

}  // namespace dmlop
