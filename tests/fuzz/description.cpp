// Any text as an op description: every finding has a place in the text and says something; without
// one all tensors are known, and there is a plan where the operator is implemented.
#include "spec/description.hpp"

#include <fstream>

#include "base/diagnostic.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"

namespace dmlop::test {
namespace {

void require_sound(const Diagnostic& finding, std::size_t lines) {
  require(!finding.message.empty(), "a finding says what is wrong");
  require(finding.line <= lines, "a finding's line is one of the file's");
  require(finding.line == 0 || finding.column > 0, "a finding with a line has a column");
  const std::string text = to_text(finding);
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
  };
  require(std::none_of(text.begin(), text.end(), is_control), "no control character is printed");
}

}  // namespace

void fuzz_description(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  Diagnostics findings;
  auto description = read_description("op.json", text, {}, findings);
  if (description) check_description(*description, findings);
  for (const Diagnostic& finding : findings) require_sound(finding, lines);
  require(description || !findings.empty(), "what cannot be read has a finding");
  if (!description || !findings.empty()) return;
  for (const TensorUse& use : tensors_of(*description)) {
    require(use.desc->data_type && !use.desc->sizes.empty(), "every tensor is known");
    for (const std::uint64_t size : use.desc->sizes) require(size > 0, "every size is at least 1");
  }
  if (find_operator(description->spec->name) == nullptr) return;
  for (const Slot& slot : make_plan(*description).slots)
    require(slot.elements > 0, "a tensor has elements");
}

std::vector<std::string> description_seeds() {
  std::vector<std::string> seeds;
  for (const auto& folder : case_folders()) seeds.push_back(read_file(folder / "op.json"));
  for (const std::string& name : specified_operators())
    seeds.push_back("{\"type\": \"" + name + "\", \"desc\": " + find_spec(name)->example + "}");
  // Every fifth description of the golden data: all operators and all kinds of fields are among
  // them.
  std::ifstream golden(conformance_path("descriptions/golden.jsonl"));
  std::size_t line = 0;
  for (std::string text; std::getline(golden, text); ++line) {
    const std::size_t begin = text.find("\"type\"");
    if (line % 5 == 0 && begin != std::string::npos) seeds.push_back("{" + text.substr(begin));
  }
  return seeds;
}

}  // namespace dmlop::test
