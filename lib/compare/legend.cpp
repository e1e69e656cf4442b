#include "compare/legend.hpp"

#include <algorithm>

namespace dmlop {
namespace {

constexpr Color white{255, 255, 255}, black{0, 0, 0};
constexpr std::uint64_t margin = 4, bar_height = 12;

}  // namespace

Pixels with_legend(const Pixels& picture, const std::string& largest) {
  Pixels all(std::max(picture.width(), legend_width), picture.height() + legend_height, white);
  all.paste(0, 0, picture);
  const std::uint64_t bar = all.width() - 2 * margin;
  std::uint64_t y = picture.height() + margin;
  for (std::uint64_t x = 0; x < bar; ++x) {
    const double share = static_cast<double>(x) / static_cast<double>(bar - 1);
    all.fill(margin + x, y, 1, bar_height, color_at(share));
  }
  y += bar_height + margin;
  all.write(margin, y, "0", black);
  const std::uint64_t text = std::min(bar, largest.size() * letter_width);
  all.write(all.width() - margin - text, y, largest, black);
  y += letter_height + margin;
  all.fill(margin, y, bar_height, bar_height, nan_color);
  all.write(2 * margin + bar_height, y, "one is NaN   log scale", black);
  return all;
}

}  // namespace dmlop
