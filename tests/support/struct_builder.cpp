#include "struct_builder.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "graph/from_description.hpp"
#include "paths.hpp"
#include "spec/facts.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::test {

using layer::Address;

std::size_t CompiledStruct::offset(const std::string& member) const {
  for (const auto& [name, offset] : members) {
    if (name == member) return offset;
  }
  throw std::logic_error("no member " + member);
}

const std::map<std::string, CompiledStruct>& compiled_structs() {
  static const auto structs = [] {
    std::map<std::string, CompiledStruct> read;
    std::ifstream file(test_data_path("directml_structs.txt"));
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name, member;
      words >> name;
      CompiledStruct& compiled = read[name];
      words >> compiled.bytes;
      while (words >> member) {
        const std::size_t colon = member.find(':');
        compiled.members.emplace_back(member.substr(0, colon),
                                      std::stoul(member.substr(colon + 1)));
      }
    }
    return read;
  }();
  return structs;
}

Address StructBuilder::keep(const void* bytes, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(bytes);
  memory_.emplace_back(first, first + count);
  return reinterpret_cast<Address>(memory_.back().data());
}

layer::TypedDesc StructBuilder::tensor(const GraphTensor& desc) {
  const auto type = data_type_named(desc.data_type.substr(21));  // behind DML_TENSOR_DATA_TYPE_
  layer::BufferTensorDesc buffer{};
  buffer.data_type = static_cast<std::int32_t>(type.value());
  buffer.dimension_count = static_cast<std::uint32_t>(desc.sizes.size());
  buffer.sizes = keep(desc.sizes);
  buffer.strides = desc.strides ? keep(*desc.strides) : 0;
  buffer.total_size_in_bytes = desc.total_size_in_bytes;
  const Address kept = keep(buffer);
  buffers.push_back(reinterpret_cast<layer::BufferTensorDesc*>(kept));
  return {1, kept};
}

Address StructBuilder::tensors(const std::vector<GraphTensor>& descs) {
  std::vector<layer::TypedDesc> list;
  for (const GraphTensor& desc : descs) list.push_back(tensor(desc));
  return keep(list);
}

layer::TypedDesc StructBuilder::activation(const GraphActivation& desc) {
  const OperatorSpec* spec = find_spec(without_operator_prefix(desc.type));
  return {static_cast<std::int32_t>(operator_value(spec->name).value()),
          keep(fields(*spec, desc.attributes))};
}

void StructBuilder::put(std::byte* at, const GraphValue& value) {
  const auto copy = [at](const auto& bytes) { std::memcpy(at, &bytes, sizeof(bytes)); };
  std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, GraphActivation>) {
          copy(keep(activation(held)));
        } else if constexpr (std::is_same_v<T, std::vector<GraphActivation>>) {
          std::vector<layer::TypedDesc> list;
          for (const GraphActivation& one : held) list.push_back(activation(one));
          copy(keep(list));
        } else if constexpr (std::is_same_v<T, GraphScaleBias> || requires { held.data(); }) {
          copy(keep(held));  // behind a pointer
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          copy(held);
        }
      },
      value);
}

std::vector<std::byte> StructBuilder::fields(const OperatorSpec& spec,
                                             const std::vector<GraphAttribute>& attributes) {
  const CompiledStruct& compiled = compiled_structs().at("DML_" + spec.name + "_OPERATOR_DESC");
  std::vector<std::byte> bytes(compiled.bytes);
  auto next = attributes.begin();
  for (const FieldSpec& field : spec.fields) {
    if (!field.is_tensor()) put(&bytes[compiled.offset(field.name)], next++->value);
  }
  return bytes;
}

Address StructBuilder::build(const Description& description) {
  buffers.clear();
  const OperatorSpec& spec = *description.spec;
  const GraphOperator operation = graph_operator(description);
  std::vector<std::byte> bytes = fields(spec, operation.attributes);
  struct_ = &compiled_structs().at("DML_" + spec.name + "_OPERATOR_DESC");
  auto input = operation.inputs.begin(), output = operation.outputs.begin();
  for (const FieldSpec& field : spec.fields) {
    if (!field.is_tensor() || description.find(field.name)->is_absent()) continue;
    auto& next = field.is_input() ? input : output;
    const auto end = field.is_input() ? operation.inputs.end() : operation.outputs.end();
    const Address address = field.is_tensor_array() ? tensors({next, end}) : keep(tensor(*next));
    next = field.is_tensor_array() ? end : next + 1;
    std::memcpy(&bytes[struct_->offset(field.name)], &address, sizeof(address));
  }
  const Address kept = keep(bytes);
  fields_ = reinterpret_cast<std::byte*>(kept);
  return keep(layer::TypedDesc{static_cast<std::int32_t>(operator_value(spec.name).value()), kept});
}

std::string StructBuilder::relocatable(Address first) const {
  std::vector<const std::vector<std::byte>*> parts;
  for (const auto& part : memory_) {
    const bool is_first = reinterpret_cast<Address>(part.data()) == first;
    parts.insert(is_first ? parts.begin() : parts.end(), &part);
  }
  std::map<Address, std::uint64_t> offsets;
  std::uint64_t end = 0;
  for (const auto* part : parts) {
    offsets.emplace(reinterpret_cast<Address>(part->data()), end);
    end += (part->size() + 7) / 8 * 8;
  }
  std::string bytes;
  for (const auto* part : parts) {
    for (std::size_t at = 0; at < part->size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &(*part)[at], std::min<std::size_t>(8, part->size() - at));
      if (const auto found = offsets.find(word); word != 0 && found != offsets.end())
        word = mark | found->second;
      bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
  }
  return bytes;
}

std::byte* StructBuilder::field(const std::string& name) {
  return fields_ + struct_->offset(name);
}

}  // namespace dmlop::test
