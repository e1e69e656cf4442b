// The file batch/report.html, embedded when the program is built.
#pragma once

#include <string_view>

namespace dmlop {

/// A page with the placeholder @DATA@ in place of its JSON.
std::string_view report_template();

}  // namespace dmlop
