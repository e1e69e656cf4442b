// The file guide/page.html, embedded when the program is built.
#pragma once

#include <string_view>

namespace dmlop {

/// A page with the placeholders @VERSION@ and @CONTENT@.
std::string_view operators_page_template();

}  // namespace dmlop
