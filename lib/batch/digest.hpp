// Digests of contents (xxHash, XXH3). They recognize what was done before; they do not resist
// forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "npy/npy.hpp"

namespace dmlop {

/// A 64-bit digest that is the same on every machine.
std::uint64_t short_digest(std::string_view text);

/// A 128-bit digest over parts that are added one after another. It depends on where the parts end.
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

/// A 128-bit digest of some bytes as 32 hexadecimal digits, as `xxhsum -H2` prints it. Errors: as
/// check_for_stop().
std::string digest_of(std::span<const std::byte> bytes);

/// A digest of header and elements. It depends on what the file means, not on how its header is
/// padded. Errors: as check_for_stop().
std::string array_digest_of(const NpyFile& file);

}  // namespace dmlop
