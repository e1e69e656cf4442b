#include "spec/judge.hpp"

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

std::string page_refuses_note(bool recorded) {
  return std::string("The operator's page does not allow this. DirectML 1.15.4 accepts it") +
         (recorded ? ", and its results are known." : "; its results are not known.");
}

}  // namespace dmlop
