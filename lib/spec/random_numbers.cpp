#include "spec/random_numbers.hpp"

#include <limits>

namespace dmlop {

std::string name_of(const RandomNumbers& numbers) {
  return std::string(numbers.is_normal ? "normal" : "random") + " numbers (seed " +
         std::to_string(numbers.seed) + ")";
}

std::optional<RandomNumbers> read_random_numbers(FieldReader& reader, const json::Value& value,
                                                 const std::string& name) {
  constexpr const char* example = "{\"random\": \"uniform\", \"seed\": 1}";
  const json::Value* kind = value.find("random");
  if (kind == nullptr) {
    reader.expected(value, name, std::string("the path of a .npy file, or ") + example,
                    std::string("write \"x.npy\" or ") + example);
    return std::nullopt;
  }
  reader.refuse_unknown(value, {"random", "seed"}, name);
  RandomNumbers numbers;
  const auto index = reader.name_of(*kind, name + ".random", {"uniform", "normal"}, "");
  if (!index) return std::nullopt;
  numbers.is_normal = *index == 1;
  if (const json::Value* seed = value.find("seed")) {
    const auto number = reader.integer(*seed, name + ".seed", "UINT64", 0,
                                       std::numeric_limits<std::int64_t>::max());
    if (!number) return std::nullopt;
    numbers.seed = static_cast<std::uint64_t>(*number);
  }
  return numbers;
}

}  // namespace dmlop
