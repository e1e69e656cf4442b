// Runs of elements, moved by size and never interpreted: the SIMD part of data movement.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmlop::cpu {

/// output[k] = input[-k] for k in [0, count), elements of 1, 2, 4 or 8 bytes.
void copy_backwards(std::size_t element_size, std::byte* output, const std::byte* input,
                    std::uint64_t count);

/// output[k] = input[2 * k] or, backwards, input[-2 * k]. Reads nothing beside the elements from
/// the first to the last.
void copy_every_second(std::size_t element_size, bool backwards, std::byte* output,
                       const std::byte* input, std::uint64_t count);

/// output[k] = input[4 * k]. Reads nothing beside the elements from the first to the last.
void copy_every_fourth(std::size_t element_size, std::byte* output, const std::byte* input,
                       std::uint64_t count);

/// Two to four runs in turns: output[k * runs + j] = input[k + j * stride] for k in [0, count) and
/// j in [0, runs).
void copy_in_turns(std::size_t element_size, std::uint64_t runs, std::byte* output,
                   const std::byte* input, std::int64_t stride, std::uint64_t count);

/// Rows into columns: output[r * pitch + c] = input[c * stride + r] for r in [0, rows) and c in
/// [0, columns).
void transpose(std::size_t element_size, std::byte* output, std::uint64_t pitch,
               const std::byte* input, std::int64_t stride, std::uint64_t rows,
               std::uint64_t columns);

/// Copies past the caches. `output` and `bytes` are multiples of 64.
void stream(std::byte* output, const std::byte* input, std::uint64_t bytes);

/// Asks the memory for bytes that are read soon.
void fetch(const std::byte* from, std::uint64_t bytes);

/// Makes what was streamed visible to threads that synchronize with this one.
void finish_streams();

}  // namespace dmlop::cpu
