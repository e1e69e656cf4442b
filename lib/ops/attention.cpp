// DML_OPERATOR_MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: softmax(query x key * Scale) x value
// for each head. Keys and values with biases or earlier ones are put together first.
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

/// The sizes that the tensors share.
struct HeadSizes {
  std::uint64_t batch, heads, rows, size;
};

/// Heads in a tensor, and where to find them.
struct Heads {
  HeadSizes sizes;
  AttentionInput input;
  std::size_t slot;
};

class AttentionPlanner {
 public:
  AttentionPlanner(const Description& description, std::uint64_t query_heads,
                   std::uint64_t key_heads)
      : description_(description),
        plan_(description),
        query_heads_(query_heads),
        key_heads_(key_heads),
        type_(*description.tensor("OutputTensor").data_type) {}

  Plan plan() {
    Heads query =
        find("QueryTensor", {{"StackedQueryKeyTensor", 0}, {"StackedQueryKeyValueTensor", 0}},
             query_heads_);
    Heads key = find("KeyTensor",
                     {{"StackedQueryKeyTensor", 1},
                      {"StackedKeyValueTensor", 0},
                      {"StackedQueryKeyValueTensor", 1}},
                     key_heads_);
    Heads value =
        find("ValueTensor", {{"StackedKeyValueTensor", 1}, {"StackedQueryKeyValueTensor", 2}},
             key_heads_);
    if (plan_.find("PastSequenceLengthsTensor") && query.sizes.rows != key.sizes.rows)
      throw Error(ErrorKind::unavailable,
                  "there are " + std::to_string(query.sizes.rows) + " queries but " +
                      std::to_string(key.sizes.rows) +
                      " new keys: with PastSequenceLengthsTensor a query belongs to each new key");
    const std::uint64_t query_bias = 0, key_bias = query.sizes.heads * query.sizes.size;
    const std::uint64_t value_bias = key_bias + key.sizes.heads * key.sizes.size;
    query = as_used(query, query_bias, "", "");
    key = as_used(key, key_bias, "PastKeyTensor", "OutputPresentKeyTensor");
    value = as_used(value, value_bias, "PastValueTensor", "OutputPresentValueTensor");
    add_attention(query, key, value);
    return plan_.take();
  }

 private:
  struct Stacked {
    const char* field;
    std::uint64_t place;  // along the axis of the stack
  };

  // {..., batch, rows, heads * size}, or {batch, rows, heads, stack, size}.
  Heads find(const char* field, const std::vector<Stacked>& stacks, std::uint64_t heads) {
    if (const auto slot = plan_.find(field)) {
      const TensorDesc& tensor = description_.tensor(field);
      const Strides strides = input_strides(tensor);
      const std::size_t n = strides.size();
      const std::uint64_t size = tensor.sizes[n - 1] / heads;
      return {{tensor.sizes[n - 3], heads, tensor.sizes[n - 2], size},
              {*tensor.data_type, 0, strides[n - 3], size * strides[n - 1], strides[n - 2],
               strides[n - 1]},
              *slot};
    }
    for (const Stacked& stack : stacks) {
      const auto slot = plan_.find(stack.field);
      if (!slot) continue;
      const TensorDesc& tensor = description_.tensor(stack.field);
      const Strides strides = input_strides(tensor);
      return {{tensor.sizes[0], heads, tensor.sizes[1], tensor.sizes[4]},
              {*tensor.data_type, stack.place * strides[3], strides[0], strides[2], strides[1],
               strides[4]},
              *slot};
    }
    throw std::logic_error(std::string("no tensor holds what ") + field + " would");
  }

  // A tensor {..., batch, heads, rows, size}.
  static AttentionInput heads_input(const TensorDesc& tensor) {
    const Strides strides = input_strides(tensor);
    const std::size_t n = strides.size();
    return {*tensor.data_type, 0, strides[n - 4], strides[n - 3], strides[n - 2], strides[n - 1]};
  }

  // With the bias, behind the earlier ones. What is put together is written to `present` if that is
  // an output.
  Heads as_used(const Heads& heads, std::uint64_t bias_begin, std::string_view past,
                std::string_view present) {
    HeadRowsKernel kernel{.output_type = DataType::Float32,
                          .batch = heads.sizes.batch,
                          .heads = heads.sizes.heads,
                          .rows = heads.sizes.rows,
                          .size = heads.sizes.size,
                          .input = heads.input};
    std::vector<std::size_t> reads{heads.slot};
    const auto lengths = past.empty() ? std::nullopt : past_lengths(heads.sizes.rows);
    if (const auto slot = plan_.find("BiasTensor")) {
      const TensorDesc& tensor = description_.tensor("BiasTensor");
      const std::uint64_t stride = input_strides(tensor).back();
      kernel.bias = AttentionInput{
          *tensor.data_type, bias_begin * stride, 0, heads.sizes.size * stride, 0, stride};
      reads.push_back(*slot);
    }
    if (const auto slot = past.empty() ? std::nullopt : plan_.find(past)) {
      const TensorDesc& tensor = description_.tensor(past);
      kernel.past = heads_input(tensor);
      kernel.past_rows = tensor.sizes[tensor.sizes.size() - 2];
      kernel.rows += kernel.past_rows;
      reads.push_back(*slot);
    }
    if (lengths) {
      kernel.past_lengths = lengths;
      kernel.rows = total_rows(kernel.rows);
      reads.push_back(plan_.tensor("PastSequenceLengthsTensor"));
    }
    if (const auto slot = present.empty() ? std::nullopt : plan_.find(present)) {
      HeadRowsKernel to_output = kernel;
      to_output.output_type = type_;
      plan_.add(to_output, reads, {*slot});
    }
    if (!kernel.bias && !kernel.past) return heads;
    if (!kernel.bias) kernel.output_type = heads.input.data_type;
    const std::size_t slot =
        plan_.temporary("rows of all heads", kernel.output_elements(), size_of(kernel.output_type));
    plan_.add(kernel, reads, {slot});
    const std::uint64_t row = kernel.size, head = kernel.rows * row;
    return {{kernel.batch, kernel.heads, kernel.rows, kernel.size},
            {kernel.output_type, 0, kernel.heads * head, head, row, 1},
            slot};
  }

