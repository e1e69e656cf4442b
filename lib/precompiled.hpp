// What most files include, read once by the compiler instead of once for each. It is not part of the
// program: every file includes what it needs itself, and builds without this one.
#pragma once

// The compiler instantiates what inline functions of these headers call, in every file, used or not. So the special
// functions of <cmath>, such as Bessel's, and below the literals of JSON are left out, which saves a third of the time
// that a file takes at least. Where a library spells them differently, they stay, and files only take longer.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

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

// The literals ""_json and ""_json_pointer, which nothing here uses, become declarations, and their bodies those of
// templates that are never used.
#define _json(text, size) \
  _json(text, size);      \
  template <typename>     \
  nlohmann::json unused_json_literal(text, size)
#define _json_pointer(text, size) \
  _json_pointer(text, size);      \
  template <typename>             \
  nlohmann::json::json_pointer unused_json_pointer_literal(text, size)
#include <nlohmann/json.hpp>
#undef _json_pointer
#undef _json
