// Which inputs and attributes an operator of ONNX itself has in which version of ONNX's operators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnx/mapping.hpp"

namespace dmlop::onnx {

/// The versions of ONNX's operators that are read.
inline constexpr std::int64_t oldest_version = 7, newest_version = 26;

/// A row of the table. A name stands alone, or with the versions that have it: "axes 13..",
/// "axes ..12". Inputs are in their order; the last one may be any number of them: "inputs...".
struct Signature {
  const char* name;
  const char* inputs;
  const char* attributes;
  std::int64_t since = 1;               // the first version that has the operator
  std::int64_t until = newest_version;  // the last one
  const char* successor = "";           // what takes its place then
};

/// The row of an operator; null if it is none of ONNX itself that is mapped.
const Signature* find_signature(std::string_view name);

/// The attribute of a node's version that an unknown name may mean, and that the node does not
/// have; "" if there is none.
std::string attribute_meant(const Mapping& node, std::string_view name);

/// Refuses an operator, inputs and attributes that its version does not have, though another
/// version does. What no version has is left to require_all_read.
void require_signature(const Mapping& node);

}  // namespace dmlop::onnx
