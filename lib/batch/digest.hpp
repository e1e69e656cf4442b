// Digests of contents (xxHash, XXH3): to recognise what was done before, not to resist forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "npy/npy.hpp"

namespace dmlop {

/// 64 bits, the same on every machine.
std::uint64_t short_digest(std::string_view text);

/// 128 bits over parts that are added one after another; where a part ends counts.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::string_view text);
  /// 32 hexadecimal digits.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 128 bits of some bytes, as 32 hexadecimal digits: what `xxhsum -H2` prints.
/// Errors: as check_for_stop().
std::string digest_of(std::span<const std::byte> bytes);

/// Of header and elements: what the file means, however its header is padded. Errors: likewise.
std::string array_digest_of(const NpyFile& file);

}  // namespace dmlop
