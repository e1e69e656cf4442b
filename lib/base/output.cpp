#include "base/output.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/escape.hpp"

namespace dmlop {
namespace {

std::FILE* file_of(StandardStream stream) {
  return stream == StandardStream::output ? stdout : stderr;
}

}  // namespace

/// What one system call writes. Standard error has no buffer of its own.
class PrintBuffer {
 public:
  explicit PrintBuffer(std::FILE* file) : file_(file) {}
  PrintBuffer(const PrintBuffer&) = delete;
  PrintBuffer& operator=(const PrintBuffer&) = delete;
  ~PrintBuffer() { empty(); }

  void add(std::string_view text) {
    if (text.size() > bytes_.size() - used_) empty();
    if (text.size() > bytes_.size()) {
      std::fwrite(text.data(), 1, text.size(), file_);
      return;
    }
    std::copy(text.begin(), text.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += text.size();
  }

 private:
  void empty() {
    std::fwrite(bytes_.data(), 1, used_, file_);
    used_ = 0;
  }

  std::FILE* file_;
  std::array<char, 4096> bytes_;
  std::size_t used_ = 0;
};

class Printer {
 public:
  explicit Printer(std::FILE* file) : buffer_(file) {}

  void print(const Text& part) {
    switch (part.kind_) {
      case Text::Kind::verbatim:
        return pass(part.text_);
      case Text::Kind::part_of_line:
        return escape(part.text_);
      case Text::Kind::lines:
        return print_lines(part.text_);
      case Text::Kind::negative:
        pass("-");
        return print_number(part.number_);
      case Text::Kind::natural:
        return print_number(part.number_);
    }
  }

 private:
  void pass(std::string_view text) {
    buffer_.add(text);
    escaper_.pass(text);
  }

  void escape(std::string_view text) {
    while (!text.empty()) buffer_.add(escaper_.next(text));
  }

  void print_lines(std::string_view text) {
    while (!text.empty()) {
      const std::size_t line_end = std::min(text.find('\n'), text.size());
      escape(text.substr(0, line_end));
      text.remove_prefix(line_end);
      if (text.empty()) return;
      pass("\n");
      text.remove_prefix(1);
    }
  }

  void print_number(std::uint64_t number) {
    std::array<char, 20> digits;
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    pass({digits.data(), written.ptr});
  }

  PrintBuffer buffer_;
  LineEscaper escaper_{LineEscaper::Place::start_of_line};
};

void print(StandardStream stream, std::initializer_list<Text> parts) {
  // So that both streams in one file or terminal are in order.
  if (stream == StandardStream::error) std::fflush(stdout);
  Printer printer(file_of(stream));
  for (const Text& part : parts) printer.print(part);
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string with_decimals(double number, int digits) {
  std::array<char, 400> text;  // room for the largest number
  std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return text.data();
}

void flush_output(StandardStream stream) {
  std::fflush(file_of(stream));
}

bool finish_output() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace dmlop
