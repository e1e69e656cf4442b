// Who decides what is valid if an operator's documentation page and DirectML 1.15.4 disagree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// `page`: Microsoft's documentation page of the operator. `directml`: what DirectML 1.15.4 does.
enum class Judge { page, directml };

/// As users write them: "page" and "directml-1.15.4".
std::string_view name_of(Judge judge);
std::optional<Judge> judge_named(std::string_view name);
std::vector<std::string> judge_names();

/// What is known of DirectML 1.15.4 where it may accept what a page does not allow: nothing, that
/// it accepts it, or also what it computes.
enum class Evidence { none, verdict, results };
std::string_view name_of(Evidence evidence);

/// Notes on what one judge says of what the other one decided.
std::string directml_accepts_note(Evidence evidence);
inline constexpr const char* directml_refuses_note = "DirectML 1.15.4 refuses this.";
std::string page_accepts_note();
std::string page_refuses_note(Evidence evidence);

}  // namespace dmlop
