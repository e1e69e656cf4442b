// --strict-indices: which inputs of which operators hold indices, which of these are out of range,
// and what is said about them. What becomes of the run is strict_run_test.cpp.
#include "job/strict_indices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/findings_error.hpp"
#include "described.hpp"
#include "ops/indexed_inputs.hpp"
#include "ops/operator.hpp"
#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test::strict_indices_test {
namespace {

using Json = nlohmann::ordered_json;

using Ordered = Json;

Ordered tensor(const std::string& type, const List& sizes) {
  return {{"DataType", type}, {"Sizes", sizes}};
}

/// Valid indices, from the first to the last. An empty one: the element is no index.
struct Range {
  double first = 0;
  double last = -1;
};

/// A small description of an operator that reads indices.
struct IndexRow {
  std::string name;
  Ordered desc;
  std::string field;          // the input that holds indices
  std::vector<Range> ranges;  // of all, or by their place along the last dimension
  std::string text;           // the same, in the message
};

Ordered region_fields(const Ordered& more) {
  Ordered desc{{"ROITensor", tensor("FLOAT32", {3, 4})},
               {"BatchIndicesTensor", tensor("UINT32", {3})},
               {"ReductionFunction", "AVERAGE"},
               {"InterpolationMode", "NEAREST_NEIGHBOR"},
               {"SpatialScaleX", 1},
               {"SpatialScaleY", 1},
               {"MinimumSamplesPerOutput", 1},
               {"MaximumSamplesPerOutput", 1}};
  desc.update(more);
  return desc;
}

const Ordered images = tensor("FLOAT32", {2, 1, 4, 4});
const Ordered grids = tensor("FLOAT32", {3, 1, 2, 2});
const Ordered offsets{
    {"InputPixelOffset", 0.5}, {"OutputPixelOffset", -0.5}, {"AlignRegionsToCorners", false}};

Ordered with(Ordered desc, const Ordered& more) {
  desc.update(more);
  return desc;
}

std::vector<IndexRow> index_rows() {
  const Ordered matrix = tensor("FLOAT32", {4, 5});
  const Ordered cube = tensor("FLOAT32", {2, 3, 5});
  const Ordered elements{
      {"InputTensor", matrix}, {"IndicesTensor", tensor("INT32", {4, 3})}, {"Axis", 1}};
  const Ordered blocks{{"InputTensor", cube},
                       {"IndicesTensor", tensor("INT64", {1, 4, 2})},
                       {"InputDimensionCount", 3},
                       {"IndicesDimensionCount", 2}};
  return {
      {"GATHER",
       {{"InputTensor", matrix},
        {"IndicesTensor", tensor("INT64", {1, 3})},
        {"Axis", 0},
        {"IndexDimensions", 1}},
       "IndicesTensor",
       {{-4, 3}},
       "from -4 to 3"},
      {"GATHER_ELEMENTS", elements, "IndicesTensor", {{-5, 4}}, "from -5 to 4"},
      {"GATHER_ND",
       blocks,
       "IndicesTensor",
       {{-2, 1}, {-3, 2}},
       "[..., 0] from -2 to 1, [..., 1] from -3 to 2"},
      {"GATHER_ND1",
       {{"InputTensor", cube},
        {"IndicesTensor", tensor("UINT32", {2, 4, 2})},
        {"InputDimensionCount", 3},
        {"IndicesDimensionCount", 3},
        {"BatchDimensionCount", 1}},
       "IndicesTensor",
       {{0, 2}, {0, 4}},
       "[..., 0] from 0 to 2, [..., 1] from 0 to 4"},
      {"MAX_UNPOOLING",
       {{"InputTensor", tensor("FLOAT32", {1, 1, 2, 2})},
        {"IndicesTensor", tensor("UINT64", {1, 1, 2, 2})},
        {"OutputTensor", tensor("FLOAT32", {1, 1, 3, 4})}},
       "IndicesTensor",
       {{0, 11}},
       "from 0 to 11"},
      {"ONE_HOT",
       {{"IndicesTensor", tensor("INT32", {3, 1})},
        {"ValuesTensor", tensor("FLOAT32", {1, 2})},
        {"OutputTensor", tensor("FLOAT32", {3, 6})},
        {"Axis", 1}},
       "IndicesTensor",
       {{-6, 5}},
       "from -6 to 5"},
      {"ROI_ALIGN",
       region_fields(
           {{"InputTensor", images}, {"OutputTensor", grids}, {"OutOfBoundsInputValue", 0}}),
       "BatchIndicesTensor",
       {{0, 1}},
       "from 0 to 1"},
      {"ROI_ALIGN1",
       with(region_fields(
                {{"InputTensor", images}, {"OutputTensor", grids}, {"OutOfBoundsInputValue", 0}}),
            offsets),
       "BatchIndicesTensor",
       {{0, 1}},
       "from 0 to 1"},
      {"ROI_ALIGN_GRAD",
       with(region_fields({{"InputTensor", images},
                           {"InputGradientTensor", grids},
                           {"OutputGradientTensor", images},
                           {"OutputROIGradientTensor", tensor("FLOAT32", {3, 4})}}),
            offsets),
       "BatchIndicesTensor",
       {{0, 1}},
       "from 0 to 1"},
      {"ROI_POOLING",
       {{"InputTensor", tensor("FLOAT16", {3, 1, 4, 4})},
        {"ROITensor", tensor("FLOAT16", {1, 1, 2, 5})},
        {"SpatialScale", 1},
        {"PooledSize", {{"Width", 2}, {"Height", 2}}}},
       "ROITensor",
       {{0, 2}, {}, {}, {}, {}},
       "[..., 0] from 0 to 2"},
      {"SCATTER_ELEMENTS",
       with(elements, {{"UpdatesTensor", tensor("FLOAT32", {4, 3})}}),
       "IndicesTensor",
       {{-5, 4}},
       "from -5 to 4"},
      {"SCATTER_ND",
       with(blocks, {{"UpdatesTensor", tensor("FLOAT32", {1, 4, 5})}}),
       "IndicesTensor",
       {{-2, 1}, {-3, 2}},
       "[..., 0] from -2 to 1, [..., 1] from -3 to 2"},
  };
}

Description described(const std::string& name, const Ordered& desc) {
  Checked checked = check_desc(name, desc);
  for (const Diagnostic& finding : checked.diagnostics) FAIL(name << ": " << to_text(finding));
  return std::move(*checked.description);
}

/// What --strict-indices says about the elements of the one input that holds indices.
Diagnostics findings_of(const Description& description, std::span<const std::byte> elements,
                        unsigned threads = 2) {
  const ExecutionOptions options{.threads = threads, .strict_indices = true};
  try {
    check_indices(make_plan(description), description, options, [&](std::size_t) {
      return InputSource{elements, "indices.npy"};
    });
  } catch (const FindingsError& error) {
    CHECK(error.kind() == ErrorKind::invalid_input);
    return error.findings();
  }
  return {};
}

std::string message_of(const Description& description, std::span<const std::byte> elements) {
  const Diagnostics findings = findings_of(description, elements);
  return findings.empty() ? "" : findings.front().message;
}

void set_number(Tensor& tensor, const Index& at, double value) {
  std::memcpy(tensor.at(at), element(tensor.type, value).data(), tensor.element_size());
}

// Every place of the tensor, and both ends of its range.
void check_row(const IndexRow& row) {
  CAPTURE(row.name);
  const Description description = described(row.name, row.desc);
  const TensorDesc& desc = *description.find_tensor(row.field);
  Tensor indices = Tensor::packed(*desc.data_type, desc.sizes);
  CHECK(findings_of(description, indices.bytes).empty());  // zeros
  for_each_index(desc.sizes, [&](const Index& at) {
    const Range range = row.ranges.size() == 1 ? row.ranges[0] : row.ranges[at.back()];
    const bool is_unsigned = info(indices.type).kind == NumberKind::unsigned_integer;
    for (const double value : {range.first - 1, range.first, range.last, range.last + 1}) {
      if (value < 0 && is_unsigned) continue;
      CAPTURE(value);
      set_number(indices, at, value);
      const bool is_index = range.first <= range.last;
      const bool is_wrong = is_index && (value < range.first || value > range.last);
      const Diagnostics findings = findings_of(description, indices.bytes);
      REQUIRE(findings.size() == (is_wrong ? 1 : 0));
      if (!is_wrong) continue;
      CHECK(findings[0].message.ends_with(" indices in " + row.field +
                                          " is out of range: " + list_of(at) + " is " +
                                          std::to_string(static_cast<int>(value))));
      CHECK(findings[0].message.starts_with("1 of "));
      CHECK(findings[0].rule == "--strict-indices: an index in " + row.field + " is " + row.text);
      CHECK(findings[0].suggestion.text() == "correct indices.npy; dmlop ops " + row.name +
                                                 " says what such an index means without "
                                                 "--strict-indices");
    }
    set_number(indices, at, 0);
  });
}

TEST_CASE("strict indices: every operator's, at every place and at both ends of their range") {
  for (const IndexRow& row : index_rows()) check_row(row);
}

// An operator that is new, or an input that is new to one, has to come into the table above.
TEST_CASE("strict indices: no operator that reads indices is left out") {
  std::set<std::string> known, found;
  for (const IndexRow& row : index_rows()) known.insert(row.name + " " + row.field);
  std::size_t operators = 0;
  for (const std::string& name : specified_operators()) {
    if (find_operator(name) == nullptr) continue;
    ++operators;
    const OperatorSpec& spec = *find_spec(name);
    for (const FieldSpec& field : spec.fields) {
      if (field.is_input() && field.name.find("Indices") != std::string::npos)
        CHECK_MESSAGE(known.count(name + " " + field.name) == 1, name << " " << field.name);
    }
    for (const Ordered* desc : golden_descs_of(name)) {
      const Checked checked = check_desc(name, *desc);
      if (!checked.diagnostics.empty()) continue;
      const Plan plan = make_plan(*checked.description);
      for (const IndexedInput& input : indexed_inputs(plan))
        found.insert(name + " " + plan.slots[input.slot].field);
      break;
    }
  }
  CHECK(operators > 170);
  CHECK(found == known);
}

TEST_CASE("strict indices: all types of indices, at the ends of 64 bits") {
  struct TypeRow {
    std::string type;
    std::string value;
    std::uint64_t bits;
    bool is_wrong;
  };
  const std::vector<TypeRow> rows{
      {"INT32", "-4", 0xffff'fffc, false},
      {"INT32", "-2147483648", 0x8000'0000, true},
      {"UINT32", "4294967295", 0xffff'ffff, true},
      {"INT64", "4294967296", 0x1'0000'0000, true},
      {"INT64", "-1", ~std::uint64_t{0}, false},
      {"INT64", "-9223372036854775808", std::uint64_t{1} << 63, true},
      {"UINT64", "4294967296", 0x1'0000'0000, true},
      {"UINT64", "18446744073709551615", ~std::uint64_t{0}, true},
  };
  for (const TypeRow& row : rows) {
    CAPTURE(row.type);
    CAPTURE(row.value);
    Ordered desc = index_rows().front().desc;  // into 4 elements
    desc["IndicesTensor"]["DataType"] = row.type;
    const Description description = described("GATHER", desc);
    Tensor indices = Tensor::packed(*description.tensor("IndicesTensor").data_type, {1, 3});
    std::memcpy(indices.at({0, 2}), &row.bits, indices.element_size());
    CHECK(message_of(description, indices.bytes) ==
          (row.is_wrong ? "1 of 3 indices in IndicesTensor is out of range: [0, 2] is " + row.value
                        : ""));
  }
}

TEST_CASE("strict indices: a batch that is a fraction, infinite or NaN") {
  const IndexRow pooling = index_rows().at(9);
  REQUIRE(pooling.name == "ROI_POOLING");
  const double infinity = std::numeric_limits<double>::infinity();
  const Description description = described(pooling.name, pooling.desc);
  const std::vector<std::pair<double, std::string>> rows{
      {2.5, ""}, {-0.5, "-0.5"}, {infinity, "inf"}, {std::nan(""), "nan"}};
  for (const auto& row : rows) {
    const double value = row.first;
    const std::string& text = row.second;
    CAPTURE(value);
    Tensor boxes = Tensor::packed(DataType::Float16, {1, 1, 2, 5});
    set_number(boxes, {0, 0, 1, 0}, value);
    CHECK(message_of(description, boxes.bytes) ==
          (text.empty() ? ""
                        : "1 of 2 indices in ROITensor is out of range: [0, 0, 1, 0] is " + text));
  }
}

TEST_CASE("strict indices: the first eight of millions, whichever thread finds them") {
  const List sizes{3, 300'000};  // more than a thread takes at a time
  Ordered desc = index_rows().front().desc;
  desc["IndicesTensor"] = tensor("INT32", sizes);
  desc["InputTensor"] = tensor("FLOAT32", {1, 4});
  desc["Axis"] = 1;
  desc["IndexDimensions"] = 2;
  const Description description = described("GATHER", desc);
  Tensor indices = Tensor::packed(DataType::Int32, sizes);
  for (const std::uint64_t column : {std::uint64_t{5}, std::uint64_t{299'999}}) {
    for (std::uint64_t row = 0; row < 3; ++row) set_number(indices, {row, column}, 4);
  }
  for (const unsigned threads : {1U, 3U}) {
    CHECK(findings_of(description, indices.bytes, threads).front().message ==
          "6 of 900000 indices in IndicesTensor are out of range: [0, 5] is 4, [0, 299999] is 4, "
          "[1, 5] is 4, [1, 299999] is 4, [2, 5] is 4, [2, 299999] is 4");
  }
  for (std::uint64_t column = 0; column < sizes[1]; ++column) set_number(indices, {1, column}, 7);
  for (const unsigned threads : {1U, 3U}) {
    CHECK(findings_of(description, indices.bytes, threads).front().message ==
          "300004 of 900000 indices in IndicesTensor are out of range: [0, 5] is 4, [0, 299999] is "
          "4, [1, 0] is 7, [1, 1] is 7, [1, 2] is 7, [1, 3] is 7, [1, 4] is 7, [1, 5] is 7 and "
          "299996 more");
  }
}

TEST_CASE("strict indices: strides say where indices stand, and one for all is named for each") {
  Ordered desc = index_rows().at(1).desc;  // GATHER_ELEMENTS of 5
  desc["IndicesTensor"]["Strides"] = {1, 4};
  const std::vector<std::int32_t> columns{0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, -6};
  CHECK(message_of(described("GATHER_ELEMENTS", desc), std::as_bytes(std::span(columns))) ==
        "2 of 12 indices in IndicesTensor are out of range: [2, 0] is 5, [3, 2] is -6");
  desc["IndicesTensor"]["Strides"] = {0, 1};
  const std::vector<std::int32_t> row{0, 9, 0};
  CHECK(message_of(described("GATHER_ELEMENTS", desc), std::as_bytes(std::span(row))) ==
        "4 of 12 indices in IndicesTensor are out of range: [0, 1] is 9, [1, 1] is 9, [2, 1] is 9, "
        "[3, 1] is 9");
}

}  // namespace
}  // namespace dmlop::test::strict_indices_test
