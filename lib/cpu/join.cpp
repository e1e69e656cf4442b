// Joins on the CPU: for each index of the axes outside of the joined one, a run of every part.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

class Join {
 public:
  Join(const JoinKernel& kernel, Inputs inputs) : size_(output_element_size(kernel)) {
    for (std::size_t i = 0; i < kernel.parts.size(); ++i) {
      movers_.push_back(make_mover(kernel.parts[i], inputs.subspan(i, 1)));
      packed_.push_back(packed(kernel.parts[i], inputs[i].data()));
      runs_.push_back(kernel.parts[i].output_elements() / kernel.outer);
      row_ += runs_.back();
    }
  }

  void run(std::uint64_t begin, std::uint64_t end, Output& output) const {
    std::uint64_t outer = begin / row_, offset = begin % row_, left = end - begin;
    for (; left > 0; ++outer, offset = 0) {
      for (std::size_t i = 0; i < runs_.size() && left > 0; ++i) {
        if (offset >= runs_[i]) {
          offset -= runs_[i];
          continue;
        }
        const std::uint64_t count = std::min(runs_[i] - offset, left);
        const std::uint64_t first = outer * runs_[i] + offset;
        if (packed_[i] != nullptr) {
          copy(packed_[i] + first * size_, count, output);
        } else {
          movers_[i]->run(first, first + count, output);
        }
        offset = 0;
        left -= count;
      }
    }
  }

 private:
  /// The elements of a part that stand as in its output; null where they do not.
  static const std::byte* packed(const IndexMapKernel& part, const std::byte* input) {
    const IndexMapAxis& axis = part.axes.back();
    const bool is_packed =
        part.axes.size() == 1 && axis.boundary == Boundary::none && axis.stride == 1;
    const auto size = static_cast<std::int64_t>(part.element_size);
    return is_packed ? input + part.offset * size : nullptr;
  }

  void copy(const std::byte* from, std::uint64_t count, Output& output) const {
    while (count > 0) {
      const std::uint64_t part = std::min(count, output.room(1));
      std::memcpy(output.take(part, 1), from, part * size_);
      from += part * size_;
      count -= part;
    }
  }

  std::size_t size_;                                    // of an element
  std::vector<std::unique_ptr<IndexMapMover>> movers_;  // by part
  std::vector<const std::byte*> packed_;                // by part
  std::vector<std::uint64_t> runs_;                     // elements of a part in a row
  std::uint64_t row_ = 0;                               // elements for one index outside
};

}  // namespace

PartShape part_shape(const JoinKernel&, std::uint64_t) {
  return {};
}

void run_part(const JoinKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(stores, part, output_element_size(kernel), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                Join(kernel, inputs).run(begin, end, output);
              });
}

}  // namespace dmlop::cpu
