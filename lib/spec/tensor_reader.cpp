#include "spec/tensor_reader.hpp"

#include <algorithm>
#include <limits>

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

// Whether the value has the type and the sizes of a tensor.
bool is_desc(const json::Value& value) {
  const json::Value* type = value.find("DataType");
  const json::Value* sizes = value.find("Sizes");
  if (type == nullptr || sizes == nullptr) return false;
  const auto& types = enum_values("DML_TENSOR_DATA_TYPE");
  const auto is_its = [&](const EnumValue& known) { return known.name == type->text; };
  const auto is_number = [](const json::Value& size) { return size.kind == Kind::number; };
  return std::any_of(types.begin(), types.end(), is_its) &&
         std::all_of(sizes->items.begin(), sizes->items.end(), is_number);
}

class TensorReader {
 public:
  TensorReader(FieldReader& reader, std::string name) : reader_(reader), name_(std::move(name)) {}

  std::optional<TensorDesc> read(const json::Value& value) {
    const json::Value* object = &value;
    if (const json::Value* nested = value.find("Desc")) object = nested;
    if (object->kind != Kind::object) {
      const std::string example = R"({"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]})";
      reader_.expected(*object, name_,
                       {"an object such as " + example, Form::tensor, example, is_desc});
      return std::nullopt;
    }
    if (object != &value) {
      reader_.refuse_unknown(value, {"Type", "Desc"}, "a tensor desc with Desc");
      read_type(value);
    }
    read_type(*object);
    reader_.refuse_unknown(*object, {tensor_desc_members.begin(), tensor_desc_members.end()},
                           "a tensor desc");
    read_data_type(*object);
    read_layout(*object);
    read_buffer(*object);
    return desc_;
  }

 private:
  void read_type(const json::Value& object) {
    const json::Value* value = object.find("Type");
    if (value == nullptr) return;
    reader_.name_of(*value, name_ + ".Type", {"BUFFER"}, "DML_TENSOR_TYPE_");
  }

  void read_data_type(const json::Value& object) {
    const json::Value* value = object.find("DataType");
    if (value == nullptr) return;
    const std::string enum_name = "DML_TENSOR_DATA_TYPE";
    const auto type =
        reader_.enumeration(*value, name_ + ".DataType", enum_name, enum_values(enum_name));
    if (type) desc_.data_type = static_cast<DataType>(*type);
  }

  void read_layout(const json::Value& object) {
    if (const json::Value* value = object.find("Sizes")) {
      const auto sizes = reader_.sizes(*value, name_ + ".Sizes");
      if (sizes) desc_.sizes.assign(sizes->begin(), sizes->end());
      if (sizes && sizes->empty())
        reader_.expected(*value, name_ + ".Sizes", "an array with one size for each dimension",
                         "write [1] for a tensor of one element, or leave Sizes out");
    }
    if (const json::Value* value = object.find("Strides"); value && value->kind != Kind::null) {
      const auto strides = reader_.uint_array(*value, name_ + ".Strides");
      if (strides && !strides->empty()) desc_.strides.emplace(strides->begin(), strides->end());
    }
    if (const json::Value* value = object.find("Broadcast"))
      desc_.is_broadcast = reader_.boolean(*value, name_ + ".Broadcast").value_or(false);
    if (const json::Value* value = object.find("DimensionCount")) {
      // A forgotten count has a finding that says the right one: the length of Sizes.
      const std::int64_t least = !desc_.sizes.empty() && value->text == "0" ? 0 : 1;
      const auto count = reader_.integer(*value, name_ + ".DimensionCount", "UINT", least, 8);
      if (count) desc_.dimension_count = static_cast<std::size_t>(*count);
    }
  }

  void read_buffer(const json::Value& object) {
    constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
    if (const json::Value* value = object.find("TotalTensorSizeInBytes")) {
      const auto bytes =
          reader_.integer(*value, name_ + ".TotalTensorSizeInBytes", "UINT64", 0, int64_max);
      if (bytes && *bytes != 0) desc_.total_size_in_bytes = static_cast<std::uint64_t>(*bytes);
    }
    if (const json::Value* value = object.find("GuaranteedBaseOffsetAlignment")) {
      const auto bytes = reader_.uint(*value, name_ + ".GuaranteedBaseOffsetAlignment");
      desc_.base_offset_alignment = static_cast<std::uint64_t>(bytes.value_or(0));
    }
    if (const json::Value* value = object.find("Flags")) read_flags(*value);
  }

  void read_flags(const json::Value& value) {
    const std::vector<std::string> names{"NONE", "OWNED_BY_DML"};
    for (const std::size_t index :
         reader_.names_of(value, name_ + ".Flags", names, "DML_TENSOR_FLAG_")) {
      desc_.flags.push_back(names[index]);
    }
  }

  FieldReader& reader_;
  std::string name_;
  TensorDesc desc_;
};

}  // namespace

std::optional<TensorDesc> read_tensor(FieldReader& reader, const json::Value& value,
                                      const std::string& name) {
  return TensorReader(reader, name).read(value);
}

}  // namespace dmlop
