// What several runs of a model have in common (model/prepared_model.hpp).
#include "model/prepared_model.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "folder.hpp"
#include "job/backend.hpp"
#include "model.hpp"
#include "model/runtime.hpp"
#include "recorded_device.hpp"

namespace dmlop::test::prepared_model_test {
namespace {

using Values = std::vector<std::int32_t>;

/// Sum = In + Constant, Out = Sum + Constant.
const std::string model_text = R"({
  "resources": {
    "In": {"initialValuesDataType": "INT32", "initialValues": [1, 2, 3]},
    "Constant": {"initialValuesDataType": "INT32", "initialValues": [10, 20, 30]},
    "Sum": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": 3, "value": 0}},
    "Out": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": 3, "value": 0}}
  },
  "dispatchables": {
    "add": {"type": "ELEMENT_WISE_ADD",
            "desc": {"ATensor": {"DataType": "INT32", "Sizes": [3]}, "BTensor": {"DataType": "INT32", "Sizes": [3]},
                     "OutputTensor": {"DataType": "INT32", "Sizes": [3]}}}
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "In", "BTensor": "Constant", "OutputTensor": "Sum"}},
    {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "Sum", "BTensor": "Constant", "OutputTensor": "Out"}}
  ]
})";
constexpr std::size_t in = 0, constant = 1, sum = 2, out = 3;

void set(Model& model, std::size_t resource, const Values& values) {
  InitialValues& initial = model.resources[resource].initial;
  initial.fill = [values](std::span<std::byte> to) {
    std::memcpy(to.data(), values.data(), to.size());
  };
  initial.mapped = {};
}

/// A model whose input has no values yet.
Model without_input() {
  Model model = valid_model(model_text);
  model.resources[in].initial.fill = nullptr;
  return model;
}

void run(Runtime& runtime, const Model& model) {
  for (const ModelCommand& command : model.commands)
    runtime.dispatch(std::get<DispatchCommand>(command));
}

