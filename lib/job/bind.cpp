#include "job/bind.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

constexpr std::string_view standard_stream = "-";
constexpr const char* expect_option = "--expect ";

std::vector<std::string> tensor_names(const OperatorSpec& spec, FieldKind kind) {
  std::vector<std::string> names;
  for (const FieldSpec& field : spec.fields) {
    if (field.kind == kind) names.push_back(field.name);
  }
  return names;
}

/// A file for one tensor, and where it was named: in the description or on the command line.
struct Source {
  std::string path;  // "": named in a way that has its own finding
  const json::Value* written = nullptr;
  SharedConfinement confinement = {};
};

class Binder {
 public:
  /// Files named in the description's bindings and on the command line with `option`.
  Binder(const Description& description, const JobRequest& request, FieldKind kind,
         Diagnostics& diagnostics, std::string option)
      : description_(description),
        kind_(kind),
        diagnostics_(diagnostics),
        names_(tensor_names(*description.spec, kind)),
        option_(std::move(option)) {
    if (option_ == expect_option) return;  // bindings name outputs, not what to expect
    for (const Binding& binding : description.bindings) {
      if (is_mine(binding.tensor)) {
        const bool is_path = !binding.path.empty();
        sources_[binding.tensor] = {is_path ? path_beside(description.file(), binding.path) : "",
                                    binding.written, request.confinement};
      }
    }
  }

