#include "json/document.hpp"

#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "json/parser.hpp"
#include "json/strict_text.hpp"

namespace dmlop::json {
namespace {

// The number of characters is kept for each piece of this size.
constexpr std::size_t piece_bytes = 4096;

// Longer names are cut in a finding's pointer, because many findings may lie below one name.
constexpr std::size_t pointer_name_max = 1000;

std::string escape_pointer(std::string_view name) {
  std::string escaped;
  for (const char c : name.substr(0, pointer_name_max)) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return name.size() > pointer_name_max ? escaped + "..." : escaped;
}

// The JSON pointer to what stands at an offset, below a value whose parts stand in the order of the
// text.
std::string pointer_below(const Value& root, std::size_t offset) {
  std::string pointer;
  const Value* value = &root;
  while (true) {
    const Value* next = nullptr;
    const auto& members = value->members;
    const auto member =
        std::upper_bound(members.begin(), members.end(), offset,
                         [](std::size_t at, const Member& one) { return at < one.value.end; });
    if (member != members.end() && offset >= member->begin) {
      pointer += "/" + escape_pointer(member->name);
      if (offset < member->value.begin) return pointer;
      next = &member->value;
    }
    const auto ends_after = [](std::size_t at, const Value& item) { return at < item.end; };
    const auto& items = value->items;
    const auto item = std::upper_bound(items.begin(), items.end(), offset, ends_after);
    if (next == nullptr && item != items.end() && offset >= item->begin) {
      pointer += "/" + std::to_string(item - items.begin());
      next = &*item;
    }
    if (next == nullptr) return pointer;
    value = next;
  }
}

// Moves a value's place, and those of its parts.
void shift(Value& value, std::size_t by) {
  value.begin += by;
  value.end += by;
  for (Value& item : value.items) shift(item, by);
  for (Member& member : value.members) {
    member.begin += by;
    shift(member.value, by);
  }
}

}  // namespace

std::string read_text(const std::string& path) {
  return InputFile::open(path, max_text_bytes).text();
}

std::string read_text(const PinnedFile& file) {
  return InputFile::open(file, max_text_bytes).text();
}

std::optional<Document> Document::parse(Source source, std::string text, Diagnostics& diagnostics) {
  auto document = parse_leniently(std::move(source), std::move(text), diagnostics);
  if (!document) return std::nullopt;
  const Diagnostics& refused = document->tolerated_;
  diagnostics.insert(diagnostics.end(), refused.begin(), refused.end());
  if (document->has_text_after_root_) return std::nullopt;
  return document;
}

std::optional<Document> Document::parse_leniently(Source source, std::string text,
                                                  Diagnostics& diagnostics) {
  Document document;
  document.source_ = std::move(source);
  document.text_ = std::move(text);
  for (std::size_t at = 0; (at = document.text_.find('\n', at)) != std::string::npos; ++at)
    document.line_ends_.push_back(at);
  document.count_characters();
  if (document.refuse_as_text(diagnostics) || !document.build(diagnostics)) return std::nullopt;
  return document;
}

void Document::count_characters() {
  if (text_.size() > max_text_bytes) return;  // it will be refused
  std::size_t count = 0;
  for (std::string_view rest = text_; !rest.empty();) {
    const std::string_view piece = rest.substr(0, piece_bytes);
    characters_before_.push_back(count);
    count += character_count(piece);
    rest.remove_prefix(piece.size());
  }
  characters_before_.push_back(count);
}

// How many characters begin before the offset.
std::size_t Document::characters_to(std::size_t offset) const {
  const std::size_t piece = offset / piece_bytes;
  if (piece >= characters_before_.size()) return 0;
  const std::size_t begin = piece * piece_bytes;
  return characters_before_[piece] +
         character_count(std::string_view(text_).substr(begin, offset - begin));
}

// Finds what is wrong with the text before it is read as JSON.
bool Document::refuse_as_text(Diagnostics& diagnostics) const {
  const auto refuse = [&](std::size_t offset, std::string message, std::string suggestion) {
    diagnostics.push_back(at_offset(offset, std::move(message)));
    diagnostics.back().suggestion = std::move(suggestion);
    return true;
  };
  if (text_.size() > max_text_bytes) {
    return refuse(0,
                  "the file has " + std::to_string(text_.size()) +
                      " bytes; a JSON description may have at most " +
                      std::to_string(max_text_bytes),
                  "write elements of tensors into .npy files");
  }
  if (text_.starts_with("\x93NUMPY"))
    return refuse(0, "this is a .npy file; expected an op description in JSON",
                  "name the description here; a .npy file belongs to one of its tensors");
  // The first field of every ONNX model is its version; no JSON begins with this byte.
  if (text_.starts_with('\x08') || (source_.file.ends_with(".onnx") && !text_.starts_with('{')))
    return refuse(0, "this is an ONNX model; expected JSON",
                  "run, check, inspect and convert take ONNX models whose name ends in .onnx; a "
                  "job of a batch is {\"graph\": \"MODEL.onnx\"}");
  using namespace std::string_view_literals;
  if (text_.starts_with("\xFF\xFE\0\0"sv) || text_.starts_with("\0\0\xFE\xFF"sv))
    return refuse(0, "this is UTF-32 text", "save the file as UTF-8");
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    return refuse(0, "this is UTF-16 text", "save the file as UTF-8");
  if (const std::size_t nul = text_.find('\0'); nul != std::string::npos)
    return refuse(nul, "a NUL byte, which no JSON text has", "name a file of JSON in UTF-8");
  return false;
}

bool Document::build(Diagnostics& diagnostics) {
  const StrictText strict = strict_text(text_);
  Parsed parsed = parse_values(strict.text, text_, source_.max_values, AfterRoot::ignored);
  if (!parsed.is_complete) {
    diagnostics.push_back(why_incomplete(strict, parsed));
    return false;
  }
  root_ = std::move(parsed.root);
  tolerate_text_after_root(strict);
  if (has_text_after_root_) return true;
  for (const auto& [offset, name] : parsed.duplicates) {
    tolerated_.push_back(at_offset(offset, "the field \"" + printable(name) + "\" is given twice"));
    tolerated_.back().suggestion = "keep one of them";
  }
  return true;
}

Diagnostic Document::why_incomplete(const StrictText& strict, const Parsed& parsed) const {
  if (strict.open_comment) return open_comment(*strict.open_comment);
  const std::size_t at = std::min(parsed.problem_at, text_.size());
  if (std::all_of(strict.text.begin(), strict.text.end(), is_space)) {
    Diagnostic empty = at_offset(at, "the file is empty; expected a JSON object");
    empty.suggestion = "`dmlop ops PADDING --example` prints one to begin with";
    return empty;
  }
  Diagnostic diagnostic = at_offset(at, "wrong JSON: " + parsed.problem);
  diagnostic.suggestion = parsed.suggestion;
  // No JSON of dmlop's has the name of a struct.
  if (text_.find("_OPERATOR_DESC") != std::string::npos)
    diagnostic.suggestion =
        "if this is C++, let `dmlop convert --from-cpp` make a description of it";
  return diagnostic;
}

Diagnostic Document::open_comment(std::size_t offset) const {
  Diagnostic diagnostic = at_offset(offset, "this /* comment never ends");
  diagnostic.suggestion = "write */ at its end";
  return diagnostic;
}

void Document::tolerate_text_after_root(const StrictText& strict) {
  const auto rest = strict.text.begin() + static_cast<std::ptrdiff_t>(root_.end);
  has_text_after_root_ = strict.open_comment || !std::all_of(rest, strict.text.end(), is_space);
  if (!has_text_after_root_) return;
  // Parses again for the message.
  const Parsed parsed = strict.open_comment ? Parsed{}
                                            : parse_values(strict.text, text_, source_.max_values,
                                                           AfterRoot::refused);
  tolerated_.push_back(why_incomplete(strict, parsed));
  const auto next = std::find_if_not(rest, strict.text.end(), is_space);
  const bool has_second_object = root_.kind == Value::Kind::object && !strict.open_comment &&
                                 next != strict.text.end() && *next == '{' &&
                                 std::find(rest, next, '\n') != next;
  if (!has_second_object) return;
  Diagnostic& finding = tolerated_.back();
  finding.message = "a second JSON object begins here; a description is one object";
  finding.suggestion = "if each line is a job, name the file .jsonl and run it with `dmlop batch`";
}

Diagnostic Document::at(const Value& value, std::string message) const {
  Diagnostic diagnostic = at_offset(value.begin, std::move(message));
  const std::string_view written = source(value);
  if (written.size() <= 200) diagnostic.value = written;
  return diagnostic;
}

Diagnostic Document::at(const Value& value, const Error& error, std::string_view context) const {
  Diagnostic found = finding_of(error, context);
  Diagnostic placed = at(value, std::move(found.message));
  placed.kind = found.kind;
  return placed;
}

Diagnostic Document::at(const Member& member, std::string message) const {
  return at_offset(member.begin, std::move(message));
}

std::uint32_t Document::line_of(const Value& value) const {
  return source_.first_line + static_cast<std::uint32_t>(line_index(value.begin));
}

// How many lines end before the offset.
std::size_t Document::line_index(std::size_t offset) const {
  const auto after = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  return static_cast<std::size_t>(after - line_ends_.begin());
}

std::string_view Document::source(const Value& value) const {
  return std::string_view(text_).substr(value.begin, value.end - value.begin);
}

Diagnostic Document::at_offset(std::size_t offset, std::string message) const {
  Diagnostic diagnostic;
  diagnostic.file = source_.file;
  diagnostic.message = std::move(message);
  if (const AddedText* added = added_text_at(offset)) {
    diagnostic.argument = added->argument;
    diagnostic.pointer = added->pointer + pointer_below(added->root, offset);
    return diagnostic;
  }
  diagnostic.pointer = pointer_below(root_, offset);
  diagnostic.argument = source_.argument;
  if (is_of_command_line()) return diagnostic;
  const std::size_t line = line_index(offset);
  const std::size_t line_begin = line == 0 ? 0 : line_ends_[line - 1] + 1;
  const bool has_mark =
      line_begin == 0 && offset >= byte_order_mark.size() && text_.starts_with(byte_order_mark);
  diagnostic.line = source_.first_line + static_cast<std::uint32_t>(line);
  diagnostic.column = static_cast<std::uint32_t>(characters_to(offset) - characters_to(line_begin) +
                                                 (has_mark ? 0 : 1));
  return diagnostic;
}

const Document::AddedText* Document::added_text_at(std::size_t offset) const {
  const auto is_behind = [](std::size_t at, const AddedText& added) { return at < added.begin; };
  const auto next = std::upper_bound(added_texts_.begin(), added_texts_.end(), offset, is_behind);
  return next == added_texts_.begin() ? nullptr : &*std::prev(next);
}

std::optional<Value> Document::add_text(std::string argument, std::string pointer, std::string text,
                                        Diagnostics& diagnostics) {
  const auto added = parse(Source{.argument = argument}, text, diagnostics);
  if (!added) return std::nullopt;
  Value value = added->root_;
  shift(value, text_.size());
  added_texts_.push_back({text_.size(), std::move(argument), std::move(pointer), value});
  text_ += text;
  return value;
}

}  // namespace dmlop::json
