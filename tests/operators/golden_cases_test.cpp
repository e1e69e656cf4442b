// What the real DirectML computes (conformance/README.md): every case of every operator that runs,
// on the backend that DMLOP_TEST_BACKENDS asks for. Tolerances are those of the software driver
// that the cases were made with; the operators' own tests hold the precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "base/text.hpp"
#include "golden_rules.hpp"
#include "gpu_device.hpp"
#include "job/job.hpp"
#include "job/prepared_job.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "stored_jobs.hpp"
#include "sweep.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::golden_cases_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Elements in which dmlop differs on purpose.
constexpr GoldenException exceptions[] = {
#include "golden_exceptions.inc"
};

/// The same on a GPU that takes denormals for 0.
constexpr GoldenException denormal_exceptions[] = {
#include "golden_denormals.inc"
};

/// Of every case on a GPU, which may divide less exactly; none needs it.
constexpr GoldenException gpu_exception{"", "last digits of quantized integers"};

/// Cases in which DirectML differs from a formula in double, and dmlop does what DirectML does.
struct FormulaException {
  const char* name;
  const char* reason;
};
const std::vector<FormulaException> formula_exceptions{
#include "golden_formulas.inc"
};

Json read_json(const fs::path& path) {
  std::ifstream stream(path);
  REQUIRE_MESSAGE(stream.good(), path);
  return Json::parse(stream);
}

/// Relative and absolute; 0 is bit for bit, but for NaN, which equals NaN.
double tolerance_of(DataType type) {
  switch (type) {
    case DataType::Float32:
      return 1e-4;
    case DataType::Float16:
      return 2e-2;
    case DataType::Float64:
      return 1e-9;
    default:
      return 0;
  }
}

// The largest finite number stands beside infinity.
double largest_of(DataType type) {
  return type == DataType::Float16   ? 65504
         : type == DataType::Float32 ? std::numeric_limits<float>::max()
                                     : std::numeric_limits<double>::max();
}

bool agree(DataType type, const std::byte* found, const std::byte* expected) {
  if (std::memcmp(found, expected, size_of(type)) == 0) return true;
  const double tolerance = tolerance_of(type);
  if (tolerance == 0) return false;
  double is = element_value(type, found), must_be = element_value(type, expected);
  if (std::isnan(is) || std::isnan(must_be)) return std::isnan(is) && std::isnan(must_be);
  const auto finite = [&](double value) {
    return std::isinf(value) ? std::copysign(largest_of(type), value) : value;
  };
  is = finite(is), must_be = finite(must_be);
  return std::abs(is - must_be) <= tolerance * (1 + std::abs(must_be));
}

/// How many bytes of an output count. The rows of coordinates behind the last one are undefined.
std::size_t defined_bytes(const OutputInMemory& output, const fs::path& expected) {
  if (output.name != "OutputCoordinatesTensor") return output.bytes.size();
  const NpyFile count = NpyFile::open((expected / "OutputCountTensor.npy").string());
  const auto rows = static_cast<std::uint64_t>(element_value(DataType::UInt32, &count.data()[0]));
  return rows * output.desc->sizes.back() * size_of(*output.desc->data_type);
}

/// The exceptions of a case, and how many elements each was needed for.
using Exceptions = std::map<const GoldenException*, std::size_t>;

/// Whether an exception allows an element to deviate; each that does counts it.
bool is_allowed(const GoldenElement& at, Exceptions& allowed) {
  bool is_any = false;
  for (auto& [exception, count] : allowed) {
    if (!exception->allows(at)) continue;
    ++count;
    is_any = true;
  }
  return is_any;
}

std::string deviation(const Job& job, const OutputInMemory& output, const NpyFile& expected,
                      std::size_t bytes, Exceptions& allowed) {
  const DataType type = *output.desc->data_type;
  if (stored_as(type) != expected.header().data_type) return "the data types differ";
  if (output.desc->sizes != expected.header().sizes) return "the sizes differ";
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at < bytes; at += size) {
    const std::byte* found = output.bytes.data() + at;
    const std::byte* must_be = &expected.data()[at];
    if (agree(type, found, must_be)) continue;
    const GoldenElement element{job, output, at / size, element_value(type, found),
                                element_value(type, must_be)};
    if (is_allowed(element, allowed)) continue;
    return "element " + std::to_string(element.index) + " is " + std::to_string(element.found) +
           ", must be " + std::to_string(element.expected);
  }
  return "";
}

