// Operators of ONNX that multiply matrices.
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

void map_gemm(Mapping& node) {
  const Sizes& a = node.in(0).sizes;
  const Sizes& b = node.in(1).sizes;
  if (a.size() != 2 || b.size() != 2)
    throw Refusal{"its matrices have the sizes " + list_of(a) + " and " + list_of(b),
                  "both have 2 dimensions", "for more dimensions use MatMul",
                  ErrorKind::invalid_input};
  const bool turns_a = node.integer("transA", 0) != 0;
  const bool turns_b = node.integer("transB", 0) != 0;
  const Sizes sizes{a[turns_a ? 1 : 0], b[turns_b ? 0 : 1]};
  if (a[turns_a ? 0 : 1] != b[turns_b ? 1 : 0])
    Mapping::refuse_invalid(
        "its matrices " + list_of(a) + " and " + list_of(b) + " do not fit together",
        "A has as many columns as B has rows; " +
            std::string(turns_a && turns_b ? "transA and transB turn both"
                        : turns_a          ? "transA turns A"
                        : turns_b          ? "transB turns B"
                                           : "transA and transB would turn them"));
  const View first = padded(node.view(0));
  const View second = padded(node.view(1));
  DmlOperator operation("GEMM");
  operation.input("ATensor", first).input("BTensor", second);
  std::optional<View> third;
  if (node.has(2)) third = node.view(2);
  const float beta = node.real("beta", 1);
  const View to = padded(node.output(0, node.in(0), sizes));
  if (third) {
    if (try_broadcast_sizes({sizes, third->sizes}) != sizes)
      Mapping::refuse_invalid("its C " + list_of(third->sizes) + " does not fit its output " +
                              list_of(sizes));
    operation.input("CTensor", padded(broadcast(*third, sizes)));
  }
  node.add(operation.output("OutputTensor", to)
               .choose("TransA", turns_a ? "TRANSPOSE" : "NONE")
               .choose("TransB", turns_b ? "TRANSPOSE" : "NONE")
               .set("Alpha", node.real("alpha", 1))
               .set("Beta", third ? beta : 0.0F));
}

// DirectML's matrices have at most so many dimensions.
constexpr std::size_t matrix_dimensions = 4;

/// The matrices of a MatMul, broadcast to each other.
struct Matrices {
  View a;
  View b;
  Sizes output;       // with DirectML's dimensions
  Sizes onnx_output;  // as ONNX says
};

