// Whose a file is.
#pragma once

#include <string>

namespace dmlop {

/// Whether a file or folder, itself and no link, belongs to this user. On Windows whatever there is
/// counts as his: the folders of a profile are.
bool is_mine(const std::string& path);

/// Whether it is his and nobody else may write it.
bool is_only_mine(const std::string& path);

}  // namespace dmlop
