// Files for tests: a temporary folder, whole files as strings, and .npy files built from parts.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "base/path.hpp"

namespace dmlop::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE_MESSAGE(stream.good(), "cannot read " << path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// An empty folder that is removed with its contents at the end of its scope.
class Folder {
 public:
  Folder() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() / ("dmlop-test-" + std::to_string(random()));
    REQUIRE(std::filesystem::create_directory(path_));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return to_text(path_); }
  std::string operator/(const std::string& name) const { return to_text(path_ / to_path(name)); }
  bool has(const std::string& name) const { return std::filesystem::exists(path_ / to_path(name)); }
  std::string read(const std::string& name) const { return read_file(path_ / to_path(name)); }

  /// Writes a file, creates its folders, and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / to_path(name)).parent_path());
    std::ofstream stream(path_ / to_path(name), std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(stream.good());
    return *this / name;
  }

  /// The same, but the file's time is a minute ago, so that the next write changes it.
  std::string write_earlier(const std::string& name, const std::string& bytes) const {
    const std::string path = write(name, bytes);
    std::filesystem::last_write_time(
        to_path(path), std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
    return path;
  }

  /// The names in the folder, sorted and separated by one space.
  std::string list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(to_text(entry.path().filename()));
    }
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
  }

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
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran_order = false) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  constexpr std::size_t before_header = 10;
  header.append(63 - (before_header + header.size()) % 64, ' ');
  header += '\n';
  const auto low = static_cast<char>(header.size() & 0xFF);
  const auto high = static_cast<char>(header.size() >> 8);
  return std::string("\x93NUMPY\x01\x00", 8) + low + high + header + data;
}

/// A file of FLOAT32 elements in C order.
inline std::string float_npy(const std::string& shape, const std::vector<float>& elements) {
  return npy("<f4", shape, bytes_of(elements));
}

}  // namespace dmlop::test
