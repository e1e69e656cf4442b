#include "compare/comparison_json.hpp"

#include <cmath>

#include "compare/comparison_text.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN, so they become null.
Json number(bool exists, double value) {
  return exists && std::isfinite(value) ? Json(value) : Json(nullptr);
}

template <typename Number>
Json optional_number(const std::optional<Number>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json elements_json(const Comparison& comparison,
                   const std::vector<ElementDifference>& differences) {
  Json list = Json::array();
  for (const ElementDifference& difference : differences) {
    const Deviation& deviation = difference.deviation;
    const bool comparable = deviation.comparable;
    list.push_back({{"index", indices_of(difference.index, comparison.sizes)},
                    {"byteOffset", difference.byte_offset},
                    {"actual", value_text(comparison, difference.actual)},
                    {"expected", value_text(comparison, difference.expected)},
                    {"actualBits", bits_text(comparison, difference.actual)},
                    {"expectedBits", bits_text(comparison, difference.expected)},
                    {"absolute", number(comparable, deviation.absolute)},
                    {"relative", number(comparable, deviation.relative)},
                    {"ulp", comparable ? Json(deviation.ulp) : Json(nullptr)}});
  }
  return list;
}

Json histogram_json(const UlpHistogram& histogram) {
  Json list = Json::array();
  std::size_t used = histogram.size();
  while (used > 0 && histogram[used - 1] == 0) --used;
  for (std::size_t i = 0; i < used; ++i)
    list.push_back({{"ulp", ulp_range_text(i)}, {"count", histogram[i]}});
  return list;
}

Json region_json(const Comparison& comparison) {
  const Region& region = comparison.region;
  if (region.axes.empty()) return nullptr;
  Json axes = Json::array();
  for (const AxisRegion& axis : region.axes)
    axes.push_back({{"first", axis.first},
                    {"last", axis.last},
                    {"step", axis.step},
                    {"indices", optional_number(axis.count)}});
  return {{"slices", region.slices(comparison.sizes)},
          {"elements", region.elements},
          {"isFull", region.is_full},
          {"axes", std::move(axes)}};
}

}  // namespace

nlohmann::ordered_json to_json(const Comparison& comparison) {
  return {{"verdict", name_of(comparison.verdict())},
          {"summary", comparison.summary()},
          {"dataType", name_of(comparison.data_type)},
          {"sizes", comparison.sizes},
          {"tolerance", to_text(comparison.tolerance)},
          {"toleranceOrigin", comparison.tolerance.origin},
          {"elements", comparison.elements},
          {"mismatches", comparison.mismatches},
          {"nanMismatches", comparison.nan_mismatches},
          {"region", region_json(comparison)},
          {"relation", comparison.relation.empty() ? Json(nullptr) : Json(comparison.relation)},
          {"first", elements_json(comparison, comparison.first)},
          {"worst", elements_json(comparison, comparison.worst)},
          {"histogram", histogram_json(comparison.histogram)},
          {"smallest",
           {{"rtol", optional_number(comparison.smallest.rtol)},
            {"atol", optional_number(comparison.smallest.atol)},
            {"ulp", optional_number(comparison.smallest.ulp)}}}};
}

}  // namespace dmlop
