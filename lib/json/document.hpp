// JSON that remembers where each value stands, so that messages can name the place. It accepts
// DxDispatch's dialect: // and /* */ comments and trailing commas. nlohmann/json does the parsing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "json/value.hpp"

namespace dmlop::json {

struct Parsed;
struct StrictText;

/// Limits of every document. A larger file is refused without being parsed.
inline constexpr std::size_t max_text_bytes = std::size_t{64} << 20;
inline constexpr std::size_t max_values = 1'000'000;

/// Reads the text of a JSON file; "-" is standard input. Errors: as InputFile::open, and
/// invalid_input if the file has more than max_text_bytes.
std::string read_text(const std::string& path);
std::string read_text(const PinnedFile& file);

/// Where a text comes from, and how many values it may have.
struct Source {
  std::string file;
  std::uint32_t first_line = 1;  // of the text in its file
  std::size_t max_values = json::max_values;
  std::string argument = {};  // of the command line, where the text is not a file's
};

class Document {
 public:
  /// Parses `text`. On a syntax error, adds a finding with the position and what was expected, and
  /// returns nothing. A key that is given twice is also a finding; its first value counts.
  static std::optional<Document> parse(Source source, std::string text, Diagnostics& diagnostics);
  static std::optional<Document> parse(std::string file, std::string text,
                                       Diagnostics& diagnostics) {
    return parse(Source{std::move(file)}, std::move(text), diagnostics);
  }
  /// Parses as DxDispatch does: the first value of a key that is given twice counts, and anything
  /// after the root is ignored. tolerated() lists both.
  static std::optional<Document> parse_leniently(Source source, std::string text,
                                                 Diagnostics& diagnostics);

  /// What parse() would have refused, and whether it would have returned nothing.
  const Diagnostics& tolerated() const { return tolerated_; }
  bool has_text_after_root() const { return has_text_after_root_; }

  /// Adds a text from the command line: the value that it holds, for use in replace_root().
  /// Findings about it name `argument`, and `pointer` as its place in the root. Nothing, with a
  /// finding, where it is not JSON.
  std::optional<Value> add_text(std::string argument, std::string pointer, std::string text,
                                Diagnostics& diagnostics);
  /// Replaces the root by one whose values are of this document or were added to it.
  void replace_root(Value root) { changed_root_ = std::move(root); }

  const Value& root() const { return changed_root_ ? *changed_root_ : root_; }
  /// "" where the text is not a file's.
  const std::string& file() const { return source_.file; }
  bool is_of_command_line() const { return !source_.argument.empty(); }
  /// The line of the file in which `value` begins.
  std::uint32_t line_of(const Value& value) const;

  /// A finding that points at `value`, a part of this document. The time it takes does not depend
  /// on the size of the document. Names in its pointer are cut after 1000 bytes.
  Diagnostic at(const Value& value, std::string message) const;
  /// The finding that an exception is (finding_of), pointing at `value`.
  Diagnostic at(const Value& value, const Error& error, std::string_view context = "") const;
  /// A finding that points at a member's name.
  Diagnostic at(const Member& member, std::string message) const;

  /// The bytes of `value` as written.
  std::string_view source(const Value& value) const;

 private:
  bool refuse_as_text(Diagnostics& diagnostics) const;
  bool build(Diagnostics& diagnostics);
  Diagnostic why_incomplete(const StrictText& strict, const Parsed& parsed) const;
  void tolerate_text_after_root(const StrictText& strict);
  Diagnostic open_comment(std::size_t offset) const;
  Diagnostic at_offset(std::size_t offset, std::string message) const;
  std::size_t line_index(std::size_t offset) const;
  void count_characters();
  std::size_t characters_to(std::size_t offset) const;

  /// A text that was added behind the document's own.
  struct AddedText {
    std::size_t begin = 0;
    std::string argument;
    std::string pointer;
    Value root;
  };
  const AddedText* added_text_at(std::size_t offset) const;

  Source source_;
  std::string text_;
  std::vector<std::size_t> line_ends_;          // where the newlines are
  std::vector<std::size_t> characters_before_;  // of each piece of the text
  Value root_;                                  // of the document's own text
  std::vector<AddedText> added_texts_;          // in the order of their places
  std::optional<Value> changed_root_;
  Diagnostics tolerated_;
  bool has_text_after_root_ = false;
};

}  // namespace dmlop::json
