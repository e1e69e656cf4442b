// dmlop inspect: what .npy files hold.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "npy/npy.hpp"
#include "npy/statistics.hpp"
#include "preview.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> files;
  Format format = Format::text;
};

Json to_json(const std::string& path, const NpyFile& file) {
  const NpyHeader& header = file.header();
  const Statistics statistics = statistics_of(file);
  const auto optional_text = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json first = Json::array();
  const Elements elements(file);
  for (std::uint64_t i = 0; i < std::min(elements.count(), preview_columns); ++i)
    first.push_back(element_text_at(elements, i));
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
  const std::string first_elements = preview(Elements(file));
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
