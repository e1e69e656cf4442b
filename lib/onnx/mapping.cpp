#include "onnx/mapping.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.hpp"
#include "onnx/versions.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {

void Mapping::refuse(std::string message, std::string rule) {
  throw Refusal{std::move(message), std::move(rule)};
}

void Mapping::refuse_invalid(std::string message, std::string rule) {
  throw Refusal{std::move(message), std::move(rule), "", ErrorKind::invalid_input};
}

bool Mapping::has(std::size_t input) const {
  if (input >= inputs_.size()) return false;
  is_input_read_[input] = true;
  return inputs_[input] != nullptr;
}

const Value& Mapping::in(std::size_t input) const {
  if (!has(input)) refuse_invalid("its " + title_of_input(input) + " is missing");
  return *inputs_[input];
}

std::string Mapping::title_of_input(std::size_t input) const {
  const std::string number = "input " + std::to_string(input);
  const bool has_name = input < node_.inputs.size() && !node_.inputs[input].empty();
  return has_name ? number + " \"" + printable(std::string(node_.inputs[input])) + "\"" : number;
}

void Mapping::require_elements(const std::string& tensor, const Sizes& sizes) {
  const auto count = element_count(sizes);
  if (!count)
    refuse(tensor + " has the sizes " + list_of(sizes), "64 bits count all elements of a tensor");
  if (*count == 0)
    refuse(tensor + " is empty, of sizes " + list_of(sizes),
           "DirectML has no tensors without elements");
}

void Mapping::require_no_input(std::size_t input, const char* name) const {
  if (has(input)) refuse("it has the input " + std::string(name));
}

void Mapping::require_no_output(std::size_t output, const char* name) const {
  if (wants(output)) refuse("its output " + std::string(name) + " is used");
}

void Mapping::require_sizes(const std::string& name, const Sizes& sizes, const Sizes& expected,
                            const std::string& rule) {
  if (sizes == expected) return;
  refuse_invalid(
      "its " + name + " has the sizes " + list_of(sizes) + ", must have " + list_of(expected),
      rule);
}

View Mapping::view(std::size_t input) {
  const Value& value = in(input);
  if (value.constant || !value.edge.empty()) used.push_back(&value);
  if (element_count(value.sizes) != 0)
    require_elements("its " + title_of_input(input), value.sizes);
  else if (!empty_input_)
    empty_input_ = input;
  return {value.edge, value.type, value.sizes, {}};
}

const TensorData& Mapping::known(std::size_t input, const char* rule) const {
  const Value& value = in(input);
  if (const TensorData* data = value.known()) return *data;
  throw Refusal{"its " + title_of_input(input) + " must be known before anything runs", rule,
                value.way_to_give.empty()
                    ? "make it an initializer, or give the elements of the inputs that it follows "
                      "from"
                    : value.way_to_give + ", or make it an initializer",
                ErrorKind::invalid_input};
}

std::vector<std::int64_t> Mapping::known_integers(std::size_t input) const {
  const TensorData& data = known(input);
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  if (data.type != DataType::Int64 && data.type != DataType::Int32)
    refuse_invalid("its " + title_of_input(input) + " is " + std::string(name_of(data.type)) +
                   ", must be INT64 or INT32");
  if (data.count() > most) refuse("its " + title_of_input(input) + " has too many values");
  std::vector<std::int64_t> list;
  for (std::uint64_t i = 0; i < data.count(); ++i) {
    std::int64_t number = 0;
    if (data.type == DataType::Int32) {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, &data.bytes[i * sizeof narrow], sizeof narrow);
      number = narrow;
    } else {
      std::memcpy(&number, &data.bytes[i * sizeof number], sizeof number);
    }
    list.push_back(number);
  }
  return list;
}

std::vector<double> Mapping::known_reals(std::size_t input) const {
  const TensorData& data = known(input);
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  if (data.count() > most || has_4_bits(data.type))
    refuse("its " + title_of_input(input) + " has too many values");
  std::vector<double> list;
  for (std::uint64_t i = 0; i < data.count(); ++i)
    list.push_back(element_value(data.type, &data.bytes[i * size_of(data.type)]));
  return list;
}

const Attribute* Mapping::find(std::string_view name) const {
  for (std::size_t i = 0; i < node_.attributes.size(); ++i) {
    if (node_.attributes[i].name != name) continue;
    is_attribute_read_[i] = true;
    return &node_.attributes[i];
  }
  return nullptr;
}

