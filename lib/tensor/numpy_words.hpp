// What to type in Python, for remedies about arrays that NumPy saved.
#pragma once

#include <string>
#include <vector>

#include "base/advice.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// "numpy.float32". Four bits are one byte in NumPy.
std::string numpy_name(DataType type);

/// "save array.astype(numpy.float32)", with what is then done to the array behind it.
Alternative casting(DataType type, Alternative then = {});

/// "save array.reshape(1, 1, 3, 4)".
Alternative reshaping(const Sizes& sizes);

/// "save array.transpose(0, 3, 1, 2)", or "save array.transpose(2, 0, 1).reshape(1, 3, 8, 9)".
Alternative transposing(const std::vector<std::size_t>& order, const Sizes& reshaped = {});

/// "save numpy.broadcast_to(array, (10, 32))".
Alternative broadcasting(const Sizes& sizes);

/// Whether NumPy broadcasts an array of the sizes `from` to those of `to`.
bool are_stretched(const Sizes& from, const Sizes& to);

/// Orders of dimensions in which an array may be that is wanted in another one, the likeliest
/// first: channels that are the last dimension, and matrices that are transposed.
std::vector<std::vector<std::size_t>> other_orders(std::size_t dimensions);

/// The sizes of an array whose dimensions have another order.
Sizes in_order(const Sizes& sizes, const std::vector<std::size_t>& order);

/// As reshaping(), but where both have the same sizes in another order, the array is transposed:
/// reshaped, it would hold its elements in the wrong places.
Alternative rearranging(const Sizes& from, const Sizes& to);

/// Whether only a transposed array has the other sizes, apart from ones.
bool is_transposed(const Sizes& from, const Sizes& to);

/// Whether merging neighboring dimensions makes the sizes of one array those of the other, apart
/// from ones: [2, 3, 4] and [6, 4]. The elements then lie in the same order.
bool are_merged(const Sizes& a, const Sizes& b);

/// The sizes other than 1.
Sizes without_ones(Sizes sizes);

/// The sizes with so many dimensions: ones are put in front, or the first are merged.
Sizes with_dimensions(const Sizes& sizes, std::size_t count);

}  // namespace dmlop
