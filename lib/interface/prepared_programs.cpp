#include "interface/prepared_programs.hpp"

#include <algorithm>

namespace dmlop {

std::shared_ptr<PreparedModel> PreparedPrograms::find(const Model& model) {
  Models& models = models_.get();
  const std::scoped_lock lock(models.mutex);
  std::shared_ptr<PreparedModel>& prepared = models.by_model[&model];
  if (!prepared)
    prepared = std::make_shared<PreparedModel>(model, PreparedModel::Keep::plans_and_constants);
  return prepared;
}

void PreparedPrograms::forget(const Model& model) noexcept {
  Models* const models = models_.find();
  if (models == nullptr) return;
  const std::scoped_lock lock(models->mutex);
  models->by_model.erase(&model);
}

bool PreparedPrograms::give_up_constants() {
  Models& models = models_.get();
  const std::scoped_lock lock(models.mutex);
  bool was_any = false;
  for (const auto& [model, prepared] : models.by_model)
    was_any = prepared->give_up_constants() || was_any;
  return was_any;
}

void PreparedPrograms::clear() noexcept {
  Models* const models = models_.find();
  if (models == nullptr) return;
  const std::scoped_lock lock(models->mutex);
  models->by_model.clear();
}

Runners::~Runners() {
  List* const list = list_.find();
  if (list == nullptr) return;
  for (const auto& runner : list->runners) {
    if (const auto still_there = runner.lock()) still_there->forget(model_);
  }
}

std::shared_ptr<PreparedModel> Runners::prepared_by(
    const std::shared_ptr<PreparedPrograms>& runner) {
  List& list = list_.get();
  const std::scoped_lock lock(list.mutex);
  const auto is_it = [&](const auto& other) {
    return !other.owner_before(runner) && !runner.owner_before(other);
  };
  if (std::ranges::none_of(list.runners, is_it)) {
    std::erase_if(list.runners, [](const auto& other) { return other.expired(); });
    list.runners.push_back(runner);
  }
  return runner->find(model_);
}

}  // namespace dmlop
