// Files without a header: how their names are read, and which of their bytes are elements.
#include <doctest/doctest.h>

#include "base/confine.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "batch.hpp"
#include "npy/elements.hpp"
#include "npy/npy.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::raw_file_test {
namespace {

/// "FLOAT16 [1, 2] offset 64 big", "npy" for a .npy file.
std::string text_of(const FileText& file) {
  if (!file.raw) return file.path + " npy";
  const RawForm& form = *file.raw;
  return file.path + " " + (form.data_type ? std::string(name_of(*form.data_type)) : "any") + " " +
         list_of(form.sizes) + (form.offset ? " offset " + std::to_string(*form.offset) : "") +
         (form.big_endian ? " big" : "");
}

template <typename Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_input);
    return error.what();
  }
  return "";
}

std::string values_of(const NpyFile& file) {
  const Elements elements(file);
  std::vector<std::byte> scratch;
  std::string text =
      std::string(name_of(elements.data_type())) + " " + list_of(elements.sizes()) + ":";
  for (std::uint64_t i = 0; i < elements.count(); ++i)
    text += " " + element_text(elements.data_type(), elements.read(i, 1, scratch).data());
  return text;
}

}  // namespace

TEST_CASE("raw files: what stands behind a name") {
  for (const auto& [text, meaning] : std::vector<std::pair<std::string, std::string>>{
           {"x.npy", "x.npy npy"},
           {"x.bin:raw", "x.bin any []"},
           {"x.bin:FLOAT16:1,2", "x.bin FLOAT16 [1, 2]"},
           {"x.bin:float16:1,2", "x.bin FLOAT16 [1, 2]"},
           {"x.bin:1,2:INT8", "x.bin INT8 [1, 2]"},
           {"x.bin:raw:7", "x.bin any [7]"},
           {"x.bin:raw:offset=64:big", "x.bin any [] offset 64 big"},
           {"x.bin:UINT4:little:offset=0", "x.bin UINT4 [] offset 0"},
           {"-:raw", "- any []"},
           {"C:\\x.bin", "C:\\x.bin npy"},
           {"C:\\x.bin:raw", "C:\\x.bin any []"},
           {"a:b:raw", "a:b any []"},
           {"x:1:npy", "x:1 npy"},
           {"x:FLOAT32:npy", "x:FLOAT32 npy"},
           {"", " npy"},
           {"a:npy:raw", "a:npy any []"}}) {
    CAPTURE(text);
    CHECK(text_of(parse_file_text(text)) == meaning);
  }
}

TEST_CASE("raw files: names that are refused") {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {":raw", "names no file"},
           {":npy", "names no file"},
           {"x:1,2", "has no data type: write x:raw:1,2"},
           {"x:big", "has no data type: write x:raw:big"},
           {"x:FLOAT17", "which is not a data type; did you mean FLOAT16?"},
           {"x:raw:raw", "says the same twice"},
           {"x:INT8:INT4", "says the same twice"},
           {"x:raw:1:2", "says the same twice"},
           {"x:raw:big:little", "says the same twice"},
           {"x:raw:offset=1:offset=1", "says the same twice"},
           {"x:raw:offset=", "must have a whole number of bytes after offset="},
           {"x:raw:offset=-1", "must have a whole number of bytes after offset="},
           {"x:raw:offset=18446744073709551616", "must have a whole number of bytes"},
           {"x:raw:1,0", "must have 1 to 64 sizes of at least 1"},
           {"x:raw:1,,2", "must have 1 to 64 sizes of at least 1"},
           {"x:raw:1,", "must have 1 to 64 sizes of at least 1"},
           {"x:raw:18446744073709551616", "must have 1 to 64 sizes of at least 1"}}) {
    CAPTURE(text);
    const std::string found = refusal([&] { parse_file_text(text); });
    CAPTURE(found);
    CHECK(contains(found, message));
  }
  std::string many = "x:raw:1";
  for (int i = 1; i < 64; ++i) many += ",1";
  CHECK(refusal([&] { parse_file_text(many); }).empty());
  CHECK(contains(refusal([&] { parse_file_text(many + ",1"); }), "must have 1 to 64 sizes"));
  CHECK(text_of(parse_output_text("x:raw")) == "x any []");
  for (const char* text : {"x:INT8", "x:raw:1", "x:raw:offset=0", "x:raw:big"}) {
    CAPTURE(text);
    CHECK(contains(refusal([&] { parse_output_text(text); }), "write x:raw"));
  }
}

