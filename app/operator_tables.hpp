// Tables about all operators: `dmlop ops --differences`, `--errors` and `--speed`, as text, as
// JSON, and as the Markdown that the documents hold.
#pragma once

#include <string>

#include "command.hpp"
#include "spec/measurements.hpp"

namespace dmlop::app {

/// One line for each kind of difference from DirectML.
void print_differences(Format format);
/// One line for each operator whose errors were measured.
void print_errors(Format format);
/// One line for each work that was measured, below those of its run.
void print_speeds(Format format);

/// The line about a run of a benchmark, and one of its rows.
void print_run(const SpeedRun& run);
void print_speed_row(const Speed& row);

/// Text in a cell of a Markdown table.
std::string cell(const std::string& text);

}  // namespace dmlop::app
