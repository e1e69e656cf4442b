#include "spec/tolerance_reader.hpp"

#include <limits>

namespace dmlop {

Tolerance read_tolerance(FieldReader& reader, const json::Value& value, const std::string& name) {
  Tolerance tolerance{.origin = name};
  if (value.kind != json::Value::Kind::object) {
    reader.expected(value, name, "an object such as {\"rtol\": 1e-5, \"atol\": 1e-8}",
                    "write {\"rtol\": 1e-5}, for example");
    return tolerance;
  }
  reader.refuse_unknown(value, {"rtol", "atol", "ulp", "nan", "allowTrivial"}, "a tolerance");
  if (const json::Value* rtol = value.find("rtol"))
    tolerance.rtol = reader.nonnegative(*rtol, name + ".rtol");
  if (const json::Value* atol = value.find("atol"))
    tolerance.atol = reader.nonnegative(*atol, name + ".atol");
  if (const json::Value* ulp = value.find("ulp")) {
    const auto number =
        reader.integer(*ulp, name + ".ulp", "ULP", 0, std::numeric_limits<std::int64_t>::max());
    if (number) tolerance.ulp = static_cast<std::uint64_t>(*number);
  }
  if (const json::Value* nan = value.find("nan"))
    tolerance.nan_equals_nan = reader.name_of(*nan, name + ".nan", {"equal", "differ"}, "") != 1;
  if (const json::Value* trivial = value.find("allowTrivial"))
    tolerance.allow_trivial = reader.boolean(*trivial, name + ".allowTrivial").value_or(false);
  return tolerance;
}

}  // namespace dmlop
