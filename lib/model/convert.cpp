#include "model/convert.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/buffer.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "model/convert_json.hpp"
#include "npy/elements.hpp"
#include "ops/operator.hpp"
#include "spec/broadcast.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

// valueCount is a UINT.
constexpr std::uint64_t value_count_max = std::numeric_limits<std::uint32_t>::max();

// The feature level that DxDispatch offers by default.
constexpr FeatureLevel dxdispatch_level{6, 2};

// Whether the file is there with the same contents.
bool is_written(const ConvertedFile& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(to_path(file.path), ignored)) return false;
  const InputFile there =
      with_context("reading " + file.path, [&] { return InputFile::open(file.path); });
  const auto header = std::as_bytes(std::span(file.header));
  const auto elements = file.elements.bytes();
  if (there.bytes().size() != header.size() + elements.size()) return false;
  bool is_equal = std::ranges::equal(there.bytes().first(header.size()), header);
  const auto others = there.bytes().subspan(header.size());
  in_pieces(elements.size(), 1, [&](std::uint64_t i, std::uint64_t end) {
    is_equal = is_equal && std::memcmp(&elements[i], &others[i], end - i) == 0;
  });
  return is_equal;
}

// Adds a .npy file beside the JSON file, and returns its path. It is named after the tensor, with a
// number behind that where such a name is taken: a file that is there stays, and is used if it has
// the same contents.
std::string add_file(Conversion& conversion, const std::string& tensor, std::string header,
                     Buffer elements) {
  ConvertedFile file{companion_path(conversion.path, tensor), std::move(header),
                     std::move(elements)};
  const auto is_taken = [&] {
    std::error_code ignored;
    const auto has_path = [&](const ConvertedFile& other) { return other.path == file.path; };
    return std::filesystem::exists(to_path(file.path), ignored) ||
           std::ranges::any_of(conversion.files, has_path);
  };
  for (int i = 1; is_taken(); ++i) {
    if (is_written(file)) return file.path;
    file.path = companion_path(conversion.path, tensor + "_" + std::to_string(i));
  }
  conversion.files.push_back(std::move(file));
  return conversion.files.back().path;
}

/// Turns a job into a model.
class ModelMaker {
 public:
  ModelMaker(const Job& job, const std::string& path) : job_(job), description_(job.description) {
    conversion_.path = path;
    fields_ = fields_json(description_);
  }

  Conversion make() {
    for (const FieldSpec& field : description_.spec->fields) {
      if (!field.is_tensor()) continue;
      if (description_.find_tensor(field.name) != nullptr) add(field, std::nullopt);
      for (std::size_t i = 0; description_.find_tensor(field.name, i) != nullptr; ++i)
        add(field, i);
    }
    warn_of_dxdispatch();
    const std::string name = lower_case(description_.spec->name);
    Json dispatchable{{"type", "DML_OPERATOR_" + description_.spec->name}, {"desc", fields_}};
    if (!owned_.empty()) dispatchable["bindings"] = owned_;
    Json commands = Json::array();
    commands.push_back({{"type", "dispatch"}, {"dispatchable", name}, {"bindings", bindings_}});
    for (Json& write : writes_) commands.push_back(std::move(write));
    conversion_.text = readable_text({{"resources", resources_},
                                      {"dispatchables", {{name, dispatchable}}},
                                      {"commands", commands}});
    return std::move(conversion_);
  }

 private:
  void add(const FieldSpec& field, std::optional<std::size_t> element) {
    const TensorDesc& desc = *description_.find_tensor(field.name, element);
    if (has_4_bits(*desc.data_type))
      throw Error(ErrorKind::invalid_input, tensor_name(field.name, element) + " is " +
                                                std::string(name_of(*desc.data_type)) +
                                                ", which no resource of a DxDispatch model can be");
    const std::string resource = element ? field.name + "_" + std::to_string(*element) : field.name;
    field.is_input() ? add_input(field.name, element, desc, resource)
                     : add_output(field.name, element, desc, resource);
    Json& bindings = field.is_input() && desc.is_owned_by_dml() ? owned_ : bindings_;
    if (element) {
      bindings[field.name].push_back(resource);
    } else {
      bindings[field.name] = resource;
    }
  }

  // The fields of a tensor in the model's description.
  Json& fields_of(const std::string& tensor, std::optional<std::size_t> element) {
    return element ? fields_[tensor][*element] : fields_[tensor];
  }

  void add_input(const std::string& tensor, std::optional<std::size_t> element,
                 const TensorDesc& desc, const std::string& resource) {
    const auto is_of = [&](const BoundInput& input) {
      return input.tensor == tensor && input.element == element;
    };
    const BoundInput& input = *std::find_if(job_.inputs.begin(), job_.inputs.end(), is_of);
    // The description's strides refer to the elements in the order of the file.
    const bool keeps_order = description_.is_written({{tensor, "Strides"}, element});
    const std::string source = source_of(resource, input.file, input.path, keeps_order);
    if (has_copy_in_c_order_) set_strides_of_copy(fields_of(tensor, element), desc);
    resources_[resource] = {{"initialValuesDataType", name_of(*desc.data_type)},
                            {"initialValues", {{"sourcePath", source}}}};
  }

