// The C interface: what it does beyond the C++ one, which it stands on. samples/c/pad.c is C.
#include <dmlop/dmlop.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.hpp"
#include "paths.hpp"

namespace dmlop::test::c_interface_test {
namespace {

using Json = nlohmann::json;

const std::string samples = source_path("samples/");

/// What a call stored as its error: status, message and findings.
struct Outcome {
  dmlop_status status = DMLOP_DONE;
  std::string message;
  Json findings;
};

/// Calls `action` with a place for an error.
template <typename Action>
Outcome outcome_of(Action&& action) {
  dmlop_error* error = nullptr;
  const dmlop_status status = action(&error);
  Outcome outcome{status, dmlop_error_message(error), Json::parse(dmlop_error_findings(error))};
  if (error != nullptr) CHECK(dmlop_error_status(error) == status);
  CHECK((error != nullptr) == (status > DMLOP_DIFFERENT));
  dmlop_error_free(error);
  return outcome;
}

template <typename Action>
void succeed(Action&& action) {
  const Outcome outcome = outcome_of(action);
  CHECK(outcome.message == "");
  REQUIRE(outcome.status == DMLOP_DONE);
}

/// The text that a call stores.
template <typename Action>
Json json_of(Action&& action) {
  char* text = nullptr;
  succeed([&](dmlop_error** error) { return action(&text, error); });
  REQUIRE(text != nullptr);
  const Json json = Json::parse(text);
  dmlop_text_free(text);
  return json;
}

struct Cpu {
  Cpu() {
    dmlop_context_options options = DMLOP_CONTEXT_OPTIONS;
    options.device = "cpu";
    succeed([&](dmlop_error** error) { return dmlop_open(&options, &context, error); });
  }
  ~Cpu() { dmlop_close(context); }
  dmlop_context* context = nullptr;
};

dmlop_operation operation_of(const char* text) {
  dmlop_operation operation = DMLOP_OPERATION;
  operation.text = text;
  return operation;
}

const char* const edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})";

/// A vector of FLOAT32 and its struct.
struct Vector {
  explicit Vector(std::vector<float> numbers, const char* name = "InputTensor")
      : elements(std::move(numbers)), size(elements.size()) {
    tensor = {name, nullptr, elements.data(), 4 * size, &size, nullptr, 1, DMLOP_FLOAT32};
  }
  Vector(const Vector&) = delete;
  std::vector<float> elements;
  std::uint64_t size;
  dmlop_tensor tensor{};
};

std::vector<float> floats(const dmlop_tensor& tensor) {
  std::vector<float> numbers(tensor.bytes / 4);
  std::memcpy(numbers.data(), tensor.data, tensor.bytes);
  return numbers;
}

}  // namespace

TEST_CASE("C interface: a run makes memory for outputs, or takes the caller's") {
  const Cpu cpu;
  const Vector input({1, 2, 3});
  const dmlop_operation operation = operation_of(edge);
  dmlop_result* result = nullptr;
  succeed([&](dmlop_error** error) {
    return dmlop_run(cpu.context, &operation, &input.tensor, 1, nullptr, 0, nullptr, &result,
                     error);
  });
  dmlop_tensors outputs = dmlop_result_outputs(result);
  REQUIRE(outputs.count == 1);
  CHECK(std::string(outputs.items[0].name) == "OutputTensor");
  CHECK(outputs.items[0].rank == 1);
  CHECK(floats(outputs.items[0]) == std::vector<float>{1, 1, 2, 3, 3, 3});
  dmlop_result_free(result);

  Vector output(std::vector<float>(6), "OutputTensor");
  succeed([&](dmlop_error** error) {
    return dmlop_run(cpu.context, &operation, &input.tensor, 1, &output.tensor, 1, nullptr, nullptr,
                     error);
  });
  CHECK(output.elements == std::vector<float>{1, 1, 2, 3, 3, 3});
  output.tensor.bytes = 20;
  CHECK(outcome_of([&](dmlop_error** error) {
          return dmlop_run(cpu.context, &operation, &input.tensor, 1, &output.tensor, 1, nullptr,
                           nullptr, error);
        }).status == DMLOP_USAGE);
}

