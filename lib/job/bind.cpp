#include "job/bind.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/file_names.hpp"
#include "job/folder.hpp"
#include "job/random_inputs.hpp"
#include "tensor/element.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

constexpr const char* expect_option = "--expect ";

enum class Direction { input, output };

std::vector<std::string> tensor_names(const OperatorSpec& spec, Direction direction) {
  std::vector<std::string> names;
  for (const FieldSpec& field : spec.fields) {
    if (direction == Direction::input ? field.is_input() : field.is_output())
      names.push_back(field.name);
  }
  return names;
}

/// A file for one tensor, and where it was named: in the description or on the command line.
struct Source {
  std::string path;  // "": named in a way that has its own finding
  const json::Value* written = nullptr;
  SharedConfinement confinement = {};
  std::optional<MemoryTensor> memory = {};
  std::optional<RawForm> raw = {};
  std::optional<RandomNumbers> random = {};
};

bool is_same_file(const Source& source, const std::string& written) {
  return !source.memory && !source.random && dmlop::is_same_file(source.path, written);
}

class Binder {
 public:
  /// Files named in the description's bindings and on the command line with `option`.
  Binder(const Description& description, const JobRequest& request, Direction direction,
         Diagnostics& diagnostics, std::string option)
      : description_(description),
        request_(request),
        direction_(direction),
        diagnostics_(diagnostics),
        names_(tensor_names(*description.spec, direction)),
        option_(std::move(option)) {
    if (option_ == expect_option) return;  // bindings name outputs, not what to expect
    for (const Binding& binding : description.bindings) {
      if (!is_mine(binding.tensor)) continue;
      const bool is_path = !binding.path.empty();
      if (binding.random) {
        sources_[binding.tensor][binding.element.value_or(0)] = {
            name_of(*binding.random), binding.written, {}, {}, {}, binding.random};
        continue;
      }
      sources_[binding.tensor][binding.element.value_or(0)] = {
          is_path ? path_beside(description.file(), binding.path) : "",
          binding.written,
          request.confinement,
          {},
          binding.raw};
    }
  }

