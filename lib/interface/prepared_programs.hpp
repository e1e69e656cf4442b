// What a Runner of <dmlop/dmlop.hpp> keeps of the programs that it ran, until they are gone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/per_process.hpp"
#include "model/prepared_model.hpp"

namespace dmlop {

/// Of one runner, by the model of each program. Several threads may use it.
class PreparedPrograms {
 public:
  /// What the runs of a model share. The model must not go before forget() was called.
  std::shared_ptr<PreparedModel> find(const Model& model);
  void forget(const Model& model) noexcept;
  /// Gives the constants of all back that no run holds. False if there was none.
  bool give_up_constants();
  /// Forgets all. What is on a device goes before the device: threads that have found this object
  /// by a weak pointer may hold it a moment longer than its runner.
  void clear() noexcept;

 private:
  struct Models {
    std::mutex mutex;
    std::map<const Model*, std::shared_ptr<PreparedModel>> by_model;
  };
  PerProcess<Models> models_;
};

/// Belongs to a program, and lets the runners that ran it forget its model.
class Runners {
 public:
  explicit Runners(const Model& model) : model_(model) {}
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;
  ~Runners();
  /// What the runs of the model share on this runner.
  std::shared_ptr<PreparedModel> prepared_by(const std::shared_ptr<PreparedPrograms>& runner);

 private:
  struct List {
    std::mutex mutex;
    std::vector<std::weak_ptr<PreparedPrograms>> runners;
  };
  const Model& model_;
  PerProcess<List> list_;
};

}  // namespace dmlop
