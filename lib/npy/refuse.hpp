// Refusals of .npy files, for the files of this folder.
#pragma once

#include <string>
#include <string_view>

namespace dmlop::npy {

constexpr std::string_view whitespace = " \t\n\r\f";

/// Errors: invalid_input, always.
[[noreturn]] void refuse(const std::string& message);
/// The same for a file that ends too soon; `where` says where it does.
[[noreturn]] void refuse_truncated(const std::string& where);

/// The first bytes of `bytes` for a message. Bytes other than printable ASCII become \xNN.
std::string printable(std::string_view bytes);

}  // namespace dmlop::npy
