// The pieces of which the JSON schemas (draft 7) are made. A mistake is to break one of them, so
// that an editor shows one message: alternatives are chosen by if, and what must be there is asked
// for only where no name is misspelt. A $ref has no siblings, which draft 7 ignores.
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
/// The beginning of a schema that stands for itself.
Json titled(const std::string& title, const Json& schema);
/// The schema with a text for hints.
Json described(const std::string& text, Json schema);
/// An object that is as a definition says, which does not say itself that it is one.
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
/// The name of an operator. A misspelt one is told the names that begin like it.
Json operator_name(const Names& names);
/// Names in any case.
Json name_in_any_case(const Names& names);

/// What an object must have whose members have these names; one with another name has an error of
/// its own, and may have misspelt what it must have.
Json needs(Json names, const Names& required);
/// An object with these members and no others.
Json object_of(Json members, const Names& required = {});
/// The same for a definition, which does not say that it is an object.
Json without_type(Json object);
/// The names of an object's members.
Names names_of(const Json& members);
/// Whether an object has one of the members.
Json has_any(const Names& members);

/// Definitions that all descriptions share: tensor, number, int and so on. Where `complete`, a
/// tensor has a type and sizes.
Json shared_definitions(bool complete);

}  // namespace dmlop::app::schema
