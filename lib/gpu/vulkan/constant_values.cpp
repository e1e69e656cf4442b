#include "gpu/vulkan/constant_values.hpp"

#include <algorithm>

namespace dmlop::gpu::vulkan {

using spirv::Instruction;
using spirv::Op;

namespace {

bool is_type_declaration(Op op) {
  return op >= Op::type_void && op < Op::type_forward_pointer;
}

/// What an operation makes of two words; of one, it takes the first. Nothing for operations that
/// are not known here, and where the result is undefined: that is left to the device.
std::optional<std::uint32_t> computed(Op op, std::uint32_t a, std::uint32_t b) {
  const auto signed_a = static_cast<std::int32_t>(a);
  const auto signed_b = static_cast<std::int32_t>(b);
  switch (op) {
    case Op::copy_object:
    case Op::bitcast:
      return a;
    case Op::s_negate:
      return 0 - a;
    case Op::i_add:
      return a + b;
    case Op::i_sub:
      return a - b;
    case Op::i_mul:
      return a * b;
    case Op::logical_equal:
    case Op::i_equal:
      return a == b ? 1 : 0;
    case Op::logical_not_equal:
    case Op::i_not_equal:
      return a != b ? 1 : 0;
    case Op::logical_or:
    case Op::bitwise_or:
      return a | b;
    case Op::logical_and:
    case Op::bitwise_and:
      return a & b;
    case Op::bitwise_xor:
      return a ^ b;
    case Op::logical_not:
      return a ^ 1;
    case Op::bitwise_not:
      return ~a;
    case Op::u_greater_than:
      return a > b ? 1 : 0;
    case Op::s_greater_than:
      return signed_a > signed_b ? 1 : 0;
    case Op::u_greater_than_equal:
      return a >= b ? 1 : 0;
    case Op::s_greater_than_equal:
      return signed_a >= signed_b ? 1 : 0;
    case Op::u_less_than:
      return a < b ? 1 : 0;
    case Op::s_less_than:
      return signed_a < signed_b ? 1 : 0;
    case Op::u_less_than_equal:
      return a <= b ? 1 : 0;
    case Op::s_less_than_equal:
      return signed_a <= signed_b ? 1 : 0;
    default:
      break;
  }
  if (op == Op::u_div && b != 0) return a / b;
  if (op == Op::u_mod && b != 0) return a % b;
  if (op == Op::shift_right_logical && b < 32) return a >> b;
  if (op == Op::shift_right_arithmetic && b < 32) return static_cast<std::uint32_t>(signed_a >> b);
  if (op == Op::shift_left_logical && b < 32) return a << b;
  return std::nullopt;
}

bool can_be_folded(Op op) {
  return op == Op::select || computed(op, 1, 1).has_value();
}

}  // namespace

ConstantValues::ConstantValues(std::span<const Instruction> module, std::uint32_t bound,
                               const SpecializationValues& constants)
    : constants_(constants),
      specialization_ids_(bound),
      known_(bound),
      is_type_(bound),
      is_word_(bound),
      places_(bound),
      entered_from_(bound) {
  const auto functions = std::find_if(module.begin(), module.end(), [](const Instruction& one) {
    return one.op() == Op::function;
  });
  const auto global = static_cast<std::size_t>(functions - module.begin());
  for (const Instruction& one : module.first(global)) read_global(one);
  read_function(module.subspan(global));
  propagate();
}

void ConstantValues::read_global(const Instruction& one) {
  const auto specialized = [&](std::uint32_t otherwise) {
    const std::optional<std::uint32_t> id = specialization_ids_[one[2]];
    return Known::of(id ? constants_.find(*id).value_or(otherwise) : otherwise);
  };
  const Op op = one.op();
  if (is_type_declaration(op)) {
    const bool has_32_bits = (op == Op::type_int || op == Op::type_float) && one[2] == 32;
    is_type_[one[1]] = true;
    is_word_[one[1]] = has_32_bits || op == Op::type_bool;
    if (op == Op::type_bool) boolean_ = one[1];
  }
  if (op == Op::decorate && one[2] == spirv::decoration_spec_id)
    specialization_ids_[one[1]] = one[3];
  if (op == Op::constant_true) known_[one[2]] = Known::of(1);
  if (op == Op::constant_false) known_[one[2]] = Known::of(0);
  if (op == Op::constant && is_word_[one[1]]) known_[one[2]] = Known::of(one[3]);
  if (op == Op::spec_constant && is_word_[one[1]]) known_[one[2]] = specialized(one[3]);
  if (op == Op::spec_constant_true || op == Op::spec_constant_false) {
    known_[one[2]] = specialized(op == Op::spec_constant_true ? 1 : 0);
    known_[one[2]].word = known_[one[2]].word != 0 ? 1 : 0;
  }
  if (op == Op::spec_constant_op && is_word_[one[1]] && can_be_folded(static_cast<Op>(one[3])))
    known_[one[2]] = folded(static_cast<Op>(one[3]), one.words.subspan(4));
}

void ConstantValues::read_function(std::span<const Instruction> instructions) {
  bool is_first = false;  // block of a function
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& one = instructions[i];
    if (one.op() == Op::function) is_first = true;
    if (one.op() == Op::label) {
      places_[one[1]] = blocks_.size();
      blocks_.push_back({one[1], instructions.subspan(i + 1, 0)});
      if (is_first) entered_from_[one[1]] = {one[1]};
      is_first = false;
      continue;
    }
    if (blocks_.empty()) continue;
    Block& block = blocks_.back();
    block.body = {block.body.data(), block.body.size() + 1};
    const bool is_known = one.op() == Op::phi || can_be_folded(one.op());
    if (is_known && is_word_[one[1]]) known_[one[2]].state = Known::State::nothing;
  }
}

