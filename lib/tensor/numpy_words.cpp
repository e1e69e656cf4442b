#include "tensor/numpy_words.hpp"

#include "base/text.hpp"

namespace dmlop {

std::string numpy_name(DataType type) {
  return "numpy." + lower_case(std::string(name_of(stored_as(type))));
}

Alternative casting(DataType type) {
  return {.kind = Alternative::Kind::save, .value = "array.astype(" + numpy_name(type) + ")"};
}

Alternative reshaping(const Sizes& sizes) {
  const std::string list = list_of(sizes);
  return {.kind = Alternative::Kind::save,
          .value = "array.reshape(" + list.substr(1, list.size() - 2) + ")"};
}

Sizes with_dimensions(const Sizes& sizes, std::size_t count) {
  Sizes result = sizes;
  while (result.size() < count) result.insert(result.begin(), 1);
  while (result.size() > count && result.size() > 1) {
    result[1] *= result[0];
    result.erase(result.begin());
  }
  return result;
}

}  // namespace dmlop