void Mapping::ignore(std::initializer_list<std::string_view> attributes) const {
  for (const std::string_view name : attributes) find(name);
}

void Mapping::ignore_input(std::size_t input) const {
  if (input < inputs_.size()) is_input_read_[input] = true;
}

const Attribute* Mapping::find_of_kind(std::string_view name, AttributeKind kind) const {
  constexpr std::array names{"of no type", "FLOAT",  "INT",  "STRING", "TENSOR",
                             "GRAPH",      "FLOATS", "INTS", "STRINGS"};
  const Attribute* attribute = find(name);
  if (attribute == nullptr || attribute->kind == AttributeKind::unknown || attribute->kind == kind)
    return attribute;
  const auto written = static_cast<std::size_t>(attribute->kind);
  refuse_invalid("its attribute " + std::string(name) + " is " +
                     (written < names.size() ? names[written] : "of another type"),
                 "it must be " + std::string(names[static_cast<std::size_t>(kind)]));
}

std::int64_t Mapping::integer(std::string_view name, std::int64_t other) const {
  const Attribute* attribute = find_of_kind(name, AttributeKind::integer);
  return attribute == nullptr ? other : attribute->integer;
}

void Mapping::require_attribute(std::string_view name) const {
  if (!has_attribute(name)) refuse_invalid("its attribute " + std::string(name) + " is missing");
}

std::int64_t Mapping::required_integer(std::string_view name) const {
  require_attribute(name);
  return integer(name, 0);
}

std::uint64_t Mapping::required_count(std::string_view name) const {
  const std::int64_t number = required_integer(name);
  if (number < 1 || number > 0x7FFFFFFF)
    refuse_invalid("its " + std::string(name) + " is " + std::to_string(number),
                   "it must be from 1 to 2147483647");
  return static_cast<std::uint64_t>(number);
}

float Mapping::real(std::string_view name, float other) const {
  const Attribute* attribute = find_of_kind(name, AttributeKind::real);
  return attribute == nullptr ? other : attribute->real;
}

std::string Mapping::text(std::string_view name, std::string_view other) const {
  const Attribute* attribute = find_of_kind(name, AttributeKind::text);
  return std::string(attribute == nullptr ? other : attribute->text);
}

std::string_view Mapping::choice(std::string_view name,
                                 std::initializer_list<std::string_view> words) const {
  const std::string written = text(name, *words.begin());
  for (const std::string_view word : words) {
    if (written == word) return word;
  }
  refuse_invalid("its " + std::string(name) + " is \"" + printable(written) + "\"",
                 std::string(name) + " is one of: " + join(words));
}

std::vector<std::int64_t> Mapping::integers(std::string_view name) const {
  const Attribute* attribute = find_of_kind(name, AttributeKind::integers);
  return attribute == nullptr ? std::vector<std::int64_t>{} : attribute->integers;
}

std::vector<float> Mapping::reals(std::string_view name) const {
  const Attribute* attribute = find_of_kind(name, AttributeKind::reals);
  return attribute == nullptr ? std::vector<float>{} : attribute->reals;
}

std::vector<std::string> Mapping::texts(std::string_view name) const {
  const Attribute* attribute = find_of_kind(name, AttributeKind::texts);
  if (attribute == nullptr) return {};
  return {attribute->texts.begin(), attribute->texts.end()};
}

