// The largest errors of operators over the sweeps of their tests, as shares of their default
// tolerances: held to specs/measurements.json, and measured anew with
//   DMLOP_MEASURED_ERRORS=FILE build/dmlop_tests --source-file='*/operators/*'
// which writes the rows of one device to FILE. With DMLOP_TEST_BACKENDS=gpu it is the GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "spec/spec.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::test {

/// A result beside the reference's, and where it was computed.
struct ErrorSample {
  const OperatorSpec& spec;
  DataType type;
  std::span<const std::byte> found, expected;
  bool is_on_gpu = false;
};

/// Takes note of how far the result is off.
void note_errors(const ErrorSample& sample);
/// The same, and checks that it is not much more than was published for this device, if anything
/// was. The sweeps of other machines may take sums in another order.
void check_errors(const ErrorSample& sample);

}  // namespace dmlop::test
