// Colored pixels with small letters, and the PNG file of them. It knows no tensors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dmlop {

/// The bytes of a PNG file.
using Png = std::vector<std::byte>;

using Color = std::array<unsigned char, 3>;  // red, green, blue
inline constexpr Color nan_color{255, 0, 255};

/// The color of a share from 0 (dark) to 1 (bright); nan_color for NaN.
Color color_at(double share);

class Pixels {
 public:
  Pixels(std::uint64_t width, std::uint64_t height, Color color);

  std::uint64_t width() const { return width_; }
  std::uint64_t height() const { return bytes_.size() / 3 / width_; }

  /// The place must be inside.
  void set(std::uint64_t x, std::uint64_t y, Color color);
  Color at(std::uint64_t x, std::uint64_t y) const;
  void fill(std::uint64_t x, std::uint64_t y, std::uint64_t width, std::uint64_t height,
            Color color);
  /// Copies another picture to a place that has room for it.
  void paste(std::uint64_t x, std::uint64_t y, const Pixels& other);
  /// Writes digits and letters, all of them as capitals. What is no letter, and what does not fit,
  /// stays empty.
  void write(std::uint64_t x, std::uint64_t y, std::string_view text, Color color);

  /// Errors: as check_for_stop().
  Png to_png() const;

 private:
  std::uint64_t width_;
  std::vector<unsigned char> bytes_;
};

/// The size of a letter that Pixels::write() writes, with the gap after it.
inline constexpr std::uint64_t letter_width = 8, letter_height = 10;

}  // namespace dmlop