std::size_t Mapping::axis_of(std::int64_t axis, std::size_t dimensions, bool may_be_end) {
  const auto count = static_cast<std::int64_t>(dimensions);
  const std::int64_t last = may_be_end ? count : count - 1;
  if (axis < -count || axis > last)
    refuse_invalid(
        "its axis is " + std::to_string(axis) + ", but the tensor has " +
            counted(dimensions, "dimension"),
        last < 0 ? "a scalar has no axis"
                 : "an axis is from " + std::to_string(-count) + " to " + std::to_string(last));
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::size_t> Mapping::axes_as_written(const std::vector<std::int64_t>& axes,
                                                  std::size_t dimensions) {
  std::vector<std::size_t> list;
  for (const std::int64_t axis : axes) list.push_back(axis_of(axis, dimensions));
  std::vector<std::size_t> sorted = list;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    refuse_invalid("its axes name dimension " + std::to_string(*twice) + " twice",
                   "each dimension is named once");
  return list;
}

std::vector<std::size_t> Mapping::axes_of(const std::vector<std::int64_t>& axes,
                                          std::size_t dimensions) {
  std::vector<std::size_t> list;
  for (const std::int64_t axis : axes) list.push_back(axis_of(axis, dimensions));
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
  return list;
}

std::string EdgeNames::free(const std::string& wanted) {
  std::size_t& tried = tried_[wanted];
  std::string edge;
  do {
    edge = ++tried == 1 ? wanted : wanted + std::to_string(tried);
  } while (!taken_.insert(edge).second);
  return edge;
}

std::string Mapping::own_edge(const char* what) {
  const std::string_view output = node_.first_output();
  const std::string_view name = output.empty() ? node_.name : output;
  return names_.free(std::string(name) + "/" + what);
}

View Mapping::output(std::size_t output, DataType type, const Sizes& sizes, bool is_boolean) {
  if (element_count(sizes) == 0) {
    TensorData nothing = new_data(type, sizes, {});
    nothing.is_boolean = is_boolean;
    constant_output(output, std::move(nothing));
    return {"", type, sizes, {}};
  }
  require_elements("its output", sizes);
  require_full_inputs();
  if (!wants(output)) return {"", type, sizes, {}};
  if (outputs.size() <= output) outputs.resize(output + 1);
  Value value{std::string(node_.outputs[output]), type, is_boolean, sizes, {}, {}};
  View view{value.edge, type, sizes, {}};
  outputs[output] = std::move(value);
  return view;
}

View Mapping::output(std::size_t output, const Value& like, const Sizes& sizes) {
  return this->output(output, like.type, sizes, like.is_boolean);
}

void Mapping::constant_output(std::size_t output, TensorData data) {
  if (!wants(output)) return;
  if (outputs.size() <= output) outputs.resize(output + 1);
  Value value{std::string(node_.outputs[output]), data.type, data.is_boolean, data.sizes, {}, {}};
  value.constant = std::move(data);
  outputs[output] = std::move(value);
}

void Mapping::require_full_inputs() const {
  if (empty_input_)
    require_elements("its " + title_of_input(*empty_input_), in(*empty_input_).sizes);
}

void Mapping::require_all_read() const {
  std::vector<std::string> unread;
  std::string meant;
  for (std::size_t i = 0; i < node_.attributes.size(); ++i) {
    const std::string_view name = node_.attributes[i].name;
    const bool is_private = name.starts_with("__");  // of tools that change models
    if (is_attribute_read_[i] || is_private) continue;
    unread.push_back("the attribute \"" + printable(std::string(name)) + "\"");
    meant = attribute_meant(*this, name);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr && !is_input_read_[i]) unread.push_back("the " + title_of_input(i));
  }
  if (unread.empty()) return;
  throw Refusal{"it has " + join(unread, " and ") + ", which " +
                    (unread.size() == 1 ? "is" : "are") + " unknown here",
                "what dmlop does not know could change the outputs, so it is not ignored",
                unread.size() > 1 ? "remove them if they change no output"
                : meant.empty()   ? "remove it if it changes no output"
                                  : "did you mean \"" + meant + "\"?"};
}

void Mapping::finish() {
  const bool has_constants_only =
      !outputs.empty() && std::ranges::all_of(outputs, [](const std::optional<Value>& output) {
        return !output || output->constant;
      });
  if (!has_constants_only) return require_full_inputs();
  operators.clear();
  constants.clear();
  used.clear();
}

View Mapping::temporary(DataType type, const Sizes& sizes) {
  return {own_edge("part"), type, sizes, {}};
}

View Mapping::packed(const View& view) {
  if (view.strides.empty()) return view;
  const View copy = temporary(view.type, view.sizes);
  add_unary("ELEMENT_WISE_IDENTITY", view, copy);
  return copy;
}

View Mapping::merged(const View& view, std::size_t most) {
  if (view.sizes.size() <= most) return view;
  const std::size_t last = view.sizes.size() - most;  // of the dimensions that become one
  View made{view.edge, view.type, {1}, {}};
  for (std::size_t i = 0; i <= last; ++i) made.sizes[0] *= view.sizes[i];
  made.sizes.insert(made.sizes.end(), view.sizes.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                    view.sizes.end());
  if (view.strides.empty()) return made;
  made.strides.assign(view.strides.begin() + static_cast<std::ptrdiff_t>(last), view.strides.end());
  std::optional<std::uint64_t> span;  // from one place of the next dimension to the next place
  for (std::size_t i = last + 1; i-- > 0;) {
    if (view.sizes[i] == 1) continue;
    if (!span) made.strides[0] = view.strides[i];
    if (span && view.strides[i] != *span) return merged(packed(view), most);
    span = view.strides[i] * view.sizes[i];
  }
  return made;
}

