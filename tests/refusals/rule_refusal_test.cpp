// Every rule of every operator refuses something. For each rule, a small mistake in a valid
// description makes one that breaks only this rule. The messages are in data/refusal_messages.txt;
// DMLOP_UPDATE_GOLDEN=1 writes it again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/text.hpp"
#include "described.hpp"
#include "folder.hpp"
#include "mending.hpp"
#include "mutation.hpp"
#include "paths.hpp"
#include "spec/rule_checker.hpp"
#include "spec/tensor_checker.hpp"

namespace dmlop::rule_refusal_test {
namespace {

using Json = nlohmann::ordered_json;

using dmlop::Judge;
using dmlop::OperatorSpec;
using Json = nlohmann::ordered_json;
using dmlop::test::Mutation;

/// A rule that no mutation breaks alone, and why.
struct Exception {
  const char* rule;  // "OPERATOR: rule"
  const char* reason;
};

constexpr Exception exceptions[] = {
    {"", ""},
#include "rule_refusal_exceptions.inc"
};

bool is_exception(const std::string& rule) {
  return std::any_of(std::begin(exceptions), std::end(exceptions),
                     [&](const Exception& exception) { return rule == exception.rule; });
}

/// One finding and the rule it is about.
struct Broken {
  std::size_t rule;
  dmlop::Diagnostic finding;
};

/// The rule that the only finding about a description is about, if it is about a rule.
std::optional<Broken> only_broken_rule(const std::string& name, const Json& desc) {
  dmlop::test::Checked checked = dmlop::test::check_desc(name, desc);
  if (!checked.description) return std::nullopt;
  dmlop::Diagnostics found = checked.diagnostics;
  const auto& warnings = checked.description->warnings;
  found.insert(found.end(), warnings.begin(), warnings.end());
  if (found.size() != 1) return std::nullopt;
  // The same again, rule by rule.
  const Json json{{"type", name}, {"desc", desc}};
  dmlop::Diagnostics findings;
  auto description = dmlop::read_description("op.json", json.dump(), std::nullopt, findings);
  if (!description || !findings.empty()) return std::nullopt;
  dmlop::RuleChecker checker(*description, Judge::page, findings, findings);
  dmlop::TensorChecker tensors(*description, findings);
  for (const dmlop::TensorUse& use : tensors_of(*description)) tensors.check_dimension_count(use);
  checker.infer_counts();
  checker.check_array_lengths();
  for (std::size_t i = 0; i < description->spec->rules.size(); ++i) {
    if (!findings.empty()) return std::nullopt;  // about an array's length
    checker.apply(description->spec->rules[i]);
    if (findings.empty()) {
      checker.check_array_lengths();
      continue;
    }
    if (findings.front().message != found.front().message) return std::nullopt;
    return Broken{i, found.front()};
  }
  return std::nullopt;
}

/// What is written of one rule in the file of messages.
struct Entry {
  std::string mutation;
  dmlop::Diagnostic finding;
  Json desc;
};

class Search {
 public:
  explicit Search(const OperatorSpec& spec)
      : spec_(spec), entries_(spec.rules.size()), donors_(dmlop::test::golden_descs_of(spec.name)) {
    for (std::size_t i = 0; i < spec.rules.size(); ++i) {
      if (is_exception(spec.name + ": " + spec.rules[i].formula.text())) --missing_;
    }
    missing_ += spec.rules.size();
    const std::vector<Json> bases = make_bases();
    for (const Json& base : bases) try_all(dmlop::test::single_mutations(spec_, base, donors_));
    for (const Json& base : bases) try_all(dmlop::test::shared_mutations(spec_, base));
  }

  std::optional<Entry>& entry(std::size_t rule) { return entries_[rule]; }

 private:
  // The example and the shortest descriptions that ran and have something new, each without what
  // follows from the rest and as it is.
  std::vector<Json> make_bases() const {
    constexpr std::size_t most = 32;
    std::vector<Json> whole{Json::parse(spec_.example)};
    std::set<std::string> traits;
    for (const Json* desc : donors_) {
      const std::size_t before = traits.size();
      collect_traits(*desc, traits);
      if (traits.size() > before && whole.size() < most) whole.push_back(*desc);
    }
    std::vector<Json> bases;
    for (const Json& desc : whole) {
      const Json shorter = dmlop::test::with_outputs_left_out(spec_, desc);
      if (shorter != desc && dmlop::test::check_desc(spec_.name, shorter).diagnostics.empty())
        bases.push_back(shorter);
    }
    bases.insert(bases.end(), whole.begin(), whole.end());
    return bases;
  }

