// The handles of <dmlop/dmlop.h>.
#pragma once

#include <memory>

#include "c/translate.hpp"

struct dmlop_context {
  explicit dmlop_context(const dmlop::RunnerOptions& options)
      : runner(options), device(runner.device()) {}
  dmlop::Runner runner;
  std::string device;
};

/// Tensors and who owns their elements.
struct dmlop_result {
  class List {
   public:
    /// `given` is the caller's memory, or null for the tensor's own.
    void add(dmlop::Tensor& tensor, void* given = nullptr) {
      std::uint64_t bytes = dmlop::size_of(tensor.type);
      for (const std::uint64_t size : tensor.sizes) bytes *= size;
      tensors_.add(tensor, {}, given != nullptr ? given : tensor.bytes.data(), bytes);
    }
    dmlop_tensors list() const { return tensors_.list(); }

   private:
    dmlop::c::TensorList tensors_;
  };

  std::vector<dmlop::Tensor> owned = {};
  std::vector<dmlop::Tensor> owned_edges = {};
  List outputs = {};
  List edges = {};
};

struct dmlop_prepared {
  explicit dmlop_prepared(dmlop::Prepared prepared) : operation(std::move(prepared)) {
    for (const dmlop::BufferInfo& info : operation.inputs()) inputs.add(info);
    for (const dmlop::BufferInfo& info : operation.outputs()) outputs.add(info);
  }
  dmlop::Prepared operation;
  dmlop::c::TensorList inputs, outputs;
};

struct dmlop_program {
  explicit dmlop_program(const dmlop::Operation& source) : program(source) {
    for (const dmlop::BufferInfo& info : program.inputs()) inputs.add(info);
    for (const dmlop::TensorInfo& info : program.outputs()) {
      std::uint64_t bytes = dmlop::size_of(info.type);
      for (const std::uint64_t size : info.sizes) bytes *= size;
      outputs.add(info, {}, nullptr, bytes);
    }
  }
  dmlop::Program program;
  dmlop::c::TensorList inputs, outputs;
};

namespace dmlop::c {

/// Throws the findings as one failure. There must be one.
[[noreturn]] inline void refuse_findings(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : "\n") + finding.text;
  throw Failure(findings.front().kind, text, findings);
}

}  // namespace dmlop::c
