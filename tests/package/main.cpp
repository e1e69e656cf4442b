// A program outside the project, with the public header alone: checks a description, runs it in
// memory, prints the outputs, and lists operators and devices. It fails if a result is wrong.
#include <algorithm>
#include <cstdio>
#include <dmlop/dmlop.hpp>
#include <stdexcept>

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

// CONSTANT padding of [1, 2] with 9: one element before, two after.
dmlop::Operation padding(const char* value) {
  return {.text = std::string(R"({"type": "PADDING", "desc": {"PaddingMode": "CONSTANT",
    "PaddingValue": )") +
                  value + R"(, "StartPadding": [1], "EndPadding": [2]}})",
          .file = "padding.json"};
}

const std::vector<std::uint8_t> input{1, 2};
const std::vector<std::uint8_t> padded{9, 1, 2, 9, 9};

void check() {
  const auto result = dmlop::check(padding("300"), {{"InputTensor", dmlop::view(input, {2})}});
  for (const dmlop::Finding& finding : result.findings) std::printf("%s\n", finding.text.c_str());
  require(result.findings.size() == 1, "there must be one finding");
  require(result.findings[0].message == "PaddingValue is 300, which does not fit UINT8",
          "the finding is wrong");
}

void run() {
  dmlop::Runner runner({.device = "cpu"});
  const auto outputs = runner.run(padding("9"), {{"InputTensor", dmlop::view(input, {2})}});
  for (const dmlop::Tensor& output : outputs) {
    std::printf("%s: %s", output.name.c_str(), std::string(dmlop::name_of(output.type)).c_str());
    for (const std::uint8_t element : output.elements<std::uint8_t>()) std::printf(" %d", element);
    std::printf("\n");
  }
  require(outputs.size() == 1 && outputs[0].name == "OutputTensor", "the outputs are wrong");
  require(std::ranges::equal(outputs[0].elements<std::uint8_t>(), padded), "the output is wrong");
}

// An exception of the library is caught as what the header says it is.
void fail() {
  try {
    dmlop::Runner({.device = "cpu"}).run(padding("9"));
  } catch (const dmlop::Failure& failure) {
    std::printf("%s\n", failure.what());
    require(failure.findings().size() == 1, "there must be one finding: no input");
    return;
  }
  require(false, "a run without an input must fail");
}

void list() {
  const auto operators = dmlop::operators();
  const auto runs = std::ranges::count_if(
      operators, [](const dmlop::OperatorInfo& row) { return !row.runs_on.empty(); });
  std::printf("%zu operators, %td of them run\n", operators.size(), runs);
  require(operators.size() == 177 && runs >= 4, "operators are missing");
  const auto devices = dmlop::devices();
  for (const dmlop::DeviceInfo& device : devices)
    std::printf("%s: %s, %s\n", device.spec.c_str(), device.name.c_str(), device.kind.c_str());
  require(!devices.empty() && devices[0].spec == "cpu", "the CPU is missing");
}

}  // namespace

int main() {
  try {
    check();
    run();
    fail();
    list();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "WRONG: %s\n", error.what());
    return 1;
  }
}
