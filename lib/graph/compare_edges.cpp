#include "graph/compare_edges.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "graph/edge_names.hpp"
#include "job/as_type.hpp"
#include "job/file_names.hpp"
#include "json/document.hpp"

namespace dmlop {
namespace {

constexpr const char* edge_extension = ".npy";

// The edges by file that an index.json lists; nothing where there is none.
std::map<std::string, std::string> index_of(const std::string& folder, Diagnostics& diagnostics) {
  const std::string path = to_text(to_path(folder) / "index.json");
  if (is_absent(path)) return {};
  std::string text = with_context("reading " + path, [&] { return json::read_text(path); });
  const auto document = json::Document::parse(path, std::move(text), diagnostics);
  std::map<std::string, std::string> index;
  if (!document) return index;
  if (document->root().kind != json::Value::Kind::object) {
    diagnostics.push_back(
        document->at(document->root(), "index.json must be an object with the edge of each file"));
    return index;
  }
  for (const json::Member& member : document->root().members) {
    if (member.value.kind == json::Value::Kind::string) index[member.name] = member.value.text;
  }
  return index;
}

// Inside a graph, edges may well be 0 or NaN all over.
Tolerance of_edges(const std::optional<Tolerance>& given) {
  Tolerance tolerance = given.value_or(Tolerance{});
  tolerance.allow_trivial = true;
  return tolerance;
}

}  // namespace

EdgeComparer::EdgeComparer(const Model& model, const std::optional<Tolerance>& tolerance)
    : model_(model),
      given_(of_edges(tolerance)),
      tolerances_(model, given_),
      golden_(model.resources.size()),
      written_(model.resources.size()),
      computed_(model.resources.size()) {
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    for (const TensorBinding* binding : outputs_of(model, *dispatch))
      computed_[binding->range.resource] = true;
  }
}

void EdgeComparer::expect_files(const std::string& folder, Diagnostics& diagnostics,
                                Diagnostics& warnings) {
  index_ = to_text(to_path(folder) / "index.json");
  const auto index = index_of(folder, diagnostics);
  const std::vector<std::string> names = edge_file_names(model_);
  std::map<std::string, std::size_t> resources;  // by edge, and by file
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    resources[names[i]] = i;
    resources[model_.resources[i].name] = i;
  }
  std::error_code error;
  std::size_t strangers = 0;
  std::string stranger;
  const auto entries = entries_of(folder, error);
  if (error) fail_io("listing " + folder + ": " + reason(error));
  for (const FolderEntry& entry : entries) {
    if (!entry.name.ends_with(edge_extension)) continue;
    const auto listed = index.find(entry.name);
    const std::string stem =
        entry.name.substr(0, entry.name.size() - std::string(edge_extension).size());
    const auto found = resources.find(listed == index.end() ? stem : listed->second);
    const std::string path = to_text(to_path(folder) / to_path(entry.name));
    if (found != resources.end()) {
      open(found->second, path, diagnostics);
    } else if (strangers++ == 0) {
      stranger = path;
    }
  }
  const auto is_there = [](const auto& golden) { return golden.has_value(); };
  if (std::none_of(golden_.begin(), golden_.end(), is_there) && diagnostics.empty()) {
    diagnostics.push_back(
        {.kind = ErrorKind::usage,
         .file = folder,
         .message = std::string("no file of this folder matches an edge that a ") +
                    (model_.words.has_commands ? "dispatch" : "node") + " writes",
         .rule = "EDGE.npy is compared with the edge EDGE, or index.json says which edge a file is",
         .suggestion = "`dmlop run --keep-edges FOLDER` writes such files"});
  } else if (strangers > 0) {
    warnings.push_back(
        {.message =
             stranger + " matches no edge that a node writes" +
             (strangers > 1 ? ", nor are " + counted(strangers - 1, "other file") + " of its folder"
                            : "")});
  }
}

void EdgeComparer::open(std::size_t resource, const std::string& path, Diagnostics& diagnostics) {
  try {
    golden_[resource] = NamedResource{
        resource, path,
        with_context("reading the golden file " + path, [&] { return NpyFile::open(path); })};
  } catch (const Error& error) {
    diagnostics.push_back(finding_of(error));
    diagnostics.back().file = path;
  }
}

void EdgeComparer::convert_files(DataType type) {
  for (auto& golden : golden_) {
    if (golden) convert_file(type, *golden->golden, golden->path);
  }
}

void EdgeComparer::expect_run(Runtime& other, std::string device) {
  other_ = &other;
  other_device_ = std::move(device);
}

