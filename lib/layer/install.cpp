#include "layer/install.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "layer/paths.hpp"

namespace dmlop::layer {
namespace {

constexpr const char* dll_name = "DirectML.dll";
constexpr const char* real_name = "DirectML.real.dll";

// No DirectML.dll is as large.
constexpr std::uint64_t dll_bytes_max = std::uint64_t{1} << 30;

template <typename T>
std::optional<T> number_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T number;
  std::memcpy(&number, &bytes[offset], sizeof(T));
  return number;
}

/// Whether a name stands in a DLL, as those of exports do: with a 0 on both sides.
bool has_name(std::string_view bytes, std::string_view name) {
  const std::string framed = '\0' + std::string(name) + '\0';
  const std::boyer_moore_horspool_searcher searcher(framed.begin(), framed.end());
  return std::search(bytes.begin(), bytes.end(), searcher) != bytes.end();
}

/// The file of a folder that is called so, in any case, as Windows compares names.
std::optional<std::string> find_file(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const FolderEntry& entry : entries_of(folder, error)) {
    if (entry.kind != EntryKind::folder && lower_case(entry.name) == lower_case(name))
      return path_in(folder, entry.name);
  }
  if (error) fail_io("reading " + folder + ": " + reason(error));
  return std::nullopt;
}

DllKind kind_of_file(const std::string& path) {
  return with_context("reading " + path,
                      [&] { return kind_of_dll(InputFile::open(path, dll_bytes_max).bytes()); });
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::usage, message);
}

[[noreturn]] void fail_to(const std::string& what, const std::error_code& error) {
  std::string message = what + ": " + reason(error);
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted)
    message += "; end the application if it runs, and try again as administrator";
  fail_io(message);
}

/// Gives a file another name that no file has.
void rename(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(to_path(from), to_path(to), error);
  if (error) fail_to("renaming " + from + " to " + to, error);
}

void require_folder(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(to_path(folder), ignored))
    refuse(folder + " is not a folder; name the folder of the application's .exe");
}

void copy(const std::string& from, const std::string& to) {
  const InputFile file = InputFile::open(from, dll_bytes_max);
  OutputFile copied(to, file.bytes().size());
  copied.write_at(0, file.bytes());
  file.require_intact();
  copied.commit();
}

/// Why a DLL cannot be put behind the layer; "" if it can.
std::string obstacle(DllKind kind, const std::string& path) {
  switch (kind) {
    case DllKind::directml:
      return "";
    case DllKind::layer:
      return "the layer is installed there already: " + path +
             "; dmlop layer uninstall takes it away";
    case DllKind::other_machine:
      return path + " is a DLL for another processor; the layer is for x64";
    case DllKind::none:
    case DllKind::other:
      break;
  }
  return path +
         " is not Microsoft's DirectML: it has no DMLCreateDevice; the layer does not "
         "replace what it does not know";
}

}  // namespace

DllKind kind_of_dll(std::span<const std::byte> bytes) {
  constexpr std::uint16_t mz = 0x5A4D, x64 = 0x8664;
  constexpr std::uint32_t pe = 0x4550;
  const auto header = number_at<std::uint32_t>(bytes, 0x3C);
  if (number_at<std::uint16_t>(bytes, 0) != mz || !header) return DllKind::none;
  if (number_at<std::uint32_t>(bytes, *header) != pe) return DllKind::none;
  if (number_at<std::uint16_t>(bytes, std::uint64_t{*header} + 4) != x64)
    return DllKind::other_machine;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (has_name(text, "dmlop_layer_version")) return DllKind::layer;
  return has_name(text, "DMLCreateDevice") ? DllKind::directml : DllKind::other;
}

Installation install_layer(const std::string& folder, const std::string& dll) {
  require_folder(folder);
  if (kind_of_file(dll) != DllKind::layer)
    refuse(dll + " is not the layer; it is the DirectML.dll in the folder layer beside dmlop.exe");
  const auto present = find_file(folder, dll_name);
  const auto real = find_file(folder, real_name);
  if (present) {
    if (const std::string why = obstacle(kind_of_file(*present), *present); !why.empty())
      refuse(why);
  }
  if (real)
    refuse(*real + " already exists; it was left by a layer that something else replaced. Delete " +
           (present ? "it" : "it, or rename it to DirectML.dll"));
  Installation installation{.dll = present.value_or(path_in(folder, dll_name)), .real = ""};
  if (!present) return copy(dll, installation.dll), installation;
  installation.real = path_in(folder, real_name);
  rename(*present, installation.real);
  try {
    copy(dll, installation.dll);
  } catch (...) {
    rename(installation.real, *present);
    throw;
  }
  return installation;
}

Installation uninstall_layer(const std::string& folder) {
  require_folder(folder);
  const auto present = find_file(folder, dll_name);
  const auto real = find_file(folder, real_name);
  if (present && kind_of_file(*present) != DllKind::layer)
    refuse(*present + " is not the layer" +
           (real ? "; something replaced it since. Delete " + *real : ": nothing to take away"));
  if (!present && !real) refuse("the layer is not installed in " + folder);
  Installation installation{.dll = present.value_or(path_in(folder, dll_name)),
                            .real = real.value_or("")};
  if (real) {
    if (const std::error_code error = replace_file(*real, installation.dll))
      fail_to("renaming " + *real + " to " + installation.dll, error);
    return installation;
  }
  std::error_code error;
  std::filesystem::remove(to_path(*present), error);
  if (error) fail_to("removing " + *present, error);
  return installation;
}

}  // namespace dmlop::layer
