// Turns the variables of a text into the JSON of an op description.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "cpp/value.hpp"
#include "spec/spec.hpp"

namespace dmlop::cpp {

/// A number as JSON: the shortest text that reads back as it, a word for those that JSON lacks.
nlohmann::ordered_json json_of(const Number& number);

class Describer {
 public:
  Describer(std::string file, std::string_view text, const Memory& memory, Diagnostics& findings,
            Diagnostics& warnings)
      : file_(std::move(file)),
        text_(text),
        memory_(memory),
        findings_(findings),
        warnings_(warnings) {}

  /// The description in the variable that no other one uses. Adds a finding for each part that is
  /// not known; the JSON is whole only without one.
  nlohmann::ordered_json describe();

  Diagnostic at(Span written, std::string message) const;

  /// Says once, in the last finding about a value that the text leaves open, how to do without it.
  void add_other_ways(Diagnostics& findings) const;

  /// Where the text gives what describe() described: "OutputTensor.Sizes[2]" and an offset, and ""
  /// for the whole.
  const std::map<std::string, std::size_t>& places() const { return places_; }

 private:
  using Json = nlohmann::ordered_json;

  // The variable to describe.
  const Variable* root();
  std::vector<std::size_t> roots() const;
  void keep_different(std::vector<std::size_t>& roots) const;
  void refuse_several(const std::vector<std::size_t>& roots);
  Json described(const Variable& variable);
  Diagnostic no_operator() const;
  std::set<std::size_t> used_by(std::size_t user) const;
  void check_type_of(const Variable& root, const OperatorSpec& spec);

  // Structs.
  Json operator_fields(const Value& desc, const OperatorSpec& spec, const std::string& prefix);
  Json field(const Value& desc, const FieldSpec& field, const std::string& name);
  Json tensor(const Value& pointer, const std::string& name);
  Json tensor_desc(const Value& desc, const std::string& name);
  Json buffer(const Value& desc, const std::string& name);
  Json flags(const Value& value, const std::string& name);
  void warn_of_absence(const Value& value, const std::string& what, const std::string& remedy);
  Json pair(const Value& both, const char* first, const char* second, bool is_float,
            const std::string& name);
  Json nested(const Value& pointer, const std::string& name);
  Json nested_desc(const Value& desc, const std::string& name);
  Json scalar(const Value& desc, const Value& both, const FieldSpec& field,
              const std::string& name);
  Json scalar_of_bytes(const Value& bytes, const std::string& type, const std::string& name);
  void refuse_unknown_members(const Value& desc, const std::vector<std::string>& known,
                              const std::string& type, const std::string& name);

  // Values.
  Value member(const Value& owner, const std::string& name) const;
  const Value* struct_at(const Value& pointer, const std::string& name);
  Json integer(const Value& value, const std::string& name);
  Json real(const Value& value, const std::string& name);
  Json enumeration(const Value& value, const std::string& enum_name, const std::string& name);
  using ReadElement = std::function<Json(const Value& element, const std::string& name)>;
  struct Elements {
    const Value* target;  // an array, or one value
    std::size_t offset;
    std::size_t variable;
  };
  struct Count {
    const std::string& name;
    std::uint64_t length;
  };
  Elements elements_at(const Value& pointer) const;
  void refuse_length(const Elements& elements, const Value& pointer, std::size_t there,
                     const Count& count, const std::string& name);
  Json array(const Value& pointer, const Value& count, const std::string& count_name,
             const std::string& name, const ReadElement& read);
  std::optional<Number> number(const Value& value, const std::string& name);
  bool is_null(const Value& value) const;
  void remember_place(const std::string& name, Span written);
  void refuse(const Value& value, const std::string& name);
  void refuse(Span written, const std::string& name, const std::string& why, std::string remedy);
  void refuse_open(const Value& value, const std::string& name, const std::string& why,
                   std::string remedy);

  void warn_of_end(const Value& pointer, const std::string& name);

  std::string file_;
  std::string_view text_;
  const Memory& memory_;
  Diagnostics& findings_;
  Diagnostics& warnings_;
  std::map<std::string, std::size_t> places_;
  std::string variable_ = {}, operator_ = {};  // that are described
  std::set<std::string> open_ = {};            // messages about values that the text leaves open
  std::vector<std::string> open_fields_ = {};  // of the operator
  std::size_t call_ = 0;                       // in which the described variable lives
  std::set<std::size_t> ended_ = {};           // variables that a warning is about
};

}  // namespace dmlop::cpp
