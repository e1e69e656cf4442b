#include "batch/record_json.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/path.hpp"
#include "batch/digest.hpp"
#include "compare/comparison_json.hpp"
#include "job/golden.hpp"

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

// For records that others may have written. Finding a key in an ordered_json takes time in
// proportion to the number of keys.
using ReadJson = nlohmann::json;

// The exit code of a record; nothing if a job cannot end as `status` with it.
std::optional<int> exit_code_in(const ReadJson& record, Status status) {
  constexpr std::uint64_t code_max = 255;
  const auto code = record.find("exitCode");
  if (code == record.end() || !code->is_number_unsigned() || code->get<std::uint64_t>() > code_max)
    return std::nullopt;
  const int number = code->get<int>();
  return outcome_of(status, number) ? std::optional(number) : std::nullopt;
}

bool is_text(const ReadJson& json) {
  return json.is_string();
}
bool is_number(const ReadJson& json) {
  return json.is_number();
}
bool is_line(const ReadJson& json) {
  return json.is_number_unsigned() &&
         json.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
}
bool is_text_or_null(const ReadJson& json) {
  return json.is_null() || json.is_string();
}
bool is_boolean(const ReadJson& json) {
  return json.is_boolean();
}
bool is_number_or_null(const ReadJson& json) {
  return json.is_number() || json.is_null();
}

using Type = bool (*)(const ReadJson&);

struct FieldType {
  const char* name;
  Type type;
};

// The first of the fields that is present with another type; null if there is none.
template <std::size_t count>
const char* wrong_field(const ReadJson& object, const std::array<FieldType, count>& fields) {
  for (const FieldType& field : fields) {
    const auto found = object.find(field.name);
    if (found != object.end() && !field.type(*found)) return field.name;
  }
  return nullptr;
}

template <const auto& fields>
bool is_object_of(const ReadJson& json) {
  return json.is_object() && wrong_field(json, fields) == nullptr;
}
template <const auto& fields>
bool is_object_or_null(const ReadJson& json) {
  return json.is_null() || is_object_of<fields>(json);
}
template <Type type>
bool is_list_of(const ReadJson& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), type);
}
template <Type type>
bool is_map_of(const ReadJson& json) {
  return json.is_object() && std::all_of(json.begin(), json.end(), type);
}

// The fields that record_of() writes. Other fields may be anything.
constexpr std::array element_fields{
    FieldType{"index", is_list_of<is_number>},
    FieldType{"byteOffset", is_number},
    FieldType{"actual", is_text},
    FieldType{"expected", is_text},
    FieldType{"actualBits", is_text},
    FieldType{"expectedBits", is_text},
    FieldType{"absolute", is_number_or_null},
    FieldType{"relative", is_number_or_null},
    FieldType{"ulp", is_number_or_null},
};
constexpr std::array axis_fields{FieldType{"first", is_number}, FieldType{"last", is_number},
                                 FieldType{"step", is_number},
                                 FieldType{"indices", is_number_or_null}};
constexpr std::array region_fields{FieldType{"slices", is_text}, FieldType{"elements", is_number},
                                   FieldType{"isFull", is_boolean},
                                   FieldType{"axes", is_list_of<is_object_of<axis_fields>>}};
constexpr std::array class_fields{FieldType{"ulp", is_text}, FieldType{"count", is_number}};
constexpr std::array smallest_fields{FieldType{"rtol", is_number_or_null},
                                     FieldType{"atol", is_number_or_null},
                                     FieldType{"ulp", is_number_or_null}};
constexpr std::array comparison_fields{
    FieldType{"tensor", is_text},
    FieldType{"expected", is_text},
    FieldType{"actual", is_text},
    FieldType{"verdict", is_text},
    FieldType{"update", is_text},
    FieldType{"summary", is_text},
    FieldType{"dataType", is_text},
    FieldType{"sizes", is_list_of<is_number>},
    FieldType{"tolerance", is_text},
    FieldType{"toleranceOrigin", is_text},
    FieldType{"elements", is_number},
    FieldType{"mismatches", is_number},
    FieldType{"nanMismatches", is_number},
    FieldType{"region", is_object_or_null<region_fields>},
    FieldType{"relation", is_text_or_null},
    FieldType{"first", is_list_of<is_object_of<element_fields>>},
    FieldType{"worst", is_list_of<is_object_of<element_fields>>},
    FieldType{"histogram", is_list_of<is_object_of<class_fields>>},
    FieldType{"smallest", is_object_of<smallest_fields>},
};
constexpr std::array location_fields{FieldType{"file", is_text}, FieldType{"line", is_line},
                                     FieldType{"column", is_line}};
