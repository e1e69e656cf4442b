// The commands of a model: dispatch, print and writeFile.
#include <algorithm>

#include "base/path.hpp"
#include "model/reading.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Kind = json::Value::Kind;

class CommandReader {
 public:
  CommandReader(ModelReading& reading, const json::Value& written, std::size_t index)
      : reading_(reading), written_(written), name_("commands[" + std::to_string(index) + "]") {}

  void read() {
    if (written_.kind != Kind::object) {
      reading_.reader.expected(written_, name_, "an object with type");
      return;
    }
    const auto type = required_string(reading_, written_, name_, "type", "dispatch");
    if (!type) return;
    const std::string kind = lower_case(*type);
    if (kind == "dispatch") {
      read_dispatch();
    } else if (kind == "print") {
      read_print();
    } else if (kind == "writefile") {
      read_write_file();
    } else {
      const std::vector<std::string> kinds{"dispatch", "print", "writeFile"};
      const std::string nearest = nearest_name(*type, kinds);
      reading_.reader.expected(*written_.find("type"), name_ + ".type", "one of " + join(kinds),
                               nearest.empty() ? "" : "did you mean \"" + nearest + "\"?");
    }
  }

 private:
  /// The index of the part of the model that a member names.
  template <typename Things>
  std::optional<std::size_t> find_named(const char* member, const Things& things,
                                        const ModelReading::Names& index, const std::string& kind) {
    const auto name = required_string(reading_, written_, name_, member, "NAME");
    if (!name) return std::nullopt;
    const auto found = index.find(*name);
    if (found != index.end()) return found->second;
    const auto [list, nearest] = names_there_are(things, *name);
    reading_.add(*written_.find(member), "no " + kind + " is called \"" + printable(*name) + "\"",
                 list.empty() ? "the model has none" : kind + "s: " + list,
                 nearest.empty() ? "" : "did you mean \"" + printable(nearest) + "\"?");
    return std::nullopt;
  }

  std::optional<std::size_t> find_resource() {
    return find_named("resource", reading_.model.resources, reading_.resource_names, "resource");
  }

  void read_dispatch() {
    reading_.warnings.refuse_unknown(
        written_, {"type", "dispatchable", "bindings", "threadGroupCount"}, "a dispatch");
    const json::Value* name = written_.find("dispatchable");
    const std::string graph = name != nullptr ? name->text : "";
    const bool is_graph =
        reading_.graphs.contains(graph) || reading_.unusable_graphs.contains(graph);
    const auto index = is_graph ? std::nullopt
                                : find_named("dispatchable", reading_.model.dispatchables,
                                             reading_.dispatchable_names, "dispatchable");
    if (const json::Value* counts = written_.find("threadGroupCount")) read_groups(*counts);
    const json::Value* bindings = written_.find("bindings");
    if (bindings == nullptr) {
      reading_.reader.missing(written_, name_ + ".bindings",
                              "a dispatch says which resource is which tensor",
                              "write \"bindings\": {\"InputTensor\": \"RESOURCE\", …}");
    } else if (bindings->kind != Kind::object) {
      reading_.reader.expected(*bindings, name_ + ".bindings", "an object of resources by tensor");
    } else if (index) {
      bind(*index, *bindings);
    } else if (reading_.graphs.contains(graph)) {
      read_graph_dispatch(reading_, graph, *bindings);
    }
  }

  // threadGroupCount is for HLSL; operators do not use it.
  void read_groups(const json::Value& value) {
    const auto counts = reading_.reader.uint_array(value, name_ + ".threadGroupCount");
    if (counts && counts->size() != 3)
      reading_.reader.expected(value, name_ + ".threadGroupCount", "an array of three numbers");
  }

  void bind(std::size_t index, const json::Value& bindings) {
    const Dispatchable& dispatchable = reading_.model.dispatchables[index];
    if (!dispatchable.description) return check_binding_names(reading_, bindings);
    DispatchCommand command{index, read_bindings(reading_, bindings, dispatchable, false)};
    check_overlaps(reading_, bindings, dispatchable, command.bindings);
    reading_.model.commands.emplace_back(std::move(command));
  }

  void read_print() {
    reading_.warnings.refuse_unknown(written_, {"type", "resource", "verbose"}, "a print");
    const auto resource = find_resource();
    bool verbose = false;
    if (const json::Value* value = written_.find("verbose"))
      verbose = reading_.reader.boolean(*value, name_ + ".verbose").value_or(false);
    if (resource && has_elements(*resource, "printed"))
      reading_.model.commands.emplace_back(PrintCommand{*resource, verbose});
  }

