#include "job/binder.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/file_names.hpp"
#include "job/folder.hpp"

namespace dmlop {
namespace {

std::vector<std::string> tensor_names(const OperatorSpec& spec, Direction direction) {
  std::vector<std::string> names;
  for (const FieldSpec& field : spec.fields) {
    if (direction == Direction::input ? field.is_input() : field.is_output())
      names.push_back(field.name);
  }
  return names;
}

}  // namespace

Binder::Binder(const Description& description, const JobRequest& request, Direction direction,
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

void Binder::add(const std::vector<NamedFile>& files) {
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

std::map<std::string, const TensorFile*> Binder::files() const {
  std::map<std::string, const TensorFile*> files;
  for (const auto& [field, elements] : sources_) {
    for (const auto& [element, file] : elements) files[file_name(field, element)] = &file;
  }
  return files;
}

const TensorFile* Binder::find(const std::string& tensor,
                               std::optional<std::size_t> element) const {
  const auto found = sources_.find(tensor);
  if (found == sources_.end()) return nullptr;
  const auto source = found->second.find(element.value_or(0));
  return source == found->second.end() || source->second.path.empty() ? nullptr : &source->second;
}

bool Binder::is_named(const std::string& tensor, std::optional<std::size_t> element) const {
  const auto found = sources_.find(tensor);
  return is_ambiguous_ || (found != sources_.end() && found->second.contains(element.value_or(0)));
}

bool Binder::brings(const FieldSpec& field) const {
  if (sources_.contains(field.name)) return is_named(field.name);
  return is_ambiguous_ && (!field.optional || guessed_.contains(field.name));
}

std::size_t Binder::element_count(const std::string& tensor) const {
  const auto found = sources_.find(tensor);
  const bool is_empty = found == sources_.end() || found->second.empty();
  return is_empty ? 0 : found->second.rbegin()->first + 1;
}

void Binder::require(const std::string& tensor, std::optional<std::size_t> element) {
  if (is_named(tensor, element)) return;
  const std::string name = element ? file_name(tensor, *element) : tensor;
  const bool is_input = direction_ == Direction::input && !element;
  const std::string misnamed = is_input ? misnamed_input(request_, description_, tensor, true) : "";
  usage("no file is given for " + name,
        (misnamed.empty() ? "" : "rename " + misnamed + " to " + tensor + ".npy, or ") +
            how_to_name(tensor, element, name));
}

void Binder::refuse_target(const TensorFile& target, std::string message) {
  usage(std::move(message), "write the output to another file");
  if (target.written == nullptr) return;
  diagnostics_.back() =
      description_.document().at(*target.written, std::move(diagnostics_.back().message));
  diagnostics_.back().suggestion = "write the output to another file";
}

void Binder::usage(std::string message, std::string suggestion) {
  Diagnostic diagnostic{.kind = ErrorKind::usage,
                        .file = description_.file(),
                        .message = std::move(message),
                        .suggestion = std::move(suggestion)};
  diagnostics_.push_back(std::move(diagnostic));
}

std::string Binder::file_name(const std::string& field, std::size_t element) const {
  const bool is_array = description_.spec->find_field(field)->is_tensor_array();
  return is_array ? field + "." + std::to_string(element) : field;
}

std::string Binder::how_to_name(const std::string& tensor, std::optional<std::size_t> element,
                                const std::string& name) const {
  if (request_.is_of_library)
    return direction_ == Direction::input ? "pass the input " + name : "pass a target for " + name;
  const std::string binding = "\"bindings\": {\"" + tensor + "\": " + files_up_to(element) + "}";
  if (request_.is_of_batch) return "add " + binding + " to the job" + beside_description(name);
  const bool needs_name = names_.size() > 1 || element;
  std::string option = "add " + option_ + (needs_name ? tensor + "=" : "") + "FILE.npy";
  if (description_.document().is_of_command_line()) return option;
  return option + ", or " + binding + " to the description";
}

// A list names the files of all elements up to the one that is wanted.
std::string Binder::files_up_to(std::optional<std::size_t> element) {
  if (!element) return "\"FILE.npy\"";
  constexpr std::size_t listed = 4;
  std::string files = *element < listed ? "" : "..., ";
  const std::size_t first = *element < listed ? 0 : *element;
  for (std::size_t i = first; i <= *element; ++i)
    files += (i > first ? ", " : "") + ("\"FILE" + std::to_string(i)) + ".npy\"";
  return "[" + files + "]";
}

// A job in a folder finds its files by their names.
std::string Binder::beside_description(const std::string& name) const {
  const std::string file = to_text(to_path(description_.file()).filename());
  return file == "op.json" ? ", or put " + name + ".npy beside op.json" : "";
}

bool Binder::is_mine(const std::string& tensor) const {
  return std::find(names_.begin(), names_.end(), tensor) != names_.end();
}

// The output that a file without a name can only be meant for: the description has no other, but
// those that are named. "" where there is none, or a choice.
std::string Binder::only_output(const std::map<std::string, Files>& named) const {
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
void Binder::refuse_unnamed(const std::vector<std::string>& paths) {
  is_ambiguous_ = true;
  std::vector<std::string> options;
  for (const std::string& name : names_) {
    if (options.size() == paths.size() || sources_.contains(name)) continue;
    options.push_back(naming(name, paths[options.size()]));
    guessed_.insert(name);
  }
  const bool is_one = paths.size() == 1;
  usage((is_one ? "which tensor is " : "which tensors are ") + join(paths) + "? DML_OPERATOR_" +
            description_.spec->name + " has " + (names_.empty() ? "none of these" : join(names_)),
        names_.empty()    ? std::string("leave ") + (is_one ? "the file" : "the files") + " out"
        : options.empty() ? "each of them has a file; leave out what is too much"
                          : "write " + join(options, " "));
}

// What names a tensor's file where the caller names it.
std::string Binder::naming(const std::string& tensor, const std::string& path) const {
  if (request_.is_of_library) return tensor;
  if (request_.is_of_batch && option_ == expect_option)
    return "\"expect\": {\"" + tensor + "\": \"" + path + "\"}";
  return option_ + tensor + "=" + path;
}

void Binder::refuse_name(const std::string& tensor) {
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

std::vector<NamedTensor> all_slots(Description& description, const Binder& binder) {
  std::vector<NamedTensor> slots;
  for (const std::string& name : binder.names()) {
    for (const NamedTensor& slot : slots_of(description, binder, name)) slots.push_back(slot);
  }
  return slots;
}

}  // namespace dmlop