TEST_CASE("raw files: which bytes are elements") {
  const Folder folder;
  const auto open = [&](const std::string& bytes, const std::string& form) {
    folder.write("x", bytes);
    return values_of(
        NpyFile::open(PinnedFile(nullptr, folder / "x"), parse_file_text("x:" + form).raw));
  };
  const std::string bytes("\x01\x00\x02\x00\x03\x00\xF4\xFF", 8);
  for (const auto& [form, meaning] : std::vector<std::pair<std::string, std::string>>{
           {"INT16", "INT16 [4]: 1 2 3 -12"},
           {"INT16:2,2", "INT16 [2, 2]: 1 2 3 -12"},
           {"INT16:big", "INT16 [4]: 256 512 768 -2817"},
           {"INT16:offset=2", "INT16 [3]: 2 3 -12"},
           {"INT16:offset=1:2", "INT16 [2]: 512 768"},
           {"INT16:offset=0:1,2", "INT16 [1, 2]: 1 2"},
           {"UINT8:5", "UINT8 [5]: 1 0 2 0 3"},
           {"UINT8:7", "UINT8 [7]: 1 0 2 0 3 0 244"},
           {"UINT4:offset=6", "UINT8 [4]: 4 15 15 15"},
           {"INT4:offset=6", "INT8 [4]: 4 -1 -1 -1"},
           {"INT4:13", "INT8 [13]: 1 0 0 0 2 0 0 0 3 0 0 0 4"}}) {
    CAPTURE(form);
    CHECK(open(bytes, form) == meaning);
  }
  for (const auto& [form, message] : std::vector<std::pair<std::string, std::string>>{
           {"UINT8:4", "the file has 8 bytes, but UINT8 [4] needs 4: write another type"},
           {"UINT8:9", "the file has 8 bytes, but UINT8 [9] needs 9: write it again"},
           {"UINT8:8:offset=1", "UINT8 [8] needs 8 from byte 1 on"},
           {"INT16:offset=1", "which is not a whole number of elements of INT16 from byte 1 on"},
           {"INT16:offset=8", "nothing is at offset 8"},
           {"INT16:4:offset=18446744073709551615", "is beyond the end of any file"},
           {"INT16:4294967296,4294967296", "has more bytes than a file can have"},
           {"UINT4:18446744073709551615", "has more bytes than a file can have"}}) {
    CAPTURE(form);
    const std::string found = refusal([&] { open(bytes, form); });
    CAPTURE(found);
    CHECK(contains(found, message));
  }
  // Other bytes may follow up to the next multiple of four.
  CHECK(contains(refusal([&] { open(bytes.substr(0, 7), "UINT8:5"); }), "needs 5"));
  CHECK(contains(refusal([&] { open("", "UINT8"); }), "the file has 0 bytes"));
  CHECK(contains(refusal([&] { open(float_npy("(1,)", {1}), "UINT8"); }),
                 "the file is .npy: leave out what stands behind its name"));
}

TEST_CASE("raw files: elements of a large file, whether or not they are aligned") {
  const Folder folder;
  std::vector<float> numbers(300000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  for (const std::size_t offset : {0U, 1U, 4U}) {
    CAPTURE(offset);
    folder.write("x", std::string(offset, 'x') + bytes_of(numbers));
    const RawForm form{.data_type = DataType::Float32, .sizes = {}, .offset = offset};
    const NpyFile file = NpyFile::open(PinnedFile(nullptr, folder / "x"), form);
    CHECK(reinterpret_cast<std::uintptr_t>(file.data().data()) % sizeof(float) == 0);
    CHECK(file.element_count() == numbers.size());
    CHECK(element_value(DataType::Float32, &file.data()[4 * 299999]) == 299999);
  }
}

TEST_CASE("raw files: elements of 4 bits are packed with the first in the lower bits") {
  const std::string elements("\x01\x0F\x07", 3);
  const auto packed = packed_4_bits(std::as_bytes(std::span(elements)));
  CHECK(packed == std::vector<std::byte>{std::byte{0xF1}, std::byte{0x07}});
  std::vector<std::byte> back(3);
  unpack_4_bits(DataType::UInt4, packed, back);
  CHECK(back == std::vector<std::byte>{std::byte{1}, std::byte{15}, std::byte{7}});
  unpack_4_bits(DataType::Int4, packed, back);
  CHECK(back == std::vector<std::byte>{std::byte{1}, std::byte{0xFF}, std::byte{7}});
}

}  // namespace dmlop::test::raw_file_test
