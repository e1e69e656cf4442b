// Opens a program: an op description, a DxDispatch model or a graph, whatever kind of file says it.
// Commands, jobs of a batch and the library start here, so that each of them takes all kinds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/lower.hpp"
#include "model/open.hpp"
#include "onnx/size_source.hpp"

namespace dmlop {

/// What a command line, a job or a caller names.
struct ProgramSource {
  std::string path;       // a file, a folder, an operator or "-"; of a text, its name in findings
  std::string text = {};  // JSON, a serialized graph or an ONNX model; "": what the file contains
  std::vector<Setting> settings = {};                    // for a description
  std::map<std::string, std::uint64_t> dimensions = {};  // of an ONNX model, by their names
  std::vector<NamedFile> inputs = {};  // of an ONNX model; of a job, its outputs' files, too
  bool fuses = false;                  // nodes of an ONNX model
  onnx::SizeSource size_source = onnx::SizeSource::files;
  SharedConfinement confinement = {};  // of the path; null: any may be read
};

struct OpenedProgram {
  enum class Kind { description, model, graph };
  Kind kind = Kind::description;
  bool is_onnx = false;                 // the graph was an ONNX model
  std::optional<OpenedFile> file = {};  // of a description or a model
  std::optional<Graph> graph = {};      // nothing if there are findings
  /// Files of an ONNX model's inputs, which are constants of the graph.
  std::vector<NamedFile> given = {};
};

/// Opens what the source names: an ONNX model by its name *.onnx, or a folder with nothing else; a
/// serialized graph by its bytes or its name *.bin, or all Partition_N.bin of a folder as one; all
/// others as JSON. The request says what the constants of graphs may be. Returns nothing, with
/// findings, if it is none of these. Errors: as open_op_or_model and open_graph; usage for settings
/// of anything but a description.
std::optional<OpenedProgram> open_program(const ProgramSource& source, const GraphRequest& request,
                                          Diagnostics& diagnostics);

/// The same for what is not JSON; nothing, without findings, for all others.
std::optional<OpenedProgram> open_binary_program(const ProgramSource& source,
                                                 const GraphRequest& request,
                                                 Diagnostics& diagnostics);

/// Whether the source is an ONNX model, by its name or the bytes of its text.
bool is_onnx_program(const ProgramSource& source);
/// Whether the source is a graph that is not JSON. Errors: as open_graph.
bool is_binary_program(const ProgramSource& source);

/// Whether a folder has a model.onnx, and no description of another kind.
bool is_onnx_folder(const std::string& folder);

}  // namespace dmlop
