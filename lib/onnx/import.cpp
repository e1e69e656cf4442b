#include "onnx/import.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "onnx/declaration.hpp"
#include "onnx/fold.hpp"
#include "onnx/fold_into_convolutions.hpp"
#include "onnx/fuse.hpp"
#include "onnx/importer.hpp"
#include "onnx/join_operators.hpp"
#include "onnx/join_products.hpp"
#include "onnx/needed.hpp"
#include "onnx/skip_copies.hpp"
#include "onnx/versions.hpp"
#include "onnx/whole_model.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop::onnx {
namespace {

// After this many nodes with findings, the rest are not listed.
constexpr std::size_t findings_listed = 64;
// Values with more elements are not computed while the model is read.
constexpr std::uint64_t folded_elements_max = 1 << 16;
// What nodes such as ConstantOfShape make, all together.
constexpr std::uint64_t made_bytes_max = std::uint64_t{1} << 28;
// Nodes that are read, those of functions and branches each time.
constexpr std::size_t nodes_read_max = 20'000;

std::string type_of(const Node& node) {
  return (node.domain.empty() ? "" : printable(std::string(node.domain)) + ".") +
         printable(std::string(node.type));
}

/// "node "a" (Conv)", or "node "a" (com.microsoft.FusedConv as Conv)".
std::string title_of_node(const Node& node, std::size_t index, const Scope& scope) {
  const std::string name(node.display_name());
  const Node* const whole = scope.stands_for();
  return "node \"" + printable(name.empty() ? std::to_string(index) : name) + "\" (" +
         (whole == nullptr ? "" : type_of(*whole) + " as ") + type_of(node) + ")";
}

/// What a node with an unknown operator may mean: that of another domain, or another name.
std::string remedy_of_unknown(const Node& node, std::string_view domain) {
  const auto found = std::ranges::find_if(onnx_operators(), [&](const OnnxOperator& row) {
    return row.name == node.type && row.map != nullptr;
  });
  if (found == onnx_operators().end()) return remedy_of_unknown_operator(node.type, domain);
  return *found->domain == '\0' ? "leave the domain out: it is an operator of ONNX itself"
                                : "write the domain " + std::string(found->domain);
}

const OnnxOperator& row_of(const Node& node, const Scope& scope) {
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view() : node.domain;
  const OnnxOperator* row = find_onnx_operator(node.type, domain);
  if (row == nullptr)
    throw Refusal{"dmlop does not read this operator", "", remedy_of_unknown(node, domain)};
  if (row->map == nullptr) Mapping::refuse(row->reason);
  if (scope.version_of(node.domain) == 0)
    throw Refusal{
        "the model imports no operator set \"" + printable(std::string(node.domain)) + "\"", "",
        "add it to opset_import with the version that the model was written for",
        ErrorKind::invalid_input};
  return *row;
}

/// Computes a node of small values that are known. True if it needs no place in the graph.
bool fold(Mapping& mapping) {
  if (mapping.operators.empty()) return true;
  // The provider computes constants from quantized ones each time.
  if (mapping.node().type == "DequantizeLinear") return false;
  std::uint64_t elements = 0;
  bool is_constant = true;
  for (std::size_t i = 0; i < mapping.input_count(); ++i) {
    if (!mapping.has(i)) continue;
    const Value& value = mapping.in(i);
    if (value.known() == nullptr || has_4_bits(value.type)) return false;
    is_constant = is_constant && value.constant;
    elements += value.known()->count();
  }
  for (const std::optional<Value>& output : mapping.outputs)
    elements += output ? element_count(output->sizes).value_or(~std::uint64_t{0}) : 0;
  if (elements > folded_elements_max || mapping.used.empty()) return false;
  return compute(mapping, is_constant) && is_constant;
}

}  // namespace

std::vector<std::string_view> names_of(const std::vector<ValueInfo>& values) {
  std::vector<std::string_view> names;
  for (const ValueInfo& value : values) names.push_back(value.name);
  return names;
}

