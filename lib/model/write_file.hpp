// The files that DxDispatch writes for a resource: .npy files with its own header, or raw bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "model/print.hpp"

namespace dmlop {

/// The bytes before the elements as DxDispatch writes them: NumPy's format, spelled differently.
std::string dxdispatch_npy_header(DataType type, std::span<const std::uint64_t> sizes);

/// The dimensions of the .npy file of a command.
Sizes written_sizes(const Resource& resource, const WriteFileCommand& command, Fidelity fidelity);

/// Hands out the contents of a command's file, in order and without padding. In compatible mode, it
/// is the whole buffer, whatever the header says.
void write_contents(const Resource& resource, const WriteFileCommand& command,
                    std::span<const std::byte> contents, Fidelity fidelity,
                    const std::function<void(std::span<const std::byte>)>& write);

/// Writes the file of a command, complete or not at all, and creates missing folders. Errors:
/// io_failed.
void write_file(const Resource& resource, const WriteFileCommand& command,
                std::span<const std::byte> contents, Fidelity fidelity);

}  // namespace dmlop