TEST_CASE("C interface: the struct of an output says nothing else than what is computed") {
  const Cpu cpu;
  const Vector input({1, 2, 3});
  const dmlop_operation operation = operation_of(edge);
  Vector output(std::vector<float>(6), "OutputTensor");
  const auto run = [&](dmlop_error** error) {
    return dmlop_run(cpu.context, &operation, &input.tensor, 1, &output.tensor, 1, nullptr, nullptr,
                     error);
  };
  const dmlop_tensor right = output.tensor;
  const auto refusal_of = [&](const dmlop_tensor& other) {
    output.tensor = other;
    const Outcome outcome = outcome_of(run);
    output.tensor = right;
    CHECK(outcome.status == DMLOP_USAGE);
    return outcome.message;
  };
  const std::uint64_t packed = 1, spread = 2, three = 3;
  void* const data = output.elements.data();
  CHECK(refusal_of({"OutputTensor", "y.npy", data, 24, nullptr, nullptr, 0, 0}) ==
        "outputs[0].path is \"y.npy\", but an output is written to memory: set path to NULL, and "
        "write the result with dmlop_write_npy");
  CHECK(
      refusal_of({"OutputTensor", nullptr, data, 24, nullptr, nullptr, 0, DMLOP_INT32}) ==
      "the buffer of OutputTensor has the type INT32, but OutputTensor has FLOAT32: give it that, "
      "or none");
  CHECK(refusal_of({"OutputTensor", nullptr, data, 24, &three, nullptr, 1, 0}) ==
        "the buffer of OutputTensor has the sizes [3], but OutputTensor has [6]: give it that, or "
        "none");
  CHECK(
      refusal_of({"OutputTensor", nullptr, data, 24, right.sizes, &spread, 1, 0}) ==
      "outputs[0].strides[0] is 2, but an output is packed, which makes it 1: set strides to NULL");
  CHECK(refusal_of({"OutputTensor", nullptr, data, 24, nullptr, &packed, 1, 0}) ==
        "outputs[0].strides is set, but sizes is NULL: set both, or neither");
  CHECK(output.elements == std::vector<float>(6));
  output.tensor.strides = &packed;
  succeed(run);
  output.tensor = {"OutputTensor", nullptr, output.elements.data(), 24, nullptr, nullptr, 0, 0};
  succeed(run);
}

TEST_CASE("C interface: where an output has one element, it may have any stride") {
  const Cpu cpu;
  const std::uint64_t input_sizes[]{1, 3}, sizes[]{1, 6}, strides[]{100, 1};
  std::vector<float> from{1, 2, 3}, to(6);
  const dmlop_tensor input{"InputTensor", nullptr, from.data(), 12,
                           input_sizes,   nullptr, 2,           DMLOP_FLOAT32};
  const dmlop_tensor output{"OutputTensor", nullptr, to.data(), 24,
                            sizes,          strides, 2,         DMLOP_FLOAT32};
  const dmlop_operation operation = operation_of(
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [0, 2]}})");
  succeed([&](dmlop_error** error) {
    return dmlop_run(cpu.context, &operation, &input, 1, &output, 1, nullptr, nullptr, error);
  });
  CHECK(to == std::vector<float>{1, 1, 2, 3, 3, 3});
}

