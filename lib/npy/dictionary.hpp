// The header of a .npy file: the literal of a Python dictionary.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop::npy {

struct ElementType {
  DataType data_type;
  bool big_endian;
};

struct Dictionary {
  ElementType element;
  bool fortran_order;
  std::vector<std::uint64_t> sizes;
};

/// Reads a dictionary with exactly the three keys of .npy, in one pass. Errors: invalid_input.
Dictionary read_dictionary(std::string_view text);

}  // namespace dmlop::npy
