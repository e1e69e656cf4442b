#include "spec/measurements.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/per_process.hpp"
#include "spec/embedded_facts.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what, const Json& row) {
  throw std::logic_error("specs/measurements.json: " + what + ": " + row.dump());
}

template <typename Row>
const Row* find_named(const std::vector<Row>& rows, const Json& row, std::size_t column) {
  const auto found = std::ranges::find(rows, row.at(column).get<std::string>(), &Row::name);
  if (found == rows.end()) refuse("a row names nothing that the file has", row);
  return &*found;
}

NamedNumbers numbers_of(const Json& json) {
  NamedNumbers numbers;
  for (const auto& [name, number] : json.items()) numbers.emplace_back(name, number.get<double>());
  return numbers;
}

SpeedValue value_of(const std::string& type, const Json& json, const Json& row) {
  SpeedValue value{.type = type};
  if (json.is_number()) {
    value.share = json.get<double>();
    return value;
  }
  for (const auto& [name, number] : json.items()) {
    if (name == "share") {
      value.share = number.get<double>();
    } else if (name == "milliseconds") {
      value.milliseconds = number.get<double>();
    } else if (name == "gops") {
      value.gops = number.get<double>();
    } else {
      refuse("\"" + name + "\" is neither share, milliseconds nor gops", row);
    }
  }
  if (json.empty()) refuse("a speed is missing", row);
  return value;
}

/// The rows of a section, each made by `make`.
template <typename Row, typename Make>
std::vector<Row> rows_of(std::string_view section, Make make) {
  std::vector<Row> rows;
  for_each_row(section, [&](const Json& row) { rows.push_back(make(row)); });
  return rows;
}

template <typename Row>
std::vector<const Row*> rows_of_operator(const std::vector<Row>& all, std::string_view name) {
  std::vector<const Row*> found;
  for (const Row& row : all) {
    if (row.operator_name == name) found.push_back(&row);
  }
  return found;
}

}  // namespace

const std::vector<std::string>& speed_types() {
  return made_once([] {
    std::vector<std::string> list{"8-byte", "4-byte", "2-byte", "1-byte"};
    for (const DataTypeInfo& type : data_types) list.emplace_back(type.name);
    return list;
  });
}

std::optional<double> MeasuredError::find(std::string_view device) const {
  for (const auto& [name, number] : on) {
    if (name == device) return number;
  }
  return std::nullopt;
}

const std::vector<MeasuredDevice>& measured_devices() {
  return made_once([] {
    return rows_of<MeasuredDevice>("measured_devices", [](const Json& row) {
      return MeasuredDevice{row.at(0), row.at(1), row.at(2)};
    });
  });
}

const std::vector<ErrorMeasure>& error_measures() {
  return made_once([] {
    return rows_of<ErrorMeasure>("measures", [](const Json& row) {
      return ErrorMeasure{row.at(0), row.at(1), row.at(2)};
    });
  });
}

const std::vector<MeasuredError>& measured_errors() {
  return made_once([] {
    return rows_of<MeasuredError>("errors", [](const Json& row) {
      MeasuredError error{row.at(0), row.at(1), find_named(error_measures(), row, 2),
                          numbers_of(row.at(3)),
                          row.size() > 4 ? row.at(4).get<std::string>() : ""};
      for (const auto& [device, number] : error.on) {
        if (std::ranges::find(measured_devices(), device, &MeasuredDevice::name) ==
            measured_devices().end())
          refuse("measured_devices has no " + device, row);
      }
      return error;
    });
  });
}

const std::vector<SpeedRun>& speed_runs() {
  return made_once([] {
    return rows_of<SpeedRun>("speed_runs", [](const Json& row) {
      return SpeedRun{row.at(0), row.at(1), row.at(2), row.at(3), row.at(4), row.at(5), row.at(6)};
    });
  });
}

const std::vector<Speed>& speeds() {
  return made_once([] {
    return rows_of<Speed>("speeds", [](const Json& row) {
      Speed speed{row.at(0), find_named(speed_runs(), row, 1), row.at(2), {}, {}};
      const Json& values = row.at(3);
      for (const std::string& type : speed_types()) {
        if (values.contains(type)) speed.values.push_back(value_of(type, values.at(type), row));
      }
      if (speed.values.size() != values.size() || values.empty())
        refuse("a type is missing, or is neither a data type nor a size such as 4-byte", row);
      if (row.size() > 4) speed.peers = numbers_of(row.at(4));
      return speed;
    });
  });
}

std::vector<const MeasuredError*> errors_of(std::string_view operator_name) {
  return rows_of_operator(measured_errors(), operator_name);
}

std::vector<const Speed*> speeds_of(std::string_view operator_name) {
  return rows_of_operator(speeds(), operator_name);
}

}  // namespace dmlop