  void collect_traits(const Json& desc, std::set<std::string>& traits) const {
    for (const auto& [name, value] : desc.items()) {
      const dmlop::FieldSpec& field = *spec_.find_field(name);
      std::string trait = name;
      if (field.kind == dmlop::FieldKind::enumeration || field.kind == dmlop::FieldKind::boolean)
        trait += value.dump();
      if (value.is_object() && value.contains("Sizes"))
        trait += std::to_string(value.at("Sizes").size());
      traits.insert(trait);
      if (value.is_object() && value.contains("DataType"))
        traits.insert(name + value.at("DataType").dump());
    }
  }

  void try_all(const std::vector<Mutation>& mutations) {
    for (const Mutation& mutation : mutations) {
      if (missing_ == 0) return;
      auto broken = only_broken_rule(spec_.name, mutation.desc);
      if (!broken || entries_[broken->rule]) continue;
      entries_[broken->rule] = Entry{mutation.words, std::move(broken->finding), mutation.desc};
      --missing_;
    }
  }

  const OperatorSpec& spec_;
  std::vector<std::optional<Entry>> entries_;  // by rule
  std::vector<const Json*> donors_;
  std::size_t missing_ = 0;
};

std::string text_of(const std::string& rule, const Entry& entry) {
  std::string text = "rule      " + rule + "\nmistake   " + entry.mutation + "\nat        " +
                     entry.finding.pointer + "\nmessage   " + entry.finding.message + "\n";
  if (!entry.finding.rule.empty()) text += "  rule:   " + entry.finding.rule + "\n";
  if (!entry.finding.note.empty()) text += "  note:   " + entry.finding.note + "\n";
  if (!entry.finding.suggestion.empty())
    text += "  help:   " + entry.finding.suggestion.text() + "\n";
  return text;
}

// What users read: the suggestion that was tried out. Whatever it tells to write works.
void mend(const std::string& name, Entry& entry) {
  const dmlop::test::Mended checked = dmlop::test::check_and_mend_desc(name, entry.desc);
  if (checked.diagnostics.empty()) return;  // a warning, as DirectML alone refuses it
  REQUIRE(checked.diagnostics.size() == 1);
  entry.finding = checked.diagnostics.front();
  CAPTURE(to_text(entry.finding));
  if (!entry.finding.fix.empty()) CHECK(dmlop::test::mends(checked, entry.finding));
}

}  // namespace

TEST_CASE("every rule refuses a mistake on its own, in words that are known") {
  std::string messages;
  std::set<std::string> titles{""};
  for (const std::string& name : dmlop::specified_operators()) {
    const OperatorSpec& spec = *dmlop::find_spec(name);
    Search search(spec);
    messages += "=== " + name + "\n\n";
    for (std::size_t i = 0; i < spec.rules.size(); ++i) {
      const std::string rule = spec.rules[i].formula.text();
      const std::string title = name + ": " + rule;
      CAPTURE(title);
      titles.insert(title);
      CHECK_MESSAGE(search.entry(i).has_value() != is_exception(title),
                    "a rule without a refusal, or an exception that is none");
      if (!search.entry(i)) continue;
      mend(name, *search.entry(i));
      messages += text_of(rule, *search.entry(i)) + "\n";
      CAPTURE(messages.substr(messages.rfind("rule      ")));
      const auto& finding = search.entry(i)->finding;
      // What DirectML alone refuses is a warning.
      CHECK(
          (!finding.suggestion.empty() || finding.note.ends_with("DirectML 1.15.4 refuses this.")));
    }
  }
  for (const Exception& exception : exceptions) {
    CAPTURE(exception.rule);
    CHECK(titles.contains(exception.rule));
  }
  const std::string path = test::test_data_path("refusal_messages.txt");
  if (std::getenv("DMLOP_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << messages;
  CHECK(messages == dmlop::test::read_file(path));
}

}  // namespace dmlop::rule_refusal_test
