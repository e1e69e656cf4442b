#include "layer/hresults.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text.hpp"

namespace dmlop::layer {
namespace {

constexpr std::string_view device_help =
    "Run the same job with dmlop on the CPU (--cpu) to see whether the work itself is valid. "
    "Update the driver; a dispatch of more than two seconds ends the device, too (TDR).";

constexpr std::array hresults{
    HResult{0x80070057, "E_INVALIDARG",
            "An argument is invalid. DirectML refused a description, and does not say which field "
            "breaks which rule.",
            "Install the layer beside the application (dmlop layer install FOLDER); it names the "
            "field at the failing call. Or describe the operator, and run dmlop check with "
            "--as directml-1.15.4.",
            "the parameter is incorrect"},
    HResult{0x8007000E, "E_OUTOFMEMORY",
            "There is not enough memory: of the GPU, of its budget, or of the process.",
            "Make the tensors or the batch smaller. dmlop run --device-memory N runs operators on "
            "tensors that are larger than the memory of the GPU.",
            "not enough memory resources are available"},
    HResult{0x80004001, "E_NOTIMPL", "This version of DirectML does not have what was asked for.",
            "Put a newer DirectML.dll beside the application; Windows' own one stays at an old "
            "version. dmlop ops NAME says which feature level an operator needs.",
            "not implemented"},
    HResult{0x80004002, "E_NOINTERFACE",
            "The object does not have the interface that was asked for.",
            "Put a newer DirectML.dll beside the application: IDMLDevice1, which compiles graphs, "
            "came after the first version.",
            "no such interface supported"},
    HResult{0x80004003, "E_POINTER", "A pointer that must not be null is null.",
            "Install the layer beside the application (dmlop layer install FOLDER); it names the "
            "pointer."},
    HResult{0x80004005, "E_FAIL",
            "Something failed, and the code does not say what. ONNX Runtime uses it for operators "
            "and shapes that its provider does not take.",
            "dmlop check MODEL.onnx says which node the provider does not take, and why.",
            "unspecified error"},
    HResult{0x8000FFFF, "E_UNEXPECTED", "DirectML, or ONNX Runtime, met a state that it rules out.",
            "Create the device with DML_CREATE_DEVICE_FLAG_DEBUG, and read what the debug layer "
            "says."},
    HResult{0x80070032, "ERROR_NOT_SUPPORTED",
            "The device or its driver does not support the request.",
            "dmlop devices lists the devices. dmlop run --cpu needs none."},
    HResult{
        0x8007007E, "ERROR_MOD_NOT_FOUND", "A DLL, or one that it needs, was not found.",
        "Put DirectML.dll beside the application. The debug layer is DirectML.Debug.dll, beside "
        "it."},
    HResult{0x887A0001, "DXGI_ERROR_INVALID_CALL", "A call of Direct3D had invalid arguments.",
            "Switch on Direct3D's debug layer, and read what it says."},
    HResult{0x887A0004, "DXGI_ERROR_UNSUPPORTED",
            "The device does not support what was asked for: often a feature level that this "
            "DirectML.dll, or this GPU, does not have.",
            "Put a newer DirectML.dll beside the application. dmlop check --feature-level N checks "
            "descriptions for an older one."},
    HResult{
        0x887A0005, "DXGI_ERROR_DEVICE_REMOVED",
        "The GPU is gone, or its driver stopped. ID3D12Device::GetDeviceRemovedReason says why.",
        device_help, "the gpu device instance has been suspended"},
    HResult{0x887A0006, "DXGI_ERROR_DEVICE_HUNG",
            "The GPU did not finish in time, or was given commands that it cannot execute.",
            device_help, "the gpu will not respond to more commands"},
    HResult{0x887A0007, "DXGI_ERROR_DEVICE_RESET",
            "The GPU was reset because of a command that it could not execute.", device_help},
    HResult{0x887A0020, "DXGI_ERROR_DRIVER_INTERNAL_ERROR", "The driver of the GPU failed.",
            device_help},
    HResult{0x887A002D, "DXGI_ERROR_SDK_COMPONENT_MISSING",
            "A debug layer was asked for and is not installed.",
            "Put DirectML.Debug.dll beside DirectML.dll, and install Windows' optional feature "
            "Graphics Tools; or do not ask for the debug layer."},
};

constexpr std::string_view layer_help =
    "Install the layer beside the application (dmlop layer install FOLDER), and run it again: the "
    "layer names the operator, the field and the rule. Or set the session option "
    "ep.dml.enable_graph_serialization, and run dmlop check Partition_0.bin.";
constexpr std::string_view onnx_help =
    "dmlop check MODEL.onnx reads the model as the provider does, and names the node.";

/// A source file of ONNX Runtime's DirectML provider. `line` 0 stands for all other lines.
struct KnownLine {
  std::string_view file;
  std::uint32_t line;
  std::string_view meaning;
  std::string_view help;
};

// Lines are those of ONNX Runtime 1.30; other versions have others nearby.
constexpr std::array known_lines{
    KnownLine{"DmlGraphFusionHelper.cpp", 391,
              "ONNX Runtime fuses nodes to a graph, and DirectML refused an operator "
              "(CreateOperator).",
              layer_help},
    KnownLine{"DmlGraphFusionHelper.cpp", 614,
              "ONNX Runtime fuses nodes to a graph, and DirectML refused the graph (CompileGraph).",
              layer_help},
    KnownLine{"DmlGraphFusionHelper.cpp", 0,
              "ONNX Runtime fuses nodes to a graph and compiles it with DirectML.", layer_help},
    KnownLine{"AbiCustomRegistry.cpp", 0,
              "ONNX Runtime's provider creates the kernel of a node, and the node, its shapes or "
              "its attributes are refused.",
              onnx_help},
    KnownLine{"MLOperatorAuthorImpl.cpp", 0,
              "ONNX Runtime's provider checks the shapes and attributes of a node.", onnx_help},
    KnownLine{"DmlOperator.cpp", 0,
              "ONNX Runtime's provider creates or compiles the operator of one node.", layer_help},
    KnownLine{"ExecutionProvider.cpp", 0,
              "ONNX Runtime's provider allocates memory or executes operators.", device_help},
    KnownLine{"DmlCommandRecorder.cpp", 0,
              "ONNX Runtime's provider records or executes dispatches.", device_help},
    KnownLine{"CommandQueue.cpp", 0, "ONNX Runtime's provider waits for the GPU.", device_help},
};

const KnownLine* find_line(const SourceLine& source) {
  const KnownLine* found = nullptr;
  for (const KnownLine& known : known_lines) {
    const bool is_file = lower_case(std::string(known.file)) == lower_case(source.file);
    if (is_file && known.line == source.line) return &known;
    if (is_file && known.line == 0) found = &known;
  }
  return found;
}

bool is_word_character(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

bool is_failure(std::uint32_t code) {
  return code >> 31 != 0;
}

/// The code that a word is: "0x80070057", "80070057", "-2147024809", "2147942487", "E_INVALIDARG".
std::optional<std::uint32_t> code_of(std::string_view word, bool is_negative) {
  for (const HResult& known : hresults) {
    if (upper_case(std::string(word)) == known.name) return known.code;
  }
  const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
  const std::string_view digits = word.substr(is_hex ? 2 : 0);
  std::uint64_t number = 0;
  const auto parse = [&](int base) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    return error == std::errc() && end == digits.data() + digits.size() && number <= 0xFFFF'FFFF;
  };
  if (is_negative) {
    if (!parse(10) || number == 0 || number > 0x8000'0000) return std::nullopt;
    return static_cast<std::uint32_t>(0x1'0000'0000 - number);
  }
  if (digits.size() == 8 && parse(16) && is_failure(static_cast<std::uint32_t>(number)))
    return static_cast<std::uint32_t>(number);
  if (!is_hex && digits.size() == 10 && parse(10) && is_failure(static_cast<std::uint32_t>(number)))
    return static_cast<std::uint32_t>(number);
  return std::nullopt;
}

template <typename T, typename Equal>
void add_once(std::vector<T>& list, T value, Equal equal) {
  if (std::ranges::none_of(list, [&](const T& each) { return equal(each, value); }))
    list.push_back(std::move(value));
}

/// The number in parentheses at the beginning of a text: "(391)"; 0 without one.
std::uint32_t line_at(std::string_view text) {
  std::uint32_t line = 0;
  if (!text.starts_with("(") && !text.starts_with(":")) return 0;
  std::from_chars(text.data() + 1, text.data() + text.size(), line);
  return line;
}

}  // namespace

std::span<const HResult> known_hresults() {
  return hresults;
}

const HResult* find_hresult(std::uint32_t code) {
  const auto found = std::ranges::find(hresults, code, &HResult::code);
  return found == hresults.end() ? nullptr : &*found;
}

std::string name_of_hresult(std::uint32_t code) {
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789ABCDEF"[code >> shift & 15];
  const HResult* known = find_hresult(code);
  return known == nullptr ? text : text + " " + std::string(known->name);
}

FailureText read_failure_text(std::string_view text) {
  FailureText read;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!is_word_character(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word_character(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool is_negative = at > 0 && text[at - 1] == '-';
    if (const auto code = code_of(word, is_negative)) {
      add_once(read.codes, *code, std::equal_to<>());
    } else if (text.substr(end).starts_with(".cpp")) {
      SourceLine source{std::string(word) + ".cpp", line_at(text.substr(end + 4))};
      if (find_line(source) != nullptr)
        add_once(read.lines, source, [](const SourceLine& a, const SourceLine& b) {
          return a.file == b.file && a.line == b.line;
        });
    }
    at = end;
  }
  if (!read.codes.empty()) return read;
  const std::string small = lower_case(std::string(text));
  for (const HResult& known : hresults) {
    if (!known.message.empty() && small.find(known.message) != std::string::npos)
      read.codes.push_back(known.code);
  }
  return read;
}

std::string meaning_of(const SourceLine& line) {
  const KnownLine* known = find_line(line);
  return known == nullptr ? "" : std::string(known->meaning);
}

std::string help_for(const SourceLine& line) {
  const KnownLine* known = find_line(line);
  return known == nullptr ? "" : std::string(known->help);
}

}  // namespace dmlop::layer