  // Those of elements in C order, which repeat where the tensor was stretched.
  static void set_strides_of_copy(Json& fields, const TensorDesc& desc) {
    fields.erase("Strides");
    if (!desc.stretched_from.empty())
      fields["Strides"] = stretched_strides({.sizes = desc.stretched_from}, desc.sizes);
  }

  // Returns the input's own file, or a copy if DxDispatch would misread or refuse it.
  std::string source_of(const std::string& resource, const NpyFile& file, const std::string& path,
                        bool keeps_order) {
    has_copy_in_c_order_ = false;
    const NpyHeader& header = file.header();
    const bool is_swapped = header.big_endian && size_of(header.data_type) > 1;
    const bool is_stream = is_standard_input(path);
    if (!is_swapped && !header.fortran_order && !is_stream && file.is_npy())
      return path_from(conversion_.path, path);
    NpyHeader plain = header;
    if (keeps_order) plain.sizes = {file.element_count()};
    has_copy_in_c_order_ = !keeps_order;
    Buffer elements = elements_of(file, path, keeps_order);
    require_intact(file, path);
    const std::string copy = add_file(
        conversion_, resource, npy_header_bytes(plain.data_type, plain.sizes), std::move(elements));
    conversion_.warn(path + " is copied to " + copy + ": " +
                     (is_stream        ? "standard input has no name"
                      : !file.is_npy() ? "DxDispatch reads sizes from .npy files only"
                      : is_swapped     ? "DxDispatch misreads big-endian files"
                                       : "DxDispatch refuses files in Fortran order"));
    return path_from(conversion_.path, copy);
  }

  // The elements in this machine's byte order, in file order or C order.
  static Buffer elements_of(const NpyFile& file, const std::string& path, bool in_file_order) {
    Buffer bytes(file.data().size(), "the copy of " + path);
    const std::size_t size = size_of(file.header().data_type);
    if (!in_file_order) {
      copy_elements(Elements(file), bytes.data());
      return bytes;
    }
    copy_in_pieces(file.data(), bytes.data());
    if (!file.header().big_endian) return bytes;
    in_pieces(file.element_count(), size, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) std::reverse(bytes.data() + i * size, bytes.data() + (i + 1) * size);
    });
    return bytes;
  }

  void add_output(const std::string& tensor, std::optional<std::size_t> element,
                  const TensorDesc& desc, const std::string& resource) {
    const std::uint64_t count = *element_count(desc.sizes);
    if (count > value_count_max)
      throw Error(ErrorKind::invalid_input, resource + " has " + std::to_string(count) +
                                                " elements; a resource of a model has at most " +
                                                std::to_string(value_count_max));
    resources_[resource] = {{"initialValuesDataType", name_of(*desc.data_type)},
                            {"initialValues", {{"valueCount", count}, {"value", 0}}}};
    std::string target = resource + ".npy";
    const auto is_of = [&](const BoundOutput& output) {
      return output.tensor == tensor && output.element == element;
    };
    const auto bound = std::find_if(job_.outputs.begin(), job_.outputs.end(), is_of);
    if (bound != job_.outputs.end() && bound->path != "-") target = to_text(to_path(bound->path));
    if (lower_extension(target) != ".npy") {
      conversion_.warn("the output goes to " + target +
                       ".npy, because DxDispatch writes a .npy file only if its name "
                       "ends in .npy");
      target += ".npy";
    }
    if (desc.strides)
      conversion_.warn("the Strides of " + tensor_name(tensor, element) +
                       " are left out: its file holds the logical tensor");
    writes_.push_back({{"type", "writeFile"},
                       {"resource", resource},
                       {"targetPath", target},
                       {"dimensions", desc.sizes}});
  }

  void warn_of_dxdispatch() {
    const std::string operator_name = "DML_OPERATOR_" + description_.spec->name;
    for (const char* unknown : {"FOLD", "UNFOLD", "RESAMPLE3", "SCATTER_ELEMENTS"}) {
      if (description_.spec->name == unknown)
        conversion_.warn(operator_name +
                         " is unknown to DxDispatch; the model runs with dmlop only");
    }
    for (const Field& field : description_.fields) {
      const auto* value = std::get_if<std::int64_t>(&field.value);
      if (field.spec->kind != FieldKind::enumeration || value == nullptr) continue;
      for (const EnumValue& entry : enum_values(field.spec->enum_name)) {
        if (entry.value == *value && entry.introduced > dxdispatch_level)
          conversion_.warn(field.spec->name + " " + entry.name +
                           " is unknown to DxDispatch; the model runs with dmlop only");
      }
    }
    if (description_.feature_level != newest_feature_level)
      conversion_.warn("a model has no feature level: run it with --feature-level " +
                       to_text(description_.feature_level) + " (DxDispatch: --dml_feature_level " +
                       to_text(description_.feature_level) + ")");
  }

  const Job& job_;
  const Description& description_;
  Conversion conversion_;
  Json fields_;
  Json resources_ = Json::object();
  Json bindings_ = Json::object();
  Json owned_ = Json::object();
  std::vector<Json> writes_;
  bool has_copy_in_c_order_ = false;  // of the last input; its strides no longer hold
};

