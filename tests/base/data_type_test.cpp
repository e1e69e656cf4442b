// The list of data types (shaders/data_types.def): what follows from a row is what C++ knows of the
// element.
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <type_traits>

#include "tensor/element.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::test::data_type_test {
namespace {

double lowest_of(DataType type) {
  return element_value(type, lowest_element(type).data());
}
double highest_of(DataType type) {
  return element_value(type, highest_element(type).data());
}

}  // namespace

TEST_CASE("data types: bits and kind give the limits of an element") {
  for (const DataTypeInfo& row : data_types) {
    CAPTURE(row.name);
    visit_type(row.type, [&]<typename T>(T) {
      CHECK(std::is_integral_v<T> != is_floating(row.type));
      if constexpr (std::is_same_v<T, Half>) {
        CHECK(highest_of(row.type) == 65504);
        CHECK(lowest_of(row.type) == -65504);
      } else if (!has_4_bits(row.type)) {
        CHECK(std::is_signed_v<T> == (is_floating(row.type) || is_signed_integer(row.type)));
        CHECK(highest_of(row.type) == static_cast<double>(std::numeric_limits<T>::max()));
        CHECK(lowest_of(row.type) == static_cast<double>(std::numeric_limits<T>::lowest()));
      }
    });
  }
  CHECK(highest_of(DataType::UInt4) == 15);
  CHECK(lowest_of(DataType::UInt4) == 0);
  CHECK(highest_of(DataType::Int4) == 7);
  CHECK(lowest_of(DataType::Int4) == -8);
}

TEST_CASE("data types: the fraction of a floating type says what its infinity is") {
  CHECK(infinity_bits(DataType::Float16) == 0x7C00);
  CHECK(infinity_bits(DataType::Float32) == 0x7F800000);
  CHECK(infinity_bits(DataType::Float64) == 0x7FF0000000000000);
}

TEST_CASE("data types: .npy files hold types of 4 bits as bytes") {
  for (const DataTypeInfo& row : data_types) {
    CAPTURE(row.name);
    CHECK(size_of(stored_as(row.type)) == row.size);
    CHECK(stored_as(stored_as(row.type)) == stored_as(row.type));
  }
  CHECK(stored_as(DataType::UInt4) == DataType::UInt8);
  CHECK(stored_as(DataType::Int4) == DataType::Int8);
}

TEST_CASE("data types: code for some types refuses the others") {
  const auto size = [](auto element) { return sizeof element; };
  CHECK(visit_type_among<DataType::Float32, DataType::Float16>(DataType::Float16, size) == 2);
  CHECK_THROWS_AS((visit_type_among<DataType::Float32, DataType::Float16>(DataType::UInt16, size)),
                  std::logic_error);
}

}  // namespace dmlop::test::data_type_test
