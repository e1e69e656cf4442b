// Runs every fuzz target with its seeds, and with all inputs that once broke it
// (fuzz/found/TARGET/).
#include <doctest/doctest.h>

#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "sweep.hpp"

namespace dmlop::test::fuzz_test {
namespace {

void run(const FuzzTarget& target, const std::string& bytes) {
  target.run(std::as_bytes(std::span(bytes)));
}

// Files take long under Wine, and what reads them is the same on every system.
#ifdef _WIN32
constexpr int repeats = 30, seeds_one_in = 5;
#else
constexpr int repeats = 300, seeds_one_in = 1;
#endif

TEST_CASE("fuzz: every target takes its seeds") {
  for (const FuzzTarget& target : fuzz_targets()) {
    CAPTURE(target.name);
    const auto seeds = target.seeds();
    CHECK(!seeds.empty());
    for (std::size_t i = 0; i < seeds.size(); i += seeds_one_in)
      CHECK_NOTHROW(run(target, seeds[i]));
  }
}

TEST_CASE("fuzz: what was found once does not come back") {
  for (const FuzzTarget& target : fuzz_targets()) {
    const std::filesystem::path folder = source_path("tests/fuzz/found/") + target.name;
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& path : files_below(folder, "")) {
      CAPTURE(path);
      CHECK_NOTHROW(run(target, read_file(path)));
    }
  }
}

TEST_CASE("fuzz: seeds cut off, doubled and with every bit of their beginning turned") {
  for (const FuzzTarget& target : fuzz_targets()) {
    CAPTURE(target.name);
    const auto seeds = target.seeds();
    Random random(100);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      std::string seed = random.one_of(seeds);
      CAPTURE(seed);
      const std::size_t at = random.below(seed.size());
      CHECK_NOTHROW(run(target, seed.substr(0, at)));
      CHECK_NOTHROW(run(target, seed + seed));
      seed[at] = static_cast<char>(seed[at] ^ (1 << random.below(8)));
      CHECK_NOTHROW(run(target, seed));
    }
  }
}

TEST_CASE("fuzz: random cases are of operators that run") {
  CHECK(random_operators().size() >= 4);
  for (const RandomOperator& known : random_operators())
    CHECK_MESSAGE(find_operator(known.name) != nullptr, known.name);
}

}  // namespace
}  // namespace dmlop::test::fuzz_test