/// Rows and columns change places.
View turned(const View& view) {
  if (view.sizes.size() < 2) return view;
  std::vector<std::size_t> order(view.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return transposed(view, order);
}

Matrices matrices_of(Mapping& node, View a, View b) {
  const std::string text = list_of(a.sizes) + " and " + list_of(b.sizes);
  if (node.integer("transA", 0) != 0) a = turned(a);
  if (node.integer("transB", 0) != 0) b = turned(b);
  if (a.sizes.empty() || b.sizes.empty())
    Mapping::refuse_invalid("its matrices have no dimensions");
  const bool is_row = a.sizes.size() == 1, is_column = b.sizes.size() == 1;
  if (is_row) a.sizes.insert(a.sizes.begin(), 1);
  if (is_column) b.sizes.push_back(1);
  const std::size_t count = std::max({a.sizes.size(), b.sizes.size(), matrix_dimensions});
  const std::size_t rank = std::max(a.sizes.size(), b.sizes.size());
  a = padded(a, count);
  b = padded(b, count);
  const auto batch = [](const Sizes& sizes) { return Sizes(sizes.begin(), sizes.end() - 2); };
  const auto batches = try_broadcast_sizes({batch(a.sizes), batch(b.sizes)});
  if (a.sizes[count - 1] != b.sizes[count - 2] || !batches)
    Mapping::refuse_invalid("its matrices " + text + " do not fit together",
                            "the first one has as many columns as the second one has rows, and "
                            "the sizes before them are equal, or one is 1");
  Matrices made{a, b, *batches, {}};
  const auto with = [&](std::uint64_t rows, std::uint64_t columns) {
    Sizes sizes = made.output;
    sizes.push_back(rows);
    sizes.push_back(columns);
    return sizes;
  };
  made.a = broadcast(a, with(a.sizes[count - 2], a.sizes[count - 1]));
  made.b = broadcast(b, with(b.sizes[count - 2], b.sizes[count - 1]));
  made.output = with(a.sizes[count - 2], b.sizes[count - 1]);
  made.onnx_output.assign(made.output.end() - static_cast<std::ptrdiff_t>(rank), made.output.end());
  if (is_column) made.onnx_output.pop_back();
  if (is_row) made.onnx_output.erase(made.onnx_output.end() - (is_column ? 1 : 2));
  made.a = node.merged(made.a, matrix_dimensions);
  made.b = node.merged(made.b, matrix_dimensions);
  made.output = node.merged({"", made.a.type, made.output, {}}, matrix_dimensions).sizes;
  return made;
}

void map_matrix_product(Mapping& node) {
  const Matrices made = matrices_of(node, node.view(0), node.view(1));
  const View to = reshaped(node.output(0, made.a.type, made.onnx_output), made.output);
  node.add(DmlOperator("GEMM")
               .input("ATensor", made.a)
               .input("BTensor", made.b)
               .output("OutputTensor", to)
               .choose("TransA", "NONE")
               .choose("TransB", "NONE")
               .set("Alpha", node.real("alpha", 1))
               .set("Beta", 0.0F));
}

void map_fused_product(Mapping& node) {
  if (node.integer("transBatchA", 0) != 0 || node.integer("transBatchB", 0) != 0)
    Mapping::refuse("it transposes a batch (transBatchA, transBatchB)",
                    "the provider transposes rows and columns only");
  map_matrix_product(node);
}

/// One number, or one for each row or column.
View line_view(Mapping& node, std::size_t input, std::size_t dimensions, bool is_row) {
  View view = node.view(input);
  const std::uint64_t count = element_count(view.sizes).value_or(0);
  if (view.sizes.size() > 1 && count != 1) return padded(view, dimensions);
  view.sizes = Sizes(dimensions, 1);
  view.sizes[dimensions - (is_row ? 2 : 1)] = count;
  return view;
}

void map_integer_product(Mapping& node) {
  const Matrices made = matrices_of(node, node.view(0), node.view(1));
  const std::size_t dimensions = made.output.size();
  DmlOperator operation("MATRIX_MULTIPLY_INTEGER");
  operation.input("ATensor", made.a).input("BTensor", made.b);
  if (node.has(2)) operation.input("AZeroPointTensor", line_view(node, 2, dimensions, true));
  if (node.has(3)) operation.input("BZeroPointTensor", line_view(node, 3, dimensions, false));
  node.add(operation.output(
      "OutputTensor", reshaped(node.output(0, DataType::Int32, made.onnx_output), made.output)));
}

void map_quantized_product(Mapping& node) {
  const Matrices made = matrices_of(node, node.view(0), node.view(3));
  const std::size_t dimensions = made.output.size();
  DmlOperator operation("QUANTIZED_LINEAR_MATRIX_MULTIPLY");
  node.add(operation.input("ATensor", made.a)
               .input("AScaleTensor", line_view(node, 1, dimensions, true))
               .input("AZeroPointTensor", line_view(node, 2, dimensions, true))
               .input("BTensor", made.b)
               .input("BScaleTensor", line_view(node, 4, dimensions, false))
               .input("BZeroPointTensor", line_view(node, 5, dimensions, false))
               .input("OutputScaleTensor", line_view(node, 6, dimensions, true))
               .input("OutputZeroPointTensor", line_view(node, 7, dimensions, true))
               .output("OutputTensor",
                       reshaped(node.output(0, node.in(7), made.onnx_output), made.output)));
}

// Einsum.

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// The output of an equation without an arrow: letters that stand once, in the order of ASCII.
std::string implicit_output(std::string letters) {
  std::string output;
  std::ranges::sort(letters);
  for (const char c : letters) {
    if (c != ',' && std::ranges::count(letters, c) == 1) output += c;
  }
  return output;
}

Equation equation_of(const Mapping& node) {
  std::string text = node.text("equation", "");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  const auto is_other = [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ',');
  };
  Equation equation{{""},
                    arrow == std::string::npos ? implicit_output(left) : text.substr(arrow + 2)};
  if (std::any_of(left.begin(), left.end(), is_other) ||
      std::any_of(equation.output.begin(), equation.output.end(), is_other))
    throw Refusal{"its equation \"" + printable(text) + "\" has more than letters",
                  "the provider maps products of letters only",
                  "write a letter for each dimension that ... stands for"};
  for (const char c : left) {
    if (c == ',')
      equation.inputs.emplace_back();
    else
      equation.inputs.back() += c;
  }
  return equation;
}

