// Fixes of findings. What mends a finding is tried out: with it the finding is gone, and there is
// no new one. So a remedy that is proposed works, and where none works the text explains instead.
#pragma once

#include "spec/description.hpp"

namespace dmlop {

/// check_description(). Afterwards each finding about the description, also an earlier one, has the
/// fix that works, and a suggestion that says it. Descriptions with very much in them get none.
void check_and_mend(Description& description, Diagnostics& diagnostics);

/// A description's text with a fix in it, as JSON; "" where the fix does not fit.
std::string with_fix(const Description& description, const Fix& fix);

}  // namespace dmlop
