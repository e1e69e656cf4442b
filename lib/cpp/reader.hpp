// Reads C++ as far as it fills variables with constants: declarations, assignments and the
// expressions in them, statement by statement, with the conditions and loops that the text decides.
// Whatever may change a variable in a way that it does not follow (another condition or loop, a
// call) makes that variable unresolved.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cpp/definitions.hpp"
#include "cpp/limits.hpp"
#include "cpp/value.hpp"

namespace dmlop::cpp {

struct Warning {
  Span written;
  std::string message;
};

class Reader {
 public:
  /// `definitions` has values of names whose value the text does not say; they must live as long.
  /// `changed` has where the variables stand that another function changes.
  Reader(std::string_view text, Memory& memory, std::vector<Warning>& warnings,
         const Definitions& definitions, std::set<std::size_t> changed = {});

  /// Reads the whole text. Errors: invalid_input for a text that is nested too deeply or describes
  /// too many values.
  void read();
  /// Reads the whole text as one expression, or as a list in braces; nothing if it is neither.
  std::optional<Value> read_expression();
  /// Where the variables are declared that a function changes in which no description is made: its
  /// place in the text does not say when it is called.
  const std::set<std::size_t>& changed_elsewhere() const { return changed_elsewhere_; }

 private:
  /// A type as it is written.
  struct Type {
    std::string name;                              // "DML_TENSOR_DESC", "UINT", "std::array"
    std::string element;                           // the first template argument: "UINT"
    std::size_t extent_begin = 0, extent_end = 0;  // tokens of the second template argument
    bool is_constant = false;
    bool is_static = false;
    bool is_pointer = false;
    bool is_reference = false;
    bool points_to_constant = false;

    bool is_container() const { return !element.empty(); }
  };
  /// The lengths of an array of C: UINT a[2][3].
  struct Extents {
    bool is_array = false;
    bool is_unknown = false;
    std::vector<std::optional<std::size_t>> lengths = {};
  };
  /// A member of a struct of the text.
  struct DataMember {
    std::string name;
    Type type = {};
    Extents extents = {};
    std::optional<Value> standard = {};  // what it is where nothing else is said
  };
  /// A struct of the text. It has no members if it is not understood, or if there are several of
  /// its name.
  struct Struct {
    std::size_t open = 0;  // its "{"
    std::optional<std::vector<DataMember>> members = {};
  };
  /// What declarations say about a place: the type, of an array that of its elements.
  struct Declared {
    std::string type = {};
    bool is_array = false;  // in C's sense
    bool is_container = false;
  };
  /// An expression's value, and its place if it has one.
  struct Operand {
    Value value;
    std::optional<Place> place = {};
  };
  struct Scope {
    std::size_t id = 0;
    bool is_conditional = false;
    std::size_t conditions = 0;  // around its statements
    bool has_ended = false;      // by a statement such as return
    bool is_function = false;
    bool is_of_description = false;         // a function in which a description is declared
    std::size_t variables = 0;              // so many there were when it was opened
    std::vector<std::size_t> changed = {};  // of these, by the function
    std::vector<std::pair<std::string, std::optional<std::size_t>>> hidden;  // to bring back
    std::optional<std::string> prefix = {};    // with which its names are known outside: "n::"
    std::string doubt = {};                    // why it is not known whether its statements run
    std::optional<std::size_t> function = {};  // whose body it is
  };
  /// Whether a condition holds, or why that is not known.
  struct Condition {
    std::optional<bool> truth = {};
    std::string doubt = {};
  };
  /// The tokens of a loop: for (A; B; C) or for (A : B) or while (B).
  struct Loop {
    bool is_for = false;
    std::size_t open = 0, close = 0;    // of the head
    std::size_t first = 0, second = 0;  // the semicolons in it
    std::size_t colon = 0;              // of a range
    std::size_t body = 0, end = 0;
  };
  /// What a break or a continue is about: a loop, or a switch.
  struct Breakable {
    bool is_followed = false;  // it is run as C++ runs it
    bool is_switch = false;
    std::size_t conditions = 0;  // around its statements
    std::size_t scopes = 0;      // around them
    bool may_have_ended = false;
  };
  /// What the statements that follow do not run for.
  enum class Exit { none, iteration, loop, call };
  /// One parameter of a function, by its tokens.
  struct Parameter {
    Type type = {};
    std::size_t name = 0;      // 0: it has none
    std::size_t standard = 0;  // where its default argument begins; 0: it has none
    std::size_t end = 0;
    bool is_understood = false;
  };
  /// A function or a lambda that the text defines.
  struct Function {
    std::string name;
    std::size_t open = 0, close = 0;  // the parentheses of its parameters
    std::size_t body = 0;
    Type result = {};          // "auto" if that follows from what it returns
    std::string refusal = {};  // why its calls are not evaluated
    bool is_lambda = false;
    bool has_escaped = false;
    std::vector<Parameter> parameters = {};
    std::map<std::string, std::size_t> names = {};  // that it sees
    std::size_t first = 0, last = 0;  // variables of its body, which is read where it stands, too
  };
  /// A call that is being run.
  struct Frame {
    std::size_t id = 0;
    std::size_t body = 0;
    std::size_t conditions = 0;  // around its statements
    std::size_t scopes = 0;      // around them
    std::size_t doubts = 0;      // so many returns may have ended it
    bool has_result = false;
    Operand result = {};
  };
  /// What the parser meets that it does not know.
  struct NotUnderstood {};
  class Depth;
  class Repeated;
  class Unsure;

