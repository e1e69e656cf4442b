// Files of models are read where they are mapped, so others may change them meanwhile.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>

#include "folder.hpp"
#include "model.hpp"
#include "model/runtime.hpp"

namespace dmlop::test::mapped_values_test {
namespace {

constexpr std::size_t count = 1'000'000;  // so many that the file is mapped

std::string ones_or_twos(float value) {
  const std::vector<float> values(count, value);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// A model that adds the file x.raw to itself, and writes the sums to y or to x.
class RawModel : public Folder {
 public:
  explicit RawModel(const std::string& sums = "y") {
    write("x.raw", ones_or_twos(1));
    const std::string desc = R"({"DataType": "FLOAT32", "Sizes": [1000000]})";
    model = valid_model(
        R"({"resources": {"x": {"initialValuesDataType": "FLOAT32",
              "initialValues": {"sourcePath": "x.raw"}},
            "y": {"initialValuesDataType": "FLOAT32",
              "initialValues": {"valueCount": 1000000, "value": 0}}},
          "dispatchables": {"add": {"type": "ELEMENT_WISE_ADD", "desc": {"ATensor": )" +
            desc + R"(, "BTensor": )" + desc + R"(, "OutputTensor": )" + desc + R"(}}},
          "commands": [{"type": "dispatch", "dispatchable": "add",
            "bindings": {"ATensor": "x", "BTensor": "x", "OutputTensor": ")" +
            sums + R"("}}]})",
        {.input_folder = path()});
  }
  const DispatchCommand& add() const { return std::get<DispatchCommand>(model.commands[0]); }
  /// Writes over the file without making a new one.
  void overwrite() const {
    std::fstream file(to_path(path()) / "x.raw", std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes = ones_or_twos(2);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  Model model;
};

float first(std::span<const std::byte> bytes) {
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

TEST_CASE("mapped values: a dispatch reads them, and what was asked for stays as it was") {
  const RawModel raw;
  Backend cpu;
  Runtime runtime(raw.model, cpu, {});
  runtime.dispatch(raw.add());
  CHECK(first(runtime.contents(1)) == 2);
  const auto contents = runtime.contents(0);
  CHECK(first(contents) == 1);
  raw.overwrite();
  CHECK(first(contents) == 1);
  CHECK(first(runtime.contents(0)) == 1);
  // The copy is what later dispatches read.
  runtime.dispatch(raw.add());
  CHECK(first(runtime.contents(1)) == 2);
}

TEST_CASE("mapped values: a dispatch that writes over them leaves the file as it is") {
  const RawModel raw("x");
  Backend cpu;
  Runtime runtime(raw.model, cpu, {});
  runtime.dispatch(raw.add());
  CHECK(first(runtime.contents(0)) == 2);
  Runtime other(raw.model, cpu, {});
  CHECK(first(other.contents(0)) == 1);
}

TEST_CASE("mapped values: a file that changed meanwhile ends a dispatch, and is not handed out") {
  const RawModel raw;
  Backend cpu;
  Runtime runtime(raw.model, cpu, {});
  raw.overwrite();
  const auto refuses = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::io_failed;
    }
    return false;
  };
  CHECK(refuses([&] { runtime.dispatch(raw.add()); }));
  CHECK(refuses([&] { runtime.contents(0); }));
}

}  // namespace
}  // namespace dmlop::test::mapped_values_test
