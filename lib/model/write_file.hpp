// What DxDispatch writes of a resource: .npy files with its own header, or raw bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "model/print.hpp"

namespace dmlop {

/// The bytes before the elements as DxDispatch writes them: NumPy's format with another spelling.
std::string dxdispatch_npy_header(DataType type, std::span<const std::uint64_t> sizes);

/// The dimensions of the .npy file of a command.
Sizes written_sizes(const Resource& resource, const WriteFileCommand& command, Fidelity fidelity);

/// Hands out what the file of a command holds, in order. Without padding; compatible: the whole
/// buffer, whatever the header says.
void write_contents(const Resource& resource, const WriteFileCommand& command,
                    std::span<const std::byte> contents, Fidelity fidelity,
                    const std::function<void(std::span<const std::byte>)>& write);

/// Writes the file of a command, complete or not at all; missing folders are made.
/// Errors: io_failed.
void write_file(const Resource& resource, const WriteFileCommand& command,
                std::span<const std::byte> contents, Fidelity fidelity);

}  // namespace dmlop