Values values_of(std::span<const std::byte> bytes) {
  Values values(bytes.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_CASE("prepared model: it knows what is written, and what may be kept") {
  const Model model = without_input();
  const PreparedModel prepared(model, PreparedModel::Keep::plans_and_constants);
  CHECK(prepared.is_kept(constant));
  CHECK(!prepared.is_kept(in));
  CHECK(!prepared.is_kept(sum));
  CHECK(prepared.is_written(sum));
  CHECK(prepared.is_written(out));
  CHECK(!prepared.is_written(constant));
  CHECK(!PreparedModel(model).is_kept(constant));
}

TEST_CASE(
    "prepared model: runs share constants on a device, and upload nothing that is overwritten") {
  Record record;
  Backend backend(make_recorded_device(record));
  const Model model = without_input();
  const auto prepared =
      std::make_shared<PreparedModel>(model, PreparedModel::Keep::plans_and_constants);
  const auto uploads_of_run = [&](std::shared_ptr<PreparedModel> shared) {
    Model bound = model;
    set(bound, in, {1, 2, 3});
    const std::uint64_t before = record.submissions;
    Runtime runtime = shared ? Runtime(bound, backend, {.threads = 1}, shared)
                             : Runtime(bound, backend, {.threads = 1});
    run(runtime, bound);
    CHECK(runtime.resident_dispatches() == 2);
    return record.submissions - before - 2;  // each dispatch is one
  };
  CHECK(uploads_of_run(nullptr) == 2);  // of the input and of the constant
  CHECK(uploads_of_run(prepared) == 2);
  CHECK(uploads_of_run(prepared) == 1);  // of the input
  CHECK(record.faults.empty());
}

TEST_CASE("prepared model: constants are given up where the device has no room for other buffers") {
  Record record;
  Backend backend(make_recorded_device(record));
  const Model model = without_input();
  constexpr auto keep = PreparedModel::Keep::plans_and_constants;
  const auto first = std::make_shared<PreparedModel>(model, keep);
  const auto second = std::make_shared<PreparedModel>(model, keep);
  backend.give_up_with([&] { return first->give_up_constants(); });
  const auto run_with = [&](const std::shared_ptr<PreparedModel>& prepared) {
    Model bound = model;
    set(bound, in, {1, 2, 3});
    Runtime runtime(bound, backend, {.threads = 1}, prepared);
    for (const ModelCommand& command : bound.commands)
      runtime.enqueue(std::get<DispatchCommand>(command));
    runtime.finish();
    return runtime.resident_dispatches();
  };
  CHECK(run_with(first) == 2);
  CHECK(first->constant(constant) != nullptr);
  record.device_room = record.device_bytes;  // for no more than one run
  CHECK(run_with(second) == 2);
  CHECK(first->constant(constant) == nullptr);
  CHECK(second->constant(constant) != nullptr);
  CHECK_FALSE(first->give_up_constants());
  CHECK(record.faults.empty());
}

TEST_CASE("prepared model: what is enqueued runs together, when its results are asked for") {
  Record record;
  Backend backend(make_recorded_device(record));
  Model model = without_input();
  set(model, in, {1, 2, 3});
  Runtime runtime(model, backend, {.threads = 1});
  const auto enqueue = [&] {
    for (const ModelCommand& command : model.commands)
      runtime.enqueue(std::get<DispatchCommand>(command));
  };
  const auto submissions_of = [&](const auto& action) {
    const std::uint64_t before = record.submissions;
    action();
    return record.submissions - before;
  };
  CHECK(submissions_of(enqueue) == 2);  // uploads
  CHECK(submissions_of([&] { runtime.contents(constant); }) == 0);
  CHECK(submissions_of([&] { runtime.contents(out); }) == 2);  // the dispatches, and the download
  CHECK(submissions_of([&] { runtime.finish(); }) == 0);
  CHECK(submissions_of([&] {
          for (int i = 0; i < 40; ++i) enqueue();
        }) == 1);  // the first 64
  CHECK(submissions_of([&] { runtime.finish(); }) == 1);
  enqueue();
  CHECK(submissions_of([&] { runtime.changed_contents(in); }) == 1);
  enqueue();
  CHECK(submissions_of([&] { runtime.dispatch(std::get<DispatchCommand>(model.commands[0])); }) ==
        2);
  CHECK(record.faults.empty());
}

TEST_CASE("prepared model: a device computes while the next dispatches are enqueued") {
  Record record;
  Backend backend(make_recorded_device(record));
  Model model = without_input();
  set(model, in, {1, 2, 3});
  Runtime runtime(model, backend, {.threads = 1});
  const auto enqueue = [&](int times) {
    const std::uint64_t submissions = record.submissions, waits = record.waits;
    for (int i = 0; i < times; ++i) {
      for (const ModelCommand& command : model.commands)
        runtime.enqueue(std::get<DispatchCommand>(command));
    }
    return std::pair(record.submissions - submissions, record.waits - waits);
  };
  enqueue(1);  // uploads, which are waited for
  runtime.finish();
  CHECK(enqueue(32) == std::pair<std::uint64_t, std::uint64_t>(1, 0));  // 64 kernels
  CHECK(enqueue(32) == std::pair<std::uint64_t, std::uint64_t>(1, 1));  // for those before
  const std::uint64_t waits = record.waits;
  runtime.finish();
  CHECK(record.waits - waits == 1);
  CHECK(record.faults.empty());
}

TEST_CASE("prepared model: what an abandoned run left on the device gives way to the next one") {
  Record record;
  Backend backend(make_recorded_device(record));
  Model model = without_input();
  set(model, in, {1, 2, 3});
  const auto dispatches_on_device = [&](int times, bool finishes) {
    Runtime runtime(model, backend, {.threads = 1});
    for (int i = 0; i < times; ++i) {
      for (const ModelCommand& command : model.commands)
        runtime.enqueue(std::get<DispatchCommand>(command));
    }
    if (finishes) runtime.finish();
    return runtime.resident_dispatches();
  };
  CHECK(dispatches_on_device(32, false) == 64);  // as many as are submitted together
  record.device_room = record.device_bytes;
  CHECK(dispatches_on_device(1, true) == 2);
  CHECK(record.faults.empty());
}

TEST_CASE("prepared model: no more is enqueued than a device does in a short while") {
  const std::string matrix = R"({"DataType": "FLOAT32", "Sizes": [1, 1, 512, 512]})";
  const std::string values =
      R"({"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 262144, "value": 0}})";
  const Model model =
      valid_model(R"({"resources": {"In": )" + values + R"(, "Out": )" + values + R"(},
          "dispatchables": {"square": {"type": "GEMM", "desc": {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0,
            "ATensor": )" +
                  matrix + R"(, "BTensor": )" + matrix + R"(, "OutputTensor": )" + matrix + R"(}}},
          "commands": [{"type": "dispatch", "dispatchable": "square",
                        "bindings": {"ATensor": "In", "BTensor": "In", "OutputTensor": "Out"}}]})");
  const auto left_by_enqueue = [&](std::uint64_t pace_work) {
    Record record;
    Backend backend(make_recorded_device(record, pace_work));
    Runtime runtime(model, backend, {.threads = 1});
    runtime.enqueue(std::get<DispatchCommand>(model.commands[0]));
    const std::uint64_t before = record.submissions;
    runtime.finish();
    return record.submissions - before;
  };
  CHECK(left_by_enqueue(gpu::Pace::first_work) == 1);
  CHECK(left_by_enqueue(1) == 0);
}

