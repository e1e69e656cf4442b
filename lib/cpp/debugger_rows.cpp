// Rows of a watch window: NAME, VALUE and TYPE with tabs between them.
#include <algorithm>

#include "cpp/debugger_reader.hpp"
#include "cpp/layouts.hpp"
#include "cpp/limits.hpp"
#include "cpp/shown_values.hpp"

namespace dmlop::cpp {

std::vector<DebuggerReader::Cell> DebuggerReader::cells_of(std::size_t line_begin,
                                                           std::size_t line_end) {
  std::vector<Cell> cells;
  std::size_t begin = line_begin;
  while (begin <= line_end) {
    const std::size_t end = std::min(text_.find('\t', begin), line_end);
    Cell cell{next_token_, next_token_};
    while (cell.end + 1 < tokens_.size() && tokens_[cell.end].span.begin < end) ++cell.end;
    next_token_ = cell.end;
    const bool is_mark =
        cell.end == cell.begin + 1 && (tokens_[cell.begin].is("+") || tokens_[cell.begin].is("-"));
    if (cell.end > cell.begin && !is_mark) cells.push_back(cell);
    begin = end + 1;
  }
  return cells;
}

void DebuggerReader::read_rows() {
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    const auto cells = cells_of(begin, end);
    if (cells.size() >= 2) row(cells);
    begin = end + 1;
  }
}

void DebuggerReader::row(const std::vector<Cell>& cells) {
  at_ = cells[1].begin;
  end_ = cells[1].end;
  Value shown = alone(value(), cells[1].begin);
  std::string type;
  bool is_pointer = false;
  for (std::size_t at = cells.size() > 2 ? cells[2].begin : 0;
       cells.size() > 2 && at < cells[2].end; ++at) {
    if (tokens_[at].is("*") || tokens_[at].is("[")) is_pointer = true;
    if (tokens_[at].is_word() && tokens_[at].text.starts_with("DML_")) type = tokens_[at].text;
  }
  const Span name_span = tokens_[cells[0].begin].span;
  const bool is_element = tokens_[cells[0].begin].is("[");
  const std::string name = is_element ? "" : name_of(cells[0]);
  if (is_element) return element_row(cells[0], std::move(shown));
  if (add_member(name, shown, cells[0])) {
    last_ = shown.kind == Kind::pointer ? std::optional(shown.target) : last_;
  } else {
    const bool is_struct = shown.kind == Kind::pointer && is_pointer && members_of(type);
    const auto before = shown.kind == Kind::list ? shown_before(cells[0], type) : std::nullopt;
    if (before) merge_shown(memory_, *before, shown);
    const Place place =
        before ? *before
               : add_variable(name, is_struct || !is_pointer ? type : "", shown, name_span);
    last_ = place;
    follow(*last_);
  }
  if (last_ && members_of(type)) structs_.push_back({*last_, type});
  if (structs_.size() > 64) structs_.erase(structs_.begin());
}

std::optional<Place> DebuggerReader::shown_before(const Cell& cell, const std::string& type) {
  if (cell.end != cell.begin + 1 || operator_of(type) == nullptr) return std::nullopt;
  const auto known = places_.find(name_of(cell));
  if (known == places_.end() || !known->second.path.empty()) return std::nullopt;
  const bool is_same = memory_.variables()[known->second.variable].type == type;
  return is_same ? std::optional(known->second) : std::nullopt;
}

std::string DebuggerReader::name_of(const Cell& cell) const {
  std::string name;
  for (std::size_t at = cell.begin; at < cell.end && !tokens_[at].is(","); ++at) {
    if (tokens_[at].is_word()) name = tokens_[at].text;
  }
  return name;
}

bool DebuggerReader::add_member(const std::string& name, const Value& shown, const Cell& cell) {
  if (cell.end != cell.begin + 1) return false;
  for (auto owner = structs_.rbegin(); owner != structs_.rend(); ++owner) {
    const auto members = members_of(owner->type);
    if (std::ranges::find(*members, name, &Member::name) == members->end()) continue;
    Place place = owner->place;
    place.path.emplace_back(name);
    const Value* known = memory_.find(owner->place);
    const bool is_list = known != nullptr && known->kind == Kind::list;
    if (is_list && known->find(name) == nullptr) memory_.make(place);
    if (is_list) merge_shown(memory_, place, shown);
    return is_list;
  }
  return false;
}

void DebuggerReader::element_row(const Cell& cell, Value shown) {
  const auto index =
      cell.end > cell.begin + 1 ? literal(tokens_[cell.begin + 1].text) : std::nullopt;
  if (!last_ || !index || !index->count()) return;
  Value* list = memory_.make(*last_);
  if (list == nullptr) return;
  const bool is_summary =
      list->kind == Kind::list && list->entries.size() == 1 && list->entries[0].name == "size";
  if (list->kind != Kind::list || is_summary)
    *list = {.kind = Kind::list, .written = shown.written};
  const std::uint64_t at = *index->count();
  memory_.count(shown);
  if (at == list->entries.size() && at < max_elements) {
    list->entries.push_back({"", std::move(shown)});
  } else if (at < list->entries.size()) {
    compare_shown(list->entries[at].value, shown);
  }
}

}  // namespace dmlop::cpp
