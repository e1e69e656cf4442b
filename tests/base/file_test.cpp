// What base/file.hpp promises: inputs whole, outputs complete or absent.
#include "base/file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace dmlop::file_test {
namespace {

namespace fs = std::filesystem;
using dmlop::Error;
using dmlop::ErrorKind;
using dmlop::InputFile;
using dmlop::OutputFile;

/// An empty folder that goes with all it holds at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "dmlop-file-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
  std::string path() const { return folder_.string(); }

  /// The names in the folder, sorted, one space between them.
  std::string list() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
  }

 private:
  fs::path folder_;
};

/// Puts `replacement` in the place of a standard descriptor until the end of its scope.
class Redirection {
 public:
  Redirection(int standard, int replacement) : standard_(standard), kept_(::dup(standard)) {
    std::fflush(nullptr);
    ::dup2(replacement, standard_);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection() {
    ::dup2(kept_, standard_);
    ::close(kept_);
  }

 private:
  int standard_;
  int kept_;
};

struct Pipe {
  Pipe() { REQUIRE(::pipe(ends.data()) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_reader();
    close_writer();
  }
  int reader() const { return ends[0]; }
  int writer() const { return ends[1]; }
  void close_reader() { close_end(ends[0]); }
  void close_writer() { close_end(ends[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const InputFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// The message of the Error of `kind` that `action` must end in.
template <typename Action>
std::string error_of(ErrorKind kind, Action action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  FAIL("no Error");
  return {};
}

std::string input_error(ErrorKind kind, const std::string& path) {
  return error_of(kind, [&] { (void)InputFile::open(path); });
}

std::string output_error(const std::string& path, std::uint64_t size = 0) {
  return error_of(ErrorKind::io_failed, [&] { OutputFile file(path, size); });
}

void write_output(const std::string& path, std::string_view text) {
  OutputFile file(path, text.size());
  file.write_at(0, bytes_of(text));
  file.commit();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("an input is the bytes of its file") {
  const TemporaryFolder folder;
  write_text(folder / "a", std::string_view("one\0two", 7));
  CHECK(text_of(InputFile::open(folder / "a")) == std::string("one\0two", 7));
}

TEST_CASE("an empty input has no bytes") {
  const TemporaryFolder folder;
  write_text(folder / "empty", "");
  CHECK(InputFile::open(folder / "empty").bytes().empty());
}

TEST_CASE("an input keeps its bytes when it is moved, mapped or read") {
  const TemporaryFolder folder;
  write_text(folder / "a", "mapped");
  InputFile mapped = InputFile::open(folder / "a");
  InputFile read = InputFile::open("/proc/self/stat");  // no size, so read into memory
  const std::string read_before = text_of(read);
  REQUIRE(!read_before.empty());

  InputFile moved = std::move(mapped);
  CHECK(text_of(moved) == "mapped");
  moved = std::move(read);
  CHECK(text_of(moved) == read_before);
  CHECK(mapped.bytes().empty());  // NOLINT(bugprone-use-after-move)
  CHECK(read.bytes().empty());    // NOLINT(bugprone-use-after-move)
}

TEST_CASE("an input keeps its bytes while an output takes its name") {
  const TemporaryFolder folder;
  write_text(folder / "a", "before");
  const InputFile input = InputFile::open(folder / "a");
  write_output(folder / "a", "after");
  CHECK(text_of(input) == "before");
  CHECK(read_text(folder / "a") == "after");
}

TEST_CASE("an input that cannot be read says why") {
  const TemporaryFolder folder;
  CHECK(input_error(ErrorKind::io_failed, folder / "absent") == "No such file or directory");
  CHECK(input_error(ErrorKind::invalid_input, folder.path()) ==
        "is a directory; name a file inside it");
  write_text(folder / "secret", "x");
  fs::permissions(folder / "secret", fs::perms::none);
  if (::geteuid() == 0) {
    MESSAGE("skipped: the superuser may read every file");
  } else {
    CHECK(input_error(ErrorKind::io_failed, folder / "secret") == "Permission denied");
  }
}

TEST_CASE("an input may be a pipe") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string text(300000, 'p');  // more than a pipe or one read holds
  std::thread writer([&] { write_text(folder / "pipe", text); });
  const InputFile input = InputFile::open(folder / "pipe");
  writer.join();
  CHECK(text_of(input) == text);
}

TEST_CASE("the input - is standard input to its end") {
  Pipe pipe;
  REQUIRE(::write(pipe.writer(), "typed", 5) == 5);
  pipe.close_writer();
  const Redirection redirection(STDIN_FILENO, pipe.reader());
  CHECK(text_of(InputFile::open("-")) == "typed");
  CHECK(text_of(InputFile::open("-")).empty());  // its end was reached
}

TEST_CASE("standard input that is a directory is refused as one") {
  const int directory = ::open("/", O_RDONLY | O_DIRECTORY);
  REQUIRE(directory >= 0);
  const Redirection redirection(STDIN_FILENO, directory);
  ::close(directory);
  CHECK(input_error(ErrorKind::invalid_input, "-") == "is a directory; name a file inside it");
}

TEST_CASE("an output appears at commit and not before") {
  const TemporaryFolder folder;
  OutputFile file(folder / "out.npy", 4);
  file.write_at(0, bytes_of("1234"));
  CHECK(!fs::exists(folder / "out.npy"));
  const std::string temporary = folder.list();
  if (!temporary.empty()) {  // a file system on which every file has a name
    CHECK(temporary.starts_with(".out.npy."));
    CHECK(temporary.ends_with(".tmp"));
    CHECK(temporary.size() == std::string_view(".out.npy.XXXXXXXXXXXX.tmp").size());
  }
  file.commit();
  CHECK(folder.list() == "out.npy");
  CHECK(read_text(folder / "out.npy") == "1234");
}

TEST_CASE("an output that is not committed leaves nothing, and what was there stays") {
  const TemporaryFolder folder;
  write_text(folder / "old", "old");
  {
    OutputFile replacement(folder / "old", 3);
    replacement.write_at(0, bytes_of("new"));
    OutputFile fresh(folder / "fresh", 3);
    const OutputFile moved = std::move(fresh);
    CHECK(moved.path() == folder / "fresh");
  }
  CHECK(folder.list() == "old");
  CHECK(read_text(folder / "old") == "old");
}

TEST_CASE("an output is assembled from writes in any order and from several threads") {
  const TemporaryFolder folder;
  constexpr std::size_t part_size = 1 << 18;
  constexpr std::size_t part_count = 8;
  for (const std::string name : {"file", "device"}) {
    CAPTURE(name);
    if (name == "device") REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
    OutputFile file(folder / name, part_size * part_count);
    std::vector<std::thread> threads;
    for (std::size_t part = part_count; part-- > 0;) {
      threads.emplace_back([&file, part] {
        const std::string text(part_size, static_cast<char>('a' + part));
        file.write_at(part * part_size, bytes_of(text));
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::string result;
    std::thread reader([&] {
      if (name == "device") result = read_text(folder / name);
    });
    file.commit();
    reader.join();
    if (name == "file") result = read_text(folder / name);
    std::string expected;
    for (std::size_t part = 0; part < part_count; ++part) {
      expected += std::string(part_size, static_cast<char>('a' + part));
    }
    CHECK(result == expected);
  }
}

TEST_CASE("an output ends where its last write ended, however much was reserved") {
  const TemporaryFolder folder;
  for (const std::uint64_t reserved : {0u, 100u, 8u << 20}) {
    CAPTURE(reserved);
    OutputFile file(folder / "out", reserved);
    file.write_at(2, bytes_of("cd"));
    file.write_at(0, bytes_of("ab"));
    file.write_at(50, {});
    file.commit();
    CHECK(read_text(folder / "out") == "abcd");
  }
}

TEST_CASE("a new output has the usual permissions and a replaced one keeps its own") {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  write_output(folder / "new", "x");
  write_text(folder / "shared", "old");
  REQUIRE(::chmod((folder / "shared").c_str(), 0606) == 0);
  write_output(folder / "shared", "new");
  ::umask(mask);
  CHECK(mode_of(folder / "new") == 0640);
  CHECK(mode_of(folder / "shared") == 0606);
  CHECK(read_text(folder / "shared") == "new");
}

TEST_CASE("an output written through a link replaces what the link names") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/second", folder / "first");  // relative to the link's own folder
  fs::create_symlink("../real", folder / "deep/second");
  for (const char* const text : {"created", "replaced"}) {  // first the last link dangles
    write_output(folder / "first", text);
    CHECK(fs::is_symlink(folder / "first"));
    CHECK(fs::is_symlink(folder / "deep/second"));
    CHECK(read_text(folder / "real") == text);
  }
  CHECK(folder.list() == "deep first real");
}

TEST_CASE("an output with a long name fits the file system") {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_output(folder / name, "x");
  CHECK(folder.list() == name);
}

TEST_CASE("an output that cannot be created says why, before anything is written") {
  const TemporaryFolder folder;
  CHECK(output_error(folder.path()) ==
        "creating " + folder.path() + ": is a directory; name a file inside it");
  CHECK(output_error(folder / "absent/out.npy") ==
        "creating " + (folder / "absent/out.npy") + ": folder " + (folder / "absent") +
            " does not exist; create it first (mkdir -p)");
  CHECK(output_error(folder / "x/") ==
        "creating " + (folder / "x/") + ": names a folder; name a file");
  CHECK(output_error("") == "creating an output file: its path is empty");

  write_text(folder / "file", "x");
  CHECK(output_error(folder / "file/out") ==
        "creating " + (folder / "file/out") + ": " + (folder / "file") + " is not a folder");
  fs::create_symlink("loop", folder / "loop");
  CHECK(contains(output_error(folder / "loop"), "Too many levels of symbolic links"));
  CHECK(folder.list() == "file loop");
}

TEST_CASE("a child that is forked while other threads write files writes its own") {
  const TemporaryFolder folder;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c"}) {
    threads.emplace_back([&folder, &is_over, path = folder / name] {
      while (!is_over) write_output(path, "x");
    });
  }
  int well = 0;
  constexpr int children = 40;
  for (int i = 0; i < children; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);  // whoever waits for a thread that is not there waits for ever
      write_output(folder / "child", "x");
      ::_exit(0);
    }
    int status = -1;
    well += ::waitpid(child, &status, 0) == child && status == 0 ? 1 : 0;
    if (well <= i) break;
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(well == children);
}

TEST_CASE("a path without a folder is in the current folder") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_output("here", "x");
  fs::current_path(before);
  CHECK(read_text(folder / "here") == "x");
}

TEST_CASE("an output larger than the disk is refused with the bytes it needs") {
  const TemporaryFolder folder;
  const std::uint64_t size = std::uint64_t{1} << 50;
  const std::string message = output_error(folder / "out", size);
  CHECK(message.starts_with("reserving 1125899906842624 bytes for " + (folder / "out") +
                            ": No space left on device; its folder has "));
  CHECK(output_error(folder / "out", ~std::uint64_t{0}) ==
        "reserving 18446744073709551615 bytes for " + (folder / "out") + ": File too large");
  CHECK(folder.list().empty());
}

TEST_CASE("a write past the largest file is refused") {
  const TemporaryFolder folder;
  OutputFile file(folder / "out", 0);
  CHECK(error_of(ErrorKind::io_failed, [&] { file.write_at(~std::uint64_t{0}, bytes_of("x")); }) ==
        "writing " + (folder / "out") + ": File too large");
}

TEST_CASE("an output may be a device, which is not replaced") {
  write_output("/dev/null", "gone");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(error_of(ErrorKind::io_failed, [] { write_output("/dev/full", "x"); }) ==
        "writing /dev/full: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("the output - is written to standard output at commit, all at once") {
  Pipe pipe;
  {
    const Redirection redirection(STDOUT_FILENO, pipe.writer());
    OutputFile abandoned("-", 4);
    abandoned.write_at(0, bytes_of("lost"));
    OutputFile file("-", 4);
    file.write_at(2, bytes_of("cd"));
    file.write_at(0, bytes_of("ab"));
    file.commit();
  }
  pipe.close_writer();
  std::array<char, 16> read{};
  CHECK(::read(pipe.reader(), read.data(), read.size()) == 4);
  CHECK(std::string(read.data()) == "abcd");
}

TEST_CASE("standard output that nobody reads is an Error, not the end of the process") {
  Pipe pipe;
  pipe.close_reader();
  std::string message;
  {
    const Redirection redirection(STDOUT_FILENO, pipe.writer());
    message = error_of(ErrorKind::io_failed, [] { write_output("-", "unread"); });
  }
  CHECK(message == "writing to standard output: Broken pipe");
}

TEST_CASE("two paths are the same file when they lead to the same existing file") {
  const TemporaryFolder folder;
  write_text(folder / "a", "same");
  write_text(folder / "b", "same");
  fs::create_symlink("a", folder / "symbolic");
  fs::create_hard_link(folder / "a", folder / "hard");
  CHECK(dmlop::is_same_file(folder / "a", folder / "a"));
  CHECK(dmlop::is_same_file(folder / "a", folder / "./a"));
  CHECK(dmlop::is_same_file(folder / "a", folder / "symbolic"));
  CHECK(dmlop::is_same_file(folder / "hard", folder / "symbolic"));
  CHECK(!dmlop::is_same_file(folder / "a", folder / "b"));
  CHECK(!dmlop::is_same_file(folder / "absent", folder / "absent"));
  CHECK(!dmlop::is_same_file("-", "-"));
  CHECK(!dmlop::is_same_file("-", folder / "a"));
  CHECK(!dmlop::is_same_file(folder / "a", "-"));
}

TEST_CASE("two paths are the same file when writing to both would leave one file") {
  const TemporaryFolder folder;
  fs::create_symlink("made", folder / "link");
  fs::create_symlink("link", folder / "chain");
  fs::create_symlink("loop", folder / "loop");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const char* path : {"link", "chain", "./made", "none/../made"}) {
    CAPTURE(path);
    CHECK(dmlop::names_same_file(folder / "made", folder / path));
    CHECK(dmlop::written_path(folder / path) == dmlop::written_path(folder / "made"));
    CHECK(!dmlop::names_same_file(folder / "other", folder / path));
  }
  CHECK(dmlop::names_same_file(folder / "pipe", folder / "./pipe"));
  CHECK(!dmlop::names_same_file("/dev/null", "/dev/null"));
  CHECK(!dmlop::names_same_file("-", "-"));
  CHECK(dmlop::written_path(folder / "loop") == (folder / "loop"));
}

}  // namespace dmlop::file_test
