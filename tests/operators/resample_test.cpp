// The resampling operators and their gradients.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "plan_case.hpp"
#include "reference/resampling.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::resample_test {
namespace {

/// Any strides, and halves from 0.5 to 16: nothing cancels out.
Tensor random_halves(DataType type, const List& sizes, Random& random) {
  if (!is_floating(type)) return random_tensor(type, sizes, random);
  Tensor tensor = random_tensor(type, sizes, random);
  for_each_index(sizes, [&](const Index& i) {
    const double value = static_cast<double>(random.from_to(1, 32)) / 2;
    std::memcpy(tensor.at(i), element(type, value).data(), tensor.element_size());
  });
  return tensor;
}

const char* mode_of(Rounding rounding) {
  return rounding == Rounding::linear ? "LINEAR" : "NEAREST_NEIGHBOR";
}

nlohmann::ordered_json fields_of(const Resampling& resampling) {
  return {{"InterpolationMode", mode_of(resampling.rounding)},
          {"DimensionCount", resampling.scales.size()},
          {"Scales", resampling.scales},
          {"InputPixelOffsets", resampling.input_offsets},
          {"OutputPixelOffsets", resampling.output_offsets}};
}

nlohmann::ordered_json with_rounding(const Resampling& resampling) {
  auto fields = fields_of(resampling);
  fields["RoundingDirection"] = resampling.rounding == Rounding::up ? "INCREASING" : "DECREASING";
  return fields;
}

PlanCase forward_case(const std::string& name, const nlohmann::ordered_json& fields,
                      const Tensor& input, const Tensor& output) {
  return {"DML_OPERATOR_" + name,
          fields,
          {{"InputTensor", input}},
          {{"OutputTensor", output, std::nullopt, 1}}};
}

PlanCase gradient_case(const std::string& name, const nlohmann::ordered_json& fields,
                       const Tensor& input, const Tensor& output) {
  return {"DML_OPERATOR_" + name,
          fields,
          {{"InputGradientTensor", input}},
          {{"OutputGradientTensor", output, std::nullopt, 1}}};
}

Resampling centered(Rounding rounding, const std::vector<float>& scales) {
  return {rounding, scales, std::vector<float>(scales.size(), 0.5F),
          std::vector<float>(scales.size(), -0.5F)};
}

TEST_CASE("RESAMPLE: elements have their centers at 0.5, and edges go on") {
  const Tensor input = floats({1, 2}, {0, 4});
  const nlohmann::ordered_json linear{
      {"InterpolationMode", "LINEAR"}, {"ScaleCount", 2}, {"Scales", {1, 2}}};
  check_plan_case(forward_case("RESAMPLE", linear, input, floats({1, 4}, {0, 1, 3, 4})));
  const nlohmann::ordered_json nearest{
      {"InterpolationMode", "NEAREST_NEIGHBOR"}, {"ScaleCount", 2}, {"Scales", {2, 2}}};
  check_plan_case(
      forward_case("RESAMPLE", nearest, input, floats({2, 4}, {0, 0, 4, 4, 0, 0, 4, 4})));
}

TEST_CASE("RESAMPLE2: halfway between two elements the direction decides") {
  const Tensor input = floats({4}, {1, 2, 3, 4});
  const auto down = centered(Rounding::down, {0.5F}), up = centered(Rounding::up, {0.5F});
  check_plan_case(forward_case("RESAMPLE2", with_rounding(down), input, floats({2}, {1, 3})));
  check_plan_case(forward_case("RESAMPLE2", with_rounding(up), input, floats({2}, {2, 4})));
}

/// What DirectML took for the ONNX operator Resize where outputs lie on elements, or halfway
/// between two of them, but for the rounding of scales.
struct Ties {
  Resampling resampling;
  std::vector<float> rows, columns;  // of a tensor of 12 rows and 10 columns
};

Resampling of_two(Rounding rounding, const std::vector<float>& scales, float input_offset,
                  float output_offset) {
  return {rounding, scales, {input_offset, input_offset}, {output_offset, output_offset}};
}

TEST_CASE("RESAMPLE3: what lies on an element, or halfway, goes where DirectML's floats fall") {
  const std::vector<Ties> recorded{
      {of_two(Rounding::up, {1.1F, 0.45F}, 0, 0),
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11},
       {0, 3, 5, 7}},
      {of_two(Rounding::up, {0.6F, 1.2F}, 1, -0.5F),
       {0, 2, 4, 5, 7, 9, 10},
       {0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9}},
      {of_two(Rounding::down, {1.1F, 0.75F}, 0, 0),
       {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10},
       {0, 1, 2, 4, 5, 6, 8}},
      {of_two(Rounding::down, {0.7F, 0.3F}, 0, -0.5F), {0, 2, 3, 5, 6, 7, 9, 10}, {1, 5, 8}}};
  Tensor input = Tensor::packed(DataType::Float32, {12, 10});
  for_each_index(input.sizes, [&](const Index& i) {
    const auto place = static_cast<float>(100 * i[0] + i[1]);
    std::memcpy(input.at(i), &place, sizeof place);
  });
  for (const auto& [resampling, rows, columns] : recorded) {
    std::vector<float> taken;
    for (const float row : rows) {
      for (const float column : columns) taken.push_back(100 * row + column);
    }
    auto fields = with_rounding(resampling);
    fields["Antialiased"] = false;
    const Tensor output = floats({rows.size(), columns.size()}, taken);
    check_plan_case(forward_case("RESAMPLE3", fields, input, output));
    CHECK(resampling.result(input, output.sizes).bytes == output.bytes);
  }
}

