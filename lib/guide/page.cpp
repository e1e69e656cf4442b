#include "guide/page.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "guide/markup.hpp"
#include "guide/words.hpp"
#include "pages/templates.hpp"
#include "spec/differences.hpp"

namespace dmlop {
namespace {

using Operators = std::vector<const OperatorSpec*>;

/// A part of an operator, which can be linked: #PADDING/fields.
struct Part {
  std::string_view name;
  std::string_view link;  // in the row of links at the top
  std::string_view title;
  void (*add)(Markup& page, const OperatorSpec& spec);
};

void add_operator_links(Markup& page, const std::vector<std::string>& names) {
  bool is_first = true;
  for (const std::string& name : names) {
    if (!is_first) page.add({", "});
    is_first = false;
    page.add({"<a href=\"#", name, "\">", name, "</a>"});
  }
}

// --- the parts of an operator

void add_fact(Markup& page, std::string_view name, std::string_view value) {
  page.add({"<div><dt>", name, "</dt><dd>", value, "</dd></div>\n"});
}

void add_head(Markup& page, const OperatorSpec& spec, const Family& family) {
  page.add({"<p class=\"crumb\"><a href=\"#\">Operators</a> / <a href=\"#family/", family.name,
            "\">", family.title, "</a></p>\n<h2><span class=\"prefix\">DML_OPERATOR_</span>",
            "<wbr><span class=\"own\">", spec.name, "</span></h2>\n<p class=\"summary\">",
            spec.summary, "</p>\n<dl class=\"facts\">\n"});
  add_fact(page, "Feature level", "from " + to_text(spec.introduced));
  add_fact(page, "Runs on", join(places()));
  add_fact(page, "In place", spec.in_place ? "an output may be its input's buffer" : "no");
  if (const auto value = operator_value(spec.name))
    add_fact(page, "DML_OPERATOR_TYPE", std::to_string(*value));
  page.add({"<div><dt>Struct</dt><dd><code class=\"struct\">", struct_name(spec),
            "</code></dd></div>\n"});
  const auto aliases = aliases_of(spec.name);
  if (!aliases.empty())
    page.add({"<div><dt>Alias</dt><dd class=\"alias\">", join(aliases), "</dd></div>\n"});
  const auto related = related_operators(spec.name);
  if (!related.empty()) {
    page.add({"<div><dt>See also</dt><dd>"});
    add_operator_links(page, related);
    page.add({"</dd></div>\n"});
  }
  page.add({"<div><dt>Documentation</dt><dd>"});
  page.add_link(spec.source, "DirectML's page");
  page.add({"</dd></div>\n</dl>\n"});
}

void add_field(Markup& page, const OperatorSpec& spec, const FieldSpec& field) {
  page.add({"<div class=\"field\" id=\"", spec.name, "/", field.name, "\"><dt><code>", field.name,
            "</code> <span class=\"kind\">", kind_text(field), "</span></dt><dd>", field.text});
  const auto values = value_texts(spec, field);
  if (!values.empty()) {
    page.add({"\n<ul class=\"values\">"});
    for (const std::string& value : values) page.add({"<li><code>", value, "</code></li>"});
    page.add({"</ul>"});
  }
  if (field.optional_when)
    page.add({"\n<p>May be left out where <code>", field.optional_words(), "</code>.</p>"});
  page.add({"</dd></div>\n"});
}

void add_fields(Markup& page, const OperatorSpec& spec) {
  page.add({"<dl class=\"fields\">\n"});
  for (const FieldSpec& field : spec.fields) add_field(page, spec, field);
  page.add({"</dl>\n"});
}

void add_rules(Markup& page, const OperatorSpec& spec) {
  if (spec.rules.empty()) {
    page.add({"<p>None.</p>\n"});
    return;
  }
  page.add({"<ul class=\"rules\">\n"});
  for (const Rule& rule : spec.rules) {
    page.add({"<li><code>", rule.formula.text(), "</code>"});
    if (!rule.text.empty()) page.add({"<p>", rule.text, "</p>"});
    const std::string authority = authority_text(rule);
    if (!authority.empty()) page.add({"<p class=\"authority\">", authority, "</p>"});
    page.add({"</li>\n"});
  }
  page.add({"</ul>\n"});
}

void add_support_rows(Markup& page, const std::vector<SupportRow>& rows) {
  page.add({"<ul class=\"support\">\n"});
  for (const SupportRow& row : rows) {
    page.add({"<li><p class=\"level\">from ", to_text(row.from), "</p><div><p class=\"tensors\">",
              join(row.tensors), "</p>"});
    if (row.when) page.add({"<p>where <code>", row.when->text(), "</code></p>"});
    page.add({"<p>", dimension_range(row), " dimensions</p><p class=\"types\">"});
    for (const std::string& type : type_names(row)) page.add({"<code>", type, "</code> "});
    page.add({"</p></div></li>\n"});
  }
  page.add({"</ul>\n"});
}

void add_support(Markup& page, const OperatorSpec& spec) {
  add_support_rows(page, spec.support);
  if (spec.support_directml.empty()) return;
  page.add({"<h4>What DirectML 1.15.4 accepts instead</h4>\n"});
  add_support_rows(page, spec.support_directml);
}

void add_difference(Markup& page, const Difference& row, std::string_view but_for) {
  page.add({"<li><p>", row.text, "</p><p class=\"why\">Why: ", row.reason, "</p>"});
  std::vector<std::string> others = row.operators;
  std::erase(others, but_for);
  if (!others.empty()) {
    if (but_for.empty()) {
      page.add({"<p class=\"why\">Operators: "});
    } else {
      page.add({"<p class=\"why\">Also: "});
    }
    add_operator_links(page, others);
    page.add({"</p>"});
  } else if (row.operators.empty()) {
    page.add({"<p class=\"why\">Operators: all</p>"});
  }
  page.add({"</li>\n"});
}

void add_differences(Markup& page, const OperatorSpec& spec) {
  const auto rows = differences_of(spec.name);
  if (!rows.empty()) {
    page.add({"<ul class=\"differences\">\n"});
    for (const Difference* row : rows) add_difference(page, *row, spec.name);
    page.add({"</ul>\n"});
  }
  const auto of_all = static_cast<std::uint64_t>(
      std::ranges::count_if(differences(), [](const auto& row) { return row.operators.empty(); }));
  page.add({"<p>", rows.empty() ? std::string_view("None of its own.") : std::string_view(),
            " <a href=\"#differences\">", counted(of_all, "difference"),
            " of all operators</a></p>\n"});
}

void add_tolerances(Markup& page, const OperatorSpec& spec) {
  if (spec.tolerances.empty()) {
    page.add({"<p>", to_text(Tolerance{}), "</p>\n"});
  } else {
    page.add({"<table><tbody>\n"});
    for (const auto& [type, tolerance] : spec.tolerances)
      page.add({"<tr><th scope=\"row\">", name_of(type), "</th><td>", to_text(tolerance),
                "</td></tr>\n"});
    page.add({"</tbody></table>\n"});
  }
  if (spec.tolerance_terms) page.add({"<p>", terms_text(spec), "</p>\n"});
  if (!spec.tolerance_reason.empty()) page.add({"<p>", spec.tolerance_reason, "</p>\n"});
}

void add_error_table(Markup& page, const std::vector<const MeasuredError*>& errors,
                     bool with_operator) {
  page.add({"<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"});
  if (with_operator) page.add({"<th>operator</th>"});
  page.add({"<th>type</th>"});
  for (const MeasuredDevice& device : measured_devices()) page.add({"<th>", device.name, "</th>"});
  page.add({"</tr></thead><tbody>\n"});
  for (const MeasuredError* error : errors) {
    page.add({"<tr>"});
    if (with_operator)
      page.add({"<td><a href=\"#", error->operator_name, "\">", error->operator_name, "</a></td>"});
    page.add({"<th scope=\"row\">", type_text(*error), "</th>"});
    for (const MeasuredDevice& device : measured_devices()) {
      const auto value = error->find(device.name);
      page.add({"<td>", value ? error_text(*error, *value) : "", "</td>"});
    }
    page.add({"</tr>\n"});
  }
  page.add({"</tbody></table></div>\n"});
}

void add_errors(Markup& page, const OperatorSpec& spec) {
  const auto errors = errors_of(spec.name);
  if (errors.empty()) {
    page.add({"<p>", unmeasured_text(spec), "</p>\n"});
    return;
  }
  add_error_table(page, errors, false);
  page.add({"<p><a href=\"#measurements\">How this was measured</a></p>\n"});
}

// --- speed

void add_speed_table(Markup& page, const std::vector<const Speed*>& rows, bool with_operator) {
  const SpeedColumns columns = columns_of(rows);
  page.add({"<div class=\"scroll\" tabindex=\"0\"><table class=\"speed\"><thead><tr>"});
  if (with_operator) page.add({"<th>operator</th>"});
  page.add({"<th>work</th>"});
  for (const std::string& type : columns.types) page.add({"<th>", type, "</th>"});
  for (const std::string& peer : columns.peers) page.add({"<th class=\"peer\">", peer, "</th>"});
  page.add({"</tr></thead><tbody>\n"});
  for (const Speed* row : rows) {
    page.add({"<tr>"});
    if (with_operator)
      page.add({"<td><a href=\"#", row->operator_name, "\">", row->operator_name, "</a></td>"});
    page.add({"<th scope=\"row\">", row->work, "</th>"});
    for (const std::string& type : columns.types)
      page.add({"<td>", type_cell(*row, type), "</td>"});
    for (const std::string& peer : columns.peers)
      page.add({"<td class=\"peer\">", peer_cell(*row, peer), "</td>"});
    page.add({"</tr>\n"});
  }
  page.add({"</tbody></table></div>\n"});
}

void add_run(Markup& page, const SpeedRun& run, bool in_full) {
  page.add({"<p class=\"run\"><b>", run.device, "</b>, ", run.backend, ", ", run.date});
  if (!run.share_of.empty()) page.add({"; ", share_text(run)});
  page.add({".</p>\n"});
  if (!in_full) return;
  page.add({"<p>", run.text, "</p>\n"});
  if (!run.peers.empty()) page.add({"<p>Other programs: ", run.peers, "</p>\n"});
}

void add_speed(Markup& page, const OperatorSpec& spec) {
  const auto rows = speeds_of(spec.name);
  if (rows.empty()) {
    page.add(
        {"<p>Not measured. Measure it where it will run: <code>dmlop bench op.json</code></p>\n"});
    return;
  }
  for (const SpeedRun& run : speed_runs()) {
    const auto of_run = speeds_of_run(run, rows);
    if (of_run.empty()) continue;
    add_run(page, run, false);
    add_speed_table(page, of_run, false);
  }
  page.add({"<p><a href=\"#measurements\">How this was measured</a></p>\n"});
}

void add_example(Markup& page, const OperatorSpec& spec) {
  page.add(
      {"<div class=\"copied\"><pre tabindex=\"0\"><code>", example_text(spec),
       "</code></pre></div>\n<p>Save it as op.json. <code>dmlop check op.json</code> checks it, "
       "and <code>dmlop bench op.json</code> runs it on made-up inputs. The same with a "
       "comment for each field:</p>\n<div class=\"copied\"><pre tabindex=\"0\"><code>dmlop ops ",
       spec.name,
       " --example &gt; op.json</code></pre></div>\n<p>Or run it without any file:</p>\n"
       "<div class=\"copied\"><pre tabindex=\"0\"><code>dmlop run ",
       spec.name, " --example --random</code></pre></div>\n"});
  const std::string_view sample = sample_of(spec.name, spec.family);
  const bool is_own = sample == lower_case(spec.name);
  page.add({"<p>A complete job with inputs and golden files",
            is_own ? std::string_view(" is ") : std::string_view(", of a related operator, is "),
            "<code>samples/", sample,
            "</code> in the sources and in the folder share/dmlop of an installation. "
            "There:</p>\n<div class=\"copied\"><pre tabindex=\"0\"><code>dmlop run samples/",
            sample, " --expect</code></pre></div>\n"});
}

void add_step(Markup& page, const OperatorSpec* spec, std::string_view direction) {
  if (spec == nullptr) {
    page.add({"<span></span>"});
  } else {
    page.add({"<a rel=\"", direction, "\" href=\"#", spec->name, "\">", spec->name, "</a>"});
  }
}

constexpr std::array parts{
    Part{"fields", "Fields", "Fields", add_fields},
    Part{"rules", "Rules", "Rules", add_rules},
    Part{"levels", "Levels", "Support by feature level", add_support},
    Part{"differences", "Differences", "Differences from DirectML 1.15.4", add_differences},
    Part{"tolerance", "Tolerance", "Tolerance of comparisons", add_tolerances},
    Part{"errors", "Errors", "Largest measured errors", add_errors},
    Part{"speed", "Speed", "Speed", add_speed},
    Part{"example", "Example", "Example", add_example},
};

void add_operator(Markup& page, const Operators& operators, std::size_t i, const Family& family) {
  const OperatorSpec& spec = *operators[i];
  page.add({"<article class=\"view operator\" id=\"", spec.name, "\">\n"});
  add_head(page, spec, family);
  page.add({"<nav class=\"parts\" aria-label=\"Parts\">"});
  for (const Part& part : parts)
    page.add({"<a href=\"#", spec.name, "/", part.name, "\">", part.link, "</a> "});
  page.add({"</nav>\n"});
  for (const Part& part : parts) {
    page.add({"<h3 id=\"", spec.name, "/", part.name, "\">", part.title, "</h3>\n"});
    part.add(page, spec);
  }
  page.add({"<nav class=\"steps\" aria-label=\"Neighbors\">"});
  add_step(page, i == 0 ? nullptr : operators[i - 1], "prev");
  add_step(page, i + 1 == operators.size() ? nullptr : operators[i + 1], "next");
  page.add({"</nav>\n</article>\n"});
}

// --- what is about all operators

/// The operators in the order of their families.
Operators by_family(const Operators& operators) {
  Operators ordered;
  for (const Family& family : families()) {
    std::ranges::copy_if(operators, std::back_inserter(ordered),
                         [&](const OperatorSpec* spec) { return spec->family == family.name; });
  }
  return ordered;
}

const Family& family_named(const std::string& name) {
  return *std::ranges::find(families(), name, &Family::name);
}

void add_index(Markup& page, const Operators& operators) {
  page.add(
      {"<section id=\"index\">\n<p class=\"lead\">", counted(operators.size(), "operator"),
       " of DirectML, all checked and run by dmlop: fields, rules, feature levels, tolerances, "
       "measured errors and speed. <a href=\"#differences\">Differences from DirectML</a>, <a "
       "href=\"#measurements\">measurements</a>.</p>\n<nav class=\"parts\" "
       "aria-label=\"Families\">"});
  for (const Family& family : families()) {
    if (std::ranges::find(operators, family.name, &OperatorSpec::family) != operators.end())
      page.add({"<a href=\"#family/", family.name, "\">", family.title, "</a> "});
  }
  page.add({"</nav>\n"});
  std::string_view family;
  for (const OperatorSpec* spec : operators) {
    if (spec->family != family) {
      if (!family.empty()) page.add({"</ul>\n"});
      family = spec->family;
      page.add({"<h2 id=\"family/", family, "\">", family_named(spec->family).title,
                "</h2>\n<ul class=\"list\">\n"});
    }
    page.add({"<li><a href=\"#", spec->name, "\">", spec->name, "</a> <span class=\"level\">",
              to_text(spec->introduced), "</span><p>", spec->summary, "</p></li>\n"});
  }
  page.add({"</ul>\n</section>\n"});
}

void add_all_differences(Markup& page) {
  page.add(
      {"<article class=\"view\" id=\"differences\">\n<p class=\"crumb\"><a href=\"#\">Operators"
       "</a></p>\n<h2>Differences from DirectML 1.15.4</h2>\n<ul class=\"differences\">\n"});
  for (const bool of_all : {true, false}) {
    for (const Difference& row : differences()) {
      if (row.operators.empty() == of_all) add_difference(page, row, "");
    }
  }
  page.add({"</ul>\n</article>\n"});
}

void add_all_errors(Markup& page) {
  page.add({"<h3>Largest errors</h3>\n<dl class=\"facts wide\">\n"});
  for (const ErrorMeasure& measure : error_measures()) add_fact(page, measure.unit, measure.text);
  for (const MeasuredDevice& device : measured_devices()) add_fact(page, device.name, device.text);
  page.add({"</dl>\n"});
  std::vector<const MeasuredError*> all;
  for (const MeasuredError& error : measured_errors()) all.push_back(&error);
  add_error_table(page, all, true);
}

void add_measurements(Markup& page) {
  page.add(
      {"<article class=\"view\" id=\"measurements\">\n<p class=\"crumb\"><a href=\"#\">Operators"
       "</a></p>\n<h2>Measurements</h2>\n"});
  add_all_errors(page);
  page.add({"<h3>Speed</h3>\n"});
  std::vector<const Speed*> all;
  for (const Speed& row : speeds()) all.push_back(&row);
  for (const SpeedRun& run : speed_runs()) {
    add_run(page, run, true);
    add_speed_table(page, speeds_of_run(run, all), true);
  }
  page.add({"</article>\n"});
}

std::string with_parts(
    std::string_view text,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string result(text);
  for (const auto& [placeholder, value] : values) {
    for (std::size_t at = 0; (at = result.find(placeholder, at)) != std::string::npos;
         at += value.size())
      result.replace(at, placeholder.size(), value);
  }
  return result;
}

}  // namespace

std::string operators_page(const std::vector<const OperatorSpec*>& operators,
                           std::string_view version) {
  const Operators ordered = by_family(operators);
  Markup content, shown_version;
  add_index(content, ordered);
  for (std::size_t i = 0; i < ordered.size(); ++i)
    add_operator(content, ordered, i, family_named(ordered[i]->family));
  add_all_differences(content);
  add_measurements(content);
  shown_version.add({version});
  return with_parts(operators_page_template(),
                    {{"@VERSION@", shown_version.text()}, {"@CONTENT@", content.text()}});
}

}  // namespace dmlop
