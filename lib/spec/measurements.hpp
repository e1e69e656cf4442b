// What was measured of operators: their largest errors and their speed, from
// specs/measurements.json. Users see it in `dmlop ops` and in the tables of the documents; the
// tests allow no larger error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmlop {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// How an error is counted.
struct ErrorMeasure {
  std::string name;  // "ulp"
  std::string unit;  // "ULP"
  std::string text;  // sentences
};

/// What errors were measured on.
struct MeasuredDevice {
  std::string name;     // "llvmpipe"
  std::string backend;  // "vulkan"
  std::string text;     // a sentence
};

/// The largest errors of an operator for a data type, on each device where they were measured.
struct MeasuredError {
  std::string operator_name;
  std::string data_type;
  const ErrorMeasure* measure;
  NamedNumbers on;  // {"CPU", 0.86}

  std::optional<double> find(std::string_view device) const;
};

/// One run of a benchmark: what its rows have in common.
struct SpeedRun {
  std::string name;
  std::string backend;   // "vulkan"
  std::string device;    // "NVIDIA H100 80GB HBM3 (driver 580)"
  std::string date;      // "2026-11-21"
  std::string share_of;  // what shares are shares of; "": there are none
  std::string text;      // sentences about the work
  std::string peers;     // what the numbers of other programs mean; "": there are none
};

/// The speed for elements of a type. At least one of the numbers is there.
struct SpeedValue {
  std::string type;  // "FLOAT32", "4-byte"
  std::optional<double> share;
  std::optional<double> milliseconds;
  std::optional<double> gops;  // billions of operations per second
};

struct Speed {
  std::string operator_name;
  const SpeedRun* run;
  std::string work;  // "last axis"
  std::vector<SpeedValue> values;
  NamedNumbers peers;  // {"PyTorch", 0.61}
};

/// The types that a speed may be about, in the order in which tables show them: sizes of elements
/// that are only moved, and data types.
const std::vector<std::string>& speed_types();

/// All of them, in the file's order. Errors: std::logic_error if the file contradicts itself.
const std::vector<MeasuredDevice>& measured_devices();
const std::vector<ErrorMeasure>& error_measures();
const std::vector<MeasuredError>& measured_errors();
const std::vector<SpeedRun>& speed_runs();
const std::vector<Speed>& speeds();

/// Those of an operator.
std::vector<const MeasuredError*> errors_of(std::string_view operator_name);
std::vector<const Speed*> speeds_of(std::string_view operator_name);

}  // namespace dmlop
