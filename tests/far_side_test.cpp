// The far side of limits, and what follows a first piece: where a fast way ends and another begins,
// both sides are looked at.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/diagnostic.hpp"
#include "batch.hpp"
#include "json/document.hpp"

namespace {

using namespace dmlop;
using namespace dmlop::test;

/// A .npy file of `count` bytes that are 0, but for some; no disk is taken for the others.
void write_sparse(const Folder& folder, const std::string& name, std::uint64_t count,
                  const std::map<std::uint64_t, char>& bytes) {
  const std::string header = npy("|u1", "(" + std::to_string(count) + ",)", "");
  const std::string path = folder.write(name, header);
  REQUIRE(::truncate(path.c_str(), static_cast<off_t>(header.size() + count)) == 0);
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  for (const auto& [at, byte] : bytes)
    CHECK(::pwrite(file, &byte, 1, static_cast<off_t>(header.size() + at)) == 1);
  ::close(file);
}

}  // namespace

TEST_CASE("far side: SLICE1 with strides around 2^28, where offsets leave a row's table") {
  constexpr std::uint64_t limit = std::uint64_t{1} << 28;
  for (const std::uint64_t stride : {limit - 1, limit, limit + 1, 2 * limit}) {
    for (const bool backwards : {false, true}) {
      CAPTURE(stride);
      CAPTURE(backwards);
      const Folder folder;
      write_sparse(folder, "x.npy", 2 * stride + 1, {{0, 1}, {stride, 2}, {2 * stride, 3}});
      const std::string window = std::to_string(2 * stride + 1);
      folder.write("op.json", R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0], )"
                              R"("InputWindowSizes": [)" +
                                  window + R"(], "InputWindowStrides": [)" +
                                  (backwards ? "-" : "") + std::to_string(stride) + "]}}");
      const auto result = dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"},
                                        {.folder = folder.path()});
      CAPTURE(result.error);
      REQUIRE(result.code == 0);
      CHECK(folder.read("y.npy") == npy("|u1", "(3,)", backwards ? "\3\2\1" : "\1\2\3"));
    }
  }
}

TEST_CASE("far side: the column of an error is counted in characters, however long its line is") {
  // Characters are counted piece by piece: of 4096 bytes, which a character may straddle.
  for (const std::string character : {"x", "\u00E9", "\u20AC", "\U0001F600"}) {
    for (std::size_t bytes = 4040; bytes < 8250; bytes += bytes % 4096 < 4090 ? 13 : 1) {
      const std::size_t count = bytes / character.size();
      std::string text = "\n{\"";
      for (std::size_t i = 0; i < count; ++i) text += character;
      text += "\": 1, }}";
      Diagnostics diagnostics;
      CHECK_FALSE(json::Document::parse(json::Source{"op.json"}, text, diagnostics));
      REQUIRE(diagnostics.size() == 1);
      if (diagnostics[0].line == 2 && diagnostics[0].column == count + 10) continue;
      FAIL_CHECK(character << " " << count << " times: " << to_text(diagnostics[0]));
    }
  }
}
