// Files for tests: a temporary folder, whole files as strings, and .npy files built from parts.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/path.hpp"

namespace dmlop::test {

std::string read_file(const std::filesystem::path& path);

/// An empty folder that is removed with its contents at the end of its scope.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  std::string path() const { return to_text(path_); }
  std::string operator/(const std::string& name) const;
  bool has(const std::string& name) const;
  std::string read(const std::string& name) const;

  /// Writes a file, creates its folders, and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;

  /// The same, but the file's time is a minute ago, so that the next write changes it.
  std::string write_earlier(const std::string& name, const std::string& bytes) const;

  /// The names in the folder, sorted and separated by one space.
  std::string list() const;

 private:
  std::filesystem::path path_;
};

/// The elements' bytes, in this machine's byte order or swapped.
template <typename T>
std::string bytes_of(const std::vector<T>& elements, bool swapped = false) {
  std::string bytes(elements.size() * sizeof(T), '\0');
  if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  for (std::size_t at = 0; swapped && at < bytes.size(); at += sizeof(T)) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(T)));
  }
  return bytes;
}

/// A .npy file of version 1 as numpy.save writes it: `shape` as in Python, "(2, 3)".
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran_order = false);

/// A file of FLOAT32 elements in C order.
std::string float_npy(const std::string& shape, const std::vector<float>& elements);

}  // namespace dmlop::test
