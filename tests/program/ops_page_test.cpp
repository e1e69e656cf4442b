// What users read about an operator: `dmlop ops NAME` and the page of `dmlop ops --html` say all
// that the specs, the differences and the measurements know, and no text becomes markup. tests/html
// opens the page in a browser.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "guide/markup.hpp"
#include "guide/page.hpp"
#include "program.hpp"
#include "spec/differences.hpp"
#include "spec/measurements.hpp"
#include "spec/spec.hpp"

namespace dmlop::test::ops_page_test {
namespace {

using Json = nlohmann::json;

std::vector<const OperatorSpec*> all_specs() {
  std::vector<const OperatorSpec*> specs;
  for (const std::string& name : specified_operators()) specs.push_back(find_spec(name));
  return specs;
}

const std::string& the_page() {
  static const std::string page = operators_page(all_specs(), "1.2.3");
  return page;
}

/// What `dmlop ops NAME` prints.
const std::string& text_of(const std::string& name) {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[name];
  if (text.empty()) text = dmlop_program({"ops", name}).output;
  return text;
}

/// What a browser shows of HTML, with one space between two elements.
std::string shown_text(const std::string& html) {
  static const std::vector<std::pair<std::string, std::string>> entities{
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  std::string text;
  for (std::size_t at = 0; at < html.size();) {
    if (html[at] == '<') {
      const std::size_t end = html.find('>', at);
      REQUIRE(end != std::string::npos);
      text += ' ';
      at = end + 1;
      continue;
    }
    if (html[at] != '&') {
      text += html[at++];
      continue;
    }
    const auto entity = std::ranges::find_if(entities, [&](const auto& one) {
      return html.compare(at, one.first.size(), one.first) == 0;
    });
    REQUIRE(entity != entities.end());
    text += entity->second;
    at += entity->first.size();
  }
  return text;
}

/// The article about an operator, or another view.
std::string article(const std::string& page, const std::string& id) {
  const std::size_t begin = page.find("id=\"" + id + "\">");
  REQUIRE_MESSAGE(begin != std::string::npos, "the page has no " << id);
  return page.substr(begin, page.find("</article>", begin) - begin);
}

/// Every text that the specs, the differences and the measurements have about an operator. Numbers
/// are the shortest texts that begin as they are shown.
std::vector<std::string> known_texts(const OperatorSpec& spec) {
  std::vector<std::string> texts{spec.name, spec.summary, to_text(spec.introduced),
                                 spec.tolerance_reason};
  for (const FieldSpec& field : spec.fields) {
    texts.insert(texts.end(), {field.name, field.text, field.enum_name});
    if (field.optional_when) texts.push_back(field.optional_words());
    if (field.kind != FieldKind::enumeration) continue;
    for (const EnumValue& value : enum_values(field.enum_name)) {
      texts.push_back(value.name);
      if (value.introduced > FeatureLevel{1, 0}) texts.push_back(to_text(value.introduced));
    }
  }
  for (const Rule& rule : spec.rules) texts.insert(texts.end(), {rule.formula.text(), rule.text});
  for (const auto* rows : {&spec.support, &spec.support_directml}) {
    for (const SupportRow& row : *rows) {
      texts.push_back("from " + to_text(row.from));
      texts.insert(texts.end(), row.tensors.begin(), row.tensors.end());
      for (const DataType type : row.types) texts.emplace_back(name_of(type));
      texts.push_back(std::to_string(row.max_dimensions) + " dimensions");
      if (row.when) texts.push_back(row.when->text());
    }
  }
  for (const Difference* row : differences_of(spec.name))
    texts.insert(texts.end(), {row->text, row->reason});
  for (const auto& [type, tolerance] : spec.tolerances)
    texts.insert(texts.end(), {std::string(name_of(type)), to_text(tolerance)});
  if (spec.tolerance_terms) texts.push_back(spec.tolerance_terms->text());
  for (const MeasuredError* error : errors_of(spec.name)) {
    texts.push_back(error->where);
    for (const auto& [device, value] : error->on) {
      texts.push_back(device);
      if (error->measure->name != "tolerance") texts.push_back(std::to_string(value).substr(0, 4));
      texts.push_back(error->measure->unit);
    }
  }
  for (const Speed* row : speeds_of(spec.name)) {
    texts.insert(texts.end(), {row->work, row->run->device, row->run->date, row->run->backend});
    for (const SpeedValue& value : row->values) {
      texts.push_back(value.type);
      if (value.share) texts.push_back(std::to_string(*value.share + 1e-9).substr(0, 4));
      if (value.milliseconds) texts.emplace_back(" ms");
    }
    for (const auto& [peer, number] : row->peers) texts.push_back(peer);
  }
  return texts;
}

/// Numbers of up to three places stand alone or with decimals: 2 for 2.000, 982 for "982.".
bool has_text(const std::string& shown, std::string text) {
  if (std::regex_match(text, std::regex("[0-9]+\\.0*"))) text = text.substr(0, text.find('.'));
  return shown.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("ops: an operator's text, JSON and page say all that is known about it") {
  const Json list = Json::parse(dmlop_program({"ops", "--format", "json"}).output);
  std::map<std::string, std::string> json_of;
  for (const Json& row : list) json_of[row.at("name")] = row.dump();
  std::size_t count = 0;
  for (const OperatorSpec* spec : all_specs()) {
    CAPTURE(spec->name);
    const std::string& text = text_of(spec->name);
    const std::string page = shown_text(article(the_page(), spec->name));
    for (const std::string& known : known_texts(*spec)) {
      CAPTURE(known);
      CHECK(has_text(text, known));
      CHECK(has_text(page, known));
      ++count;
    }
    const Json json = Json::parse(json_of["DML_OPERATOR_" + spec->name]);
    CHECK(json.at("fields").size() == spec->fields.size());
    CHECK(json.at("rules").size() == spec->rules.size());
    CHECK(json.at("support").size() == spec->support.size());
    CHECK(json.at("measuredErrors").size() == errors_of(spec->name).size());
    CHECK(json.at("speed").size() == speeds_of(spec->name).size());
    for (const std::string& shown : {text, page}) {
      CHECK(shown.find("cpu, vulkan, d3d12") != std::string::npos);
      // The example is the last JSON of both.
      const std::size_t begin = shown.find("{\n  \"type\": \"DML_OPERATOR_");
      REQUIRE(begin != std::string::npos);
      const Json example = Json::parse(shown.substr(begin, shown.find("\n}", begin) + 2 - begin));
      CHECK(example == json.at("example"));
    }
  }
  CHECK(count >= 10'000);
}

TEST_CASE("ops: nothing that was not measured is shown as measured") {
  for (const OperatorSpec* spec : all_specs()) {
    CAPTURE(spec->name);
    const std::string& text = text_of(spec->name);
    const std::string page = shown_text(article(the_page(), spec->name));
    for (const std::string& shown : {text, page}) {
      const auto says = [&](const char* what) { return shown.find(what) != std::string::npos; };
      const std::size_t errors = shown.rfind("Largest measured errors");
      const std::string part = shown.substr(errors, shown.find("Speed", errors) - errors);
      CHECK((part.find("CPU") != std::string::npos) == !errors_of(spec->name).empty());
      const bool is_exact = spec->tolerances.empty();
      CHECK(says("None: every device gives the same results, bit for bit.") == is_exact);
      CHECK(says("Not measured; the tests compare") ==
            (!is_exact && errors_of(spec->name).empty()));
      CHECK(says("Not measured. Measure it where it will run") == speeds_of(spec->name).empty());
    }
  }
}

TEST_CASE("ops: the page lists all differences and all measurements") {
  const std::string different = shown_text(article(the_page(), "differences"));
  for (const Difference& row : differences()) {
    CHECK(different.find(row.text) != std::string::npos);
    CHECK(different.find(row.reason) != std::string::npos);
  }
  const std::string measured = shown_text(article(the_page(), "measurements"));
  for (const ErrorMeasure& row : error_measures())
    CHECK(measured.find(row.text) != std::string::npos);
  for (const SpeedRun& run : speed_runs()) {
    for (const std::string& text : {run.device, run.date, run.share_of, run.text, run.peers})
      CHECK(measured.find(text) != std::string::npos);
  }
  for (const Speed& row : speeds()) CHECK(measured.find(row.work) != std::string::npos);
}

TEST_CASE("ops: every link of the page leads somewhere, and no two places have one address") {
  static const std::regex id("\\bid=\"([^\"]*)\""), link("\\bhref=\"([^\"]*)\"");
  const std::string& page = the_page();
  const std::string content =
      page.substr(page.find("<main"), page.find("<script") - page.find("<main"));
  std::set<std::string> ids;
  for (std::sregex_iterator at(content.begin(), content.end(), id), end; at != end; ++at)
    CHECK_MESSAGE(ids.insert((*at)[1]).second, (*at)[1].str());
  std::size_t inner = 0, outer = 0;
  for (std::sregex_iterator at(content.begin(), content.end(), link), end; at != end; ++at) {
    const std::string address = (*at)[1];
    CAPTURE(address);
    if (address.starts_with("#")) {
      CHECK((address == "#" || ids.contains(address.substr(1))));
      ++inner;
    } else {
      CHECK(address.starts_with("https://learn.microsoft.com/"));
      ++outer;
    }
  }
  CHECK(inner >= 177 * 10);
  CHECK(outer == all_specs().size());
}

TEST_CASE("ops: the page needs nothing from elsewhere, and does the same each time") {
  const std::string& page = the_page();
  CHECK(page.starts_with(operators_page_beginning));
  CHECK(page == operators_page(all_specs(), "1.2.3"));
  for (const char* request : {" src=", "url(", "@import", "<iframe", "fetch(", "XMLHttpRequest",
                              "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                              "eval(", "new Function", "@CONTENT@", "@VERSION@"}) {
    CAPTURE(request);
    CHECK(page.find(request) == std::string::npos);
  }
  CHECK(page.find("content=\"default-src 'none';") != std::string::npos);
  CHECK(page.size() < 2'000'000);
}

TEST_CASE("ops: no text of a spec becomes markup, and none is hidden") {
  const std::string hostile = "</article><script>alert(1)</script>\" onclick='x' & \u202e@CONTENT@";
  OperatorSpec spec = *find_spec("PADDING");
  spec.name = spec.summary = spec.tolerance_reason = hostile;
  spec.source = "javascript:alert(1)";
  spec.rules.front().text = hostile;
  spec.support.front().tensors = {hostile};
  for (FieldSpec& field : spec.fields) {
    field.name = field.text = hostile;
    if (!field.count_field.empty()) field.count_field = hostile;
  }
  const std::string page = operators_page({&spec}, hostile);
  const std::string content = page.substr(0, page.rfind("<script>"));
  for (const char* markup : {"<script", "\" onclick", "javascript:", "onclick='", "\u202e"}) {
    CAPTURE(markup);
    CHECK(content.find(markup) == std::string::npos);
  }
  CHECK(content.find("&lt;/article&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onclick=&#39;x"
                     "&#39; &amp; \\u202e@CONTENT@") != std::string::npos);

  Markup markup;
  markup.add_link("https://x/?a=\"><b>", "<b>");
  markup.add_link("javascript:alert(1)", "text");
  const std::string with_control =
      "a\x01"
      "b\nc\xFF";
  markup.add({std::string_view(with_control)});
  CHECK(markup.text() ==
        "<a rel=\"noreferrer\" href=\"https://x/?a=&quot;&gt;&lt;b&gt;\">&lt;b&gt;</a>text"
        "a\\u0001b\nc\\xff");
}

TEST_CASE("ops --html writes the page, and replaces only an earlier one") {
  const Folder folder;
  const auto written =
      dmlop_program({"ops", "--html", "operators.html"}, {.folder = folder.path()});
  CHECK(written.code == 0);
  CHECK(written.output + written.error == "");
  const std::string page = folder.read("operators.html");
  const std::string version = dmlop_program({"--version"}).output.substr(6);  // after "dmlop "
  CHECK(page == operators_page(all_specs(), version.substr(0, version.find('\n'))));
  CHECK(dmlop_program({"ops", "--html", "-"}).output == page);

  folder.write("operators.html", page.substr(0, page.size() / 2));
  CHECK(dmlop_program({"ops", "--html", "operators.html"}, {.folder = folder.path()}).code == 0);
  CHECK(folder.read("operators.html") == page);

  for (const char* other : {"<!DOCTYPE html>\n<html>", "notes"}) {
    folder.write("other.html", other);
    const auto refused = dmlop_program({"ops", "--html", "other.html"}, {.folder = folder.path()});
    CHECK(refused.code == 2);
    CHECK(refused.error.find("--html other.html is a file with something else") !=
          std::string::npos);
    CHECK(refused.error.find("name another file, or remove this one") != std::string::npos);
    CHECK(folder.read("other.html") == other);
  }
  const auto nowhere =
      dmlop_program({"ops", "--html", "no/such/x.html"}, {.folder = folder.path()});
  CHECK(nowhere.code == 6);
  CHECK(nowhere.error.find("no/such") != std::string::npos);
  CHECK(folder.list() == "operators.html other.html");
}

TEST_CASE("ops: options about all operators stand alone, and say what to leave out") {
  struct Case {
    std::vector<std::string> options;
    const char* message;
  };
  for (const Case& a_case : {
           Case{{"--errors", "--speed"}, "--errors and --speed: give one of them at a time"},
           Case{{"GEMM", "--speed"}, "--speed is about all operators; dmlop ops GEMM shows those"},
           Case{{"GEMM", "--html", "x.html"}, "--html is about all operators; dmlop ops GEMM"},
           Case{{"--html", "x.html", "--feature-level", "2_0"}, "leave out --feature-level"},
           Case{{"--errors", "--example"}, "leave out --example"},
           Case{{"--html", "x.html", "--format", "json"}, "leave out --format"},
       }) {
    const Folder folder;
    std::vector<std::string> command = a_case.options;
    command.insert(command.begin(), "ops");
    const auto result = dmlop_program(command, {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(result.code == 2);
    CHECK(result.error.find(a_case.message) != std::string::npos);
    CHECK(folder.list() == "");
  }
}

TEST_CASE("ops lists errors and speeds as text and as JSON") {
  const Json errors = Json::parse(dmlop_program({"ops", "--errors", "--format", "json"}).output);
  const std::string errors_text = dmlop_program({"ops", "--errors"}).output;
  REQUIRE(errors.size() == measured_errors().size());
  for (const Json& row : errors) {
    CHECK(errors_text.find("\n" + row.at("operator").get<std::string>() + "\n") !=
          std::string::npos);
    CHECK(row.at("largest").size() >= 1);
  }
  const Json rows = Json::parse(dmlop_program({"ops", "--speed", "--format", "json"}).output);
  const std::string text = dmlop_program({"ops", "--speed"}).output;
  REQUIRE(rows.size() == speeds().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    CHECK(text.find("  " + row.at("operator").get<std::string>() + ", " +
                    row.at("work").get<std::string>() + ": ") != std::string::npos);
    CHECK(row.at("date") == speeds()[i].run->date);
    CHECK(row.at("values").size() == speeds()[i].values.size());
  }
}

}  // namespace dmlop::test::ops_page_test
