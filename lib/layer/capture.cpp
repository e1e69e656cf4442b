#include "layer/capture.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "graph/save.hpp"
#include "layer/hresults.hpp"
#include "layer/paths.hpp"
#include "model/convert_json.hpp"

namespace dmlop::layer {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string Capture::new_folder(const std::string& kind, std::uint64_t& count,
                                const std::string& name) {
  constexpr std::size_t digits = 4;
  std::error_code error;
  std::filesystem::create_directories(to_path(folder_), error);
  if (error) fail_io("creating " + folder_ + ": " + reason(error));
  while (true) {
    std::string number = std::to_string(++count);
    if (number.size() < digits) number.insert(0, digits - number.size(), '0');
    std::string folder = kind + "_" + number;
    if (!name.empty()) folder += "_" + name;
    const bool is_new = std::filesystem::create_directory(to_path(path_in(folder_, folder)), error);
    if (error) fail_io("creating " + path_in(folder_, folder) + ": " + reason(error));
    if (is_new) return folder;
  }
}

void Capture::append_to_index(Json line, FeatureLevel level, std::uint32_t code) {
  if (level != newest_feature_level) line["featureLevel"] = to_text(level);
  if (code != 0) line["refused"] = name_of_hresult(code);
  const std::string path = path_in(folder_, "index.jsonl");
  const std::string text = line.dump() + "\n";
  std::error_code error;
  SystemFile file = SystemFile::open_to_append(path, error);
  if (!error) error = file.write_all(std::as_bytes(std::span(text)));
  if (error) fail_io("writing " + path + ": " + reason(error));
}

void Capture::write(const ReadOperator& operation, FeatureLevel level, std::uint32_t code) {
  const std::string text = readable_text(operation.description_at(level));
  const std::scoped_lock lock(mutex_);
  if (written_.size() >= operators_max || !written_.insert(text).second) return;
  const std::string folder = new_folder("operator", operators_, operation.spec->name);
  OutputFile file(path_in(folder_, folder + "/op.json"), text.size(), Contents::text);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
  append_to_index({{"file", folder + "/op.json"}, {"type", "DML_OPERATOR_" + operation.spec->name}},
                  level, code);
}

void Capture::write(const Graph& graph, FeatureLevel level, std::uint32_t code) {
  const std::scoped_lock lock(mutex_);
  if (graphs_written_ >= graphs_max) return;
  ++graphs_written_;
  const std::string folder = new_folder("graph", graphs_, "");
  save_serialized(graph, path_in(folder_, folder + "/graph.bin"));
  append_to_index({{"file", folder + "/graph.bin"}, {"nodes", graph.nodes.size()}}, level, code);
}

}  // namespace dmlop::layer
