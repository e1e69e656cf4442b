// How far the results of a model may be from expected ones.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/model.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

/// The tolerance of what each dispatch writes. Without a criterion of the user's, it is that of the
/// writing operator. An exact operator, such as a transpose or a sum, only passes on what its
/// inputs are off by: its results get the largest tolerance of its inputs. A product gets the atol
/// times the largest factor, and none where that is not known before the model runs.
class ResultTolerances {
 public:
  /// The user's tolerance wins over those of operators where it has a criterion.
  ResultTolerances(const Model& model, const std::optional<Tolerance>& given);

  /// Of what the last dispatch left in a resource.
  const Tolerance& of(std::size_t resource) const { return tolerances_[resource]; }

 private:
  std::vector<Tolerance> tolerances_;  // by resource
};

}  // namespace dmlop
