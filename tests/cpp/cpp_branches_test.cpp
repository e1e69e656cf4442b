// Chains of #if, #ifdef, #ifndef, #elif and #else that the text itself decides.
#include <doctest/doctest.h>

#include <vector>

#include "cpp_text.hpp"

namespace dmlop::test::cpp_branches_test {
namespace {

enum class Truth { no, yes, unknown };

/// The line that begins a branch, and what its condition is.
struct Line {
  std::string text;
  Truth truth;
};
using Chain = std::vector<Line>;

/// All chains of up to `longest` branches that begin with one of some lines.
std::vector<Chain> chains_of(const std::vector<Line>& first, const std::vector<Line>& next,
                             std::size_t longest) {
  std::vector<Chain> open, all;
  for (const Line& line : first) open.push_back({line});
  while (!open.empty()) {
    std::vector<Chain> longer;
    for (const Chain& chain : open) {
      all.push_back(chain);
      if (chain.size() == longest) continue;
      all.push_back(chain);
      all.back().push_back({"#else", Truth::yes});
      for (const Line& line : next) {
        longer.push_back(chain);
        longer.back().push_back(line);
      }
    }
    open = longer;
  }
  return all;
}

/// The index of the branch that counts, the chain's size if none does, or nothing if a condition is
/// not known.
std::optional<std::size_t> taken(const Chain& chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (chain[i].truth == Truth::unknown) return std::nullopt;
    if (chain[i].truth == Truth::yes) return i;
  }
  return chain.size();
}

/// A chain whose branches have elements of an array: 10, 11, 12 and 13.
std::string text_of_chain(const Chain& chain, std::size_t first_element) {
  std::string text;
  for (std::size_t i = 0; i < chain.size(); ++i)
    text += chain[i].text + "\n" + std::to_string(first_element + i) + ",\n";
  return text + "#endif\n";
}

const char* const macros = "#define YES 1\n#undef NO\n#define ZERO 0\n";

MadeOfCpp make_axes(const std::string& elements) {
  return make(macros + ("UINT axes[] = {1,\n" + elements) +
              "2};\nDML_REDUCE_OPERATOR_DESC desc = {DML_REDUCE_FUNCTION_SUM, nullptr, nullptr, "
              "ARRAYSIZE(axes), axes};");
}

void check_axes(const std::string& elements, const std::vector<std::size_t>& expected) {
  const MadeOfCpp made = make_axes(elements);
  const bool is_right = made.findings.empty() && made.desc.at("Axes") == expected;
  if (is_right) return;
  CAPTURE(elements);
  CAPTURE(made.findings);
  CHECK(made.desc.dump() == nlohmann::ordered_json(expected).dump());
}

const std::vector<Line> plain_first{{"#if 0", Truth::no}, {"#if 1", Truth::yes}};
const std::vector<Line> plain_next{{"#elif 0", Truth::no}, {"#elif 1", Truth::yes}};

}  // namespace

TEST_CASE("from C++: of a chain of #if, the first branch whose condition holds counts") {
  std::vector<Line> first = plain_first, next = plain_next;
  for (const auto& [condition, truth] : {std::pair("YES", Truth::yes),
                                         {"ZERO", Truth::no},
                                         {"!0", Truth::yes},
                                         {"!YES", Truth::no},
                                         {"defined(YES)", Truth::yes},
                                         {"!defined NO", Truth::yes},
                                         {"defined(NO)", Truth::no},
                                         {"OTHER", Truth::unknown}}) {
    first.push_back({std::string("#if ") + condition, truth});
    next.push_back({std::string("#elif ") + condition, truth});
  }
  for (const auto& [name, truth] : {std::pair("YES", Truth::yes),
                                    {"ZERO", Truth::yes},
                                    {"NO", Truth::no},
                                    {"OTHER", Truth::unknown}}) {
    const Truth opposite = truth == Truth::yes  ? Truth::no
                           : truth == Truth::no ? Truth::yes
                                                : Truth::unknown;
    first.push_back({std::string("#ifdef ") + name, truth});
    first.push_back({std::string("#ifndef ") + name, opposite});
  }
  // Every spelling in chains of three, and the plain ones in chains of four.
  auto chains = chains_of(first, next, 3);
  for (const Chain& chain : chains_of(first, plain_next, 4)) {
    if (chain.size() == 4) chains.push_back(chain);
  }
  std::size_t decided = 0, undecided = 0;
  for (const Chain& chain : chains) {
    const std::string text = text_of_chain(chain, 10);
    const auto branch = taken(chain);
    if (!branch) {
      if (make_axes(text).findings.empty()) FAIL_CHECK("it is not refused:\n", text);
      ++undecided;
      continue;
    }
    std::vector<std::size_t> expected{1, 2};
    if (*branch < chain.size()) expected.insert(expected.begin() + 1, 10 + *branch);
    check_axes(text, expected);
    ++decided;
  }
  CHECK(decided > 1'500);
  CHECK(undecided > 300);
}

TEST_CASE("from C++: a chain of #if inside each branch of another one") {
  const auto chains = chains_of(plain_first, plain_next, 3);
  std::size_t count = 0;
  for (const Chain& outer : chains) {
    for (std::size_t place = 0; place < outer.size(); ++place) {
      for (const Chain& inner : chains) {
        std::string text;
        for (std::size_t i = 0; i < outer.size(); ++i) {
          text += outer[i].text + "\n" + std::to_string(10 + i) + ",\n";
          if (i == place) text += text_of_chain(inner, 20) + "30,\n";
        }
        std::vector<std::size_t> expected{1};
        const std::size_t outer_taken = *taken(outer), inner_taken = *taken(inner);
        if (outer_taken < outer.size()) expected.push_back(10 + outer_taken);
        if (outer_taken == place && inner_taken < inner.size())
          expected.push_back(20 + inner_taken);
        if (outer_taken == place) expected.push_back(30);
        expected.push_back(2);
        check_axes(text + "#endif\n", expected);
        ++count;
      }
    }
  }
  CHECK(count == 1'000);
}

}  // namespace dmlop::test::cpp_branches_test
