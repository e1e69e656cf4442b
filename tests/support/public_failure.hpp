// How calls of the public C++ interface fail.
#pragma once

#include <doctest/doctest.h>

#include <dmlop/dmlop.hpp>

namespace dmlop::test {

/// Runs what must fail, and returns how it did.
template <typename Action>
Failure failure_of(Action&& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure;
  }
  FAIL("it does not fail");
  return {FailureKind::usage, ""};
}

}  // namespace dmlop::test