TEST_CASE("RESAMPLE_GRAD1: gradients go back to the elements that were taken") {
  // Outputs lie on element o / 1.1, which for 11 is 10 in float and a little less in double.
  const Resampling back{Rounding::down, {1.1F}, {0}, {0}};
  const Tensor gradient = floats({13}, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096});
  const Tensor output = floats({12}, {3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048 + 4096, 0});
  check_plan_case(gradient_case("RESAMPLE_GRAD1", with_rounding(back), gradient, output));
}

TEST_CASE("RESAMPLE: an element of weight 0 has no part, also infinity and NaN") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Resampling same{Rounding::linear, {0.5F}, {0}, {0}};
  check_plan_case(forward_case("RESAMPLE1", fields_of(same),
                               floats({4}, {1, infinity, 3, infinity - infinity}),
                               floats({2}, {1, 3})));
}

// The first output lies just behind an element: the next one is a tap, whose weight rounds to 0.
TEST_CASE("RESAMPLE: nor has one whose weight is too small for a number") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), tiny = -1e-30F;
  const Resampling row{Rounding::linear, {0.5F}, {tiny}, {0}};
  check_plan_case(forward_case("RESAMPLE1", fields_of(row), floats({4}, {1, infinity, 3, 5}),
                               floats({2}, {1, 3})));
  check_plan_case(gradient_case("RESAMPLE_GRAD", fields_of(row), floats({2}, {infinity, 3}),
                                floats({4}, {infinity, 0, 3, 0})));
  const Resampling image{Rounding::linear, {0.5F, 0.5F}, {tiny, tiny}, {0, 0}};
  check_plan_case(forward_case("RESAMPLE1", fields_of(image),
                               floats({3, 4}, {1, infinity, 3, 5, infinity, infinity, infinity,
                                               infinity, 5, infinity, 7, 5}),
                               floats({2, 2}, {1, 3, 5, 7})));
}

TEST_CASE("RESAMPLE3: antialiasing averages what an output covers") {
  auto resampling = centered(Rounding::linear, {0.25F});
  const Tensor input = floats({8}, {1, 2, 3, 6, 0, 0, 8, 0});
  auto fields = with_rounding(resampling);
  fields["Antialiased"] = true;
  check_plan_case(forward_case("RESAMPLE3", fields, input, floats({2}, {3, 2})));
  fields["Antialiased"] = false;
  check_plan_case(forward_case("RESAMPLE3", fields, input, floats({2}, {2.5, 4})));
}

TEST_CASE("UPSAMPLE_2D: height and width become larger by whole factors") {
  const Tensor input = floats({1, 1, 1, 2}, {0, 6});
  nlohmann::ordered_json fields{{"ScaleSize", {{"Width", 2}, {"Height", 2}}},
                                {"InterpolationMode", "NEAREST_NEIGHBOR"}};
  check_plan_case(
      forward_case("UPSAMPLE_2D", fields, input, floats({1, 1, 2, 4}, {0, 0, 6, 6, 0, 0, 6, 6})));
  fields["InterpolationMode"] = "LINEAR";
  check_plan_case(forward_case("UPSAMPLE_2D", fields, input,
                               floats({1, 1, 2, 4}, {0, 1.5, 4.5, 6, 0, 1.5, 4.5, 6})));
}

TEST_CASE("RESAMPLE_GRAD: the page's example, with elements at their corners") {
  // Outputs 0, 1 and 2 lie at -0.5, 1 / 6 and 5 / 6 of the width.
  const Resampling corners{Rounding::nearest, {1, 1, 0.5F, 1.5F}, {0, 0, 0, 0}, {0, 0, 0.5F, 0.5F}};
  check_plan_case(gradient_case("RESAMPLE_GRAD", fields_of(corners),
                                floats({1, 1, 1, 3}, {4, 5, 6}),
                                floats({1, 1, 2, 2}, {9, 6, 0, 0})));
}

