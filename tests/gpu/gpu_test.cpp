// The program on a GPU, as its users see it: choice, limits, failures, measurements, the cache. It
// runs on llvmpipe. If there is no GPU, not even in software, the cases that need one skip
// themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"
#include "sanitized.hpp"

namespace dmlop::test::gpu_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string sample = source_path("samples/padding/");
const std::string run_sample =
    "dmlop run " + sample + "op.json -i InputTensor=" + sample + "InputTensor.npy ";
const std::string no_loader = "LD_PRELOAD=" + no_vulkan_path() + " ";
const std::string no_driver = "VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent ";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// False, with the reason in the output, where there is no GPU.
bool has_gpu() {
  if (!program_gpu().empty()) return true;
  MESSAGE("SKIPPED on gpu: dmlop devices lists none");
  return false;
}

/// "vulkan" of "vulkan:0"; the first backend's name where there is no GPU.
std::string backend() {
  return program_gpu().empty() ? "vulkan" : program_gpu().substr(0, program_gpu().find(':'));
}

Json listed_devices() {
  return Json::parse(dmlop_program({"devices", "--format", "json"}).output).at("devices");
}

bool only_software() {
  for (const Json& device : listed_devices()) {
    if (device.at("spec") != "cpu" && device.at("kind") != "software") return false;
  }
  return has_gpu();
}

ProgramResult in(const Folder& folder, const std::string& command) {
  return shell("unset DMLOP_DEVICE DMLOP_VULKAN_VALIDATION; export XDG_CACHE_HOME=" +
                   folder.path() + "/cache; " + command,
               {.folder = folder.path()});
}

std::string on_gpu() {
  return run_sample + "--device " + program_gpu() + " ";
}

void check_large(const std::string& description, const std::string& options = "") {
  CAPTURE(description);
  const Folder folder;
  folder.write("op.json", description);
  std::string data(200'000'001, '\0');
  std::uint32_t state = 1;
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    state = state * 1664525 + 1013904223;
    std::memcpy(&data[at], &state, 4);
  }
  folder.write("in.npy", npy("|u1", "(200000001,)", data));
  const std::string run = "dmlop run op.json -i InputTensor=in.npy -o ";
  CHECK(in(folder, run + "cpu.npy --cpu").code == 0);
  const ProgramResult found = in(folder, run + "gpu.npy --device " + program_gpu() + options);
  CHECK(found.error == "");
  CHECK(found.code == 0);
  CHECK(in(folder, "cmp cpu.npy gpu.npy").code == 0);
}

constexpr const char* large_input = R"("InputTensor":{"DataType":"UINT8","Sizes":[200000001]}}})";

TEST_CASE("gpu: tensors larger than a device's buffers equal the CPU's byte for byte") {
  if (!has_gpu()) return;
  check_large(
      std::string(
          R"({"type":"DML_OPERATOR_PADDING","desc":{"PaddingMode":"WRAP","DimensionCount":1,"StartPadding":[1234567],"EndPadding":[7654321],)") +
      large_input);
  check_large(
      std::string(
          R"({"type":"DML_OPERATOR_SLICE1","desc":{"DimensionCount":1,"InputWindowOffsets":[3],"InputWindowSizes":[199999990],"InputWindowStrides":[-1],)") +
          large_input,
      " --device-memory 64MB");
  check_large(
      std::string(
          R"({"type":"DML_OPERATOR_SLICE1","desc":{"DimensionCount":1,"InputWindowOffsets":[1],"InputWindowSizes":[199999990],"InputWindowStrides":[2],)") +
      large_input);
}

TEST_CASE("gpu: the samples have their golden outputs, also with little memory") {
  if (!has_gpu()) return;
  const Folder folder;
  for (const char* options : {"", "--device-memory 4KB", "--device-memory 1MB --threads 1"}) {
    CAPTURE(options);
    const ProgramResult found = in(folder, on_gpu() + options + " -o out.npy");
    CHECK(found.code == 0);
    CHECK(found.error == "");
    CHECK(in(folder, "cmp out.npy " + sample + "expected/OutputTensor.npy").code == 0);
  }
}

TEST_CASE("gpu: --device-memory is an amount of at least 4 KB") {
  const Folder folder;
  for (const char* amount : {"0", "4095", "-1", "much", "nan"}) {
    CAPTURE(amount);
    CHECK(in(folder, run_sample + "--cpu -o out.npy --device-memory " + amount).code == 2);
  }
  CHECK(in(folder, run_sample + "--cpu -o out.npy --device-memory 4KB").code == 0);
}

TEST_CASE("gpu: a full disk is exit 6") {
  if (!has_gpu()) return;
  const Folder folder;
  CHECK(in(folder, on_gpu() + "-o /dev/full").code == 6);
  // No file may grow beyond 512 bytes: the output fails part of the way.
  folder.write(
      "op.json",
      R"({"type":"DML_OPERATOR_PADDING","desc":{"PaddingMode":"WRAP","DimensionCount":1,"StartPadding":[1],"EndPadding":[40000],"InputTensor":{"DataType":"UINT8","Sizes":[4]}}})");
  folder.write("in.npy", npy("|u1", "(4,)", "abcd"));
  const ProgramResult found =
      in(folder, "ulimit -f 8; dmlop run op.json -i in.npy -o out.npy --device " + program_gpu() +
                     " --device-memory 16KB");
  CHECK(found.code == 6);
  CHECK_FALSE(has(folder.list(), "out.npy"));
}

