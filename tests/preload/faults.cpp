// Preloaded into the program by fault_*_test.cpp: a system on which calls fail.
//
//   DMLOP_FAULT_CALLS=write,pwrite  which calls count: those on files named relative to the
//                                   working folder, or in it, and on standard input and output;
//                                   and malloc and pthread_create, wherever they are called
//   DMLOP_FAULT_AT=3                the third of them fails; with 3+ all later ones, too
//   DMLOP_FAULT=28                  how: an errno; "one" or "half": so many bytes are read or
//                                   written; "cut", "shave", "touch", of mmap: the file that was
//                                   mapped loses half, or its last byte, or changes; with ",later"
//                                   when its status was asked for once more; "signal 9": the
//                                   program gets this signal before the call, which then goes on
//   DMLOP_FAULT_HAPPENED=FILE       created when it happens; says of which call: "close writing
//                                   /folder/y.npy", with "without a name" or "named since" for a
//                                   file of O_TMPFILE, or "stat - x.npy" where nothing is open
//   DMLOP_WITHOUT_UNNAMED_FILES=1   the file systems have none (O_TMPFILE)
//   DMLOP_LIMIT_MEMORY, DMLOP_LIMIT_FILES   bytes of addresses, open files
//
// All that counts from the beginning of main. Nothing here takes memory.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

constexpr int descriptors_max = 4096;

const char* calls = "";
const char* fault = "";
const char* happened = nullptr;
long first = 0;
bool lasting = false;
bool without_unnamed_files = false;
char folder[PATH_MAX];
std::atomic<bool> has_begun{false};
std::atomic<long> count{0};
std::atomic<bool> is_ours[descriptors_max];

