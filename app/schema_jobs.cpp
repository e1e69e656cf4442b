// Op descriptions, jobs and tolerances.
#include "schema_files.hpp"
#include "schema_operators.hpp"

namespace dmlop::app::schema {
namespace {

Json tolerance_members() {
  const Json limit{{"type", "number"}, {"minimum", 0}};
  return {{"rtol", described("How far a number may be off, as a part of the expected one.", limit)},
          {"atol", described("How far a number may be off in any case.", limit)},
          {"ulp", described("How many representable numbers a number may be off.", bytes())},
          {"nan", described("Whether NaN equals NaN; \"equal\" if left out.",
                            {{"enum", {"equal", "differ"}}})},
          {"allowTrivial",
           described("Whether a match that proves nothing may pass: outputs that are all NaN, "
                     "or all zero where different numbers are expected.",
                     {{"type", "boolean"}})}};
}

// When a job is run, and what is expected of it.
Json choice_members() {
  return {
      {"tags", described("Words by which jobs are chosen.", list_of({{"type", "string"}}))},
      {"skip", described("The reason why the job is not run.", text())},
      {"xfail", described("The reason why the job is to differ from its golden files: it passes "
                          "where it does, and fails where it ends in any other way.",
                          text())}};
}

Json job_options() {
  Json options = description_options();
  Json expect = if_then({{"type", "object"}}, {{"additionalProperties", text()}}, text());
  options["id"] = described("Names the job in reports, and its folder below --out.", text());
  options["expect"] = described(
      "The .npy file of the expected output, or one for each output by field name. A raw file is "
      "FILE:raw.",
      expect);
  options["tolerance"] = described("How far results may be off.", object_of(tolerance_members()));
  options.update(choice_members());
  return options;
}

/// A job of a graph names its file, and the files of its inputs and outputs.
Json graph_job() {
  Json options = job_options();
  Json members{{"graph", described("A graph.json, a serialized graph or an ONNX model.", text())}};
  members["bindings"] =
      described("The .npy file of each input, and of outputs that are kept, by name.",
                {{"type", "object"}, {"additionalProperties", refer_to("input_file")}});
  members["dimensions"] = described("The sizes of dimensions that an ONNX model only names.",
                                    {{"type", "object"}, {"additionalProperties", uint()}});
  members["fuse"] =
      described("Make fewer operators of an ONNX model, as --fuse does.", {{"type", "boolean"}});
  for (const char* name : {"$schema", "id", "expect", "tolerance", "tags", "skip", "xfail"})
    members[name] = options[name];
  return without_type(object_of(std::move(members), {"graph"}));
}

/// Jobs that leave their type to the defaults have the fields of that operator.
Json jobs_of_default_type(const Names& operators, const Surroundings& around) {
  Json choices = Json::array();
  for (const std::string& name : operators) {
    const Json jobs{{"items", if_then(has_type(around), true, refer_to(name))}};
    choices.push_back(if_then({{"properties", {{"defaults", is_operator(name, around)}}}},
                              {{"properties", {{"jobs", jobs}}}}));
  }
  const Json has_default{{"properties", {{"defaults", has_type(around)}}}};
  return if_then(has_default, {{"allOf", choices}});
}

}  // namespace

Json description_schema(const Names& operators) {
  const Surroundings around{.options = description_options()};
  Json definitions = shared_definitions(false);
  definitions["input_file"] = input_file();
  define_operators(definitions, operators, around);
  Json schema = titled("A description of a DirectML operator for dmlop", {{"type", "object"}});
  schema["allOf"] = {description_form(operators, around), description_needs(operators, around)};
  schema["definitions"] = std::move(definitions);
  return schema;
}

Json jobs_schema(const Names& operators) {
  const Surroundings around{.options = job_options()};
  Json definitions = shared_definitions(false);
  definitions["input_file"] = input_file();
  define_operators(definitions, operators, around);
  // A whole DxDispatch model may be a job, too.
  const Json is_model{{"required", {"dispatchables"}}};
  const Json is_graph{{"required", {"graph"}}};
  definitions["graph_job"] = graph_job();
  definitions["job"] = if_then(is_graph, refer_to("graph_job"),
                               if_then(is_model, true, description_form(operators, around)));
  definitions["job.needs"] =
      if_then(is_graph, true, if_then(is_model, true, description_needs(operators, around)));
  const Json job = object_like("job");
  Json members{
      {"$schema", around.options["$schema"]},
      {"defaults",
       described(
           "The fields of every job that does not have its own; objects but \"tolerance\" are "
           "completed member by member.",
           job)},
      {"jobs", described("The jobs. They run in any order.", list_of(job))}};
  // What jobs lack, the defaults may have.
  const Json needed{{"items", refer_to("job.needs")}};
  Json file = object_of(std::move(members), {"jobs"});
  file["type"] = {"object", "array"};
  file["items"] = job;
  Json rest = if_then({{"type", "object"}, {"required", {"defaults"}}},
                      jobs_of_default_type(operators, around),
                      {{"items", refer_to("job.needs")}, {"properties", {{"jobs", needed}}}});
  file["allOf"] = Json::array({std::move(rest)});
  Json schema = titled("Jobs of dmlop batch", file);
  schema["definitions"] = std::move(definitions);
  return schema;
}

Json job_schema() {
  Json members{{"$schema", description_options()["$schema"]}};
  members.update(choice_members());
  return titled("A job.json beside a description of dmlop batch", object_of(std::move(members)));
}

Json tolerance_schema() {
  return titled("A tolerance of dmlop: tol.json", object_of(tolerance_members()));
}

}  // namespace dmlop::app::schema
