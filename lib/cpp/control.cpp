// Conditions and loops. What the text decides runs as C++ runs it. Of the rest, each statement is
// read once, and what it assigns is unresolved.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {

std::string Reader::doubt() const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (!scope->doubt.empty()) return "; " + scope->doubt;
  }
  return "";
}

// Counts what is read more than once.
void Reader::spend(std::size_t steps) {
  if (repeated_ > 0) steps_ += steps;
}

std::size_t Reader::end_of_simple_statement(std::size_t from) const {
  std::size_t at = from;
  if (at < limit_ && tokens_[at].is("{")) return std::min(matching(at) + 1, limit_);
  while (at < limit_ && !tokens_[at].is(";") && !tokens_[at].is("}")) {
    const Token& token = tokens_[at];
    const bool opens = token.is("(") || token.is("[") || token.is("{");
    at = opens ? std::min(matching(at) + 1, limit_) : at + 1;
  }
  return at < limit_ && tokens_[at].is(";") ? at + 1 : at;
}

// Where the statement ends that begins at a token: an if with its else, a loop with its body.
std::size_t Reader::end_of_statement(std::size_t from) const {
  std::size_t at = from, open_ifs = 0;
  while (at < limit_) {
    const Token& token = tokens_[at];
    if (token.is("if") || token.is("for") || token.is("while") || token.is("switch")) {
      open_ifs += token.is("if") ? 1 : 0;
      ++at;
      if (at < limit_ && tokens_[at].is("constexpr")) ++at;
      if (at < limit_ && tokens_[at].is("(")) at = std::min(matching(at) + 1, limit_);
      continue;
    }
    if (token.is("do") || token.is("try")) {
      ++at;
      continue;
    }
    at = end_of_simple_statement(at);
    if (at >= limit_ || !tokens_[at].is("else") || open_ifs == 0) break;
    --open_ifs;
    ++at;
  }
  return at;
}

// Reads the tokens [begin, end) as statements of the scope that is open.
void Reader::run_in_place(std::size_t begin, std::size_t end) {
  const std::size_t outer = limit_;
  at_ = begin;
  limit_ = std::min(end, outer);
  while (now().kind != Token::Kind::end && exit_ == Exit::none) statement();
  limit_ = outer;
  at_ = std::min(end, limit_);
}

// Reads a statement in a scope of its own; with a doubt, it may run or not. Whether it is left by
// a return or the like.
bool Reader::run(std::size_t begin, std::size_t end, const std::string& doubt) {
  const bool is_block = begin < end && tokens_[begin].is("{") && matching(begin) + 1 >= end;
  const std::size_t around = scopes_.size();
  open_scope(!doubt.empty(), doubt);
  const std::size_t kept = std::exchange(kept_scopes_, scopes_.size());
  run_in_place(is_block ? begin + 1 : begin, is_block ? std::min(matching(begin), end) : end);
  kept_scopes_ = kept;
  const bool has_ended = scopes_[around].has_ended;
  while (scopes_.size() > around) close_scope();
  at_ = std::min(end, limit_);
  return has_ended;
}

void Reader::run_surely(std::size_t begin, std::size_t end) {
  if (run(begin, end) && exit_ == Exit::none) end_scope();
}

Reader::Condition Reader::condition(std::size_t begin, std::size_t end) {
  spend(end > begin ? end - begin : 1);
  if (begin >= end) return {.truth = true};
  Value value;
  try {
    value = evaluate(begin, end).value;
  } catch (const NotUnderstood&) {
    value = not_evaluated(begin, end);
    forget_named(begin, end, false);
  }
  if (const auto truth = truth_of(value)) return {.truth = truth};
  constexpr std::size_t shown = 60;
  const Span written = span_of(begin, end);
  std::string text = printable(text_.substr(written.begin, written.end - written.begin));
  if (text.size() > shown) text = text.substr(0, text.find(' ', shown / 2)) + " ...";
  const Value reason = why_no_number(value, written);
  const std::string remedy =
      reason.remedy.substr(std::min(reason.remedy.find("-D "), reason.remedy.size()));
  return {.doubt = "whether \"" + text + "\" holds is not known: " + reason.why +
                   (remedy.empty() ? "" : " (give it: " + remedy + ")")};
}

