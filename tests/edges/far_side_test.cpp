// The far side of limits, and what follows a first piece: where a fast way ends and another begins,
// both sides are looked at.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/diagnostic.hpp"
#include "batch.hpp"
#include "json/document.hpp"

namespace dmlop::test::far_side_test {
namespace {

/// A .npy file of `count` bytes that are 0, but for some; no disk is taken for the others.
void write_sparse(const Folder& folder, const std::string& name, std::uint64_t count,
                  const std::map<std::uint64_t, std::uint64_t>& bytes) {
  const std::string header = npy("|u1", "(" + std::to_string(count) + ",)", "");
  const std::string path = folder.write(name, header);
  REQUIRE(::truncate(path.c_str(), static_cast<off_t>(header.size() + count)) == 0);
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  for (const auto& [at, number] : bytes) {
    const auto byte = static_cast<char>(number);
    CHECK(::pwrite(file, &byte, 1, static_cast<off_t>(header.size() + at)) == 1);
  }
  ::close(file);
}

}  // namespace

TEST_CASE("far side: SLICE1 with strides around 2^28, where offsets leave a row's table") {
  constexpr std::uint64_t limit = std::uint64_t{1} << 28;
  for (const std::uint64_t stride : {limit - 1, limit, limit + 1, 2 * limit}) {
    // The first element alone may be beyond the limit, or the second one too.
    for (const std::uint64_t last : {1, 2}) {
      for (const bool backwards : {false, true}) {
        CAPTURE(stride);
        CAPTURE(last);
        CAPTURE(backwards);
        const Folder folder;
        const std::uint64_t count = last * stride + 1;
        write_sparse(folder, "x.npy", count, {{0, 1}, {stride, 2}, {last * stride, last + 1}});
        folder.write("op.json", R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0], )"
                                R"("InputWindowSizes": [)" +
                                    std::to_string(count) + R"(], "InputWindowStrides": [)" +
                                    (backwards ? "-" : "") + std::to_string(stride) + "]}}");
        const auto result = dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "y.npy"},
                                          {.folder = folder.path()});
        CAPTURE(result.error);
        REQUIRE(result.code == 0);
        std::string expected = last == 1 ? "\1\2" : "\1\2\3";
        if (backwards) std::reverse(expected.begin(), expected.end());
        const std::string shape = "(" + std::to_string(expected.size()) + ",)";
        CHECK(folder.read("y.npy") == npy("|u1", shape, expected));
      }
    }
  }
}

TEST_CASE("far side: an output behind as many links as the system follows, and behind more") {
  for (const int links : {1, 39, 40, 41}) {
    CAPTURE(links);
    const Folder folder;
    folder.write("op.json", "{" + edge_fields + "}");
    folder.write("x.npy", float_npy("(3,)", {1, 2, 3}));
    std::filesystem::create_symlink("y.npy", folder / "link1");
    for (int i = 2; i <= links; ++i)
      std::filesystem::create_symlink("link" + std::to_string(i - 1),
                                      folder / ("link" + std::to_string(i)));
    const auto result = dmlop_program(
        {"run", "op.json", "--cpu", "-i", "x.npy", "-o", "link" + std::to_string(links)},
        {.folder = folder.path()});
    CAPTURE(result.error);
    CHECK(result.code == (links <= 40 ? 0 : 6));
    CHECK(folder.has("y.npy") == (links <= 40));
    CHECK(contains(result.error, "Too many levels of symbolic links") == (links > 40));
  }
}

TEST_CASE("far side: records as deep and with numbers as long as a record's may be, and beyond") {
  const BatchFolder folder;
  const auto code_of = [&](std::size_t depth, std::size_t digits) {
    std::string record = R"({"id": "a", "status": "PASSED", "exitCode": 0, "other": )";
    for (std::size_t i = 1; i < depth; ++i) record += "[";
    record += std::string(digits, '1');
    for (std::size_t i = 1; i < depth; ++i) record += "]";
    folder.write("r.jsonl", record + "}\n" + R"({"summary": {"complete": true}})" + "\n");
    return folder.batch({"--merge", "r.jsonl"}).code;
  };
  CHECK(code_of(1, 1) == 0);
  CHECK(code_of(32, 1) == 0);
  CHECK(code_of(33, 1) == 3);
  CHECK(code_of(1, 64) == 0);
  CHECK(code_of(1, 65) == 3);
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

}  // namespace dmlop::test::far_side_test
