#include "cpp/debugger.hpp"

#include <algorithm>

#include "cpp/addresses.hpp"
#include "cpp/debugger_reader.hpp"
#include "cpp/layouts.hpp"
#include "cpp/shown_values.hpp"

namespace dmlop::cpp {

DebuggerReader::DebuggerReader(std::string_view text, Memory& memory)
    : text_(text), tokens_(tokens_of(text)), memory_(memory) {
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    if (has_content_behind(tokens_, at)) addresses_.insert(plain_address(tokens_[at].text));
  }
}

void DebuggerReader::read() {
  const bool has_rows = text_.find('\t') != std::string_view::npos;
  has_rows ? read_rows() : read_printed();
}

void DebuggerReader::follow(Place& place) const {
  const Value* value = memory_.find(place);
  if (value != nullptr && value->kind == Kind::pointer) place = value->target;
}

void DebuggerReader::show_at(const Place& place, const std::string& type, Value shown) {
  if (place.path.empty() && operator_of(type) != nullptr)
    memory_.variables()[place.variable].type = type;
  merge_shown(memory_, place, std::move(shown));
}

Place DebuggerReader::add_variable(const std::string& name, const std::string& type, Value shown,
                                   Span declared) {
  Place place;
  if (shown.kind == Kind::pointer && !type.empty()) {
    place = shown.target;  // the variable is a pointer to a struct: what it shows counts
    Variable& variable = memory_.variables()[place.variable];
    if (operator_of(type) != nullptr && place.path.empty()) variable.type = type;
  } else {
    place = {
        memory_.add({.name = name, .type = type, .declared = declared, .value = std::move(shown)})};
  }
  if (!name.empty()) places_[name] = place;
  return place;
}

bool is_of_debugger(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  const auto ends_statement = [](const Token& token) { return token.is(";"); };
  if (std::ranges::any_of(tokens, ends_statement)) return false;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (is_long_address(tokens[at]) || has_content_behind(tokens, at)) return true;
  }
  return false;
}

void read_debugger(std::string_view text, Memory& memory) {
  DebuggerReader(text, memory).read();
}

}  // namespace dmlop::cpp
