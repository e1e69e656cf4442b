// The examples of help, adapted to where the program and the samples are.
#pragma once

#include <filesystem>
#include <string>

namespace dmlop::app {

/// The folder of this program; empty if the system does not tell.
std::filesystem::path program_folder();

/// Remembers how the program was called: argv[0].
void note_program_name(const char* name);

/// The program as it was typed, for commands that the user can type.
std::string typed_program();

/// Adapts command lines, one per line, that begin with "dmlop" and name files of "samples": uses
/// the program and the samples that this user has. Lines that begin with "#" stay.
std::string examples_here(const std::string& examples);

}  // namespace dmlop::app
