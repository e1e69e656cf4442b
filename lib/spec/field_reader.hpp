// Reads JSON values as the types of DirectML's fields. Every number is checked as it is written:
// 1.5, -1 and 4294967296 are findings and are never converted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "json/document.hpp"
#include "spec/facts.hpp"
#include "spec/setting_value.hpp"

namespace dmlop {

/// What a value must be, where another one stands.
struct Wanted {
  std::string words;                                   // "an integer from 1 to 8 (UINT)"
  Form form = Form::any;                               // how people type it
  std::string example = {};                            // JSON, where the operator has no better one
  std::function<bool(const json::Value&)> takes = {};  // whether a value is of this kind
  std::string meant = {};  // JSON of what the value means, where that takes more than its form
};

/// A field whose value in the operator's example shows what may stand there.
struct ShownField {
  const OperatorSpec* spec = nullptr;
  std::string name = {};
  const json::Value* written = nullptr;
};

class FieldReader {
 public:
  FieldReader(const json::Document& document, Diagnostics& diagnostics)
      : document_(document), diagnostics_(diagnostics) {}

  /// An integer in [low, high]. Messages call it `name`; `type` is the field's C type.
  std::optional<std::int64_t> integer(const json::Value& value, const std::string& name,
                                      std::string_view type, std::int64_t low, std::int64_t high);
  std::optional<std::int64_t> uint(const json::Value& value, const std::string& name);
  std::optional<std::int64_t> int32(const json::Value& value, const std::string& name);
  /// A BOOL: true, false, 1 or 0.
  std::optional<std::int64_t> flag(const json::Value& value, const std::string& name);
  std::optional<std::vector<std::int64_t>> uint_array(const json::Value& value,
                                                      const std::string& name);
  /// Sizes of a tensor. One of 0 is read: rules refuse it.
  std::optional<std::vector<std::int64_t>> sizes(const json::Value& value, const std::string& name);
  std::optional<std::vector<std::int64_t>> int_array(const json::Value& value,
                                                     const std::string& name);
  std::optional<std::vector<double>> float_array(const json::Value& value, const std::string& name);
  /// A number that fits FLOAT, or "inf", "-inf" or "nan" in any case.
  std::optional<double> float32(const json::Value& value, const std::string& name);
  /// A value of an enumeration by its name, with or without the enumeration's, or by its number.
  std::optional<std::int64_t> enumeration(const json::Value& value, const std::string& name,
                                          const std::string& enum_name,
                                          const std::vector<EnumValue>& values);
  /// One of `names`, with or without `prefix`. Returns its index.
  std::optional<std::size_t> name_of(const json::Value& value, const std::string& name,
                                     const std::vector<std::string>& names,
                                     const std::string& prefix);
  /// One name or an array of them.
  std::vector<std::size_t> names_of(const json::Value& value, const std::string& name,
                                    const std::vector<std::string>& names,
                                    const std::string& prefix);
  /// A finite number of at least 0, as a double.
  std::optional<double> nonnegative(const json::Value& value, const std::string& name);
  /// Whether the value is an array of at most 4096 elements. Adds a finding if it is not.
  bool is_list(const json::Value& value, const std::string& name, const Wanted& wanted);
  std::optional<bool> boolean(const json::Value& value, const std::string& name);
  std::optional<std::string> string(const json::Value& value, const std::string& name);

  /// The known name that an unknown member must stand for; "" where there is none.
  using StandsFor = std::function<std::string(const json::Member&)>;
  /// Adds a finding for every member whose name is not in `known`. Returns the known names that
  /// were probably meant: those that are near or else, if given, what `stands_for` says.
  std::vector<std::string> refuse_unknown(const json::Value& object,
                                          const std::vector<std::string>& known,
                                          const std::string& where,
                                          const StandsFor& stands_for = {});
  void add(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }

  /// Adds a finding at `value`.
  void refuse(const json::Value& value, std::string message, std::string rule, Advice suggestion);

  /// Adds the finding "the field "NAME" is missing" at `object`, which should have it. With an
  /// example, which is JSON, it has an idea of what mends it.
  void missing(const json::Value& object, const std::string& name, std::string rule,
               Advice suggestion, const std::string& example = "");

  /// Adds the finding "the string "x", must be WHAT" at `value`.
  void expected(const json::Value& value, const std::string& name, const std::string& what,
                Advice suggestion = "");

  /// The same, where the suggestion is what the value probably means if the field takes that, and
  /// an example otherwise.
  void expected(const json::Value& value, const std::string& name, const Wanted& wanted);

  /// Takes examples from a field of an operator until the next call. Returns what was shown before.
  ShownField show(ShownField field) { return std::exchange(shown_, std::move(field)); }

 private:
  std::optional<std::vector<std::int64_t>> integers(const json::Value& value,
                                                    const std::string& name, std::string_view type,
                                                    std::int64_t low, std::int64_t high,
                                                    std::int64_t shown_low);
  template <typename T, typename Read, typename Refuse>
  std::optional<std::vector<T>> list_of(const json::Value& value, const std::string& name,
                                        std::string_view type, Read&& read, Refuse&& refuse);
  void refuse_integer(const json::Value& value, const std::string& name, std::string_view type,
                      std::int64_t low, std::int64_t high);
  void refuse_float32(const json::Value& value, const std::string& name);
  void refuse_name(const json::Value& value, const std::string& name,
                   const std::vector<std::string>& names, const std::string& prefix,
                   const std::string& listed);
  bool propose_meaning(Diagnostic& finding, const json::Value& value, const Wanted& wanted) const;
  void propose_example(Diagnostic& finding, const json::Value& value, std::string example) const;
  std::string example_at(const std::string& pointer) const;

  const json::Document& document_;
  Diagnostics& diagnostics_;
  ShownField shown_;
};

}  // namespace dmlop