  bool has_elements(std::size_t index, const std::string& what) {
    const Resource& resource = reading_.model.resources[index];
    if (!resource.is_usable) return false;
    if (resource.initial.data_type) return true;
    reading_.add(
        *written_.find("resource"),
        "\"" + printable(resource.name) + "\" cannot be " + what + ": " +
            (resource.is_deferred ? "its size is deferred" : "its values have several types"),
        "a resource that is " + what + " has an initialValuesDataType");
    return false;
  }

  void read_write_file() {
    reading_.warnings.refuse_unknown(written_, {"type", "resource", "targetPath", "dimensions"},
                                     "a writeFile");
    const auto resource = find_resource();
    const auto target = required_string(reading_, written_, name_, "targetPath", "out.npy");
    const json::Value* written_dimensions = written_.find("dimensions");
    std::optional<std::vector<std::int64_t>> dimensions;
    if (written_dimensions != nullptr)
      dimensions = reading_.reader.uint_array(*written_dimensions, name_ + ".dimensions");
    if (!resource || !target) return;
    WriteFileCommand command{*resource, *target, target_path(*target)};
    const std::string extension = lower_extension(command.path);
    command.is_npy = extension == ".npy";
    if (extension == ".jpg" || extension == ".png") {
      reading_.add(*written_.find("targetPath"),
                   "images are not written here: " + printable(*target),
                   "files of values are .npy, or raw bytes of any other name",
                   "write a .npy file, and make the picture of it", ErrorKind::unavailable);
      return;
    }
    if (!reading_.model.resources[*resource].is_usable) return;
    const bool is_raw = !command.is_npy && !reading_.model.resources[*resource].is_deferred;
    if (!is_raw && !has_elements(*resource, "written")) return;
    if (dimensions && !dimensions->empty() && command.is_npy)
      command.dimensions = checked_dimensions(*dimensions, *written_dimensions, *resource);
    refuse_inputs(command);
    note_replaced(command);
    reading_.model.commands.emplace_back(std::move(command));
  }

  std::string target_path(const std::string& target) const {
    const fs::path folder = to_path(reading_.request.output_folder.value_or(""));
    return to_text(fs::absolute(folder / to_path(ModelReading::native_path(target))));
  }

  Sizes checked_dimensions(const std::vector<std::int64_t>& dimensions, const json::Value& place,
                           std::size_t index) {
    const Resource& resource = reading_.model.resources[index];
    Sizes sizes(dimensions.begin(), dimensions.end());
    const auto count = element_count(sizes);
    const std::uint64_t held = resource.element_count();
    const std::string name = "\"" + printable(resource.name) + "\"";
    if (!count || *count > held || *count == 0) {
      reading_.add(
          place,
          "dimensions " + list_of(sizes) + " have " +
              (count ? std::to_string(*count) : "too many") + " elements, but " + name + " has " +
              std::to_string(held),
          "a file of these dimensions would promise more, or less, than it holds",
          "write [" + std::to_string(held) + "], or sizes that make " + std::to_string(held));
    } else if (*count < held) {
      reading_.warn(place, "of the " + std::to_string(held) + " elements of " + name +
                               " only the first " + std::to_string(*count) + " are written");
    }
    return sizes;
  }

  // A writeFile must not replace a file that the model reads.
  void refuse_inputs(const WriteFileCommand& command) {
    const auto refuse = [&](const std::string& what) {
      reading_.add(*written_.find("targetPath"),
                   printable(command.target) + " is " + what + ", which would be replaced", "",
                   "write to another file");
    };
    std::error_code ignored;
    if (!fs::exists(to_path(command.path), ignored)) return;
    if (is_same_file(reading_.document().file(), command.path)) refuse("the model itself");
    const auto source = reading_.source_files.find(real_path(command.path, ignored));
    if (source != reading_.source_files.end())
      refuse("the file of \"" + printable(source->second) + "\"");
  }

  void note_replaced(const WriteFileCommand& command) {
    if (may_have_several_writers(command.path)) return;
    std::string& writer = reading_.written_files[written_path(command.path)];
    if (!writer.empty())
      reading_.warn(*written_.find("targetPath"),
                    printable(command.target) + " replaces what " + writer + " writes to this file",
                    "as in DxDispatch, a later writeFile replaces an earlier one",
                    "write to another file");
    writer = name_;
  }

  ModelReading& reading_;
  const json::Value& written_;
  std::string name_;
};

}  // namespace

void read_command(ModelReading& reading, const json::Value& value, std::size_t index) {
  CommandReader(reading, value, index).read();
}

}  // namespace dmlop
