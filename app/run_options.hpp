// The options of dmlop run.
#pragma once

#include <string>

#include "as_type_option.hpp"
#include "command.hpp"
#include "description_options.hpp"
#include "device_options.hpp"
#include "model_commands.hpp"
#include "onnx_commands.hpp"
#include "tolerance_options.hpp"

namespace dmlop::app {

/// How a golden file is made that no batch writes.
inline constexpr const char* golden_by_output =
    "write one with -o NAME=FILE.npy, and compare with it: --expect NAME=FILE.npy";

struct RunOptions {
  DescriptionOptions description;
  JobRequest request;
  ExecutionOptions execution;
  DeviceOptions device;
  ToleranceOptions tolerance;
  ModelOptions model;
  OnnxOptions onnx;
  ConfineOption confine;
  bool expects_folder = false;  // --expect without a file
  std::string kept_edges;       // the folder of a graph's edges; "": none
  std::string expected_edges;   // the folder with golden files of them; "": none
  std::string random;           // the seed of made-up inputs; "": none
  std::string against;          // another device that is to compute the same; "": none
  AsTypeOption as_type;
  std::string update_golden;  // "write", "accept" or "": leave golden files alone
  Format format = Format::text;
  bool timings = false;
  bool quiet = false;

  /// Declares them. They must outlive the parse.
  void add_to(OptionList& command);
};

}  // namespace dmlop::app
