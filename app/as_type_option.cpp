#include "as_type_option.hpp"

namespace dmlop::app {

void AsTypeOption::add_to(OptionList& command) {
  command
      .add_option("--as-type", name_,
                  "Compute the same in another type, which shows how much of a difference is "
                  "rounding: inputs, constants and golden files of floating-point numbers are "
                  "converted, and outputs get this type")
      .one_of({"FLOAT64", "FLOAT32", "FLOAT16"})
      .choices({"FLOAT64", "FLOAT32", "FLOAT16"})
      .type_name("TYPE")
      .only_for({InputForm::description, InputForm::graph, InputForm::onnx_model},
                {{InputForm::model,
                  "a model's buffers are bytes, which its dispatches may see in any type"},
                 {InputForm::onnx_test,
                  "a test has its own golden files; name the model.onnx in the folder instead"}});
}

void AsTypeOption::refuse(const std::string& reason) const {
  if (type()) throw Error(ErrorKind::usage, "--as-type cannot be used: " + reason);
}

void AsTypeOption::refuse_untyped(const std::vector<NamedFile>& golden) const {
  for (const NamedFile& file : golden) {
    if (!file.raw || file.raw->data_type) continue;
    refuse("nothing says what numbers the raw golden file " + file.path + " holds; write " +
           file.path + ":FLOAT32, for example");
  }
}

}  // namespace dmlop::app
