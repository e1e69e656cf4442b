#include "mutation.hpp"

#include <algorithm>
#include <set>

#include "tensor/data_type.hpp"

namespace dmlop::test {
namespace {

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const EnumValue& value : enum_values("DML_TENSOR_DATA_TYPE")) {
      if (value.name != "UNKNOWN") list.push_back(value.name);
    }
    return list;
  }();
  return names;
}

class Mutator {
 public:
  Mutator(const OperatorSpec& spec, const OrderedJson& desc) : spec_(spec), desc_(desc) {}

  std::vector<Mutation> single(const std::vector<const OrderedJson*>& donors) {
    for (const FieldSpec& field : spec_.fields) {
      if (desc_.contains(field.name)) {
        mutate(field);
        if (!field.is_tensor() || field.optional) drop(field);
      }
      take_from(donors, field);
      if (!field.count_field.empty()) write_count(field);
    }
    return std::move(mutations_);
  }

  std::vector<Mutation> shared() {
    change_types_together();
    change_sizes_together();
    change_dimensions_together();
    return std::move(mutations_);
  }

 private:
  void add(const std::string& words, OrderedJson desc) {
    mutations_.push_back({words, std::move(desc)});
  }

  void replace(const OrderedJson::json_pointer& place, const std::string& name,
               const OrderedJson& value) {
    if (desc_.at(place) == value) return;
    OrderedJson desc = desc_;
    desc[place] = value;
    add(name + ": " + desc_.at(place).dump() + " -> " + value.dump(), std::move(desc));
  }

  void drop(const FieldSpec& field) {
    OrderedJson desc = desc_;
    desc.erase(field.name);
    add("without " + field.name, std::move(desc));
  }

  // The count of an array, where it is left out, as one more or less than it has.
  void write_count(const FieldSpec& array) {
    if (desc_.contains(array.count_field)) return;
    const std::size_t length = desc_.contains(array.name) ? desc_.at(array.name).size() : 0;
    for (const std::size_t count : {length + 1, length - 1}) {
      if (count > length + 1) continue;  // less than none
      OrderedJson desc = desc_;
      desc[array.count_field] = count;
      add("with " + array.count_field + " " + std::to_string(count), std::move(desc));
    }
  }

  // The first few other values that descriptions of this operator have in this field.
  void take_from(const std::vector<const OrderedJson*>& donors, const FieldSpec& field) {
    constexpr std::size_t taken = 4;
    std::set<std::string> seen;
    if (desc_.contains(field.name)) seen.insert(desc_.at(field.name).dump());
    const std::size_t most = seen.size() + taken;
    for (const OrderedJson* donor : donors) {
      if (!donor->contains(field.name) || seen.size() >= most) continue;
      const OrderedJson& value = donor->at(field.name);
      if (!seen.insert(value.dump()).second) continue;
      OrderedJson desc = desc_;
      desc[field.name] = value;
      add((desc_.contains(field.name) ? field.name + " becomes " : "with " + field.name + " ") +
              value.dump(),
          std::move(desc));
    }
  }

  void mutate(const FieldSpec& field) {
    const OrderedJson::json_pointer place("/" + field.name);
    const OrderedJson& value = desc_.at(field.name);
    switch (field.kind) {
      case FieldKind::input_tensor:
      case FieldKind::output_tensor:
        mutate_tensor(place, field.name);
        break;
      case FieldKind::input_tensor_array:
      case FieldKind::output_tensor_array:
        for (std::size_t j = 0; j < value.size(); ++j)
          mutate_tensor(place / j, field.name + "[" + std::to_string(j) + "]");
        resize(field);
        break;
      case FieldKind::enumeration:
        for (const EnumValue& other : enum_values(field.enum_name)) {
          const std::string written = value.get<std::string>();
          if (!written.ends_with(other.name)) replace(place, field.name, other.name);
        }
        break;
      case FieldKind::uint:
      case FieldKind::int32:
      case FieldKind::float32:
      case FieldKind::boolean:
      case FieldKind::scalar_union:
        mutate_number(place, field.name, field.kind);
        break;
      case FieldKind::uint_array:
      case FieldKind::int_array:
      case FieldKind::float_array:
        mutate_list(place, field);
        break;
      case FieldKind::size_2d:
      case FieldKind::scale_bias:
        for (const auto& [member, number] : value.items())
          mutate_number(place / member, field.name + "." + member,
                        field.kind == FieldKind::size_2d ? FieldKind::uint : FieldKind::float32);
        break;
      case FieldKind::activation_array:
        resize(field);
        break;
      case FieldKind::fused_activation:
        break;  // others come from donors
    }
  }

