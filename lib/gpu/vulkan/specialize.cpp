#include "gpu/vulkan/specialize.hpp"

#include <algorithm>
#include <optional>

#include "gpu/vulkan/constant_values.hpp"
#include "gpu/vulkan/spirv.hpp"

namespace dmlop::gpu::vulkan {
namespace {

using spirv::append;
using spirv::Instruction;
using spirv::Op;

/// Writes a module anew, with what is known of it.
class Writer {
 public:
  Writer(std::span<const std::uint32_t> module, const SpecializationValues& constants)
      : instructions_(spirv::instructions_of(module)),
        values_(instructions_, module[spirv::bound_word], constants),
        is_left_out_(module[spirv::bound_word]),
        loop_continued_by_(module[spirv::bound_word]),
        continue_of_loop_(module[spirv::bound_word]),
        is_merge_(module[spirv::bound_word]),
        written_(module.begin(), module.begin() + spirv::header_words) {
    const auto functions =
        std::find_if(instructions_.begin(), instructions_.end(),
                     [](const Instruction& one) { return one.op() == Op::function; });
    functions_ = static_cast<std::size_t>(functions - instructions_.begin());
  }

  std::vector<std::uint32_t> write() {
    note_left_out();
    for (std::size_t i = 0; i < functions_; ++i) write_global(instructions_[i]);
    write_results();
    write_functions();
    return std::move(written_);
  }

 private:
  /// The id that an instruction of a function defines; 0 for none. Its type comes first.
  std::uint32_t result_of(const Instruction& one) const {
    if (one.op() == Op::label) return one[1];
    return one.words.size() > 2 && values_.is_type(one[1]) ? one[2] : 0;
  }

  template <typename Action>
  void for_each_in_functions(Action&& action) const {
    std::uint32_t label = 0;
    for (std::size_t i = functions_; i < instructions_.size(); ++i) {
      if (instructions_[i].op() == Op::function) label = 0;  // its parameters come first
      if (instructions_[i].op() == Op::label) label = instructions_[i][1];
      action(instructions_[i], label, i);
    }
  }

  bool is_written(std::uint32_t label) const { return label == 0 || values_.is_reachable(label); }

  /// A branch whose target is known needs no selection. A switch keeps its own, because blocks
  /// within it may break out of it.
  bool is_selection_left_out(std::size_t i, std::uint32_t label) const {
    const Instruction& branch = instructions_[i + 1];
    return branch.op() == Op::branch_conditional && values_.only_target(label, branch).has_value();
  }

  void note_left_out() {
    for_each_in_functions([&](const Instruction& one, std::uint32_t label, std::size_t i) {
      const std::uint32_t result = result_of(one);
      if (result != 0) is_left_out_[result] = !is_written(label) || values_.of(result).has_value();
      if (!is_written(label)) return;
      if (one.op() == Op::loop_merge) {
        is_merge_[one[1]] = true;
        loop_continued_by_[one[2]] = label;
        continue_of_loop_[label] = one[2];
      }
      if (one.op() == Op::selection_merge && !is_selection_left_out(i, label))
        is_merge_[one[1]] = true;
    });
  }

  void write_constant(std::uint32_t type, std::uint32_t id, std::uint32_t value) {
    if (values_.is_boolean(type))
      append(written_, value != 0 ? Op::constant_true : Op::constant_false, {type, id});
    else
      append(written_, Op::constant, {type, id, value});
  }

  void copy(const Instruction& one) {
    written_.insert(written_.end(), one.words.begin(), one.words.end());
  }

  void write_global(const Instruction& one) {
    switch (one.op()) {
      case Op::decorate:
        if (one[2] != spirv::decoration_spec_id && !is_left_out_[one[1]]) copy(one);
        return;
      case Op::name:
        if (!is_left_out_[one[1]]) copy(one);
        return;
      case Op::spec_constant:
      case Op::spec_constant_true:
      case Op::spec_constant_false:
      case Op::spec_constant_op:
        if (const auto value = values_.of(one[2]))
          write_constant(one[1], one[2], *value);
        else
          copy(one);
        return;
      default:
        copy(one);
    }
  }

  // Results that are always the same become constants, which are declared before all functions.
  void write_results() {
    for_each_in_functions([&](const Instruction& one, std::uint32_t label, std::size_t) {
      const std::uint32_t result = result_of(one);
      if (result == 0 || one.op() == Op::label || !is_written(label)) return;
      if (const auto value = values_.of(result)) write_constant(one[1], result, *value);
    });
  }

  void write_functions() {
    for_each_in_functions([&](const Instruction& one, std::uint32_t label, std::size_t i) {
      if (one.op() == Op::label && !is_written(label))
        write_unreachable(label);
      else if (one.op() == Op::function_end || is_written(label))
        write_in_function(one, label, i);
    });
  }

  // What a loop or a selection names has to be there.
  void write_unreachable(std::uint32_t label) {
    const std::uint32_t loop = loop_continued_by_[label];
    if (loop == 0 && !is_merge_[label]) return;
    append(written_, Op::label, {label});
    if (loop != 0)
      append(written_, Op::branch, {loop});
    else
      append(written_, Op::unreachable, {});
  }

  void write_in_function(const Instruction& one, std::uint32_t label, std::size_t i) {
    const std::uint32_t result = result_of(one);
    if (result != 0 && is_left_out_[result]) return;
    switch (one.op()) {
      case Op::selection_merge:
        if (!is_selection_left_out(i, label)) copy(one);
        return;
      case Op::phi:
        write_phi(one, label);
        return;
      case Op::branch_conditional:
        if (const auto target = values_.only_target(label, one))
          append(written_, Op::branch, {*target});
        else
          copy(one);
        return;
      case Op::switch_case:
        if (const auto target = values_.only_target(label, one))
          append(written_, Op::switch_case, {one[1], *target});
        else
          copy(one);
        return;
      default:
        copy(one);
    }
  }

  void write_phi(const Instruction& phi, std::uint32_t label) {
    const std::size_t begin = written_.size();
    append(written_, Op::phi, {phi[1], phi[2]});
    const auto add = [&](std::uint32_t value, std::uint32_t from) {
      written_.insert(written_.end(), {value, from});
    };
    for (std::size_t word = 3; word + 1 < phi.words.size(); word += 2)
      if (values_.is_taken(phi[word + 1], label)) add(phi[word], phi[word + 1]);
    // A loop that never comes back has a block that would (see write_unreachable).
    const std::uint32_t continued = continue_of_loop_[label];
    if (continued != 0 && !values_.is_reachable(continued)) add(phi[2], continued);
    written_[begin] = static_cast<std::uint32_t>(written_.size() - begin) << 16 |
                      static_cast<std::uint32_t>(Op::phi);
  }

  std::vector<Instruction> instructions_;
  std::size_t functions_ = 0;  // where they begin
  ConstantValues values_;
  std::vector<bool> is_left_out_;  // by id
  // By label; 0 for none.
  std::vector<std::uint32_t> loop_continued_by_;
  std::vector<std::uint32_t> continue_of_loop_;
  std::vector<bool> is_merge_;
  std::vector<std::uint32_t> written_;
};

}  // namespace

std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> module,
                                       std::span<const std::uint32_t> constants,
                                       std::span<const std::uint32_t> of_device) {
  return Writer(module, {constants, of_device}).write();
}

}  // namespace dmlop::gpu::vulkan
