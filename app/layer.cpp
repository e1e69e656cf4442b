// dmlop layer: puts the validation layer before the DirectML.dll of an application.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "examples.hpp"
#include "layer/install.hpp"

namespace dmlop::app {
namespace {

struct LayerOptions {
  std::string action;
  std::string folder;
  std::string dll;
};

/// The layer that is installed with this program.
std::string own_dll() {
  const std::string path = to_text(program_folder() / "layer" / "DirectML.dll");
  std::error_code ignored;
  if (!std::filesystem::exists(to_path(path), ignored))
    throw Error(ErrorKind::unavailable,
                "there is no " + path +
                    "; the .zip for Windows has the layer, and --dll FILE names it elsewhere");
  return path;
}

bool has_program(const std::string& folder) {
  std::error_code ignored;
  const std::vector<FolderEntry> entries = entries_of(folder, ignored);
  return std::any_of(entries.begin(), entries.end(), [](const FolderEntry& entry) {
    return lower_case(entry.name).ends_with(".exe");
  });
}

int install(const LayerOptions& options) {
  const auto made =
      layer::install_layer(options.folder, options.dll.empty() ? own_dll() : options.dll);
  print({"installed ", made.dll, "\n"});
  if (made.real.empty() && !has_program(options.folder)) {
    print(StandardStream::error,
          {"dmlop: note: ", options.folder,
           " has no .exe and had no DirectML.dll; the layer belongs where the application has one "
           "of them\n"});
  } else if (made.real.empty()) {
    print({"the application has no DirectML.dll of its own; the layer calls that of Windows\n"});
  } else {
    print({"the layer calls ", made.real, "\n"});
  }
  print(
      {"what DirectML refuses is explained on standard error, in the debugger and in "
       "dmlop-layer.log there\n"});
  return exit_done;
}

int uninstall(const LayerOptions& options) {
  const auto made = layer::uninstall_layer(options.folder);
  if (made.real.empty()) {
    print({"removed ", made.dll, "\n"});
  } else {
    print({"restored ", made.dll, "\n"});
  }
  return exit_done;
}

}  // namespace

Action add_layer(OptionList& command) {
  const auto options = std::make_shared<LayerOptions>();
  command.add_option("ACTION", options->action, "install or uninstall")
      .required()
      .one_of({"install", "uninstall"});
  command
      .add_option("FOLDER", options->folder,
                  "The folder of the application's DirectML.dll, or of its .exe")
      .required();
  command
      .add_option("--dll", options->dll,
                  "The layer's DirectML.dll (default: that in the folder layer beside dmlop.exe)")
      .type_name("FILE");
  return
      [options] { return options->action == "install" ? install(*options) : uninstall(*options); };
}

}  // namespace dmlop::app
