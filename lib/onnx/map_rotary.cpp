// RotaryEmbedding of ONNX and of com.microsoft.
#include "base/text.hpp"
#include "onnx/rotary.hpp"
#include "onnx/rows.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

/// -1 for the first of each pair, which the second one is subtracted from, and 1 for the second.
View signs(Mapping& node, DataType type, const Sizes& pairs, std::size_t axis) {
  std::vector<std::byte> bytes;
  for (const double sign : {-1.0, 1.0}) {
    const auto element = element_from(type, sign);
    bytes.insert(bytes.end(), element.begin(),
                 element.begin() + static_cast<std::ptrdiff_t>(size_of(type)));
  }
  View view = node.constant(type, {2}, std::move(bytes));
  view.sizes = pairs;
  view.strides.assign(pairs.size(), 0);
  view.strides[axis] = 1;
  return view;
}

/// x * cos + (the other element of its pair, with its sign) * sin, as the provider computes it. The
/// angles {batch, rows, heads, half} lack the axis of the pairs.
void turn_all(Mapping& node, const View& from, View cosines, View sines, bool is_interleaved,
              const View& to) {
  const std::size_t axis = is_interleaved ? 4 : 3;
  Sizes pairs = cosines.sizes;
  pairs.insert(pairs.begin() + static_cast<std::ptrdiff_t>(axis), 2);
  for (View* angle : {&cosines, &sines}) {
    angle->sizes = pairs;
    angle->strides.insert(angle->strides.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  }
  Sizes one = pairs;
  one[axis] = 1;
  const View paired = reshaped(from, pairs);
  const View first = node.temporary(from.type, one), second = node.temporary(from.type, one);
  const View swapped = node.temporary(from.type, pairs), other = node.temporary(from.type, pairs);
  const View by_cosine = node.temporary(from.type, pairs);
  const View by_sine = node.temporary(from.type, pairs);
  node.add(DmlOperator("SPLIT")
               .input("InputTensor", paired)
               .outputs("OutputTensors", {first, second})
               .count("Axis", axis));
  node.add(DmlOperator("JOIN")
               .inputs("InputTensors", {second, first})
               .output("OutputTensor", swapped)
               .count("Axis", axis));
  node.add_binary("ELEMENT_WISE_MULTIPLY", swapped, signs(node, from.type, pairs, axis), other);
  node.add_binary("ELEMENT_WISE_MULTIPLY", paired, cosines, by_cosine);
  node.add_binary("ELEMENT_WISE_MULTIPLY", other, sines, by_sine);
  node.add_binary("ELEMENT_WISE_ADD", by_cosine, by_sine, reshaped(to, pairs));
}

/// The angles of the heads' positions, for all heads: {batch, rows, heads, half}.
View angles_of_heads(Mapping& node, const View& cache, const View& positions, const Sizes& heads) {
  const std::uint64_t half = cache.sizes.back();
  // {batch, rows, half} if there are no positions to look up
  const View gathered = positions.edge.empty() ? cache : node.rows_of(cache, positions);
  const Sizes& rows = gathered.sizes;
  View angles = broadcast(reshaped(gathered, {rows[0], rows[1], 1, half}),
                          {heads[0], heads[1], heads[2], half});
  if (angles.strides.empty()) angles.strides = packed_strides(angles.sizes);
  return angles;
}

void require_angles(const View& from, const RotaryAngles& angles) {
  const bool has_positions = !angles.positions.edge.empty();
  for (const View& angle : {angles.cosines, angles.sines}) {
    if (angle.type != from.type)
      Mapping::refuse_invalid("its cosines or sines are " + std::string(name_of(angle.type)) +
                                  ", but its input is " + std::string(name_of(from.type)),
                              "all have the same type");
  }
  const Sizes& cache = angles.cosines.sizes;
  const Sizes& rows = has_positions ? angles.positions.sizes : cache;
  const std::string sizes = list_of(cache);
  if (cache != angles.sines.sizes || cache.size() != (has_positions ? 2U : 3U))
    Mapping::refuse_invalid(
        "its cosines and sines have the sizes " + sizes + " and " + list_of(angles.sines.sizes),
        has_positions ? "both are {positions, half of the turned elements}"
                      : "without position_ids both are {batch, rows, half of the turned elements}");
  if (rows.size() < 2 || (rows[0] != 1 && rows[0] != from.sizes[0]) || rows[1] != from.sizes[1])
    Mapping::refuse_invalid("its positions have the sizes " + list_of(rows),
                            "there is one for each row " +
                                list_of(Sizes{from.sizes[0], from.sizes[1]}) + " of the input");
  if (has_positions && from.sizes[1] > cache[0])
    Mapping::refuse("it has " + counted(from.sizes[1], "row") + ", but cosines of " +
                        counted(cache[0], "position"),
                    "each row has a position of its own");
  if (2 * cache.back() > from.sizes[3])
    Mapping::refuse_invalid("its heads have " + counted(from.sizes[3], "element") +
                                ", but its cosines are for " + std::to_string(2 * cache.back()),
                            "a cosine is for two elements");
}

}  // namespace

