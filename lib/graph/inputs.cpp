// The files of a graph's inputs.
#include <algorithm>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "graph/edge_names.hpp"
#include "graph/lower.hpp"
#include "job/packed_elements.hpp"
#include "job/random_inputs.hpp"
#include "model/values.hpp"
#include "tensor/element.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

/// The one of the files that is called as the file of an edge; null if none is.
const NamedFile* file_called(const std::string& edge, const std::vector<NamedFile>& files) {
  const auto is_its = [&](const NamedFile& file) {
    return file.tensor == edge || file.tensor == safe_file_name(edge);
  };
  const auto found = std::ranges::find_if(files, is_its);
  return found == files.end() ? nullptr : &*found;
}

class InputBinder {
 public:
  InputBinder(LoweredGraph& graph, const JobRequest& request, Diagnostics& diagnostics)
      : graph_(graph), request_(request), diagnostics_(diagnostics), paths_(graph.inputs.size()) {}

  void bind() {
    for (const NamedFile& file : request_.inputs) {
      const NamedFile named = with_edge_name(graph_.model, file);
      const auto input = find(named);
      if (input) bind(*input, named);
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const NamedFile* file = file_called(name(i), request_.found.inputs);
      if (paths_[i].empty() && file != nullptr) bind(i, *file);
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const GraphInput& input = graph_.inputs[i];
      if (!paths_[i].empty() || input.types.empty()) continue;
      if (request_.random) {
        make_up(i, *request_.random);
        continue;
      }
      refuse("the input " + quoted(i) + (request_.is_of_library ? " is not given" : " has no file"),
             ErrorKind::usage, "it is " + text_of(input), remedy(i));
    }
  }

 private:
  void refuse(std::string message, ErrorKind kind, std::string rule = "",
              std::string suggestion = "") {
    diagnostics_.push_back({.kind = kind,
                            .file = graph_.model.file,
                            .message = std::move(message),
                            .rule = std::move(rule),
                            .suggestion = std::move(suggestion)});
  }

  void refuse(std::size_t index, const Error& error) {
    diagnostics_.push_back(finding_of(error, "the input " + quoted(index)));
    diagnostics_.back().file = graph_.model.file;
  }

  const std::string& name(std::size_t input) const {
    return graph_.model.resources[graph_.inputs[input].resource].name;
  }
  std::string quoted(std::size_t input) const { return "\"" + printable(name(input)) + "\""; }

  static std::string text_of(const GraphInput& input) {
    std::vector<std::string> types;
    for (const DataType type : input.types) types.emplace_back(name_of(type));
    return join(types, " or ") + " " + list_of(input.sizes) + ", " +
           counted(input.is_packed ? packed_bytes(input) : input.bytes, "byte");
  }

  static std::uint64_t packed_bytes(const GraphInput& input) {
    return (input.element_bytes + 1) / 2;
  }

  static bool is_packed(const GraphInput& input, const NpyFile& file) {
    if (input.is_packed) return file.data().size() == packed_bytes(input);
    return input.of_4_bits &&
           dmlop::is_packed(*input.of_4_bits, input.element_bytes, file.header());
  }

