// Findings that only a run can have, such as those about the elements of a tensor.
#pragma once

#include <string>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace dmlop {

/// Ends a job as findings do that were there before it ran. what() is the text of all.
class FindingsError : public Error {
 public:
  explicit FindingsError(Diagnostics findings)
      : Error(worst_kind(findings), text_of(findings)), findings_(std::move(findings)) {}
  const Diagnostics& findings() const { return findings_; }

 private:
  static std::string text_of(const Diagnostics& findings) {
    std::vector<std::string> texts;
    for (const Diagnostic& finding : findings) texts.push_back(to_text(finding));
    return join(texts, "\n");
  }

  Diagnostics findings_;
};

}  // namespace dmlop
