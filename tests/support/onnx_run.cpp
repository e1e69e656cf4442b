#include "onnx_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "graph/lower.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"
#include "onnx/import.hpp"
#include "onnx_writer.hpp"
#include "tensor/element.hpp"

namespace dmlop::test {
namespace {

std::size_t index_of(const Sizes& sizes, const Sizes& place) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) index = index * sizes[i] + place[i];
  return index;
}

std::int64_t onnx_type(DataType type) {
  for (std::int64_t i = 1; i < 32; ++i) {
    if (i != 9 && onnx::data_type_of(i) == type) return i;  // 9 is BOOL
  }
  return 0;
}

onnx::TensorData data_of(const Numbers& numbers) {
  std::vector<std::byte> bytes;
  for (const double value : numbers.values) {
    const auto element = element_from(numbers.type, value);
    bytes.insert(bytes.end(), element.begin(),
                 element.begin() + static_cast<std::ptrdiff_t>(size_of(numbers.type)));
  }
  return onnx::new_data(numbers.type, numbers.sizes, std::move(bytes));
}

std::string texts_of(const Diagnostics& findings) {
  std::vector<std::string> texts;
  for (const Diagnostic& finding : findings) texts.push_back(to_text(finding));
  return join(texts, "\n");
}

}  // namespace

std::vector<Sizes> places_of(const Sizes& sizes) {
  std::vector<Sizes> places;
  Sizes place(sizes.size(), 0);
  for (std::uint64_t left = element_count(sizes).value_or(0); left > 0; --left) {
    places.push_back(place);
    for (std::size_t i = sizes.size(); i-- > 0 && ++place[i] == sizes[i];) place[i] = 0;
  }
  return places;
}

Numbers numbers_at(const Sizes& sizes, const std::function<double(const Sizes&)>& number,
                   DataType type) {
  Numbers tensor{.sizes = sizes, .values = {}, .type = type};
  for (const Sizes& place : places_of(sizes)) tensor.values.push_back(number(place));
  return tensor;
}

Numbers some_numbers(const Sizes& sizes, std::uint64_t seed) {
  std::uint64_t next = 11 + 13 * seed;
  return numbers_at(sizes, [&](const Sizes&) {
    next += 37;
    return (static_cast<double>(next % 101) - 50) / 16;
  });
}

Numbers whole_numbers(const std::vector<std::int64_t>& values) {
  return {{values.size()}, {values.begin(), values.end()}, DataType::Int64};
}

double at(const Numbers& tensor, const Sizes& place) {
  return tensor.values[index_of(tensor.sizes, place)];
}

Numbers heads_apart(const Numbers& tensor, std::uint64_t heads) {
  const std::uint64_t size = tensor.sizes[2] / heads;
  return numbers_at({tensor.sizes[0], heads, tensor.sizes[1], size}, [&](const Sizes& place) {
    return at(tensor, {place[0], place[2], place[1] * size + place[3]});
  });
}

Numbers heads_together(const Numbers& tensor) {
  const Sizes& sizes = tensor.sizes;
  return numbers_at({sizes[0], sizes[2], sizes[1] * sizes[3]}, [&](const Sizes& place) {
    return at(tensor, {place[0], place[2] / sizes[3], place[1], place[2] % sizes[3]});
  });
}

OnnxRun run_onnx(const std::string& bytes, const std::map<std::string, Numbers>& inputs,
                 bool fuses) {
  Diagnostics findings, notes;
  OnnxRun run;
  const auto model = onnx::read_onnx("x.onnx", std::as_bytes(std::span(bytes)), findings);
  onnx::ImportRequest request{.fuses = fuses};
  for (const auto& [name, numbers] : inputs) request.files.emplace(name, data_of(numbers));
  auto imported = model ? onnx::import_onnx(*model, request, findings) : std::nullopt;
  const auto lowered = imported ? lower_graph(imported->graph, {}, findings, notes) : std::nullopt;
  run.findings = texts_of(findings);
  if (!lowered) return run;
  Backend cpu;
  Runtime runtime(lowered->model, cpu, {.threads = 1});
  for (const ModelCommand& command : lowered->model.commands)
    runtime.dispatch(std::get<DispatchCommand>(command));
  for (std::size_t i = 0; i < imported->outputs.size(); ++i) {
    const std::size_t resource = lowered->model.outputs[i];
    const ResourceTensor tensor = tensor_of(lowered->model, resource);
    const Buffer packed = packed_elements(tensor, runtime.contents(resource));
    Numbers& output = run.outputs.emplace_back();
    output.sizes = imported->outputs[i].sizes;
    output.type = tensor.data_type;
    const std::size_t size = size_of(tensor.data_type);
    for (std::size_t at = 0; at + size <= packed.size(); at += size)
      output.values.push_back(element_value(tensor.data_type, packed.data() + at));
  }
  run.graph = std::move(imported->graph);
  return run;
}

OnnxRun run_node(const OneNode& node) {
  using namespace onnx_bytes;
  std::vector<std::string> names, outputs, values, output_values;
  std::map<std::string, Numbers> given;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Numbers& input = node.inputs[i];
    const std::string name = "input" + std::to_string(i);
    const bool is_left_out = input.values.empty() && input.sizes.empty();
    names.push_back(is_left_out ? "" : name);
    if (is_left_out) continue;
    std::vector<std::string> sizes;
    for (const std::uint64_t size : input.sizes) sizes.push_back(std::to_string(size));
    values.push_back(value(name, sizes, onnx_type(input.type)));
    given.emplace(name, input);
  }
  for (std::size_t i = 0; i < node.outputs; ++i) {
    outputs.push_back("output" + std::to_string(i));
    output_values.push_back(value(outputs.back(), {}));
  }
  return run_onnx(
      model({.nodes = {node_of(node.domain, node.type, names, outputs, node.attributes)},
             .inputs = values,
             .outputs = output_values,
             .version = node.version,
             .domain = node.domain}),
      given);
}

std::string difference(const Numbers& actual, const Numbers& expected) {
  if (actual.sizes != expected.sizes)
    return "sizes " + list_of(actual.sizes) + ", expected " + list_of(expected.sizes);
  if (actual.values.size() != expected.values.size()) return "other numbers of elements";
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    const double a = actual.values[i], b = expected.values[i];
    const bool is_near = std::abs(a - b) <= 1e-5 + 1e-4 * std::abs(b);  // false for NaN
    if (!is_near)
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
             std::to_string(b);
  }
  return "";
}

void check_refused(const OneNode& node, const std::string& words) {
  const std::string findings = run_node(node).findings;
  CAPTURE(findings);
  CAPTURE(words);
  CHECK(findings.find(words) != std::string::npos);
}

std::string difference(const OneNode& node, const std::vector<Numbers>& expected) {
  const OnnxRun run = run_node(node);
  if (!run.findings.empty()) return run.findings;
  if (run.outputs.size() != expected.size()) return "other numbers of outputs";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string found = difference(run.outputs[i], expected[i]);
    if (!found.empty()) return "output " + std::to_string(i) + ": " + found;
  }
  return "";
}

}  // namespace dmlop::test
