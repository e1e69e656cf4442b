// HTML that is put together from literals of this program and from other text. Other text is always
// escaped: no text becomes markup, and no character of it is hidden.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace dmlop {

/// A part of HTML. It refers to its text and does not own it.
class MarkupPart {
 public:
  /// A literal: markup, taken as it is. Attributes in it are quoted.
  template <std::size_t size>
  consteval MarkupPart(const char (&literal)[size]) : text_(literal, size - 1), is_markup_(true) {}
  /// Any other text, for an element or for a quoted attribute.
  MarkupPart(std::string_view text) : text_(text) {}
  MarkupPart(const std::string& text) : text_(text) {}

 private:
  friend class Markup;
  std::string_view text_;
  bool is_markup_ = false;
};

class Markup {
 public:
  void add(std::initializer_list<MarkupPart> parts);
  void add(const Markup& other) { text_ += other.text_; }
  /// An element a, if the address begins with https://, or else the text alone: an address could
  /// also run a script.
  void add_link(std::string_view address, std::string_view text);

  const std::string& text() const { return text_; }

 private:
  void add_escaped(std::string_view text);

  std::string text_;
};

}  // namespace dmlop