Importer::Importer(const OnnxModel& model, const ImportRequest& request, Diagnostics& diagnostics)
    : model_(model),
      request_(request),
      diagnostics_(diagnostics),
      input_sizes_(model, request, diagnostics, imported_.graph.warnings) {
  imported_.graph.file = model.path;
  imported_.graph.has_written_descs = false;
  if (!model.path.empty()) imported_.graph.external_files = external_files(model);
  collect_names();
}

std::optional<Imported> Importer::import() {
  const std::size_t before = diagnostics_.size();
  check_whole_model(model_, diagnostics_);
  for (const Tensor& tensor : model_.initializers) {
    if (!is_replaced(tensor)) add_initializer(tensor, tensor.name);
  }
  input_sizes_.require_known_dimensions();
  for (const ValueInfo& input : model_.inputs) add_input(input);
  Scope scope(model_, names_);
  add_nodes(model_.nodes, names_of(model_.outputs), scope);
  for (const ValueInfo& output : model_.outputs) add_output(output);
  if (diagnostics_.size() > before) return std::nullopt;
  name_inputs();
  if (request_.fuses) {
    fold_into_convolutions(imported_.graph,
                           [&](const std::string& wanted) { return names_.edges.free(wanted); });
    join_operators(imported_.graph, request_.feature_level);
    skip_copies(imported_.graph);
    join_products(imported_.graph);
  }
  fuse_activations(imported_.graph, request_.feature_level, [&](const std::string& edge) {
    return request_.fuses || fused_.contains(edge);
  });
  return std::move(imported_);
}

void Importer::collect_names() {
  for (const ValueInfo& input : model_.inputs) names_.edges.take(input.name);
  for (const Tensor& tensor : model_.initializers) names_.edges.take(tensor.name);
  for (const Node& node : model_.nodes) {
    for (const std::string_view output : node.outputs) names_.edges.take(output);
  }
  for (const ValueInfo& output : model_.outputs) output_names_.emplace(output.name);
}

std::string Importer::edge_of_constant(const std::string& name) {
  return output_names_.contains(name) ? names_.edges.free(name + "/value") : name;
}

void Importer::refuse(Diagnostic finding) {
  finding.file = model_.path;
  diagnostics_.push_back(std::move(finding));
}

void Importer::lose(std::string_view name, Diagnostic finding) {
  lose(name);
  refuse(std::move(finding));
}

void Importer::lose(const Node& node) {
  for (const std::string_view output : node.outputs) lose(output);
}

void Importer::lose(const Node& node, Diagnostic finding) {
  lose(node);
  if (++refused_ > findings_listed) {
    ++diagnostics_.back().more;
  } else {
    refuse(std::move(finding));
  }
}

Value* Importer::add_value(std::string_view name, const std::string& writer) {
  const auto [found, is_new] = values_.try_emplace(std::string(name));
  if (is_new) return &found->second;
  refuse({.message = writer + ": the value \"" + printable(std::string(name)) + "\" already exists",
          .rule = "each value is written once",
          .suggestion = "give one of the two another name"});
  return nullptr;
}

bool Importer::is_replaced(const Tensor& tensor) const {
  return request_.files.contains(std::string(tensor.name)) &&
         std::ranges::find(model_.inputs, tensor.name, &ValueInfo::name) != model_.inputs.end();
}

void Importer::add_initializer(const Tensor& tensor, std::string_view unique_name) {
  const std::string name(unique_name);
  const std::string title = "initializer \"" + printable(name) + "\"";
  Value* value = add_value(name, title);
  if (value == nullptr) return;
  try {
    if (tensor.is_external && model_.path.empty())
      throw Error(ErrorKind::usage,
                  "its data lies in a file beside the model, but the model is given without its "
                  "path: load it from its file");
    TensorData data = data_of(tensor, model_.path, model_.file, request_.confinement);
    keep(data);
    *value = {edge_of_constant(name), data.type, data.is_boolean, data.sizes, {}, {}};
    value->constant = std::move(data);
  } catch (const Error& error) {
    const bool lacks_file = tensor.is_external && error.kind() == ErrorKind::io_failed;
    Diagnostic finding = finding_of(error, title);
    if (lacks_file)
      finding.suggestion = "put \"" + printable(std::string(tensor.location)) +
                           "\" beside the model, or save the model with its weights inside";
    lose(name, std::move(finding));
  }
}

