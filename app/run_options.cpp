#include "run_options.hpp"

namespace dmlop::app {
namespace {

// The meaning of --expect without a file.
constexpr const char* golden_folder = "expected/";

using Forms = std::vector<InputForm>;

const Forms single{InputForm::description};
const Forms graphs{InputForm::graph, InputForm::onnx_model};
const Forms with_inputs{InputForm::description, InputForm::graph, InputForm::onnx_model};
const Forms no_test{InputForm::description, InputForm::model, InputForm::graph,
                    InputForm::onnx_model};
const std::string update_by_batch =
    "dmlop batch FOLDER --update-golden writes the golden files of models and graphs";
const std::string test_has_files =
    "a test has its own inputs and outputs; name the model.onnx in the folder instead";

void add_expect_option(OptionList& command, RunOptions& options) {
  command
      .add_option_function(
          "--expect",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              if (text == golden_folder) {
                options.expects_folder = true;
              } else if (text.ends_with(".json")) {
                refuse_option("--expect",
                              "\"" + text +
                                  "\" is not a golden .npy file; write the description first: " +
                                  text + " --expect");
              } else {
                options.request.expected.push_back(parse_named_file(text));
              }
            }
          },
          "The golden .npy file to compare an output with; without a file, those in expected/ "
          "beside op.json; a raw one is FILE:raw")
      .type_name("[[NAME=]FILE]")
      .expected(0, 1)
      .default_text(golden_folder)
      .take_all()
      .only_for(no_test, {{InputForm::onnx_test, test_has_files}});
}

}  // namespace

void RunOptions::add_to(OptionList& command) {
  description.add_to(command);
  add_named_file_option(
      command, "-i,--input", request.inputs,
      "An input's .npy file, NAME a tensor field such as InputTensor, or an input of a graph or of "
      "an ONNX model, which takes .pb files, too; - is standard input. A raw file is FILE:raw, or "
      "FILE:TYPE:SIZES as x.bin:FLOAT16:1,3,8,8, with :offset=BYTES and :big")
      .only_for(with_inputs,
                {{InputForm::onnx_test, test_has_files},
                 {InputForm::model,
                  "a model names the files of its resources (sourcePath), which --input-path "
                  "looks up in another folder"}});
  add_named_file_option(
      command, "-o,--output", request.outputs,
      "An output's .npy file, or FILE:raw for the elements alone; - is standard output; of a model "
      "or a graph, NAME is a "
      "resource or an edge as it is at the end. Without -o and --expect the output is shown")
      .only_for(no_test, {{InputForm::onnx_test, test_has_files}});
  add_broadcast_option(command, request.broadcasts);
  command
      .add_flag("--random{1}", random,
                "Make up numbers that suit the fields for inputs without a file; --random=SEED: "
                "others. A seed gives the same numbers everywhere")
      .type_name("[=SEED]")
      .only_for(with_inputs, {{InputForm::onnx_test, test_has_files},
                              {InputForm::model, "a model has its resources' values"}});
  add_expect_option(command, *this);
  tolerance.add_to(command);
  command
      .add_flag("--update-golden{write}", update_golden,
                "Write a golden file that is missing or different and exit with 1; "
                "--update-golden=accept exits with 0")
      .one_of({"write", "accept"})
      .type_name("[=accept]")
      .only_for(single, {{InputForm::model, update_by_batch},
                         {InputForm::graph, update_by_batch},
                         {InputForm::onnx_model, golden_by_output}});
  command.add_option("--keep-edges", kept_edges, "The folder that gets each edge as a .npy file")
      .type_name("FOLDER")
      .only_for(graphs);
  command
      .add_option("--expect-edges", expected_edges,
                  "The folder with a golden .npy file for each edge, or for some; names "
                  "the first node that goes wrong")
      .type_name("FOLDER")
      .only_for(graphs);
  command
      .add_option("--against", against,
                  "Another device, which has to compute the same; of a graph or a model each node "
                  "is compared, and the first that goes wrong is named")
      .type_name("SPEC")
      .only_for(no_test);
  as_type.add_to(command);
  model.add_to(command);
  onnx.add_to(command);
  confine.add_to(command);
  device.add_to(command, execution);
  add_strict_indices_option(command, execution);
  add_checking_options(command, request.checking);
  add_format_option(command, format);
  command.add_flag("--timings", timings, "Also print how long each phase took");
  command.add_flag("-q,--quiet", quiet, "Print nothing but errors");
}

}  // namespace dmlop::app
