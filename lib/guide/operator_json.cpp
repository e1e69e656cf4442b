#include "guide/operator_json.hpp"

#include "guide/words.hpp"
#include "spec/judge.hpp"

namespace dmlop {

using Json = nlohmann::ordered_json;

namespace {

Json to_json(const FieldSpec& field) {
  Json row{{"name", field.name},
           {"kind", name_of(field.kind)},
           {"type", kind_text(field)},
           {"optional", field.optional},
           {"text", field.text}};
  if (!field.count_field.empty()) row["count"] = field.count_field;
  if (!field.type_field.empty()) row["typeField"] = field.type_field;
  if (field.optional_when) row["optionalWhen"] = field.optional_when->text();
  if (field.kind != FieldKind::enumeration) return row;
  for (const EnumValue& value : enum_values(field.enum_name)) {
    row["values"].push_back(
        {{"name", value.name}, {"value", value.value}, {"introduced", to_text(value.introduced)}});
  }
  return row;
}

Json to_json(const Rule& rule) {
  Json json{{"formula", rule.formula.text()}};
  if (!rule.text.empty()) json["text"] = rule.text;
  if (rule.by != Authority::both)
    json["by"] = name_of(rule.by == Authority::page ? Judge::page : Judge::directml);
  if (rule.by == Authority::page) json["evidence"] = name_of(rule.evidence);
  if (!rule.difference.empty()) json["difference"] = rule.difference;
  return json;
}

Json to_json(const SupportRow& row) {
  Json types = Json::array();
  for (const DataType type : row.types) types.push_back(name_of(type));
  Json json{{"from", to_text(row.from)},
            {"tensors", row.tensors},
            {"dimensions", {row.min_dimensions, row.max_dimensions}},
            {"dataTypes", types}};
  if (row.when) json["when"] = row.when->text();
  return json;
}

Json to_json(const NamedNumbers& numbers) {
  Json json = Json::object();
  for (const auto& [name, number] : numbers) json[name] = number;
  return json;
}

/// Without the operator's name.
Json row_of(const MeasuredError& error) {
  Json json{{"dataType", error.data_type},
            {"unit", error.measure->unit},
            {"largest", to_json(error.on)},
            {"about", error.measure->text}};
  if (!error.where.empty()) json["where"] = error.where;
  return json;
}

Json row_of(const Speed& speed) {
  const SpeedRun& run = *speed.run;
  Json json{{"work", speed.work}, {"device", run.device}, {"backend", run.backend},
            {"date", run.date},   {"about", run.text},    {"values", Json::object()}};
  if (!run.share_of.empty()) json["shareOf"] = run.share_of;
  for (const SpeedValue& value : speed.values) {
    Json& row = json["values"][value.type] = Json::object();
    if (value.share) row["share"] = *value.share;
    if (value.milliseconds) row["milliseconds"] = *value.milliseconds;
    if (value.gops) row["gops"] = *value.gops;
  }
  if (speed.peers.empty()) return json;
  json["otherPrograms"] = to_json(speed.peers);
  json["aboutOtherPrograms"] = run.peers;
  return json;
}

/// A row with the operator's name before it.
template <typename Row>
Json named_row(const Row& row) {
  Json json{{"operator", row.operator_name}};
  json.update(row_of(row));
  return json;
}

}  // namespace

Json to_json(const Difference& row) {
  return {
      {"name", row.name}, {"text", row.text}, {"reason", row.reason}, {"operators", row.operators}};
}

Json to_json(const OperatorSpec& spec, const std::vector<std::string>& runs_on) {
  Json json{{"name", "DML_OPERATOR_" + spec.name},
            {"value", *operator_value(spec.name)},
            {"family", spec.family},
            {"introduced", to_text(spec.introduced)},
            {"struct", struct_name(spec)},
            {"runsOn", runs_on},
            {"inPlace", spec.in_place},
            {"summary", spec.summary},
            {"source", spec.source},
            {"seeAlso", related_operators(spec.name)},
            {"fields", Json::array()},
            {"rules", Json::array()},
            {"support", Json::array()}};
  for (const FieldSpec& field : spec.fields) json["fields"].push_back(to_json(field));
  for (const Rule& rule : spec.rules) json["rules"].push_back(to_json(rule));
  for (const SupportRow& row : spec.support) json["support"].push_back(to_json(row));
  for (const SupportRow& row : spec.support_directml)
    json["supportOfDirectML1.15.4"].push_back(to_json(row));
  for (const Difference* row : differences_of(spec.name))
    json["differencesFromDirectML1.15.4"].push_back({{"text", row->text}, {"reason", row->reason}});
  json["tolerances"] = Json::object();
  for (const auto& [type, tolerance] : spec.tolerances)
    json["tolerances"][std::string(name_of(type))] = to_text(tolerance);
  if (spec.tolerance_terms) {
    json["toleranceTerms"] = spec.tolerance_terms->text();
    json["toleranceOfTerm"] = tolerance_of_term;
  }
  if (!spec.tolerance_reason.empty()) json["toleranceReason"] = spec.tolerance_reason;
  json["measuredErrors"] = Json::array();
  for (const MeasuredError* error : errors_of(spec.name))
    json["measuredErrors"].push_back(row_of(*error));
  json["speed"] = Json::array();
  for (const Speed* speed : speeds_of(spec.name)) json["speed"].push_back(row_of(*speed));
  json["example"] = {{"type", "DML_OPERATOR_" + spec.name}, {"desc", Json::parse(spec.example)}};
  return json;
}

Json to_json(const MeasuredError& error) {
  return named_row(error);
}

Json to_json(const Speed& speed) {
  return named_row(speed);
}

}  // namespace dmlop
