// The words of a SPIR-V module as instructions (the SPIR-V specification, 2.3 and 3.52).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace dmlop::gpu::vulkan::spirv {

enum class Op : std::uint16_t {
  name = 5,
  extension = 10,
  entry_point = 15,
  execution_mode = 16,
  capability = 17,
  type_void = 19,
  type_bool = 20,
  type_int = 21,
  type_float = 22,
  type_forward_pointer = 39,
  constant_true = 41,
  constant_false = 42,
  constant = 43,
  spec_constant_true = 48,
  spec_constant_false = 49,
  spec_constant = 50,
  spec_constant_op = 52,
  function = 54,
  function_end = 56,
  decorate = 71,
  copy_object = 83,
  bitcast = 124,
  s_negate = 126,
  i_add = 128,
  i_sub = 130,
  i_mul = 132,
  u_div = 134,
  u_mod = 137,
  logical_equal = 164,
  logical_not_equal = 165,
  logical_or = 166,
  logical_and = 167,
  logical_not = 168,
  select = 169,
  i_equal = 170,
  i_not_equal = 171,
  u_greater_than = 172,
  s_greater_than = 173,
  u_greater_than_equal = 174,
  s_greater_than_equal = 175,
  u_less_than = 176,
  s_less_than = 177,
  u_less_than_equal = 178,
  s_less_than_equal = 179,
  shift_right_logical = 194,
  shift_right_arithmetic = 195,
  shift_left_logical = 196,
  bitwise_or = 197,
  bitwise_xor = 198,
  bitwise_and = 199,
  bitwise_not = 200,
  phi = 245,
  loop_merge = 246,
  selection_merge = 247,
  label = 248,
  branch = 249,
  branch_conditional = 250,
  switch_case = 251,
  unreachable = 255,
};

constexpr std::size_t header_words = 5;
constexpr std::size_t bound_word = 3;  // of the header: every id is smaller
constexpr std::uint32_t decoration_spec_id = 1;

struct Instruction {
  std::span<const std::uint32_t> words;

  Op op() const { return static_cast<Op>(words[0] & 0xFFFF); }
  std::uint32_t operator[](std::size_t word) const { return words[word]; }
};

/// All instructions of a module, in order; views of its words.
inline std::vector<Instruction> instructions_of(std::span<const std::uint32_t> module) {
  std::vector<Instruction> found;
  for (std::size_t at = header_words; at < module.size();) {
    const std::size_t words = module[at] >> 16;
    if (words == 0 || words > module.size() - at) break;  // no module
    found.push_back({module.subspan(at, words)});
    at += words;
  }
  return found;
}

/// Appends an instruction.
inline void append(std::vector<std::uint32_t>& module, Op op,
                   std::initializer_list<std::uint32_t> operands) {
  module.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 |
                   static_cast<std::uint32_t>(op));
  module.insert(module.end(), operands);
}

}  // namespace dmlop::gpu::vulkan::spirv
