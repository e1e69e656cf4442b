// What to type in Python, for remedies about arrays that NumPy saved.
#pragma once

#include <string>

#include "base/advice.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// "numpy.float32". Four bits are one byte in NumPy.
std::string numpy_name(DataType type);

/// "save array.astype(numpy.float32)".
Alternative casting(DataType type);

/// "save array.reshape(1, 1, 3, 4)".
Alternative reshaping(const Sizes& sizes);

/// The sizes with so many dimensions: ones are put in front, or the first are merged.
Sizes with_dimensions(const Sizes& sizes, std::size_t count);

}  // namespace dmlop