/// Scales of all kinds, most of them powers of two.
struct RandomResampling {
  Resampling resampling;
  List input, output;
};
RandomResampling random_resampling(Random& random, std::size_t dimensions, Rounding rounding,
                                   bool is_antialiased) {
  RandomResampling made{.resampling = {.rounding = rounding, .is_antialiased = is_antialiased}};
  for (std::size_t i = 0; i < dimensions; ++i) {
    const bool is_copied = random.one_in(3);
    const float scale =
        is_copied ? 1 : random.one_of<float>({0.125F, 0.25F, 0.5F, 2, 4, 1, 0.3F, 1.7F, 1 / 3.0F});
    made.input.push_back(random.from_to(1, random.one_in(5) ? 20 : 5));
    const double wanted = static_cast<double>(made.input.back()) * double{scale};
    made.output.push_back(random.one_in(4)
                              ? random.from_to(1, 8)
                              : std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted)));
    const auto offset = [&](float otherwise) {
      return is_copied || random.one_in(2) ? otherwise : random.one_of<float>({0, 0.25F, 0.75F});
    };
    made.resampling.scales.push_back(scale);
    made.resampling.input_offsets.push_back(offset(0.5F));
    made.resampling.output_offsets.push_back(-offset(0.5F));
  }
  return made;
}

TEST_CASE("RESAMPLE1, 2 and 3: random scales, offsets and sizes") {
  Random random(71);
  const Types types{DataType::Float32, DataType::Float16, DataType::Int8, DataType::UInt8};
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of(types);
    const std::uint64_t number = random.from_to(1, 3);
    const bool is_float = is_floating(type), is_antialiased = number == 3 && random.one_in(2);
    Rounding rounding = Rounding::linear;
    if (random.one_in(2)) {
      rounding = number > 1 ? random.one_of<Rounding>({Rounding::down, Rounding::up})
                 : is_float ? Rounding::nearest
                            : Rounding::down;
    }
    const auto [resampling, input_sizes, output_sizes] =
        random_resampling(random, random.from_to(1, 4), rounding, is_antialiased);
    const Tensor input = random_halves(type, input_sizes, random);
    auto fields = number == 1 ? fields_of(resampling) : with_rounding(resampling);
    if (number == 3) fields["Antialiased"] = is_antialiased;
    check_plan_case(forward_case("RESAMPLE" + std::to_string(number), fields, input,
                                 resampling.result(input, output_sizes)));
  }
}

TEST_CASE("RESAMPLE_GRAD and 1: random scales, offsets and sizes") {
  Random random(72);
  for (int i = 0; i < 200; ++i) {
    const bool has_direction = random.one_in(2);
    Rounding rounding = Rounding::linear;
    if (random.one_in(2)) {
      rounding = has_direction ? random.one_of<Rounding>({Rounding::down, Rounding::up})
                               : Rounding::nearest;
    }
    const auto [resampling, sizes, gradient_sizes] =
        random_resampling(random, random.from_to(1, 4), rounding, false);
    const Tensor gradient = random_halves(random.one_of(F2), gradient_sizes, random);
    check_plan_case(gradient_case(has_direction ? "RESAMPLE_GRAD1" : "RESAMPLE_GRAD",
                                  has_direction ? with_rounding(resampling) : fields_of(resampling),
                                  gradient, resampling.gradient(gradient, sizes)));
  }
}

TEST_CASE("RESAMPLE1: rows longer than what is computed at once") {
  Random random(73);
  for (const float scale : {3.0F, 0.01F, 0.7F}) {
    const Resampling resampling = centered(Rounding::linear, {1, scale});
    const auto width = static_cast<std::uint64_t>(4000 * scale);
    const Tensor input = random_halves(DataType::Float32, {2, 4000}, random);
    check_plan_case(forward_case("RESAMPLE1", fields_of(resampling), input,
                                 resampling.result(input, {2, width})));
    const Tensor gradient = random_halves(DataType::Float32, {2, width}, random);
    check_plan_case(gradient_case("RESAMPLE_GRAD", fields_of(resampling), gradient,
                                  resampling.gradient(gradient, {2, 4000})));
  }
}

// Rows end with infinity, which has no part in the row behind it.
Tensor image_with_infinities(DataType type, const List& sizes, Random& random) {
  Tensor tensor = Tensor::packed(type, sizes);
  for_each_index(sizes, [&](const Index& i) {
    const double number = static_cast<double>(random.from_to(1, 32)) / 2;
    const bool is_last = i.back() + 1 == sizes.back();
    const double value = is_last ? std::numeric_limits<double>::infinity() : number;
    std::memcpy(tensor.at(i), element(type, value).data(), tensor.element_size());
  });
  return tensor;
}

TEST_CASE("RESAMPLE2: images that become larger by whole factors") {
  Random random(77);
  for (const DataType type : F2) {
    for (const Rounding rounding : {Rounding::linear, Rounding::down}) {
      for (const std::vector<float>& scales : {std::vector<float>{1, 2, 2}, {1, 1, 4}, {1, 3, 3}}) {
        const Resampling resampling = centered(rounding, scales);
        const auto larger = [](std::uint64_t size, float scale) {
          return size * static_cast<std::uint64_t>(scale);
        };
        const List sizes{2, 5, 24};
        const Tensor input = image_with_infinities(type, sizes, random);
        check_plan_case(forward_case(
            "RESAMPLE2", with_rounding(resampling), input,
            resampling.result(input, {2, larger(5, scales[1]), larger(24, scales[2])})));
      }
    }
  }
}

}  // namespace
}  // namespace dmlop::test::resample_test
