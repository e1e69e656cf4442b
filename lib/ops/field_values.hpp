// Fields whose value becomes an element of a tensor.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/diagnostic.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// The bytes of a DML_SCALAR_UNION that is there, as an element in its first bytes.
std::array<std::byte, 8> scalar(const Description& description, std::string_view field);

/// The value of a FLOAT field, truncated toward zero, must fit an integer tensor's type: else there
/// is a finding.
void check_fits(const Description& description, std::string_view field,
                std::optional<DataType> type, Diagnostics& diagnostics);

}  // namespace dmlop
