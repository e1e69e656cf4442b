#include "folder.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <system_error>

#include "base/path.hpp"

namespace dmlop::test {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE_MESSAGE(stream.good(), "cannot read " << path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

Folder::Folder() {
  std::random_device random;
  path_ = fs::temp_directory_path() / ("dmlop-test-" + std::to_string(random()));
  REQUIRE(fs::create_directory(path_));
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::operator/(const std::string& name) const {
  return to_text(path_ / to_path(name));
}

bool Folder::has(const std::string& name) const {
  return fs::exists(path_ / to_path(name));
}

std::string Folder::read(const std::string& name) const {
  return read_file(path_ / to_path(name));
}

std::string Folder::write(const std::string& name, const std::string& bytes) const {
  fs::create_directories((path_ / to_path(name)).parent_path());
  std::ofstream stream(path_ / to_path(name), std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(stream.good());
  return *this / name;
}

std::string Folder::write_earlier(const std::string& name, const std::string& bytes) const {
  const std::string path = write(name, bytes);
  fs::last_write_time(to_path(path), fs::file_time_type::clock::now() - std::chrono::minutes(1));
  return path;
}

std::string Folder::list() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(to_text(entry.path().filename()));
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran_order) {
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

std::string float_npy(const std::string& shape, const std::vector<float>& elements) {
  return npy("<f4", shape, bytes_of(elements));
}

}  // namespace dmlop::test
