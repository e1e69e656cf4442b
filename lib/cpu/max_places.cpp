// Maxima of windows and their places on the CPU: for some outputs of a row, one row of the input
// after the other.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/kinds.hpp"
#include "cpu/reached_rows.hpp"

namespace dmlop::cpu {
namespace {

constexpr Threshold outputs_at_once{1024, 5};

template <typename Element>
class MaxPlaces {
  using Number = NumberOf<Element>;
  using Limits = std::numeric_limits<Number>;

 public:
  MaxPlaces(const MaxPlacesKernel& kernel, std::span<const std::byte> input)
      : width_(kernel.axes.back()),
        index_type_(kernel.index_type),
        place_of_nothing_(kernel.place_of_nothing),
        input_(input),
        rows_(kernel.axes),
        taps_(width_) {}

  void run(std::uint64_t begin, std::uint64_t end, Destinations outputs) {
    std::byte* values = outputs[0].to;
    std::byte* indices = outputs[1].to;
    while (begin < end) {
      const std::uint64_t o = begin % width_.output_extent;
      const std::uint64_t count =
          std::min({width_.output_extent - o, end - begin, std::uint64_t{outputs_at_once}});
      rows_.set(begin / width_.output_extent);
      find(o, count);
      for (const Found& found : found_) {
        put(found, values, indices);
        values += sizeof(Element);
        indices += size_of(index_type_);
      }
      begin += count;
    }
  }

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  struct Found {
    Number value = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    std::uint64_t place = nowhere;
    bool is_number = false;
  };

  void find(std::uint64_t o, std::uint64_t count) {
    found_.assign(count, {});
    runs_.clear();
    std::uint64_t steps = 4 * count;
    for (std::uint64_t i = 0; i < count; ++i) {
      runs_.push_back(taps_.of(o + i));
      steps += runs_.back().count;
    }
    rows_.for_each([&](std::uint64_t offset, std::uint64_t place, double) {
      steps_.add(steps < steps_at_once ? steps : 0);
      for (std::uint64_t i = 0; i < count; ++i) look_at(runs_[i], offset, place, found_[i]);
    });
  }

  // The first of equal ones stays, and NaN is never greater or equal. Of NaN alone the first stays.
  void look_at(const TapRun& run, std::uint64_t offset, std::uint64_t place, Found& found) {
    if (found.place == nowhere && run.count > 0) found.place = place + run.first;
    const std::uint64_t stride = width_.input_stride;
    in_pieces_if_many(run.count, [&](std::uint64_t k, std::uint64_t end) {
      std::uint64_t index = run.first + k * run.step;
      for (; k < end; ++k, index += run.step) {
        const Number x = number_at<Element>(&input_[(offset + index * stride) * sizeof(Element)]);
        if (x > found.value || (x == found.value && !found.is_number))
          found = {x, place + index, true};
      }
    });
  }

  template <typename Action>
  static void in_pieces_if_many(std::uint64_t count, Action&& action) {
    if (count < steps_at_once) return action(0, count);
    in_pieces(count, 1, action);
  }

  // Nothing but padding and NaN is the lowest finite number; as FLOAT16 minus infinity.
  void put(const Found& found, std::byte* value, std::byte* index) const {
    put_number<Element>(value, found.is_number ? found.value : Limits::lowest());
    const std::uint64_t place = found.place != nowhere ? found.place : place_of_nothing_;
    std::memcpy(index, &place, size_of(index_type_));
  }

  const WindowAxis& width_;
  DataType index_type_;
  std::uint64_t place_of_nothing_;
  std::span<const std::byte> input_;
  ReachedRows rows_;
  Taps taps_;
  Steps steps_;
  std::vector<TapRun> runs_;
  std::vector<Found> found_;
};

}  // namespace

PartShape part_shape(const MaxPlacesKernel&, std::uint64_t) {
  return {};
}

void run_part(const MaxPlacesKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  visit_type(kernel.data_type, [&](auto zero) {
    MaxPlaces<decltype(zero)>(kernel, inputs.front())
        .run(part.begin, part.begin + part.length, outputs);
  });
}

}  // namespace dmlop::cpu
