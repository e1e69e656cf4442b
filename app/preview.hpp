// The first elements of a tensor, for people.
#pragma once

#include <cstdint>
#include <string>

#include "npy/elements.hpp"

namespace dmlop::app {

// A preview shows so many rows of so many elements; the rest is "...".
inline constexpr std::uint64_t preview_rows = 8;
inline constexpr std::uint64_t preview_columns = 12;

/// The first rows of the last dimension, in C order, with right-aligned elements; one line each.
std::string preview(const Elements& elements);

}  // namespace dmlop::app
