#include "batch/digest.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/parallel.hpp"
#include "base/text.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dmlop {
namespace {

std::string hexadecimal(XXH128_hash_t hash) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text.data();
}

}  // namespace

struct Digest::State {
  XXH3_state_t hash;
};

std::uint64_t short_digest(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

Digest::Digest() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}

Digest::~Digest() = default;

void Digest::add(std::string_view text) {
  const std::string length = std::to_string(text.size()) + ":";
  XXH3_128bits_update(&state_->hash, length.data(), length.size());
  XXH3_128bits_update(&state_->hash, text.data(), text.size());
}

std::string Digest::text() const {
  return hexadecimal(XXH3_128bits_digest(&state_->hash));
}

std::string digest_of(std::span<const std::byte> bytes) {
  XXH3_state_t hash;
  XXH3_128bits_reset(&hash);
  in_pieces(bytes.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    XXH3_128bits_update(&hash, bytes.data() + begin, end - begin);
  });
  return hexadecimal(XXH3_128bits_digest(&hash));
}

std::string array_digest_of(const NpyFile& file) {
  const NpyHeader& header = file.header();
  return std::string(info(header.data_type).numpy) + (header.fortran_order ? "F" : "C") +
         (header.big_endian ? ">" : "<") + list_of(header.sizes) + digest_of(file.data());
}

}  // namespace dmlop
