// Reads a text of a debugger (cpp/debugger.hpp): values (debugger_values.cpp), in what gdb and lldb
// print (debugger_printed.cpp) or in rows of a watch window (debugger_rows.cpp).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cpp/value.hpp"

namespace dmlop::cpp {

class DebuggerReader {
 public:
  DebuggerReader(std::string_view text, Memory& memory);

  void read();

 private:
  using Kind = Value::Kind;
  struct Cell {
    std::size_t begin, end;  // tokens
  };
  struct StructRow {
    Place place;
    std::string type;
  };

  // --- the tokens

  bool is_address(const Token& token) const;
  const Token& now() const;
  bool is_over() const;
  bool take(std::string_view symbol);
  Span span_from(std::size_t first) const;
  bool next_is(std::string_view symbol) const;

  // --- values

  Value value(std::size_t depth = 0);
  Value hidden(std::size_t first) const;
  Value number();
  // Whether the token behind the last one touches it, so that they are one.
  bool touches() const;
  // 1.#INF0000, -1.#IND0000 and 1.#QNAN000 of older versions of Visual Studio
  std::optional<Number> old_special();
  // Whether a number goes on with what no number of C++ has.
  bool continues() const;
  // All that is written without a blank is one value that is not understood.
  Value odd(std::size_t first);
  // A number alone must fill its cell or member: "0,5" is two.
  Value alone(Value number, std::size_t first);
  // 0x00000012 {...}, or without what is there
  Value pointer(std::size_t depth);
  // The variable that stands for what is at an address.
  std::size_t object_at(const std::string& address, Span written);
  // {Type=DML_TENSOR_TYPE_BUFFER (1) Desc=0x12 } or {1, 1, 4, 4} or {[0] = 1, [1] = 1}
  Value braces(std::size_t depth);
  // 0 <repeats 12 times>
  void repeat_last(Value& list);

  // --- variables

  // Goes on to where the pointer at a place points.
  void follow(Place& place) const;
  void show_at(const Place& place, const std::string& type, Value shown);
  Place add_variable(const std::string& name, const std::string& type, Value shown, Span declared);

  // --- what gdb and lldb print

  void read_printed();
  void printed(std::size_t first, std::size_t equals, Value shown);

  // --- rows of a watch window

  std::vector<Cell> cells_of(std::size_t line_begin, std::size_t line_end);
  void read_rows();
  void row(const std::vector<Cell>& cells);
  // Where the same struct was shown before. A name behind others may be that of another struct.
  std::optional<Place> shown_before(const Cell& cell, const std::string& type);
  // The last name of an expression that is no type: "Sizes" of "input.Sizes,4".
  std::string name_of(const Cell& cell) const;
  // A row below a struct's row shows a member of it.
  bool add_member(const std::string& name, const Value& shown, const Cell& cell);
  // [2]  4  unsigned int
  void element_row(const Cell& cell, Value shown);

  std::string_view text_;
  std::vector<Token> tokens_;
  Memory& memory_;
  std::set<std::string> addresses_;  // behind which the text shows what is there
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // tokens from here on do not belong to the value
  std::size_t next_token_ = 0;
  std::map<std::string, std::size_t> objects_;  // by address
  std::map<std::string, Place> places_;         // of variables, by name
  std::optional<Place> last_;                   // of the last row
  std::vector<StructRow> structs_;
};

}  // namespace dmlop::cpp