// The condition in parentheses here.
Reader::Condition Reader::head() {
  if (now().is("constexpr")) ++at_;
  if (!now().is("(")) return {.doubt = "its condition is not understood"};
  const std::size_t close = matching(at_);
  Condition result = condition(at_ + 1, close);
  at_ = std::min(close + 1, limit_);
  return result;
}

void Reader::control() {
  const Token word = now();
  ++at_;
  if (word.is("if")) return branches();
  std::string doubt = std::string(word.text) + " is not followed";
  if (now().is("(")) {
    const std::size_t close = matching(at_);
    if (word.is("switch")) {
      const Value value = constant(at_ + 1, close);
      at_ = std::min(close + 1, limit_);
      if (run_switch(value)) return;
      doubt = "the case of a switch is not known: " + why_no_number(value, value.written).why;
    } else {
      forget_named(at_, close, false);
    }
    at_ = std::min(close + 1, limit_);
  }
  if (now().kind == Token::Kind::end) return;
  const std::size_t breakables = breakables_.size();
  if (word.is("switch")) breakables_.push_back({.is_switch = true});
  if (word.is("do")) breakables_.emplace_back();
  run(at_, end_of_statement(at_), doubt);
  breakables_.resize(breakables);
}

// Where the statements of the case begin that a value takes, in the braces from `open` on; their
// end if there is none. Nothing if that is not known.
std::optional<std::size_t> Reader::case_of(const Value& value, std::size_t open) {
  const std::size_t close = matching(open);
  spend(close - open);
  std::size_t start = close;
  for (std::size_t at = open + 1; at < close; ++at) {
    const Token& token = tokens_[at];
    if (token.is("(") || token.is("[") || token.is("{")) at = std::min(matching(at), close);
    if (token.is("default")) start = at;
    if (!token.is("case")) continue;
    std::size_t colon = at + 1;
    while (colon < close && !tokens_[colon].is(":")) ++colon;
    const Value label = constant(at + 1, colon);
    const auto is_it = truth_of(combined("==", value, label, label.written));
    if (!is_it) return std::nullopt;
    if (*is_it) return at;
    at = colon;
  }
  return start;
}

// Runs the switch whose body is here as C++ runs it. False if its case is not known.
bool Reader::run_switch(const Value& value) {
  const std::size_t open = at_, end = end_of_statement(at_);
  if (!now().is("{")) return false;
  const auto start = case_of(value, open);
  at_ = open;
  if (!start) return false;
  const std::size_t conditions = conditions_ - doubts();
  breakables_.push_back({.is_followed = true,
                         .is_switch = true,
                         .conditions = conditions_,
                         .scopes = scopes_.size()});
  if (run(*start, matching(open)) && exit_ == Exit::none) end_scope();
  breakables_.pop_back();
  conditions_ = conditions + doubts();
  if (exit_ == Exit::loop) exit_ = Exit::none;
  at_ = end;
  return true;
}

// An if with its else branches. The one that is certain to run is run, and those that may run are
// read.
void Reader::branches() {
  std::string doubt;
  bool is_decided = false;
  while (true) {
    Condition holds{.truth = false};
    {
      std::optional<Unsure> unsure;
      if (!doubt.empty()) unsure.emplace(*this);
      if (!is_decided) {
        holds = head();
      } else if (now().is("constexpr") || now().is("(")) {
        while (now().is("constexpr")) ++at_;
        at_ = std::min(matching(at_) + 1, limit_);
      }
    }
    const std::size_t begin = at_, end = end_of_statement(at_);
    if (!holds.truth) doubt = holds.doubt;
    if (holds.truth.value_or(true) && doubt.empty()) {
      run_surely(begin, end);
    } else if (holds.truth.value_or(true)) {
      run(begin, end, doubt);
    }
    is_decided |= holds.truth.value_or(false);
    at_ = end;
    if (exit_ != Exit::none || !now().is("else")) break;
    ++at_;
    if (take("if")) continue;
    const std::size_t last = end_of_statement(at_);
    if (!is_decided) doubt.empty() ? run_surely(at_, last) : void(run(at_, last, doubt));
    at_ = last;
    break;
  }
}

