#include "model/tolerances.hpp"

#include <algorithm>
#include <cmath>

#include "compare/advice.hpp"
#include "job/job.hpp"
#include "model/outputs.hpp"

namespace dmlop {
namespace {

// Whether an operator is exact: its tolerance allows no more than zeros of either sign.
bool is_exact(const Tolerance& tolerance) {
  return !tolerance.rtol && !tolerance.atol && tolerance.ulp.value_or(0) == 0;
}

// The largest magnitude of what a buffer holds when the model starts; nothing if that is not known
// or too much to look at.
std::optional<double> largest_of(const InitialValues& values) {
  constexpr std::uint64_t bytes_most = 1 << 20;
  if (!values.data_type || !values.fill || values.bytes == 0 || values.bytes > bytes_most)
    return std::nullopt;
  std::vector<std::byte> bytes(values.bytes);
  values.fill(bytes);
  return largest_magnitude(
      Elements(*values.data_type, {bytes.size() / size_of(*values.data_type)}, bytes));
}

// By what an exact operator multiplies an input, and with it the error of that input; nothing if it
// is not known.
std::optional<double> factor_of(const Model& model, const DispatchCommand& command,
                                const TensorBinding& input,
                                const std::vector<Tolerance>& of_resources) {
  const Dispatchable& dispatchable = model.dispatchables[command.dispatchable];
  const Description& description = *dispatchable.description;
  for (const Field& field : description.fields) {
    if (const auto* scale = std::get_if<ScaleBias>(&field.value)) return std::abs(scale->scale);
  }
  if (description.spec->name != "ELEMENT_WISE_MULTIPLY") return 1;
  const char* other = input.tensor == "ATensor" ? "BTensor" : "ATensor";
  for (const auto* bindings : {&command.bindings, &dispatchable.owned}) {
    for (const TensorBinding& binding : *bindings) {
      const std::size_t resource = binding.range.resource;
      const bool is_computed = !of_resources[resource].origin.empty();  // a dispatch wrote it
      if (binding.tensor == other && !is_computed)
        return largest_of(model.resources[resource].initial);
    }
  }
  return std::nullopt;
}

// The tolerance of numbers that were converted to another floating-point type.
Tolerance converted(Tolerance tolerance, DataType from, DataType to) {
  if (from == to || is_exact(tolerance)) return tolerance;
  if (info(to).fraction < info(from).fraction) {
    tolerance.ulp = 1;  // they may lie on both sides of a number in the middle
    return tolerance;
  }
  if (!tolerance.ulp) return tolerance;
  const double unit = std::ldexp(1.0, -static_cast<int>(info(from).fraction));
  const double relative = static_cast<double>(*tolerance.ulp) * unit;
  tolerance.rtol = std::max(tolerance.rtol.value_or(0), relative);
  tolerance.ulp.reset();
  return tolerance;
}

// Makes a tolerance as large as another one.
void widen(Tolerance& tolerance, const Tolerance& other) {
  const auto take_larger = [&](auto& own, const auto& others) {
    if (!others || (own && *own >= *others)) return;
    own = others;
    tolerance.origin = other.origin;
  };
  take_larger(tolerance.rtol, other.rtol);
  take_larger(tolerance.atol, other.atol);
  take_larger(tolerance.ulp, other.ulp);
}

DataType type_of(const Description& description, const TensorBinding& binding) {
  return *description.find_tensor(binding.tensor, binding.element)->data_type;
}

// What an operator that is exact passes on of its inputs' tolerances.
Tolerance passed_on(const Model& model, const DispatchCommand& command, Tolerance own,
                    DataType type, const std::vector<Tolerance>& of_resources) {
  const Description& description = *model.dispatchables[command.dispatchable].description;
  for (const TensorBinding* input : inputs_of(model, command)) {
    const DataType from = type_of(description, *input);
    if (!is_floating(from)) continue;
    Tolerance inherited = converted(of_resources[input->range.resource], from, type);
    if (inherited.atol) {
      const auto factor = factor_of(model, command, *input, of_resources);
      const double atol = *inherited.atol * factor.value_or(0);
      inherited.atol = factor && std::isfinite(atol) ? std::optional(atol) : std::nullopt;
    }
    widen(own, inherited);
  }
  return own;
}

}  // namespace

ResultTolerances::ResultTolerances(const Model& model, const std::optional<Tolerance>& given)
    : tolerances_(model.resources.size()) {
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const Description& description = *model.dispatchables[dispatch->dispatchable].description;
    for (const TensorBinding* output : outputs_of(model, *dispatch)) {
      const DataType type = type_of(description, *output);
      Tolerance own = description.default_tolerance(type);
      if (is_exact(own) && is_floating(type))
        own = passed_on(model, *dispatch, std::move(own), type, tolerances_);
      tolerances_[output->range.resource] = std::move(own);
    }
  }
  for (Tolerance& tolerance : tolerances_) tolerance = with_default(given, std::move(tolerance));
}

}  // namespace dmlop
