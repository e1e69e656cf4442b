// Any bytes as the memory of an application with a DML_OPERATOR_DESC at its beginning. Words with a
// mark point into them; all others are what they are.
#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/target.hpp"
#include "layer/explain.hpp"
#include "ops/operator.hpp"
#include "struct_builder.hpp"

namespace dmlop::test {

void fuzz_structs(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> memory(std::max<std::size_t>(bytes.size() / 8, 2));
  if (!bytes.empty())
    std::memcpy(memory.data(), bytes.data(), std::min(bytes.size(), 8 * memory.size()));
  const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  for (std::uint64_t& word : memory) {
    constexpr std::uint64_t offset_bits = 0xFFFF;
    if (word >> 56 == StructBuilder::mark >> 56) word = begin + (word & offset_bits);
  }
  Diagnostics findings;
  const auto read = layer::read_operator(begin, findings);
  require(read.has_value() == findings.empty(), "what has no findings is read, and nothing else");
  layer::Refusal refusal{.call = "CreateOperator", .findings = findings};
  if (read) layer::explain_operator(*read, newest_feature_level, refusal);
  const std::string text = layer::text_of(refusal);
  require(text.starts_with("CreateOperator: ") && text.ends_with('\n'), "a report has lines");
}

std::vector<std::string> structs_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& name : specified_operators()) {
    Diagnostics findings;
    auto description = read_description(
        "", "{\"type\": \"" + name + "\", \"desc\": " + find_spec(name)->example + "}", {},
        findings);
    check_description(*description, findings);
    StructBuilder builder;
    seeds.push_back(builder.relocatable(builder.build(*description)));
  }
  return seeds;
}

}  // namespace dmlop::test
