// What most files include, read once by the compiler instead of once for each. It is not part of the
// program: every file includes what it needs itself, and builds without this one.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// The literal ""_json, which nothing here uses, parses its text: every file would compile a parser.
// So it becomes a declaration, and its body that of a template that is never used. Where the library
// spells it differently, it stays, and files only take longer.
#define _json(text, size) \
  _json(text, size);      \
  template <typename>     \
  nlohmann::json unused_json_literal(text, size)
#include <nlohmann/json.hpp>
#undef _json
