// Files of text that options name: what they may replace, and how they are written.
#pragma once

#include <string>
#include <string_view>

namespace dmlop::app {

/// An option may replace only an earlier file of its own, which begins in this way, or an empty
/// one. Errors: usage; io_failed if the file cannot be read.
void refuse_other_file(const std::string& option, const std::string& path,
                       std::string_view beginning);

/// Writes text that this program made for other programs, also after a request to stop. Standard
/// output gets it as all that is printed, so that a reader who has read enough is no failure to
/// report. Errors: io_failed.
void write_text(const std::string& path, std::string_view text);

}  // namespace dmlop::app
