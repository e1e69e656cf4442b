// The structs of DirectML.h: the names of their members, in their order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.hpp"

namespace dmlop::cpp {

struct Member {
  std::string name;
  std::string type = {};  // of a struct that it holds by value, or of a number: "UINT"
};

/// The members of a struct of DirectML.h; nothing for other types.
std::optional<std::vector<Member>> members_of(std::string_view type);

/// The operator of "DML_PADDING_OPERATOR_DESC", or null.
const OperatorSpec* operator_of(std::string_view type);

}  // namespace dmlop::cpp