bool has_twice(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return std::adjacent_find(letters.begin(), letters.end()) != letters.end();
}

/// The input with its letters in the order of `letters`; those that it lacks are repeated.
View in_order(const View& view, const std::string& own, const std::string& letters,
              const Sizes& sizes) {
  const Strides strides = packed_strides(view.sizes);
  View result{view.edge, view.type, sizes, Strides(letters.size(), 0)};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::size_t at = own.find(letters[i]);
    if (at != std::string::npos && view.sizes[at] != 1) result.strides[i] = strides[at];
  }
  return result;
}

Sizes sizes_of_letters(const Mapping& node, const Equation& equation, const std::string& letters) {
  Sizes sizes;
  for (const char c : letters) {
    std::uint64_t size = 1;
    bool is_there = false;
    for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
      const std::size_t at = equation.inputs[i].find(c);
      if (at == std::string::npos) continue;
      const std::uint64_t own = node.in(i).sizes[at];
      if (is_there && own != size && own != 1 && size != 1)
        Mapping::refuse_invalid("its inputs have different sizes for one letter");
      size = std::max(size, own);
      is_there = true;
    }
    if (!is_there) Mapping::refuse_invalid("its output has a letter that no input has");
    sizes.push_back(size);
  }
  return sizes;
}

void map_einsum(Mapping& node) {
  const Equation equation = equation_of(node);
  if (equation.inputs.size() != node.input_count() || node.input_count() > 2)
    throw Refusal{"its equation has " + counted(equation.inputs.size(), "input"),
                  "the provider maps one or two", "write it as several nodes of two inputs each"};
  std::string letters = equation.output;
  if (has_twice(letters)) Mapping::refuse_invalid("its output names a letter twice");
  std::vector<View> views;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const std::string& own = equation.inputs[i];
    if (has_twice(own))
      throw Refusal{
          "an input names a letter twice", "DirectML has no diagonal",
          "multiply the input by an identity matrix (EyeLike) and sum (ReduceSum) instead"};
    if (own.size() != node.in(i).sizes.size())
      Mapping::refuse_invalid("its equation does not fit its inputs");
    for (const char c : own) {
      if (letters.find(c) == std::string::npos) letters += c;
    }
    views.push_back(node.view(i));
  }
  const Sizes sizes = sizes_of_letters(node, equation, letters);
  if (letters.empty()) Mapping::refuse("its inputs have no dimensions");
  const std::size_t kept = equation.output.size();
  const Sizes output(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(kept));
  const DataType type = views[0].type;
  const View to = node.output(0, type, output);
  const bool is_reduced = kept < letters.size();
  const View product = is_reduced ? node.temporary(type, sizes) : to;
  const View a = in_order(views[0], equation.inputs[0], letters, sizes);
  if (views.size() == 2) {
    node.add(DmlOperator("ELEMENT_WISE_MULTIPLY")
                 .input("ATensor", a)
                 .input("BTensor", in_order(views[1], equation.inputs[1], letters, sizes))
                 .output("OutputTensor", product));
  } else if (!is_reduced) {
    node.add(
        DmlOperator("ELEMENT_WISE_IDENTITY").input("InputTensor", a).output("OutputTensor", to));
  }
  if (!is_reduced) return;
  Sizes ones = output;
  std::vector<std::uint64_t> axes;
  for (std::size_t i = kept; i < letters.size(); ++i) {
    ones.push_back(1);
    axes.push_back(i);
  }
  node.add(DmlOperator("REDUCE")
               .choose("Function", "SUM")
               .input("InputTensor", views.size() == 2 ? product : a)
               .output("OutputTensor", reshaped(to, ones))
               .counts("Axes", axes));
}

