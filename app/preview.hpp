// What a tensor holds, for people: statistics and its first elements.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "npy/elements.hpp"

namespace dmlop::app {

// A preview shows so many rows of so many elements; the rest is "...".
inline constexpr std::uint64_t preview_rows = 8;
inline constexpr std::uint64_t preview_columns = 12;

/// The first rows of the last dimension, in C order, with right-aligned elements; one line each.
std::string preview(const Elements& elements);

/// Two or more lines, each with its newline: statistics, then the first rows.
std::string contents_text(const Elements& elements);
/// The same as members of an object: "min", "max", "mean", "nanCount", "infinityCount", "first".
nlohmann::ordered_json contents_json(const Elements& elements);

}  // namespace dmlop::app
