// What an operator computes: a short program of kernels over named tensors. Made from a checked
// description (ops/operator.hpp), run by a backend (job/backend.hpp). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernel.hpp"
#include "spec/description.hpp"

namespace dmlop {

enum class SlotKind : std::uint8_t { input, output, temporary };

/// A tensor of a plan. Outputs and temporaries are packed; an input is what its desc reaches.
struct Slot {
  SlotKind kind;
  std::string field;                   // the operator's field; of a temporary: what it holds
  std::optional<std::size_t> element;  // of an array of tensors
  std::uint64_t elements;
  std::size_t element_size;
  std::optional<DataType> data_type = {};  // of the description's tensors

  std::uint64_t bytes() const { return elements * element_size; }
};

/// One kernel over some of the plan's slots, given by their numbers, in the kernel's order. It
/// reads inputs and temporaries, and writes outputs and temporaries.
struct Pass {
  Kernel kernel;
  std::vector<std::size_t> reads;
  std::vector<std::size_t> writes;
};

/// Passes in order; each slot but the inputs is written by one pass, before any that reads it.
struct Plan {
  std::vector<Slot> slots;
  std::vector<Pass> passes;

  /// The numbers of the slots of a kind, in order.
  std::vector<std::size_t> slots_of(SlotKind kind) const;
  /// The slot of a tensor; nothing where the plan has none.
  std::optional<std::size_t> find(std::string_view field,
                                  std::optional<std::size_t> element = {}) const;
  /// The most bytes that temporaries have at a time: from the pass that writes one to the last that
  /// reads it.
  std::uint64_t temporary_bytes() const;
};

/// The last pass that reads or writes a slot.
std::size_t last_use(const Plan& plan, std::size_t slot);

class PlanBuilder {
 public:
  explicit PlanBuilder(const Description& description) : description_(&description) {}
  /// A plan that begins with these slots; no description names others.
  explicit PlanBuilder(std::vector<Slot> slots);

  /// The slot of a tensor of the description; nothing where an optional one is left out.
  std::optional<std::size_t> find(std::string_view field, std::optional<std::size_t> element = {});
  /// The slot of a tensor that is there.
  std::size_t tensor(std::string_view field, std::optional<std::size_t> element = {});
  /// A new temporary. `what` says in a message what it holds: "the sums".
  std::size_t temporary(std::string what, std::uint64_t elements, std::size_t element_size);

  /// Errors: std::logic_error where the slots are not as Pass and Plan say, or do not have the
  /// kernel's elements.
  void add(Kernel kernel, std::vector<std::size_t> reads, std::vector<std::size_t> writes);

  Plan take() { return std::move(plan_); }

 private:
  const Description* description_ = nullptr;
  Plan plan_;
  std::vector<bool> is_written_;
};

/// The plan of one kernel over tensors of the description.
Plan single_pass(const Description& description, Kernel kernel,
                 const std::vector<std::string_view>& inputs, std::string_view output);

}  // namespace dmlop