TEST_CASE("prepared model: constants are read into memory once") {
  Model model = without_input();
  int reads = 0;
  const auto fill = model.resources[constant].initial.fill;
  model.resources[constant].initial.fill = [&reads, fill](std::span<std::byte> to) {
    ++reads;
    fill(to);
  };
  model.resources[constant].initial.mapped = {};
  const std::uint64_t bytes = model.resources[constant].initial.bytes;
  keep_constants_in_memory(model);
  CHECK(reads == 1);
  CHECK(model.resources[constant].initial.bytes == bytes);
  CHECK(model.resources[constant].initial.data_type == DataType::Int32);
  Backend cpu;
  for (const Values& input : {Values{1, 2, 3}, Values{-1, 0, 5}}) {
    Model bound = model;
    set(bound, in, input);
    Runtime runtime(bound, cpu, {.threads = 1});
    run(runtime, bound);
    CHECK(values_of(runtime.contents(out)) == Values{input[0] + 20, input[1] + 40, input[2] + 60});
    CHECK(values_of(runtime.contents(constant)) == Values{10, 20, 30});
  }
  CHECK(reads == 1);
}

}  // namespace
/// Out = A B, Out2 = A B2, of two dispatches of an operator.
const std::string products_text = R"({
  "resources": {
    "A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 40, "value": 2}},
    "B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 24, "value": 3}},
    "B2": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 24, "value": 5}},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 15, "value": 0}},
    "Out2": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 15, "value": 0}}
  },
  "dispatchables": {
    "multiply": {"type": "GEMM",
                 "desc": {"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 5, 8]},
                          "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 3]},
                          "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 5, 3]},
                          "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1,
                          "FusedActivation": {"Type": "ACTIVATION_LINEAR", "Desc": {"Alpha": 1, "Beta": 1}}}}
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "multiply", "bindings": {"ATensor": "A", "BTensor": "B", "OutputTensor": "Out"}},
    {"type": "dispatch", "dispatchable": "multiply", "bindings": {"ATensor": "A", "BTensor": "B2", "OutputTensor": "Out2"}}
  ]
})";

/// The first element of the outputs of a run in which B and B2 hold these.
std::pair<float, float> products_of_run(const Model& model,
                                        const std::shared_ptr<PreparedModel>& prepared,
                                        ExecutionOptions options, float b, float b2) {
  Model bound = model;
  const auto set_all = [&](std::size_t resource, float value) {
    bound.resources[resource].initial.fill = [value](std::span<std::byte> to) {
      for (std::size_t at = 0; at < to.size(); at += sizeof value)
        std::memcpy(to.data() + at, &value, sizeof value);
    };
    bound.resources[resource].initial.mapped = {};
  };
  set_all(1, b);
  set_all(2, b2);
  Backend backend;
  Runtime runtime(bound, backend, options, prepared);
  run(runtime, bound);
  const auto first = [&](std::size_t resource) {
    float value = 0;
    std::memcpy(&value, runtime.contents(resource).data(), sizeof value);
    return value;
  };
  return {first(3), bound.commands.size() > 1 ? first(4) : 0};
}

TEST_CASE("prepared model: what the CPU makes of constants is kept for the next run") {
  Model model = valid_model(products_text);
  model.commands.pop_back();
  using Keep = PreparedModel::Keep;
  const auto kept = std::make_shared<PreparedModel>(model, Keep::plans_and_constants);
  CHECK(products_of_run(model, kept, {}, 3, 0).first == 8 * 2 * 3 + 1);
  // Nobody changes constants. If someone does, the kernel does not see it.
  CHECK(products_of_run(model, kept, {}, 7, 0).first == 8 * 2 * 3 + 1);
  // A limit for temporary memory does not know of what is kept.
  CHECK(products_of_run(model, kept, {.host_memory_bytes = 1 << 20}, 7, 0).first == 8 * 2 * 7 + 1);
  const auto plans = std::make_shared<PreparedModel>(model, Keep::plans);
  CHECK(products_of_run(model, plans, {}, 3, 0).first == 8 * 2 * 3 + 1);
  CHECK(products_of_run(model, plans, {}, 7, 0).first == 8 * 2 * 7 + 1);
}

TEST_CASE("prepared model: nothing is kept of an operator that reads two constants in turns") {
  const Model model = valid_model(products_text);
  const auto kept =
      std::make_shared<PreparedModel>(model, PreparedModel::Keep::plans_and_constants);
  const auto [out, out2] = products_of_run(model, kept, {}, 3, 5);
  CHECK(out == 8 * 2 * 3 + 1);
  CHECK(out2 == 8 * 2 * 5 + 1);
}

TEST_CASE("prepared model: nothing is kept of an input that has no values yet") {
  Model model = valid_model(products_text);
  model.commands.pop_back();
  model.resources[1].initial.fill = nullptr;
  const auto kept =
      std::make_shared<PreparedModel>(model, PreparedModel::Keep::plans_and_constants);
  CHECK(products_of_run(model, kept, {}, 3, 0).first == 8 * 2 * 3 + 1);
  CHECK(products_of_run(model, kept, {}, 7, 0).first == 8 * 2 * 7 + 1);
}

}  // namespace dmlop::test::prepared_model_test