TEST_CASE("gpu: what does not exist or fits several is refused") {
  const Folder folder;
  CHECK(in(folder, run_sample + "-o out.npy --device " + backend() + ":nothing").code == 4);
  CHECK(in(folder, run_sample + "-o out.npy --device " + backend() + ":99").code == 4);
  CHECK(in(folder, run_sample + "-o out.npy --device cuda").code == 2);
  CHECK(in(folder, run_sample + "-o out.npy --device " + backend() + ":").code == 2);
  CHECK(in(folder, run_sample + "-o out.npy --gpu --cpu").code == 2);
  CHECK(in(folder, run_sample + "-o out.npy --gpu --device cpu").code == 2);
  CHECK_FALSE(has(folder.list(), "out.npy"));
}

TEST_CASE("gpu: software drivers are used only when named") {
  if (!only_software()) return;
  const Folder folder;
  const ProgramResult refused = in(folder, run_sample + "-o out.npy --gpu");
  CHECK(refused.code == 4);
  CHECK(has(refused.error, "only software drivers"));
  CHECK_FALSE(has(folder.list(), "out.npy"));
  const ProgramResult found = in(folder, run_sample + "-o out.npy");
  CHECK(found.code == 0);
  CHECK(has(found.error, "running on the CPU"));
  CHECK(lines_of(found.error) == 1);
}

TEST_CASE("gpu: without a loader or a driver the CPU runs, and --gpu says why not") {
  const Folder folder;
  for (const std::string& without : {no_loader, no_driver}) {
    CAPTURE(without);
    if (without == no_loader && is_sanitized) {
      MESSAGE("SKIPPED: a sanitizer takes the place of the library that hides the loader");
      continue;
    }
    const std::string reason = without == no_loader ? "loader" : "no Vulkan driver was found";
    const std::string run = "export " + without + "; " + run_sample + "-o out.npy ";
    const ProgramResult found = in(folder, run);
    CHECK(found.code == 0);
    CHECK(lines_of(found.error) == 1);
    CHECK(has(found.error, reason));
    CHECK(in(folder, run + "-q").error == "");
    const ProgramResult on_cpu = in(folder, run + "--cpu");
    CHECK(on_cpu.code == 0);
    CHECK(on_cpu.error == "");
    const ProgramResult refused = in(folder, run + "--gpu");
    CHECK(refused.code == 4);
    CHECK(has(refused.error, reason));
    CHECK(in(folder, run + "--device vulkan:0").code == 4);
    const ProgramResult list = in(folder, "export " + without + "; dmlop devices --format json");
    CHECK(list.code == 0);
    const Json json = Json::parse(list.output);
    CHECK(json.at("devices").size() == 1);
    CHECK(has(json.at("unavailable").get<std::string>(), reason));
  }
}

TEST_CASE("gpu: DMLOP_DEVICE sets the default and options win over it") {
  const Folder folder;
  const auto device_of = [&](const std::string& preset, const std::string& options) {
    const ProgramResult found = in(folder, "export DMLOP_DEVICE=" + preset + "; " + run_sample +
                                               "-o out.npy --format json " + options);
    const Json json = Json::parse(found.output);
    return json.contains("device") ? json["device"].get<std::string>()
                                   : "exit " + std::to_string(found.code);
  };
  CHECK(device_of("cpu", "") == "cpu");
  CHECK(device_of(backend() + ":nothing", "") == "exit 4");
  CHECK(device_of(backend() + ":nothing", "--cpu") == "cpu");
  CHECK(device_of("nonsense", "") == "exit 2");
  CHECK(device_of("nonsense", "--device cpu") == "cpu");
  if (program_gpu().empty()) return;
  CHECK(device_of(program_gpu(), "") == program_gpu());
  CHECK(device_of(program_gpu(), "--cpu") == "cpu");
  CHECK(device_of("cpu", "--device " + program_gpu()) == program_gpu());
}

TEST_CASE("gpu: devices lists what to type") {
  const Folder folder;
  const Json json = Json::parse(in(folder, "dmlop devices --format json").output);
  CHECK(json.at("devices").at(0).at("spec") == "cpu");
  CHECK(json.at("devices").at(0).at("threads").get<unsigned>() >= 1);
  if (!has_gpu()) return;
  const Json device = json.at("devices").at(1);
  CHECK(device.at("spec") == backend() + ":0");
  CHECK(device.at("memoryBytes").get<std::uint64_t>() > 0);
  const std::string id = backend() == "vulkan" ? "uuid" : "luid";
  CHECK(device.at(id).get<std::string>().size() == (id == "uuid" ? 36 : 17));
  for (const char* field : {"name", "kind", "driver"})
    CHECK(device.at(field).get<std::string>() != "");
  CHECK(in(folder, run_sample + "-o out.npy --device " + backend() + ":" + id + "=" +
                       device[id].get<std::string>())
            .code == 0);
  CHECK(has(in(folder, "dmlop devices").output, backend() + ":0"));
}