std::vector<std::string> EdgeComparer::files() const {
  std::vector<std::string> paths;
  if (!index_.empty()) paths.push_back(index_);
  for (const auto& golden : golden_) {
    if (golden) paths.push_back(golden->path);
  }
  return paths;
}

bool EdgeComparer::has_golden(std::size_t resource) const {
  return golden_[resource] || other_ != nullptr;
}

OutputComparison EdgeComparer::compared(const ResourceTensor& tensor, const Tolerance& tolerance,
                                        Runtime& runtime) const {
  const auto contents = runtime.contents(tensor.resource);
  const auto& golden = golden_[tensor.resource];
  if (golden) return compare_golden(model_, tensor, *golden, contents, tolerance);
  const Buffer elements = packed_elements(tensor, other_->contents(tensor.resource));
  return compare_tensor(model_, tensor, Elements(tensor.data_type, tensor.sizes, elements.bytes()),
                        other_device_, contents, tolerance);
}

void EdgeComparer::compare(const DispatchCommand& command, Runtime& runtime) {
  const Description& description = *model_.dispatchables[command.dispatchable].description;
  const std::size_t first = edges_.size();
  for (const TensorBinding* binding : outputs_of(model_, command)) {
    const std::size_t resource = binding->range.resource;
    const ResourceTensor tensor = written_tensor(description, *binding);
    written_[resource] = tensor;
    if (!has_golden(resource)) continue;
    edges_.push_back(
        {command.dispatchable, resource, compared(tensor, tolerances_.of(resource), runtime)});
  }
  const auto is_wrong = [](const ComparedEdge& edge) { return edge.is_wrong(); };
  const auto begin = edges_.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::none_of(begin, edges_.end(), is_wrong)) return;
  WrongNode node = judged_alone(command, runtime);
  for (auto edge = begin; edge != edges_.end(); ++edge)
    edge->follows = std::ranges::find(node.outputs, edge->output.tensor) == node.outputs.end();
  if (!node.outputs.empty()) wrong_.push_back(std::move(node));
}

bool EdgeComparer::place_golden(std::size_t resource, Runtime& runtime) const {
  const auto to = runtime.changed_contents(resource);
  const auto& golden = golden_[resource];
  if (!golden) {
    const auto from = other_->contents(resource);
    std::copy(from.begin(), from.end(), to.begin());
    return true;
  }
  const Elements elements(*golden->golden);
  const ResourceTensor& tensor = *written_[resource];
  Buffer packed(elements.count() * size_of(elements.data_type()), "the elements of an edge");
  const bool has_form = elements.count() == element_count(tensor.sizes) &&
                        size_of(elements.data_type()) == size_of(tensor.data_type);
  if (!has_form) return false;
  copy_elements(elements, packed.data());
  place_elements(tensor, packed.bytes(), to);
  return true;
}

WrongNode EdgeComparer::judged_alone(const DispatchCommand& command, Runtime& runtime) const {
  WrongNode node{command.dispatchable, {}, {}};
  std::map<std::size_t, Buffer> kept;  // what the resources hold now
  const auto keep = [&](std::size_t resource) {
    const auto contents = runtime.contents(resource);
    if (kept.contains(resource)) return;
    Buffer& copy =
        kept.emplace(resource, Buffer(contents.size(), "a copy of an edge")).first->second;
    copy_in_pieces(contents, copy.data());
  };
  for (const TensorBinding* binding : outputs_of(model_, command)) keep(binding->range.resource);
  for (const TensorBinding* binding : inputs_of(model_, command)) {
    const std::size_t resource = binding->range.resource;
    // An output that replaces an input has no expected value before it.
    const bool is_computed = computed_[resource] && written_[resource];
    if (!is_computed || kept.contains(resource)) continue;
    keep(resource);
    if (!has_golden(resource) || !place_golden(resource, runtime))
      node.uncertain.push_back(model_.resources[resource].name);
  }
  runtime.dispatch(command);
  for (const TensorBinding* binding : outputs_of(model_, command)) {
    const std::size_t resource = binding->range.resource;
    if (!has_golden(resource)) continue;
    const ResourceTensor& tensor = *written_[resource];
    // Its inputs are what is expected, so that it has to be as exact as its operator.
    const Tolerance own = resolved_tolerance(given_, *tensor.writer, tensor.data_type);
    if (compared(tensor, own, runtime).comparison.verdict() != Verdict::passed)
      node.outputs.push_back(model_.resources[resource].name);
  }
  for (const auto& [resource, copy] : kept)
    copy_in_pieces(copy.bytes(), runtime.changed_contents(resource).data());
  return node;
}

}  // namespace dmlop
