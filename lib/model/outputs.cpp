#include "model/outputs.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/folder.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

// The name of the only output or else of the only resource that dispatches write; "" if there are
// several or none.
std::string only_output(const Model& model) {
  if (!model.outputs.empty())
    return model.outputs.size() == 1 ? model.resources[model.outputs.front()].name : "";
  std::string name;
  for (const Resource& resource : model.resources) {
    const auto index = static_cast<std::size_t>(&resource - model.resources.data());
    if (tensor_of(model, index).writer == nullptr) continue;
    if (!name.empty()) return "";
    name = resource.name;
  }
  return name;
}

// The resources that are worth naming.
std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const std::size_t output : model.outputs) names.push_back(model.resources[output].name);
  if (!names.empty()) return names;
  for (const Resource& resource : model.resources) names.push_back(resource.name);
  return names;
}

std::vector<const TensorBinding*> bindings_of(const Model& model, const DispatchCommand& command,
                                              bool (FieldSpec::*is_one)() const) {
  const OperatorSpec& spec = *model.dispatchables[command.dispatchable].description->spec;
  std::vector<const TensorBinding*> found;
  for (const TensorBinding& binding : command.bindings) {
    if ((spec.find_field(binding.tensor)->*is_one)()) found.push_back(&binding);
  }
  return found;
}

/// Finds the resource for a file of the command line.
class ResourceNamer {
 public:
  ResourceNamer(const Model& model, std::string option, bool golden, Diagnostics& diagnostics)
      : model_(model),
        words_(model.words),
        option_(std::move(option)),
        golden_(golden),
        diagnostics_(diagnostics) {}

  std::optional<NamedResource> name(const NamedFile& file) {
    const auto index = find(file);
    if (!index) return std::nullopt;
    if (golden_ ? is_standard_input(file.path) : is_standard_output(file.path)) {
      refuse(option_ + " of a " + words_.model + " cannot be a stream: what it prints goes there",
             "name a file");
      return std::nullopt;
    }
    if (!golden_ && file.raw && !file.raw->is_open())
      refuse("the type and sizes of the file " + file.path + " are those of the " + words_.resource,
             "write " + file.path + ":raw");
    NamedResource named{*index, file.path, {}, file.raw.has_value()};
    if (!golden_) return named;
    try {
      named.golden = with_context("reading the golden file " + file.path, [&] {
        if (file.memory) return NpyFile::in_memory(*file.memory);
        std::optional<RawForm> form;
        if (file.raw) {
          const ResourceTensor tensor = tensor_of(model_, *index);
          form = file.raw->completed(tensor.data_type, tensor.sizes);
        }
        return NpyFile::open(PinnedFile(file.confinement, file.path), form);
      });
      return named;
    } catch (const Error& error) {
      diagnostics_.push_back(finding_of(error));
      diagnostics_.back().file = model_.file;
      return std::nullopt;
    }
  }

 private:
  void refuse(std::string message, std::string suggestion) {
    diagnostics_.push_back({.kind = ErrorKind::usage,
                            .file = model_.file,
                            .message = std::move(message),
                            .suggestion = std::move(suggestion)});
  }

  std::optional<std::size_t> find(const NamedFile& file) {
    const std::vector<std::string> names = names_of(model_);
    const std::string name = file.tensor.empty() ? only_output(model_) : file.tensor;
    if (name.empty()) {
      refuse(std::string("which ") + words_.resource + " is " + file.path + "? the " +
                 words_.model + " has " + names_of_list(names),
             "write " + (option_.starts_with('-')
                             ? option_ + " " + words_.placeholder + "=" + file.path
                             : "\"" + option_ + "\": {\"" + words_.placeholder + "\": \"" +
                                   file.path + "\"}"));
      return std::nullopt;
    }
    const Resource* resource = model_.find_resource(name);
    if (resource != nullptr && !resource->is_deferred)
      return static_cast<std::size_t>(resource - model_.resources.data());
    const std::string nearest = nearest_name(name, names);
    const std::string listed =
        (model_.outputs.empty() ? std::string(words_.resource) + "s: " : "outputs: ") +
        names_of_list(names);
    if (file.is_found) {
      const std::string remedy = nearest.empty() ? listed : "did you mean " + nearest + ".npy?";
      diagnostics_.push_back({.kind = ErrorKind::usage,
                              .file = file.path,
                              .message = std::string("this golden file matches no ") +
                                         words_.resource + " of the " + words_.model,
                              .rule = "NAME.npy in a folder expected/ is compared with NAME",
                              .suggestion = remedy});
    } else {
      refuse(std::string("the ") + words_.model + " has no " + words_.resource + " \"" +
                 printable(name) + "\"",
             nearest.empty() ? listed : "did you mean \"" + nearest + "\"?");
    }
    return std::nullopt;
  }

