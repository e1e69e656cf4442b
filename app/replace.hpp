// Which files an option may replace.
#pragma once

#include <string>
#include <string_view>

namespace dmlop::app {

/// An option may replace only an earlier file of its own, which begins in this way, or an empty
/// one. Errors: usage; io_failed if the file cannot be read.
void refuse_other_file(const std::string& option, const std::string& path,
                       std::string_view beginning);

}  // namespace dmlop::app
