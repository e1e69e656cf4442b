// GroupQueryAttention of com.microsoft, which exporters of language models make.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "onnx/attention.hpp"
#include "onnx/rotary.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

/// INT32 numbers that count up from the first one.
View whole_numbers_from(Mapping& node, std::int64_t first, const Sizes& sizes, bool counts_up) {
  std::vector<std::byte> bytes(element_count(sizes).value_or(0) * sizeof(std::int32_t));
  for (std::size_t i = 0; i < bytes.size() / sizeof(std::int32_t); ++i) {
    const auto number = static_cast<std::int32_t>(first + (counts_up ? std::int64_t(i) : 0));
    std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return node.constant(DataType::Int32, sizes, std::move(bytes));
}

/// A GroupQueryAttention: several heads of queries share one of keys and values, and all keys so
/// far are in a cache.
class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(Mapping& node) : node_(node) {}

  void map() {
    require_supported();
    read_sizes();
    split_heads();
    if (node_.integer("do_rotary", 0) != 0) turn();
    add_attention();
  }

 private:
  void require_supported() const {
    constexpr const char* names[]{"position_ids", "attention_bias", "head_sink",    "k_scale",
                                  "v_scale",      "q_norm_weight",  "k_norm_weight"};
    constexpr std::size_t first = 9;
    for (std::size_t i = 0; i < std::size(names); ++i) node_.require_no_input(first + i, names[i]);
    node_.require_no_output(3, "output_qk");
    // Of outputs and inputs that are refused, and of do_rotary; seqlens_k of a prompt.
    node_.ignore({"qk_output", "kv_cache_bit_width", "qk_norm_epsilon", "rotary_interleaved"});
    for (const std::size_t input : {5, 7, 8}) node_.ignore_input(input);
    if (node_.integer("causal", 1) == 0) Mapping::refuse("it is not causal");
    if (node_.integer("local_window_size", -1) != -1) Mapping::refuse("it has a local window");
    if (node_.integer("sliding_window_cache", 0) != 0) Mapping::refuse("its cache slides");
    if (node_.real("softcap", 0) != 0) Mapping::refuse("it has a softcap");
    if (node_.integer("smooth_softmax", 0) == 1) Mapping::refuse("its softmax is smooth");
    for (const char* cache : {"k_quant_type", "v_quant_type"}) {
      if (node_.text(cache, "NONE") != "NONE") Mapping::refuse("its cache is quantized");
    }
  }

  void read_sizes() {
    heads_ = node_.required_count("num_heads");
    key_heads_ = node_.required_count("kv_num_heads");
    const Sizes& query = node_.in(0).sizes;
    if (query.size() != 3)
      Mapping::refuse_invalid("its query has the sizes " + list_of(query),
                              "it is {batch, rows, heads * size}");
    batch_ = query[0];
    rows_ = query[1];
    is_packed_ = !node_.has(1) && !node_.has(2);
    const std::uint64_t all = is_packed_ ? heads_ + 2 * key_heads_ : heads_;
    size_ = size_of_heads("query", query[2], all);
    const std::vector<std::int64_t> total = node_.known_integers(6);
    if (total.size() != 1)
      Mapping::refuse_invalid("its total_sequence_length has " + counted(total.size(), "number"),
                              "it is one number, for all sequences");
    if (total[0] < 1 || static_cast<std::uint64_t>(total[0]) < rows_)
      Mapping::refuse_invalid("its total_sequence_length is " + std::to_string(total[0]),
                              "it counts the keys so far, of which " + std::to_string(rows_) +
                                  (rows_ == 1 ? " is new" : " are new"));
    total_ = static_cast<std::uint64_t>(total[0]);
    require_both_past(node_, 3);
    if (batch_ != 1 && rows_ != 1 && total_ != rows_)
      Mapping::refuse("several new rows follow earlier ones in a batch of " +
                          std::to_string(batch_) + " sequences",
                      "ONNX Runtime does that for one sequence only");
  }

  void split_heads() {
    const Sizes query{batch_, rows_, heads_ * size_}, key{batch_, rows_, key_heads_ * size_};
    if (is_packed_) {
      const View all = node_.view(0);
      query_ = node_.temporary(all.type, query);
      key_ = node_.temporary(all.type, key);
      value_ = node_.temporary(all.type, key);
      node_.add(DmlOperator("SPLIT")
                    .input("InputTensor", padded(all))
                    .outputs("OutputTensors", {padded(query_), padded(key_), padded(value_)})
                    .count("Axis", 3));
      return;
    }
    query_ = node_.view(0);
    key_ = node_.view(1);
    value_ = node_.view(2);
    Mapping::require_sizes("key", key_.sizes, key, "keys are {batch, rows, kv_num_heads * size}");
    Mapping::require_sizes("value", value_.sizes, key,
                           "values are {batch, rows, kv_num_heads * size}");
  }

  /// How many keys each sequence of the batch had before, {batch}. Of one new row seqlens_k says
  /// that, as it counts all keys but one.
  View earlier() {
    if (rows_ != 1) return whole_numbers_from(node_, std::int64_t(total_ - rows_), {batch_}, false);
    const View lengths = node_.converted(node_.view(5), DataType::Int32);
    if (element_count(lengths.sizes) != batch_)
      Mapping::refuse_invalid("its seqlens_k has the sizes " + list_of(lengths.sizes),
                              "there is one for each of " + std::to_string(batch_) + " sequences");
    if (node_.in(5).known() != nullptr) require_known_lengths(node_.known_integers(5));
    return reshaped(lengths, {batch_});
  }

  void require_known_lengths(const std::vector<std::int64_t>& lengths) const {
    const auto most = static_cast<std::int64_t>(total_) - 1;
    for (const std::int64_t length : lengths) {
      if (length < 0 || length > most)
        Mapping::refuse_invalid("its seqlens_k has " + std::to_string(length),
                                "it counts all keys of a sequence but one, at most " +
                                    std::to_string(most) + " where total_sequence_length is " +
                                    std::to_string(total_));
    }
  }

  void turn() {
    const Sizes& cache = node_.in(7).sizes;
    if (cache.size() == 2 && total_ > cache[0])
      Mapping::refuse_invalid("its total_sequence_length is " + std::to_string(total_) +
                                  ", but its cosines have " + counted(cache[0], "position"),
                              "each key has a position of its own");
    RotaryAngles angles{node_.view(7), node_.view(8), {}, false};
    angles.is_interleaved = node_.integer("rotary_interleaved", 0) != 0;
    angles.positions =
        rows_ == 1 ? reshaped(earlier(), {batch_, 1})
                   : whole_numbers_from(node_, std::int64_t(total_ - rows_), {1, rows_}, true);
    query_ = turned(query_, heads_, angles);
    key_ = turned(key_, key_heads_, angles);
  }

  View turned(const View& view, std::uint64_t heads, const RotaryAngles& angles) {
    const Sizes sizes{batch_, rows_, heads, size_};
    const View made = node_.temporary(view.type, view.sizes);
    turn_heads(node_, reshaped(view, sizes), angles, reshaped(made, sizes));
    return made;
  }

  /// The cache, or one key that no sequence has, as DirectML wants one.
  View past(std::size_t input, const char* name) {
    if (!has_elements(node_, input)) {
      const Sizes one{batch_, key_heads_, 1, size_};
      const std::uint64_t bytes = element_count(one).value_or(0) * sizeof(float);
      return node_.constant(DataType::Float32, one, std::vector<std::byte>(bytes));
    }
    const View cache = node_.view(input);
    const std::uint64_t rows = cache.sizes.size() == 4 ? cache.sizes[2] : 0;
    Mapping::require_sizes(name, cache.sizes, {batch_, key_heads_, rows, size_},
                           "the cache is {batch, kv_num_heads, rows, size}");
    cached_ = std::max(cached_, rows);
    return node_.converted(cache, DataType::Float32);
  }

  // In FLOAT32, as the provider does.
  void add_attention() {
    DmlOperator operation("MULTIHEAD_ATTENTION1");
    operation.input("QueryTensor", node_.converted(query_, DataType::Float32))
        .input("KeyTensor", node_.converted(key_, DataType::Float32))
        .input("ValueTensor", node_.converted(value_, DataType::Float32))
        .input("PastKeyTensor", past(3, "past_key"))
        .input("PastValueTensor", past(4, "past_value"))
        .input("PastSequenceLengthsTensor", earlier());
    const Sizes present{batch_, key_heads_, std::max(cached_, total_), size_};
    std::vector<std::pair<View, View>> casts;
    const auto write = [&](const char* field, std::size_t output, const Sizes& sizes) {
      if (!node_.wants(output)) return;
      const View to = node_.output(output, node_.in(0), sizes);
      const bool is_cast = to.type != DataType::Float32;
      const View made = is_cast ? node_.temporary(DataType::Float32, sizes) : to;
      operation.output(field, made);
      if (is_cast) casts.emplace_back(made, to);
    };
    write("OutputTensor", 0, {batch_, rows_, heads_ * size_});
    write("OutputPresentKeyTensor", 1, present);
    write("OutputPresentValueTensor", 2, present);
    node_.add(operation.set("Scale", scale_of(node_, size_))
                  .set("MaskFilterValue", -10000.0F)
                  .count("QueryHeadCount", heads_)
                  .count("KeyValueHeadCount", key_heads_)
                  .choose("MaskType", "NONE"));
    for (const auto& [made, to] : casts) node_.add_unary("CAST", made, to);
  }

  Mapping& node_;
  std::uint64_t heads_ = 0, key_heads_ = 0, batch_ = 0, rows_ = 0, size_ = 0;
  std::uint64_t total_ = 0;   // keys so far, with the new ones
  std::uint64_t cached_ = 0;  // rows of the cache
  bool is_packed_ = false;    // queries, keys and values are one tensor
  View query_, key_, value_;
};

void map_group_query_attention(Mapping& node) {
  GroupQueryAttention(node).map();
}

constexpr OnnxOperator group_query_table[]{
    {"GroupQueryAttention", microsoft, "MULTIHEAD_ATTENTION1, after those of RotaryEmbedding",
     map_group_query_attention},
};

}  // namespace

std::span<const OnnxOperator> group_query_rows() {
  return group_query_table;
}

}  // namespace dmlop::onnx
