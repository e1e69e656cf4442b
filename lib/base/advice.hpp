// What to do about a finding. It stays a value until somebody reads it: whoever passes a finding on
// chooses among alternatives by their kind, and text() makes the sentence at the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmlop {

/// One way out.
struct Alternative {
  enum class Kind : std::uint8_t {
    sentence,     // VALUE
    write,        // write VALUE
    write_type,   // write VALUE, a data type
    write_sizes,  // write Sizes of VALUE, where nobody knows which
    add_field,    // write "PLACE": VALUE
    state_level,  // write "featureLevel": "VALUE"
    make,         // make it VALUE
    give,         // give it VALUE
    mean,         // did you mean VALUE?
    leave_out,    // leave it out
    stretch,      // VALUE makes one tensor repeat its elements, as NumPy does
    save,         // save VALUE, an array of NumPy
  };

  Kind kind = Kind::sentence;
  std::string value = {};   // JSON, where it is one value
  std::string place = {};   // where, if that is not where the finding is
  std::string reason = {};  // stands in front
  std::string remark = {};  // stands behind
  bool is_best = false;     // the next one comes "otherwise"

  static Alternative sentence(std::string words) { return {.value = std::move(words)}; }
  static Alternative write(std::string value, std::string remark = "") {
    return {.kind = Kind::write, .value = std::move(value), .remark = std::move(remark)};
  }
  static Alternative write_for(std::string place, std::string value) {
    return {.kind = Kind::write, .value = std::move(value), .place = std::move(place)};
  }
  static Alternative write_type(const std::string& name) {
    return {.kind = Kind::write_type, .value = '"' + name + '"'};
  }
  static Alternative write_sizes(std::string dimensions) {
    return {.kind = Kind::write_sizes, .value = std::move(dimensions)};
  }
  static Alternative leave_out() { return {.kind = Kind::leave_out}; }
  /// Steps that only help together: "write [2, 5] and [0, 1] for CTensor.Strides".
  static Alternative together(std::vector<Alternative> steps);
};

class Advice {
 public:
  Advice() = default;
  // A finding's maker writes a plain sentence where nobody needs more.
  Advice(std::string sentence) {
    if (!sentence.empty()) alternatives.push_back(Alternative::sentence(std::move(sentence)));
  }
  Advice(std::string_view sentence) : Advice(std::string(sentence)) {}
  Advice(const char* sentence) : Advice(std::string(sentence)) {}
  Advice(std::initializer_list<Alternative> list) : alternatives(list) {}
  Advice(Alternative alternative) { add(std::move(alternative)); }

  bool empty() const { return alternatives.empty(); }
  void add(Alternative alternative) { alternatives.push_back(std::move(alternative)); }

  /// Drops the alternatives of a kind if there are others. The best one stays.
  void prefer_others_to(Alternative::Kind kind);

  /// "write 8, or "TRANSPOSE" for TransB".
  std::string text() const;

  std::vector<Alternative> alternatives;
  std::string then = {};  // what else is to be done after any of them
};

}  // namespace dmlop
