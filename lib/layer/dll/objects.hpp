// Which IDMLOperator is which operator. An operator is forgotten when DirectML releases it.
#pragma once

#include <memory>

#include "layer/dll/directml.hpp"
#include "layer/read_operator.hpp"

namespace dmlop::layer {

/// Hangs what was read on an object that CreateOperator made. Several threads may call it.
void remember_operator(void* made, ReadOperator operation);

/// Null if the address is no operator that lives. It is not dereferenced.
std::shared_ptr<const ReadOperator> find_operator_object(Address address);

}  // namespace dmlop::layer
