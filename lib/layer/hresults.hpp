// The codes with which DirectML, Direct3D and ONNX Runtime fail, and what they mean to those who
// see one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop::layer {

struct HResult {
  std::uint32_t code;
  std::string_view name;          // "E_INVALIDARG"
  std::string_view meaning;       // sentences
  std::string_view help;          // the same: what to do
  std::string_view message = {};  // what Windows says for it, in small letters
};

std::span<const HResult> known_hresults();
/// Null for other codes.
const HResult* find_hresult(std::uint32_t code);

/// "80070057 E_INVALIDARG", or the code alone.
std::string name_of_hresult(std::uint32_t code);

/// A line of a source file that a message of ONNX Runtime names.
struct SourceLine {
  std::string file;  // "DmlGraphFusionHelper.cpp"
  std::uint32_t line = 0;
};

/// What a text says about failures: the codes in it, in any way to write them, or those of Windows'
/// messages in it where it has no code, and the lines of ONNX Runtime's DirectML provider.
struct FailureText {
  std::vector<std::uint32_t> codes;
  std::vector<SourceLine> lines;
};

FailureText read_failure_text(std::string_view text);

/// What ONNX Runtime does in a source file, by line where that tells more, and what helps; "" for
/// files that are not known.
std::string meaning_of(const SourceLine& line);
std::string help_for(const SourceLine& line);

}  // namespace dmlop::layer
