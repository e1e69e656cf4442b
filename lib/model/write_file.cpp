#include "model/write_file.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"

namespace dmlop {

std::string dxdispatch_npy_header(DataType type, std::span<const std::uint64_t> sizes) {
  std::string shape;
  for (const std::uint64_t size : sizes) shape += std::to_string(size) + ",";
  const std::string dictionary = "{'descr':'<" + std::string(info(type).numpy) +
                                 "', 'fortran_order':False, 'shape':(" + shape + "), }";
  constexpr std::size_t before_dictionary = 10;
  const std::size_t bytes = (before_dictionary + dictionary.size() + 1 + 63) / 64 * 64;
  const std::size_t length = bytes - before_dictionary;
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 0xFF);
  header += static_cast<char>(length >> 8);
  header += dictionary;
  header.append(bytes - header.size() - 1, ' ');
  return header + '\n';
}

Sizes written_sizes(const Resource& resource, const WriteFileCommand& command, Fidelity fidelity) {
  if (command.dimensions) return *command.dimensions;
  return {fidelity == Fidelity::compatible ? resource.size / size_of(*resource.initial.data_type)
                                           : resource.element_count()};
}

void write_contents(const Resource& resource, const WriteFileCommand& command,
                    std::span<const std::byte> contents, Fidelity fidelity,
                    const std::function<void(std::span<const std::byte>)>& write) {
  const Sizes sizes = command.is_npy ? written_sizes(resource, command, fidelity) : Sizes{};
  if (command.is_npy) {
    const std::string header = dxdispatch_npy_header(*resource.initial.data_type, sizes);
    write(std::as_bytes(std::span(header)));
  }
  if (fidelity == Fidelity::compatible) return write(contents);
  if (command.is_npy)
    return write(contents.first(*element_count(sizes) * size_of(*resource.initial.data_type)));
  write(contents.first(resource.has_own_size ? resource.size : resource.initial.bytes));
}

void write_file(const Resource& resource, const WriteFileCommand& command,
                std::span<const std::byte> contents, Fidelity fidelity) {
  const std::filesystem::path folder = to_path(command.path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorKind::io_failed, "creating " + to_text(folder) + ": " + reason(error));
  OutputFile file(command.path, contents.size());
  std::uint64_t end = 0;
  write_contents(resource, command, contents, fidelity, [&](std::span<const std::byte> bytes) {
    file.write_at(end, bytes);
    end += bytes.size();
  });
  file.commit();
}

}  // namespace dmlop
