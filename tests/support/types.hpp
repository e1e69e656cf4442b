// The sets of types that the operators' support tables name.
#pragma once

#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop::test {

using Types = std::vector<DataType>;

inline const Types F2{DataType::Float32, DataType::Float16};
inline const Types A8{DataType::Float32, DataType::Float16, DataType::Int32,  DataType::Int16,
                      DataType::Int8,    DataType::UInt32,  DataType::UInt16, DataType::UInt8};
inline const Types A11{DataType::Float32, DataType::Float16, DataType::Int32,  DataType::Int16,
                       DataType::Int8,    DataType::UInt32,  DataType::UInt16, DataType::UInt8,
                       DataType::Float64, DataType::Int64,   DataType::UInt64};

}  // namespace dmlop::test