  const Model& model_;
  const ModelWords& words_;
  std::string option_;
  bool golden_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool are_integers_alike(DataType a, DataType b) {
  const auto is_integer = [](DataType type) { return !is_floating(type); };
  return is_integer(a) && is_integer(b) && info(a).bits == info(b).bits;
}

std::vector<const TensorBinding*> outputs_of(const Model& model, const DispatchCommand& command) {
  return bindings_of(model, command, &FieldSpec::is_output);
}

std::vector<const TensorBinding*> inputs_of(const Model& model, const DispatchCommand& command) {
  return bindings_of(model, command, &FieldSpec::is_input);
}

ResourceTensor written_tensor(const Description& description, const TensorBinding& output) {
  const TensorDesc& desc = *description.find_tensor(output.tensor, output.element);
  return {output.range.resource,
          *desc.data_type,
          desc.sizes,
          desc.strides.value_or(packed_strides(desc.sizes)),
          output.range.offset,
          &description};
}

ResourceTensor tensor_of(const Model& model, std::size_t resource) {
  const Resource& buffer = model.resources[resource];
  ResourceTensor tensor{.resource = resource,
                        .data_type = buffer.initial.data_type.value_or(DataType::UInt8),
                        .sizes = {},
                        .strides = {}};
  tensor.sizes = {buffer.initial.data_type ? buffer.element_count() : buffer.size};
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const Description& description = *model.dispatchables[dispatch->dispatchable].description;
    for (const TensorBinding* output : outputs_of(model, *dispatch)) {
      if (output->range.resource == resource) tensor = written_tensor(description, *output);
    }
  }
  if (tensor.strides.empty()) tensor.strides = packed_strides(tensor.sizes);
  // The file may have fewer or more dimensions than the desc.
  if (buffer.sizes && tensor.strides == packed_strides(tensor.sizes) &&
      element_count(*buffer.sizes) == element_count(tensor.sizes)) {
    tensor.sizes = *buffer.sizes;
    tensor.strides = packed_strides(tensor.sizes);
  }
  // DirectML writes indices without a sign, and ONNX calls them INT64.
  if (tensor.writer != nullptr && buffer.type && are_integers_alike(*buffer.type, tensor.data_type))
    tensor.data_type = *buffer.type;
  return tensor;
}

std::vector<std::size_t> results_of(const Model& model) {
  if (!model.outputs.empty()) return model.outputs;
  std::set<std::size_t> written, computed;
  for (const ModelCommand& command : model.commands) {
    if (const auto* write = std::get_if<WriteFileCommand>(&command))
      written.insert(write->resource);
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const OperatorSpec& spec = *model.dispatchables[dispatch->dispatchable].description->spec;
    const auto is_output = [&](const TensorBinding& binding) {
      return spec.find_field(binding.tensor)->is_output();
    };
    for (const TensorBinding& binding : dispatch->bindings) {
      if (!is_output(binding)) computed.erase(binding.range.resource);
    }
    for (const TensorBinding& binding : dispatch->bindings) {
      if (is_output(binding)) computed.insert(binding.range.resource);
    }
  }
  const std::set<std::size_t>& results = written.empty() ? computed : written;
  return {results.begin(), results.end()};
}

namespace {

// Calls `copy` with the byte of each element, packed and in the resource.
template <typename Copy>
void for_each_element(const ResourceTensor& tensor, std::uint64_t count, const Copy& copy) {
  const std::size_t size = size_of(tensor.data_type);
  in_pieces(count, far_steps, [&](std::uint64_t index, std::uint64_t end) {
    for (; index < end; ++index) {
      std::uint64_t position = 0;
      const auto indices = indices_of(index, tensor.sizes);
      for (std::size_t i = 0; i < indices.size(); ++i) position += indices[i] * tensor.strides[i];
      copy(index * size, tensor.offset + position * size, size);
    }
  });
}

}  // namespace

Buffer packed_elements(const ResourceTensor& tensor, std::span<const std::byte> contents) {
  const std::uint64_t count = *element_count(tensor.sizes);
  Buffer packed(count * size_of(tensor.data_type), "the elements of an output");
  if (tensor.strides == packed_strides(tensor.sizes)) {
    copy_in_pieces(contents.subspan(tensor.offset, packed.size()), packed.data());
    return packed;
  }
  for_each_element(tensor, count, [&](std::uint64_t to, std::uint64_t from, std::size_t size) {
    std::memcpy(packed.data() + to, &contents[from], size);
  });
  return packed;
}

void place_elements(const ResourceTensor& tensor, std::span<const std::byte> packed,
                    std::span<std::byte> contents) {
  if (tensor.strides == packed_strides(tensor.sizes))
    return copy_in_pieces(packed, contents.subspan(tensor.offset, packed.size()).data());
  for_each_element(tensor, *element_count(tensor.sizes),
                   [&](std::uint64_t from, std::uint64_t to, std::size_t size) {
                     std::memcpy(&contents[to], &packed[from], size);
                   });
}

namespace {

OutputFile npy_output(const ResourceTensor& tensor, std::span<const std::byte> contents,
                      const std::string& path, bool is_raw) {
  const std::string header = is_raw ? "" : npy_header_bytes(tensor.data_type, tensor.sizes);
  const auto elements = packed_elements(tensor, contents);
  if (is_raw && has_4_bits(tensor.data_type)) {
    const auto packed = packed_4_bits(elements.bytes());
    OutputFile file(path, packed.size());
    file.write_at(0, packed);
    return file;
  }
  OutputFile file(path, header.size() + elements.size());
  file.write_at(0, std::as_bytes(std::span(header)));
  file.write_at(header.size(), elements.bytes());
  return file;
}

}  // namespace