  std::optional<PastLengths> past_lengths(std::uint64_t new_rows) {
    if (!plan_.find("PastSequenceLengthsTensor")) return std::nullopt;
    const Sizes& past = description_.tensor("PastKeyTensor").sizes;
    return PastLengths{input_strides(description_.tensor("PastSequenceLengthsTensor")).back(),
                       past[past.size() - 2], new_rows};
  }

  // With lengths the tensors of all keys may have room for fewer or more than all rows that there
  // are.
  std::uint64_t total_rows(std::uint64_t rows) const {
    std::optional<std::uint64_t> total;
    const auto agree = [&](const char* field, std::size_t from_end) {
      const TensorDesc* tensor = description_.find_tensor(field);
      if (tensor == nullptr) return;
      const std::uint64_t size = tensor->sizes[tensor->sizes.size() - from_end];
      if (total && *total != size)
        throw Error(ErrorKind::invalid_input,
                    std::string(field) + " has a total length of " + std::to_string(size) +
                        ", but another tensor one of " + std::to_string(*total) +
                        ": with PastSequenceLengthsTensor the present keys and values, a BOOLEAN "
                        "mask and the position bias have the same");
      total = size;
    };
    agree("OutputPresentKeyTensor", 2);
    agree("OutputPresentValueTensor", 2);
    agree("RelativePositionBiasTensor", 1);
    if (static_cast<AttentionMask>(description_.integer("MaskType")) == AttentionMask::booleans)
      agree("MaskTensor", 1);
    return total.value_or(rows);
  }

  void add_attention(const Heads& query, const Heads& key, const Heads& value) {
    AttentionKernel kernel{.output_type = type_,
                           .batch = query.sizes.batch,
                           .heads = query_heads_,
                           .group = query_heads_ / key_heads_,
                           .queries = query.sizes.rows,
                           .keys = key.sizes.rows,
                           .size = query.sizes.size,
                           .value_size = value.sizes.size,
                           .query = query.input,
                           .key = key.input,
                           .value = value.input,
                           .scale = description_.number("Scale", 1)};
    std::vector<std::size_t> reads{query.slot, key.slot, value.slot};
    kernel.mask = static_cast<AttentionMask>(description_.integer("MaskType"));
    if (kernel.mask != AttentionMask::none) {
      const Strides strides = input_strides(description_.tensor("MaskTensor"));
      const std::size_t used = kernel.mask == AttentionMask::booleans         ? 4
                               : kernel.mask == AttentionMask::packed_lengths ? 1
                                                                              : 2;
      kernel.mask_strides.assign(strides.end() - static_cast<std::ptrdiff_t>(used), strides.end());
      kernel.filter = description_.number("MaskFilterValue", 0);
      reads.push_back(plan_.tensor("MaskTensor"));
    }
    if (const auto slot = plan_.find("RelativePositionBiasTensor")) {
      kernel.position_bias = heads_input(description_.tensor("RelativePositionBiasTensor"));
      // DirectML adds it before Scale with this kind of mask only.
      kernel.is_bias_scaled = kernel.mask == AttentionMask::booleans;
      reads.push_back(*slot);
    }
    if (description_.find_tensor("PastSequenceLengthsTensor") != nullptr) {
      kernel.past_lengths = past_lengths(query.sizes.rows);
      reads.push_back(plan_.tensor("PastSequenceLengthsTensor"));
    }
    plan_.add(std::move(kernel), reads, {plan_.tensor("OutputTensor")});
  }

  const Description& description_;
  PlanBuilder plan_;
  std::uint64_t query_heads_, key_heads_;
  DataType type_;
};

std::uint64_t count_in_field(const Description& description, const char* field) {
  return static_cast<std::uint64_t>(description.integer(field));
}

}  // namespace

Plan plan_multihead_attention(const Description& description) {
  const std::uint64_t heads = count_in_field(description, "HeadCount");
  return AttentionPlanner(description, heads, heads).plan();
}

Plan plan_multihead_attention1(const Description& description) {
  if (description.find_tensor("PastSequenceLengthsTensor") != nullptr &&
      description.find_tensor("PastKeyTensor") == nullptr)
    throw Error(ErrorKind::unavailable,
                "PastSequenceLengthsTensor without PastKeyTensor takes the earlier keys from the "
                "buffer of OutputPresentKeyTensor, which dmlop only writes: give what the buffers "
                "of the present keys and values hold as PastKeyTensor and PastValueTensor");
  return AttentionPlanner(description, count_in_field(description, "QueryHeadCount"),
                          count_in_field(description, "KeyValueHeadCount"))
      .plan();
}

}  // namespace dmlop
