// Finds out which bytes of which resource belong to each tensor.
#include <algorithm>
#include <limits>
#include <set>

#include "job/job.hpp"
#include "model/outputs.hpp"
#include "model/reading.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

constexpr std::uint64_t largest_offset = std::numeric_limits<std::int64_t>::max();

class BindingReader {
 public:
  BindingReader(ModelReading& reading, const json::Value& object, const Dispatchable& dispatchable,
                bool initial)
      : reading_(reading),
        object_(object),
        description_(*dispatchable.description),
        operator_("DML_OPERATOR_" + description_.spec->name),
        initial_(initial) {}

  std::vector<TensorBinding> read() {
    std::vector<std::string> tensors;
    for (const FieldSpec& field : description_.spec->fields) {
      if (field.is_tensor()) tensors.push_back(field.name);
    }
    reading_.warnings.refuse_unknown(object_, tensors, "bindings of " + operator_);
    refuse_repeated();
    for (const std::string& tensor : tensors) read_tensor(tensor);
    return std::move(bindings_);
  }

 private:
  void refuse_repeated() {
    std::set<std::string> names;
    for (const json::Member& member : object_.members) {
      if (!names.insert(member.name).second)
        reading_.reader.add(
            reading_.document().at(member, printable(member.name) + " is bound twice"));
    }
  }

  // The descs of a field that are there: one, those of an array, or none.
  std::vector<const TensorDesc*> descs_of(const std::string& field) const {
    if (const TensorDesc* desc = description_.find_tensor(field)) return {desc};
    std::vector<const TensorDesc*> descs;
    for (std::size_t i = 0; const TensorDesc* desc = description_.find_tensor(field, i); ++i)
      descs.push_back(desc);
    return descs;
  }

  void read_tensor(const std::string& tensor) {
    const std::vector<const TensorDesc*> descs = descs_of(tensor);
    const json::Value* source = object_.find(tensor);
    if (descs.empty()) return refuse_absent(tensor, source);
    const bool owned = descs.front()->is_owned_by_dml();
    if (source == nullptr) {
      if (owned != initial_) return;
      reading_.add(object_, tensor + " is not bound" + (initial_ ? " at initialization" : ""),
                   initial_ ? "an input with the flag OWNED_BY_DML is bound in the dispatchable's "
                              "bindings, before the first command"
                            : operator_ + " needs it",
                   "write " + std::string(initial_ ? "\"bindings\": {" : "") + "\"" + tensor +
                       "\": " + example_source(tensor, descs.size()) +
                       (initial_ ? "} beside type" : ""));
      return;
    }
    if (owned != initial_) {
      reading_.add(*source,
                   tensor + (owned ? " is bound to a dispatch, but is owned by DirectML"
                                   : " is bound at initialization, but is not owned by DirectML"),
                   "a tensor with the flag OWNED_BY_DML is bound in the dispatchable's bindings, "
                   "all others in the command's",
                   owned ? "bind it in the dispatchable" : "bind it in the dispatch command");
      return;
    }
    read_sources(*source, tensor, descs);
  }

  bool is_array(const std::string& tensor) const {
    return description_.spec->find_field(tensor)->is_tensor_array();
  }

  std::string example_source(const std::string& tensor, std::size_t count) const {
    if (!is_array(tensor)) return "\"RESOURCE\"";
    return count == 1 ? "[\"RESOURCE\"]" : "[\"RESOURCE\", ...]";
  }

  void refuse_absent(const std::string& tensor, const json::Value* source) {
    if (source == nullptr || source->kind == Kind::null) return;
    reading_.add(*source, tensor + " is bound, but the dispatchable has no " + tensor,
                 "a binding needs a tensor desc",
                 "add " + tensor + " to the dispatchable's desc, or leave the binding out");
  }

  void read_sources(const json::Value& source, const std::string& tensor,
                    const std::vector<const TensorDesc*>& descs) {
    const bool is_list = source.kind == Kind::array;
    const std::size_t count = is_list ? source.items.size() : 1;
    if (count != descs.size()) {
      reading_.add(source, tensor + " takes " + counted(descs.size(), "resource") + ", but " +
                               std::to_string(count) + (count == 1 ? " is" : " are") + " bound");
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto element = is_array(tensor) ? std::optional(i) : std::nullopt;
      read_source(is_list ? source.items[i] : source, tensor, element, *descs[i]);
    }
  }