std::string file_name(std::string tensor) {
  const std::size_t mark = tensor.find('[');
  if (mark != std::string::npos) tensor = tensor.replace(mark, 1, ".").substr(0, tensor.size() - 1);
  return tensor + ".npy";
}

dmlop::Backend make_backend() {
  const char* asked = std::getenv("DMLOP_TEST_BACKENDS");
  const bool on_gpu = asked != nullptr && std::string(asked) == "gpu" && has_gpu();
  return on_gpu ? dmlop::Backend(open_gpu()) : dmlop::Backend();
}

/// A description that is refused is what an exception of its case must say.
std::string refusal(const std::string& finding, Exceptions& allowed) {
  for (auto& [exception, count] : allowed) {
    if (!exception->is_refusal()) continue;
    ++count;
    return "";
  }
  return finding;
}

/// What a case did: "" if all outputs are as they must be, and whether the backend's GPU ran it.
struct CaseResult {
  std::string difference;
  bool ran_on_gpu = false;
};

/// Whether a prepared job computes other bytes, into the caller's memory, than the outputs have.
std::string difference_of_prepared(Job job, dmlop::Backend& backend,
                                   const std::vector<OutputInMemory>& outputs) {
  const dmlop::PreparedJob prepared(std::move(job));
  std::vector<std::vector<std::byte>> computed;
  for (const auto& output : prepared.outputs()) computed.emplace_back(output.bytes);
  const std::vector<std::span<std::byte>> memory(computed.begin(), computed.end());
  prepared.run(backend, {}, {}, memory);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!std::ranges::equal(computed[i], outputs[i].bytes.bytes()))
      return outputs[i].name + ": a prepared job computes something else";
  }
  return "";
}

/// Whether inputs stand in memory as they are stored, or each in a layout of its own.
enum class Layouts : std::uint8_t { packed, own };

CaseResult run_case(const fs::path& folder, dmlop::Backend& backend, Exceptions& allowed,
                    Judge judge = Judge::page, Layouts layouts = Layouts::packed) {
  Diagnostics diagnostics;
  auto job = stored_job(folder, diagnostics, judge);
  if (!diagnostics.empty()) return {refusal(to_text(diagnostics.front()), allowed)};
  Random random(std::stoul(folder.filename().string()));
  if (layouts == Layouts::own) lay_out(*job, random);
  try {
    JobResult result;
    const auto outputs = outputs_in_memory(*job, backend, {}, &result);
    for (const OutputInMemory& output : outputs) {
      const fs::path golden = folder / "expected" / file_name(output.name);
      const std::string found = deviation(*job, output, NpyFile::open(golden.string()),
                                          defined_bytes(output, folder / "expected"), allowed);
      if (!found.empty()) return {output.name + ": " + found};
    }
    const bool ran_on_gpu = backend.is_gpu() && result.notice.empty();
    if (ran_on_gpu) return {"", ran_on_gpu};
    return {difference_of_prepared(std::move(*job), backend, outputs), ran_on_gpu};
  } catch (const Error& error) {
    return {error.what()};
  }
}

// On a GPU most of a case's time goes into compiling its kernels, most of all for Direct3D. On the
// CPU the kernels of Windows are the same source, so that a part of each operator's cases shows
// what its compiler does. DMLOP_TEST_EVERY_CASE=1 runs them all.
std::size_t runs_one_in(const dmlop::Backend& backend) {
  const char* every = std::getenv("DMLOP_TEST_EVERY_CASE");
  if (every != nullptr && std::string(every) == "1") return 1;
#ifdef _WIN32
  return backend.is_gpu() ? 240 : 4;
#else
  return backend.is_gpu() ? 6 : 1;
#endif
}

/// Which cases a process runs: number `part` of `parts`, counted from 0 (DMLOP_TEST_PART=3/16).
struct Share {
  std::size_t part = 0;
  std::size_t parts = 1;
};
Share asked_share() {
  const char* asked = std::getenv("DMLOP_TEST_PART");
  if (asked == nullptr) return {};
  Share share;
  REQUIRE(std::sscanf(asked, "%zu/%zu", &share.part, &share.parts) == 2);
  REQUIRE(share.part < share.parts);
  return share;
}

struct GoldenCase {
  std::string operator_name;
  std::string number;
  fs::path folder;
  bool differs_from_formula = false;  // of NumPy, in double

  std::string full_name() const { return operator_name + "/" + number; }
};

