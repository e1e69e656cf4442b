// What a Runner of <dmlop/dmlop.hpp> holds.
#pragma once

#include "interface/prepared_programs.hpp"
#include "interface/translate.hpp"
#include "job/backend.hpp"

namespace dmlop {

struct Runner::State {
  Backend backend;
  ExecutionOptions execution;
  std::shared_ptr<PreparedPrograms> programs = std::make_shared<PreparedPrograms>();

  State(Backend opened, const ExecutionOptions& options)
      : backend(std::move(opened)), execution(options) {
    backend.give_up_with([kept = programs.get()] { return kept->give_up_constants(); });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { programs->clear(); }
};

}  // namespace dmlop
