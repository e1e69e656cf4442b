// What a module computes from its specialization constants alone, and which of its blocks that
// leaves reachable: conditional constant propagation (Wegman and Zadeck, 1991).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/vulkan/spirv.hpp"

namespace dmlop::gpu::vulkan {

/// Values of specialization constants.
struct SpecializationValues {
  static constexpr std::uint32_t first_of_device = 64;

  std::span<const std::uint32_t> of_dispatch;  // by id from 0 on
  std::span<const std::uint32_t> of_device;    // by id from first_of_device on

  /// Nothing for a constant that keeps its default.
  std::optional<std::uint32_t> find(std::uint32_t id) const {
    const bool is_of_device = id >= first_of_device;
    const std::span<const std::uint32_t> values = is_of_device ? of_device : of_dispatch;
    const std::uint32_t place = is_of_device ? id - first_of_device : id;
    return place < values.size() ? std::optional(values[place]) : std::nullopt;
  }
};

class ConstantValues {
 public:
  /// For modules whose switches select by integers of 32 bits, as those of all kernels do.
  ConstantValues(std::span<const spirv::Instruction> module, std::uint32_t bound,
                 const SpecializationValues& constants);

  /// The value of a boolean, an integer or a float of 32 bits, where it is always the same.
  std::optional<std::uint32_t> of(std::uint32_t id) const;
  bool is_reachable(std::uint32_t label) const { return !entered_from_[label].empty(); }
  /// Whether one block can go to another one.
  bool is_taken(std::uint32_t from, std::uint32_t to) const;
  /// The one target of a block's conditional branch or switch, where its condition is always the
  /// same. A branch back to the head of a loop has both targets: a loop needs it.
  std::optional<std::uint32_t> only_target(std::uint32_t label,
                                           const spirv::Instruction& branch) const;
  bool is_type(std::uint32_t id) const { return is_type_[id]; }
  bool is_boolean(std::uint32_t type) const { return type == boolean_; }

 private:
  /// Not reached yet, always the same, or changing. It moves in this order only.
  struct Known {
    enum class State : std::uint8_t { nothing, one, many } state = State::many;
    std::uint32_t word = 0;

    static Known of(std::uint32_t word) { return {State::one, word}; }
  };
  struct Block {
    std::uint32_t label;
    std::span<const spirv::Instruction> body;  // with its branch, without its label
  };

  void read_global(const spirv::Instruction& one);
  void read_function(std::span<const spirv::Instruction> instructions);
  void propagate();
  bool visit(const Block& block);
  bool visit_branch(const Block& block);
  bool enter(std::uint32_t from, std::uint32_t to);
  bool set(std::uint32_t id, const Known& found);
  Known of_phi(const spirv::Instruction& phi, std::uint32_t block) const;
  Known folded(spirv::Op op, std::span<const std::uint32_t> operands) const;

  SpecializationValues constants_;
  std::vector<std::optional<std::uint32_t>> specialization_ids_;  // by id
  std::vector<Known> known_;
  std::vector<bool> is_type_;
  std::vector<bool> is_word_;  // types of 32 bits, and booleans
  std::uint32_t boolean_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::size_t> places_;  // of blocks, by label
  // By label. What a function begins with is entered from itself.
  std::vector<std::vector<std::uint32_t>> entered_from_;
};

}  // namespace dmlop::gpu::vulkan
