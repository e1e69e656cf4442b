// Limits of a text of C++. It is a stranger's, and takes time and memory in proportion to them.
#pragma once

#include <cstddef>

namespace dmlop::cpp {

inline constexpr std::size_t max_text_bytes = std::size_t{1} << 20;

/// All values together. A description has far fewer, but copies of copies grow without end.
inline constexpr std::size_t max_values = 500'000;

inline constexpr std::size_t max_elements = 4096;  // of an array; more than any field has
inline constexpr std::size_t max_members = 256;  // of a struct; no struct of DirectML.h has as many
inline constexpr std::size_t max_structs = 256;  // that the text defines

/// So many blocks, calls and parentheses may be nested.
inline constexpr std::size_t max_statement_depth = 200;

/// What is evaluated more than once: the bodies of loops and of functions. A limit that is met
/// makes what the rest of them would assign unresolved.
inline constexpr std::size_t max_iterations = 1024;  // of a loop
inline constexpr std::size_t max_steps = 100'000;    // tokens and values, together
inline constexpr std::size_t max_nested_calls = 12;

/// Functions and lambdas of the text that may be called, and the names that they see, together.
inline constexpr std::size_t max_functions = 256;
inline constexpr std::size_t max_kept_names = 100'000;

inline constexpr std::size_t max_warnings = 16;

}  // namespace dmlop::cpp