  void mutate_number(const OrderedJson::json_pointer& place, const std::string& name,
                     FieldKind kind) {
    const OrderedJson& value = desc_.at(place);
    if (!value.is_number()) return;
    if (kind == FieldKind::float32) {
      const double number = value.get<double>();
      for (const double other : {number + 1, number - 1, 0.0, 1.0, 2.0, -1.0, 1e9})
        replace(place, name, other);
      replace(place, name, "NaN");
      return;
    }
    const auto number = value.get<std::int64_t>();
    for (const std::int64_t other : {number + 1, number - 1, std::int64_t{0}, std::int64_t{1},
                                     std::int64_t{2}, std::int64_t{4294967295}}) {
      const bool is_flag = kind == FieldKind::boolean && other > 1;
      if (other < 0 && kind != FieldKind::int32) continue;
      if (!is_flag) replace(place, name, other);
    }
    if (kind != FieldKind::int32) return;
    for (const std::int64_t other : {-number, std::int64_t{-1}, number - 100, number + 100})
      replace(place, name, other);
  }

  void mutate_list(const OrderedJson::json_pointer& place, const FieldSpec& field) {
    const OrderedJson& list = desc_.at(place);
    const FieldKind kind = field.kind == FieldKind::uint_array  ? FieldKind::uint
                           : field.kind == FieldKind::int_array ? FieldKind::int32
                                                                : FieldKind::float32;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string name = field.name + "[" + std::to_string(i) + "]";
      for (std::size_t j = 0; j < i; ++j) replace(place / i, name, list[j]);
      mutate_number(place / i, name, kind);
    }
    resize(field);
  }

  // One element less or more, of this array alone and of all that its count field counts.
  void resize(const FieldSpec& field) {
    for (const bool is_longer : {false, true}) {
      const std::string words = is_longer ? " with one element more" : " with one element less";
      OrderedJson alone = desc_;
      resize(alone, field.name, is_longer);
      if (alone.contains(field.count_field)) alone[field.count_field] = alone[field.name].size();
      if (alone != desc_) add(field.name + words, std::move(alone));
      OrderedJson together = desc_;
      for (const FieldSpec& other : spec_.fields) {
        if (other.count_field == field.count_field) resize(together, other.name, is_longer);
      }
      if (together.contains(field.count_field))
        together[field.count_field] = together[field.name].size();
      if (together != desc_) add(field.name + " and its siblings" + words, std::move(together));
    }
  }

  static void resize(OrderedJson& desc, const std::string& name, bool is_longer) {
    if (!desc.contains(name) || desc[name].empty()) return;
    OrderedJson& list = desc[name];
    if (is_longer) list.push_back(OrderedJson(list.back()));
    if (!is_longer) list.erase(list.size() - 1);
  }

  void mutate_tensor(const OrderedJson::json_pointer& place, const std::string& name) {
    const OrderedJson& tensor = desc_.at(place);
    if (!tensor.contains("Sizes")) return;
    for (const std::string& type : type_names()) {
      if (tensor.contains("DataType")) replace(place / "DataType", name + ".DataType", type);
    }
    const OrderedJson& sizes = tensor.at("Sizes");
    for (std::size_t i = 0; i < sizes.size(); ++i) mutate_size(place / "Sizes" / i, name, i);
    const auto change = [&](const char* words, auto&& action) {
      OrderedJson desc = desc_;
      OrderedJson& changed = desc[place];
      changed.erase("Strides");
      action(changed["Sizes"]);
      if (!changed["Sizes"].empty()) add(name + words, std::move(desc));
    };
    change(" with one dimension less", [](OrderedJson& list) { list.erase(list.size() - 1); });
    change(" without its first dimension", [](OrderedJson& list) { list.erase(0); });
    change(" with a size 1 in front", [](OrderedJson& list) { list.insert(list.begin(), 1); });
    change(" with a size 2 in front", [](OrderedJson& list) { list.insert(list.begin(), 2); });
    change(" with a size 1 at the end", [](OrderedJson& list) { list.push_back(1); });
    if (sizes.size() == 1) return;
    change(" with only its first dimension",
           [](OrderedJson& list) { list = OrderedJson::array({list[0]}); });
    change(" with only its last dimension",
           [](OrderedJson& list) { list = OrderedJson::array({list.back()}); });
  }

  void mutate_size(const OrderedJson::json_pointer& place, const std::string& tensor,
                   std::size_t i) {
    const std::string name = tensor + ".Sizes[" + std::to_string(i) + "]";
    const auto size = desc_.at(place).get<std::int64_t>();
    for (const std::int64_t other : {size + 1, size - 1, 2 * size, std::int64_t{1}, std::int64_t{2},
                                     std::int64_t{4294967295}}) {
      if (other >= 1) replace(place, name, other);
    }
  }

  /// Calls `action` for the JSON of every tensor of a desc.
  template <typename Action>
  void for_tensors(OrderedJson& desc, Action&& action) const {
    for (const FieldSpec& field : spec_.fields) {
      if (!field.is_tensor() || !desc.contains(field.name)) continue;
      OrderedJson& value = desc[field.name];
      if (!field.is_tensor_array()) {
        if (value.contains("Sizes")) action(value);
        continue;
      }
      for (OrderedJson& tensor : value) action(tensor);
    }
  }

  void change_types_together() {
    std::set<std::string> types;
    OrderedJson copy = desc_;
    for_tensors(copy, [&](OrderedJson& tensor) { types.insert(tensor.value("DataType", "")); });
    for (const std::string& type : types) {
      if (type.empty()) continue;
      for (const std::string& other : type_names()) {
        OrderedJson desc = desc_;
        for_tensors(desc, [&](OrderedJson& tensor) {
          if (tensor.value("DataType", "") == type) tensor["DataType"] = other;
        });
        add("every " + type + " tensor becomes " + other, std::move(desc));
      }
    }
  }

  void change_sizes_together() {
    std::set<std::pair<std::size_t, std::int64_t>> sizes;  // index and value
    OrderedJson copy = desc_;
    for_tensors(copy, [&](OrderedJson& tensor) {
      for (std::size_t i = 0; i < tensor["Sizes"].size(); ++i)
        sizes.emplace(i, tensor["Sizes"][i].template get<std::int64_t>());
    });
    for (const auto& [index, size] : sizes) {
      for (const std::int64_t other : {size + 1, size - 1, 2 * size}) {
        if (other < 1) continue;
        OrderedJson desc = desc_;
        for_tensors(desc, [&index = index, &size = size, other](OrderedJson& tensor) {
          tensor.erase("Strides");
          OrderedJson& list = tensor["Sizes"];
          if (index < list.size() && list[index] == size) list[index] = other;
        });
        add("every Sizes[" + std::to_string(index) + "] of " + std::to_string(size) + " becomes " +
                std::to_string(other),
            std::move(desc));
      }
    }
  }

  void change_dimensions_together() {
    std::set<std::size_t> counts;
    OrderedJson copy = desc_;
    for_tensors(copy, [&](OrderedJson& tensor) { counts.insert(tensor["Sizes"].size()); });
    const auto change = [&](std::size_t count, const std::string& words, auto&& action) {
      OrderedJson desc = desc_;
      for_tensors(desc, [&](OrderedJson& tensor) {
        tensor.erase("Strides");
        if (tensor["Sizes"].size() == count) action(tensor["Sizes"]);
      });
      add("every tensor of " + std::to_string(count) + " dimensions gets " + words,
          std::move(desc));
    };
    for (const std::size_t count : counts) {
      change(count, "a size 1 in front", [](OrderedJson& list) { list.insert(list.begin(), 1); });
      change(count, "a size 1 at the end", [](OrderedJson& list) { list.push_back(1); });
      if (count > 1) change(count, "one less in front", [](OrderedJson& list) { list.erase(0); });
      if (count > 1)
        change(count, "one less at the end",
               [](OrderedJson& list) { list.erase(list.size() - 1); });
    }
  }

  const OperatorSpec& spec_;
  const OrderedJson& desc_;
  std::vector<Mutation> mutations_;
};

}  // namespace

std::vector<Mutation> single_mutations(const OperatorSpec& spec, const OrderedJson& desc,
                                       const std::vector<const OrderedJson*>& donors) {
  return Mutator(spec, desc).single(donors);
}

std::vector<Mutation> shared_mutations(const OperatorSpec& spec, const OrderedJson& desc) {
  return Mutator(spec, desc).shared();
}

}  // namespace dmlop::test
