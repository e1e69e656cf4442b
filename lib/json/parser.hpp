// Turns strict JSON into values, with nlohmann/json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.hpp"

namespace dmlop::json {

inline constexpr std::size_t max_depth = 64;

struct Parsed {
  bool is_complete = false;
  Value root;
  std::string problem;         // why parsing stopped
  std::size_t problem_at = 0;  // offset
  std::string suggestion;
  std::vector<std::pair<std::size_t, std::string>> duplicates;  // of keys: offset, name
};

enum class AfterRoot { ignored, refused };

/// Parses one value that consists of at most `value_limit` values. `strict` is `text` without the
/// extensions and has the same length. Numbers are kept as they are in `text`.
Parsed parse_values(const std::string& strict, std::string_view text, std::size_t value_limit,
                    AfterRoot after_root);

}  // namespace dmlop::json
