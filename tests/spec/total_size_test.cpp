// TotalTensorSizeInBytes: the smallest one that is accepted, for every type and many strides; and
// the one that a graph gets.
#include <doctest/doctest.h>

#include "described.hpp"
#include "graph/from_description.hpp"

namespace dmlop::test::total_size_test {
namespace {

using Json = nlohmann::ordered_json;

/// A tensor and the last element that it reaches, counted from 1.
struct Reach {
  Json sizes, strides;  // null if it is packed
  std::uint64_t elements;
};

std::vector<Reach> reaches() {
  std::vector<Reach> all;
  for (std::uint64_t count = 1; count <= 20; ++count) {
    all.push_back({{count}, nullptr, count});
    for (const std::uint64_t stride : {2, 3, 5})
      all.push_back({{count}, {stride}, (count - 1) * stride + 1});
    if (count % 2 == 1) {
      all.push_back({{3, count}, nullptr, 3 * count});
      all.push_back({{3, count}, {count + 2, 1}, 2 * (count + 2) + count});
      all.push_back({{3, count}, {1, 3}, 2 + (count - 1) * 3 + 1});
    }
  }
  return all;
}

/// A desc of an operator whose tensor has the type and a total size.
Json desc_with(const std::string& name, const Reach& reach, const std::string& type,
               std::uint64_t total) {
  Json tensor{{"DataType", type}, {"Sizes", reach.sizes}, {"TotalTensorSizeInBytes", total}};
  if (!reach.strides.is_null()) tensor["Strides"] = reach.strides;
  const Json packed{{"DataType", type}, {"Sizes", reach.sizes}};
  const Json floats{{"DataType", "FLOAT32"}, {"Sizes", reach.sizes}};
  if (name == "DEQUANTIZE")
    return {{"InputTensor", tensor},
            {"QuantizationType", "SCALE"},
            {"QuantizationTensors", Json::array({floats})}};
  if (name == "QUANTIZE")
    return {{"InputTensor", floats},
            {"QuantizationType", "SCALE"},
            {"QuantizationTensors", Json::array({floats})},
            {"OutputTensor", tensor}};
  return {{"InputTensor", tensor}, {"OutputTensor", packed}};
}

std::uint64_t total_in_graph(const std::string& name, const dmlop::Description& description) {
  const auto operation = dmlop::graph_operator(description);
  return (name == "QUANTIZE" ? operation.outputs : operation.inputs).at(0).total_size_in_bytes;
}

/// Checks the smallest total size of all reaches, and returns how many there are.
std::size_t check_totals(const std::string& name, const std::string& type, std::uint64_t bits) {
  CAPTURE(name);
  CAPTURE(type);
  std::size_t count = 0;
  for (const Reach& reach : reaches()) {
    CAPTURE(reach.sizes);
    CAPTURE(reach.strides);
    // Whole bytes, and of these whole multiples of 4.
    std::uint64_t least = 0;
    while (8 * least < reach.elements * bits) least += 4;
    const auto unsaid = check_desc(name, desc_with(name, reach, type, 0));
    REQUIRE_MESSAGE(unsaid.diagnostics.empty(), messages_of(unsaid.diagnostics));
    CHECK(total_in_graph(name, *unsaid.description) == least);
    const auto accepted = check_desc(name, desc_with(name, reach, type, least));
    CHECK_MESSAGE(accepted.diagnostics.empty(), messages_of(accepted.diagnostics));
    for (const std::uint64_t less : {least - 4, least - 1}) {
      if (less == 0) continue;  // it is not given
      const std::string said =
          messages_of(check_desc(name, desc_with(name, reach, type, less)).diagnostics);
      const std::string tensor = name == "QUANTIZE" ? "OutputTensor" : "InputTensor";
      CHECK(said == tensor + ".TotalTensorSizeInBytes is " + std::to_string(less) +
                        ", must be at least " + std::to_string(least));
    }
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("total sizes: 4 bytes less than the last element needs is too little, for every type") {
  std::size_t count = 0;
  for (const auto& [type, bits] : {std::pair("FLOAT64", 64),
                                   {"FLOAT32", 32},
                                   {"FLOAT16", 16},
                                   {"UINT64", 64},
                                   {"UINT32", 32},
                                   {"UINT16", 16},
                                   {"UINT8", 8},
                                   {"INT64", 64},
                                   {"INT32", 32},
                                   {"INT16", 16},
                                   {"INT8", 8}})
    count += check_totals("ELEMENT_WISE_IDENTITY", type, static_cast<std::uint64_t>(bits));
  for (const std::string name : {"QUANTIZE", "DEQUANTIZE"}) {
    for (const std::string type : {"UINT4", "INT4"}) count += check_totals(name, type, 4);
    for (const std::string type : {"UINT8", "INT8"}) count += check_totals(name, type, 8);
  }
  CHECK(count == 19 * 110);
}

}  // namespace dmlop::test::total_size_test
