// Joins on the CPU: for each index of the axes outside of the joined one, a run of every part.
#include <algorithm>
#include <memory>
#include <vector>

#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

class Join {
 public:
  Join(const JoinKernel& kernel, Inputs inputs) {
    for (std::size_t i = 0; i < kernel.parts.size(); ++i) {
      movers_.push_back(make_mover(kernel.parts[i], inputs.subspan(i, 1)));
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
        movers_[i]->run(first, first + count, output);
        offset = 0;
        left -= count;
      }
    }
  }

 private:
  std::vector<std::unique_ptr<IndexMapMover>> movers_;  // by part
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