  // Tokens.
  const Token& now() const { return tokens_[at_ < limit_ ? at_ : tokens_.size() - 1]; }
  const Token& after(std::size_t count) const;
  bool take(std::string_view symbol);
  void expect(std::string_view symbol);
  void match_brackets();
  std::size_t matching(std::size_t open) const;  // of a bracket: its partner, or the end
  bool has_partner(std::size_t open) const;      // of its own kind
  void require_partner(std::size_t open) const;
  [[noreturn]] void refuse_bracket(std::size_t open) const;
  std::size_t angle_end(std::size_t open) const;  // of "<": behind its ">", or 0
  std::size_t end_of_operand(std::size_t from) const;
  Span span_of(std::size_t first, std::size_t last) const;  // of the tokens [first, last)
  [[noreturn]] void refuse_depth() const;

  // Statements.
  void statement();
  void directive();
  void define();
  bool has_open_operator(std::size_t begin, std::size_t end) const;
  void skip_statement();
  void leave(bool ends);
  bool skips_by_keyword();
  void alias();
  void expression_statement();
  void open_scope(bool is_conditional, std::string doubt = "");
  void open_named_scope(std::string prefix);
  void bind(const std::string& name, std::size_t variable);
  bool namespace_body();
  void use_names(std::size_t begin, std::size_t end);
  void enumeration(std::size_t open);
  void open_function(std::size_t body, std::optional<std::size_t> function = {});
  void close_function(const Scope& scope);
  bool names_description(std::size_t begin, std::size_t end) const;
  bool is_in_function() const;
  bool headless_function();
  bool class_body(std::size_t open);
  void parameters(std::size_t open, std::size_t close);
  void note_change(std::size_t variable);
  void taint_changed(std::size_t variable);
  void close_scope();
  void end_scope();

  // Conditions and loops.
  std::size_t end_of_simple_statement(std::size_t from) const;
  std::size_t end_of_statement(std::size_t from) const;
  bool run(std::size_t begin, std::size_t end, const std::string& doubt = "");
  void run_in_place(std::size_t begin, std::size_t end);
  void run_surely(std::size_t begin, std::size_t end);
  Condition condition(std::size_t begin, std::size_t end);
  Condition head();
  void control();
  void branches();
  std::optional<std::size_t> case_of(const Value& value, std::size_t open);
  bool run_switch(const Value& value);
  void loop();
  Loop loop_at(std::size_t open) const;
  bool run_loop(const Loop& loop, std::string& doubt);
  bool run_range(const Loop& loop, std::string& doubt);
  bool run_iteration(const Loop& loop, std::string& doubt);
  void read_once(const Loop& loop, const std::string& doubt);
  void read_range(const Loop& loop);
  void leave_loop(bool is_break);
  std::size_t doubts() const { return frames_.empty() ? 0 : frames_.back().doubts; }
  std::string doubt() const;
  void spend(std::size_t steps);
  bool is_spent() const { return steps_ > max_steps; }