TEST_CASE("C interface: a prepared operation runs after its context is closed") {
  auto cpu = std::make_unique<Cpu>();
  Vector input({1, 2, 3});
  input.tensor.data = nullptr;
  input.tensor.bytes = 0;
  const dmlop_operation operation = operation_of(edge);
  dmlop_prepared* prepared = nullptr;
  succeed([&](dmlop_error** error) {
    return dmlop_prepare(cpu->context, &operation, &input.tensor, 1, &prepared, error);
  });
  cpu.reset();
  const dmlop_tensors needed = dmlop_prepared_inputs(prepared);
  REQUIRE(needed.count == 1);
  CHECK(needed.items[0].bytes == 12);
  CHECK(needed.items[0].data == nullptr);
  REQUIRE(dmlop_prepared_outputs(prepared).count == 1);
  CHECK(dmlop_prepared_outputs(prepared).items[0].sizes[0] == 6);
  std::vector<float> output(6);
  const void* from = input.elements.data();
  void* to = output.data();
  succeed([&](dmlop_error** error) {
    return dmlop_prepared_run(prepared, &from, &to, nullptr, error);
  });
  CHECK(output == std::vector<float>{1, 1, 2, 3, 3, 3});
  from = nullptr;
  CHECK(outcome_of([&](dmlop_error** error) {
          return dmlop_prepared_run(prepared, &from, &to, nullptr, error);
        }).message == "InputTensor is NULL");
  dmlop_prepared_free(prepared);
}

TEST_CASE("C interface: findings are JSON with place, rule and remedy") {
  const dmlop_operation operation = operation_of(R"({"type": "PADDING", "desc": {
    "InputTensor": {"DataType": "UINT8", "Sizes": [4]}, "PaddingMode": "CONSTANT",
    "PaddingValue": 300, "StartPadding": [0], "EndPadding": [0, 1]}})");
  const Outcome outcome = outcome_of(
      [&](dmlop_error** error) { return dmlop_check(&operation, nullptr, 0, nullptr, error); });
  CHECK(outcome.status == DMLOP_INVALID);
  REQUIRE(outcome.findings.size() == 2);
  CHECK(outcome.findings[0]["message"] == "PaddingValue is 300, which does not fit UINT8");
  CHECK(outcome.findings[0]["line"] == 3);
  CHECK(outcome.findings[0]["pointer"] == "/desc/PaddingValue");
  CHECK(outcome.findings[1].contains("rule"));
  CHECK_FALSE(outcome.findings[0].contains("file"));
}

TEST_CASE("C interface: a report about what is valid") {
  const Vector input({1, 2, 3});
  const dmlop_operation operation = operation_of(edge);
  const Json report = json_of([&](char** text, dmlop_error** error) {
    return dmlop_check(&operation, &input.tensor, 1, text, error);
  });
  CHECK(report["tensors"][1] ==
        Json{{"name", "OutputTensor"}, {"dataType", "FLOAT32"}, {"sizes", {6}}});
  CHECK(report["warnings"].empty());
}

TEST_CASE("C interface: a program with its edges") {
  const Cpu cpu;
  const std::string file = samples + "graph/graph.json";
  dmlop_operation source = DMLOP_OPERATION;
  source.file = file.c_str();
  dmlop_program* program = nullptr;
  succeed([&](dmlop_error** error) { return dmlop_load(&source, &program, error); });
  REQUIRE(dmlop_program_inputs(program).count == 1);
  CHECK(dmlop_program_inputs(program).items[0].bytes == 64);
  REQUIRE(dmlop_program_outputs(program).count == 1);
  CHECK(std::string(dmlop_program_outputs(program).items[0].name) == "result");
  const Json report = json_of(
      [&](char** text, dmlop_error** error) { return dmlop_program_report(program, text, error); });
  CHECK(report["nodes"][0]["operator"] == "PADDING");

  Vector image(std::vector<float>(16, 2), "image");
  dmlop_call call = DMLOP_CALL;
  call.keep_edges = 1;
  for (const bool keeps : {false, true}) {
    dmlop_result* result = nullptr;
    succeed([&](dmlop_error** error) {
      return dmlop_program_run(cpu.context, program, &image.tensor, 1, keeps ? &call : nullptr,
                               &result, error);
    });
    REQUIRE(dmlop_result_outputs(result).count == 1);
    CHECK(floats(dmlop_result_outputs(result).items[0]) == std::vector<float>(4, 3));
    CHECK(dmlop_result_edges(result).count == (keeps ? 3 : 0));
    dmlop_result_free(result);
  }
  dmlop_program_free(program);
}

