// Reads the resources of a model: where a buffer's values come from, and its size.
#include <algorithm>

#include "base/buffer.hpp"
#include "base/caller.hpp"
#include "base/path.hpp"
#include "model/reading.hpp"
#include "model/values.hpp"
#include "npy/elements.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Kind = json::Value::Kind;

// No device has larger buffers.
constexpr std::uint64_t size_max = std::uint64_t{1} << 40;

constexpr std::uint64_t int64_max = std::numeric_limits<std::int64_t>::max();

class ResourceReader {
 public:
  ResourceReader(ModelReading& reading, const json::Member& member)
      : reading_(reading), name_(printable(member.name)), written_(member.value) {
    resource_.name = member.name;
  }

  Resource read() {
    const std::size_t before = reading_.diagnostics.size();
    if (written_.kind != Kind::object) {
      reading_.reader.expected(written_, name_, "an object with initialValues");
      return resource_;
    }
    reading_.warnings.refuse_unknown(
        written_,
        {"initialValues", "initialValuesDataType", "initialValuesOffsetInBytes", "sizeInBytes",
         "resampleSize", "resampleMode", "type"},
        "a resource");
    read_type();
    const json::Value* values = written_.find("initialValues");
    if (values == nullptr) {
      reading_.reader.missing(written_, name_ + ".initialValues",
                              "a resource says what its buffer holds at first",
                              "write \"initialValues\": {\"valueCount\": 16, \"value\": 0}, for "
                              "example");
    } else if (auto initial = read_values(*values)) {
      resource_.initial = std::move(*initial);
      if (!resource_.is_deferred) read_size(*values);
    }
    resource_.is_usable = reading_.diagnostics.size() == before;
    return resource_;
  }

 private:
  void read_type() {
    const json::Value* value = written_.find("initialValuesDataType");
    if (value == nullptr) return;
    std::vector<std::string> names;
    for (const DataTypeInfo& type : data_types) {
      if (!has_4_bits(type.type)) names.emplace_back(type.name);  // DxDispatch has no others
    }
    names.emplace_back("UNKNOWN");
    const auto index = reading_.reader.name_of(*value, name_ + ".initialValuesDataType", names,
                                               "DML_TENSOR_DATA_TYPE_");
    has_wrong_type_ = !index;
    if (index) type_ = data_type_named(names[*index]);
  }

  std::optional<InitialValues> read_values(const json::Value& values) {
    const std::string name = name_ + ".initialValues";
    if (values.kind == Kind::string && values.text == "deferred") {
      resource_.is_deferred = true;
      return InitialValues{};
    }
    if (values.kind == Kind::array) {
      if (values.items.empty()) {
        reading_.reader.expected(values, name, "at least one value");
        return std::nullopt;
      }
      const bool is_list = type_.has_value();
      if (is_list) return read_list(reading_.reader, values, name, *type_);
      return has_wrong_type_ ? std::nullopt : read_mixed_list(reading_.reader, values, name);
    }
    if (values.kind == Kind::object) return read_generator(values, name);
    reading_.reader.expected(values, name,
                             "an array of values, an object that says how to make them, or "
                             "\"deferred\"");
    return std::nullopt;
  }

  std::optional<InitialValues> read_generator(const json::Value& object, const std::string& name) {
    reading_.warnings.refuse_unknown(
        object, {"valueCount", "value", "valueStart", "valueDelta", "sourcePath"}, "initialValues");
    const json::Value* value = object.find("value");
    const json::Value* start = object.find("valueStart");
    const json::Value* source = object.find("sourcePath");
    if (value != nullptr && (start != nullptr || source != nullptr)) {
      reading_.add(*value,
                   name + " has both value and " + (start != nullptr ? "valueStart" : "sourcePath"),
                   "value, valueStart and sourcePath exclude each other", "keep one of them");
      return std::nullopt;
    }
    if (start != nullptr && source != nullptr)
      reading_.warn(*source, name + ".sourcePath is ignored beside valueStart");
    if (value != nullptr || start != nullptr) {
      if (!require_type()) return std::nullopt;
      return value != nullptr ? read_constant(reading_.reader, object, name, *type_)
                              : read_sequence(reading_.reader, object, name, *type_);
    }
    if (source != nullptr) return read_file(*source, name + ".sourcePath");
    reading_.add(object, name + " does not say how to make the values",
                 "it has value, valueStart or sourcePath",
                 "write {\"valueCount\": 16, \"value\": 0}, for example");
    return std::nullopt;
  }

  bool require_type() {
    if (type_ || has_wrong_type_) return type_.has_value();
    reading_.reader.missing(written_, name_ + ".initialValuesDataType",
                            "these initialValues have no type of their own",
                            "write \"initialValuesDataType\": \"FLOAT32\", for example");
    return false;
  }

  static std::string where_files_are() {
    const bool has_option = current_caller() == Caller::program;
    return std::string("sourcePath is relative to the model's folder") +
           (has_option ? ", or to --input-path," : "") + " and then to the current folder";
  }

  // The first file that exists, relative to the input folder and then to the current one.
  std::string find_file(const std::string& path) const {
    const fs::path folder = reading_.source_folder();
    if (reading_.request.confinement)
      return to_text(folder / to_path(ModelReading::native_path(path)));
    std::error_code ignored;
    for (const std::string& given : {path == "-" ? "./-" : path, ModelReading::native_path(path)}) {
      for (const fs::path& candidate : {folder / to_path(given), to_path(given)}) {
        if (fs::exists(candidate, ignored)) return to_text(candidate);
      }
    }
    return to_text(folder / to_path(ModelReading::native_path(path)));
  }

