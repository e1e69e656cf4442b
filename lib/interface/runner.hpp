// What a Runner of <dmlop/dmlop.hpp> holds.
#pragma once

#include "interface/translate.hpp"
#include "job/backend.hpp"

namespace dmlop {

struct Runner::State {
  Backend backend;
  ExecutionOptions execution;
};

}  // namespace dmlop
