// What a command line says about a description, the same for every command that takes one: its name
// (a file, a folder or an operator) and --set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "onnx_commands.hpp"
#include "program/open.hpp"

namespace dmlop::app {

struct DescriptionOptions {
  std::vector<std::string> names;
  std::vector<Setting> settings;
  bool is_example = false;

  /// Declares the positional argument and --set; with `many` several descriptions may be named.
  void add_to(OptionList& command, bool many = false);
  const std::string& name() const { return names.front(); }

  /// Opens one of the names, and says where an operator and a folder have the same one. `inputs`
  /// are those of an ONNX model; `others` are the forms of what else the command reads. Errors and
  /// findings: as open_program(), and unfit().
  std::optional<OpenedProgram> open(const std::string& name, const OnnxOptions& onnx,
                                    const std::vector<NamedFile>& inputs,
                                    const GraphRequest& request, Diagnostics& diagnostics,
                                    bool quiet = false,
                                    const std::vector<InputForm>& others = {}) const;
  /// As OptionList::unfit(), of the command that has these options.
  Diagnostics unfit(InputForm form, const std::string& name,
                    const std::vector<InputForm>& others = {}) const;

 private:
  std::optional<OpenedProgram> example_of(const std::string& name, Diagnostics& diagnostics) const;

  std::optional<OptionList> command_;  // that has these options
};

/// What the request takes from the description's place: its path, the confinement of the paths that
/// stand in files, and the files beside it. Adds a finding where golden files that are to be
/// compared with cannot be listed.
void complete_request(JobRequest& request, const OpenedFile& file, const ConfineOption& confine,
                      Diagnostics& diagnostics);

/// The forms of what else a command reads that options are for: --dim and --fuse are for the ONNX
/// models among several programs.
std::vector<InputForm> forms_among(const std::vector<std::string>& paths);

/// Declares --broadcast.
void add_broadcast_option(OptionList& command, bool& broadcasts);

/// The value of --random. Errors: usage where it is no seed.
RandomNumbers random_numbers(const std::string& seed);

/// Says of each file with another extension that it gets the format .npy all the same.
void note_other_extensions(const std::vector<NamedFile>& outputs);

}  // namespace dmlop::app
