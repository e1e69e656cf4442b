// Writes small ONNX models, byte by byte, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dmlop::test::onnx_bytes {

inline std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number > 0x7F; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}

inline std::string number(unsigned field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}

inline std::string part(unsigned field, const std::string& bytes) {
  return varint(field << 3 | 2U) + varint(bytes.size()) + bytes;
}

inline std::string raw_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline std::string raw_integers(const std::vector<std::int64_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)};
}

/// A TensorProto without values, of ONNX's type (1 is FLOAT, 7 is INT64).
inline std::string tensor_head(const std::string& name, std::int64_t type,
                               const std::vector<std::int64_t>& sizes) {
  std::string bytes;
  for (const std::int64_t size : sizes) bytes += number(1, size);
  return bytes + number(2, type) + part(8, name);
}

inline std::string tensor(const std::string& name, std::int64_t type,
                          const std::vector<std::int64_t>& sizes, const std::string& raw) {
  return tensor_head(name, type, sizes) + part(9, raw);
}

/// A TensorProto whose values are a file beside the model.
inline std::string external_tensor(const std::string& name, std::int64_t type,
                                   const std::vector<std::int64_t>& sizes,
                                   const std::string& file) {
  return tensor_head(name, type, sizes) + number(14, 1) +
         part(13, part(1, "location") + part(2, file));
}

/// One element of BOOL.
inline std::string truth(const std::string& name, bool is_true) {
  return tensor(name, 9, {1}, std::string(1, is_true ? '\1' : '\0'));
}

// An AttributeProto with one value or several.

inline std::string integer(const std::string& name, std::int64_t value) {
  return part(1, name) + number(3, value) + number(20, 2);
}

inline std::string real(const std::string& name, float value) {
  return part(1, name) + varint(2 << 3 | 5) + raw_floats({value}) + number(20, 1);
}

inline std::string text(const std::string& name, const std::string& value) {
  return part(1, name) + part(4, value) + number(20, 3);
}

inline std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string bytes = part(1, name) + number(20, 7);
  for (const std::int64_t value : values) bytes += number(8, value);
  return bytes;
}

inline std::string reals(const std::string& name, const std::vector<float>& values) {
  return part(1, name) + number(20, 6) + part(7, raw_floats(values));
}

inline std::string texts(const std::string& name, const std::vector<std::string>& values) {
  std::string bytes = part(1, name) + number(20, 8);
  for (const std::string& value : values) bytes += part(9, value);
  return bytes;
}

inline std::string node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<std::string>& attributes = {}) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += part(1, input);
  for (const std::string& output : outputs) bytes += part(2, output);
  bytes += part(3, "node of " + outputs.front()) + part(4, type);
  for (const std::string& attribute : attributes) bytes += part(5, attribute);
  return bytes;
}

/// A node of a domain of its own, such as one that calls a function of the model.
inline std::string node_of(const std::string& domain, const std::string& type,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const std::vector<std::string>& attributes = {}) {
  return node(type, inputs, outputs, attributes) + part(7, domain);
}

/// A node of ONNX Runtime's own operators.
inline std::string microsoft_node(const std::string& type, const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs,
                                  const std::vector<std::string>& attributes = {}) {
  return node_of("com.microsoft", type, inputs, outputs, attributes);
}

/// A ValueInfoProto; a dimension is a number or a name.
inline std::string value(const std::string& name, const std::vector<std::string>& sizes,
                         std::int64_t type = 1) {
  std::string shape;
  for (const std::string& size : sizes) {
    const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
    shape += part(1, is_number ? number(1, std::stoll(size)) : part(2, size));
  }
  return part(1, name) + part(2, part(1, number(1, type) + part(2, shape)));
}

struct Parts {
  std::vector<std::string> nodes;
  std::vector<std::string> initializers = {};
  std::vector<std::string> inputs = {value("x", {"2", "3"})};
  std::vector<std::string> outputs = {value("y", {"2", "3"})};
  std::int64_t version = 17;
  std::string domain = "";  // of operators that are not ONNX's own
};

/// A GraphProto.
inline std::string graph(const Parts& parts) {
  std::string bytes;
  for (const std::string& one : parts.nodes) bytes += part(1, one);
  for (const std::string& one : parts.initializers) bytes += part(5, one);
  for (const std::string& one : parts.inputs) bytes += part(11, one);
  for (const std::string& one : parts.outputs) bytes += part(12, one);
  return bytes;
}

inline std::string graph_attribute(const std::string& name, const Parts& parts) {
  return part(1, name) + part(6, graph(parts)) + number(20, 5);
}

/// An attribute of a function's node that stands for one of the call.
inline std::string reference(const std::string& name, const std::string& of_call) {
  return part(1, name) + part(21, of_call) + number(20, 1);
}

inline std::string operator_set(const std::string& domain, std::int64_t version) {
  return part(8, part(1, domain) + number(2, version));
}

/// A FunctionProto of the domain "own".
struct FunctionParts {
  std::string name;
  std::vector<std::string> inputs, outputs, nodes;
  std::vector<std::string> defaults = {};  // attributes
  std::int64_t version = 17;
  std::vector<std::string> attributes = {};  // names of those without a default
};

inline std::string function(const FunctionParts& parts) {
  std::string bytes = part(1, parts.name) + part(10, "own");
  for (const std::string& one : parts.inputs) bytes += part(4, one);
  for (const std::string& one : parts.outputs) bytes += part(5, one);
  for (const std::string& one : parts.attributes) bytes += part(6, one);
  for (const std::string& one : parts.nodes) bytes += part(7, one);
  for (const std::string& one : parts.defaults) bytes += part(11, one);
  return bytes + part(9, part(1, "") + number(2, parts.version)) +
         part(9, part(1, "own") + number(2, 1));
}

inline std::string model(const Parts& parts, const std::vector<std::string>& functions = {}) {
  std::string bytes = number(1, 8) + part(7, graph(parts)) + operator_set("", parts.version);
  if (!parts.domain.empty()) bytes += operator_set(parts.domain, 1);
  if (!functions.empty()) bytes += operator_set("own", 1);
  for (const std::string& one : functions) bytes += part(25, one);
  return bytes;
}

}  // namespace dmlop::test::onnx_bytes