bool is_listed(const char* call) {
  const std::size_t length = std::strlen(call);
  for (const char* at = std::strstr(calls, call); at != nullptr; at = std::strstr(at + 1, call)) {
    const bool begins = at == calls || at[-1] == ',';
    if (begins && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

// What a call is about: an open file, a path, or neither.
struct Subject {
  Subject() = default;
  Subject(int descriptor) : number(descriptor) {}
  Subject(const char* name) : path(name) {}

  int number = -1;
  const char* path = "";
};

// "/proc/self/fd/7"
struct LinkOfDescriptor {
  explicit LinkOfDescriptor(int number) {
    char digits[16];
    int length = 0;
    for (int rest = number; length == 0 || rest != 0; rest /= 10)
      digits[length++] = static_cast<char>('0' + rest % 10);
    std::size_t end = std::strlen(text);
    while (length > 0) text[end++] = digits[--length];
    text[end] = '\0';
  }
  char text[64] = "/proc/self/fd/";
};

const char* name_of_open_file(int number, char* room, std::size_t size) {
  struct stat status {};
  if (::syscall(SYS_fstat, number, &status) == 0 && status.st_nlink == 0) return "without a name";
  const long length =
      ::syscall(SYS_readlinkat, AT_FDCWD, LinkOfDescriptor(number).text, room, size - 1);
  room[length > 0 ? length : 0] = '\0';
  return std::strstr(room, " (deleted)") != nullptr ? "named since" : room;
}

void tell(const char* call, const Subject& subject) {
  char link[PATH_MAX];
  const char* path = subject.path;
  const char* access = "-";
  if (subject.number >= 0) {
    const bool writes = (::syscall(SYS_fcntl, subject.number, F_GETFL) & O_ACCMODE) != O_RDONLY;
    access = writes ? "writing" : "reading";
    path = name_of_open_file(subject.number, link, sizeof link);
  }
  const long file = ::syscall(SYS_openat, AT_FDCWD, happened, O_WRONLY | O_CREAT, 0600);
  for (const char* part : {call, " ", access, " ", path})
    ::syscall(SYS_write, file, part, std::strlen(part));
  ::syscall(SYS_close, file);
}

bool happens(const char* call, const Subject& subject) {
  if (!has_begun || !is_listed(call)) return false;
  const long number = ++count;
  if (number != first && !(lasting && number > first)) return false;
  if (number == first && happened != nullptr) tell(call, subject);
  return true;
}

bool is_errno() {
  return fault[0] >= '0' && fault[0] <= '9';
}

constexpr char signal_fault[] = "signal ";

// Fails with the errno when the call is to fail. Where the fault is a signal, sends it.
bool fails(const char* call, const Subject& subject = {}) {
  const std::size_t length = sizeof signal_fault - 1;
  if (std::strncmp(fault, signal_fault, length) == 0 && happens(call, subject))
    ::syscall(SYS_kill, ::syscall(SYS_getpid), std::atoi(fault + length));
  if (!is_errno() || !happens(call, subject)) return false;
  errno = std::atoi(fault);
  return true;
}

bool is_our_path(const char* path) {
  const std::size_t length = std::strlen(folder);
  return path[0] != '/' || (length > 1 && std::strncmp(path, folder, length) == 0);
}

bool is_our_descriptor(int number) {
  return number >= 0 && number < descriptors_max && is_ours[number];
}

int opened(int number, bool ours) {
  if (number >= 0 && number < descriptors_max) is_ours[number] = ours;
  return number;
}

// The bytes that a read or write is cut down to.
std::size_t shortened(const char* call, int number, std::size_t bytes) {
  const bool one = std::strcmp(fault, "one") == 0;
  if ((!one && std::strcmp(fault, "half") != 0) || bytes < 2 || !happens(call, number))
    return bytes;
  return one ? 1 : bytes / 2;
}

bool is_fault(const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(fault, name, length) == 0 && (fault[length] == '\0' || fault[length] == ',');
}

// What others do to a file while it is mapped.
void change_file(int number) {
  const LinkOfDescriptor link(number);
  struct stat status {};
  if (::syscall(SYS_fstat, number, &status) != 0) std::abort();
  const long file = ::syscall(SYS_openat, AT_FDCWD, link.text, O_WRONLY, 0);
  if (file < 0) std::abort();
  long done = 0;
  if (is_fault("cut")) {
    done = ::syscall(SYS_ftruncate, file, status.st_size / 2);
  } else if (is_fault("shave")) {
    done = ::syscall(SYS_ftruncate, file, status.st_size - 1);
  } else {
    done = ::syscall(SYS_pwrite64, file, "?", 1, status.st_size - 1) - 1;
    // As if it was changed some time after it was opened, however coarse the clock of the disk is.
    timespec times[2] = {{0, UTIME_OMIT}, {status.st_mtim.tv_sec + 1, 0}};
    done |= ::syscall(SYS_utimensat, file, nullptr, times, 0);
  }
  if (done != 0) std::abort();
  ::syscall(SYS_close, file);
}

template <typename Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void limit(const char* name, __rlimit_resource resource) {
  const char* value = std::getenv(name);
  if (value == nullptr) return;
  const auto most = static_cast<rlim_t>(std::strtoull(value, nullptr, 10));
  const rlimit both{most, most};
  if (::setrlimit(resource, &both) != 0) std::abort();
}

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void begin() {
  calls = setting("DMLOP_FAULT_CALLS");
  fault = setting("DMLOP_FAULT");
  happened = std::getenv("DMLOP_FAULT_HAPPENED");
  const char* at = setting("DMLOP_FAULT_AT");
  first = std::atol(at);
  lasting = std::strchr(at, '+') != nullptr;
  without_unnamed_files = *setting("DMLOP_WITHOUT_UNNAMED_FILES") != '\0';
  if (::getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  is_ours[STDIN_FILENO] = is_ours[STDOUT_FILENO] = true;
  limit("DMLOP_LIMIT_FILES", RLIMIT_NOFILE);
  limit("DMLOP_LIMIT_MEMORY", RLIMIT_AS);
  has_begun = true;
}

int changes_later = -1;  // a descriptor of the file

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int begin_main(int argument_count, char** arguments, char** environment) {
  begin();
  return real_main(argument_count, arguments, environment);
}

}  // namespace

#define REAL(name) \
  static const auto real_##name = real(#name, static_cast<decltype(&name)>(nullptr))

extern "C" {

int __libc_start_main(Main* main, int argument_count, char** arguments, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
  real_main = main;
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(begin_main, argument_count, arguments, init, fini, loader_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  const bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  va_list list;
  va_start(list, flags);
  const unsigned mode = (flags & O_CREAT) != 0 || is_unnamed ? va_arg(list, unsigned) : 0;
  va_end(list);
  if (is_unnamed && without_unnamed_files) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const char* call = is_unnamed ? "tmpfile" : (flags & O_DIRECTORY) != 0 ? "opendir" : "open";
  if (is_our_path(path) && fails(call, path)) return -1;
  return opened(static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode)),
                is_our_path(path));
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int openat(int place, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(list, unsigned) : 0;
  va_end(list);
  const bool ours = is_our_path(path) && (place == AT_FDCWD || is_our_descriptor(place));
  if (ours && fails((flags & O_DIRECTORY) != 0 ? "opendir" : "open", path)) return -1;
  return opened(static_cast<int>(::syscall(SYS_openat, place, path, flags, mode)), ours);
}
int openat64(int place, const char* path, int flags, ...) __attribute__((alias("openat")));

int close(int number) {
  const bool has_failed = is_our_descriptor(number) && fails("close", number);
  opened(number, false);
  const int reason = errno;
  const auto result = static_cast<int>(::syscall(SYS_close, number));
  if (!has_failed) return result;
  errno = reason;
  return -1;  // as Linux does, which has closed it
}

ssize_t read(int number, void* bytes, std::size_t size) {
  if (is_our_descriptor(number)) {
    if (fails("read", number)) return -1;
    size = shortened("read", number, size);
  }
  return ::syscall(SYS_read, number, bytes, size);
}

ssize_t pread(int number, void* bytes, std::size_t size, off_t offset) {
  if (is_our_descriptor(number)) {
    if (fails("pread", number)) return -1;
    size = shortened("pread", number, size);
  }
  return ::syscall(SYS_pread64, number, bytes, size, offset);
}
ssize_t pread64(int, void*, std::size_t, off64_t) __attribute__((alias("pread")));

off_t lseek(int number, off_t offset, int whence) noexcept {
  if (is_our_descriptor(number) && fails("lseek", number)) return -1;
  return ::syscall(SYS_lseek, number, offset, whence);
}
off64_t lseek64(int, off64_t, int) noexcept __attribute__((alias("lseek")));

int fcntl(int number, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);  // of every command, as the system takes it
  va_end(list);
  const bool ours = is_our_descriptor(number);
  const bool is_copy = command == F_DUPFD_CLOEXEC;
  if (ours && (command == F_SETLEASE || command == F_SETSIG) && fails("lease", number)) return -1;
  if (ours && is_copy && fails("dup", number)) return -1;
  const auto result = static_cast<int>(::syscall(SYS_fcntl, number, command, argument));
  return is_copy ? opened(result, ours) : result;
}
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

ssize_t write(int number, const void* bytes, std::size_t size) {
  if (is_our_descriptor(number)) {
    if (fails("write", number)) return -1;
    size = shortened("write", number, size);
  }
  return ::syscall(SYS_write, number, bytes, size);
}

ssize_t pwrite(int number, const void* bytes, std::size_t size, off_t offset) {
  if (is_our_descriptor(number)) {
    if (fails("pwrite", number)) return -1;
    size = shortened("pwrite", number, size);
  }
  return ::syscall(SYS_pwrite64, number, bytes, size, offset);
}
ssize_t pwrite64(int, const void*, std::size_t, off64_t) __attribute__((alias("pwrite")));

int ftruncate(int number, off_t size) noexcept {
  if (is_our_descriptor(number) && fails("ftruncate", number)) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, number, size));
}
int ftruncate64(int, off64_t) noexcept __attribute__((alias("ftruncate")));

int posix_fallocate(int number, off_t offset, off_t size) {
  REAL(posix_fallocate);
  if (is_our_descriptor(number) && fails("posix_fallocate", number)) return errno;
  return real_posix_fallocate(number, offset, size);
}
int posix_fallocate64(int, off64_t, off64_t) __attribute__((alias("posix_fallocate")));

int linkat(int from_place, const char* from, int to_place, const char* to, int flags) noexcept {
  if (is_our_path(to) && fails("linkat", to)) return -1;
  return static_cast<int>(::syscall(SYS_linkat, from_place, from, to_place, to, flags));
}

int rename(const char* from, const char* to) noexcept {
  if (is_our_path(to) && fails("rename", to)) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int fstat(int number, struct stat* status) noexcept {
  REAL(fstat);
  return is_our_descriptor(number) && fails("fstat", number) ? -1 : real_fstat(number, status);
}

int stat(const char* path, struct stat* status) noexcept {
  REAL(stat);
  if (is_our_path(path) && fails("stat", path)) return -1;
  const int result = real_stat(path, status);
  struct stat mapped {};
  if (changes_later >= 0 && result == 0 && ::syscall(SYS_fstat, changes_later, &mapped) == 0 &&
      mapped.st_dev == status->st_dev && mapped.st_ino == status->st_ino)
    change_file(std::exchange(changes_later, -1));
  return result;
}

int lstat(const char* path, struct stat* status) noexcept {
  REAL(lstat);
  return is_our_path(path) && fails("lstat", path) ? -1 : real_lstat(path, status);
}

int statvfs(const char* path, struct statvfs* status) noexcept {
  REAL(statvfs);
  return is_our_path(path) && fails("statvfs", path) ? -1 : real_statvfs(path, status);
}

ssize_t readlink(const char* path, char* target, std::size_t size) noexcept {
  REAL(readlink);
  return is_our_path(path) && fails("readlink", path) ? -1 : real_readlink(path, target, size);
}

int access(const char* path, int mode) noexcept {
  REAL(access);
  return is_our_path(path) && fails("access", path) ? -1 : real_access(path, mode);
}

int fchmod(int number, mode_t mode) noexcept {
  REAL(fchmod);
  return is_our_descriptor(number) && fails("fchmod", number) ? -1 : real_fchmod(number, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  REAL(mkdir);
  return is_our_path(path) && fails("mkdir", path) ? -1 : real_mkdir(path, mode);
}

dirent* readdir(DIR* directory) {
  REAL(readdir);
  return fails("readdir") ? nullptr : real_readdir(directory);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int number,
           off_t offset) noexcept {
  const bool ours = is_our_descriptor(number);
  if (ours && fails("mmap", number)) return MAP_FAILED;
  const long mapping = ::syscall(SYS_mmap, address, bytes, protection, flags, number, offset);
  if (ours && !is_errno() && happens("mmap", number)) {
    if (std::strstr(fault, ",later") != nullptr) {
      changes_later = static_cast<int>(::syscall(SYS_dup, number));
    } else {
      change_file(number);
    }
  }
  return reinterpret_cast<void*>(mapping);
}
void* mmap64(void*, std::size_t, int, int, int, off64_t) noexcept __attribute__((alias("mmap")));

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  REAL(pthread_create);
  return fails("pthread_create") ? errno : real_pthread_create(thread, attributes, run, argument);
}

void* malloc(std::size_t bytes) {
  return fails("malloc") ? nullptr : __libc_malloc(bytes);
}

void* calloc(std::size_t elements, std::size_t bytes) {
  return fails("malloc") ? nullptr : __libc_calloc(elements, bytes);
}

void* realloc(void* memory, std::size_t bytes) {
  return fails("malloc") ? nullptr : __libc_realloc(memory, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails("malloc") ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (fails("malloc")) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