  std::optional<std::size_t> find(const NamedFile& file) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      names.push_back(name(i));
      if (name(i) == file.tensor) return i;
    }
    if (file.tensor.empty() && names.size() == 1) return 0;
    if (file.tensor.empty()) {
      refuse("which input is " + file.path + "? the graph has " + names_of_list(names),
             ErrorKind::usage, "",
             request_.is_of_library ? "give each input its name" : "write -i INPUT=" + file.path);
      return std::nullopt;
    }
    if (std::ranges::find(graph_.unread_inputs, file.tensor) != graph_.unread_inputs.end())
      return std::nullopt;
    const std::string nearest = nearest_name(file.tensor, names);
    refuse(
        "the graph has no input \"" + printable(file.tensor) + "\"", ErrorKind::usage, "",
        nearest.empty() ? "inputs: " + names_of_list(names) : "did you mean \"" + nearest + "\"?");
    return std::nullopt;
  }

  void bind(std::size_t index, const NamedFile& named) {
    if (!paths_[index].empty()) {
      refuse(
          "the input " + quoted(index) + " has two files: " + paths_[index] + " and " + named.path,
          ErrorKind::usage, "", "keep one of them");
      return;
    }
    paths_[index] = named.path;
    if (named.random) {
      make_up(index, *named.random);
      return;
    }
    try {
      auto file = std::make_shared<const NpyFile>(
          with_context("reading " + named.path, [&] { return open(index, named); }));
      if (!fits(index, *file, named.path)) return;
      const GraphInput& input = graph_.inputs[index];
      if (is_packed(input, *file))
        file = std::make_shared<const NpyFile>(
            unpacked(*file, *input.of_4_bits, {input.element_bytes}));
      fill(index, file, named.path);
    } catch (const Error& error) {
      refuse(index, error);
    }
  }

  // Numbers that suit the first node that reads the input.
  void make_up(std::size_t index, const RandomNumbers& numbers) {
    const std::size_t resource = graph_.inputs[index].resource;
    for (const ModelCommand& command : graph_.model.commands) {
      const auto* dispatch = std::get_if<DispatchCommand>(&command);
      if (dispatch == nullptr) continue;
      const Dispatchable& node = graph_.model.dispatchables[dispatch->dispatchable];
      for (const auto* bindings : {&dispatch->bindings, &node.owned}) {
        for (const TensorBinding& binding : *bindings) {
          const FieldSpec& field = *node.description->spec->find_field(binding.tensor);
          if (binding.range.resource == resource && field.is_input())
            return make_up(index, *node.description, field, binding.element, numbers);
        }
      }
    }
  }

  void make_up(std::size_t index, const Description& description, const FieldSpec& field,
               std::optional<std::size_t> element, RandomNumbers numbers) {
    try {
      // Inputs of one name in several nodes are different ones.
      numbers.seed += (index + 1) << 32;
      const auto file =
          std::make_shared<const NpyFile>(random_file(description, field, element, numbers));
      fill(index, file, "");
    } catch (const Error& error) {
      refuse(index, error);
    }
  }

  // What would give an input that has no file one.
  std::string remedy(std::size_t input) const {
    if (request_.is_of_library) return "pass the input " + quoted(input);
    const bool has_folder = !request_.found.golden_folder.empty();
    if (request_.is_of_batch && has_folder)
      return "put " + safe_file_name(name(input)) + ".npy beside the graph";
    if (request_.is_of_batch)
      return "name it in a job: {\"graph\": \"" + to_text(to_path(graph_.model.file).filename()) +
             "\", \"bindings\": {\"" + name(input) + "\": \"FILE.npy\"}}";
    return "write -i " + shell_quoted(name(input) + "=") + "FILE.npy";
  }

  NpyFile open(std::size_t index, const NamedFile& named) const {
    if (named.memory) return NpyFile::in_memory(*named.memory);
    std::optional<RawForm> form;
    if (named.raw) form = completed(*named.raw, graph_.inputs[index]);
    return NpyFile::open(PinnedFile(named.confinement, named.path), form);
  }

  static RawForm completed(const RawForm& form, const GraphInput& input) {
    const RawForm complete = input.types.size() == 1
                                 ? form.completed(input.types.front(), input.sizes)
                                 : form.completed({}, input.sizes);
    if (complete.data_type) return complete;
    throw Error(ErrorKind::invalid_input,
                "a raw file has no header, and nothing else says its type: write FILE:" +
                    (input.types.empty() ? std::string("FLOAT32")
                                         : std::string(name_of(input.types.front()))));
  }

  static std::string remedy_of_order(const Sizes& sizes, const Sizes& wanted) {
    const bool is_unclear = is_transposed(sizes, wanted) && sizes.size() != wanted.size();
    return is_unclear ? "" : Advice(rearranging(sizes, wanted)).text();
  }

  // A desc has other dimensions than its model had, and may be of another type than other readers'
  // descs: the order of elements counts.
  static bool is_in_order(const GraphInput& input, const Sizes& sizes) {
    const bool is_known = input.is_in_order && element_count(sizes) == element_count(input.sizes);
    return !is_known || are_merged(sizes, input.sizes);
  }

  bool fits(std::size_t index, const NpyFile& file, const std::string& path) {
    const GraphInput& input = graph_.inputs[index];
    if (input.types.empty()) return true;
    const NpyHeader& header = file.header();
    // Memory may be of a type of 4 bits; a file never is.
    const auto is_it = [&](DataType type) {
      return type == header.data_type || stored_as(type) == header.data_type;
    };
    const bool has_type = std::any_of(input.types.begin(), input.types.end(), is_it);
    const bool packed = is_packed(input, file);
    const bool has_bytes =
        packed || (!input.is_packed && file.data().size() == input.element_bytes);
    if (has_type && has_bytes && (packed || is_in_order(input, header.sizes)))
      return packed || fits_4_bits(index, file, path);
    refuse("the input " + quoted(index) + " is " + text_of(input) + ", but " + path + " has " +
               std::string(name_of(header.data_type)) + " " + list_of(header.sizes) + ", " +
               counted(file.data().size(), "byte"),
           ErrorKind::invalid_input, "",
           has_type && has_bytes ? remedy_of_order(header.sizes, input.sizes) : "");
    return false;
  }

  bool fits_4_bits(std::size_t index, const NpyFile& file, const std::string& path) {
    if (!graph_.inputs[index].of_4_bits) return true;
    const DataType type = *graph_.inputs[index].of_4_bits;
    const auto wrong = first_beyond_4_bits(type, file.data());
    if (!wrong) return true;
    refuse("element " + std::to_string(*wrong) + " of " + path + " is " +
               element_text(stored_as(type), &file.data()[*wrong]) + ", which does not fit " +
               std::string(name_of(type)),
           ErrorKind::invalid_input,
           "the input " + quoted(index) + " has a byte for each element, from " + range_text(type));
    return false;
  }

  void fill(std::size_t index, const std::shared_ptr<const NpyFile>& file,
            const std::string& path) {
    Resource& resource = graph_.model.resources[graph_.inputs[index].resource];
    resource.initial = values_of_file(file, path);
    resource.size = std::max(resource.size, (resource.initial.bytes + 3) / 4 * 4);
  }

  LoweredGraph& graph_;
  const JobRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<std::string> paths_;  // of each input
};

}  // namespace

void bind_inputs(LoweredGraph& graph, const JobRequest& request, Diagnostics& diagnostics) {
  InputBinder(graph, request, diagnostics).bind();
}

bool has_input_beside(const LoweredGraph& graph, const FolderFiles& found) {
  return std::ranges::any_of(graph.inputs, [&](const GraphInput& input) {
    return file_called(graph.model.resources[input.resource].name, found.inputs) != nullptr;
  });
}

NamedFile with_edge_name(const Model& model, NamedFile file) {
  const std::string text = file.tensor.empty() ? file.path : file.tensor + "=" + file.path;
  for (std::size_t end = text.rfind('='); end != std::string::npos && end > 0;
       end = text.rfind('=', end - 1)) {
    if (end + 1 == text.size() || model.find_resource(text.substr(0, end)) == nullptr) continue;
    file.tensor = text.substr(0, end);
    file.path = text.substr(end + 1);
    break;
  }
  return file;
}

}  // namespace dmlop
