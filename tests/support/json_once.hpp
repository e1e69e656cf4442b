// JSON for tests that are not optimized: what most of them use of nlohmann/json is compiled in one
// file, json_once.cpp, instead of in each. They build in three quarters of the time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

// The signatures of json::parse are those of this version.
#if NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR == 11
#define DMLOP_JSON_ONCE(declaration)                                                        \
  declaration template class nlohmann::basic_json<>;                                        \
  declaration template class nlohmann::basic_json<nlohmann::ordered_map>;                   \
  declaration template nlohmann::json nlohmann::json::parse<const std::string&>(            \
      const std::string&, const nlohmann::json::parser_callback_t, const bool, const bool); \
  declaration template nlohmann::json nlohmann::json::parse<std::string&>(                  \
      std::string&, const nlohmann::json::parser_callback_t, const bool, const bool);       \
  declaration template nlohmann::json nlohmann::json::parse<std::string>(                   \
      std::string&&, const nlohmann::json::parser_callback_t, const bool, const bool);
#else
#define DMLOP_JSON_ONCE(declaration)
#endif

DMLOP_JSON_ONCE(extern)