TEST_CASE("gpu: --timings names every phase") {
  const Folder folder;
  const auto timings = [&](const std::string& command) {
    return Json::parse(in(folder, command + "-o out.npy --timings --format json").output)
        .at("timings");
  };
  const Json on_cpu = timings(run_sample + "--cpu ");
  CHECK(on_cpu.at("executeAndWriteSeconds").get<double>() >= 0);
  CHECK(on_cpu.at("deviceKernelSeconds").is_null());
  if (!has_gpu()) return;
  const Json found = timings(on_gpu());
  for (const char* field :
       {"checkSeconds", "setUpSeconds", "executeAndWriteSeconds", "deviceUploadSeconds",
        "deviceKernelSeconds", "deviceDownloadSeconds"}) {
    CAPTURE(field);
    const double seconds = found.at(field).get<double>();
    CHECK(seconds >= 0);
    CHECK(seconds < 60);
  }
}

TEST_CASE("gpu: bench reports numbers, or the reason for none") {
  const Folder folder;
  const auto check = [&](const std::string& device) {
    CAPTURE(device);
    const std::string bench =
        "dmlop bench " + sample + "op.json --min-time 0.01 --device " + device;
    const ProgramResult found = in(folder, bench + " --format json");
    CHECK(found.code == 0);
    CHECK_FALSE(has(found.output, "nan"));
    const Json json = Json::parse(found.output);
    CHECK(json.at("device") == device);
    CHECK(json.at("runs").get<unsigned>() >= 10);
    CHECK(json.at("minSeconds").get<double>() <= json.at("medianSeconds").get<double>());
    CHECK(json.at("medianSeconds").get<double>() <= json.at("p95Seconds").get<double>());
    CHECK(std::isfinite(json.at("bytesPerSecond").get<double>()));
    for (const char* field :
         {"copyBytesPerSecond", "setUpSeconds", "uploadSeconds", "downloadSeconds"}) {
      CAPTURE(field);
      if (json.at(field).is_null()) {
        CHECK(json.at("notMeasured").at(field).get<std::string>() != "");
      } else {
        CHECK(json.at(field).get<double>() >= 0);
      }
    }
    const ProgramResult text = in(folder, bench);
    CHECK(text.code == 0);
    CHECK_FALSE(has(text.output, "nan"));
  };
  check("cpu");
  if (has_gpu()) check(program_gpu());
}

/// The one file of the pipeline cache.
std::string cache_file(const Folder& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder / "cache/dmlop"))
    files.push_back(entry.path().string());
  REQUIRE(files.size() == 1);
  return files.front();
}

TEST_CASE("gpu: the pipeline cache is kept, and replaced where it is damaged") {
  if (!has_gpu()) return;
  const Folder folder;
  const std::string run = on_gpu() + "-o out.npy";
  REQUIRE(in(folder, run).code == 0);
  const std::string path = cache_file(folder);
  const std::string sound = read_file(path);
  CHECK(sound.starts_with("dmloppc1"));
  const auto written = fs::last_write_time(path);
  CHECK(in(folder, run).code == 0);
  CHECK(fs::last_write_time(path) == written);  // nothing to add
  std::string flipped = sound;
  flipped[sound.size() / 2] ^= 1;
  for (const std::string& damaged :
       {std::string(), std::string("x"), sound.substr(0, sound.size() - 1), sound + "x", flipped,
        std::string(5000, 'y')}) {
    folder.write(fs::relative(path, folder.path()).string(), damaged);
    const ProgramResult found = in(folder, run);
    CHECK(found.code == 0);
    CHECK(found.error == "");
    CHECK(read_file(path).size() == sound.size());
    CHECK(read_file(path).starts_with("dmloppc1"));
  }
}

TEST_CASE("gpu: processes at the same time leave a sound cache") {
  if (!has_gpu()) return;
  const Folder folder;
  std::string command;
  for (int i = 0; i < 8; ++i) {
    command += "(" + on_gpu() + "-o out" + std::to_string(i) + ".npy || touch failed) & ";
  }
  CHECK(in(folder, command + "wait").error == "");
  CHECK_FALSE(folder.has("failed"));
  const std::string path = cache_file(folder);
  const auto written = fs::last_write_time(path);
  CHECK(in(folder, on_gpu() + "-o out.npy").code == 0);
  CHECK(fs::last_write_time(path) == written);
}

TEST_CASE("gpu: a cache folder that cannot be written is no error") {
  if (!has_gpu()) return;
  const Folder folder;
  folder.write("cache", "a file where the folder should be");
  const ProgramResult found = in(folder, on_gpu() + "-o out.npy");
  CHECK(found.code == 0);
  CHECK_FALSE(has(found.error, "dmlop:"));  // Mesa speaks of its own cache
}

}  // namespace
}  // namespace dmlop::test::gpu_test
