// What a Runner of <dmlop/dmlop.hpp> holds.
#pragma once

#include "interface/prepared_programs.hpp"
#include "interface/translate.hpp"
#include "job/backend.hpp"

namespace dmlop {

struct Runner::State {
  Backend backend;
  ExecutionOptions execution;
  // Goes before the backend, whose device has constants of the programs.
  std::shared_ptr<PreparedPrograms> programs = std::make_shared<PreparedPrograms>();
};

}  // namespace dmlop
