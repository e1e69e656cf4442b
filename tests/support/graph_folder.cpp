#include "graph_folder.hpp"

namespace dmlop::test {

CaseFolder::CaseFolder(const std::string& name) {
  namespace fs = std::filesystem;
  fs::copy(to_path(graph_file(name, "")), to_path(path()), fs::copy_options::recursive);
}

void add_graph_job(const Folder& jobs, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path folder = jobs / name;
  fs::create_directories(folder / "expected");
  for (const auto& file : fs::directory_iterator(to_path(graph_file(name, "")))) {
    const std::string called = to_text(file.path().filename());
    const auto part = [&](const std::string& prefix) { return called.substr(prefix.size()); };
    if (called.starts_with("input.")) fs::copy(file.path(), folder / part("input."));
    if (called.starts_with("output.")) fs::copy(file.path(), folder / "expected" / part("output."));
    if (called.ends_with(".bin")) fs::copy(file.path(), folder / called);
  }
}

}  // namespace dmlop::test
