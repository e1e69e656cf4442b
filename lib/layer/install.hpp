// Puts the layer before the DirectML.dll of an application, and takes it away again.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dmlop::layer {

enum class DllKind {
  none,           // no DLL
  other_machine,  // a DLL, but not for x64
  directml,       // Microsoft's DirectML.dll: it exports DMLCreateDevice
  layer,          // this layer, of any version
  other,          // any other DLL
};

/// What a file is, by what it exports.
DllKind kind_of_dll(std::span<const std::byte> bytes);

struct Installation {
  std::string dll;   // the layer's DLL beside the application
  std::string real;  // the DLL behind it; "": that of Windows
};

/// Copies the layer `dll` into the folder of an application, as DirectML.dll. One that is there
/// becomes DirectML.real.dll. Errors: usage where that would lose something or not work, with words
/// about what to do; io_failed, after which all is as it was.
Installation install_layer(const std::string& folder, const std::string& dll);

/// Makes DirectML.real.dll the DirectML.dll again, byte for byte. Errors: as install_layer.
Installation uninstall_layer(const std::string& folder);

}  // namespace dmlop::layer
