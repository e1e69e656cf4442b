// Dispatchables of type dmlSerializedGraph: a dispatch of one becomes a dispatch of each of its
// operators.
#include <algorithm>
#include <set>

#include "base/path.hpp"
#include "model/graph_part.hpp"
#include "model/reading.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

/// Binds the resources of one dispatch.
class GraphDispatch {
 public:
  GraphDispatch(ModelReading& reading, const std::string& name, const ModelReading::Graph& graph)
      : reading_(reading), name_(printable(name)), graph_(graph) {
    const std::vector<Resource>& resources = graph.part.model.resources;
    for (std::size_t i = 0; i < resources.size(); ++i) bound_.push_back(graph.first_resource + i);
  }

  void read(const json::Value& bindings) {
    const std::size_t before = reading_.diagnostics.size();
    std::vector<std::string> names;
    for (const GraphPort& port : graph_.part.ports) names.push_back(name_of(port));
    reading_.warnings.refuse_unknown(bindings, names, "bindings of " + name_);
    for (const GraphPort& port : graph_.part.ports) bind(bindings, port);
    if (reading_.diagnostics.size() == before) add_commands();
  }

 private:
  const std::string& name_of(const GraphPort& port) const {
    return graph_.part.model.resources[port.resource].name;
  }

  void bind(const json::Value& bindings, const GraphPort& port) {
    const std::string name = printable(name_of(port));
    const json::Value* source = bindings.find(name_of(port));
    if (source == nullptr) {
      if (port.bytes > 0)
        reading_.add(bindings, name + " is not bound", "a dispatch binds what its graph needs",
                     "write \"" + name + "\": \"RESOURCE\"");
      return;
    }
    const auto resource = resource_of(*source, name);
    if (!resource) return;
    const Resource& buffer = reading_.model.resources[*resource];
    if (!buffer.is_usable) return;
    if (buffer.is_deferred || buffer.size < port.bytes) {
      reading_.add(*source,
                   name + " needs " + counted(port.bytes, "byte") + ", but \"" +
                       printable(buffer.name) + "\" has " +
                       (buffer.is_deferred ? "a deferred size" : std::to_string(buffer.size)));
      return;
    }
    if (!taken_.insert(*resource).second && (port.is_output || written_.contains(*resource))) {
      reading_.add(*source,
                   "\"" + printable(buffer.name) + "\" is bound twice, and the graph writes it",
                   "an output of a graph has a resource of its own");
      return;
    }
    if (port.is_output) written_.insert(*resource);
    bound_[port.resource] = *resource;
  }

  std::optional<std::size_t> resource_of(const json::Value& source, const std::string& name) {
    const json::Value* written = source.kind == Kind::object ? source.find("name") : &source;
    if (written == nullptr) {
      reading_.reader.missing(source, name + ".name", "a binding names a resource",
                              "write \"name\": \"RESOURCE\"");
      return std::nullopt;
    }
    const json::Value* offset =
        source.kind == Kind::object ? source.find("elementOffset") : nullptr;
    if (offset != nullptr && offset->text != "0") {
      reading_.add(*offset, name + " has an elementOffset",
                   "here, a graph's buffers begin where their resources do", "write 0",
                   ErrorKind::unavailable);
      return std::nullopt;
    }
    return find_resource(reading_, *written, name);
  }

  void add_commands() {
    for (const ModelCommand& command : graph_.part.model.commands) {
      DispatchCommand dispatch = std::get<DispatchCommand>(command);
      dispatch.dispatchable += graph_.first_dispatchable;
      for (TensorBinding& binding : dispatch.bindings)
        binding.range.resource = bound_[binding.range.resource];
      reading_.model.commands.emplace_back(std::move(dispatch));
    }
  }

  ModelReading& reading_;
  std::string name_;
  const ModelReading::Graph& graph_;
  std::vector<std::size_t> bound_;  // of each resource of the graph, the model's
  std::set<std::size_t> taken_, written_;
};

}  // namespace

void read_graph_dispatchable(ModelReading& reading, const json::Member& member) {
  const std::string name = printable(member.name);
  const json::Value& written = member.value;
  reading.warnings.refuse_unknown(written, {"type", "sourcePath", "executionFlags", "bindings"},
                                  name);
  reading.unusable_graphs.insert(member.name);  // until it is read
  const auto source = required_string(reading, written, name, "sourcePath", "Partition_0.bin");
  if (!source) return;
  const std::string path =
      to_text(reading.source_folder() / to_path(ModelReading::native_path(*source)));
  Diagnostics warnings;
  std::optional<GraphPart> part;
  try {
    part = reading.request.read_graph(path, reading.request, reading.diagnostics, warnings);
  } catch (const Error& error) {
    reading.reader.add(reading.document().at(*written.find("sourcePath"), error));
  }
  for (Diagnostic& warning : warnings) reading.warnings.add(std::move(warning));
  if (!part) return;
  Model& model = reading.model;
  ModelReading::Graph graph{std::move(*part), model.resources.size(), model.dispatchables.size()};
  // A dispatch binds other resources in their place.
  for (const GraphPort& port : graph.part.ports) graph.part.model.resources[port.resource].size = 0;
  // Those of the graph have names that none of the model's own can be asked for by.
  for (Resource resource : graph.part.model.resources) {
    resource.name = member.name + "/" + resource.name;
    model.resources.push_back(std::move(resource));
  }
  for (Dispatchable node : graph.part.model.dispatchables) {
    node.name = member.name + "/" + node.name;
    model.dispatchables.push_back(std::move(node));
  }
  model.sources.push_back({path, "a graph of the model"});
  const std::vector<SourceFile>& sources = graph.part.model.sources;
  model.sources.insert(model.sources.end(), sources.begin(), sources.end());
  reading.unusable_graphs.erase(member.name);
  reading.graphs.emplace(member.name, std::move(graph));
}

void read_graph_dispatch(ModelReading& reading, const std::string& name,
                         const json::Value& bindings) {
  GraphDispatch(reading, name, reading.graphs.at(name)).read(bindings);
}

}  // namespace dmlop
