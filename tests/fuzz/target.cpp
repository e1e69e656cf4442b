#include "fuzz/target.hpp"

#include <stdexcept>

namespace dmlop::test {

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets{
      {"npy", "a .npy file", fuzz_npy, npy_seeds},
      {"description", "an op description", fuzz_description, description_seeds},
      {"check", "a description or a model, with its files", fuzz_check, check_seeds},
      {"graph", "a serialized graph", fuzz_graph, graph_seeds},
      {"onnx", "an ONNX model", fuzz_onnx, onnx_seeds},
      {"batch", "a batch's jobs, and its results", fuzz_batch, batch_seeds},
      {"cpp", "C++, or what a debugger shows", fuzz_cpp, cpp_seeds},
      {"structs", "an application's memory with an operator's structs", fuzz_structs,
       structs_seeds},
      {"operators", "choices for a random valid case", fuzz_operators, operators_seeds}};
  return targets;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace dmlop::test
