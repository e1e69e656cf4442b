// dmlop manual: the man page, made from the command line's own declaration.
#include <array>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "command_line.hpp"
#include "option_text.hpp"

namespace dmlop::app {
namespace {

// Escapes text so that roff prints it literally.
std::string roff(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\') {
      result += "\\e";
    } else if (text[i] == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  return result;
}

void print_options(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    print({".TP\n.B ", roff(shown(*option)), "\n", roff(option->get_description()), "\n"});
}

/// A paragraph about something other than an option, such as files or variables.
struct Paragraph {
  const char* title;  // "": continues the one before
  const char* text;
  const char* typed = nullptr;  // an example
};

constexpr std::array description_paragraphs{
    Paragraph{"",
              "OP.json names an operator and gives its fields. It is JSON that may have comments "
              "and trailing commas."},
    Paragraph{"",
              "Leave out whatever the files or the operator's rules determine. dmlop ops NAME "
              "shows the fields and the rules.",
              "{\n  \"type\": \"PADDING\",\n  \"featureLevel\": \"5_0\",\n  \"desc\": {\n"
              "    \"InputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]},\n"
              "    \"PaddingMode\": \"EDGE\",\n    \"StartPadding\": [0, 0, 1, 2],\n"
              "    \"EndPadding\": [0, 0, 3, 4]\n  },\n"
              "  \"bindings\": {\"InputTensor\": \"InputTensor.npy\"}\n}"},
    Paragraph{"type", "The operator, with or without DML_OPERATOR_."},
    Paragraph{"desc",
              "The operator's fields, as DirectML.h names them. They may be beside type "
              "instead. A value of an enumeration is its name, with or without the "
              "enumeration's prefix, or its number. A number of type FLOAT may be \"inf\", "
              "\"-inf\" or \"nan\"."},
    Paragraph{"featureLevel",
              "The feature level to check against, 1_0 to 6_4. The default is 6_4; "
              "--feature-level takes precedence."},
    Paragraph{
        "as",
        "Who decides what is valid if they disagree: page, Microsoft's documentation page of "
        "the operator, or directml-1.15.4, what that version of DirectML accepts. The default "
        "is page; --as takes precedence."},
    Paragraph{"bindings",
              "The .npy files of tensors by field name, relative to OP.json; -i and -o "
              "take precedence. A field of several tensors takes a list."},
};

constexpr std::array binding_paragraphs{
    Paragraph{"",
              "A file belongs to a tensor by the name of its field: -i InputTensor=x.npy, "
              "-o OutputTensor=y.npy, --expect OutputTensor=golden.npy. The name may be left "
              "out if the operator has only one such tensor, or the description only one output. "
              "The second tensor of a field of several is InputTensors.1 or InputTensors[1]. The "
              "file - is standard input or standard output."},
    Paragraph{"",
              "An input is a .npy file of version 1, 2 or 3, in C or Fortran order, of either "
              "byte order. Arrays of numpy.bool_ are read as UINT8. With Strides the file is a "
              "plain buffer of elements in file order. Outputs are written as numpy.save "
              "writes them, and appear complete or not at all."},
};

constexpr std::array folder_paragraphs{
    Paragraph{
        "",
        "dmlop batch FOLDER runs every job below FOLDER. check, run and bench take the folder of "
        "one job; run compares with its golden files only with --expect. These files are a job:"},
    Paragraph{
        "op.json",
        "The description; or model.json, a model of DxDispatch; or graph.json or "
        "Partition_0.bin, a graph; or model.onnx with the folder test_data_set_0, an ONNX test."},
    Paragraph{"NAME.npy", "The input of this name, such as InputTensor.npy."},
    Paragraph{"expected/NAME.npy",
              "The golden file of the output of this name; expected.npy if "
              "there is only one output."},
    Paragraph{"tol.json",
              "How far outputs may be from golden files: {\"rtol\": 1e-5, \"atol\": 0, "
              "\"ulp\": 4, \"nan\": \"equal\"}."},
    Paragraph{"job.json",
              "How a batch treats the job: {\"tags\": [\"slow\"], \"skip\": \"REASON\", "
              "\"xfail\": \"REASON\"}. All members are optional. xfail says why the job is "
              "expected to differ from its golden files."},
};

constexpr std::array variable_paragraphs{
    Paragraph{"DMLOP_DEVICE", "The device to use if no option names one, in the form of --device."},
    Paragraph{"NO_COLOR", "If it is set, text on a terminal has no colors."},
    Paragraph{"XDG_CACHE_HOME",
              "The folder where compiled kernels are kept, in dmlop/. The default "
              "is ~/.cache."},
    Paragraph{"DMLOP_LAYER",
              "Where the layer of dmlop layer reports to: log leaves out standard error, quiet "
              "everything, and break also stops in the debugger."},
    Paragraph{"DMLOP_CAPTURE",
              "A folder into which that layer writes every operator and every graph that the "
              "application creates."},
    Paragraph{"DMLOP_D3D12_DEBUG",
              "If it is set, Direct3D's debug layer checks every call, and its messages go to the "
              "standard error."},
    Paragraph{"TEST_TOTAL_SHARDS, TEST_SHARD_INDEX", "Set by Bazel: batch runs this shard."},
    Paragraph{"TEST_SHARD_STATUS_FILE",
              "Set by Bazel: batch creates this file to say that it supports shards."},
    Paragraph{"XML_OUTPUT_FILE", "Set by Bazel: batch writes its JUnit report there."},
    Paragraph{"GITHUB_STEP_SUMMARY", "Set by GitHub: batch --github adds its summary there."},
};

constexpr std::array file_paragraphs{
    Paragraph{"share/dmlop/samples/",
              "The samples that the examples name. share/ lies beside the folder bin/ of dmlop."},
    Paragraph{"share/doc/dmlop/operators.html", "What dmlop ops knows about all operators."},
};

template <std::size_t count>
void print_section(const char* title, const std::array<Paragraph, count>& paragraphs) {
  print({".SH ", std::string_view(title), "\n"});
  for (const Paragraph& paragraph : paragraphs) {
    if (*paragraph.title == 0) {
      print({".PP\n"});
    } else {
      print({".TP\n.B ", roff(paragraph.title), "\n"});
    }
    print({roff(paragraph.text), "\n"});
    if (paragraph.typed != nullptr)
      print({".PP\n.EX\n", Text::lines(roff(paragraph.typed)), "\n.EE\n"});
  }
}

int print_manual() {
  CommandLine line;
  print({".TH DMLOP 1 \"\" \"dmlop ", DMLOP_VERSION, "\" \"User Commands\"\n"});
  print({".SH NAME\ndmlop \\- runs DirectML operators anywhere\n"});
  print({".SH SYNOPSIS\n.B dmlop\n.I COMMAND\n[\n.I OPTIONS\n]\n"});
  print(
      {".SH DESCRIPTION\n",
       roff(
           "dmlop reads the description of a DirectML operator (JSON) and its inputs (.npy files), "
           "checks them against the operator's documented constraints and feature levels, runs "
           "the operator, and writes its outputs as .npy files."),
       "\n"});
  print({".SH COMMANDS\n"});
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    print({".SS dmlop ", std::string_view(command.name), "\n", roff(command.summary), "\n"});
    print_options(*line.app.get_subcommand(command.name));
    if (*command.examples != 0)
      print({".PP\nExamples:\n.PP\n.EX\n", Text::lines(roff(command.examples)), "\n.EE\n"});
  }
  print_section("OP.JSON", description_paragraphs);
  print_section("FILES OF TENSORS", binding_paragraphs);
  print_section("THE FOLDER OF A JOB", folder_paragraphs);
  print_section("ENVIRONMENT", variable_paragraphs);
  print_section("FILES", file_paragraphs);
  print({".SH EXIT STATUS\n"});
  for (const ExitCodeInfo& info : exit_codes) {
    print({".TP\n.B ", static_cast<int>(info.code), "\n", roff(std::string(info.meaning)), "\n"});
  }
  return exit_done;
}

}  // namespace

Action add_manual(OptionList&) {
  return print_manual;
}

}  // namespace dmlop::app