void Importer::add_input(const ValueInfo& input) {
  const std::string name(input.name);
  if (const auto initializer = values_.find(name); initializer != values_.end())
    return compare_declaration("input", input, initializer->second);
  const std::string title = "input \"" + printable(name) + "\"";
  Value* value = add_value(name, title);
  if (value == nullptr) return;
  const auto type = input.other.empty() ? data_type_of(input.element_type) : std::nullopt;
  if (!type) {
    const std::string what =
        input.other.empty() ? name_of_type(input.element_type) : "a " + std::string(input.other);
    return lose(name, {.kind = ErrorKind::unavailable,
                       .message = title + " is " + what + ", which DirectML does not have"});
  }
  const auto given = request_.files.find(name);
  const TensorData* data = given == request_.files.end() ? nullptr : &given->second;
  const auto sizes = input_sizes_.of(input, title, data);
  if (!sizes) return lose(name);
  if (data != nullptr && stored_as(data->type) != stored_as(*type))
    return lose(name, of_other_type(title, *data, *type));
  *value = {name,   *type, input.element_type == static_cast<int>(ElementType::boolean),
            *sizes, {},    {}};
  if (data != nullptr)
    give(*value, *data, title);
  else
    value->way_to_give = input_sizes_.way_to_give(name);
  inputs_.push_back(name);
}

void Importer::give(Value& value, const TensorData& data, const std::string& title) {
  const std::string name = value.edge;
  value.edge = edge_of_constant(name);
  value.given = data;
  value.given->sizes = value.sizes;
  if (!has_4_bits(value.type) || has_4_bits(data.type)) return;
  // NumPy has no type of 4 bits: each element has a byte.
  try {
    value.given = data_of_elements(value.type, value.sizes, {data.bytes.begin(), data.bytes.end()});
  } catch (const Error& error) {
    lose(name, finding_of(error, title));
  }
}

Diagnostic Importer::of_other_type(const std::string& title, const TensorData& data,
                                   DataType type) const {
  return {.message = title + " is " + std::string(name_of(type)) + ", but " +
                     input_sizes_.source_of_elements() + " has " + std::string(name_of(data.type)) +
                     " " + list_of(data.sizes),
          .suggestion = Advice(casting(type)).text()};
}

void Importer::add_nodes(const std::vector<Node>& nodes,
                         const std::vector<std::string_view>& outputs, Scope& scope) {
  const std::vector<std::size_t> order = running_order(nodes);
  const Needed needed(nodes, order, outputs);
  if (!scope.is_of_model()) names_.count(needed.bytes());
  for (const std::size_t i : order) {
    ++nodes_read_;
    if (needed.has(nodes[i])) add_node(scope.seen(needed.without_others(nodes[i])), i, scope);
  }
}

void Importer::add_node(const Node& node, std::size_t index, Scope& scope) {
  const std::string title = title_of_node(node, index, scope);
  try {
    if (nodes_read_ > nodes_read_max)
      Mapping::refuse("the model has more than " + std::to_string(nodes_read_max) +
                      " nodes with those of its functions and branches");
    map_node(node, title, scope);
  } catch (const Refusal& refusal) {
    lose(node, {.kind = refusal.kind,
                .message = title + ": " + refusal.message,
                .rule = refusal.rule,
                .suggestion = refusal.suggestion});
  } catch (const Error& error) {
    lose(node, finding_of(error, title));
  }
}

