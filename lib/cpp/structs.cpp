// Structs: those of DirectML, and those of the text that hold nothing but data.
#include <algorithm>
#include <array>
#include <utility>

#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

std::string last_name(const std::string& name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

}  // namespace

Value Reader::typed_struct(Value list, const std::string& type) {
  const std::vector<Member> members = *members_of(type);
  Value result{.kind = Value::Kind::list, .written = list.written, .type = type, .is_zeroed = true};
  const bool is_named = !list.entries.empty() && !list.entries.front().name.empty();
  if (!is_named && list.entries.size() > members.size())
    return unresolved(
        list.written,
        "it has " + std::to_string(list.entries.size()) + " values, and " + type + " has " +
            std::to_string(members.size()) + " members",
        "write the values in the order of the members, with the braces of each struct");
  if (!is_named && type == "DML_SCALAR_UNION" && list.entries.size() > 1)
    return unresolved(list.written, "a union takes one value",
                      "name its member: {.Float32 = 1.5f}");
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    Entry& entry = list.entries[i];
    if (entry.name.empty() == is_named)
      return unresolved(list.written, "some of its values have names and some have none",
                        "name all of them");
    const std::string name = is_named ? entry.name : members[i].name;
    const auto member = std::ranges::find(members, name, &Member::name);
    const std::string member_type = member == members.end() ? "" : member->type;
    const bool lacks_braces = members_of(member_type) && entry.value.kind == Value::Kind::number;
    if (lacks_braces)
      return unresolved(entry.value.written,
                        name + " is a struct and has no braces of its own here",
                        "write its values in braces");
    result.entries.push_back({name, typed(std::move(entry.value), member_type)});
  }
  return result;
}

// The members of a struct of the text; null if it is none, or not understood.
const std::vector<Reader::DataMember>* Reader::struct_of(const std::string& type) const {
  const auto found = structs_.find(last_name(type));
  return found == structs_.end() || !found->second.members ? nullptr : &*found->second.members;
}

bool Reader::is_struct(const std::string& type) const {
  return members_of(type).has_value() || struct_of(type) != nullptr;
}

// Braces become a struct of the text. What they leave out is what its declaration says, or zero.
Value Reader::own_struct(const Value& list, const std::string& type,
                         const std::vector<DataMember>& members) {
  const Depth depth(*this);
  const bool is_copy = list.entries.size() == 1 && list.entries.front().value.type == type;
  if (is_copy) return list.entries.front().value;
  Value result{.kind = Value::Kind::list, .written = list.written, .type = type};
  const bool is_named = !list.entries.empty() && !list.entries.front().name.empty();
  if (list.entries.size() > members.size())
    return unresolved(list.written,
                      "it has " + std::to_string(list.entries.size()) + " values, and " + type +
                          " has " + std::to_string(members.size()) + " members",
                      "write the values in the order of the members, with the braces of each");
  for (const Entry& entry : list.entries) {
    if (entry.name.empty() == is_named ||
        (is_named && std::ranges::find(members, entry.name, &DataMember::name) == members.end()))
      return unresolved(entry.value.written, "it names no member of " + type,
                        "name the members as " + type + " does");
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const DataMember& member = members[i];
    const Entry* entry = is_named                  ? list.find(member.name)
                         : i < list.entries.size() ? &list.entries[i]
                                                   : nullptr;
    result.entries.push_back({member.name, entry != nullptr ? given_member(member, entry->value)
                                                            : zero_member(member, list.written)});
  }
  memory_.count(result);
  return result;
}

Value Reader::given_member(const DataMember& member, const Value& given) {
  const bool takes_braces =
      !member.type.is_pointer &&
      (member.extents.is_array || member.type.is_container() || is_struct(member.type.name));
  if (takes_braces && given.kind == Value::Kind::number)
    return unresolved(given.written, member.name + " has no braces of its own here",
                      "write its values in braces");
  return declared_value(member.type, member.extents, given, given.written);
}

Value Reader::zero_member(const DataMember& member, Span written) {
  if (member.standard) return *member.standard;
  if (member.type.is_pointer && !member.extents.is_array)
    return {.kind = Value::Kind::null, .written = written};
  const bool is_class = !member.type.is_container() && size_of_type(member.type.name) == 0 &&
                        !is_struct(member.type.name) && !member.type.name.starts_with("DML_");
  if (is_class && !member.extents.is_array) return {.written = written};
  const bool is_enumeration = !member.type.is_container() && !member.extents.is_array &&
                              size_of_type(member.type.name) == 0 && !is_struct(member.type.name);
  if (is_enumeration) return number_value(written, integer_number(0));
  return declared_value(member.type, member.extents,
                        {.kind = Value::Kind::list, .written = written}, written);
}