// break; or continue;
void Reader::leave_loop(bool is_break) {
  auto left = breakables_.rbegin();
  while (!is_break && left != breakables_.rend() && left->is_switch) ++left;
  if (left == breakables_.rend() || !left->is_followed) return;
  if (conditions_ == left->conditions) {
    exit_ = is_break ? Exit::loop : Exit::iteration;
    return;
  }
  // Whether what follows runs is not known.
  scopes_[left->scopes].doubt = "whether a break in the loop runs is not known" + doubt();
  left->may_have_ended |= is_break;
  ++conditions_;
}

Reader::Loop Reader::loop_at(std::size_t open) const {
  Loop loop{.is_for = tokens_[open - 1].is("for"), .open = open, .close = matching(open)};
  for (std::size_t at = open + 1; at < loop.close; ++at) {
    const Token& token = tokens_[at];
    if (token.is("(") || token.is("[") || token.is("{")) at = std::min(matching(at), loop.close);
    if (token.is(";") && loop.first == 0) {
      loop.first = at;
    } else if (token.is(";") && loop.second == 0) {
      loop.second = at;
    }
    if (token.is(":") && loop.first == 0 && loop.colon == 0) loop.colon = at;
  }
  loop.body = std::min(loop.close + 1, limit_);
  loop.end = end_of_statement(loop.body);
  return loop;
}

void Reader::loop() {
  ++at_;
  if (!now().is("(")) {
    run(at_, end_of_statement(at_), "its head is not understood");
    return;
  }
  const Loop loop = loop_at(at_);
  const bool has_head = !loop.is_for || loop.second != 0 || (loop.first == 0 && loop.colon != 0);
  std::string doubt;
  if (!has_head) {
    forget_named(loop.open, loop.close, false);
    doubt = "the head of the loop is not understood";
  } else if (names_description(loop.body, loop.end)) {
    doubt = "a loop that makes descriptions is read once";
  } else if (is_spent()) {
    doubt = "the loops of this text take more than " + std::to_string(max_steps) + " steps";
  }
  if (!doubt.empty() || !run_loop(loop, doubt)) read_once(loop, doubt);
  at_ = loop.end;
}

// Runs the body once. Whether the loop goes on; a doubt says that it is not known.
bool Reader::run_iteration(const Loop& loop, std::string& doubt) {
  spend(1);
  const std::size_t conditions = conditions_ - doubts();
  breakables_.push_back({.is_followed = true, .conditions = conditions_, .scopes = scopes_.size()});
  const bool has_ended = run(loop.body, loop.end);
  conditions_ = conditions + doubts();
  if (breakables_.back().may_have_ended) doubt = "whether a break in the loop runs is not known";
  breakables_.pop_back();
  if (is_spent())
    doubt = "the loops of this text take more than " + std::to_string(max_steps) + " steps";
  if (exit_ == Exit::iteration) exit_ = Exit::none;
  const bool is_left = has_ended || exit_ != Exit::none;
  if (exit_ == Exit::loop) exit_ = Exit::none;
  return !is_left && doubt.empty();
}

// Runs a loop as C++ runs it. False, with the reason, if that is not known; then a part of it has
// been run.
bool Reader::run_loop(const Loop& loop, std::string& doubt) {
  const Repeated repeated(*this);
  if (loop.colon != 0) return run_range(loop, doubt);
  open_scope(false);
  if (loop.is_for) run_in_place(loop.open + 1, loop.first + 1);
  for (std::size_t count = 0;; ++count) {
    const Condition holds =
        loop.is_for ? condition(loop.first + 1, loop.second) : condition(loop.open + 1, loop.close);
    if (!holds.truth) doubt = holds.doubt;
    if (!holds.truth.value_or(false)) break;
    if (count == max_iterations)
      doubt = "the loop runs more than " + std::to_string(max_iterations) + " times";
    if (!doubt.empty() || !run_iteration(loop, doubt)) break;
    if (loop.is_for) run_in_place(loop.second + 1, loop.close);
  }
  close_scope();
  return doubt.empty();
}

