#include "job/header_merger.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "spec/broadcast.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop {
namespace {

class HeaderMerger {
 public:
  HeaderMerger(Description& description, const NamedTensor& slot, const TensorFile& source,
               Diagnostics& diagnostics)
      : description_(description),
        slot_(slot),
        tensor_(tensor_name(slot.field, slot.element)),
        path_(source.path),
        is_memory_(source.memory.has_value()),
        raw_(source.raw),
        diagnostics_(diagnostics) {
    if (is_memory_ && !source.memory->strides.empty()) strides_ = source.memory->strides;
  }

  void merge(const NpyHeader& header) {
    TensorDesc& desc = *description_.find_tensor(slot_.field, slot_.element);
    merge_type(desc, header);
    if (strides_) {
      merge_sizes(desc, header);
      merge_strides(desc);
    } else if (desc.strides) {
      check_strided_buffer(desc, header);
    } else {
      merge_sizes(desc, header);
      if (header.fortran_order && desc.sizes == header.sizes) {
        desc.strides = fortran_strides(desc.sizes);
      }
    }
  }

 private:
  void add(std::string attribute, std::string message, Advice suggestion, std::string rule = "") {
    Diagnostic diagnostic = description_.at(
        Place{{slot_.field, std::move(attribute)}, slot_.element}, std::move(message));
    const std::string file = is_memory_ ? "buffer" : raw_ ? "raw file" : ".npy file";
    diagnostic.rule = rule.empty() ? "a tensor desc must agree with its " + file : std::move(rule);
    diagnostic.suggestion = std::move(suggestion);
    diagnostics_.push_back(std::move(diagnostic));
  }

  // After a finding the desc counts, as it is what other fields were written for.
  void merge_type(TensorDesc& desc, const NpyHeader& header) {
    const DataType type = raw_ ? raw_->data_type.value_or(header.data_type) : header.data_type;
    if (!desc.data_type) desc.data_type = type;
    if (*desc.data_type == type || stored_as(*desc.data_type) == type) return;
    const std::string found(name_of(type)), wanted(name_of(*desc.data_type));
    Advice advice;
    if (is_taken(type)) advice.add(Alternative::write_type(found));
    if (is_taken(*desc.data_type) || advice.empty())
      advice.add(is_memory_ ? Alternative::sentence("pass a buffer of this type")
                 : raw_     ? Alternative::sentence("read the file as " + path_ + ":" + wanted)
                            : casting(*desc.data_type));
    add("DataType", tensor_ + ".DataType is " + wanted + ", but " + path_ + " has " + found,
        std::move(advice));
  }

  // Whether the operator takes tensors of a type there.
  bool is_taken(DataType type) const {
    bool has_rows = false;
    for (const auto* rows : {&description_.spec->support, &description_.spec->support_directml}) {
      for (const SupportRow& row : *rows) {
        if (!row.covers(slot_.field) || row.from > description_.feature_level) continue;
        if (row.has(type)) return true;
        has_rows = true;
      }
    }
    return !has_rows;
  }

  void merge_sizes(TensorDesc& desc, const NpyHeader& header) {
    if (desc.sizes.empty()) {
      desc.sizes = header.sizes;
      if (!is_memory_ && !raw_) desc.file = path_;
    }
    if (desc.sizes == header.sizes) return;
    const bool may_be_reshaped = element_count(desc.sizes) == element_count(header.sizes);
    const std::string message = tensor_ + ".Sizes is " + list_of(desc.sizes) + ", but " + path_ +
                                " has " + list_of(header.sizes);
    if (const auto strides = strides_to_repeat(desc, header)) {
      add("Sizes", message,
          {Alternative::sentence("write \"Strides\": " + list_of(*strides) +
                                 ", which repeat the file's elements"),
           Alternative::sentence("name another file")});
      return;
    }
    add("Sizes", message,
        {Alternative::write(list_of(header.sizes)),
         !is_memory_ && !raw_ && may_be_reshaped
             ? rearranging(header.sizes, desc.sizes)
             : Alternative::sentence(is_memory_ ? "pass a buffer of these sizes"
                                     : raw_     ? "leave the sizes behind the file's name out"
                                                : "name another file")});
  }

  // DirectML wants the sizes of another tensor where the file has elements that repeat.
  std::optional<Strides> strides_to_repeat(const TensorDesc& desc, const NpyHeader& header) const {
    const FieldSpec& field = *description_.spec->find_field(slot_.field);
    const bool is_plain = !is_memory_ && !raw_ && !header.fortran_order;
    if (!is_plain || !field.is_input() || !has_sizes_of_another(*description_.spec, field.name) ||
        element_count(desc.sizes) == element_count(header.sizes))
      return std::nullopt;
    return repeating_strides(header.sizes, desc.sizes);
  }

  // Those of a buffer in memory are taken, or must be those of the desc.
  void merge_strides(TensorDesc& desc) {
    if (!desc.strides) desc.strides = strides_;
    if (desc.strides == strides_) return;
    add("Strides",
        tensor_ + ".Strides is " + list_of(*desc.strides) + ", but " + path_ + " has " +
            list_of(*strides_),
        {Alternative::write(list_of(*strides_)),
         Alternative::sentence("pass a buffer with these strides")});
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
        std::string("make the Strides or Sizes smaller, or ") +
            (is_memory_ ? "pass a larger buffer" : "bind a larger file"),
        std::string("(sum of (size - 1) * stride) + 1 elements must be in the ") +
            (is_memory_ ? "buffer" : "file"));
  }

  Description& description_;
  NamedTensor slot_;
  std::string tensor_;
  std::string path_;
  bool is_memory_;
  std::optional<RawForm> raw_;
  std::optional<Strides> strides_;  // of a buffer in memory
  Diagnostics& diagnostics_;
};

}  // namespace

void merge_header(Description& description, const NamedTensor& tensor, const TensorFile& file,
                  const NpyHeader& header, Diagnostics& diagnostics) {
  HeaderMerger(description, tensor, file, diagnostics).merge(header);
}

}  // namespace dmlop
