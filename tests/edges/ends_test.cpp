// Both ends of ranges, and the other operand: what a middle value, or the first of two, cannot
// show.
#include <doctest/doctest.h>

#include "base/utf8.hpp"
#include "batch.hpp"
#include "batch/reports.hpp"
#include "compare/picture.hpp"
#include "npy/statistics.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test::ends_test {
namespace {

/// A code in so many bytes, as UTF-8 would have it if it allowed that.
std::string encoded(std::uint32_t code, std::size_t length) {
  if (length == 1) return {static_cast<char>(code)};
  std::string bytes(length, '\0');
  for (std::size_t i = length - 1; i > 0; --i, code >>= 6)
    bytes[i] = static_cast<char>(0x80 | (code & 0x3F));
  bytes[0] = static_cast<char>((0xF00 >> length & 0xFF) | code);
  return bytes;
}

std::size_t shortest_length(std::uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

Elements elements_of(const Tensor& tensor) {
  return Elements(tensor.type, tensor.sizes, tensor.bytes);
}

}  // namespace

TEST_CASE("ends: UTF-8 has every character in its shortest form, and nothing else") {
  std::uint32_t wrong = 0;
  for (std::uint32_t code = 0; code < 0x200000; ++code) {
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    const bool exists = code <= 0x10FFFF && !is_surrogate;
    for (std::size_t length = shortest_length(code); length <= 4; ++length) {
      const bool is_character = exists && length == shortest_length(code);
      const std::string bytes = encoded(code, length);
      const Character found = first_character(bytes + "\x80");
      if (found.length != (is_character ? length : 0)) ++wrong;
      if (is_character && found.code != code) ++wrong;
      // Cut off, or with another byte than one that goes on.
      for (std::size_t cut = 1; cut < length; ++cut) {
        const std::string part = bytes.substr(0, cut);
        for (const std::string after : {"", "a", "\xC0", "\xFF"})
          if (first_character(part + after).length != 0) ++wrong;
      }
    }
  }
  for (int first = 0x80; first < 0x100; ++first) {
    const bool begins = first >= 0xC2 && first <= 0xF4;
    const std::string bytes = std::string(1, static_cast<char>(first)) + "\x90\x80\x80";
    if (!begins && first_character(bytes).length != 0) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("ends: statistics tell integers apart that are the same double, on both sides") {
  constexpr std::uint64_t middle = std::uint64_t{1} << 63;
  constexpr std::uint64_t most = ~std::uint64_t{0};
  const auto statistics = [](const std::string& type, const std::string& bytes) {
    const Folder folder;
    const std::string count = std::to_string(bytes.size() / 8);
    const auto file = NpyFile::open(folder.write("x.npy", npy(type, "(" + count + ",)", bytes)));
    return statistics_of(Elements(file));
  };
  const std::vector<std::uint64_t> numbers{0,          1,          middle - 2, middle - 1, middle,
                                           middle + 1, middle + 2, most - 1,   most};
  for (const std::uint64_t a : numbers) {
    for (const std::uint64_t b : numbers) {
      const auto found = statistics("<u8", bytes_of<std::uint64_t>({a, b}));
      CHECK(found.min == std::to_string(std::min(a, b)));
      CHECK(found.max == std::to_string(std::max(a, b)));
      const auto signs = statistics("<i8", bytes_of<std::uint64_t>({a, b}));
      const auto signed_a = static_cast<std::int64_t>(a), signed_b = static_cast<std::int64_t>(b);
      CHECK(signs.min == std::to_string(std::min(signed_a, signed_b)));
      CHECK(signs.max == std::to_string(std::max(signed_a, signed_b)));
    }
  }
}

TEST_CASE("ends: the scale of pictures begins and ends where either tensor does") {
  struct Row {
    std::vector<float> actual;
    std::vector<float> expected;
    const char* low;
    const char* high;
  };
  for (const Row& row :
       {Row{{2, 3}, {1, 4}, "1", "4"}, Row{{1, 4}, {2, 3}, "1", "4"}, Row{{1, 3}, {2, 4}, "1", "4"},
        Row{{2, 4}, {1, 3}, "1", "4"}, Row{{-1, -3}, {-2, -4}, "-4", "-1"}}) {
    const Tensor actual = floats({2}, row.actual), expected = floats({2}, row.expected);
    const PlanePictures pictures =
        plane_pictures(elements_of(actual), elements_of(expected), 0, true);
    CHECK(pictures.low == row.low);
    CHECK(pictures.high == row.high);
  }
}

TEST_CASE("ends: GitHub's annotations take a number behind a colon for a line, and nothing else") {
  struct Row {
    const char* place;
    const char* properties;
  };
  for (const Row& row : {
           Row{"jobs.jsonl:12", ",file=jobs.jsonl,line=12,col=1"},
           Row{"a:b/jobs.jsonl:12", ",file=a%3Ab/jobs.jsonl,line=12,col=1"},
           Row{"C:/jobs/op.json", ",file=C%3A/jobs/op.json,line=1,col=1"},
           Row{"a:7b/op.json", ",file=a%3A7b/op.json,line=1,col=1"},
           Row{"a:b7", ",file=a%3Ab7,line=1,col=1"},
           Row{"jobs:", ",file=jobs%3A,line=1,col=1"},
           Row{":", ",file=%3A,line=1,col=1"},
       }) {
    CAPTURE(row.place);
    const std::string text = github_annotations(
        {{.id = "a", .status = Status::failed, .place = row.place, .message = "why"}});
    CHECK(contains(text, std::string(row.properties) + "::why"));
  }
}

}  // namespace dmlop::test::ends_test