TEST_CASE("C interface: an ONNX model in memory, which the caller may change afterwards") {
  const Cpu cpu;
  std::ifstream file(samples + "onnx/model.onnx", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  dmlop_operation source = DMLOP_OPERATION;
  source.text = bytes.data();
  source.text_size = bytes.size();
  source.dimensions = "batch=2";
  dmlop_program* program = nullptr;
  succeed([&](dmlop_error** error) { return dmlop_load(&source, &program, error); });
  std::ranges::fill(bytes, 'x');
  Vector x(std::vector<float>(8, 1), "x");
  dmlop_result* result = nullptr;
  succeed([&](dmlop_error** error) {
    return dmlop_program_run(cpu.context, program, &x.tensor, 1, nullptr, &result, error);
  });
  REQUIRE(dmlop_result_outputs(result).count == 1);
  float sum = 0;
  for (const float probability : floats(dmlop_result_outputs(result).items[0])) sum += probability;
  CHECK(sum == doctest::Approx(2));  // of a softmax over two rows
  dmlop_result_free(result);
  dmlop_program_free(program);
}

TEST_CASE("C interface: an input of an ONNX model may be known when it is loaded") {
  std::ifstream file(samples + "onnx/model.onnx", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  dmlop_operation source = DMLOP_OPERATION;
  source.text = bytes.data();
  source.text_size = bytes.size();
  source.dimensions = "batch=2";
  const Vector x(std::vector<float>(8, 1), "x");
  source.known_inputs = &x.tensor;
  source.known_input_count = 1;
  dmlop_program* program = nullptr;
  dmlop_error* refused = nullptr;
  CHECK(dmlop_load(&source, &program, &refused) == DMLOP_INVALID);  // 8 numbers in one dimension
  dmlop_error_free(refused);
  const std::uint64_t sizes[]{2, 4};
  dmlop_tensor matrix = x.tensor;
  matrix.rank = 2;
  matrix.sizes = sizes;
  source.known_inputs = &matrix;
  succeed([&](dmlop_error** error) { return dmlop_load(&source, &program, error); });
  CHECK(dmlop_program_inputs(program).count == 0);
  dmlop_program_free(program);
}

TEST_CASE("C interface: nodes of an ONNX model are fused where the caller asks for it") {
  const std::string file = samples + "onnx/model.onnx";
  dmlop_operation source = DMLOP_OPERATION;
  source.file = file.c_str();
  source.dimensions = "batch=2";
  for (const std::uint32_t fuse : {0U, 1U}) {
    source.fuse = fuse;
    dmlop_program* program = nullptr;
    succeed([&](dmlop_error** error) { return dmlop_load(&source, &program, error); });
    const Json report = json_of([&](char** text, dmlop_error** error) {
      return dmlop_program_report(program, text, error);
    });
    CHECK(report["nodes"].size() == 3 - fuse);
    dmlop_program_free(program);
  }
}

TEST_CASE("C interface: inputs of 4 bits are passed as their type, or as bytes") {
  const Cpu cpu;
  const dmlop_operation source = operation_of(R"({
    "inputs": [{"name": "x", "DataType": "INT4", "Sizes": [1, 3]},
               {"name": "scale", "DataType": "FLOAT32", "Sizes": [1, 3]}],
    "nodes": [{"type": "DEQUANTIZE", "desc": {"QuantizationType": "SCALE"},
               "bindings": {"InputTensor": "x", "QuantizationTensors": ["scale"],
                            "OutputTensor": "y"}}]})");
  dmlop_program* program = nullptr;
  succeed([&](dmlop_error** error) { return dmlop_load(&source, &program, error); });
  std::vector<std::int8_t> numbers{-8, 0, 7};
  std::vector<float> scales{1, 2, 3};
  const dmlop_tensors inputs = dmlop_program_inputs(program);
  std::vector<dmlop_tensor> given{inputs.items[0], inputs.items[1]};
  given[0].data = numbers.data();
  given[0].bytes = numbers.size();
  given[1].data = scales.data();
  dmlop_result* result = nullptr;
  const auto run = [&](dmlop_error** error) {
    return dmlop_program_run(cpu.context, program, given.data(), 2, nullptr, &result, error);
  };
  for (const dmlop_type type : {DMLOP_INT4, DMLOP_INT8}) {
    given[0].type = type;
    succeed(run);
    CHECK(floats(dmlop_result_outputs(result).items[0]) == std::vector<float>{-8, 0, 21});
    dmlop_result_free(result);
  }
  dmlop_program_free(program);
}

TEST_CASE("C interface: should_stop ends a run") {
  const Cpu cpu;
  // A sum of 2^40 elements, which all are one: minutes of work.
  float one = 1;
  const std::uint64_t sizes[]{1 << 10, 1 << 20, 1 << 10}, strides[]{0, 0, 0};
  const dmlop_tensor input{"InputTensor", nullptr, &one, 4, sizes, strides, 3, DMLOP_FLOAT32};
  const dmlop_operation operation =
      operation_of(R"({"type": "REDUCE", "desc": {"Function": "SUM", "Axes": [0, 1, 2]}})");
  int questions = 0;
  dmlop_call call = DMLOP_CALL;
  call.user = &questions;
  call.should_stop = [](void* user) { return ++*static_cast<int*>(user) == 2 ? 1 : 0; };
  dmlop_result* result = nullptr;
  const Outcome outcome = outcome_of([&](dmlop_error** error) {
    return dmlop_run(cpu.context, &operation, &input, 1, nullptr, 0, &call, &result, error);
  });
  CHECK(outcome.status == DMLOP_CANCELED);
  CHECK(questions == 2);
  CHECK(result == nullptr);
}

TEST_CASE("C interface: tensors are compared") {
  const Vector a({1, 2}), b({1, 3});
  const Json report = json_of([&](char** text, dmlop_error** error) {
    return dmlop_compare(&a.tensor, &a.tensor, nullptr, nullptr, text, error);
  });
  CHECK(report["verdict"] == "PASSED");
  const auto status_of = [&](const dmlop_criteria& criteria) {
    return outcome_of([&](dmlop_error** error) {
             return dmlop_compare(&a.tensor, &b.tensor, &criteria, nullptr, nullptr, error);
           })
        .status;
  };
  dmlop_criteria criteria = DMLOP_CRITERIA;
  CHECK(status_of(criteria) == DMLOP_DIFFERENT);
  criteria.atol = 1;
  CHECK(status_of(criteria) == DMLOP_DONE);
  criteria.atol = std::numeric_limits<double>::quiet_NaN();
  CHECK(status_of(criteria) == DMLOP_USAGE);
  criteria = DMLOP_CRITERIA;
  criteria.rtol = std::numeric_limits<double>::quiet_NaN();
  CHECK(status_of(criteria) == DMLOP_USAGE);
  // A criterion of 0 is one, which -0 fits, and not left out.
  const Vector zero({0, 2}), minus_zero({-0.0F, 2});
  for (const auto& set :
       {+[](dmlop_criteria&) {}, +[](dmlop_criteria& to) { to.rtol = 0; },
        +[](dmlop_criteria& to) { to.atol = 0; }, +[](dmlop_criteria& to) { to.ulp = 0; }}) {
    dmlop_criteria one = DMLOP_CRITERIA;
    set(one);
    const Outcome outcome = outcome_of([&](dmlop_error** error) {
      return dmlop_compare(&zero.tensor, &minus_zero.tensor, &one, nullptr, nullptr, error);
    });
    const bool is_left_out = one.rtol < 0 && one.atol < 0 && one.ulp < 0;
    CHECK(outcome.status == (is_left_out ? DMLOP_DIFFERENT : DMLOP_DONE));
  }
  succeed([&](dmlop_error** error) {
    return dmlop_criteria_of("GEMM", DMLOP_FLOAT32, &criteria, error);
  });
  CHECK(criteria.rtol > 0);
  CHECK(criteria.ulp < 0);
  CHECK(criteria.nan_differs == 0);
  CHECK(criteria.allow_trivial == 0);
}

TEST_CASE("C interface: an operation is measured") {
  const Vector input({1, 2, 3});
  const dmlop_operation operation = operation_of(edge);
  dmlop_bench_options options = DMLOP_BENCH_OPTIONS;
  options.device = "cpu";
  options.min_runs = 2;
  options.min_seconds = 0;
  const Json report = json_of([&](char** text, dmlop_error** error) {
    return dmlop_bench(&operation, &input.tensor, 1, &options, nullptr, text, error);
  });
  CHECK(report["device"] == "cpu");
  CHECK(report["runs"] == 2);
  CHECK(report["outputBytes"] == 24);
  CHECK(report["percentile95Seconds"] >= report["medianSeconds"]);
  CHECK(report["medianSeconds"] > 0);
}

TEST_CASE("C interface: operators, devices and versions") {
  CHECK(json_of([](char** text, dmlop_error** error) {
          return dmlop_operators(nullptr, text, error);
        }).size() == 177);
  CHECK(json_of([](char** text, dmlop_error** error) {
          return dmlop_operators("GEMM", text, error);
        })["name"] == "DML_OPERATOR_GEMM");
  CHECK(json_of([](char** text, dmlop_error** error) {
          return dmlop_devices(text, error);
        })[0]["spec"] == "cpu");
  CHECK(std::string(dmlop_version()).find('.') != std::string::npos);
  CHECK(dmlop_interface() == DMLOP_INTERFACE);
}

TEST_CASE("C interface: files are written and read by their paths") {
  const Cpu cpu;
  const Folder folder;
  const std::string path = folder / "three.npy";
  const Vector input({1, 2, 3});
  succeed([&](dmlop_error** error) { return dmlop_write_npy(path.c_str(), &input.tensor, error); });
  const dmlop_tensor file{"InputTensor", path.c_str(), nullptr, 0, nullptr, nullptr, 0, 0};
  const dmlop_operation operation = operation_of(edge);
  dmlop_result* result = nullptr;
  succeed([&](dmlop_error** error) {
    return dmlop_run(cpu.context, &operation, &file, 1, nullptr, 0, nullptr, &result, error);
  });
  CHECK(floats(dmlop_result_outputs(result).items[0]) == std::vector<float>{1, 1, 2, 3, 3, 3});
  dmlop_result_free(result);
}

TEST_CASE("C interface: wrong calls are told, and crash nothing") {
  const Cpu cpu;
  const Vector good({1, 2, 3});
  const dmlop_operation operation = operation_of(edge);
  const auto message_of = [&](const dmlop_operation* its_operation, const dmlop_tensor* tensor,
                              std::size_t count = 1) {
    dmlop_result* result = nullptr;
    const Outcome outcome = outcome_of([&](dmlop_error** error) {
      return dmlop_run(cpu.context, its_operation, tensor, count, nullptr, 0, nullptr, &result,
                       error);
    });
    CHECK(result == nullptr);
    CHECK(outcome.status == DMLOP_USAGE);
    return outcome.message;
  };
  const auto changed = [&](auto&& change) {
    dmlop_tensor tensor = good.tensor;
    change(tensor);
    return message_of(&operation, &tensor);
  };
  CHECK(message_of(nullptr, &good.tensor) == "operation is NULL");
  CHECK(message_of(&operation, nullptr) == "inputs is NULL");
  CHECK(changed([](dmlop_tensor& t) { t.name = nullptr; }) == "inputs[0].name is NULL");
  CHECK(changed([](dmlop_tensor& t) { t.data = nullptr; }) == "inputs[0].data is NULL");
  CHECK(changed([](dmlop_tensor& t) { t.sizes = nullptr; }) == "inputs[0].sizes is NULL");
  CHECK(changed([](dmlop_tensor& t) { t.type = 14; }) ==
        "inputs[0].type is 14, which is not a dmlop_type");
  CHECK(changed([](dmlop_tensor& t) { t.type = 0; }) ==
        "inputs[0].type is 0, which is not a dmlop_type");
  CHECK(changed([](dmlop_tensor& t) { t.rank = 65; }) ==
        "inputs[0].rank is 65, must be at most 64");
  // The C++ interface answers.
  CHECK(message_of(&operation, nullptr, 0).find("pass the input InputTensor") != std::string::npos);

  dmlop_operation old = operation;
  old.struct_size = 8;
  CHECK(message_of(&old, &good.tensor) == "operation.struct_size is 8, must be at least " +
                                              std::to_string(sizeof old) +
                                              ": initialize the struct with its macro");
  struct Newer {
    dmlop_operation operation;
    std::uint64_t option;
  } newer{operation, 0};
  newer.operation.struct_size = sizeof newer;
  newer.option = 1;
  CHECK(message_of(&newer.operation, &good.tensor) ==
        "operation asks for what this version of the library does not have");
  newer.option = 0;
  CHECK(dmlop_check(&newer.operation, &good.tensor, 1, nullptr, nullptr) == DMLOP_DONE);

  for (const char* dimensions : {"batch", "batch=", "=2", "batch=-1", "batch=2x", "batch=2,,"}) {
    dmlop_operation model = operation;
    model.dimensions = dimensions;
    CHECK(message_of(&model, &good.tensor).starts_with("operation.dimensions has "));
  }

  dmlop_result* result = nullptr;
  CHECK(dmlop_run(nullptr, &operation, &good.tensor, 1, nullptr, 0, nullptr, &result, nullptr) ==
        DMLOP_USAGE);
  CHECK(outcome_of([&](dmlop_error** error) {
          return dmlop_run(cpu.context, &operation, &good.tensor, 1, nullptr, 0, nullptr, nullptr,
                           error);
        }).message == "result is NULL, and there is no memory for OutputTensor");
  CHECK(dmlop_open(nullptr, nullptr, nullptr) == DMLOP_USAGE);
  CHECK(dmlop_load(&operation, nullptr, nullptr) == DMLOP_USAGE);
  CHECK(dmlop_prepared_run(nullptr, nullptr, nullptr, nullptr, nullptr) == DMLOP_USAGE);
  CHECK(dmlop_operators("nothing", nullptr, nullptr) == DMLOP_USAGE);
  CHECK(dmlop_write_npy(nullptr, &good.tensor, nullptr) == DMLOP_USAGE);
  dmlop_close(nullptr);
  dmlop_result_free(nullptr);
  dmlop_prepared_free(nullptr);
  dmlop_program_free(nullptr);
  dmlop_error_free(nullptr);
  dmlop_text_free(nullptr);
  CHECK(dmlop_result_outputs(nullptr).count == 0);
  CHECK(dmlop_program_inputs(nullptr).count == 0);
}

TEST_CASE("C interface: texts that are no UTF-8 are answered in UTF-8") {
  const dmlop_operation operation = operation_of("{\"type\": \"P\xff\", \"desc\": {}}");
  const Outcome outcome = outcome_of(
      [&](dmlop_error** error) { return dmlop_check(&operation, nullptr, 0, nullptr, error); });
  CHECK(outcome.status == DMLOP_INVALID);
  CHECK(!outcome.findings.empty());
}

}  // namespace dmlop::test::c_interface_test