  // Functions and lambdas.
  void skip_annotations(std::size_t& at) const;
  Parameter parameter_at(std::size_t begin, std::size_t close) const;
  std::vector<Parameter> parameters_of(const Function& function) const;
  std::optional<std::size_t> keep(Function function);
  static Value function_value(std::size_t function, Span written);
  std::optional<std::size_t> declare_function(Span written, Function function);
  std::optional<std::size_t> called(const Value& functions, std::size_t arguments,
                                    std::string& why) const;
  Operand call_function(const Operand& callee, std::size_t first);
  void bind_parameter(const Parameter& parameter, const Operand* given, Span written);
  Operand run_function(std::size_t index, const std::vector<Operand>& given, Span written);
  Operand returned(const Function& function, const Frame& frame, std::size_t variables,
                   Span written);
  bool is_in_call() const;
  std::size_t call_now() const { return frames_.empty() ? 0 : frames_.back().id; }
  void leave_call();
  void escape_functions(const Value& functions);
  std::optional<Function> lambda_at(std::size_t captures) const;
  void capture(Function& function, std::size_t open);
  void capture_named(Function& function);
  void capture_copy(Function& function, const std::string& name);
  void capture_copy(Function& function, const std::string& name, Value value, const Variable* from);
  Operand lambda_value();
  bool lambda();
  std::optional<std::size_t> named_lambda(std::size_t captures);

  // Declarations.
  bool declaration();
  std::optional<Type> type_at(std::size_t& at) const;
  void skip_qualifiers_after_pointer(std::size_t& at, Type& type) const;
  bool is_declarator(std::size_t at) const;
  void function(const Type& type, std::size_t name, std::size_t open, std::size_t close);
  void declarator(const Type& type);
  Extents extents();
  Value declared_value(const Type& type, const Extents& extents, Value value, Span written);
  Value initial_value(const Type& type, std::optional<Place>& refers);
  Value constructed(const Type& type);
  void declare(const Token& name, const Type& type, Value value, bool is_array,
               std::optional<Place> refers);
  Value given_value(const Token& name, const Type& type, const Value& given);
  Value filled(Value value, std::optional<std::size_t> extent, const std::string& element);
  Value filled_rows(Value value, std::span<const std::optional<std::size_t>> lengths,
                    const std::string& element);
  Value typed(Value value, const std::string& type);

  // Structs.
  Value typed_struct(Value list, const std::string& type);
  const std::vector<DataMember>* struct_of(const std::string& type) const;
  bool is_struct(const std::string& type) const;
  Value own_struct(const Value& list, const std::string& type,
                   const std::vector<DataMember>& members);
  Value given_member(const DataMember& member, const Value& given);
  Value zero_member(const DataMember& member, Span written);
  Value unset_struct(Span written, const std::string& type, const std::vector<DataMember>& members);
  void structure(const std::string& name, std::size_t open);
  bool c_structure();
  bool data_members(std::size_t close, const std::string& name, std::vector<DataMember>& members);
  bool data_member(Type type, std::vector<DataMember>& members);
  Declared declared_at(const Place& place) const;

  // Types.
  std::optional<std::size_t> extent_of(std::size_t begin, std::size_t end);
  std::string without_alias(const std::string& type) const;

