// Comparisons by value of files of different types: tensor/cast.hpp, and compare --cast and
// --operator.
#include "tensor/cast.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "npy/elements.hpp"
#include "program.hpp"
#include "types.hpp"

namespace dmlop::test::cast_test {
namespace {

using Json = nlohmann::json;

template <typename To, typename From>
std::vector<To> cast(DataType from, const std::vector<From>& values, DataType to) {
  std::vector<To> result(values.size());
  const auto changed = cast_elements(from, std::as_bytes(std::span(values)), to,
                                     std::as_writable_bytes(std::span(result)));
  CHECK_FALSE(changed.has_value());
  return result;
}

/// The place of the first integer that the type does not hold.
template <typename From>
std::optional<std::size_t> refused(DataType from, const std::vector<From>& values, DataType to) {
  std::vector<std::uint64_t> room(values.size());
  return cast_elements(from, std::as_bytes(std::span(values)), to,
                       std::as_writable_bytes(std::span(room)));
}

class CastFolder : public Folder {
 public:
  CastFolder() {
    write("half.npy", npy("<f2", "(3,)", bytes_of<std::uint16_t>({0x3C00, 0x4000, 0x3555})));
    write("float.npy", float_npy("(3,)", {1, 2, 0.333251953125F}));
    write("near.npy", float_npy("(3,)", {1, 2, 1 / 3.0F}));
    write("int8.npy", npy("|i1", "(3,)", bytes_of<std::int8_t>({1, 2, -3})));
    write("uint64.npy", npy("<u8", "(3,)", bytes_of<std::uint64_t>({1, 2, 3})));
  }
  ProgramResult compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    return dmlop_program(arguments, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("the common type holds every element of both types") {
  CHECK(common_type(DataType::Float16, DataType::Float32) == DataType::Float32);
  CHECK(common_type(DataType::Float64, DataType::Float16) == DataType::Float64);
  CHECK(common_type(DataType::UInt8, DataType::UInt32) == DataType::UInt64);
  CHECK(common_type(DataType::UInt8, DataType::Int16) == DataType::Int64);
  CHECK(common_type(DataType::Int8, DataType::Int64) == DataType::Int64);
  CHECK(common_type(DataType::Float16, DataType::Int8) == DataType::Float64);
  for (const DataType a : A11) {
    CHECK(common_type(a, a) == a);
    for (const DataType b : A11) CHECK(common_type(a, b) == common_type(b, a));
  }
}

TEST_CASE("elements keep their values, and an integer that cannot is named") {
  using I64 = std::numeric_limits<std::int64_t>;
  const std::vector<std::uint16_t> halves{0x3C00, 0xC000, 0x0001, 0x7C00};
  CHECK(cast<float>(DataType::Float16, halves, DataType::Float32) ==
        std::vector<float>{1, -2, 0x1p-24F, std::numeric_limits<float>::infinity()});
  CHECK(cast<double>(DataType::Float32, std::vector<float>{0.1F, -0.0F}, DataType::Float64) ==
        std::vector<double>{0.1F, 0});
  CHECK(cast<std::int64_t>(DataType::Int8, std::vector<std::int8_t>{-128, 127}, DataType::Int64) ==
        std::vector<std::int64_t>{-128, 127});
  CHECK(cast<double>(DataType::UInt32, std::vector<std::uint32_t>{0xFFFFFFFF}, DataType::Float64) ==
        std::vector<double>{4294967295.0});
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  CHECK(cast<double>(
            DataType::Int64, std::vector<std::int64_t>{exact, -exact, 2 * exact + 4, I64::min()},
            DataType::Float64) == std::vector<double>{0x1p53, -0x1p53, 0x1p54 + 4, -0x1p63});
  const auto place = [](std::int64_t value) {
    return refused(DataType::Int64, std::vector<std::int64_t>{0, value}, DataType::Float64);
  };
  CHECK(place(exact + 1) == 1);
  CHECK(place(-exact - 1) == 1);
  CHECK(place(I64::max()) == 1);
  CHECK(place(2 * exact + 2) == 1);
  CHECK(refused(DataType::UInt64, std::vector<std::uint64_t>{1, 2, 1ULL << 63}, DataType::Int64) ==
        2);
  CHECK(refused(DataType::UInt64, std::vector<std::uint64_t>{(1ULL << 63) - 1}, DataType::Int64) ==
        std::nullopt);
}

TEST_CASE("compare --cast compares files of different types by value") {
  const CastFolder folder;
  CHECK(folder.compare({"half.npy", "float.npy"}).code == 1);
  const auto same = folder.compare({"half.npy", "float.npy", "--cast"});
  CHECK(same.code == 0);
  CHECK(same.output ==
        "PASSED: half.npy: 3 elements agree\n"
        "  types: FLOAT16 and FLOAT32, compared as FLOAT32\n"
        "  tolerance: bit for bit (default)\n");
  const auto near = folder.compare({"half.npy", "near.npy", "--cast"});
  CHECK(near.code == 1);
  CHECK(near.output.find("  relation: actual is expected rounded to FLOAT16 where it differs\n") !=
        std::string::npos);
  // The byte is that of the file: 2 bytes each.
  CHECK(near.output.find("    [2]    132   0.33325195") != std::string::npos);
  CHECK(folder.compare({"near.npy", "half.npy", "--cast", "--rtol", "1e-3"}).code == 0);
  const Json json =
      Json::parse(folder.compare({"int8.npy", "float.npy", "--cast", "--format", "json"}).output);
  CHECK(json.at("dataType") == "FLOAT64");
  CHECK(json.at("actualType") == "INT8");
  CHECK(json.at("expectedType") == "FLOAT32");
  CHECK(json.at("mismatches") == 1);
  CHECK(json.at("first").at(0).at("actual") == "-3");
  CHECK(json.at("first").at(0).at("byteOffset") == 130);
  const Json alike =
      Json::parse(folder.compare({"half.npy", "half.npy", "--cast", "--format", "json"}).output);
  CHECK_FALSE(alike.contains("actualType"));
}

TEST_CASE("compare --cast refuses an integer that the common type does not hold, with its place") {
  const CastFolder folder;
  folder.write("large.npy",
               npy("<u8", "(3,)", bytes_of<std::uint64_t>({1, (1ULL << 53) + 1, ~0ULL})));
  const auto in_float = folder.compare({"large.npy", "float.npy", "--cast"});
  CHECK(in_float.code == 3);
  CHECK(in_float.error ==
        "dmlop: error: comparing large.npy with float.npy: element [1] is 9007199254740993, which "
        "FLOAT64 does not hold exactly: compare files of the same type\n");
  const auto in_signed = folder.compare({"int8.npy", "large.npy", "--cast"});
  CHECK(in_signed.code == 3);
  CHECK(in_signed.error.find("element [2] is 18446744073709551615, which INT64") !=
        std::string::npos);
  CHECK(folder.compare({"uint64.npy", "large.npy", "--cast"}).code == 1);
}

TEST_CASE("compare --operator takes the tolerance of the operator's spec") {
  const CastFolder folder;
  const auto tolerance = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Json json = Json::parse(folder.compare(arguments).output);
    return json.at("tolerance").get<std::string>() + " (" +
           json.at("toleranceOrigin").get<std::string>() + ")";
  };
  CHECK(tolerance({"float.npy", "near.npy", "--operator", "LP_POOLING"}) ==
        "4 ULP (default of LP_POOLING for FLOAT32)");
  CHECK(tolerance({"float.npy", "near.npy", "--operator", "dml_operator_lp_pooling"}) ==
        "4 ULP (default of LP_POOLING for FLOAT32)");
  CHECK(tolerance({"half.npy", "half.npy", "--operator", "LP_POOLING", "--nan", "differ"}) ==
        "1 ULP, NaN differs from NaN (default of LP_POOLING for FLOAT16)");
  CHECK(tolerance({"half.npy", "half.npy", "--operator", "PADDING"}) ==
        "bit for bit (default of PADDING)");
  CHECK(tolerance({"half.npy", "half.npy", "--operator", "LP_POOLING", "--ulp", "7"}) ==
        "7 ULP (command line)");
  // One step of FLOAT16 is 2^13 of FLOAT32; 1 / 3 is half a step from the nearest.
  for (const auto& [a, b] : {std::pair("half.npy", "near.npy"), {"near.npy", "half.npy"}}) {
    CHECK(tolerance({a, b, "--operator", "LP_POOLING", "--cast"}) ==
          "8192 ULP (default of LP_POOLING for FLOAT16: 1 ULP of it)");
    CHECK(folder.compare({a, b, "--operator", "LP_POOLING", "--cast"}).code == 0);
  }
  const auto unknown = folder.compare({"half.npy", "half.npy", "--operator", "LP_POOLIN"});
  CHECK(unknown.code == 2);
  CHECK(unknown.error.find("--operator: no operator of DirectML is called \"LP_POOLIN\"; did you "
                           "mean \"LP_POOLING\"") != std::string::npos);
}

}  // namespace dmlop::test::cast_test