void Importer::map_node(const Node& node, const std::string& title, Scope& scope) {
  std::vector<const Value*> inputs;
  for (const std::string_view name : node.inputs) {
    if (is_lost(name)) return lose(node);  // what it needs has a finding
    const auto found = values_.find(std::string(name));
    if (found == values_.end() && !name.empty())
      throw Refusal{
          "its input \"" + printable(std::string(name)) +
              "\" is neither an input of the model nor an output of a node before it",
          "a node reads inputs, initializers and outputs of nodes that do not need its own",
          remedy_of_missing(name, node, scope), ErrorKind::invalid_input};
    inputs.push_back(name.empty() ? nullptr : &found->second);
  }
  if (const Function* function = function_of(node)) return call(*function, node, title);
  const OnnxOperator& row = row_of(node, scope);
  Mapping mapping(node, row, scope.version_of(node.domain), std::move(inputs), names_.edges);
  require_signature(mapping);
  row.map(mapping);
  mapping.require_all_read();
  if (mapping.inlined) return inline_graph(*mapping.inlined, node, title, scope);
  if (mapping.function) return expand(*mapping.function, node, title);
  mapping.finish();
  for (const Refusal& warning : mapping.warnings)
    imported_.graph.warnings.push_back({.file = model_.path,
                                        .message = title + ": " + warning.message,
                                        .rule = warning.rule,
                                        .suggestion = warning.suggestion});
  keep_constants(mapping);
  if (!fold(mapping)) append(mapping);
  for (std::optional<Value>& output : mapping.outputs) {
    if (!output) continue;
    Value* value = add_value(output->edge, title);
    if (value == nullptr) continue;
    if (output->constant) output->edge = edge_of_constant(output->edge);
    *value = std::move(*output);
  }
}

std::string Importer::remedy_of_missing(std::string_view name, const Node& reader,
                                        const Scope& scope) const {
  if (!scope.is_of_model()) return "";
  for (const Node& node : model_.nodes) {
    const bool writes = std::ranges::find(node.outputs, name) != node.outputs.end();
    if (writes && node.first_output() == reader.first_output())
      return "no node may read what it writes itself";
    if (writes)
      return "node \"" + printable(std::string(node.display_name())) +
             "\", which makes it, needs what this node makes: cut this cycle";
  }
  std::vector<std::string> names;
  for (const auto& [other, value] : values_) {
    if (!other.empty()) names.push_back(other);
  }
  std::ranges::sort(names);
  const std::string nearest = names.size() == 1 ? names.front() : nearest_name(name, names);
  return nearest.empty() ? "values that are there: " + names_of_list(names)
                         : "did you mean \"" + printable(nearest) + "\"?";
}

void Importer::keep(TensorData& data) const {
  if (data.owner != nullptr) return;
  data.file = model_.file;
  data.owner = model_.file ? model_.file : model_.owner;
  data.path = model_.path;
}

void Importer::keep_constants(Mapping& mapping) {
  for (std::optional<Value>& output : mapping.outputs) {
    if (!output || !output->constant) continue;
    TensorData& data = *output->constant;
    keep(data);
    const bool is_of_model = data.owner == model_.file || data.owner == model_.owner;
    made_bytes_ += is_of_model ? 0 : data.bytes.size();
  }
  if (made_bytes_ > made_bytes_max)
    Mapping::refuse("the constants that the model's nodes make have more than " +
                    std::to_string(made_bytes_max) + " bytes");
}

void Importer::append(Mapping& mapping) {
  for (const Value* value : mapping.used) {
    if (value->constant) add_constant(value->edge, *value->constant);
  }
  for (const Mapping::Constant& constant : mapping.constants)
    add_constant(constant.edge, constant.data);
  const std::string name(mapping.node().display_name());
  for (const DmlOperator& operation : mapping.operators)
    imported_.graph.nodes.push_back(operation.node(name));
  for (const std::optional<Value>& output : mapping.outputs) {
    if (!output || output->constant) continue;
    imported_.graph.sizes[output->edge] = output->sizes;
    imported_.graph.types[output->edge] = output->type;
  }
}

