// Any text as C++ or a debugger's view: every finding has a place in the text, and without one
// there is JSON that names an operator.
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cpp/convert.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "paths.hpp"

namespace dmlop::test {

void fuzz_cpp(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  Diagnostics findings;
  std::optional<CppDescription> made;
  try {
    made = description_of_cpp("x.cpp", text, findings);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_input, "a text is only refused");
    return;
  }
  require(made.has_value() == findings.empty(), "a text is converted, or has a finding");
  for (const Diagnostic& finding : findings) {
    require(!finding.message.empty() && !finding.suggestion.empty(), "a finding has a way out");
    require(finding.line <= lines, "a finding's line is one of the text's");
  }
  if (made) require(nlohmann::json::parse(made->text).contains("type"), "JSON names an operator");
}

std::vector<std::string> cpp_seeds() {
  return {
      read_file(source_path("samples/cpp/padding.cpp")),
      "#define N 4\nusing U = UINT;\nvoid f(U n) {\n  if (n) { n = N * 2; }\n"
      "  for (U i = 0; i < 3; ++i) g(i);\n  U a[2][2] = {{1, 2}, {sizeof(a) / 4}};\n"
      "  std::vector<U> v(3, 1u); v.push_back(a[1][0] << 2); auto* p = &v[1];\n"
      "  DML_TENSOR_DESC t[] = {{DML_TENSOR_TYPE_BUFFER, nullptr}};\n"
      "  DML_JOIN_OPERATOR_DESC d = {_countof(t), t, &t[0], (U)std::max(1.5f, 2.f) ? *p : ~0};\n}",
      "struct T { std::array<UINT, 2> s; UINT n = 2; };\nUINT Size(const T& t) {\n"
      "  return std::accumulate(t.s.begin(), t.s.end(), 1u, std::multiplies<UINT>());\n}\n"
      "int main() {\n  UINT a[4]; T t{{1, 2}};\n  auto f = [&, n = t.n](UINT i) { return i < n ? "
      "Size(t) : n; };\n  for (UINT i = 0; i < 4; ++i) { if (i == 2) continue; a[i] = f(i); }\n"
      "  switch (a[0]) { case 1: a[1] = 1; break; default: a[2] = std::sqrt(4.0f); }\n"
      "  DML_ONE_HOT_OPERATOR_DESC d = {nullptr, nullptr, nullptr, a[3]};\n}",
      "DML_FILL_VALUE_CONSTANT_OPERATOR_DESC d{.OutputTensor = nullptr, .ValueDataType = "
      "DML_TENSOR_DATA_TYPE_INT16, .Value = {{0xFE, 0xFF}}};",
      "-\td\t{InputTensor=0x000000d2f0eff5a8 {Type=DML_TENSOR_TYPE_BUFFER (1) "
      "Desc=0x000000d2f0eff560 } Alpha=-1.5}\tDML_ACTIVATION_ELU_OPERATOR_DESC\n"
      "\t[0]\t1\tunsigned int\n\tAlpha\t2\tfloat\n",
      "$1 = {InputTensor = 0x7ffe12345670 <x>, Alpha = "
      "nan(0x1)}\n(DML_ACTIVATION_ELU_OPERATOR_DESC) d "
      "= {Alpha = 0, OutputTensor = 0x0}\np *d.InputTensor = {1 <repeats 9 times>, 'x'}"};
}

}  // namespace dmlop::test
