#include "guide/markup.hpp"

#include "base/escape.hpp"

namespace dmlop {

void Markup::add(std::initializer_list<MarkupPart> parts) {
  for (const MarkupPart& part : parts) {
    if (part.is_markup_) {
      text_ += part.text_;
    } else {
      add_escaped(part.text_);
    }
  }
}

void Markup::add_link(std::string_view address, std::string_view text) {
  if (address.starts_with("https://")) {
    add({"<a rel=\"noreferrer\" href=\"", address, "\">", text, "</a>"});
  } else {
    add({text});
  }
}

void Markup::add_escaped(std::string_view text) {
  // Within a line nothing but characters that do not show is escaped as text; lines stay lines.
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    LineEscaper escaper(LineEscaper::Place::within_line);
    while (!line.empty()) {
      for (const char c : escaper.next(line)) {
        switch (c) {
          case '<':
            text_ += "&lt;";
            break;
          case '>':
            text_ += "&gt;";
            break;
          case '&':
            text_ += "&amp;";
            break;
          case '"':
            text_ += "&quot;";
            break;
          case '\'':
            text_ += "&#39;";
            break;
          default:
            text_ += c;
        }
      }
    }
    if (!text.empty()) {
      text_ += '\n';
      text.remove_prefix(1);
    }
  }
}

}  // namespace dmlop
