// Folders with a graph of conformance/graphs.tar.xz, for tests of the program.
#pragma once

#include "batch.hpp"
#include "graph.hpp"
#include "program.hpp"

namespace dmlop::test {

/// A copy of a case's folder.
class CaseFolder : public Folder {
 public:
  explicit CaseFolder(const std::string& name);
  ProgramResult run(std::vector<std::string> arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
};

/// Makes a job's folder of a case below `jobs`: inputs are NAME.npy, outputs expected/NAME.npy.
void add_graph_job(const Folder& jobs, const std::string& name);

}  // namespace dmlop::test
