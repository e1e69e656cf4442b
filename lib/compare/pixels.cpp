#include "compare/pixels.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace dmlop {
namespace {

// From dark blue over green to yellow, so that equal steps look equal. Colors between these are
// interpolated.
constexpr std::array<Color, 6> ramp{{{{13, 8, 60}},
                                     {{62, 50, 130}},
                                     {{40, 115, 142}},
                                     {{32, 163, 134}},
                                     {{148, 216, 64}},
                                     {{253, 231, 37}}}};

// Letters of three by five dots. Each octal digit is a row from the top, its highest bit the left
// dot.
constexpr std::array<std::uint16_t, 10> digits{075557, 026227, 071747, 071717, 055711,
                                               074717, 074757, 071111, 075757, 075717};
constexpr std::array<std::uint16_t, 26> letters{
    025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227,
    011152, 055655, 044447, 057755, 065555, 025552, 065644, 025563, 065655,
    034216, 072222, 055557, 055552, 055775, 055255, 055222, 071247};
constexpr std::uint64_t dot = 2;  // pixels per side

std::uint16_t dots_of(char c) {
  if (c >= '0' && c <= '9') return digits[static_cast<std::size_t>(c - '0')];
  if (c >= 'a' && c <= 'z') return letters[static_cast<std::size_t>(c - 'a')];
  if (c >= 'A' && c <= 'Z') return letters[static_cast<std::size_t>(c - 'A')];
  return 0;
}

}  // namespace

Color color_at(double share) {
  if (std::isnan(share)) return nan_color;
  const double at = std::clamp(share, 0.0, 1.0) * (ramp.size() - 1);
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), ramp.size() - 2);
  const double part = at - static_cast<double>(low);
  Color color{};
  for (std::size_t i = 0; i < color.size(); ++i) {
    const double between = ramp[low][i] * (1 - part) + ramp[low + 1][i] * part;
    color[i] = static_cast<unsigned char>(std::lround(between));
  }
  return color;
}

Pixels::Pixels(std::uint64_t width, std::uint64_t height, Color color)
    : width_(width), bytes_(width * height * 3) {
  fill(0, 0, width, height, color);
}

void Pixels::set(std::uint64_t x, std::uint64_t y, Color color) {
  std::copy(color.begin(), color.end(), &bytes_[(y * width_ + x) * 3]);
}

Color Pixels::at(std::uint64_t x, std::uint64_t y) const {
  const unsigned char* pixel = &bytes_[(y * width_ + x) * 3];
  return {pixel[0], pixel[1], pixel[2]};
}

void Pixels::fill(std::uint64_t x, std::uint64_t y, std::uint64_t width, std::uint64_t height,
                  Color color) {
  for (std::uint64_t row = y; row < y + height; ++row) {
    for (std::uint64_t column = x; column < x + width; ++column) set(column, row, color);
  }
}

void Pixels::paste(std::uint64_t x, std::uint64_t y, const Pixels& other) {
  for (std::uint64_t row = 0; row < other.height(); ++row) {
    for (std::uint64_t column = 0; column < other.width(); ++column)
      set(x + column, y + row, other.at(column, row));
  }
}

void Pixels::write(std::uint64_t x, std::uint64_t y, std::string_view text, Color color) {
  for (const char c : text) {
    if (x + letter_width > width_ || y + letter_height > height()) return;
    const std::uint16_t dots = dots_of(c);
    for (std::uint64_t i = 0; i < 15; ++i) {
      if ((dots >> (14 - i) & 1U) != 0) fill(x + i % 3 * dot, y + i / 3 * dot, dot, dot, color);
    }
    x += letter_width;
  }
}

Png Pixels::to_png() const {
  check_for_stop();  // packing the pixels takes a while
  Png png;
  const auto append = [](void* to, void* data, int size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    static_cast<Png*>(to)->insert(static_cast<Png*>(to)->end(), bytes, bytes + size);
  };
  stbi_write_png_to_func(append, &png, static_cast<int>(width_), static_cast<int>(height()), 3,
                         bytes_.data(), static_cast<int>(width_ * 3));
  return png;
}

}  // namespace dmlop
