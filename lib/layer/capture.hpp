// Writes what an application creates: operators as op.json, graphs as ONNX Runtime serializes them.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "layer/read_operator.hpp"

namespace dmlop::layer {

/// Each operator and each graph gets a folder of its own: "operator_0001_PADDING/op.json" and
/// "graph_0001/graph.bin" with its constants. index.jsonl has a line for each. Folders that are
/// there stay as they are. Several threads may call it.
class Capture {
 public:
  static constexpr std::size_t operators_max = 10'000;
  static constexpr std::size_t graphs_max = 1'000;

  explicit Capture(std::string folder) : folder_(std::move(folder)) {}

  /// Writes an operator of a device of that level unless one with the same description was written.
  /// `code` is that with which DirectML failed, 0 if it did not. Errors: io_failed.
  void write(const ReadOperator& operation, FeatureLevel level, std::uint32_t code = 0);
  /// The same for a graph, each time. Errors: io_failed, invalid_input.
  void write(const Graph& graph, FeatureLevel level, std::uint32_t code = 0);

 private:
  std::string new_folder(const std::string& kind, std::uint64_t& count, const std::string& name);
  void append_to_index(nlohmann::ordered_json line, FeatureLevel level, std::uint32_t code);

  std::string folder_;
  std::mutex mutex_;
  std::set<std::string> written_;
  std::uint64_t operators_ = 0, graphs_ = 0;  // the numbers of the last ones
  std::size_t graphs_written_ = 0;
};

}  // namespace dmlop::layer
