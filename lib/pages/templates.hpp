// The HTML pages, put together from the files in pages/ when the program is built.
#pragma once

#include <string_view>

namespace dmlop {

/// The report of a batch, with the placeholder @DATA@ in place of its JSON.
std::string_view report_template();

/// The page about operators, with the placeholders @VERSION@ and @CONTENT@.
std::string_view operators_page_template();

}  // namespace dmlop
