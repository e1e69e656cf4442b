// What npy/npy.hpp promises. tests/data/npy holds files that NumPy 1.24 wrote (generate.py there).
#include "npy/npy.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/confine.hpp"
#include "base/error.hpp"
#include "folder.hpp"
#include "paths.hpp"

namespace dmlop::npy_test {
namespace {

using namespace std::string_literals;
using dmlop::DataType;
using dmlop::Error;
using dmlop::ErrorKind;
using dmlop::NpyFile;
using dmlop::NpyHeader;
using Sizes = std::vector<std::uint64_t>;

std::string data_path(const std::string& name) {
  return test::test_data_path("npy/") + name + ".npy";
}

std::string data_bytes(const std::string& name) {
  std::ifstream stream(data_path(name), std::ios::binary);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Parses a copy of exactly these bytes, so that sanitizers see any read past them.
NpyHeader parse(const std::string& file) {
  const std::vector<char> copy(file.begin(), file.end());
  return dmlop::parse_npy_header(std::as_bytes(std::span(copy)));
}

/// The message that `file` is refused with; nothing when it is read.
std::optional<std::string> refusal(const std::string& file) {
  try {
    (void)parse(file);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_input);
    return error.what();
  }
  return std::nullopt;
}

/// A file of version `major`.0 with this header text and `data_size` bytes after it.
std::string file_of(const std::string& text, std::size_t data_size, char major = 1) {
  std::string length;
  const std::size_t field = major == 1 ? 2 : 4;
  for (std::size_t i = 0; i < field; ++i) length += static_cast<char>(text.size() >> (8 * i));
  return "\x93NUMPY"s + major + '\0' + length + text + std::string(data_size, '\0');
}

/// A dictionary with these values.
std::string dictionary(const std::string& descr, const std::string& shape = "(2,)") {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
}

/// The bits of one element, as a number.
std::uint64_t bits_of(std::string bytes, bool big_endian) {
  if (!big_endian) bytes = std::string(bytes.rbegin(), bytes.rend());
  std::uint64_t bits = 0;
  for (const char c : bytes) bits = bits << 8 | static_cast<unsigned char>(c);
  return bits;
}

/// One element of a test file: these are small, not negative and exact in every type.
double decode(DataType type, const std::string& bytes, bool big_endian) {
  const std::uint64_t bits = bits_of(bytes, big_endian);
  if (dmlop::info(type).kind != dmlop::NumberKind::floating) return static_cast<double>(bits);
  if (type == DataType::Float64) return std::bit_cast<double>(bits);
  if (type == DataType::Float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return bits == 0 ? 0 : std::ldexp(static_cast<double>(1024 + bits % 1024), int(bits >> 10) - 25);
}

/// The file's elements in file order.
std::vector<double> elements_of(const NpyFile& file) {
  const NpyHeader& header = file.header();
  const std::size_t size = dmlop::size_of(header.data_type);
  const std::string bytes(reinterpret_cast<const char*>(file.data().data()), file.data().size());
  std::vector<double> elements;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    elements.push_back(decode(header.data_type, bytes.substr(i, size), header.big_endian));
  }
  return elements;
}

struct Refused {
  std::string file;
  std::string message;
};

void check_refused(const std::vector<Refused>& rows) {
  for (const Refused& row : rows) {
    CHECK(refusal(row.file).value_or("read without complaint") == row.message);
  }
}

}  // namespace

TEST_CASE("a matrix reads as NumPy wrote it, in every type, byte order and element order") {
  for (const dmlop::DataTypeInfo& type : dmlop::data_types) {
    for (const bool big_endian : {false, true}) {
      for (const bool fortran : {false, true}) {
        const std::string name = std::string(type.numpy) + (big_endian ? "_big" : "_little") +
                                 (fortran ? "_fortran" : "_c");
        CAPTURE(name);
        const NpyFile file = NpyFile::open(data_path(name));
        CHECK(file.header().data_type == stored_as(type.type));
        CHECK(file.header().big_endian == (big_endian && type.size > 1));
        CHECK(file.header().fortran_order == fortran);
        CHECK(file.header().sizes == Sizes{2, 3});
        CHECK(file.header().data_offset == 128);
        CHECK(file.element_count() == 6);
        const std::vector<double> by_row{0,  1,  2,  //
                                         10, 11, 12};
        const std::vector<double> by_column{0, 10,  //
                                            1, 11,  //
                                            2, 12};
        CHECK(elements_of(file) == (fortran ? by_column : by_row));
      }
    }
  }
}

TEST_CASE("arrays of 1 to 8 dimensions read") {
  const Sizes all{2, 1, 3, 1, 2, 1, 1, 2};
  for (std::size_t count = 1; count <= 8; ++count) {
    CAPTURE(count);
    const NpyFile file = NpyFile::open(data_path("dimensions_" + std::to_string(count)));
    CHECK(file.header().sizes == Sizes(all.begin(), all.begin() + static_cast<long>(count)));
    CHECK(elements_of(file) == std::vector<double>(file.element_count(), 1.0));
  }
}

TEST_CASE("an array without elements reads only where that is allowed") {
  const test::Folder folder;
  const auto open = [&](const std::string& shape, const std::string& data) {
    const std::string path = folder.write("x.npy", test::npy("<f4", shape, data));
    return NpyFile::open(dmlop::PinnedFile(nullptr, path), dmlop::EmptyArrays::allowed);
  };
  CHECK(open("(1, 2, 0, 8)", "").header().sizes == Sizes{1, 2, 0, 8});
  CHECK(open("(0,)", "").element_count() == 0);
  CHECK(open("(2,)", "01234567").element_count() == 2);
  CHECK_THROWS_WITH_AS(open("(0,)", "0123"),
                       "the file is longer than its array: the header says shape (0,) of 'f4', 0 "
                       "bytes, and 4 bytes follow it; it must hold one array, from one call of "
                       "numpy.save",
                       Error);
  CHECK_THROWS_AS(NpyFile::open(folder.write("x.npy", test::npy("<f4", "(0,)", ""))), Error);
}

TEST_CASE("the versions 1, 2 and 3 read alike") {
  for (const std::string version : {"1", "2", "3"}) {
    CAPTURE(version);
    CHECK(data_bytes("version_" + version)[6] == version[0] - '0');
    const NpyFile file = NpyFile::open(data_path("version_" + version));
    CHECK(file.header().sizes == Sizes{2, 3});
    CHECK(elements_of(file) == std::vector<double>{0, 1, 2, 10, 11, 12});
  }
}

TEST_CASE("a dictionary reads however Python would let it be written") {
  const std::vector<std::string> texts{
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
      "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
      "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3,)}",
      " \t\n{ 'descr'\n:\r\n'<f4'\t,\f'fortran_order' : False , 'shape' : ( 2 , 3 , ) , } \n\n",
      "{u'descr': U'<f4', 'fortran_order': False, 'shape': (2L, 3L)}",
      "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3)}",
      "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3)}",
  };
  for (const std::string& text : texts) {
    for (const char major : {'\1', '\2', '\3'}) {
      CAPTURE(text);
      const NpyHeader header = parse(file_of(text, 24, major));
      CHECK(header.data_type == DataType::Float32);
      CHECK(!header.big_endian);
      CHECK(!header.fortran_order);
      CHECK(header.sizes == Sizes{2, 3});
      CHECK(header.data_offset == (major == 1 ? 10 : 12) + text.size());
    }
  }
}

TEST_CASE("elements of one byte have no byte order, whatever the header says") {
  for (const std::string order : {"", "|", "<", ">", "="}) {
    CAPTURE(order);
    CHECK(!parse(file_of(dictionary("'" + order + "i1'"), 2)).big_endian);
    CHECK(parse(file_of(dictionary("'" + order + "u1'"), 2)).data_type == DataType::UInt8);
  }
}

TEST_CASE("more dimensions than an operator takes are the operator's concern") {
  std::string shape = "(";
  for (int i = 0; i < 64; ++i) shape += "1, ";
  CHECK(parse(file_of(dictionary("'<f4'", shape + ")"), 4)).sizes == Sizes(64, 1));
  CHECK(refusal(file_of(dictionary("'<f4'", shape + "1)"), 4)) ==
        "the array has 65 dimensions; at most 64 can be read");
}

TEST_CASE("what is not .npy is refused with what it is") {
  check_refused({
      {"", "the file is empty; save the array with numpy.save"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n",
       "the file is a Git LFS pointer, not the array itself; run 'git lfs pull' to fetch the "
       "array"},
      {"PK\x03\x04\x14",
       "the file is a zip archive, probably .npz; take one array out of it with "
       "numpy.load and save that with numpy.save"},
      {"PK\x05\x06" + std::string(18, '\0'),
       "the file is an empty zip archive, probably .npz, and holds no array"},
      {"\x1f\x8b\x08", "the file is compressed with gzip; decompress it with gunzip"},
      {"\x80\x04\x95",
       "the file is probably a Python pickle; load it in Python and save the array "
       "with numpy.save"},
      {"\xc2\x93NUMPY",
       "the file is .npy that was re-encoded as UTF-8 text; copy the original "
       "again as a binary file"},
      {"\xef\xbf\xbdNUMPY",
       "the file is .npy that was damaged by re-encoding it as UTF-8 text; "
       "copy the original again as a binary file"},
      {"1.0 2.0\n3.0 4.0\n",
       "the file is text that starts with \"1.0 2.0\\n3.0 4.0\\n\", not "
       ".npy; load it with numpy.loadtxt and save it with numpy.save"},
      {"\x89HDF\r\n\x1a\n",
       "the file is not .npy: it starts with \"\\x89HDF\\x0d\\n\\x1a\\n\", "
       "not with \"\\x93NUMPY\"; save the array with numpy.save or, if it is elements without a "
       "header, write the type behind the name, FILE:FLOAT32"},
  });
}

TEST_CASE("a file that ends too soon is refused with where it ends") {
  check_refused({
      {"\x93",
       "the file is truncated: it has 1 bytes and ends in its first 8; copy or save it again"},
      {"\x93NUMPY\x01",
       "the file is truncated: it has 7 bytes and ends in its first 8; copy or save it again"},
      {"\x93NUMPY\x01\0v"s,
       "the file is truncated: it has 9 bytes and ends before the length of its header; copy or "
       "save it again"},
      {"\x93NUMPY\x02\0v\0\0"s,
       "the file is truncated: it has 11 bytes and ends before the length of its header; copy or "
       "save it again"},
      {"\x93NUMPY\x01\0\x09\0{'descr'"s,
       "the file is truncated: its header has 9 bytes and only 8 follow; copy or save it again"},
      {"\x93NUMPY\x03\0\0\0\x01\0"s,
       "the file is truncated: its header has 65536 bytes and only 0 follow; copy or save it "
       "again"},
      {"\x93NUMPY\x02\0\x01\0\x01\0{}"s,
       "the header's length is 65537 bytes; at most 65536 are read, and a tensor needs about "
       "128; save the array again with numpy.save"},
      {file_of(dictionary("'<f4'", "(2, 3)"), 23),
       "the file is truncated: the header says shape (2, 3) of 'f4', 24 bytes, and 23 bytes "
       "follow it; copy or save it again"},
      {file_of(dictionary("'<f4'", "(2, 3)"), 25),
       "the file is longer than its array: the header says shape (2, 3) of 'f4', 24 bytes, and 25 "
       "bytes follow it; it must hold one array, from one call of numpy.save"},
  });
}

TEST_CASE("an unknown version is refused") {
  for (const auto& [start, version] : std::vector<std::pair<std::string, std::string>>{
           {"\x04\0"s, "4.0"}, {"\x01\x01"s, "1.1"}, {"\0\0"s, "0.0"}, {"\xff\xfe"s, "255.254"}}) {
    CHECK(refusal("\x93NUMPY" + start) ==
          ".npy version " + version +
              " is unknown; versions 1.0, 2.0 and 3.0 can be read, and numpy.save writes them");
  }
}

TEST_CASE("a type that no tensor has is refused with what to convert it to") {
  const auto refused = [](const std::string& descr, const std::string& name,
                          const std::string& remedy) {
    return Refused{
        file_of(dictionary("'" + descr + "'"), 32),
        "dtype " + name + " ('" + descr + "') is not a tensor type of DirectML; " + remedy};
  };
  const std::string numbers = "convert it with array.astype(numpy.int64)";
  const std::string parts = "save array.real and array.imag as two files";
  const std::string object =
      "convert it with array.astype(numpy.float32), or to whatever numbers its elements are";
  const std::string lacking =
      "if it is bfloat16 or another type that NumPy itself lacks, convert it with "
      "array.astype(numpy.float32) before saving";
  check_refused({
      refused("|O", "object", object),
      refused("<c8", "complex", parts),
      refused(">c16", "complex", parts),
      refused("|S5", "bytes", "save the characters as numbers, array.view(numpy.uint8)"),
      refused("<U7", "str", "save the characters as numbers, array.view(numpy.uint32)"),
      refused("<M8[ns]", "datetime64", numbers),
      refused("<m8", "timedelta64", numbers),
      refused("<f16", "longdouble", "convert it with array.astype(numpy.float64)"),
      refused("<f12", "longdouble", "convert it with array.astype(numpy.float64)"),
      refused("|V2", "void", lacking),
  });
}

TEST_CASE("a dtype that is none of NumPy's is refused with those that can be read") {
  const auto refused = [](const std::string& descr, const std::string& shown) {
    return Refused{file_of(dictionary("'" + descr + "'"), 8),
                   "dtype '" + shown +
                       "' is not a tensor type of DirectML; those are f4 f2 u4 u2 u1 i4 i2 i1 f8 "
                       "u8 i8: convert the array with array.astype"};
  };
  check_refused({
      refused("", ""),
      refused("<f1", "<f1"),
      refused("<i16", "<i16"),
      refused("<<f4", "<<f4"),
      refused("<f4 ", "<f4 "),
      refused("float32", "float32"),
      refused("<f\\x34", "<f\\x34"),
      refused("<f4\0"s, "<f4\\x00"),
      refused("\xe9\xff", "\\xe9\\xff"),
      refused(std::string(1000, 'x'), std::string(60, 'x') + "..."),
  });
  check_refused({
      {file_of(dictionary("'|f4'"), 8),
       "dtype '|f4' gives elements of 4 bytes no byte order; '<f4' (little-endian) or '>f4' "
       "(big-endian) does"},
      {file_of(dictionary("[('a', '<f4'), ('b', '<i4')]"), 16),
       "the structured dtype [('a', '<f4'), ('b', '<i4')] is not a tensor type of DirectML; save "
       "one of its "
       "fields, array['NAME']"},
      {file_of(dictionary("('<f4', (2,))"), 16),
       "the structured dtype ('<f4', (2,) is not a tensor type of DirectML; save one of its "
       "fields, array['NAME']"},
      {file_of(dictionary("None"), 8), "'descr' is None; it must be a string such as '<f4'"},
      {file_of(dictionary("b'<f4'"), 8), "'descr' is b'<f4'; it must be a string such as '<f4'"},
  });
}

TEST_CASE("a header that is no dictionary with the three keys is refused") {
  const std::string again = "; save the array again with numpy.save";
  const auto row = [](const std::string& text, const std::string& message) {
    return Refused{file_of(text, 8), message};
  };
  check_refused({
      row("", "the header is not a Python dictionary: it is \"\"" + again),
      row("['descr']\n", "the header is not a Python dictionary: it is \"['descr']\\n\"" + again),
      row("{}", "the header has no key 'descr'" + again),
      row("{'descr': '<f4'}", "the header has no key 'fortran_order'" + again),
      row("{'fortran_order': False, 'descr': '<f4'}", "the header has no key 'shape'" + again),
      row("{'descr': '<f4', 'descr': '<f4'}", "the header has the key 'descr' twice"),
      row("{'descr': '<f4', 'color': 3}",
          "the header has the unknown key 'color'; its keys are 'descr', 'fortran_order' and "
          "'shape'"),
      row("{'sh\xc3\xa4pe': (2,)}",
          "the header has the unknown key 'sh\\xc3\\xa4pe'; its keys are 'descr', "
          "'fortran_order' and 'shape'"),
  });
}

TEST_CASE("a header with a fault in its form is refused with where and what was expected") {
  const auto row = [](const std::string& text, const std::string& expected, int position,
                      const std::string& found) {
    return Refused{file_of(text, 8), "the header is malformed: expected " + expected + " at byte " +
                                         std::to_string(position) + " of the header, found " +
                                         found + "; save the array again with numpy.save"};
  };
  const std::string closing = "a string with its closing quote";
  const std::string nothing = "nothing after the dictionary";
  check_refused({
      row("{descr: '<f4'}", "a quoted key", 1, "\"descr: '<f4'}\""),
      row("{,}", "a quoted key", 1, "\",}\""),
      row("{", "a quoted key", 1, "its end"),
      row("{'descr' '<f4'}", "':' after a key", 9, "\"'<f4'}\""),
      row("{'descr': '<f4' 'shape'}", "',' or '}' after a value", 16, "\"'shape'}\""),
      row("{'descr': '<f4\n'}", closing, 10, "\"'<f4\\n'}\""),
      row("{'descr\\", closing, 1, "\"'descr\\\""),
      row("{'shape': (2 3)}", "',' or ')' after a size", 13, "\"3)}\""),
      row(dictionary("'<f4'") + "{}", nothing, 58, "\"{}\""),
      row(dictionary("'<f4'") + '\0', nothing, 58, "\"\\x00\""),
  });
}

TEST_CASE("fortran_order is True or False") {
  const auto row = [](const std::string& value, const std::string& shown) {
    return Refused{file_of("{'fortran_order': " + value + "}", 8),
                   "'fortran_order' is " + shown + "; it must be True or False"};
  };
  check_refused({
      row("1", "1"),
      row("'False'", "'False'"),
      row("false", "false"),
      row("Falsehood", "Falsehood"),
      row("", "missing"),
  });
}

TEST_CASE("shape is a tuple of sizes, at least one and each at least 1") {
  const auto row = [](const std::string& shape, const std::string& message) {
    return Refused{file_of(dictionary("'<f4'", shape), 8), message};
  };
  const std::string tuple = "; it must be a tuple of integers such as (2, 3)";
  check_refused({
      row("[2]", "'shape' is [2]" + tuple),
      row("2", "'shape' is 2" + tuple),
      row("None", "'shape' is None" + tuple),
      row("'(2,)'", "'shape' is '(2" + tuple),
      row("(2)", "'shape' is (2), a number in Python; a tuple of one number is written (2,)"),
      row("(2.0,)", "'shape' is (2.0,) and holds \"2.0\"" + tuple),
      row("(0x2,)", "'shape' is (0x2,) and holds \"0x2\"" + tuple),
      row("(02,)", "'shape' is (02,) and holds \"02\"" + tuple),
      row("(2LL,)", "'shape' is (2LL,) and holds \"2LL\"" + tuple),
      row("(L,)", "'shape' is (L,) and holds \"L\"" + tuple),
      row("(True,)", "'shape' is (True,) and holds \"True\"" + tuple),
      row("(,)", "'shape' is (,) and holds \"\"" + tuple),
      row("(2,,)", "'shape' is (2,,) and holds \"\"" + tuple),
      row("((2,),)", "'shape' is ((2,) and holds \"(2\"" + tuple),
      row("(-2,)", "'shape' is (-2,); a size cannot be negative"),
      row("(18446744073709551616,)",
          "'shape' is (18446744073709551616,); the size 18446744073709551616 needs more than 64 "
          "bits"),
      row("(2, 0)",
          "the shape (2, 0) has size 0 in dimension 1; a tensor has at least one element, so every "
          "size is at least 1"),
      row("(4294967296, 4294967296)",
          "an array of shape (4294967296, 4294967296) of 'f4' has more bytes than 64 bits can "
          "count"),
      row("(4611686018427387904,)",
          "an array of shape (4611686018427387904,) of 'f4' has more bytes than 64 bits can "
          "count"),
      row("(4611686018427387903,)",
          "the file is truncated: the header says shape (4611686018427387903,) of 'f4', "
          "18446744073709551612 bytes, and 8 bytes follow it; copy or save it again"),
  });
}

TEST_CASE("every beginning of a file is refused") {
  for (const std::string name : {"f4_little_c", "version_2", "version_3"}) {
    const std::string file = data_bytes(name);
    for (std::size_t size = 0; size < file.size(); ++size) {
      CAPTURE(size);
      CHECK(refusal(file.substr(0, size)).has_value());
    }
  }
}

TEST_CASE("a changed byte gives a header that fits the file, or an Error and nothing else") {
  for (const std::string name : {"f4_little_c", "version_2", "version_3", "dimensions_8"}) {
    const std::string file = data_bytes(name);
    for (std::size_t i = 0; i < 140 && i < file.size(); ++i) {
      for (const char c : "\0\n '\"\\(){}[],:0123-9L<>|=\x7f\x80\xff"s) {
        std::string changed = file;
        changed[i] = c;
        if (refusal(changed)) continue;
        const NpyHeader header = parse(changed);
        std::uint64_t data_size = dmlop::size_of(header.data_type);
        for (const std::uint64_t size : header.sizes) data_size *= size;
        CHECK(header.data_offset + data_size == changed.size());
      }
    }
  }
}

TEST_CASE("a file that cannot be opened says why") {
  CHECK_THROWS_WITH_AS(NpyFile::open(data_path("absent")), "No such file or directory", Error);
  CHECK_THROWS_WITH_AS(NpyFile::open(test::test_data_path()),
                       "is a directory; name a file inside it", Error);
  CHECK_THROWS_WITH_AS(NpyFile::open("/dev/null"),
                       "the file is empty; save the array with numpy.save", Error);
}

TEST_CASE("a header is written as numpy.save writes it, in every type") {
  for (const dmlop::DataTypeInfo& type : dmlop::data_types) {
    const std::string name = std::string(type.numpy) + "_little_c";
    CAPTURE(name);
    const std::string file = data_bytes(name);
    const std::string header = dmlop::npy_header_bytes(type.type, Sizes{2, 3});
    CHECK(header == file.substr(0, file.size() - 6 * type.size));
  }
}

TEST_CASE("a header is written as numpy.save writes it, in every shape") {
  const Sizes all{2, 1, 3, 1, 2, 1, 1, 2};
  for (std::size_t count = 1; count <= 8; ++count) {
    CAPTURE(count);
    const std::string file = data_bytes("dimensions_" + std::to_string(count));
    const Sizes sizes(all.begin(), all.begin() + static_cast<long>(count));
    CHECK(dmlop::npy_header_bytes(DataType::Float32, sizes) == file.substr(0, 128));
  }
}

TEST_CASE("a written header has the length that NumPy gives it") {
  struct Row {
    DataType type;
    Sizes sizes;
    std::size_t length;  // from numpy.lib.format.write_array_header_1_0, NumPy 1.24
  };
  const std::vector<Row> rows{
      {DataType::UInt8, {1}, 128},
      {DataType::Int8, {18446744073709551615u}, 128},
      {DataType::Float16, {1000, 1000, 1000, 1000, 1000, 1000}, 128},
      {DataType::UInt32, {1000000000, 100000000, 1, 1, 1, 1, 1, 1}, 128},
      {DataType::UInt32, {12345, 12345, 12345, 12345, 12345, 12345, 12345}, 192},
      // Here the text alone ends at a multiple of 64, and NumPy adds 64 spaces.
      {DataType::Float32, {1, 100, 100, 100, 100, 100, 10, 10, 10, 10}, 192},
      {DataType::Float32, {1, 100, 100, 100, 100, 10, 10, 10, 10, 10}, 128},
      {DataType::Float32, Sizes(64, 1), 320},
  };
  for (const Row& row : rows) {
    CAPTURE(row.length);
    const std::string header = dmlop::npy_header_bytes(row.type, row.sizes);
    CHECK(header.size() == row.length);
    CHECK(header.back() == '\n');
  }
}

}  // namespace dmlop::npy_test
