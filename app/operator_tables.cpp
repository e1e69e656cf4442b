#include "operator_tables.hpp"

#include "base/output.hpp"
#include "base/text.hpp"
#include "guide/operator_json.hpp"
#include "guide/words.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

/// A list of rows as JSON.
template <typename Row>
void print_rows_as_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(dmlop::to_json(row));
  print_json(list);
}

/// "| a | b |"
void print_table_row(const std::vector<std::string>& cells) {
  print({"|"});
  for (const std::string& text : cells) print({" ", cell(text.empty() ? "" : text + " "), "|"});
  print({"\n"});
}

/// The titles of a table, whose columns from `first_number` on hold numbers.
void print_table_head(const std::vector<std::string>& titles, std::size_t first_number) {
  print_table_row(titles);
  print({"|"});
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (i < first_number) {
      print({"---|"});
    } else {
      print({"--:|"});
    }
  }
  print({"\n"});
}

/// The operators whose errors were measured, in the file's order.
std::vector<std::string> operators_with_errors() {
  std::vector<std::string> names;
  for (const MeasuredError& error : measured_errors()) {
    if (names.empty() || names.back() != error.operator_name) names.push_back(error.operator_name);
  }
  return names;
}

void print_errors_as_markdown() {
  std::vector<std::string> titles{"operator", "type"};
  for (const MeasuredDevice& device : measured_devices()) titles.push_back(device.name);
  print_table_head(titles, 2);
  for (const MeasuredError& error : measured_errors()) {
    std::vector<std::string> cells{error.operator_name, type_text(error)};
    for (const MeasuredDevice& device : measured_devices()) {
      const auto value = error.find(device.name);
      cells.push_back(value ? error_text(error, *value) : "");
    }
    print_table_row(cells);
  }
}

void print_run_as_markdown(const SpeedRun& run, const std::vector<const Speed*>& rows) {
  const std::string shares = run.share_of.empty() ? "" : "; " + share_text(run);
  print({"\n**", run.device, ", ", run.backend, ", ", run.date, shares, ".** ", run.text});
  if (!run.peers.empty()) print({" Other programs: ", run.peers});
  print({"\n\n"});
  const SpeedColumns columns = columns_of(rows);
  std::vector<std::string> titles{"operator", "work"};
  titles.insert(titles.end(), columns.types.begin(), columns.types.end());
  titles.insert(titles.end(), columns.peers.begin(), columns.peers.end());
  print_table_head(titles, 2);
  for (const Speed* row : rows) {
    std::vector<std::string> cells{row->operator_name, row->work};
    for (const std::string& type : columns.types) cells.push_back(type_cell(*row, type));
    for (const std::string& peer : columns.peers) cells.push_back(peer_cell(*row, peer));
    print_table_row(cells);
  }
}

}  // namespace

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void print_run(const SpeedRun& run) {
  print({run.device, ", ", run.backend, ", ", run.date});
  if (!run.share_of.empty()) print({"; ", share_text(run)});
  print({"\n"});
}

void print_speed_row(const Speed& row) {
  std::vector<std::string> cells;
  for (const SpeedValue& value : row.values) cells.push_back(value.type + " " + speed_text(value));
  for (const auto& [peer, number] : row.peers) cells.push_back(peer + " " + peer_cell(row, peer));
  print({row.work, ": ", join(cells), "\n"});
}

void print_differences(Format format) {
  if (format == Format::json) return print_rows_as_json(differences());
  if (format == Format::markdown) print_table_head({"operators", "difference", "why"}, 3);
  for (const Difference& row : differences()) {
    const std::string operators = row.operators.empty() ? "all" : join(row.operators);
    if (format == Format::markdown) {
      print_table_row({operators, row.text, row.reason});
    } else {
      print({operators, "\n  ", row.text, "\n    Why: ", row.reason, "\n"});
    }
  }
}

void print_errors(Format format) {
  if (format == Format::json) return print_rows_as_json(measured_errors());
  if (format == Format::markdown) return print_errors_as_markdown();
  for (const ErrorMeasure& measure : error_measures())
    print({measure.unit, ": ", measure.text, "\n"});
  for (const MeasuredDevice& device : measured_devices())
    print({device.name, ": ", device.text, "\n"});
  for (const std::string& name : operators_with_errors()) {
    print({name, "\n"});
    for (const MeasuredError* error : errors_of(name)) print({"  ", errors_text(*error), "\n"});
  }
}

void print_speeds(Format format) {
  if (format == Format::json) return print_rows_as_json(speeds());
  std::vector<const Speed*> all;
  for (const Speed& row : speeds()) all.push_back(&row);
  for (const SpeedRun& run : speed_runs()) {
    const auto rows = speeds_of_run(run, all);
    if (format == Format::markdown) {
      print_run_as_markdown(run, rows);
      continue;
    }
    print_run(run);
    print({"  ", run.text, "\n"});
    if (!run.peers.empty()) print({"  Other programs: ", run.peers, "\n"});
    for (const Speed* row : rows) {
      print({"  ", row->operator_name, ", "});
      print_speed_row(*row);
    }
  }
}

}  // namespace dmlop::app
