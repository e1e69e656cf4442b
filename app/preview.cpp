#include "preview.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "npy/statistics.hpp"

namespace dmlop::app {

std::string preview(const Elements& elements) {
  const bool is_scalar = elements.sizes().empty();
  const std::uint64_t columns = is_scalar ? 1 : elements.sizes().back();
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

std::string contents_text(const Elements& elements) {
  const Statistics statistics = statistics_of(elements);
  const std::string mean =
      statistics.mean ? nlohmann::json(*statistics.mean).dump() : std::string("none");
  return "  min " + statistics.min.value_or("none") + "  max " + statistics.max.value_or("none") +
         "  mean " + mean + "  NaN " + std::to_string(statistics.nan_count) + "  infinity " +
         std::to_string(statistics.infinity_count) + "\n" + preview(elements);
}

nlohmann::ordered_json contents_json(const Elements& elements) {
  using Json = nlohmann::ordered_json;
  const Statistics statistics = statistics_of(elements);
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json first = Json::array();
  for (std::uint64_t i = 0; i < std::min(elements.count(), preview_columns); ++i)
    first.push_back(element_text_at(elements, i));
  return {{"min", or_null(statistics.min)},
          {"max", or_null(statistics.max)},
          {"mean", or_null(statistics.mean)},
          {"nanCount", statistics.nan_count},
          {"infinityCount", statistics.infinity_count},
          {"first", std::move(first)}};
}

}  // namespace dmlop::app
