#include "preview.hpp"

#include <algorithm>
#include <vector>

#include "npy/statistics.hpp"

namespace dmlop::app {

std::string preview(const Elements& elements) {
  const std::uint64_t columns = elements.sizes().back();
  const std::uint64_t rows = elements.count() / columns;
  std::vector<std::vector<std::string>> cells;
  std::size_t width = 0;
  for (std::uint64_t row = 0; row < std::min(rows, preview_rows); ++row) {
    auto& line = cells.emplace_back();
    for (std::uint64_t column = 0; column < std::min(columns, preview_columns); ++column) {
      line.push_back(element_text_at(elements, row * columns + column));
      width = std::max(width, line.back().size());
    }
  }
  std::string text;
  for (const auto& line : cells) {
    text += "   ";
    for (const std::string& cell : line) text.append(1 + width - cell.size(), ' ').append(cell);
    text += columns > preview_columns ? " ...\n" : "\n";
  }
  if (rows > preview_rows) text += "    ...\n";
  return text;
}

}  // namespace dmlop::app
