// Random valid descriptions of every operator: the library's output is the slow reference's, whole
// and in parts.
#include <algorithm>

#include "fuzz/target.hpp"
#include "spec/spec.hpp"
#include "sweep.hpp"

namespace dmlop::test {

void fuzz_operators(std::span<const std::byte> bytes) {
  Random random(bytes);
  const RandomOperator& chosen = random.one_of(random_operators());
  check_case(chosen.random_case(random), random);
}

std::vector<std::string> operators_seeds() {
  std::vector<std::string> seeds;
  for (std::size_t i = 0; i < random_operators().size(); ++i) {
    for (const char filler : {'\0', '\1', '\7', '\x3F'})
      seeds.emplace_back(41, filler).front() = static_cast<char>(i);
  }
  return seeds;
}

}  // namespace dmlop::test
