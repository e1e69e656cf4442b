// Structs of DirectML.h in memory: where their fields lie, as a compiler says; operators that are
// put there and read back; and pointers and counts that are wrong.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "described.hpp"
#include "fused_gemm.hpp"
#include "graph/from_description.hpp"
#include "layer/memory.hpp"
#include "layer/read_operator.hpp"
#include "layer/struct_layout.hpp"
#include "spec/facts.hpp"
#include "struct_builder.hpp"

namespace dmlop::struct_reader_test {
namespace {

using Json = nlohmann::ordered_json;

using namespace dmlop::layer;
using test::messages_of;
using test::StructBuilder;

Description checked(const std::string& operator_name, const nlohmann::ordered_json& desc) {
  auto checked = test::check_desc(operator_name, desc, Judge::directml);
  REQUIRE_MESSAGE(checked.diagnostics.empty(), operator_name, ": ",
                  messages_of(checked.diagnostics));
  return std::move(*checked.description);
}

Description example_of(const std::string& operator_name) {
  return checked(operator_name, nlohmann::ordered_json::parse(find_spec(operator_name)->example));
}

/// Puts the operator into memory and reads it back.
void check_round_trip(const Description& description, const std::string& what) {
  CAPTURE(what);
  StructBuilder builder;
  Diagnostics findings;
  const auto read = read_operator(builder.build(description), findings);
  REQUIRE_MESSAGE(read.has_value(), messages_of(findings));
  CHECK(read->operation() == graph_operator(description));
  CHECK(read->description()["type"] == "DML_OPERATOR_" + description.spec->name);
  const Description again = checked(description.spec->name, read->description()["desc"]);
  CHECK(graph_operator(again) == graph_operator(description));
}

/// What is said of a struct after `damage` changed it.
std::string finding_after(const std::string& operator_name,
                          const std::function<void(StructBuilder&)>& damage) {
  StructBuilder builder;
  const Address desc = builder.build(example_of(operator_name));
  damage(builder);
  Diagnostics findings;
  const auto read = read_operator(desc, findings);
  CHECK(read.has_value() == findings.empty());
  return messages_of(findings);
}

template <typename T>
void set(StructBuilder& builder, const std::string& field, T value) {
  std::memcpy(builder.field(field), &value, sizeof(value));
}

constexpr Address nowhere = 0x10;
constexpr Address beyond = 0x7fff'ffff'ffff'fff8;

}  // namespace

TEST_CASE("layer: fields lie where a compiler puts them, in all 177 structs") {
  std::size_t structs = 0, fields = 0;
  for (const std::string& name : specified_operators()) {
    CAPTURE(name);
    const OperatorSpec& spec = *find_spec(name);
    const StructLayout layout = layout_of(spec);
    const auto& compiled = test::compiled_structs().at("DML_" + name + "_OPERATOR_DESC");
    CHECK(layout.bytes == compiled.bytes);
    REQUIRE(layout.fields.size() == compiled.members.size());
    for (std::size_t i = 0; i < layout.fields.size(); ++i) {
      CHECK(layout.fields[i].field->name == compiled.members[i].first);
      CHECK(layout.fields[i].offset == compiled.members[i].second);
      ++fields;
    }
    ++structs;
  }
  CHECK(structs == 177);
  CHECK(fields > 900);
}

TEST_CASE("layer: the structs of tensors and graphs are those of DirectML.h") {
  const auto is = [](const char* name, std::size_t bytes, std::vector<std::size_t> offsets) {
    CAPTURE(name);
    const auto& compiled = test::compiled_structs().at(name);
    CHECK(compiled.bytes == bytes);
    std::vector<std::size_t> expected;
    for (const auto& [member, offset] : compiled.members) expected.push_back(offset);
    CHECK(offsets == expected);
  };
  for (const char* name : {"DML_TENSOR_DESC", "DML_GRAPH_NODE_DESC", "DML_GRAPH_EDGE_DESC"})
    is(name, sizeof(TypedDesc), {offsetof(TypedDesc, type), offsetof(TypedDesc, desc)});
  using Buffer = BufferTensorDesc;
  is("DML_BUFFER_TENSOR_DESC", sizeof(Buffer),
     {offsetof(Buffer, data_type), offsetof(Buffer, flags), offsetof(Buffer, dimension_count),
      offsetof(Buffer, sizes), offsetof(Buffer, strides), offsetof(Buffer, total_size_in_bytes),
      offsetof(Buffer, guaranteed_base_offset_alignment)});
  is("DML_OPERATOR_GRAPH_NODE_DESC", sizeof(OperatorNodeDesc),
     {offsetof(OperatorNodeDesc, operation), offsetof(OperatorNodeDesc, name)});
  using Constant = ConstantNodeDesc;
  is("DML_CONSTANT_DATA_GRAPH_NODE_DESC", sizeof(Constant),
     {offsetof(Constant, data), offsetof(Constant, data_size), offsetof(Constant, name)});
  using Input = InputEdgeDesc;
  is("DML_INPUT_GRAPH_EDGE_DESC", sizeof(Input),
     {offsetof(Input, graph_input), offsetof(Input, to_node), offsetof(Input, to_input),
      offsetof(Input, name)});
  using Output = OutputEdgeDesc;
  is("DML_OUTPUT_GRAPH_EDGE_DESC", sizeof(Output),
     {offsetof(Output, from_node), offsetof(Output, from_output), offsetof(Output, graph_output),
      offsetof(Output, name)});
  using Between = IntermediateEdgeDesc;
  is("DML_INTERMEDIATE_GRAPH_EDGE_DESC", sizeof(Between),
     {offsetof(Between, from_node), offsetof(Between, from_output), offsetof(Between, to_node),
      offsetof(Between, to_input), offsetof(Between, name)});
  using Table = BindingTableDesc;
  is("DML_BINDING_TABLE_DESC", sizeof(Table),
     {offsetof(Table, dispatchable), offsetof(Table, cpu_descriptor_handle),
      offsetof(Table, gpu_descriptor_handle), offsetof(Table, size_in_descriptors)});
  using Properties = BindingProperties;
  is("DML_BINDING_PROPERTIES", sizeof(Properties),
     {offsetof(Properties, required_descriptor_count),
      offsetof(Properties, temporary_resource_size),
      offsetof(Properties, persistent_resource_size)});
  is("DML_GRAPH_DESC", sizeof(GraphDesc),
     {offsetof(GraphDesc, input_count), offsetof(GraphDesc, output_count),
      offsetof(GraphDesc, node_count), offsetof(GraphDesc, nodes),
      offsetof(GraphDesc, input_edge_count), offsetof(GraphDesc, input_edges),
      offsetof(GraphDesc, output_edge_count), offsetof(GraphDesc, output_edges),
      offsetof(GraphDesc, intermediate_edge_count), offsetof(GraphDesc, intermediate_edges)});
}

TEST_CASE("layer: the example of every operator is read back from memory") {
  std::size_t examples = 0;
  for (const std::string& name : specified_operators()) {
    check_round_trip(example_of(name), name);
    ++examples;
  }
  CHECK(examples == 177);
}

TEST_CASE("layer: every description that DirectML ran is read back from memory") {
  std::size_t cases = 0;
  for (const Json& row : test::golden_descriptions()) {
    if (!row.at("ran").get<bool>()) continue;
    const auto found = test::check_desc(row.at("type"), row.at("desc"), Judge::directml);
    if (!found.diagnostics.empty()) continue;
    check_round_trip(*found.description, row.at("case"));
    ++cases;
  }
  CHECK(cases > 5000);
}

TEST_CASE("layer: whatever DirectML fuses into GEMM is read back from memory") {
  std::size_t fused = 0;
  for (const FusedActivation& activation : activations_fused_into("GEMM")) {
    const auto found =
        test::check_desc("GEMM", test::gemm_fused_with(activation.name), Judge::directml);
    REQUIRE_MESSAGE(found.diagnostics.empty(), messages_of(found.diagnostics));
    check_round_trip(*found.description, activation.name);
    ++fused;
  }
  CHECK(fused == 20);
}

TEST_CASE("layer: what a description has and a serialized graph does not is read, too") {
  StructBuilder builder;
  const Address desc = builder.build(example_of("JOIN"));
  builder.buffers[1]->flags = 1;
  builder.buffers[1]->guaranteed_base_offset_alignment = 32;
  Diagnostics findings;
  const auto read = read_operator(desc, findings);
  REQUIRE_MESSAGE(read.has_value(), messages_of(findings));
  const auto tensors = read->description()["desc"]["InputTensors"];
  CHECK_FALSE(tensors[0].contains("Flags"));
  CHECK(tensors[1]["Flags"] == "DML_TENSOR_FLAG_OWNED_BY_DML");
  CHECK(tensors[1]["GuaranteedBaseOffsetAlignment"] == 32);
}

TEST_CASE("layer: memory that is not there is not read") {
  std::array<std::byte, 4> bytes{};
  CHECK(copy_memory(reinterpret_cast<Address>(&nowhere), bytes));
  CHECK(bytes[0] == std::byte{0x10});
  CHECK_FALSE(copy_memory(0, bytes));
  CHECK_FALSE(copy_memory(nowhere, bytes));
  CHECK_FALSE(copy_memory(beyond, bytes));
  CHECK_FALSE(copy_memory(~Address{0}, bytes));
}

TEST_CASE("layer: pointers that point nowhere become findings") {
  const auto after = [](const auto& damage) { return finding_after("PADDING", damage); };
  CHECK(after([](StructBuilder&) {}) == "");
  CHECK(after([](auto& b) { set(b, "InputTensor", Address{0}); }) ==
        "InputTensor is null, must point to a DML_TENSOR_DESC");
  CHECK(after([](auto& b) { set(b, "OutputTensor", nowhere); }) ==
        "OutputTensor is 0x0000000000000010, where no DML_TENSOR_DESC can be read");
  CHECK(after([](auto& b) { b.buffers[0]->sizes = 0; }) ==
        "InputTensor.Sizes is null, and InputTensor.DimensionCount is 4");
  CHECK(after([](auto& b) { b.buffers[1]->strides = beyond; }) ==
        "OutputTensor.Strides is 0x7ffffffffffffff8, where 4 elements cannot be read");
  CHECK(after([](auto& b) { set(b, "EndPadding", nowhere); }) ==
        "EndPadding is 0x0000000000000010, where 4 elements cannot be read");
  CHECK(after([](auto& b) {
          set(b, "StartPadding", Address{0});
          set(b, "InputTensor", beyond);
        }) ==
        "InputTensor is 0x7ffffffffffffff8, where no DML_TENSOR_DESC can be read; "
        "StartPadding is null, and DimensionCount is 4");
  Diagnostics findings;
  CHECK_FALSE(read_operator(0, findings));
  CHECK_FALSE(read_operator(beyond, findings));
  StructBuilder builder;
  CHECK_FALSE(read_operator(builder.keep(TypedDesc{0, nowhere}), findings));
  CHECK_FALSE(read_operator(builder.keep(TypedDesc{-1, nowhere}), findings));
  CHECK_FALSE(read_operator(builder.keep(TypedDesc{1, 0}), findings));
  CHECK(messages_of(findings) ==
        "desc is null, must point to a DML_OPERATOR_DESC; "
        "desc is 0x7ffffffffffffff8, where no DML_OPERATOR_DESC can be read; "
        "Type is 0, which is not an operator of DirectML 1.15.4; "
        "Type is -1, which is not an operator of DirectML 1.15.4; "
        "Desc is null, must point to a DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC");
}

TEST_CASE("layer: counts of four billion are not believed") {
  CHECK(finding_after("PADDING", [](auto& b) { b.buffers[0]->dimension_count = ~0U; }) ==
        "InputTensor.DimensionCount is 4294967295, must be at most 8");
  CHECK(finding_after("PADDING", [](auto& b) { b.buffers[0]->dimension_count = 9; }) ==
        "InputTensor.DimensionCount is 9, must be at most 8");
  CHECK(finding_after("PADDING", [](auto& b) { set(b, "DimensionCount", ~0U); }) ==
        "DimensionCount is 4294967295, must be at most 65536; "
        "DimensionCount is 4294967295, must be at most 65536");
  CHECK(finding_after("JOIN", [](auto& b) { set(b, "InputCount", 0x8000'0000U); }) ==
        "InputCount is 2147483648, must be at most 65536");
}

TEST_CASE("layer: numbers that are none of DirectML.h become findings") {
  CHECK(finding_after("PADDING", [](auto& b) { b.buffers[0]->data_type = 0; }) ==
        "InputTensor.DataType is 0, which is not a type of elements");
  CHECK(finding_after("PADDING", [](auto& b) { b.buffers[1]->data_type = 14; }) ==
        "OutputTensor.DataType is 14, which is not a type of elements");
  CHECK(finding_after("PADDING", [](auto& b) { b.buffers[1]->flags = 6; }) ==
        "OutputTensor.Flags is 6, which are no DML_TENSOR_FLAGS");
  const auto type = [](std::int32_t number) {
    return finding_after("JOIN", [number](StructBuilder& b) {
      auto* first =
          reinterpret_cast<TypedDesc*>(*reinterpret_cast<Address*>(b.field("InputTensors")));
      first->type = number;
    });
  };
  CHECK(type(0) == "InputTensors[0].Type is 0, must be DML_TENSOR_TYPE_BUFFER (1)");
  CHECK(type(2) == "InputTensors[0].Type is 2, must be DML_TENSOR_TYPE_BUFFER (1)");
}

TEST_CASE("layer: what is fused must be an activation without tensors, so that reading it ends") {
  const auto fuse = [](const auto& make) {
    return finding_after("CONVOLUTION", [&](StructBuilder& b) {
      const TypedDesc desc = make(b);
      set(b, "FusedActivation", b.keep(desc));
    });
  };
  const auto itself = [](StructBuilder& b) {
    return TypedDesc{static_cast<std::int32_t>(*operator_value("CONVOLUTION")),
                     reinterpret_cast<Address>(b.field("InputTensor"))};
  };
  CHECK(fuse(itself) ==
        "FusedActivation.Type is DML_OPERATOR_CONVOLUTION, which is not an activation");
  const auto relu = static_cast<std::int32_t>(*operator_value("ACTIVATION_RELU"));
  CHECK(fuse([&](StructBuilder& b) {
          return TypedDesc{relu, b.keep(std::vector<Address>{0, 0})};
        }) == "");
  CHECK(fuse([&](StructBuilder& b) {
          return TypedDesc{relu, b.keep(std::vector<Address>{0, beyond})};
        }) == "FusedActivation.OutputTensor is not null");
  CHECK(fuse([&](StructBuilder&) {
          return TypedDesc{relu, 0};
        }) == "FusedActivation.Desc is null, must point to a DML_ACTIVATION_RELU_OPERATOR_DESC");
  CHECK(fuse([](StructBuilder&) {
          return TypedDesc{9999, nowhere};
        }) == "FusedActivation.Type is 9999, which is not an activation");
}

// BOOL is an int: whatever is not 0 is TRUE.
TEST_CASE("layer: every BOOL of every operator is TRUE for any number but 0") {
  std::size_t fields = 0;
  for (const std::string& name : specified_operators()) {
    for (const FieldSpec& field : find_spec(name)->fields) {
      if (field.kind != FieldKind::boolean) continue;
      ++fields;
      CAPTURE(name);
      CAPTURE(field.name);
      for (const std::int32_t value : {0, 1, 2, -1, 256}) {
        StructBuilder builder;
        const Address desc = builder.build(example_of(name));
        set(builder, field.name, value);
        Diagnostics findings;
        const auto read = read_operator(desc, findings);
        REQUIRE_MESSAGE(read.has_value(), messages_of(findings));
        CHECK(read->description()["desc"][field.name] == (value != 0 ? 1 : 0));
      }
    }
  }
  CHECK(fields == 20);
}

}  // namespace dmlop::struct_reader_test
