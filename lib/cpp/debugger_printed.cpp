// What gdb and lldb print: NAME = VALUE, with a command or a type before it.
#include <algorithm>

#include "cpp/addresses.hpp"
#include "cpp/debugger_reader.hpp"

namespace dmlop::cpp {

void DebuggerReader::read_printed() {
  end_ = tokens_.size() - 1;
  at_ = 0;
  std::size_t first = 0;
  while (!is_over()) {
    if (!take("=")) {
      ++at_;
      continue;
    }
    const std::size_t equals = at_ - 1;
    Value shown = alone(value(), equals + 1);
    printed(first, equals, std::move(shown));
    first = at_;
  }
}

void DebuggerReader::printed(std::size_t first, std::size_t equals, Value shown) {
  std::string name, type;
  std::optional<Place> place;
  bool is_indirect = false;
  for (std::size_t at = first; at < equals; ++at) {
    const Token& token = tokens_[at];
    if (token.is("*")) is_indirect = true;
    if (is_address(token)) place = Place{object_at(plain_address(token.text), token.span)};
    if (!token.is_word()) continue;
    const auto known = places_.find(std::string(token.text));
    const bool is_member = at > first && (tokens_[at - 1].is(".") || tokens_[at - 1].is("->"));
    if (is_member && place && place->path.size() < 8) {
      follow(*place);
      place->path.emplace_back(std::string(token.text));
    } else if (known != places_.end() && !is_member) {
      place = known->second;
    }
    if (token.text.starts_with("DML_") && token.text.ends_with("_DESC")) {
      type = token.text;
    } else if (!token.text.starts_with("$")) {
      name = token.text;
    }
  }
  if (place && (is_indirect || !place->path.empty())) follow(*place);
  if (place) return show_at(*place, type, std::move(shown));
  add_variable(name, type, std::move(shown), tokens_[std::min(first, tokens_.size() - 1)].span);
}

}  // namespace dmlop::cpp
