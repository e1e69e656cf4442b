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

/// output[k] = element k of row r, where r = lengths[k] - 1 - index, or index where that is
/// negative; rows are `pitch` bytes apart, a multiple of 8, and together less than 2^31.
void gather_reversed(std::size_t element_size, std::byte* output, const std::byte* rows,
                     std::uint64_t pitch, const std::int32_t* lengths, std::int32_t index,
                     std::uint64_t count);

/// Copies past the caches. `output` and `bytes` are multiples of 64, `input` is aligned to 64.
void stream(std::byte* output, const std::byte* input, std::uint64_t bytes);

/// Asks the memory for bytes that are read soon.
void fetch(const std::byte* from, std::uint64_t bytes);

/// Makes what was streamed visible to threads that synchronise with this one.
void finish_streams();

}  // namespace dmlop::cpu
