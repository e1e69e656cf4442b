// Puts an operator into memory as an application of DirectML does. Where the fields lie is what a
// compiler says of DirectML.h (data/directml_structs.txt), and not what the library computes.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "layer/structs.hpp"
#include "spec/description.hpp"

namespace dmlop::test {

struct CompiledStruct {
  std::size_t bytes = 0;
  std::vector<std::pair<std::string, std::size_t>> members;  // with their offsets, in their order

  std::size_t offset(const std::string& member) const;
};

/// The structs of DirectML.h by name: "DML_PADDING_OPERATOR_DESC".
const std::map<std::string, CompiledStruct>& compiled_structs();

class StructBuilder {
 public:
  /// The DML_OPERATOR_DESC of a description that was checked. The builder owns the memory.
  layer::Address build(const Description& description);

  /// Bytes that begin with `value`, at an address that does not change.
  template <typename T>
  layer::Address keep(const T& value) {
    return keep(&value, sizeof(T));
  }
  template <typename T>
  layer::Address keep(const std::vector<T>& values) {
    return keep(values.data(), values.size() * sizeof(T));
  }

  /// All that is kept, beginning with what lies at `first`, as bytes that can stand anywhere:
  /// pointers are offsets with `mark` in their highest byte.
  std::string relocatable(layer::Address first) const;
  static constexpr std::uint64_t mark = 0xABULL << 56;

  /// Where a field of the struct that was built last lies.
  std::byte* field(const std::string& name);
  /// The DML_BUFFER_TENSOR_DESC of the struct that was built last, in the order of the fields.
  std::vector<layer::BufferTensorDesc*> buffers;

 private:
  layer::Address keep(const void* bytes, std::size_t count);
  layer::Address tensors(const std::vector<GraphTensor>& descs);
  layer::TypedDesc tensor(const GraphTensor& desc);
  layer::TypedDesc activation(const GraphActivation& desc);
  std::vector<std::byte> fields(const OperatorSpec& spec,
                                const std::vector<GraphAttribute>& attributes);
  void put(std::byte* at, const GraphValue& value);

  std::deque<std::vector<std::byte>> memory_;
  std::byte* fields_ = nullptr;
  const CompiledStruct* struct_ = nullptr;
};

}  // namespace dmlop::test
