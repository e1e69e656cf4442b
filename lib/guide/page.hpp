// The page that `dmlop ops --html` writes: everything that is known about operators, in one file
// that needs no network. Each operator is a view of its own with its own address (#PADDING).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.hpp"

namespace dmlop {

/// How the page begins, so that a file can be told from others.
inline constexpr std::string_view operators_page_beginning =
    "<!DOCTYPE html>\n<!-- DirectML operators, written by dmlop";

/// The page about these operators, in the order of their families. The same arguments give the same
/// bytes.
std::string operators_page(const std::vector<const OperatorSpec*>& operators,
                           std::string_view version);

}  // namespace dmlop