void Importer::add_constant(const std::string& edge, const TensorData& data) {
  if (!constants_.insert(edge).second) return;
  imported_.graph.nodes.push_back(constant_node(edge, data));
  imported_.graph.types.emplace(edge, data.type);
  imported_.graph.sizes.emplace(edge, data.sizes);
}

void Importer::compare_declaration(const std::string& role, const ValueInfo& declared,
                                   const Value& value) {
  auto warning = warning_of_declaration(role, declared, value);
  if (!warning) return;
  warning->file = model_.path;
  imported_.graph.warnings.push_back(*std::move(warning));
}

void Importer::add_output(const ValueInfo& output) {
  const std::string name(output.name);
  if (is_lost(name)) return;
  const auto found = values_.find(name);
  if (found == values_.end()) {
    refuse({.message = "the output \"" + printable(name) + "\" is written by no node"});
    return;
  }
  Value& value = found->second;
  compare_declaration("output", output, value);
  std::string edge = value.edge;
  const bool is_input = std::find(inputs_.begin(), inputs_.end(), name) != inputs_.end();
  if (value.constant || is_input || value.edge != name) {
    try {
      Mapping::require_elements("the output \"" + printable(name) + "\"", value.sizes);
    } catch (const Refusal& refusal) {
      return refuse({.kind = refusal.kind, .message = refusal.message, .rule = refusal.rule});
    }
    edge = copy_of(value, name);
  }
  imported_.graph.outputs.push_back(edge);
  imported_.outputs.push_back({name, value.type, value.sizes});
}

std::string Importer::copy_of(const Value& value, const std::string& name) {
  const auto [copy, is_new] = copies_.try_emplace(name, name);
  std::string& to = copy->second;
  if (!is_new) return to;
  if (value.edge == name) to = names_.edges.free(name + "/output");
  if (value.constant) add_constant(value.edge, *value.constant);
  const View source{value.edge, value.type, value.sizes, {}};
  const View target{to, value.type, value.sizes, {}};
  imported_.graph.nodes.push_back(DmlOperator("ELEMENT_WISE_IDENTITY")
                                      .input("InputTensor", padded(source))
                                      .output("OutputTensor", padded(target))
                                      .node(name));
  imported_.graph.sizes[to] = value.sizes;
  return to;
}

void Importer::name_inputs() {
  std::vector<GraphNode>& nodes = imported_.graph.nodes;
  std::set<std::string> read;
  for (const GraphNode& node : nodes) read.insert(node.inputs.begin(), node.inputs.end());
  for (const std::string& name : inputs_) {
    const Value& value = values_.at(name);
    const bool is_read = read.contains(value.edge);
    if (is_read && value.given) {
      nodes.insert(nodes.begin(), constant_node(value.edge, *value.given));
      continue;
    }
    imported_.graph.inputs.push_back(is_read ? name : "");
    if (is_read) {
      imported_.graph.sizes[name] = value.sizes;
      imported_.graph.types[name] = value.type;
    } else {
      imported_.graph.unread_inputs.push_back(name);
    }
    imported_.inputs.push_back({is_read ? name : "", value.type, value.sizes});
  }
}

std::optional<Imported> import_onnx(const OnnxModel& model, const ImportRequest& request,
                                    Diagnostics& diagnostics) {
  return Importer(model, request, diagnostics).import();
}

std::vector<const ValueInfo*> inputs_to_give(const OnnxModel& model) {
  std::set<std::string_view> initializers;
  for (const Tensor& tensor : model.initializers) initializers.insert(tensor.name);
  std::vector<const ValueInfo*> inputs;
  for (const ValueInfo& input : model.inputs) {
    if (!initializers.contains(input.name)) inputs.push_back(&input);
  }
  return inputs;
}

}  // namespace dmlop::onnx