  // Expressions.
  Value list();
  Value element(std::size_t end);
  Operand evaluate(std::size_t begin, std::size_t end);
  Value constant(std::size_t begin, std::size_t end);
  Value not_evaluated(std::size_t begin, std::size_t end) const;
  Operand assignment();
  Operand conditional();
  Operand binary(int level);
  Operand unary();
  Operand address();
  Operand postfix();
  Operand primary();
  Operand parenthesized();
  Operand name();
  Operand cast_to(const Type& type, const Operand& operand, Span written);
  Operand named_cast(std::size_t first);
  Operand size_in_bytes();
  Operand member(Operand object, bool through_pointer);
  Operand method(const Operand& object, const std::string& name, std::size_t first);
  static std::optional<std::size_t> index_of(const std::string& name,
                                             const std::vector<Operand>& given,
                                             std::optional<std::size_t> length);
  Operand subscript(const Operand& array);
  Operand call(const std::string& function, std::size_t first);
  static bool is_standard(const std::string& function);
  static bool is_operation(const std::string& name);
  Operand known_call(const std::string& function, const std::vector<Operand>& arguments,
                     Span written);
  Operand accumulated(const std::vector<Operand>& arguments, Span written);
  Value folded(const Value& sum, const Operand& element, const Operand* operation, Span written);
  std::vector<Operand> arguments(const std::string& function, bool is_followed = false);
  static bool zeroes(const std::string& function);
  bool zeroed_by(const std::string& function, const std::vector<Operand>& arguments, Span written);
  void warn_of_descriptions(std::size_t begin, std::size_t end, const std::string& function);
  Value combined(const std::string& symbol, const Value& left, const Value& right, Span written);
  /// An element of an array, by its index, which may be the one behind the last.
  struct Element {
    Place array = {};
    std::size_t index = 0;
  };
  std::optional<Element> element_at(const Value& pointer) const;
  std::optional<std::vector<Place>> range_of(const Value& first, const Value& last) const;
  std::optional<Value> copy_of_range(const Value& first, const Value& last, Span written);
  std::optional<Value> moved(const Value& pointer, const Value& by, bool is_back, Span written);
  Operand operand_at(const Place& place, Span written);
  std::optional<std::size_t> length_of(const Operand& array) const;
  std::optional<std::size_t> bytes_of(const std::string& type) const;

  // Changes of variables.
  void assign(const Place& place, const std::string& symbol, Value value, Span written);
  std::string type_of(const Place& place) const;
  void forget(const Place& place, Span written, std::string why);
  void forget_named(std::size_t begin, std::size_t end, bool escapes = true);
  void escape(const Value& value, Span written);
  bool is_description(std::size_t variable) const;
  static bool changes_nothing(const std::string& function);
  bool copies(const Type& type) const;
  std::optional<std::size_t> find(const std::string& name) const;

  std::string_view text_;
  const Definitions& definitions_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> partners_;  // of brackets
  std::size_t at_ = 0;
  std::size_t limit_ = 0;  // tokens from here on do not belong to what is read
  std::size_t depth_ = 0;
  std::size_t conditions_ = 0;
  std::size_t repeated_ = 0;  // so many loops and calls are run around this
  std::size_t steps_ = 0;     // that these took
  Exit exit_ = Exit::none;
  std::vector<Breakable> breakables_;
  std::deque<Function> functions_;
  std::size_t kept_names_ = 0;  // of functions, together
  std::size_t templates_ = 0;   // so many heads of templates are around this
  std::vector<Frame> frames_;
  std::size_t next_scope_ = 1;
  std::size_t created_ = 0;  // so many variables there were when an operator was created
  Memory& memory_;
  std::vector<Warning>& warnings_;
  std::map<std::string, std::size_t> names_;
  std::map<std::string, std::string> aliases_;
  std::map<std::string, Struct> structs_;  // by their names
  std::vector<Scope> scopes_;
  std::size_t kept_scopes_ = 1;    // that no brace closes
  std::set<std::size_t> changed_;  // as given
  std::set<std::size_t> changed_elsewhere_;
  std::vector<std::size_t> changed_by_description_;
  std::size_t functions_of_descriptions_ = 0;
};

/// While it lives, what is read may run or not: what that assigns is unresolved.
class Reader::Unsure {
 public:
  explicit Unsure(Reader& reader) : reader_(reader) { ++reader_.conditions_; }
  ~Unsure() { --reader_.conditions_; }
  Unsure(const Unsure&) = delete;
  Unsure& operator=(const Unsure&) = delete;

 private:
  Reader& reader_;
};

/// While it lives, what is read runs as often as C++ runs it.
class Reader::Repeated {
 public:
  explicit Repeated(Reader& reader) : reader_(reader) { ++reader_.repeated_; }
  ~Repeated() { --reader_.repeated_; }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

 private:
  Reader& reader_;
};

/// Counts how deeply calls are nested. Errors: invalid_input if that is too deep.
class Reader::Depth {
 public:
  explicit Depth(Reader& reader);
  ~Depth() { --reader_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  Reader& reader_;
};

}  // namespace dmlop::cpp