/// Turns a model into an op description.
class OpMaker {
 public:
  OpMaker(const Model& model, const std::string& path) : model_(model) { conversion_.path = path; }

  Conversion make() {
    const DispatchCommand& command = only_dispatch();
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    const Description& description = *dispatchable.description;
    for (const auto* bindings : {&dispatchable.owned, &command.bindings}) {
      for (const TensorBinding& binding : *bindings) {
        const FieldSpec& field = *description.spec->find_field(binding.tensor);
        const TensorDesc& desc = *description.find_tensor(binding.tensor, binding.element);
        if (field.is_input() && binding.element) {
          bindings_[binding.tensor].push_back(file_of(binding, desc));
        } else if (field.is_input()) {
          bindings_[binding.tensor] = file_of(binding, desc);
        } else if (desc.strides) {
          conversion_.warn("the Strides of " + tensor_name(binding.tensor, binding.element) +
                           " are left out: its file holds the logical tensor");
        }
      }
    }
    if (model_.commands.size() > 1)
      conversion_.warn("print and writeFile are left out: name the output's file with run -o");
    Json op{{"type", "DML_OPERATOR_" + description.spec->name}};
    if (description.feature_level != newest_feature_level)
      op["featureLevel"] = to_text(description.feature_level);
    if (description.judge != Judge::page) op["as"] = name_of(description.judge);
    op["desc"] = fields_json(description);
    op["bindings"] = bindings_;
    conversion_.text = readable_text(op);
    return std::move(conversion_);
  }

 private:
  const DispatchCommand& only_dispatch() const {
    std::vector<std::string> names;
    const DispatchCommand* only = nullptr;
    for (const ModelCommand& command : model_.commands) {
      const auto* dispatch = std::get_if<DispatchCommand>(&command);
      if (dispatch == nullptr) continue;
      only = dispatch;
      names.push_back(model_.dispatchables[dispatch->dispatchable].name);
    }
    if (only == nullptr || names.size() != 1)
      throw Error(
          ErrorKind::invalid_input,
          model_.file + " has " +
              (names.empty() ? "no dispatch"
                             : std::to_string(names.size()) + " dispatches (" + join(names) + ")") +
              "; an op description is exactly one");
    return *only;
  }

  // Returns the resource's own .npy file if it equals the tensor, otherwise a new one.
  std::string file_of(const TensorBinding& binding, const TensorDesc& desc) {
    const Resource& resource = model_.resources[binding.range.resource];
    const InitialValues& initial = resource.initial;
    const bool is_tensor = initial.file != nullptr && !desc.strides && binding.range.offset == 0 &&
                           resource.offset == 0 && initial.file->header().sizes == desc.sizes &&
                           initial.data_type == desc.data_type;
    if (is_tensor) return path_from(conversion_.path, initial.path);
    const std::string name = '"' + printable(resource.name) + '"';
    Buffer buffer(resource.size, name);
    initial.fill(buffer.bytes().subspan(resource.offset, initial.bytes));
    const std::uint64_t count = *reached_elements(desc.sizes, input_strides(desc));
    Buffer elements(count * size_of(*desc.data_type), "the elements of " + name);
    copy_in_pieces(buffer.bytes().subspan(binding.range.offset, elements.size()), elements.data());
    const std::string tensor =
        binding.element ? binding.tensor + "_" + std::to_string(*binding.element) : binding.tensor;
    const std::string path =
        add_file(conversion_, tensor,
                 npy_header_bytes(*desc.data_type, desc.strides ? Sizes{count} : desc.sizes),
                 std::move(elements));
    return path_from(conversion_.path, path);
  }

  const Model& model_;
  Conversion conversion_;
  Json bindings_ = Json::object();
};

void write_one(const std::string& path, Contents contents, std::span<const std::byte> first,
               std::span<const std::byte> second) {
  OutputFile file(path, first.size() + second.size(), contents);
  file.write_at(0, first);
  file.write_at(first.size(), second);
  file.commit();
}

}  // namespace

Conversion model_of(const Job& job, const std::string& path) {
  return ModelMaker(job, path).make();
}

Conversion op_of(const Model& model, const std::string& path) {
  return OpMaker(model, path).make();
}

void write_conversion(const Conversion& conversion, const std::vector<std::string>& read) {
  std::vector<std::string> paths{conversion.path};
  for (const ConvertedFile& file : conversion.files) paths.push_back(file.path);
  for (const std::string& path : paths) {
    for (const std::string& source : read) {
      if (is_same_file(source, path))
        throw Error(ErrorKind::usage, path + " is read by this conversion; write to another file");
    }
  }
  for (const ConvertedFile& file : conversion.files)
    write_one(file.path, Contents::binary, std::as_bytes(std::span(file.header)),
              file.elements.bytes());
  write_one(conversion.path, Contents::text, std::as_bytes(std::span(conversion.text)), {});
}

}  // namespace dmlop