void turn_heads(Mapping& node, const View& from, const RotaryAngles& angles, const View& to) {
  require_angles(from, angles);
  const View cosines = angles_of_heads(node, angles.cosines, angles.positions, from.sizes);
  const View sines = angles_of_heads(node, angles.sines, angles.positions, from.sizes);
  const std::uint64_t size = from.sizes[3], turned = 2 * cosines.sizes[3];
  if (turned == size) return turn_all(node, from, cosines, sines, angles.is_interleaved, to);
  Sizes first = from.sizes, rest = from.sizes;
  first[3] = turned;
  rest[3] = size - turned;
  const View begin = node.temporary(from.type, first), end = node.temporary(from.type, rest);
  const View made = node.temporary(from.type, first);
  node.add(DmlOperator("SPLIT")
               .input("InputTensor", from)
               .outputs("OutputTensors", {begin, end})
               .count("Axis", 3));
  turn_all(node, begin, cosines, sines, angles.is_interleaved, made);
  node.add(DmlOperator("JOIN")
               .inputs("InputTensors", {made, end})
               .output("OutputTensor", to)
               .count("Axis", 3));
}

namespace {

/// Positions {batch, rows}. com.microsoft may have the first one only, for all sequences.
View positions_of(Mapping& node, std::size_t input, const Sizes& heads) {
  const View given = node.view(input);
  if (given.sizes.size() == 2) return given;
  if (element_count(given.sizes) != 1 || given.sizes.size() > 1)
    Mapping::refuse_invalid("its position_ids have the sizes " + list_of(given.sizes),
                            "they are {batch, rows}, or the first position alone");
  const View count = node.temporary(given.type, {1, heads[1]});
  const View positions = node.temporary(given.type, {1, heads[1]});
  node.add(DmlOperator("FILL_VALUE_SEQUENCE")
               .output("OutputTensor", padded(count))
               .scalar("ValueDataType", "ValueStart", given.type, 0)
               .scalar("ValueDataType", "ValueDelta", given.type, 1));
  node.add_binary("ELEMENT_WISE_ADD", count, given, positions);
  return positions;
}

/// The size of a head of {batch, rows, heads * size}. com.microsoft may leave it to the cosines if
/// they are for whole heads.
std::uint64_t head_size(const Mapping& node, std::uint64_t hidden, std::uint64_t turned) {
  const bool is_microsoft = std::string_view(node.row().domain) == microsoft;
  if (!is_microsoft || node.integer("rotary_embedding_dim", 0) != 0)
    node.require_attribute("num_heads");
  const std::int64_t heads = node.integer("num_heads", 0);
  const std::uint64_t size = heads > 0    ? hidden / static_cast<std::uint64_t>(heads)
                             : heads == 0 ? turned
                                          : 0;
  if (size == 0 || hidden % size != 0 || (heads > 0 && hidden % static_cast<std::uint64_t>(heads)))
    Mapping::refuse_invalid("its num_heads is " + std::to_string(heads) +
                                ", which does not fit the last dimension " +
                                std::to_string(hidden) + " of its input",
                            "all heads have the same size");
  return size;
}

void map_rotary(Mapping& node) {
  const bool is_microsoft = std::string_view(node.row().domain) == microsoft;
  if (node.real("scale", 1) != 1) Mapping::refuse("its scale is not 1");
  if (node.integer("is_packed_batching", 0) != 0) Mapping::refuse("its batch is packed");
  const Value& value = node.in(0);
  const std::size_t cosines = is_microsoft ? 2 : 1, positions = is_microsoft ? 1 : 3;
  if (node.in(cosines).sizes.empty())
    Mapping::refuse_invalid("its cosines have no dimensions",
                            "they have one for two elements of each head");
  RotaryAngles angles{node.view(cosines), node.view(cosines + 1), {}, false};
  angles.is_interleaved = node.integer("interleaved", 0) != 0;
  const std::size_t dimensions = value.sizes.size();
  if (dimensions != 3 && dimensions != 4)
    Mapping::refuse_invalid("its input has " + counted(dimensions, "dimension"),
                            "it is {batch, rows, heads * size} or {batch, heads, rows, size}");
  const std::int64_t turned = node.integer("rotary_embedding_dim", 0);
  if (turned != 0 && static_cast<std::uint64_t>(turned) != 2 * angles.cosines.sizes.back())
    Mapping::refuse_invalid("its rotary_embedding_dim is " + std::to_string(turned) +
                                ", but its cosines have the sizes " + list_of(angles.cosines.sizes),
                            "a cosine is for two elements");
  View from = node.view(0);
  View to = node.output(0, value, value.sizes);
  const bool has_heads_first = dimensions == 4;
  if (has_heads_first) {
    node.ignore({"num_heads"});  // the sizes say it
    from = node.packed(transposed(from, {0, 2, 1, 3}));
  } else {
    const std::uint64_t size = head_size(node, value.sizes[2], 2 * angles.cosines.sizes.back());
    const Sizes heads{value.sizes[0], value.sizes[1], value.sizes[2] / size, size};
    from = reshaped(from, heads);
    to = reshaped(to, heads);
  }
  if (node.has(positions)) angles.positions = positions_of(node, positions, from.sizes);
  if (!has_heads_first) return turn_heads(node, from, angles, to);
  const View made = node.temporary(value.type, from.sizes);
  turn_heads(node, from, angles, made);
  node.add_unary("ELEMENT_WISE_IDENTITY", transposed(made, {0, 2, 1, 3}), to);
}

constexpr const char* rotary_operators =
    "GATHER, SPLIT, JOIN, ELEMENT_WISE_MULTIPLY, ELEMENT_WISE_ADD";

constexpr OnnxOperator rotary_table[]{
    {"RotaryEmbedding", "", rotary_operators, map_rotary},
    {"RotaryEmbedding", microsoft, rotary_operators, map_rotary},
};

}  // namespace

std::span<const OnnxOperator> rotary_rows() {
  return rotary_table;
}

}  // namespace dmlop::onnx
