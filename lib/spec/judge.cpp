#include "spec/judge.hpp"

#include "base/caller.hpp"

namespace dmlop {

std::string_view name_of(Judge judge) {
  return judge == Judge::page ? "page" : "directml-1.15.4";
}

std::optional<Judge> judge_named(std::string_view name) {
  for (const Judge judge : {Judge::page, Judge::directml}) {
    if (name == name_of(judge)) return judge;
  }
  return std::nullopt;
}

std::vector<std::string> judge_names() {
  return {std::string(name_of(Judge::page)), std::string(name_of(Judge::directml))};
}

std::string_view name_of(Evidence evidence) {
  constexpr std::string_view names[] = {"none", "verdict", "results"};
  return names[static_cast<std::size_t>(evidence)];
}

std::string directml_accepts_note(Evidence evidence) {
  if (evidence == Evidence::none)
    return "Whether DirectML 1.15.4 accepts this is not known; dmlop does with " +
           option_text("--as", name_of(Judge::directml)) + ".";
  return "DirectML 1.15.4 accepts this, and so does dmlop with " +
         option_text("--as", name_of(Judge::directml)) + ".";
}

std::string page_accepts_note() {
  return "The operator's page allows this, and so does dmlop with " +
         option_text("--as", name_of(Judge::page)) + ".";
}

std::string page_refuses_note(Evidence evidence) {
  const std::string page = "The operator's page does not allow this. ";
  switch (evidence) {
    case Evidence::none:
      return page + "Whether DirectML 1.15.4 accepts it is not known.";
    case Evidence::verdict:
      return page + "DirectML 1.15.4 accepts it; its results are not known.";
    case Evidence::results:
      return page + "DirectML 1.15.4 accepts it, and its results are known.";
  }
  return page;
}

}  // namespace dmlop
