#include "job/bind.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/file_roles.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/binder.hpp"
#include "job/file_names.hpp"
#include "job/folder.hpp"
#include "job/header_merger.hpp"
#include "job/packed_elements.hpp"
#include "job/random_inputs.hpp"

namespace dmlop {
namespace {

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

NpyFile open_file(const TensorFile& source, const TensorDesc& desc, const std::string& tensor) {
  if (source.memory) return NpyFile::in_memory(*source.memory);
  std::optional<RawForm> form;
  if (source.raw) form = completed(*source.raw, desc, tensor, source.path);
  return NpyFile::open(PinnedFile(source.confinement, source.path), form);
}

// An Error about a file, as a finding at the place that names the file.
Diagnostic file_finding(const Description& description, const TensorFile& source,
                        const Error& error) {
  return source.written != nullptr ? description.document().at(*source.written, error)
                                   : finding_of(error);
}

// The sizes of a file for a desc; with strides, as many elements as these reach.
Sizes sizes_of_file(const TensorDesc& desc) {
  if (!desc.strides || desc.strides->size() != desc.sizes.size()) return desc.sizes;
  return {reached_elements(desc.sizes, *desc.strides).value_or(0)};
}

bool is_packed(const TensorDesc& desc, const NpyHeader& header) {
  const auto elements = element_count(sizes_of_file(desc));
  return desc.data_type && elements && is_packed(*desc.data_type, *elements, header);
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

// What files are to a job before it writes any.
FileRoles roles_of(const Description& description, const JobRequest& request) {
  FileRoles files;
  Diagnostics ignored;
  Binder inputs(description, request, Direction::input, ignored, "-i ");
  inputs.add(request.inputs);
  for (const auto& [tensor, file] : inputs.files()) {
    if (!file->memory && !file->random) files.add(file->path, "the file of " + tensor);
  }
  add_description(files, description.file(), "the description");
  return files;
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
      const TensorFile* source = binder.find(slot.field, slot.element);
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
          return is_packed(desc, opened.header())
                     ? unpacked(opened, *desc.data_type, sizes_of_file(desc))
                     : std::move(opened);
        });
        merge_header(description, slot, *source, file.header(), diagnostics);
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
  const FileRoles files = roles_of(description, request);
  std::vector<BoundOutput> outputs;
  for (const auto& [field, element] : all_slots(description, binder)) {
    const TensorFile* target = binder.find(field, element);
    const std::string tensor = tensor_name(field, element);
    if (target == nullptr) {
      if (purpose == Purpose::run && !request.outputs_may_be_dropped)
        binder.require(field, element);
      continue;
    }
    if (const std::string role = files.role_of(target->path); !role.empty())
      binder.refuse_target(*target, tensor + " would replace " + role + ": " + target->path);
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
  FileRoles files = roles_of(description, request);
  std::vector<Expectation> expected;
  for (const auto& [tensor, element] : all_slots(description, binder)) {
    const TensorFile* source = binder.find(tensor, element);
    if (source == nullptr) continue;
    FileRoles golden;
    golden.add(source->path, golden_role);
    for (const BoundOutput& output : outputs) {
      const std::string role = golden.role_of(output.path);
      if (role.empty()) continue;
      const bool updates = request.expected_may_be_missing;
      binder.usage(output.name() + " would replace " + role + ": " + source->path,
                   std::string("write the output to another file") +
                       (updates ? "" : ", or use --update-golden"));
    }
    const std::string name = tensor_name(tensor, element);
    if (request.expected_may_be_missing && is_standard_input(source->path)) {
      binder.usage("--update-golden cannot write to standard input", "name a file for " + name);
    } else if (request.expected_may_be_missing) {
      const std::string role = files.role_of(source->path);
      if (!role.empty())
        binder.usage("--update-golden would replace " + role + ": " + source->path,
                     "name another golden file for " + name);
      files.add(source->path, "the golden file of " + name);
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
      diagnostics.push_back(finding_of(error));
    }
  }
}

}  // namespace dmlop
