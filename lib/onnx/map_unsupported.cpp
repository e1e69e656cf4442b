// Operators of ONNX that become none of DirectML, and why.
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

constexpr const char* control = "it runs other nodes, which DirectML's graphs do not";
constexpr const char* containers = "it works on sequences or optional values, not on one tensor";
constexpr const char* texts = "it works on strings, which DirectML does not have";
constexpr const char* shader = "the provider computes it with a shader of its own";
constexpr const char* dynamic = "the sizes of its output depend on the values of its input";
constexpr const char* absent = "ONNX Runtime's DirectML provider does not have this operator";
constexpr const char* random_values = "its output is random";
constexpr const char* by_function =
    "ONNX Runtime replaces it by the nodes of its function, which are not read here";

constexpr OnnxOperator unsupported_table[]{
    {"Loop", "", "", nullptr, control},
    {"Scan", "", "", nullptr, control},
    {"SequenceAt", "", "", nullptr, containers},
    {"SequenceConstruct", "", "", nullptr, containers},
    {"SequenceEmpty", "", "", nullptr, containers},
    {"SequenceErase", "", "", nullptr, containers},
    {"SequenceInsert", "", "", nullptr, containers},
    {"SequenceLength", "", "", nullptr, containers},
    {"SequenceMap", "", "", nullptr, containers},
    {"SplitToSequence", "", "", nullptr, containers},
    {"ConcatFromSequence", "", "", nullptr, containers},
    {"Optional", "", "", nullptr, containers},
    {"OptionalGetElement", "", "", nullptr, containers},
    {"OptionalHasElement", "", "", nullptr, containers},
    {"StringNormalizer", "", "", nullptr, texts},
    {"TfIdfVectorizer", "", "", nullptr, absent},
    {"DFT", "", "", nullptr, shader},
    {"STFT", "", "", nullptr, shader},
    {"GridSample", "", "", nullptr, shader},
    {"Compress", "", "", nullptr, dynamic},
    {"NonMaxSuppression", "", "", nullptr, dynamic},
    {"Unique", "", "", nullptr, dynamic},
    {"Bernoulli", "", "", nullptr, random_values},
    {"Multinomial", "", "", nullptr, random_values},
    {"RandomNormal", "", "", nullptr, random_values},
    {"RandomNormalLike", "", "", nullptr, random_values},
    {"RandomUniform", "", "", nullptr, random_values},
    {"RandomUniformLike", "", "", nullptr, random_values},
    {"Det", "", "", nullptr, absent},
    {"DeformConv", "", "", nullptr, absent},
    {"TensorScatter", "", "", nullptr, absent},
    {"BitCast", "", "", nullptr, absent},
    {"MelWeightMatrix", "", "", nullptr, absent},
    {"AffineGrid", "", "", nullptr, by_function},
    {"BlackmanWindow", "", "", nullptr, by_function},
    {"CenterCropPad", "", "", nullptr, by_function},
    {"HammingWindow", "", "", nullptr, by_function},
    {"HannWindow", "", "", nullptr, by_function},
    {"NegativeLogLikelihoodLoss", "", "", nullptr, by_function},
    {"SoftmaxCrossEntropyLoss", "", "", nullptr, by_function},
    {"Adagrad", "ai.onnx.preview.training", "", nullptr, absent},
    {"Adam", "ai.onnx.preview.training", "", nullptr, absent},
    {"Momentum", "ai.onnx.preview.training", "", nullptr, absent},
};

}  // namespace

std::span<const OnnxOperator> unsupported_rows() {
  return unsupported_table;
}

}  // namespace dmlop::onnx
