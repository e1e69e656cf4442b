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

/// Notes on what one judge says of what the other one decided.
inline constexpr const char* directml_accepts_note =
    "DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.";
inline constexpr const char* directml_refuses_note = "DirectML 1.15.4 refuses this.";
inline constexpr const char* page_accepts_note =
    "The operator's page allows this, and so does dmlop with --as page.";
/// `recorded`: results of DirectML for such descriptions are known.
std::string page_refuses_note(bool recorded);

}  // namespace dmlop
