// Windows' own behavior: names, long paths, replacing files in use, stopping.

#include "base/windows.hpp"

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/system_file.hpp"
#include "folder.hpp"
#include "paths.hpp"

namespace dmlop::test::windows_test {
namespace {

std::string text_of(const InputFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void write_output(const std::string& path, const std::string& text) {
  OutputFile file(path, text.size());
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

TEST_CASE("windows: names are UTF-8") {
  const Folder folder;
  const std::string name = "gr\u00fc\u00df \u65e5\u672c \U0001F600.npy";
  write_output(folder / name, "there");
  CHECK(text_of(InputFile::open(folder / name)) == "there");
  CHECK(folder.list() == name);
  CHECK(to_utf8(to_utf16(name)) == name);
  SetEnvironmentVariableW(L"DMLOP_TEST", to_utf16(name).c_str());
  CHECK(environment_variable("DMLOP_TEST") == name);
  CHECK(environment_variable("DMLOP_NOT_SET") == "");
}

TEST_CASE("windows: an output replaces a file that somebody reads or maps") {
  const Folder folder;
  const std::string path = folder / "file";
  for (const std::size_t size : {std::size_t{10}, std::size_t{1} << 20}) {  // read; mapped
    CAPTURE(size);
    const std::string before(size, 'a');
    const std::string after(size + 1, 'b');
    write_output(path, before);
    {
      const InputFile open = InputFile::open(path);
      CHECK(text_of(open) == before);
    }
    write_output(path, after);
    CHECK(text_of(InputFile::open(path)) == after);
  }
  CHECK(folder.list() == "file");
}

TEST_CASE("windows: reasons are the words of POSIX") {
  const Folder folder;
  const auto reason_of = [&](const std::string& name) {
    try {
      InputFile::open(folder / name);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(reason_of("missing") == "No such file or directory");
  CHECK(reason_of("missing/file") == "No such file or directory");
  CHECK(reason_of("") == "is a directory; name a file inside it");
}

TEST_CASE("windows: lines are appended whole, and cut off") {
  const Folder folder;
  std::error_code error;
  SystemFile file = SystemFile::open_to_append(folder / "lines", error);
  REQUIRE(!error);
  const std::string text = "one\ntwo\n";
  CHECK(!file.write_all(std::as_bytes(std::span(text))));
  CHECK(!file.resize(4));
  CHECK(!file.write_all(std::as_bytes(std::span(text))));
  CHECK(!file.close());
  CHECK(folder.read("lines") == "one\none\ntwo\n");
  CHECK(!check_writable_folder(folder.path()));
  CHECK(check_writable_folder(folder / "lines"));
  CHECK(check_writable_folder(folder / "missing"));
  CHECK(folder.list() == "lines");
}

TEST_CASE("windows: NUL is empty and never waited for") {
  std::error_code error;
  SystemFile nul = SystemFile::open_to_read("NUL", error);
  REQUIRE(!error);
  CHECK(nul.wait_for_input(100));
  CHECK(InputFile::open("NUL").bytes().empty());
}

TEST_CASE("windows: a mapped file whose disk fails is a failed read, and only that") {
  const Folder folder;
  constexpr std::size_t bytes = std::size_t{1} << 20;
  folder.write("lost", std::string(bytes, 'a'));
  folder.write("sound", std::string(bytes, 'b'));
  const InputFile sound = InputFile::open(folder / "sound");
  {
    const InputFile lost = InputFile::open(folder / "lost");
    CHECK(text_of(lost) == std::string(bytes, 'a'));
    lost.require_intact();
    // What Windows raises where a page cannot be read.
    const auto page = reinterpret_cast<ULONG_PTR>(lost.bytes().data() + 5 * 4096);
    const std::array<ULONG_PTR, 3> information{/*reading*/ 0, page,
                                               /*STATUS_UNEXPECTED_NETWORK_ERROR*/ 0xC00000C4};
    RaiseException(static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR), 0, 3, information.data());
    CHECK(text_of(lost) == std::string(bytes, '\0'));
    try {
      lost.require_intact();
      FAIL("a lost file counts as intact");
    } catch (const Error& failure) {
      CHECK(failure.kind() == ErrorKind::io_failed);
      CHECK(std::string(failure.what()) ==
            "the file could not be read to its end: it became shorter, or its disk or network "
            "failed; run this again when nothing writes to the file");
    }
  }
  CHECK(text_of(sound) == std::string(bytes, 'b'));
  sound.require_intact();
  const InputFile again = InputFile::open(folder / "lost");  // where zeros were before, maybe
  CHECK(text_of(again) == std::string(bytes, 'a'));
  again.require_intact();
}

/// dmlop.exe, started in a group of its own so that it alone is stopped.
class StartedProgram {
 public:
  explicit StartedProgram(const std::string& arguments, const std::string& folder) {
    std::wstring command = to_utf16("\"" + built_program_path() + "\" " + arguments);
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    REQUIRE(CreateProcessW(nullptr, command.data(), nullptr, nullptr, FALSE,
                           CREATE_NEW_PROCESS_GROUP, nullptr, to_utf16(folder).c_str(), &startup,
                           &process_) != 0);
  }
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;
  ~StartedProgram() {
    TerminateProcess(process_.hProcess, 99);
    CloseHandle(process_.hProcess);
    CloseHandle(process_.hThread);
  }
  bool is_running() const { return WaitForSingleObject(process_.hProcess, 0) == WAIT_TIMEOUT; }
  /// False where the console passes no events on.
  bool stop() const {
    return GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, process_.dwProcessId) != 0;
  }
  DWORD wait() const {
    constexpr DWORD patience_milliseconds = 20'000;
    WaitForSingleObject(process_.hProcess, patience_milliseconds);
    DWORD code = 0;
    GetExitCodeProcess(process_.hProcess, &code);
    return code;
  }

 private:
  PROCESS_INFORMATION process_{};
};

TEST_CASE("windows: a run that is stopped at the console leaves nothing") {
  const Folder folder;
  folder.write("op.json",
               R"({"type": "PADDING", "PaddingMode": "EDGE", "StartPadding": [0, 40000],
          "EndPadding": [0, 40000], "InputTensor": {"DataType": "FLOAT32", "Sizes": [20000, 1]}})");
  folder.write("x.npy", float_npy("(20000, 1)", std::vector<float>(20000, 1.0F)));
  const StartedProgram program("run op.json --cpu --threads 1 -i x.npy -o y.npy", folder.path());
  const auto has_begun = [&] { return folder.list().find(".tmp") != std::string::npos; };
  while (program.is_running() && !has_begun()) Sleep(1);
  if (!program.stop()) {
    MESSAGE("SKIPPED: there is no console that passes events on");
    return;
  }
  CHECK(program.wait() == 128 + SIGBREAK);
  CHECK(folder.list() == "op.json x.npy");
}

}  // namespace
}  // namespace dmlop::test::windows_test
