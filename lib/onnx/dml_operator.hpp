// A DirectML operator of a graph that is being made: tensors and fields by name, in any order. What
// follows from them, such as the lengths of arrays, is filled in by the operator's spec.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "spec/spec.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop::onnx {

/// An edge as a node sees it.
struct View {
  std::string edge;
  DataType type = DataType::Float32;
  Sizes sizes;
  Strides strides = {};  // empty: packed
};

/// The view with sizes of 1 in front, so that it has at least so many dimensions.
View padded(View view, std::size_t dimensions = 4);
/// The view repeated to larger sizes, or to more of them, by strides of 0. The sizes must fit.
View broadcast(View view, const Sizes& sizes);
/// The first elements of each dimension. The sizes must not be larger than the view's.
View cropped(View view, const Sizes& sizes);
/// The packed elements with other sizes.
View reshaped(View view, Sizes sizes);
/// The view with its dimensions in another order.
View transposed(const View& view, const std::vector<std::size_t>& order);

class DmlOperator {
 public:
  explicit DmlOperator(const std::string& type);

  DmlOperator& input(std::string_view field, const View& view);
  DmlOperator& inputs(std::string_view field, const std::vector<View>& views);
  DmlOperator& output(std::string_view field, const View& view);
  DmlOperator& outputs(std::string_view field, const std::vector<View>& views);

  DmlOperator& set(std::string_view field, GraphValue value);
  DmlOperator& count(std::string_view field, std::uint64_t value);
  DmlOperator& counts(std::string_view field, const std::vector<std::uint64_t>& values);
  DmlOperator& flag(std::string_view field, bool value);
  /// The value of an enumeration, without the name of that: "REFLECTION".
  DmlOperator& choose(std::string_view field, std::string_view value);
  /// A scalar union with the field that says its type.
  DmlOperator& scalar(std::string_view type_field, std::string_view field, DataType type,
                      double value);
  DmlOperator& scalar_bytes(std::string_view type_field, std::string_view field, DataType type,
                            const std::byte* element);
  DmlOperator& fused(std::string_view type, const std::vector<GraphAttribute>& attributes = {});

  const OperatorSpec& spec() const { return *spec_; }
  GraphNode node(std::string name) const;

 private:
  GraphValue value_of(const FieldSpec& field) const;

  const OperatorSpec* spec_;
  std::map<std::string, std::vector<View>, std::less<>> tensors_;
  std::map<std::string, GraphValue, std::less<>> values_;
};

}  // namespace dmlop::onnx