  void read_source(const json::Value& source, const std::string& field,
                   std::optional<std::size_t> element, const TensorDesc& desc) {
    const std::string tensor = tensor_name(field, element);
    if (has_4_bits(*desc.data_type)) {
      reading_.add(source,
                   tensor + " is " + std::string(name_of(*desc.data_type)) +
                       ", which has two elements in a byte of a buffer",
                   "tensors of 4 bits run as op descriptions only",
                   "use an op description, where a file has a byte for each element");
      return;
    }
    if (source.kind != Kind::string && source.kind != Kind::object) {
      reading_.reader.expected(source, tensor,
                               "the name of a resource, or an object such as {\"name\": "
                               "\"RESOURCE\", \"elementOffset\": 4}");
      return;
    }
    const json::Value* name = source.kind == Kind::object ? source.find("name") : &source;
    if (name == nullptr) {
      reading_.reader.missing(source, tensor + ".name", "a binding names a resource",
                              "write \"name\": \"RESOURCE\"");
      return;
    }
    const auto resource = find_resource(*name, tensor);
    const auto offset = read_offset(source, tensor, resource);
    if (!resource || !offset) return;
    const Resource& buffer = reading_.model.resources[*resource];
    const bool has_values = buffer.is_usable && !buffer.is_deferred;
    if (has_values && description_.spec->find_field(field)->is_input())
      note_other_type(source, tensor, *desc.data_type, buffer);
    if (buffer.is_usable && fits(source, tensor, desc, buffer, *offset))
      bindings_.push_back({field, {*resource, *offset, needed_bytes(desc)}, element});
  }

  std::optional<std::size_t> find_resource(const json::Value& value, const std::string& place) {
    return dmlop::find_resource(reading_, value, place);
  }

  std::optional<std::uint64_t> number(const json::Value& source, const char* member,
                                      const std::string& tensor) {
    const json::Value* value = source.find(member);
    if (value == nullptr) return 0;
    const auto number =
        reading_.reader.integer(*value, tensor + "." + member, "UINT64", 0, largest_offset);
    return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
  }

  // The offset in bytes; 0 for a plain name.
  std::optional<std::uint64_t> read_offset(const json::Value& source, const std::string& tensor,
                                           std::optional<std::size_t> resource) {
    if (source.kind != Kind::object) return 0;
    reading_.warnings.refuse_unknown(source,
                                     {"name", "elementCount", "elementSizeInBytes", "elementOffset",
                                      "format", "counter", "counterOffsetBytes", "shape"},
                                     "a binding");
    number(source, "elementCount", tensor);  // operators do not use it
    if (const json::Value* counter = source.find("counter"))
      find_resource(*counter, tensor + ".counter");
    number(source, "counterOffsetBytes", tensor);
    auto size = number(source, "elementSizeInBytes", tensor);
    const auto offset = number(source, "elementOffset", tensor);
    if (!size || !offset) return std::nullopt;
    if (!resource || *offset == 0) return 0;
    const auto& type = reading_.model.resources[*resource].initial.data_type;
    if (*size == 0 && type) size = size_of(*type);
    if (*size == 0) {
      reading_.add(*source.find("elementOffset"),
                   tensor + ".elementOffset counts elements of no known size",
                   "the resource has values of several types",
                   "write \"elementSizeInBytes\": 4, for example");
      return std::nullopt;
    }
    if (*offset > largest_offset / *size) {
      reading_.reader.expected(*source.find("elementOffset"), tensor + ".elementOffset",
                               "within the resource");
      return std::nullopt;
    }
    return *offset * *size;
  }

  bool fits(const json::Value& source, const std::string& tensor, const TensorDesc& desc,
            const Resource& buffer, std::uint64_t offset) {
    const std::string name = "\"" + printable(buffer.name) + "\"";
    if (buffer.is_deferred) {
      reading_.add(source, tensor + " is bound to " + name + ", whose size is deferred",
                   "only outputs of ONNX models are allocated while they run",
                   "give " + name + " initialValues");
      return false;
    }
    const std::uint64_t needed = needed_bytes(desc);
    const std::uint64_t bound = buffer.size - std::min(offset, buffer.size);
    const std::string at = offset != 0 ? " from byte " + std::to_string(offset) : "";
    if (bound < needed) {
      reading_.add(source,
                   tensor + " needs " + counted(needed, "byte") + ", but " + name + " has " +
                       std::to_string(bound) + at,
                   size_rule(desc), "make " + name + " larger, or the tensor smaller");
      return false;
    }
    if (desc.base_offset_alignment == 0 || offset % desc.base_offset_alignment == 0) return true;
    reading_.add(source,
                 tensor + " is bound at byte " + std::to_string(offset) +
                     ", but its GuaranteedBaseOffsetAlignment is " +
                     std::to_string(desc.base_offset_alignment),
                 "the offset must be a multiple of what the tensor desc guarantees");
    return false;
  }

