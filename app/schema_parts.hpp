// The parts that the JSON schemas (draft 7) are made of. A mistake should break exactly one of
// them, so that an editor shows one message. So alternatives are chosen by if, and required members
// are demanded only if no name is misspelt. A $ref has no siblings, because draft 7 ignores them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dmlop::app::schema {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

/// Refers to a member of "definitions".
Json refer_to(const std::string& definition);
/// The beginning of a complete schema.
Json titled(const std::string& title, const Json& schema);
/// The schema with a text for hints.
Json described(const std::string& text, Json schema);
/// An object described by a definition that does not itself say that it is an object.
Json object_like(const std::string& definition);
Json if_then(Json condition, Json then);
Json if_then(Json condition, Json then, Json otherwise);

Json integer(std::int64_t low, std::int64_t high);
Json uint();
Json int32();
/// An integer of 64 bits that is not negative.
Json bytes();
/// A string that is not empty.
Json text();
Json list_of(Json item, std::size_t least = 0);
Json one_or_list(const Json& item);
/// One of the names, all with the prefix.
Json one_of(const Names& names, const std::string& prefix = "");
/// One of the names, each with and without the prefix.
Json name_of(const Names& names, const std::string& prefix);
/// The name of an operator. For a misspelt one, an editor shows the names that begin like it.
Json operator_name(const Names& names);
/// Names in any case.
Json name_in_any_case(const Names& names);

/// What an object must have if all its members have these names. An object with another name has an
/// error for that, and its required member may be the misspelt one.
Json needs(Json names, const Names& required);
/// An object with these members and no others.
Json object_of(Json members, const Names& required = {});
/// The same for a definition that does not say that it is an object.
Json without_type(Json object);
/// The names of an object's members.
Names names_of(const Json& members);
/// Whether an object has one of the members.
Json has_any(const Names& members);

/// The file of an input, or {"random": "uniform", "seed": 1} in its place: "input_file".
Json input_file();

/// Definitions that all descriptions share, such as tensor, number and int. If `complete`, a tensor
/// has a type and sizes.
Json shared_definitions(bool complete);

}  // namespace dmlop::app::schema
