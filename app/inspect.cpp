// dmlop inspect: what .npy files hold.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "npy/npy.hpp"
#include "npy/statistics.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

// A preview shows so many rows of so many elements; the rest is "...".
constexpr std::uint64_t preview_rows = 8;
constexpr std::uint64_t preview_columns = 12;

struct Options {
  std::vector<std::string> files;
  Format format = Format::text;
};

/// The first rows of the last dimension, elements right-aligned. Fortran order is shown in file
/// order.
std::string preview(const NpyFile& file) {
  const auto& header = file.header();
  const std::uint64_t columns = header.fortran_order ? header.sizes.front() : header.sizes.back();
  const std::uint64_t rows = file.element_count() / columns;
  std::vector<std::vector<std::string>> cells;
  std::size_t width = 0;
  for (std::uint64_t row = 0; row < std::min(rows, preview_rows); ++row) {
    auto& line = cells.emplace_back();
    for (std::uint64_t column = 0; column < std::min(columns, preview_columns); ++column) {
      line.push_back(element_text_at(file, row * columns + column));
      width = std::max(width, line.back().size());
    }
  }
  std::string text;
  for (const auto& line : cells) {
    text += "   ";
    for (const std::string& cell : line) text.append(1 + width - cell.size(), ' ').append(cell);
    text += columns > preview_columns ? " ...\n" : "\n";
  }
  if (rows > preview_rows) text += "    ...\n";
  return text;
}

Json to_json(const std::string& path, const NpyFile& file) {
  const NpyHeader& header = file.header();
  const Statistics statistics = statistics_of(file);
  const auto optional_text = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json first = Json::array();
  for (std::uint64_t i = 0; i < std::min(file.element_count(), preview_columns); ++i) {
    first.push_back(element_text_at(file, i));
  }
  return {{"file", path},
          {"dataType", name_of(header.data_type)},
          {"sizes", header.sizes},
          {"order", header.fortran_order ? "Fortran" : "C"},
          {"byteOrder", header.big_endian ? "big" : "little"},
          {"bytes", file.data().size()},
          {"min", optional_text(statistics.min)},
          {"max", optional_text(statistics.max)},
          {"mean", optional_text(statistics.mean)},
          {"nanCount", statistics.nan_count},
          {"infinityCount", statistics.infinity_count},
          {"first", first}};
}

// Nothing is printed of a file that was changed meanwhile.
void print_text(const std::string& path, const NpyFile& file) {
  const NpyHeader& header = file.header();
  const Statistics statistics = statistics_of(file);
  const std::string first_elements = preview(file);
  require_intact(file, path);
  print({path, ": ", name_of(header.data_type), " ", list_of(header.sizes), ", ",
         header.fortran_order ? Text("Fortran") : Text("C"), " order, ",
         header.big_endian ? Text("big") : Text("little"), " endian, ", file.data().size(),
         " bytes\n"});
  const std::string mean = statistics.mean ? Json(*statistics.mean).dump() : "none";
  print({"  min ", statistics.min.value_or("none"), "  max ", statistics.max.value_or("none"),
         "  mean ", mean, "  NaN ", statistics.nan_count, "  infinity ", statistics.infinity_count,
         "\n", Text::lines(first_elements)});
}

int inspect(const Options& options) {
  Diagnostics diagnostics;
  Json list = Json::array();
  for (const std::string& path : options.files) {
    try {
      const NpyFile file = with_context("reading " + path, [&] { return NpyFile::open(path); });
      if (options.format == Format::json) {
        list.push_back(to_json(path, file));
        require_intact(file, path);
      } else {
        print_text(path, file);
      }
    } catch (const Error& error) {
      diagnostics.push_back({.kind = error.kind(), .message = error.what()});
    }
  }
  if (!diagnostics.empty()) return report(diagnostics, options.format);
  if (options.format == Format::json) print_json(list);
  return exit_done;
}

}  // namespace

Action add_inspect(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  command.add_option("FILE.npy", options->files, "The files; - is standard input")->required();
  add_format_option(command, options->format);
  return [options] { return inspect(*options); };
}

}  // namespace dmlop::app