bool Reader::run_range(const Loop& loop, std::string& doubt) {
  std::size_t at = loop.open + 1;
  const auto type = type_at(at);
  if (!type || at + 1 != loop.colon || !tokens_[at].is_word())
    return doubt = "the head of the loop is not understood", false;
  const Token name = tokens_[at];
  Operand range;
  try {
    at_ = loop.colon + 1;
    if (now().is("{")) {
      range = {list()};
    } else {
      range = evaluate(loop.colon + 1, loop.close);
    }
  } catch (const NotUnderstood&) {
    range = {not_evaluated(loop.colon + 1, loop.close)};
    forget_named(loop.colon + 1, loop.close);
  }
  const Span written = span_of(loop.colon + 1, loop.close);
  if (!length_of(range))
    return doubt =
               "what the loop goes over is not known: " + why_no_number(range.value, written).why,
           false;
  for (std::size_t i = 0; i < length_of(range).value_or(0); ++i) {
    if (i == max_iterations)
      doubt = "the loop runs more than " + std::to_string(max_iterations) + " times";
    if (!doubt.empty()) break;
    Operand element;
    if (range.place) {
      Place place = *range.place;
      place.path.emplace_back(i);
      element = operand_at(place, written);
    } else {
      element = {range.value.entries[i].value};
    }
    open_scope(false);
    const bool is_copy = !type->is_reference || !element.place;
    declare(name, *type,
            is_copy && !type->is_pointer ? typed(std::move(element.value), type->name)
                                         : std::move(element.value),
            false, is_copy ? std::nullopt : element.place);
    const bool goes_on = run_iteration(loop, doubt);
    close_scope();
    if (!goes_on) break;
  }
  return doubt.empty();
}

// A loop that is not followed changes what its head and its body assign.
void Reader::read_once(const Loop& loop, const std::string& doubt) {
  exit_ = Exit::none;
  open_scope(false);
  if (loop.is_for && loop.second != 0) run_in_place(loop.open + 1, loop.first + 1);
  const std::size_t around = scopes_.size();
  open_scope(true, doubt);
  breakables_.emplace_back();
  if (loop.colon != 0 && loop.is_for) {
    read_range(loop);
  } else if (loop.is_for && loop.second != 0) {
    run_in_place(loop.second + 1, loop.close);
    condition(loop.first + 1, loop.second);
  } else if (!loop.is_for) {
    condition(loop.open + 1, loop.close);
  }
  run(loop.body, loop.end);
  breakables_.pop_back();
  while (scopes_.size() >= around) close_scope();
}

void Reader::read_range(const Loop& loop) {
  std::size_t at = loop.open + 1;
  const auto type = type_at(at);
  const bool has_name = type && at + 1 == loop.colon && tokens_[at].is_word();
  if (has_name)
    declare(tokens_[at], *type,
            unresolved(tokens_[at].span, "it changes in a loop", "write its value"), false, {});
  // What the loop goes over changes through a reference; what that points to changes through a
  // copy.
  const bool only_reads = has_name && (!type->is_reference || type->points_to_constant);
  if (!only_reads) return forget_named(loop.colon + 1, loop.close, false);
  try {
    at_ = loop.colon + 1;
    const Operand range = now().is("{") ? Operand{list()} : evaluate(loop.colon + 1, loop.close);
    const Value* values = range.place ? memory_.find(*range.place) : &range.value;
    if (values != nullptr) escape(Value(*values), span_of(loop.colon + 1, loop.close));
  } catch (const NotUnderstood&) {
    forget_named(loop.colon + 1, loop.close, false);
  }
}

}  // namespace dmlop::cpp