View Mapping::rows_of(const View& table, const View& indices) {
  Sizes sizes = indices.sizes;
  sizes.push_back(table.sizes.back());
  const View rows = temporary(table.type, sizes);
  add(DmlOperator("GATHER")
          .input("InputTensor", padded(table))
          .input("IndicesTensor", padded(indices))
          .output("OutputTensor", padded(rows))
          .count("Axis", 2)
          .count("IndexDimensions", 2));
  return rows;
}

View Mapping::constant(DataType type, const Sizes& sizes, std::vector<std::byte> bytes) {
  View view{own_edge("constant"), type, sizes, {}};
  constants.push_back({view.edge, new_data(type, sizes, std::move(bytes))});
  return view;
}

View Mapping::constant_number(DataType type, double number) {
  const auto element = element_from(type, number);
  return constant(type, {1},
                  {element.begin(), element.begin() + static_cast<std::ptrdiff_t>(size_of(type))});
}

void Mapping::add(const DmlOperator& operation) {
  operators.push_back(operation);
}

View Mapping::converted(const View& view, DataType type) {
  if (view.type == type) return view;
  const View made = temporary(type, view.sizes);
  add_unary("CAST", view, made);
  return made;
}

void Mapping::add_unary(const std::string& type, const View& from, const View& to) {
  add(DmlOperator(type).input("InputTensor", padded(from)).output("OutputTensor", padded(to)));
}

void Mapping::add_binary(const std::string& type, const View& a, const View& b, const View& to) {
  add(DmlOperator(type)
          .input("ATensor", padded(broadcast(a, to.sizes)))
          .input("BTensor", padded(broadcast(b, to.sizes)))
          .output("OutputTensor", padded(to)));
}

void Mapping::add_identity(const View& from, const View& to) {
  View target = to;
  target.sizes = from.sizes;  // the bytes are the same, whatever sizes they have then
  add_unary("ELEMENT_WISE_IDENTITY", from, target);
}

View padded_behind(View view) {
  while (view.sizes.size() < 4) view.sizes.push_back(1);
  return view;
}

std::uint64_t padded_axis(std::size_t axis, std::size_t dimensions) {
  return axis + (dimensions < 4 ? 4 - dimensions : 0);
}

Sizes joined_sizes(const std::vector<Sizes>& all, std::size_t axis) {
  Sizes sizes = all.front();
  std::uint64_t length = 0;
  for (const Sizes& next : all) {
    if (next.size() != sizes.size())
      Mapping::refuse_invalid("its inputs have different numbers of dimensions");
    length += next[axis];
    sizes[axis] = next[axis];
    if (next != sizes)
      Mapping::refuse_invalid("its inputs " + list_of(all.front()) + " and " + list_of(next) +
                              " do not fit together along axis " + std::to_string(axis));
  }
  sizes[axis] = length;
  return sizes;
}

std::optional<Sizes> try_broadcast_sizes(const std::vector<Sizes>& all) {
  Sizes result;
  for (const Sizes& sizes : all) {
    if (sizes.size() > result.size())
      result.insert(result.begin(), sizes.size() - result.size(), 1);
    const std::size_t skip = result.size() - sizes.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::uint64_t& size = result[skip + i];
      if (size == sizes[i] || sizes[i] == 1) continue;
      if (size != 1) return std::nullopt;
      size = sizes[i];
    }
  }
  return result;
}

Sizes broadcast_sizes(const std::vector<Sizes>& all) {
  if (auto sizes = try_broadcast_sizes(all)) return *std::move(sizes);
  std::vector<std::string> lists;
  for (const Sizes& sizes : all) lists.push_back(list_of(sizes));
  const std::string shown = lists.size() == 2 ? join(lists, " and ") : names_of_list(lists);
  Mapping::refuse_invalid("its inputs " + shown + " do not fit together",
                          "sizes are compared from the last one on: they are equal, or one is 1");
}

}  // namespace dmlop::onnx
