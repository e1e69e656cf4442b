// Who owns a file.
#pragma once

#include <string>

namespace dmlop {

/// Whether a file or folder belongs to this user. Links are not followed. On Windows every existing
/// file counts as the user's, because the folders of a profile are.
bool is_mine(const std::string& path);

/// Whether it belongs to this user and nobody else may write it.
bool is_only_mine(const std::string& path);

}  // namespace dmlop
