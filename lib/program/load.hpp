// Reads a program from any kind of file that has one. Whatever loads, checks or runs programs in
// memory starts here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "graph/lower.hpp"

namespace dmlop {

/// A file, or what it would contain.
struct ProgramSource {
  std::string path;       // of the file; names the text, and has its files beside it
  std::string text = {};  // JSON or a serialized graph; "": what the file contains
  std::map<std::string, std::uint64_t> dimensions = {};  // of an ONNX model, by their names
};

/// Whether this is a program by its structure, and not an op description. Errors: io_failed.
bool is_program(const ProgramSource& source);

/// Reads and checks a serialized graph, a graph as JSON, an ONNX model (a file *.onnx), or a
/// DxDispatch model, which has no inputs. Mistakes become findings; `notes` gets warnings. Errors:
/// io_failed, usage for other files.
std::optional<LoweredGraph> load_program(const ProgramSource& source, const GraphRequest& request,
                                         Diagnostics& diagnostics, Diagnostics& notes);

}  // namespace dmlop