void write_npy(const ResourceTensor& tensor, std::span<const std::byte> contents,
               const std::string& path) {
  npy_output(tensor, contents, path, false).commit();
}

void write_together(const Model& model, const std::vector<NamedResource>& outputs,
                    const std::function<std::span<const std::byte>(std::size_t)>& contents) {
  std::vector<OutputFile> files;
  for (const NamedResource& output : outputs)
    files.push_back(npy_output(tensor_of(model, output.resource), contents(output.resource),
                               output.path, output.is_raw));
  std::vector<OutputFile*> together;
  for (OutputFile& file : files) together.push_back(&file);
  if (!together.empty()) commit_together(together);
}

void require_writable(const std::vector<NamedResource>& outputs) {
  for (const NamedResource& output : outputs) OutputFile(output.path, 0);
}

std::vector<NamedResource> name_resources(const Model& model, const std::vector<NamedFile>& files,
                                          const std::string& option, bool golden,
                                          Diagnostics& diagnostics) {
  ResourceNamer namer(model, option, golden, diagnostics);
  std::vector<NamedResource> named;
  for (const NamedFile& file : files) {
    if (auto resource = namer.name(file)) named.push_back(std::move(*resource));
  }
  return named;
}

namespace {

void refuse_replaced(const Model& model, const std::string& name, const std::string& path,
                     const FileRoles& files, Diagnostics& diagnostics) {
  const std::string role = files.role_of(path);
  if (role.empty()) return;
  diagnostics.push_back({.kind = ErrorKind::usage,
                         .file = model.file,
                         .message = printable(name) + " would replace " + role + ": " + path,
                         .suggestion = "write to another file"});
}

}  // namespace

FileRoles roles_of(const Model& model) {
  FileRoles files;
  add_description(files, model.file, std::string("the ") + model.words.model);
  for (const Resource& resource : model.resources)
    files.add(resource.initial.path, "the file of " + printable(resource.name));
  for (const SourceFile& source : model.sources) files.add(source.path, source.role);
  return files;
}

void refuse_replaced_by_commands(const Model& model, FileRoles& files, Diagnostics& diagnostics) {
  const auto for_each_write = [&](const auto& action) {
    for (const ModelCommand& command : model.commands) {
      if (const auto* write = std::get_if<WriteFileCommand>(&command)) action(*write);
    }
  };
  for_each_write([&](const WriteFileCommand& write) {
    refuse_replaced(model, "the writeFile of " + model.resources[write.resource].name, write.path,
                    files, diagnostics);
  });
  for_each_write([&](const WriteFileCommand& write) {
    files.add(write.path,
              "what the writeFile of " + model.resources[write.resource].name + " writes");
  });
}

void refuse_replaced(const Model& model, const std::vector<NamedResource>& outputs,
                     FileRoles& files, Diagnostics& diagnostics) {
  for (const NamedResource& output : outputs) {
    const std::string& name = model.resources[output.resource].name;
    refuse_replaced(model, name, output.path, files, diagnostics);
    if (!may_have_several_writers(output.path))
      files.add(output.path, "the output " + printable(name));
  }
}

OutputComparison compare_tensor(const Model& model, ResourceTensor tensor, const Elements& golden,
                                const std::string& expected, std::span<const std::byte> contents,
                                const Tolerance& tolerance) {
  const auto elements = packed_elements(tensor, contents);
  const bool is_of_graph = !model.words.has_commands;
  if ((golden.sizes().size() == 1 || is_of_graph) && golden.count() == element_count(tensor.sizes))
    tensor.sizes = golden.sizes();
  if (is_of_graph && are_integers_alike(golden.data_type(), tensor.data_type))
    tensor.data_type = golden.data_type();
  Comparator comparator(golden, tensor.data_type, tensor.sizes, tolerance);
  comparator.add(0, elements.bytes());
  const std::uint64_t first = npy_header_bytes(tensor.data_type, tensor.sizes).size();
  const std::size_t size = size_of(tensor.data_type);
  return {model.resources[tensor.resource].name, expected,
          comparator.finish([=](std::uint64_t index) { return first + index * size; })};
}

OutputComparison compare_resource(const Model& model, const NamedResource& expected,
                                  std::span<const std::byte> contents, const Tolerance& tolerance) {
  return compare_golden(model, tensor_of(model, expected.resource), expected, contents, tolerance);
}

OutputComparison compare_golden(const Model& model, ResourceTensor tensor,
                                const NamedResource& expected, std::span<const std::byte> contents,
                                const Tolerance& tolerance) {
  OutputComparison output = compare_tensor(model, std::move(tensor), Elements(*expected.golden),
                                           expected.path, contents, tolerance);
  with_context("reading the golden file " + expected.path,
               [&] { expected.golden->require_intact(); });
  return output;
}

}  // namespace dmlop