constexpr std::array output_fields{FieldType{"file", is_text}, FieldType{"digest", is_text}};
constexpr std::array record_fields{
    FieldType{"id", is_text},
    FieldType{"status", is_text},
    FieldType{"exitCode", is_number},
    FieldType{"operator", is_text},
    FieldType{"tags", is_list_of<is_text>},
    FieldType{"place", is_text},
    FieldType{"device", is_text},
    FieldType{"seconds", is_number},
    FieldType{"timings", is_map_of<is_number_or_null>},
    FieldType{"message", is_text},
    FieldType{"brief", is_text},
    FieldType{"details", is_text},
    FieldType{"warnings", is_list_of<is_text>},
    FieldType{"wrong", is_object_of<location_fields>},
    FieldType{"repeat", is_text},
    FieldType{"description", is_text},
    FieldType{"comparisons", is_list_of<is_object_of<comparison_fields>>},
    FieldType{"digest", is_text},
    FieldType{"inputs", is_map_of<is_text>},
    FieldType{"outputs", is_map_of<is_object_of<output_fields>>},
};

// A digest of the job's outcome. Changing the outcome of a record, or moving it to another job,
// does not keep the digest by accident.
std::string outcome_digest(const std::string& inputs_digest, const std::string& id, Status status,
                           int exit_code, const std::vector<OutputRecord>& outputs) {
  Digest digest;
  digest.add("outcome");
  digest.add(inputs_digest);
  digest.add(id);
  digest.add(name_of(status));
  digest.add(std::to_string(exit_code));
  for (const OutputRecord& output : outputs) {
    digest.add(output.tensor);
    digest.add(output.digest);
  }
  return digest.text();
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
  add("brief", result.brief);
  add("details", result.details);
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  add("repeat", result.repeat);
  add("description", parts.description);
  Json wrong{
      {"file", result.wrong.file}, {"line", result.wrong.line}, {"column", result.wrong.column}};
  if (!result.wrong.file.empty()) json["wrong"] = std::move(wrong);
  // Lists and objects are made before they are inserted. Turning a null into one would leave it
  // broken if memory runs out.
  Json comparisons = Json::array(), inputs = Json::object(), outputs = Json::object();
  for (const OutputComparison& output : parts.comparisons) {
    Json comparison{{"tensor", output.tensor}, {"expected", output.expected_path}};
    for (const OutputRecord& written : parts.outputs) {
      if (written.tensor == output.tensor) comparison["actual"] = written.path;
    }
    if (output.update != GoldenUpdate::none) comparison["update"] = name_of(output.update);
    comparison.update(to_json(output.comparison));
    comparisons.push_back(std::move(comparison));
  }
  if (!comparisons.empty()) json["comparisons"] = std::move(comparisons);
  if (!parts.digest.empty())
    json["digest"] =
        outcome_digest(parts.digest, result.id, result.status, result.exit_code, parts.outputs);
  for (const auto& [tensor, digest] : parts.inputs) inputs[tensor] = digest;
  if (!inputs.empty()) json["inputs"] = std::move(inputs);
  for (const OutputRecord& output : parts.outputs)
    outputs[output.tensor] = {{"file", output.path}, {"digest", output.digest}};
  if (!outputs.empty()) json["outputs"] = std::move(outputs);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string problem_of_record(const std::string& line) {
  const auto json = ReadJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("id")) return "";
  const char* wrong = wrong_field(json, record_fields);
  return wrong == nullptr ? "" : "its \"" + std::string(wrong) + "\" is of another type";
}

namespace {

Location location_in(const ReadJson& record) {
  const auto wrong = record.find("wrong");
  if (wrong == record.end()) return {};
  return {.file = wrong->value("file", ""),
          .line = wrong->value("line", 1U),
          .column = wrong->value("column", 1U)};
}

}  // namespace

std::optional<BatchResult> earlier_result(const std::string& record) {
  const auto json = ReadJson::parse(record, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("id")) return std::nullopt;
  if (wrong_field(json, record_fields) != nullptr) return std::nullopt;
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
                     .brief = json.value("brief", ""),
                     .details = json.value("details", ""),
                     .wrong = location_in(json),
                     .repeat = json.value("repeat", ""),
                     .record = record,
                     .warnings = json.value("warnings", std::vector<std::string>{})};
}

void add_warnings(BatchResult& result, const std::vector<std::string>& warnings) {
  result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
  Json json = Json::parse(result.record);
  json["warnings"] = result.warnings;
  result.record = json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool proves(const std::string& record, const std::string& digest,
            const std::vector<NamedFile>& outputs) {
  const auto result = earlier_result(record);
  if (!result || result->status != Status::passed) return false;
  std::vector<OutputRecord> found;
  for (const NamedFile& output : outputs) {
    found.push_back({output.tensor, output.path, digest_of_file(output.path)});
    if (found.back().digest.empty()) return false;
  }
  const auto json = ReadJson::parse(record);
  return json.value("digest", "") ==
         outcome_digest(digest, result->id, result->status, result->exit_code, found);
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