  void add(const std::vector<NamedFile>& files) {
    std::vector<std::string> named;
    for (const NamedFile& file : files) {
      const std::string tensor = file.tensor.empty() ? only_name(file) : file.tensor;
      if (tensor.empty()) continue;
      if (!is_mine(tensor)) {
        refuse_name(tensor);
        continue;
      }
      if (std::find(named.begin(), named.end(), tensor) != named.end()) {
        usage(tensor + " is given two files: " + sources_[tensor].path + " and " + file.path,
              "keep one of them");
        sources_[tensor] = {};
        continue;
      }
      named.push_back(tensor);
      sources_[tensor] = {file.path, nullptr, file.confinement};
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  /// Null where the tensor has no file, or none that can be used.
  const Source* find(const std::string& tensor) const {
    const auto found = sources_.find(tensor);
    return found == sources_.end() || found->second.path.empty() ? nullptr : &found->second;
  }

  bool is_named(const std::string& tensor) const {
    return sources_.contains(tensor) || is_ambiguous_;
  }

  void require(const std::string& tensor) {
    if (is_named(tensor)) return;
    usage("no file is given for " + tensor,
          "add " + option_ + (names_.size() > 1 ? tensor + "=" : "") +
              "FILE.npy, or \"bindings\": {\"" + tensor + "\": \"FILE.npy\"} to the description");
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
  bool is_mine(const std::string& tensor) const {
    return std::find(names_.begin(), names_.end(), tensor) != names_.end();
  }

  std::string only_name(const NamedFile& file) {
    if (names_.size() == 1) return names_.front();
    is_ambiguous_ = true;
    usage("which tensor is " + file.path + "? DML_OPERATOR_" + description_.spec->name + " has " +
              join(names_),
          "write " + names_.front() + "=" + file.path);
    return "";
  }

  void refuse_name(const std::string& tensor) {
    const bool is_input = kind_ == FieldKind::input_tensor;
    const FieldSpec* field = description_.spec->find_field(tensor);
    if (field != nullptr && field->is_tensor()) {
      usage(tensor + " is an " + (is_input ? "output" : "input"),
            "name its file with " + std::string(is_input ? "-o" : "-i"));
      return;
    }
    const std::string nearest = nearest_name(tensor, names_);
    if (!nearest.empty()) sources_[nearest] = {};
    const std::string what = is_input ? "input" : "output";
    usage("DML_OPERATOR_" + description_.spec->name + " has no " + what + " \"" + tensor + "\"",
          nearest.empty() ? what + "s: " + join(names_) : "did you mean \"" + nearest + "\"?");
  }

  const Description& description_;
  FieldKind kind_;
  Diagnostics& diagnostics_;
  std::vector<std::string> names_;
  std::string option_;  // "-i "
  std::map<std::string, Source> sources_;
  bool is_ambiguous_ = false;  // a file was given without a name where several are possible
};

// Compares a tensor desc with its file, or takes from the file what the desc leaves out.
class HeaderMerger {
 public:
  HeaderMerger(Description& description, std::string tensor, std::string path,
               Diagnostics& diagnostics)
      : description_(description),
        tensor_(std::move(tensor)),
        path_(std::move(path)),
        diagnostics_(diagnostics) {}

  void merge(const NpyHeader& header) {
    TensorDesc& desc = std::get<TensorDesc>(description_.find(tensor_)->value);
    merge_type(desc, header);
    if (desc.strides) {
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
           std::string rule = "a tensor desc must agree with its .npy file") {
    Diagnostic diagnostic =
        description_.at({tensor_, std::move(attribute)}, std::nullopt, std::move(message));
    diagnostic.rule = std::move(rule);
    diagnostic.suggestion = std::move(suggestion);
    diagnostics_.push_back(std::move(diagnostic));
  }

  // After a finding the desc counts, as it is what other fields were written for.
  void merge_type(TensorDesc& desc, const NpyHeader& header) {
    if (!desc.data_type) desc.data_type = header.data_type;
    if (*desc.data_type == header.data_type) return;
    const std::string found(name_of(header.data_type));
    add("DataType",
        tensor_ + ".DataType is " + std::string(name_of(*desc.data_type)) + ", but " + path_ +
            " has " + found,
        "write \"" + found + "\", or bind another file");
  }

  void merge_sizes(TensorDesc& desc, const NpyHeader& header) {
    if (desc.sizes.empty()) desc.sizes = header.sizes;
    if (desc.sizes == header.sizes) return;
    add("Sizes",
        tensor_ + ".Sizes is " + list_of(desc.sizes) + ", but " + path_ + " has " +
            list_of(header.sizes),
        "write " + list_of(header.sizes) + ", or bind another file");
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
        "make the Strides or Sizes smaller, or bind a larger file",
        "(sum of (size - 1) * stride) + 1 elements must be in the file");
  }

  Description& description_;
  std::string tensor_;
  std::string path_;
  Diagnostics& diagnostics_;
};

NpyFile open_npy(const Source& source) {
  return NpyFile::open(PinnedFile(source.confinement, source.path));
}

// False, too, where nobody can tell.
bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(to_path(path), ignored);
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

}  // namespace

std::string path_beside(const std::string& file, const std::string& path) {
  if (path == standard_stream || file == standard_stream) return path;
  const std::filesystem::path given = to_path(path);
  if (given.is_absolute()) return path;
  return to_text(to_path(file).parent_path() / given);
}

Diagnostic confinement_finding(const json::Document& document, const json::Value& written,
                               const std::string& name, const PathProblem& problem,
                               const Confinement& confinement) {
  Diagnostic diagnostic =
      document.at(written, name + " is " + json::describe(written) + ", which " + problem.what);
  diagnostic.rule = confinement.rule();
  diagnostic.suggestion = problem.remedy;
  return diagnostic;
}

Diagnostic confinement_finding(const std::string& path, const PathProblem& problem,
                               const Confinement& confinement) {
  return {.file = path,
          .message = path + " " + problem.what,
          .rule = confinement.rule(),
          .suggestion = problem.remedy};
}

bool check_confined(const Description& description, const JobRequest& request,
                    Diagnostics& diagnostics) {
  if (!request.confinement) return true;
  const Confinement& confinement = *request.confinement;
  const std::size_t before = diagnostics.size();
  for (const Binding& binding : description.bindings) {
    if (binding.path.empty()) continue;  // it has its own finding
    PathProblem problem = confinement.problem_of_text(binding.path);
    if (!problem)
      problem = confinement.problem_of_file(path_beside(description.file(), binding.path));
    if (!problem) continue;
    diagnostics.push_back(confinement_finding(description.document(), *binding.written,
                                              "bindings." + binding.tensor, problem, confinement));
  }
  check_confined(request.inputs, diagnostics);
  check_confined(request.expected, diagnostics);
  return diagnostics.size() == before;
}

void check_confined(const std::vector<NamedFile>& files, Diagnostics& diagnostics) {
  for (const auto& [tensor, path, confinement] : files) {
    if (!confinement) continue;
    if (const PathProblem problem = confinement->problem_of_file(path))
      diagnostics.push_back(confinement_finding(path, problem, *confinement));
  }
}

std::vector<BoundInput> bind_inputs(Description& description, const JobRequest& request,
                                    Purpose purpose, Diagnostics& diagnostics) {
  Binder binder(description, request, FieldKind::input_tensor, diagnostics, "-i ");
  binder.add(request.inputs);
  std::vector<BoundInput> inputs;
  int from_standard_input = is_standard_input(request.description_path) ? 1 : 0;
  for (const std::string& tensor : binder.names()) {
    const Source* source = binder.find(tensor);
    std::get<TensorDesc>(description.find(tensor)->value).has_file =
        binder.is_named(tensor) || purpose == Purpose::run;
    if (source == nullptr) {
      if (purpose == Purpose::run) binder.require(tensor);
      continue;
    }
    if (is_standard_input(source->path) && ++from_standard_input > 1) {
      binder.usage("standard input can be read once only", "name a file for " + tensor);
      continue;
    }
    try {
      NpyFile file = with_context("reading " + tensor + " from " + source->path,
                                  [&] { return open_npy(*source); });
      HeaderMerger(description, tensor, source->path, diagnostics).merge(file.header());
      inputs.push_back({tensor, std::move(file), source->path});
    } catch (const Error& error) {
      diagnostics.push_back(file_finding(description, *source, error));
    }
  }
  return inputs;
}

std::vector<BoundOutput> bind_outputs(const Description& description, const JobRequest& request,
                                      Purpose purpose, Diagnostics& diagnostics) {
  Binder binder(description, request, FieldKind::output_tensor, diagnostics, "-o ");
  binder.add(request.outputs);
  Diagnostics ignored;
  Binder sources(description, request, FieldKind::input_tensor, ignored, "-i ");
  sources.add(request.inputs);
  std::vector<BoundOutput> outputs;
  for (const std::string& tensor : binder.names()) {
    const Source* target = binder.find(tensor);
    if (target == nullptr) {
      if (purpose == Purpose::run && !request.outputs_may_be_dropped) binder.require(tensor);
      continue;
    }
    for (const std::string& input : sources.names()) {
      const Source* source = sources.find(input);
      if (source == nullptr || !is_same_file(source->path, target->path)) continue;
      binder.refuse_target(*target,
                           tensor + " and " + input + " are the same file: " + target->path);
    }
    if (is_same_file(description.file(), target->path)) {
      binder.refuse_target(*target, tensor + " would replace the description " + target->path);
    }
    outputs.push_back({tensor, target->path});
  }
  return outputs;
}

std::vector<Expectation> bind_expected(const Description& description, const JobRequest& request,
                                       const std::vector<BoundOutput>& outputs,
                                       Diagnostics& diagnostics) {
  Binder binder(description, request, FieldKind::output_tensor, diagnostics, expect_option);
  binder.add(request.expected);
  Diagnostics ignored;
  Binder inputs(description, request, FieldKind::input_tensor, ignored, "-i ");
  inputs.add(request.inputs);
  std::vector<Expectation> expected;
  for (const std::string& tensor : binder.names()) {
    const Source* source = binder.find(tensor);
    if (source == nullptr) continue;
    for (const BoundOutput& output : outputs) {
      if (!is_same_file(source->path, output.path)) continue;
      binder.usage(output.tensor + " would replace the golden file " + source->path,
                   "write the output to another file, or use --update-golden");
    }
    for (const std::string& input : inputs.names()) {
      const Source* file = inputs.find(input);
      if (!request.expected_may_be_missing || file == nullptr) continue;
      if (!is_same_file(file->path, source->path)) continue;
      binder.usage("the golden file and " + input + " are the same file: " + source->path,
                   "name another golden file, as --update-golden may replace it");
    }
    Expectation expectation{tensor, source->path, std::nullopt,
                            request.tolerance.value_or(Tolerance{})};
    const bool is_missing = request.expected_may_be_missing && !exists(source->path);
    try {
      if (!is_missing) {
        expectation.file = with_context("reading the golden file " + source->path,
                                        [&] { return open_npy(*source); });
      }
      expected.push_back(std::move(expectation));
    } catch (const Error& error) {
      diagnostics.push_back(file_finding(description, *source, error));
      if (!exists(source->path)) diagnostics.back().suggestion = "create it with --update-golden";
    }
  }
  return expected;
}

}  // namespace dmlop