/// Those that an operator of this version runs, and whose outputs are known.
std::vector<GoldenCase> read_cases() {
  std::vector<GoldenCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(conformance_path("golden"))) {
    if (entry.path().filename() != "case.json") continue;
    const fs::path folder = entry.path().parent_path();
    const std::string name = folder.parent_path().filename().string();
    if (find_operator(name) == nullptr || !fs::exists(folder / "expected")) continue;
    const Json about = read_json(entry.path());
    const Json check = about.value("numpy_check", Json());
    cases.push_back({.operator_name = name,
                     .number = folder.filename().string(),
                     .folder = folder,
                     .differs_from_formula = check.is_object() && check.at("result") == "differs"});
  }
  const auto key = [](const GoldenCase& one) { return std::tie(one.operator_name, one.number); };
  std::sort(cases.begin(), cases.end(),
            [&](const GoldenCase& a, const GoldenCase& b) { return key(a) < key(b); });
  return cases;
}

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> cases = read_cases();
  return cases;
}

// SIGN of a denormal is 1, or 0 on such a device.
bool takes_denormals_for_0(dmlop::Backend& backend) {
  const fs::path sign_of_denormals = conformance_path("golden/open/ELEMENT_WISE_SIGN/200");
  Exceptions none;
  return backend.is_gpu() && !run_case(sign_of_denormals, backend, none).difference.empty();
}

Exceptions exceptions_of(const std::string& full_name, bool no_denormals) {
  Exceptions found;
  for (const GoldenException& one : denormal_exceptions) {
    if (no_denormals && one.name == full_name) found.emplace(&one, 0);
  }
  // An element may be of both kinds. Without denormals it is of the other one, which is not needed.
  const bool may_be_other = !found.empty();
  for (const GoldenException& one : exceptions) {
    if (one.name == full_name) found.emplace(&one, may_be_other ? one.fewest() : 0);
  }
  return found;
}

/// What is wrong with a case or its exceptions; "" where nothing is. On a GPU, every second case
/// has other layouts, but for those with exceptions, which are about packed inputs.
CaseResult result_of(const GoldenCase& one, dmlop::Backend& backend, Exceptions allowed) {
  const bool is_packed =
      !backend.is_gpu() || !allowed.empty() || std::stoul(one.number) / 6 % 2 == 0;
  if (backend.is_gpu()) allowed.emplace(&gpu_exception, gpu_exception.fewest());
  CaseResult result = run_case(one.folder, backend, allowed, Judge::page,
                               is_packed ? Layouts::packed : Layouts::own);
  for (const auto& [exception, count] : allowed) {
    if (count < exception->fewest() && result.difference.empty())
      result.difference =
          "the exception \"" + std::string(exception->difference) + "\" is not needed";
  }
  return result;
}

TEST_CASE("golden cases: every operator that runs gives what DirectML gives") {
  dmlop::Backend backend = make_backend();
  const std::size_t one_in = runs_one_in(backend);
  if (one_in > 1) MESSAGE("one case in " << one_in << " runs");
  const bool no_denormals = takes_denormals_for_0(backend);
  const Share share = asked_share();
  std::map<std::string, std::size_t> count, on_gpu;
  std::size_t chosen = 0, ran = 0, agreed = 0, on_cpu = 0;
  for (const GoldenCase& one : golden_cases()) {
    const auto allowed = exceptions_of(one.full_name(), no_denormals);
    const bool is_refused = std::ranges::any_of(
        allowed, [](const auto& exception) { return exception.first->is_refusal(); });
    if (count[one.operator_name]++ % one_in != 0 && !is_refused) continue;
    if (chosen++ % share.parts != share.part) continue;
    const CaseResult result = result_of(one, backend, allowed);
    const std::string& found = result.difference;
    const bool ran_on_gpu = result.ran_on_gpu;
    on_gpu[one.operator_name] += ran_on_gpu ? 1 : 0;
    ++ran;
    agreed += found.empty() && allowed.empty() ? 1 : 0;  // no exception is there without need
    on_cpu += found.empty() && backend.is_gpu() && !ran_on_gpu && !is_refused ? 1 : 0;
    CHECK_MESSAGE(found.empty(), one.full_name() << ": " << found);
    if (!is_refused) continue;
    Exceptions none;
    const auto as_directml = run_case(one.folder, backend, none, Judge::directml);
    CHECK_MESSAGE(as_directml.difference.empty(), one.full_name()
                                                      << ": " << as_directml.difference);
    CHECK(as_directml.ran_on_gpu == backend.is_gpu());
  }
  constexpr std::size_t fewest = 10;  // cases of an operator
  CHECK(count.size() >= 177);
  for (const auto& entry : count)
    CHECK_MESSAGE(entry.second >= fewest, entry.first << ": " << entry.second);
  std::size_t all = 0;
  for (const auto& entry : on_gpu) {
    if (backend.is_gpu() && one_in <= 3 && share.parts == 1)
      CHECK_MESSAGE(entry.second > 0, entry.first << ": a GPU ran none");
    all += entry.second;
  }
  if (backend.is_gpu() && share.parts == 1) CHECK(all > 150);
  MESSAGE("stored cases: " << agreed << " agree " << ran - agreed << " differ " << on_cpu
                           << " on the CPU instead");
}

