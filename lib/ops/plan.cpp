#include "ops/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "tensor/layout.hpp"

namespace dmlop {
namespace {

void require(bool condition, const std::string& rule) {
  if (!condition) throw std::logic_error("a plan: " + rule);
}

bool is_among(std::size_t slot, const std::vector<std::size_t>& slots) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

std::uint64_t elements_of(const TensorDesc& desc, bool is_input) {
  if (is_input && desc.strides) return reached_elements(desc.sizes, *desc.strides).value_or(0);
  return element_count(desc.sizes).value_or(0);
}

}  // namespace

std::vector<std::size_t> Plan::slots_of(SlotKind kind) const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].kind == kind) numbers.push_back(i);
  }
  return numbers;
}

std::uint64_t Plan::temporary_bytes() const {
  std::uint64_t most = 0;
  for (std::size_t at = 0; at < passes.size(); ++at) {
    std::uint64_t live = 0;
    for (const std::size_t slot : slots_of(SlotKind::temporary)) {
      const auto writes_it = [&](const Pass& pass) { return is_among(slot, pass.writes); };
      const auto writer = std::find_if(passes.begin(), passes.end(), writes_it);
      if (writer - passes.begin() <= static_cast<std::ptrdiff_t>(at) && at <= last_use(*this, slot))
        live += slots[slot].bytes();
    }
    most = std::max(most, live);
  }
  return most;
}

std::size_t last_use(const Plan& plan, std::size_t slot) {
  std::size_t last = 0;
  for (std::size_t at = 0; at < plan.passes.size(); ++at) {
    const Pass& pass = plan.passes[at];
    if (is_among(slot, pass.reads) || is_among(slot, pass.writes)) last = at;
  }
  return last;
}

std::optional<std::size_t> Plan::find(std::string_view field,
                                      std::optional<std::size_t> element) const {
  const auto is_it = [&](const Slot& slot) {
    return slot.kind != SlotKind::temporary && slot.field == field && slot.element == element;
  };
  const auto found = std::find_if(slots.begin(), slots.end(), is_it);
  return found == slots.end() ? std::nullopt : std::optional(found - slots.begin());
}

PlanBuilder::PlanBuilder(std::vector<Slot> slots) : plan_{std::move(slots), {}} {
  for (const Slot& slot : plan_.slots) is_written_.push_back(slot.kind == SlotKind::input);
}

std::optional<std::size_t> PlanBuilder::find(std::string_view field,
                                             std::optional<std::size_t> element) {
  if (const auto slot = plan_.find(field, element)) return slot;
  if (description_ == nullptr) return std::nullopt;
  const TensorDesc* desc = description_->find_tensor(std::string(field), element);
  if (desc == nullptr) return std::nullopt;
  const bool is_input = description_->spec->find_field(std::string(field))->is_input();
  plan_.slots.push_back({is_input ? SlotKind::input : SlotKind::output, std::string(field), element,
                         elements_of(*desc, is_input), size_of(*desc->data_type),
                         *desc->data_type});
  is_written_.push_back(is_input);
  return plan_.slots.size() - 1;
}

std::size_t PlanBuilder::tensor(std::string_view field, std::optional<std::size_t> element) {
  const auto slot = find(field, element);
  require(slot.has_value(), "there is no " + std::string(field));
  return *slot;
}

std::size_t PlanBuilder::temporary(std::string what, std::uint64_t elements,
                                   std::size_t element_size) {
  plan_.slots.push_back(
      {SlotKind::temporary, std::move(what), std::nullopt, elements, element_size});
  is_written_.push_back(false);
  return plan_.slots.size() - 1;
}

void PlanBuilder::add(Kernel kernel, std::vector<std::size_t> reads,
                      std::vector<std::size_t> writes) {
  for (const std::size_t slot : reads) {
    require(plan_.slots.at(slot).kind != SlotKind::output, "an output is not read");
    require(is_written_[slot], "a temporary is written before it is read");
  }
  require(writes.size() == output_count(kernel), "each of the kernel's outputs has a slot");
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const Slot& slot = plan_.slots.at(writes[i]);
    require(!is_written_[writes[i]], "a slot is written once, and an input never");
    require(slot.elements == output_elements(kernel) &&
                slot.element_size == output_element_size(kernel, i),
            slot.field + " has the elements that its kernel writes");
    is_written_[writes[i]] = true;
  }
  plan_.passes.push_back({std::move(kernel), std::move(reads), std::move(writes)});
}

Plan single_pass(const Description& description, Kernel kernel,
                 const std::vector<std::string_view>& inputs, std::string_view output) {
  PlanBuilder plan(description);
  std::vector<std::size_t> reads;
  for (const std::string_view input : inputs) reads.push_back(plan.tensor(input));
  plan.add(std::move(kernel), std::move(reads), {plan.tensor(output)});
  return plan.take();
}

}  // namespace dmlop