  bool is_written_before(const Resource& buffer) const {
    const Model& model = reading_.model;
    const auto resource = static_cast<std::size_t>(&buffer - model.resources.data());
    const auto writes = [&](const ModelCommand& command) {
      const auto* dispatch = std::get_if<DispatchCommand>(&command);
      if (dispatch == nullptr || !model.dispatchables[dispatch->dispatchable].description)
        return false;
      return std::ranges::any_of(outputs_of(model, *dispatch), [&](const TensorBinding* output) {
        return output->range.resource == resource;
      });
    };
    return std::ranges::any_of(model.commands, writes);
  }

  // Values of one byte may be any bytes, and what an earlier command wrote has the type of that.
  void note_other_type(const json::Value& source, const std::string& tensor, DataType type,
                       const Resource& buffer) {
    const auto& given = buffer.initial.data_type;
    if (!given || size_of(*given) == 1) return;
    if (*given == type || are_integers_alike(*given, type) || is_written_before(buffer)) return;
    const std::string is(name_of(type)), are(name_of(*given));
    reading_.warn(
        source,
        tensor + " is " + is + ", but the values of \"" + printable(buffer.name) + "\" are " + are,
        "a buffer has no type: its bytes are read as " + is,
        "give the tensor and the values the same type");
  }

  static std::string size_rule(const TensorDesc& desc) {
    const std::uint64_t bytes =
        *reached_elements(desc.sizes, input_strides(desc)) * size_of(*desc.data_type);
    if (desc.total_size_in_bytes.value_or(0) > (bytes + 3) / 4 * 4)
      return "its TotalTensorSizeInBytes says so";
    return std::string(name_of(*desc.data_type)) + " " + list_of(desc.sizes) +
           (desc.strides ? " with Strides " + list_of(*desc.strides) : "") + " has " +
           counted(bytes, "byte") + ", rounded up to a multiple of 4";
  }

  ModelReading& reading_;
  const json::Value& object_;
  const Description& description_;
  std::string operator_;
  bool initial_;
  std::vector<TensorBinding> bindings_;
};

}  // namespace

std::optional<std::size_t> find_resource(ModelReading& reading, const json::Value& value,
                                         const std::string& place) {
  const auto name = reading.reader.string(value, place);
  if (!name) return std::nullopt;
  const auto found = reading.resource_names.find(*name);
  if (found != reading.resource_names.end()) return found->second;
  const auto [list, nearest] = names_there_are(reading.model.resources, *name);
  reading.add(value, "no resource is called \"" + printable(*name) + "\"",
              list.empty() ? "the model has no resources" : "resources: " + list,
              nearest.empty() ? "" : "did you mean \"" + printable(nearest) + "\"?");
  return std::nullopt;
}

std::uint64_t needed_bytes(const TensorDesc& desc) {
  const std::uint64_t bytes =
      *reached_elements(desc.sizes, input_strides(desc)) * size_of(*desc.data_type);
  return std::max((bytes + 3) / 4 * 4, desc.total_size_in_bytes.value_or(0));
}

std::vector<TensorBinding> read_bindings(ModelReading& reading, const json::Value& object,
                                         const Dispatchable& dispatchable, bool initial) {
  return BindingReader(reading, object, dispatchable, initial).read();
}

void check_binding_names(ModelReading& reading, const json::Value& object) {
  const auto check = [&](const json::Value& source, const std::string& tensor) {
    const json::Value* name = source.kind == Kind::object ? source.find("name") : &source;
    if (name != nullptr) find_resource(reading, *name, tensor);
  };
  for (const json::Member& member : object.members) {
    if (member.value.kind != Kind::array) check(member.value, printable(member.name));
    for (const json::Value& item : member.value.items) check(item, printable(member.name));
  }
}

void check_overlaps(ModelReading& reading, const json::Value& place,
                    const Dispatchable& dispatchable, const std::vector<TensorBinding>& bindings) {
  const OperatorSpec& spec = *dispatchable.description->spec;
  for (const TensorBinding& output : bindings) {
    if (!spec.find_field(output.tensor)->is_output()) continue;
    for (const TensorBinding& input : bindings) {
      const BufferRange& a = input.range;
      const BufferRange& b = output.range;
      if (&input == &output || a.resource != b.resource) continue;
      if (a.offset >= b.offset + b.size || b.offset >= a.offset + a.size) continue;
      const bool is_same = a.offset == b.offset && a.size == b.size;
      if (spec.in_place && is_same) continue;
      const json::Value* written = place.find(output.tensor);
      reading.add(written != nullptr ? *written : place,
                  tensor_name(output.tensor, output.element) + " and " +
                      tensor_name(input.tensor, input.element) +
                      " are bound to the same bytes of \"" +
                      printable(reading.model.resources[a.resource].name) + "\"",
                  "DML_OPERATOR_" + spec.name +
                      (spec.in_place ? " may write over an input, but to the same bytes only"
                                     : " cannot write over its input"),
                  "bind the output to another resource");
    }
  }
}

}  // namespace dmlop