  void add(const std::vector<NamedFile>& files) {
    std::map<std::string, Files> named;
    std::vector<std::string> unnamed;
    for (const NamedFile& file : files) {
      if (file.tensor.empty() && names_.size() != 1) {
        unnamed.push_back(file.path);
        continue;
      }
      ElementName name = element_name(file.tensor.empty() ? names_.front() : file.tensor);
      if (!is_mine(name.field)) {
        refuse_name(name.field);
        continue;
      }
      Files& mine = named[name.field];
      const bool is_array = description_.spec->find_field(name.field)->is_tensor_array();
      const std::size_t element = name.element.value_or(is_array ? mine.size() : 0);
      if (mine.contains(element)) {
        usage(file_name(name.field, element) + " is given two files: " + mine[element].path +
                  " and " + file.path,
              "keep one of them");
        mine[element] = {};
        continue;
      }
      mine[element] = {file.path, nullptr, file.confinement, file.memory, file.raw};
    }
    for (auto& [field, mine] : named) sources_[field] = std::move(mine);
    const std::string only = unnamed.size() == 1 ? only_output(named) : "";
    if (!only.empty()) {
      const auto file = std::find_if(files.begin(), files.end(),
                                     [](const NamedFile& each) { return each.tensor.empty(); });
      sources_[only] = {{0, {file->path, nullptr, file->confinement, file->memory, file->raw}}};
    } else if (!unnamed.empty()) {
      refuse_unnamed(unnamed);
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  /// Null where the tensor has no file, or none that can be used.
  const Source* find(const std::string& tensor, std::optional<std::size_t> element = {}) const {
    const auto found = sources_.find(tensor);
    if (found == sources_.end()) return nullptr;
    const auto source = found->second.find(element.value_or(0));
    return source == found->second.end() || source->second.path.empty() ? nullptr : &source->second;
  }

  bool is_named(const std::string& tensor, std::optional<std::size_t> element = {}) const {
    const auto found = sources_.find(tensor);
    return is_ambiguous_ ||
           (found != sources_.end() && found->second.contains(element.value_or(0)));
  }

  /// Whether the files speak of a field that the description leaves out. Files without names
  /// count as those of the fields that the message about them proposes.
  bool brings(const FieldSpec& field) const {
    if (sources_.contains(field.name)) return is_named(field.name);
    return is_ambiguous_ && (!field.optional || guessed_.contains(field.name));
  }

  /// How many elements of an array of tensors the files speak of.
  std::size_t element_count(const std::string& tensor) const {
    const auto found = sources_.find(tensor);
    const bool is_empty = found == sources_.end() || found->second.empty();
    return is_empty ? 0 : found->second.rbegin()->first + 1;
  }

  void require(const std::string& tensor, std::optional<std::size_t> element = {}) {
    if (is_named(tensor, element)) return;
    const std::string name = element ? file_name(tensor, *element) : tensor;
    const bool is_input = direction_ == Direction::input && !element;
    const std::string misnamed =
        is_input ? misnamed_input(request_, description_, tensor, true) : "";
    usage("no file is given for " + name,
          (misnamed.empty() ? "" : "rename " + misnamed + " to " + tensor + ".npy, or ") +
              how_to_name(tensor, element, name));
  }

  void refuse_target(const Source& target, std::string message) {
    usage(std::move(message), "write the output to another file");
    if (target.written == nullptr) return;
    diagnostics_.back() =
        description_.document().at(*target.written, std::move(diagnostics_.back().message));
    diagnostics_.back().suggestion = "write the output to another file";
  }

  void usage(std::string message, std::string suggestion) {
    Diagnostic diagnostic{.kind = ErrorKind::usage,
                          .file = description_.file(),
                          .message = std::move(message),
                          .suggestion = std::move(suggestion)};
    diagnostics_.push_back(std::move(diagnostic));
  }

 private:
  using Files = std::map<std::size_t, Source>;  // by element; a single tensor is element 0

  std::string file_name(const std::string& field, std::size_t element) const {
    const bool is_array = description_.spec->find_field(field)->is_tensor_array();
    return is_array ? field + "." + std::to_string(element) : field;
  }

  std::string how_to_name(const std::string& tensor, std::optional<std::size_t> element,
                          const std::string& name) const {
    if (request_.is_of_library)
      return direction_ == Direction::input ? "pass the input " + name
                                            : "pass a target for " + name;
    const std::string binding = "\"bindings\": {\"" + tensor + "\": " + files_up_to(element) + "}";
    if (request_.is_of_batch) return "add " + binding + " to the job" + beside_description(name);
    const bool needs_name = names_.size() > 1 || element;
    const std::string option = "add " + option_ + (needs_name ? tensor + "=" : "") + "FILE.npy";
    if (description_.document().is_of_command_line()) return option;
    return option + ", or " + binding + " to the description";
  }

  // A list names the files of all elements up to the one that is wanted.
  static std::string files_up_to(std::optional<std::size_t> element) {
    if (!element) return "\"FILE.npy\"";
    constexpr std::size_t listed = 4;
    std::string files = *element < listed ? "" : "..., ";
    const std::size_t first = *element < listed ? 0 : *element;
    for (std::size_t i = first; i <= *element; ++i)
      files += (i > first ? ", " : "") + ("\"FILE" + std::to_string(i)) + ".npy\"";
    return "[" + files + "]";
  }

  // A job in a folder finds its files by their names.
  std::string beside_description(const std::string& name) const {
    const std::string file = to_text(to_path(description_.file()).filename());
    return file == "op.json" ? ", or put " + name + ".npy beside op.json" : "";
  }

  bool is_mine(const std::string& tensor) const {
    return std::find(names_.begin(), names_.end(), tensor) != names_.end();
  }

  // The output that a file without a name can only be meant for: the description has no other, but
  // those that are named. "" where there is none, or a choice.
  std::string only_output(const std::map<std::string, Files>& named) const {
    if (direction_ != Direction::output) return "";
    std::vector<std::string> given;
    for (const std::string& name : names_) {
      const Field& field = *description_.find(name);
      if (!field.is_absent() && !named.contains(name)) given.push_back(name);
    }
    const bool is_one = given.size() == 1 && !description_.find(given[0])->spec->is_tensor_array();
    return is_one ? given[0] : "";
  }

  // Files without names are probably meant for the tensors that have none, in their order.
  void refuse_unnamed(const std::vector<std::string>& paths) {
    is_ambiguous_ = true;
    std::vector<std::string> options;
    for (const std::string& name : names_) {
      if (options.size() == paths.size() || sources_.contains(name)) continue;
      options.push_back(request_.is_of_library ? name
                                               : option_ + name + "=" + paths[options.size()]);
      guessed_.insert(name);
    }
    const bool is_one = paths.size() == 1;
    usage((is_one ? "which tensor is " : "which tensors are ") + join(paths) + "? DML_OPERATOR_" +
              description_.spec->name + " has " + (names_.empty() ? "none of these" : join(names_)),
          names_.empty()    ? std::string("leave ") + (is_one ? "the file" : "the files") + " out"
          : options.empty() ? "each of them has a file; leave out what is too much"
                            : "write " + join(options, " "));
  }

  void refuse_name(const std::string& tensor) {
    const bool is_input = direction_ == Direction::input;
    const FieldSpec* field = description_.spec->find_field(tensor);
    if (field != nullptr && field->is_tensor()) {
      const std::string other = is_input ? "output" : "input";
      usage(tensor + " is an " + other,
            request_.is_of_library ? "pass it as an " + other
                                   : std::string("name its file with ") + (is_input ? "-o" : "-i"));
      return;
    }
    const std::string nearest = nearest_name(tensor, names_);
    if (!nearest.empty()) sources_[nearest][0] = {};
    const std::string what = is_input ? "input" : "output";
    usage("DML_OPERATOR_" + description_.spec->name + " has no " + what + " \"" + tensor + "\"",
          nearest.empty() ? what + "s: " + join(names_) : "did you mean \"" + nearest + "\"?");
  }

  const Description& description_;
  const JobRequest& request_;
  Direction direction_;
  Diagnostics& diagnostics_;
  std::vector<std::string> names_;
  std::string option_;  // "-i "
  std::map<std::string, Files> sources_;
  bool is_ambiguous_ = false;      // a file was given without a name where several are possible
  std::set<std::string> guessed_;  // the tensors that such files are probably meant for
};

/// One tensor of a field that files may be named for: the field itself, or an element of an array.
struct NamedTensor {
  std::string field;
  std::optional<std::size_t> element;
};

// The tensors of a field that are there, after those for which only a file is named came to be.
std::vector<NamedTensor> slots_of(Description& description, const Binder& binder,
                                  const std::string& name) {
  Field& field = *description.find(name);
  if (!field.spec->is_tensor_array()) {
    if (field.is_absent() && field.written == nullptr && binder.brings(*field.spec))
      field.value = TensorDesc{};
    if (field.is_absent()) return {};
    return {{name, std::nullopt}};
  }
  if (field.is_absent() && field.written == nullptr && binder.element_count(name) > 0)
    field.value = std::vector<TensorDesc>(binder.element_count(name));
  const auto* tensors = std::get_if<std::vector<TensorDesc>>(&field.value);
  std::vector<NamedTensor> slots;
  for (std::size_t j = 0; tensors != nullptr && j < tensors->size(); ++j)
    slots.push_back({name, j});
  return slots;
}

// Compares a tensor desc with its file, or takes from the file what the desc leaves out.
class HeaderMerger {
 public:
  HeaderMerger(Description& description, const NamedTensor& slot, const Source& source,
               Diagnostics& diagnostics)
      : description_(description),
        slot_(slot),
        tensor_(tensor_name(slot.field, slot.element)),
        path_(source.path),
        is_memory_(source.memory.has_value()),
        raw_(source.raw),
        diagnostics_(diagnostics) {
    if (is_memory_ && !source.memory->strides.empty()) strides_ = source.memory->strides;
  }

  void merge(const NpyHeader& header) {
    TensorDesc& desc = *description_.find_tensor(slot_.field, slot_.element);
    merge_type(desc, header);
    if (strides_) {
      merge_sizes(desc, header);
      merge_strides(desc);
    } else if (desc.strides) {
      check_strided_buffer(desc, header);
    } else {
      merge_sizes(desc, header);
      if (header.fortran_order && desc.sizes == header.sizes) {
        desc.strides = fortran_strides(desc.sizes);
      }
    }
  }

 private:
  void add(std::string attribute, std::string message, std::string suggestion,
           std::string rule = "") {
    Diagnostic diagnostic = description_.at(
        Place{{slot_.field, std::move(attribute)}, slot_.element}, std::move(message));
    const std::string file = is_memory_ ? "buffer" : raw_ ? "raw file" : ".npy file";
    diagnostic.rule = rule.empty() ? "a tensor desc must agree with its " + file : std::move(rule);
    diagnostic.suggestion = std::move(suggestion);
    diagnostics_.push_back(std::move(diagnostic));
  }

  // After a finding the desc counts, as it is what other fields were written for.
  void merge_type(TensorDesc& desc, const NpyHeader& header) {
    const DataType type = raw_ ? raw_->data_type.value_or(header.data_type) : header.data_type;
    if (!desc.data_type) desc.data_type = type;
    if (*desc.data_type == type || stored_as(*desc.data_type) == type) return;
    const std::string found(name_of(type));
    add("DataType",
        tensor_ + ".DataType is " + std::string(name_of(*desc.data_type)) + ", but " + path_ +
            " has " + found,
        "write \"" + found + "\", or " +
            (is_memory_ ? "pass a buffer of this type"
             : raw_     ? "read the file as " + path_ + ":" + std::string(name_of(*desc.data_type))
                        : "save array.astype(" + numpy_name(*desc.data_type) + ")"));
  }

  void merge_sizes(TensorDesc& desc, const NpyHeader& header) {
    if (desc.sizes.empty()) {
      desc.sizes = header.sizes;
      if (!is_memory_ && !raw_) desc.file = path_;
    }
    if (desc.sizes == header.sizes) return;
    const bool may_be_reshaped = element_count(desc.sizes) == element_count(header.sizes);
    add("Sizes",
        tensor_ + ".Sizes is " + list_of(desc.sizes) + ", but " + path_ + " has " +
            list_of(header.sizes),
        "write " + list_of(header.sizes) +
            (is_memory_        ? ", or pass a buffer of these sizes"
             : raw_            ? ", or leave the sizes behind the file's name out"
             : may_be_reshaped ? ", or save " + reshape_call(desc.sizes)
                               : ", or name another file"));
  }

  // Those of a buffer in memory are taken, or must be those of the desc.
  void merge_strides(TensorDesc& desc) {
    if (!desc.strides) desc.strides = strides_;
    if (desc.strides == strides_) return;
    add("Strides",
        tensor_ + ".Strides is " + list_of(*desc.strides) + ", but " + path_ + " has " +
            list_of(*strides_),
        "write " + list_of(*strides_) + ", or pass a buffer with these strides");
  }

  // With strides the file is a plain buffer of elements: it must hold all that they reach.
  void check_strided_buffer(const TensorDesc& desc, const NpyHeader& header) {
    if (desc.sizes.empty()) {
      add("Strides", tensor_ + " has Strides but no Sizes", "write the Sizes, or leave Strides out",
          "with Strides a .npy file is a plain buffer, whose shape says nothing");
      return;
    }
    const bool usable = desc.strides->size() == desc.sizes.size() &&
                        std::find(desc.sizes.begin(), desc.sizes.end(), 0U) == desc.sizes.end();
    if (!usable) return;  // reported by validation
    const auto needed = reached_elements(desc.sizes, *desc.strides);
    const std::uint64_t held = element_count(header.sizes).value_or(0);
    if (!needed || *needed <= held) return;
    add("Strides",
        tensor_ + ".Strides reach " + counted(*needed, "element") + ", but " + path_ + " has " +
            std::to_string(held),
        std::string("make the Strides or Sizes smaller, or ") +
            (is_memory_ ? "pass a larger buffer" : "bind a larger file"),
        std::string("(sum of (size - 1) * stride) + 1 elements must be in the ") +
            (is_memory_ ? "buffer" : "file"));
  }

  Description& description_;
  NamedTensor slot_;
  std::string tensor_;
  std::string path_;
  bool is_memory_;
  std::optional<RawForm> raw_;
  std::optional<Strides> strides_;  // of a buffer in memory
  Diagnostics& diagnostics_;
};

// What a raw file leaves open is the desc's. With Strides it is a plain buffer of elements.
RawForm completed(const RawForm& form, const TensorDesc& desc, const std::string& tensor,
                  const std::string& path) {
  RawForm complete = form.completed(desc.data_type, desc.strides ? Sizes{} : desc.sizes);
  const std::string type =
      complete.data_type ? std::string(name_of(*complete.data_type)) : "FLOAT32";
  const bool has_sizes = !complete.sizes.empty() || desc.strides;
  if (complete.data_type && has_sizes) return complete;
  const std::string what = complete.data_type ? "sizes" : has_sizes ? "type" : "type and sizes";
  throw Error(ErrorKind::invalid_input, "a raw file has no header, and nothing else says the " +
                                            what + " of " + tensor + ": write " + path + ":" +
                                            type + (has_sizes ? "" : ":1,1,4,4") +
                                            ", or DataType and Sizes in the desc");
}

// An input whose elements are made up when the description is complete.
BoundInput random_input(const NamedTensor& slot, const RandomNumbers& numbers,
                        const json::Value* written) {
  const MemoryTensor unknown{
      .data_type = DataType::UInt8, .sizes = {1}, .strides = {}, .bytes = {}};
  return {slot.field, NpyFile::in_memory(unknown), name_of(numbers), slot.element, numbers,
          written};
}

NpyFile open_file(const Source& source, const TensorDesc& desc, const std::string& tensor) {
  if (source.memory) return NpyFile::in_memory(*source.memory);
  std::optional<RawForm> form;
  if (source.raw) form = completed(*source.raw, desc, tensor, source.path);
  return NpyFile::open(PinnedFile(source.confinement, source.path), form);
}

// An Error about a file, as a finding at the place that names the file.
Diagnostic file_finding(const Description& description, const Source& source, const Error& error) {
  Diagnostic diagnostic;
  if (source.written != nullptr) {
    diagnostic = description.document().at(*source.written, error.what());
  } else {
    diagnostic.message = error.what();
  }
  diagnostic.kind = error.kind();
  return diagnostic;
}

// Elements of 4 bits that a .npy file has packed, two in a byte: it has half as many bytes as the
// desc has elements.
bool is_packed(const TensorDesc& desc, const NpyHeader& header) {
  if (!desc.data_type || info(*desc.data_type).bits != 4 || desc.strides) return false;
  const auto elements = element_count(desc.sizes), bytes = element_count(header.sizes);
  const bool is_in_order = !header.fortran_order || header.sizes.size() == 1;
  return elements && bytes && *elements > 1 && *bytes == (*elements + 1) / 2 && is_in_order &&
         size_of(header.data_type) == 1;
}

NpyFile unpacked(const NpyFile& file, const TensorDesc& desc) {
  Buffer elements(*element_count(desc.sizes), "unpacked elements");
  unpack_4_bits(*desc.data_type, file.data(), elements.bytes());
  file.require_intact();
  return NpyFile::holding(stored_as(*desc.data_type), desc.sizes, std::move(elements));
}

std::vector<NamedTensor> all_slots(Description& description, const Binder& binder) {
  std::vector<NamedTensor> slots;
  for (const std::string& name : binder.names()) {
    for (const NamedTensor& slot : slots_of(description, binder, name)) slots.push_back(slot);
  }
  return slots;
}

// Files for some elements of an array of tensors only, or for more than it has.
void refuse_other_count(const Description& description, Binder& binder, const std::string& name,
                        std::size_t tensors) {
  const std::size_t files = binder.element_count(name);
  const Field& field = *description.find(name);
  const bool is_complete = files == 0 || files == tensors;
  if (!field.spec->is_tensor_array() || field.is_absent() || is_complete) return;
  binder.usage(name + " has " + counted(tensors, "tensor") + ", but there are files for " +
                   std::to_string(files),
               "name one file for each tensor");
}

// The output that a file would be written by, too; devices take any number of them.
const BoundOutput* writer_of(const std::vector<BoundOutput>& outputs, const std::string& path) {
  const bool is_stream = is_standard_output(path);
  if (!is_stream && may_have_several_writers(path)) return nullptr;
  const auto is_it = [&](const BoundOutput& other) {
    return is_stream ? is_standard_output(other.path) : names_same_file(other.path, path);
  };
  const auto found = std::find_if(outputs.begin(), outputs.end(), is_it);
  return found == outputs.end() ? nullptr : &*found;
}

}  // namespace

std::vector<BoundInput> bind_inputs(Description& description, const JobRequest& request,
                                    Purpose purpose, Diagnostics& diagnostics) {
  Binder binder(description, request, Direction::input, diagnostics, "-i ");
  binder.add(request.inputs);
  std::vector<BoundInput> inputs;
  int from_standard_input = is_standard_input(request.description_path) ? 1 : 0;
  for (const std::string& name : binder.names()) {
    const auto slots = slots_of(description, binder, name);
    for (const NamedTensor& slot : slots) {
      const Source* source = binder.find(slot.field, slot.element);
      TensorDesc& desc = *description.find_tensor(slot.field, slot.element);
      const bool is_made_up = source != nullptr
                                  ? source->random.has_value()
                                  : request.random && !binder.is_named(slot.field, slot.element);
      desc.has_file =
          !is_made_up && (binder.is_named(slot.field, slot.element) || purpose == Purpose::run);
      if (is_made_up) {
        inputs.push_back(source != nullptr ? random_input(slot, *source->random, source->written)
                                           : random_input(slot, *request.random, nullptr));
        continue;
      }
      if (source == nullptr) {
        if (purpose == Purpose::run) binder.require(slot.field, slot.element);
        continue;
      }
      const std::string tensor = tensor_name(slot.field, slot.element);
      if (!source->memory && is_standard_input(source->path) && ++from_standard_input > 1) {
        binder.usage("standard input can be read once only", "name a file for " + tensor);
        continue;
      }
      try {
        NpyFile file = with_context("reading " + tensor + " from " + source->path, [&] {
          NpyFile opened = open_file(*source, desc, tensor);
          return is_packed(desc, opened.header()) ? unpacked(opened, desc) : std::move(opened);
        });
        HeaderMerger(description, slot, *source, diagnostics).merge(file.header());
        inputs.push_back({slot.field, std::move(file), source->path, slot.element});
      } catch (const Error& error) {
        diagnostics.push_back(file_finding(description, *source, error));
      }
    }
    refuse_other_count(description, binder, name, slots.size());
  }
  return inputs;
}

void make_random_inputs(const Description& description, std::vector<BoundInput>& inputs,
                        Purpose purpose, Diagnostics& diagnostics) {
  for (BoundInput& input : inputs) {
    if (!input.random) continue;
    const FieldSpec& field = *description.spec->find_field(input.tensor);
    try {
      NpyFile file = random_file(description, field, input.element, *input.random);
      if (purpose == Purpose::run) input.file = std::move(file);
    } catch (const Error& error) {
      diagnostics.push_back(
          file_finding(description, {.path = input.path, .written = input.written}, error));
    }
  }
  if (purpose == Purpose::check)
    std::erase_if(inputs, [](const BoundInput& input) { return input.random.has_value(); });
}

std::vector<BoundOutput> bind_outputs(Description& description, const JobRequest& request,
                                      Purpose purpose, Diagnostics& diagnostics) {
  Binder binder(description, request, Direction::output, diagnostics, "-o ");
  binder.add(request.outputs);
  Diagnostics ignored;
  Binder sources(description, request, Direction::input, ignored, "-i ");
  sources.add(request.inputs);
  std::vector<BoundOutput> outputs;
  for (const auto& [field, element] : all_slots(description, binder)) {
    const Source* target = binder.find(field, element);
    const std::string tensor = tensor_name(field, element);
    if (target == nullptr) {
      if (purpose == Purpose::run && !request.outputs_may_be_dropped)
        binder.require(field, element);
      continue;
    }
    for (const std::string& input : sources.names()) {
      const Source* source = sources.find(input);
      if (source == nullptr || !is_same_file(*source, target->path)) continue;
      binder.refuse_target(*target,
                           tensor + " and " + input + " are the same file: " + target->path);
    }
    if (is_same_file(description.file(), target->path)) {
      binder.refuse_target(*target, tensor + " would replace the description " + target->path);
    }
    if (const BoundOutput* other = writer_of(outputs, target->path)) {
      binder.refuse_target(
          *target, tensor + " and " + other->name() + " both go to " +
                       (is_standard_output(target->path) ? "standard output" : target->path));
    }
    outputs.push_back({field, target->path, element, target->raw.has_value()});
  }
  return outputs;
}

std::vector<Expectation> bind_expected(Description& description, const JobRequest& request,
                                       const std::vector<BoundOutput>& outputs,
                                       Diagnostics& diagnostics) {
  Binder binder(description, request, Direction::output, diagnostics, expect_option);
  binder.add(request.expected);
  Diagnostics ignored;
  Binder inputs(description, request, Direction::input, ignored, "-i ");
  inputs.add(request.inputs);
  std::vector<Expectation> expected;
  for (const auto& [tensor, element] : all_slots(description, binder)) {
    const Source* source = binder.find(tensor, element);
    if (source == nullptr) continue;
    for (const BoundOutput& output : outputs) {
      if (!is_same_file(source->path, output.path)) continue;
      binder.usage(output.name() + " would replace the golden file " + source->path,
                   "write the output to another file, or use --update-golden");
    }
    for (const std::string& input : inputs.names()) {
      const Source* file = inputs.find(input);
      if (!request.expected_may_be_missing || file == nullptr) continue;
      if (!is_same_file(*file, source->path)) continue;
      binder.usage("the golden file and " + input + " are the same file: " + source->path,
                   "name another golden file, as --update-golden may replace it");
    }
    for (const Expectation& other : expected) {
      if (!request.expected_may_be_missing || !names_same_file(other.path, source->path)) continue;
      binder.usage(tensor_name(tensor, element) + " and " + other.name() +
                       " have the same golden file: " + source->path,
                   "name another golden file, as --update-golden may replace it");
    }
    Expectation expectation{
        tensor,  source->path, std::nullopt,       request.tolerance.value_or(Tolerance{}),
        element, source->raw,  source->confinement};
    if (source->raw && request.expected_may_be_missing &&
        (source->raw->offset || source->raw->big_endian))
      binder.usage("--update-golden replaces the whole golden file " + source->path +
                       ", and in this machine's byte order",
                   "write " + source->path + ":raw");
    try {
      const bool is_missing = request.expected_may_be_missing && is_absent(source->path);
      if (!is_missing && !source->raw) {
        expectation.file = with_context("reading the golden file " + source->path, [&] {
          return source->memory ? NpyFile::in_memory(*source->memory)
                                : NpyFile::open(PinnedFile(source->confinement, source->path));
        });
      }
      expected.push_back(std::move(expectation));
    } catch (const Error& error) {
      diagnostics.push_back(file_finding(description, *source, error));
      std::error_code unknown;
      if (std::filesystem::status(to_path(source->path), unknown).type() ==
          std::filesystem::file_type::not_found)
        diagnostics.back().suggestion = "create it with --update-golden";
    }
  }
  return expected;
}

void open_raw_expected(const Description& description, const JobRequest& request,
                       std::vector<Expectation>& expected, Diagnostics& diagnostics) {
  for (Expectation& expectation : expected) {
    const TensorDesc* desc = description.find_tensor(expectation.tensor, expectation.element);
    if (!expectation.raw || desc == nullptr || !desc->data_type || desc->sizes.empty()) continue;
    try {
      if (request.expected_may_be_missing && is_absent(expectation.path)) continue;
      const RawForm form = expectation.raw->completed(desc->data_type, desc->sizes);
      expectation.file = with_context("reading the golden file " + expectation.path, [&] {
        return NpyFile::open_raw(PinnedFile(expectation.confinement, expectation.path), form);
      });
    } catch (const Error& error) {
      diagnostics.push_back({.kind = error.kind(), .message = error.what()});
    }
  }
}

}  // namespace dmlop