// A struct that is declared without a value.
Value Reader::unset_struct(Span written, const std::string& type,
                           const std::vector<DataMember>& members) {
  const Depth depth(*this);
  Value result{.kind = Value::Kind::list, .written = written, .type = type};
  for (const DataMember& member : members) {
    Value value{.written = written};
    const auto* own = member.type.is_pointer ? nullptr : struct_of(member.type.name);
    if (member.standard) {
      value = *member.standard;
    } else if (own != nullptr && !member.extents.is_array) {
      value = unset_struct(written, member.type.name, *own);
    } else {
      value = declared_value(member.type, member.extents, std::move(value), written);
      if (member.type.name == "std::vector") value.kind = Value::Kind::list;
    }
    result.entries.push_back({member.name, std::move(value)});
  }
  memory_.count(result);
  return result;
}

// struct NAME { ... }, whose "{" is a token.
void Reader::structure(const std::string& name, std::size_t open) {
  const std::size_t here = std::exchange(at_, open + 1);
  std::vector<DataMember> members;
  bool is_understood = false;
  try {
    is_understood = data_members(matching(open), name, members);
  } catch (const NotUnderstood&) {
    is_understood = false;
  }
  at_ = here;
  const auto other = structs_.find(name);
  const bool is_only = other == structs_.end() || other->second.open == open;
  if (other == structs_.end() && structs_.size() == max_structs) return;
  Struct& own = structs_[name];
  own = {.open = open};
  if (is_understood && is_only && conditions_ == 0) own.members = std::move(members);
}

// Reads members up to the token `close`. False where something else than data and functions is
// there, such as a constructor.
bool Reader::data_members(std::size_t close, const std::string& name,
                          std::vector<DataMember>& members) {
  constexpr std::array<std::string_view, 6> skipped{"using",  "typedef", "enum",
                                                    "struct", "static",  "static_assert"};
  constexpr std::array<std::string_view, 7> refused{"private", "protected", "virtual", "template",
                                                    "friend",  "explicit",  "class"};
  while (at_ < close) {
    if (take(";")) continue;
    if (now().is("public") && after(1).is(":")) {
      at_ += 2;
      continue;
    }
    if (is_one_of(now().text, skipped)) {
      skip_statement();
      continue;
    }
    std::size_t at = at_;
    const bool is_constructor = now().is(name) && after(1).is("(");
    const auto type = is_constructor ? std::nullopt : type_at(at);
    if (is_one_of(now().text, refused) || !type || at >= close || !tokens_[at].is_word())
      return false;
    if (tokens_[at].is("operator") || tokens_[at + 1].is("(")) {
      skip_statement();
      continue;
    }
    at_ = at;
    if (!data_member(*type, members)) return false;
  }
  return true;
}

// UINT a, b[4] = {1, 2};
bool Reader::data_member(Type type, std::vector<DataMember>& members) {
  do {
    for (; now().is("*"); ++at_) type.is_pointer = true;
    if (type.is_reference || !now().is_word() || members.size() == max_members) return false;
    DataMember member{.name = std::string(now().text), .type = type};
    ++at_;
    member.extents = extents();
    if (take("=") || now().is("{")) {
      const std::size_t begin = at_, end = end_of_operand(at_);
      member.standard = given_member(member, now().is("{") ? list() : constant(begin, end));
      at_ = end;
    }
    members.push_back(std::move(member));
    type.is_pointer = false;
  } while (take(","));
  return take(";");
}

// What the declarations say about a place.
Reader::Declared Reader::declared_at(const Place& place) const {
  const Variable& variable = memory_.variables()[place.variable];
  Declared declared{variable.type, variable.is_array, variable.is_container};
  for (const auto& step : place.path) {
    const auto* name = std::get_if<std::string>(&step);
    if (name == nullptr) {  // the type of an array is that of its elements
      declared.is_container = false;
      continue;
    }
    if (const auto* own = struct_of(declared.type)) {
      const auto found = std::ranges::find(*own, *name, &DataMember::name);
      if (found == own->end()) return {};
      const Type& type = found->type;
      declared = {type.is_container() ? type.element
                  : type.is_pointer   ? type.name + "*"
                                      : type.name,
                  found->extents.is_array, type.is_container()};
      continue;
    }
    const auto members = members_of(declared.type);
    if (!members) return {};
    const auto found = std::ranges::find(*members, *name, &Member::name);
    if (found == members->end()) return {};
    declared = {found->type, false, false};
  }
  return declared;
}

std::string Reader::type_of(const Place& place) const {
  return declared_at(place).type;
}

}  // namespace dmlop::cpp
