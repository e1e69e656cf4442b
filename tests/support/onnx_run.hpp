// Runs small ONNX models on the CPU, for tests that compare with plain arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop::test {

/// A tensor of numbers in row-major order.
struct Numbers {
  Sizes sizes = {};
  std::vector<double> values = {};  // without sizes and values: an input that is left out
  DataType type = DataType::Float32;
};

/// All indices of a tensor, in row-major order.
std::vector<Sizes> places_of(const Sizes& sizes);
/// A tensor whose elements a function of their indices gives.
Numbers numbers_at(const Sizes& sizes, const std::function<double(const Sizes&)>& number,
                   DataType type = DataType::Float32);
/// Different numbers from -3.125 to 3.125, in no order; another seed gives others.
Numbers some_numbers(const Sizes& sizes, std::uint64_t seed = 0);
Numbers whole_numbers(const std::vector<std::int64_t>& values);  // INT64, one dimension
double at(const Numbers& tensor, const Sizes& place);

/// {batch, rows, heads * size} as {batch, heads, rows, size}, and back.
Numbers heads_apart(const Numbers& tensor, std::uint64_t heads);
Numbers heads_together(const Numbers& tensor);

struct OnnxRun {
  std::string findings = {};
  std::vector<Numbers> outputs = {};
  Graph graph = {};
};

/// Imports a model and runs it. Inputs that are given are files of the model's inputs.
OnnxRun run_onnx(const std::string& bytes, const std::map<std::string, Numbers>& inputs,
                 bool fuses = false);

/// A node alone.
struct OneNode {
  std::string type;
  std::vector<Numbers> inputs;
  std::vector<std::string> attributes = {};
  std::size_t outputs = 1;
  std::int64_t version = 17;
  std::string domain = "";
};

OnnxRun run_node(const OneNode& node);

/// "" if the tensors have the same sizes and nearly the same elements, or what differs.
std::string difference(const Numbers& actual, const Numbers& expected);

/// Checks that a node is refused, in these words among others.
void check_refused(const OneNode& node, const std::string& words);

/// "" if a node computes what is expected, or what is wrong.
std::string difference(const OneNode& node, const std::vector<Numbers>& expected);

}  // namespace dmlop::test
