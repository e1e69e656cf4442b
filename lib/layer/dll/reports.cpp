#include "layer/dll/reports.hpp"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/windows.hpp"

namespace dmlop::layer {
namespace {

constexpr std::size_t reports_max = 10'000;

/// The folder DMLOP_CAPTURE as it is now, wherever the application goes later; "" if it is not set.
std::string capture_folder() {
  const std::string folder = environment_variable("DMLOP_CAPTURE");
  if (folder.empty()) return "";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(to_path(folder), error);
  return error ? folder : to_text(absolute);
}

/// Everything that lives as long as the process. It is never destroyed, because objects of the
/// application may outlive this DLL's own.
struct State {
  const std::string mode = environment_variable("DMLOP_LAYER");
  std::mutex mutex;
  std::set<std::string> reported;
  const std::string folder = capture_folder();
  Capture capture{folder};
  std::atomic<bool> can_capture = !folder.empty();
};

State& state() {
  static State* const only = new State;
  return *only;
}

std::wstring module_path() {
  HMODULE module = nullptr;
  GetModuleHandleExW(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      reinterpret_cast<const wchar_t*>(&state), &module);
  std::wstring path(32'768, L'\0');
  path.resize(GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

std::string temporary_folder() {
  std::wstring path(MAX_PATH + 1, L'\0');
  path.resize(GetTempPathW(static_cast<DWORD>(path.size()), path.data()));
  return to_utf8(path);
}

/// Beside the DLL or, where that cannot be written, in the folder for temporary files.
void append_to_log(const std::string& text) {
  for (const std::string& folder : {own_folder(), temporary_folder()}) {
    std::error_code error;
    SystemFile file =
        SystemFile::open_to_append(to_text(to_path(folder) / "dmlop-layer.log"), error);
    if (!error && !file.write_all(std::as_bytes(std::span(text)))) return;
  }
}

}  // namespace

std::string own_folder() {
  const std::wstring path = module_path();
  return to_utf8(path.substr(0, path.find_last_of(L"\\/")));
}

void report(const std::string& text) noexcept {
  quietly([&] {
    State& all = state();
    if (all.mode == "quiet") return;
    {
      const std::scoped_lock lock(all.mutex);
      if (all.reported.size() < reports_max && all.reported.insert(text).second) {
        OutputDebugStringW(to_utf16(text).c_str());
        if (all.mode != "log") {
          print(StandardStream::error, {Text::lines(text)});
          flush_output(StandardStream::error);
        }
        append_to_log(text);
      }
    }
    if (all.mode == "break" && IsDebuggerPresent() != 0) DebugBreak();
  });
}

template <typename Captured>
void capture(const Captured& captured, FeatureLevel level, std::uint32_t code) noexcept {
  State& all = state();
  if (!all.can_capture) return;
  try {
    all.capture.write(captured, level, code);
  } catch (const std::exception& error) {
    all.can_capture = false;
    quietly(
        [&] { report("DMLOP_CAPTURE: " + std::string(error.what()) + "; no more is captured\n"); });
  } catch (...) {
    all.can_capture = false;
  }
}

template void capture(const ReadOperator&, FeatureLevel, std::uint32_t) noexcept;
template void capture(const Graph&, FeatureLevel, std::uint32_t) noexcept;

}  // namespace dmlop::layer