// Begins with nothing known and no block reached, and goes on until nothing more is found.
void ConstantValues::propagate() {
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (const Block& block : blocks_)
      if (is_reachable(block.label) && visit(block)) has_changed = true;
  }
}

bool ConstantValues::visit(const Block& block) {
  bool has_changed = false;
  for (const Instruction& one : block.body) {
    const bool is_phi = one.op() == Op::phi;
    if ((!is_phi && !can_be_folded(one.op())) || !is_word_[one[1]]) continue;
    const Known found = is_phi ? of_phi(one, block.label) : folded(one.op(), one.words.subspan(3));
    if (set(one[2], found)) has_changed = true;
  }
  return visit_branch(block) || has_changed;
}

bool ConstantValues::visit_branch(const Block& block) {
  bool has_changed = false;
  const auto go_to = [&](std::uint32_t target) {
    if (enter(block.label, target)) has_changed = true;
  };
  for (const Instruction& one : block.body) {
    if (one.op() == Op::branch) go_to(one[1]);
    if (one.op() != Op::branch_conditional && one.op() != Op::switch_case) continue;
    if (const auto only = only_target(block.label, one)) {
      go_to(*only);
      continue;
    }
    go_to(one[2]);
    const std::size_t step = one.op() == Op::branch_conditional ? 1 : 2;
    const std::size_t end = step == 1 ? 4 : one.words.size();  // weights may follow
    for (std::size_t word = step + 2; word < end; word += step) go_to(one[word]);
  }
  return has_changed;
}

std::optional<std::uint32_t> ConstantValues::only_target(std::uint32_t label,
                                                         const Instruction& branch) const {
  const std::optional<std::uint32_t> value = of(branch[1]);
  if (!value) return std::nullopt;
  if (branch.op() == Op::branch_conditional) {
    const bool goes_back = std::min(places_[branch[2]], places_[branch[3]]) <= places_[label];
    if (goes_back) return std::nullopt;
    return branch[*value != 0 ? 2 : 3];
  }
  for (std::size_t word = 3; word + 1 < branch.words.size(); word += 2)
    if (branch[word] == *value) return branch[word + 1];
  return branch[2];
}

bool ConstantValues::enter(std::uint32_t from, std::uint32_t to) {
  if (is_taken(from, to)) return false;
  entered_from_[to].push_back(from);
  return true;
}

bool ConstantValues::is_taken(std::uint32_t from, std::uint32_t to) const {
  const std::vector<std::uint32_t>& all = entered_from_[to];
  return std::find(all.begin(), all.end(), from) != all.end();
}

bool ConstantValues::set(std::uint32_t id, const Known& found) {
  Known& known = known_[id];
  if (found.state == Known::State::nothing || known.state == Known::State::many) return false;
  if (known.state == Known::State::one && found.state == Known::State::one &&
      known.word == found.word)
    return false;
  known = found;
  return true;
}

ConstantValues::Known ConstantValues::of_phi(const Instruction& phi, std::uint32_t block) const {
  Known all{Known::State::nothing};
  for (std::size_t word = 3; word + 1 < phi.words.size(); word += 2) {
    if (!is_taken(phi[word + 1], block)) continue;
    const Known& value = known_[phi[word]];
    if (value.state == Known::State::nothing) continue;
    if (all.state == Known::State::nothing)
      all = value;
    else if (value.state == Known::State::many || value.word != all.word)
      all = {};
    if (all.state == Known::State::many) break;
  }
  return all;
}

ConstantValues::Known ConstantValues::folded(Op op, std::span<const std::uint32_t> operands) const {
  const Known& a = known_[operands[0]];
  const Known b = operands.size() > 1 ? known_[operands[1]] : Known::of(0);
  const auto is = [](const Known& known, std::uint32_t word) {
    return known.state == Known::State::one && known.word == word;
  };
  if (op == Op::select && a.state == Known::State::one)
    return known_[operands[a.word != 0 ? 1 : 2]];
  if (op == Op::logical_and && (is(a, 0) || is(b, 0))) return Known::of(0);
  if (op == Op::logical_or && (is(a, 1) || is(b, 1))) return Known::of(1);
  if (a.state != Known::State::one || b.state != Known::State::one) return {};
  const std::optional<std::uint32_t> word = computed(op, a.word, b.word);
  return word ? Known::of(*word) : Known{};
}

std::optional<std::uint32_t> ConstantValues::of(std::uint32_t id) const {
  if (known_[id].state != Known::State::one) return std::nullopt;
  return known_[id].word;
}

}  // namespace dmlop::gpu::vulkan