std::set<std::string> names_of(const auto& rows) {
  std::set<std::string> names;
  for (const auto& row : rows) CHECK_MESSAGE(names.insert(row.name).second, row.name << " twice");
  return names;
}

TEST_CASE("golden cases: an exception is of a case, and lists its elements or has a rule") {
  std::set<std::string> cases;
  for (const GoldenCase& one : golden_cases()) cases.insert(one.full_name());
  using Rows = std::span<const GoldenException>;
  for (const Rows rows : {Rows(exceptions), Rows(denormal_exceptions)}) {
    for (const GoldenException& one : rows) {
      CAPTURE(std::string(one.name));
      CHECK(cases.contains(one.name));
      CHECK(has_golden_rule(one.difference) == (*one.elements == '\0'));
      CHECK(one.fewest() > 0);
    }
  }
}

/// What a case says with some other exception than its own.
std::string said_with(const GoldenException& exception) {
  const auto& cases = golden_cases();
  const auto one = std::ranges::find(cases, exception.name, &GoldenCase::full_name);
  REQUIRE(one != cases.end());
  dmlop::Backend cpu;
  return result_of(*one, cpu, {{&exception, 0}}).difference;
}

TEST_CASE(
    "golden cases: an exception allows its own elements alone, and all that it lists deviate") {
  const char* name = "MULTIHEAD_ATTENTION/011";
  const char* difference = "queries without keys";
  CHECK(said_with({name, difference, "OutputTensor 2 3 4 5 6 7 8 9 10 12"}) == "");
  CHECK(said_with({name, difference, "OutputTensor 2 3 4 5 6 7 8 9 10"}).find("element 12 is") !=
        std::string::npos);
  CHECK(said_with({name, difference, "OutputTensor 2 3 4 5 6 7 8 9 10 11 12"}) ==
        "the exception \"queries without keys\" is not needed");
}

TEST_CASE("golden cases: the rule of a difference allows what that is about, and must be needed") {
  CHECK(said_with({"ELEMENT_WISE_ATAN/200", "arc tangent of NaN"}) == "");
  CHECK(said_with({"ELEMENT_WISE_ATAN/200", "logarithms of denormals"}).find("element 14 is nan") !=
        std::string::npos);
  CHECK(said_with({"ELEMENT_WISE_ATAN/000", "arc tangent of NaN"}) ==
        "the exception \"arc tangent of NaN\" is not needed");
  CHECK(said_with({"TILE/008", "FLOAT64", "refused"}) == "");
  CHECK(said_with({"TILE/008", "FLOAT64", "OutputTensor 0"}) != "");
  CHECK(said_with({"TILE/000", "FLOAT64", "refused"}) == "the exception \"FLOAT64\" is not needed");
}

TEST_CASE("golden cases: where DirectML differs from a formula, somebody has looked at the case") {
  std::set<std::string> differing;
  for (const GoldenCase& one : golden_cases()) {
    const bool is_listed = !exceptions_of(one.full_name(), false).empty();
    if (one.differs_from_formula && !is_listed) differing.insert(one.full_name());
  }
  CHECK(join(names_of(formula_exceptions)) == join(differing));
  CHECK(differing.size() >= 20);
}

bool agree_as_floats(float found, float expected) {
  return agree(DataType::Float32, std::as_bytes(std::span(&found, 1)).data(),
               std::as_bytes(std::span(&expected, 1)).data());
}

TEST_CASE("golden cases: the largest number stands beside infinity") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  CHECK(agree_as_floats(largest, infinity));
  CHECK(agree_as_floats(-infinity, -largest));
  CHECK(!agree_as_floats(-largest, infinity));
  CHECK(!agree_as_floats(0.9F * largest, infinity));
  CHECK(!agree_as_floats(std::nanf(""), infinity));
}

}  // namespace
}  // namespace dmlop::test::golden_cases_test