/// Ends a product of quantized matrices whose result is not quantized.
void add_product_to_float(Mapping& node, DmlOperator& operation, const Matrices& made,
                          std::size_t bias, DataType type) {
  if (node.has(bias)) {
    const View line = node.view(bias);
    Mapping::require_sizes("bias", line.sizes, {made.output.back()},
                           "there is one for each column");
    operation.input("BiasTensor", broadcast(line, made.output));
  }
  node.add(
      operation.input("ATensor", made.a)
          .input("BTensor", made.b)
          .output("OutputTensor", reshaped(node.output(0, type, made.onnx_output), made.output)));
}

void map_product_to_float(Mapping& node) {
  const Matrices made = matrices_of(node, node.view(0), node.view(1));
  const std::size_t dimensions = made.output.size();
  DmlOperator operation("MATRIX_MULTIPLY_INTEGER_TO_FLOAT");
  operation.input("AScaleTensor", line_view(node, 2, dimensions, true))
      .input("BScaleTensor", line_view(node, 3, dimensions, false));
  if (node.has(4)) operation.input("AZeroPointTensor", line_view(node, 4, dimensions, true));
  if (node.has(5)) operation.input("BZeroPointTensor", line_view(node, 5, dimensions, false));
  add_product_to_float(node, operation, made, 6, node.in(2).type);
}

void map_dynamic_product(Mapping& node) {
  const View from = padded(node.view(0));
  const View quantized = node.temporary(DataType::UInt8, node.in(0).sizes);
  const View scale = node.temporary(from.type, Sizes(from.sizes.size(), 1));
  const View zero = node.temporary(DataType::UInt8, scale.sizes);
  node.add(DmlOperator("DYNAMIC_QUANTIZE_LINEAR")
               .input("InputTensor", from)
               .output("OutputTensor", padded(quantized))
               .output("OutputScaleTensor", scale)
               .output("OutputZeroPointTensor", zero));
  const Matrices made = matrices_of(node, quantized, node.view(1));
  const std::size_t dimensions = made.output.size();
  const Sizes one(dimensions, 1);
  DmlOperator operation("MATRIX_MULTIPLY_INTEGER_TO_FLOAT");
  operation.input("AScaleTensor", reshaped(scale, one))
      .input("AZeroPointTensor", reshaped(zero, one))
      .input("BScaleTensor", line_view(node, 2, dimensions, false));
  if (node.has(3)) operation.input("BZeroPointTensor", line_view(node, 3, dimensions, false));
  add_product_to_float(node, operation, made, 4, from.type);
}

constexpr OnnxOperator matrix_table[]{
    {"Gemm", "", "GEMM", map_gemm},
    {"MatMul", "", "GEMM", map_matrix_product},
    {"FusedMatMul", microsoft, "GEMM", map_fused_product},
    {"MatMulInteger", "", "MATRIX_MULTIPLY_INTEGER", map_integer_product},
    {"QLinearMatMul", "", "QUANTIZED_LINEAR_MATRIX_MULTIPLY", map_quantized_product},
    {"MatMulIntegerToFloat", microsoft, "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", map_product_to_float},
    {"DynamicQuantizeMatMul", microsoft,
     "DYNAMIC_QUANTIZE_LINEAR, MATRIX_MULTIPLY_INTEGER_TO_FLOAT", map_dynamic_product},
    {"Einsum", "", "ELEMENT_WISE_MULTIPLY and REDUCE, or ELEMENT_WISE_IDENTITY", map_einsum},
};

}  // namespace

std::span<const OnnxOperator> matrix_rows() {
  return matrix_table;
}

}  // namespace dmlop::onnx
