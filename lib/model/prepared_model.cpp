#include "model/prepared_model.hpp"

#include <algorithm>

#include "base/buffer.hpp"
#include "base/text.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

std::vector<bool> written_resources(const Model& model) {
  std::vector<bool> is_written(model.resources.size());
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const OperatorSpec& spec = *model.dispatchables[dispatch->dispatchable].description->spec;
    for (const TensorBinding& binding : dispatch->bindings) {
      if (spec.find_field(binding.tensor)->is_output()) is_written[binding.range.resource] = true;
    }
  }
  return is_written;
}

}  // namespace

PreparedModel::PreparedModel(const Model& model, Keep keep)
    : model_(model),
      is_written_(written_resources(model)),
      is_kept_(model.resources.size()),
      dispatches_(model.dispatchables.size()),
      plans_(model.dispatchables.size()),
      host_plans_(model.dispatchables.size()),
      constants_(model.resources.size()) {
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch != nullptr) dispatches_[dispatch->dispatchable].push_back(dispatch);
  }
  if (keep == Keep::plans) return;
  for (std::size_t i = 0; i < is_kept_.size(); ++i)
    is_kept_[i] = !is_written_[i] && model.resources[i].initial.fill;
}

const Plan& PreparedModel::plan(std::size_t dispatchable) {
  const std::scoped_lock lock(mutex_);
  return made_plan(dispatchable);
}

HostPlan& PreparedModel::host_plan(std::size_t dispatchable) {
  const std::scoped_lock lock(mutex_);
  auto& host_plan = host_plans_[dispatchable];
  if (!host_plan) {
    const Plan& plan = made_plan(dispatchable);
    std::vector<bool> are_constant;
    for (const Slot& slot : plan.slots) are_constant.push_back(is_constant(dispatchable, slot));
    host_plan = std::make_unique<HostPlan>(plan, are_constant);
  }
  return *host_plan;
}

// Whether all dispatches read the same constant.
bool PreparedModel::is_constant(std::size_t dispatchable, const Slot& slot) const {
  if (slot.kind != SlotKind::input) return false;
  const auto constant_of = [&](const DispatchCommand& dispatch) -> const BufferRange* {
    const auto binding = std::ranges::find_if(dispatch.bindings, [&](const TensorBinding& one) {
      return one.is(slot.field, slot.element);
    });
    const bool is_there = binding != dispatch.bindings.end() && is_kept_[binding->range.resource];
    return is_there ? &binding->range : nullptr;
  };
  const auto& dispatches = dispatches_[dispatchable];
  const BufferRange* first = dispatches.empty() ? nullptr : constant_of(*dispatches.front());
  return first != nullptr && std::ranges::all_of(dispatches, [&](const DispatchCommand* dispatch) {
           const BufferRange* other = constant_of(*dispatch);
           return other != nullptr && *other == *first;
         });
}

const Plan& PreparedModel::made_plan(std::size_t dispatchable) {
  auto& plan = plans_[dispatchable];
  if (!plan)
    plan = std::make_unique<const Plan>(make_plan(*model_.dispatchables[dispatchable].description));
  return *plan;
}

std::shared_ptr<gpu::ResidentBuffer> PreparedModel::constant(std::size_t resource) {
  const std::scoped_lock lock(mutex_);
  return constants_[resource];
}

void PreparedModel::keep_constant(std::size_t resource,
                                  std::shared_ptr<gpu::ResidentBuffer> buffer) {
  const std::scoped_lock lock(mutex_);
  constants_[resource] = std::move(buffer);
}

bool PreparedModel::give_up_constants() {
  std::vector<std::shared_ptr<gpu::ResidentBuffer>> given_up(constants_.size());
  const std::scoped_lock lock(mutex_);
  constants_.swap(given_up);
  return std::ranges::any_of(given_up, [](const auto& buffer) { return buffer != nullptr; });
}

void keep_constants_in_memory(Model& model) {
  const std::vector<bool> is_written = written_resources(model);
  for (std::size_t i = 0; i < model.resources.size(); ++i) {
    Resource& resource = model.resources[i];
    InitialValues& initial = resource.initial;
    const bool is_mapped = initial.mapped.size() >= resource.size;
    if (is_written[i] || !initial.fill || is_mapped || resource.offset != 0) continue;
    const auto memory =
        std::make_shared<Buffer>(resource.size, '"' + printable(resource.name) + '"');
    initial.fill(memory->bytes().first(initial.bytes));
    // The file or the text that the values come from is let go.
    const auto fill = [memory](std::span<std::byte> to) {
      copy_in_pieces(memory->bytes().first(to.size()), to.data());
    };
    initial = {.data_type = initial.data_type,
               .bytes = initial.bytes,
               .fill = fill,
               .mapped = memory->bytes()};
  }
}

}  // namespace dmlop