  std::optional<InitialValues> read_file(const json::Value& source, const std::string& name) {
    const auto path = reading_.reader.string(source, name);
    if (!path) return std::nullopt;
    if (path->empty() || path->find('\0') != std::string::npos) {
      reading_.reader.expected(source, name, "the path of a file");
      return std::nullopt;
    }
    const std::string extension = lower_extension(*path);
    if (extension == ".jpg" || extension == ".png") {
      reading_.add(source, "images are not read here: " + printable(*path),
                   "files of values are .npy, or raw bytes of any other name",
                   "convert the picture to .npy first", ErrorKind::unavailable);
      return std::nullopt;
    }
    const std::string found = find_file(*path);
    try {
      return with_context("reading " + found, [&] {
        const PinnedFile file(reading_.request.confinement, found);
        return extension == ".npy" ? read_npy(source, found, file) : read_raw(source, found, file);
      });
    } catch (const Error& error) {
      std::error_code ignored;
      const bool exists = fs::exists(to_path(found), ignored);
      Diagnostic finding = reading_.document().at(source, error);
      if (!exists) finding.suggestion = where_files_are();
      reading_.reader.add(std::move(finding));
      return std::nullopt;
    }
  }

  std::optional<InitialValues> read_npy(const json::Value& source, const std::string& path,
                                        const PinnedFile& pinned) {
    const auto file = std::make_shared<const NpyFile>(NpyFile::open(pinned));
    const NpyHeader& header = file->header();
    const auto is_long = [](std::uint64_t size) { return size > 1; };
    if (header.fortran_order &&
        std::count_if(header.sizes.begin(), header.sizes.end(), is_long) > 1) {
      reading_.add(source, path + " is in Fortran order",
                   "a resource holds the elements of a file as they follow each other, in C order",
                   "save numpy.ascontiguousarray(x)");
      return std::nullopt;
    }
    if (type_ && *type_ != header.data_type) {
      const std::string found(name_of(header.data_type));
      reading_.add(*written_.find("initialValuesDataType"),
                   name_ + ".initialValuesDataType is " + std::string(name_of(*type_)) + ", but " +
                       path + " has " + found,
                   "", "write \"" + found + "\" or leave it out");
      return std::nullopt;
    }
    return values_of_file(file, path);
  }

  std::optional<InitialValues> read_raw(const json::Value& source, const std::string& path,
                                        const PinnedFile& pinned) {
    if (!require_type()) return std::nullopt;
    const auto file = std::make_shared<const InputFile>(InputFile::open(pinned));
    if (file->bytes().empty()) {
      reading_.add(source, path + " is empty", "a buffer has at least one value");
      return std::nullopt;
    }
    if (file->bytes().size() % size_of(*type_) != 0) {
      reading_.warn(source, path + " has " + std::to_string(file->bytes().size()) +
                                " bytes, which is not a whole number of " +
                                std::string(name_of(*type_)));
    }
    return values_of_file(file, path, *type_);
  }

  std::optional<std::uint64_t> read_bytes(const char* member) {
    const json::Value* value = written_.find(member);
    if (value == nullptr) return 0;
    const auto bytes =
        reading_.reader.integer(*value, name_ + "." + member, "UINT64", 0, int64_max);
    return bytes ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
  }

  void read_size(const json::Value& values) {
    const auto offset = read_bytes("initialValuesOffsetInBytes");
    const auto size = read_bytes("sizeInBytes");
    const json::Value* written_size = written_.find("sizeInBytes");
    if (!offset || !size) return;
    const std::uint64_t bytes = resource_.initial.bytes;
    resource_.offset = *offset;
    resource_.has_own_size = written_size != nullptr;
    resource_.size = written_size != nullptr ? *size : (bytes + 3) / 4 * 4;
    const json::Value& place = written_size != nullptr ? *written_size : values;
    if (*offset > int64_max - bytes || *offset + bytes > resource_.size) {
      const std::string needed = *offset > int64_max - bytes ? "" : std::to_string(*offset + bytes);
      reading_.add(place,
                   name_ + " has " + std::to_string(resource_.size) +
                       " bytes, too few for the initial values",
                   counted(bytes, "byte") + " of values at offset " + std::to_string(*offset) +
                       (written_size != nullptr ? ""
                                                : "; without sizeInBytes the buffer is as large as "
                                                  "the values, rounded up to 4"),
                   needed.empty() ? "make the offset smaller" : "write \"sizeInBytes\": " + needed);
    } else if (resource_.size > size_max) {
      reading_.add(place,
                   name_ + " has " + std::to_string(resource_.size) + " bytes, must have at most " +
                       std::to_string(size_max),
                   "no device has larger buffers");
    }
  }

  ModelReading& reading_;
  std::string name_;
  const json::Value& written_;
  Resource resource_;
  std::optional<DataType> type_;
  bool has_wrong_type_ = false;
};

}  // namespace

void read_resource(ModelReading& reading, const json::Member& member) {
  const Resource& resource =
      reading.model.resources.emplace_back(ResourceReader(reading, member).read());
  reading.resource_names.try_emplace(resource.name, reading.model.resources.size() - 1);
  if (resource.initial.path.empty()) return;
  std::error_code ignored;
  reading.source_files.try_emplace(real_path(resource.initial.path, ignored), resource.name);
}

}  // namespace dmlop
