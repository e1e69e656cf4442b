// INT, TERM and --timeout take effect soon, in every command and in every phase. The files that the
// commands read take no room on the disk: they have holes, and windows lie over one element.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>
#include <type_traits>
#include <variant>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "batch.hpp"
#include "cpu/execute.hpp"
#include "npy/npy.hpp"
#include "sanitized.hpp"

namespace dmlop::test::stop_test {
namespace {

using Clock = std::chrono::steady_clock;

// Half a second is promised; a machine that is busy with other tests takes longer, and what stages
// over a request goes on for minutes.
constexpr double seconds_max = is_sanitized ? 60 : 15;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// --- kernels

/// A kernel that a kernel works on for hours, or for as long as its input is far away.
struct KernelRow {
  std::string name;
  Kernel kernel;
  std::uint64_t elements;  // of the output that are asked for
  std::uint64_t most;      // that may be there when the stop is seen
};

/// Windows of a whole input whose elements are all one.
WindowKernel norm(std::uint64_t depth, std::uint64_t height, std::uint64_t width, std::uint64_t p) {
  WindowKernel kernel{.function = WindowFunction::norm, .p = p};
  for (const std::uint64_t extent : {depth, height, width})
    kernel.axes.push_back({.input_extent = extent, .reach = Windows{.size = extent}});
  return kernel;
}

IndexMapKernel map(std::vector<IndexMapAxis> axes) {
  return {.element_size = 1, .axes = std::move(axes)};
}

/// One window over rows and columns that are all one element.
std::vector<WindowAxis> window(std::uint64_t height, std::uint64_t width) {
  return {{.input_extent = height, .reach = Windows{.size = height}},
          {.input_extent = width, .reach = Windows{.size = width}}};
}

/// One output of very many samples.
Regions sampled(bool takes_maximum) {
  return {.samples_min = 1 << 20, .samples_max = 1 << 20, .takes_maximum = takes_maximum};
}

// Of all kinds but LocalResponseKernel, whose passes the CPU runs instead.
std::vector<KernelRow> kernel_rows() {
  constexpr std::uint64_t large = std::uint64_t{1} << 31;
  constexpr std::int64_t far = 8192;  // bytes
  IndexMapKernel own_lengths = map({{.extent = 4096, .stride = 4096, .lengths_stride = 0},
                                    {.extent = 4096, .stride = 1, .lengths_stride = 1}});
  own_lengths.reversal = Reversal{.axis = 0, .lengths_type = DataType::UInt32};
  const IndexMapKernel far_part =
      map({{.extent = 4096, .stride = 0}, {.extent = 4096, .stride = far}});
  const auto element_wise = [](std::uint64_t stride) {
    return ElementWiseKernel{.expression = Expression::exp,
                             .extents = {1 << 13, 1 << 13},
                             .inputs = {{DataType::UInt8, {0, stride}}}};
  };
  // A sum of equal elements.
  const ProductKernel long_sum{
      .left = {DataType::Float32}, .right = {DataType::Float32}, .depth = large};
  ProductKernel far_columns = long_sum;
  far_columns.depth = 1;
  far_columns.columns = 1 << 13;
  far_columns.right.column_stride = far / 4;
  ProductKernel large_window = long_sum;
  large_window.depth = 1;
  large_window.windows = {{.taps = large, .input_extent = large}};
  const RecurrentKernel network{.steps = 1 << 24,
                                .directions = {{false, {NumberFunction{}}}},
                                .weights = {DataType::Float32, {0, 0, 0}},
                                .has_final = true};
  const AttentionInput same{DataType::Float32};
  const AttentionKernel attention{
      .keys = 1 << 24, .size = 256, .query = same, .key = same, .value = same};
  const HeadRowsKernel far_rows{.size = 1 << 11,
                                .input = {.data_type = DataType::Float32, .element_stride = far}};
  const auto longest = [](std::uint64_t extent, std::uint64_t k) {
    return TopKKernel{.axes = {.along = {.extent = extent}}, .k = k};
  };
  const auto sum = [](std::vector<std::uint64_t> extents, std::vector<std::uint64_t> strides) {
    return ReduceKernel{.extents = std::move(extents), .operands = {{.strides = strides}}};
  };
  const GatherKernel far_places{.element_size = 1,
                                .axes = {{.extent = 1 << 20}, {.extent = 4096, .strides = {0, 1}}},
                                .coordinates = {{.extent = 1 << 26, .stride = 1}}};
  // Updates of one element, for hours.
  const ScatterKernel many_updates{.element_size = 4,
                                   .coordinates = {{.extent = 4, .stride = 0}},
                                   .updates = {{.extent = large}, {.extent = large}}};
  const ScanKernel long_scan{.axes = {.along = {.extent = 1 << 22}}};
  const FoldKernel wide_fold{.axes = {FoldAxis{.window = large, .places = large}}};
  const NonzeroCountKernel large_block{.axes = {{.extent = large}, {.extent = large}},
                                       .block = std::uint64_t{1} << 62};
  const NonzeroKernel rows{.count = {.data_type = DataType::UInt8,
                                     .axes = {{.extent = large}, {.extent = large}},
                                     .block = std::uint64_t{1} << 62},
                           .extents = {large}};
  const RowsKernel many_rows{.shape = {{1 << 6, 1 << 18}, {false, true}},
                             .input = {DataType::Float32, {1 << 18, 1}}};
  return {
      {"rows: many rows", many_rows, 1 << 24, 1 << 20},
      {"reduction: a long row", sum({1, large << 8}, {0, 0}), 1, 0},
      {"reduction: long columns", sum({64, large, 4096}, {1, 0, 64}), 64, 0},
      {"reduction: elements far apart", sum({1 << 10, 4096}, {0, far / 4}), 1 << 10, 64},
      {"gather: elements far apart", far_places, 1 << 20, 64},
      {"scatter: many updates of an element", many_updates, 4, 4},
      {"scan: a long sequence", long_scan, 1 << 22, 1 << 20},
      {"fold: a large window", wide_fold, 1, 0},
      {"counting: a large block", large_block, 1, 0},
      {"coordinates: many rows", rows, 1 << 22, 1 << 21},
      {"sequence: many elements", SequenceKernel{.elements = 1 << 23}, 1 << 23, 1 << 20},
      {"band: many elements",
       BandKernel{
           .element_size = 1, .lines = {{1 << 12}}, .rows = 1 << 12, .columns = {1 << 12, {}}},
       1 << 24, 1 << 20},
      {"random bits: many elements", RandomBitsKernel{.elements = 1 << 23}, 1 << 23, 1 << 20},
      {"join: elements far apart", JoinKernel{{far_part, far_part}, 1}, 1 << 20, 64},
      {"element-wise: elements side by side", element_wise(1), 1 << 22, 1 << 20},
      {"element-wise: elements far apart", element_wise(8192), 1 << 13, 1 << 10},
      {"product: a long sum", long_sum, 1, 0},
      {"product: elements far apart", far_columns, 1 << 13, 64},
      {"convolution: a large window", large_window, 1, 0},
      {"recurrent network: many steps", network, 1, 0},
      {"attention: many keys", attention, 1, 0},
      {"rows of heads: elements far apart", far_rows, 1 << 11, 64},
      {"selection: a long sequence", longest(large, 1), 1, 0},
      {"selection: a long sequence, many of its elements", longest(1 << 22, 1 << 22), 1 << 22, 0},
      {"sum: a window of many rows", WindowKernel{.axes = window(large, 256)}, 1, 0},
      {"sum: a window of many columns", WindowKernel{.axes = window(1, large)}, 1, 0},
      {"maximum: a window of many rows",
       WindowKernel{.function = WindowFunction::maximum, .axes = window(large, 256)}, 1, 0},
      {"places: a window of many rows", MaxPlacesKernel{.axes = window(large, 256)}, 1, 0},
      {"places: a window of many columns", MaxPlacesKernel{.axes = window(1, large)}, 1, 0},
      {"unpooling: many elements", UnpoolKernel{.axes = {{large, {}}}}, 1, 1},
      {"unpooling: many elements that are added", UnpoolKernel{.axes = {{large, {}}}, .adds = true},
       1, 0},
      {"regions: many samples", RegionSampleKernel{sampled(false)}, 1, 0},
      {"regions: gradients of many samples", RegionGradientKernel{sampled(false), {}}, 1, 0},
      {"regions: gradients of many samples for a box", RegionBoxGradientKernel{sampled(true), {}},
       4, 0},
      {"regions: many cells", RegionMaximumKernel{.output = {1 << 11, 1 << 11}}, 1 << 22, 1 << 18},
      {"norm: a window of many rows", norm(1, large, 256, 2), 1, 0},
      {"norm: a window of many columns", norm(1, 1, large, 3), 1, 0},
      {"norm: a window of many slices", norm(large, large, 3, 1), 1, 0},
      {"norm: a window of many rows, scaled", norm(1, large, 256, 7), 1, 0},
      {"data movement: elements far apart",
       map({{.extent = 1 << 20, .stride = 0}, {.extent = 4096, .stride = far}}), 1 << 20, 64},
      {"data movement: rows of one element",
       map({{.extent = 4096, .stride = far}, {.extent = 1, .stride = 1}}), 4096, 64},
      {"data movement: columns with lengths of their own", own_lengths, 1 << 20, 64},
      {"data movement: elements side by side",
       map({{.extent = 1 << 20, .stride = 0}, {.extent = 4096, .stride = 1}}), 1 << 22, 1 << 20},
  };
}

/// How many elements of the output were written when the stop was seen; all where it was not.
std::uint64_t written_before_stop(const KernelRow& row) {
  const std::vector<std::byte> memory(std::size_t{1} << 26, std::byte{1});
  const std::vector<std::span<const std::byte>> inputs(4, memory);
  const std::byte untouched{0xAA};
  const std::uint64_t size = output_element_size(row.kernel);
  std::vector<std::byte> output(row.elements * size, untouched), others(row.elements * 8);
  std::vector<cpu::Destination> destinations(output_count(row.kernel), {others.data(), 0});
  destinations.front().to = output.data();
  try {
    const cpu::Part whole{.begin = 0, .length = row.elements, .step = 0, .count = 1};
    cpu::execute_part(row.kernel, inputs, whole, cpu::Stores::cached, destinations);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).starts_with("stopped after "));
    std::uint64_t written = 0;
    for (std::uint64_t i = 0; i < row.elements; ++i) written += output[i * size] != untouched;
    return written;
  }
  return ~std::uint64_t{0};
}

TEST_CASE("stop: every kind of kernel has a row") {
  std::set<std::size_t> found;
  for (const KernelRow& row : kernel_rows()) found.insert(row.kernel.index());
  std::size_t kind = 0;
#define DMLOP_KERNEL(Kind) \
  CHECK_MESSAGE((found.contains(kind++) || std::is_same_v<Kind, LocalResponseKernel>), #Kind);
#include "ops/kernels.def"
#undef DMLOP_KERNEL
  CHECK(kind == std::variant_size_v<Kernel>);
}

TEST_CASE("stop: a kernel sees that its time is over, however large its windows are") {
  for (const KernelRow& row : kernel_rows()) {
    CAPTURE(row.name);
    const auto start = Clock::now();
    {
      const Deadline over(row.most == 0 ? 0.05 : 1e-9);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(written_before_stop(row) <= row.most);
    }
    CHECK(seconds_since(start) < seconds_max);
  }
}

TEST_CASE("stop: windows larger than what a kernel does at once have their norms") {
  const std::vector<float> one{1};
  const std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(one))};
  struct Row {
    WindowKernel kernel;
    float expected;
  };
  WindowKernel padded = norm(1, 5, 7, 1);
  for (std::size_t i = 1; i < 3; ++i) {
    padded.axes[i].reach =
        Windows{.size = std::uint64_t{1} << 31, .start_padding = std::uint64_t{1} << 30};
  }
  WindowKernel outside = padded;
  std::get<Windows>(outside.axes[1].reach).start_padding = std::uint64_t{1} << 31;
  WindowKernel apart = norm(1, 1 << 11, 1 << 11, 2);
  for (std::size_t i = 1; i < 3; ++i) {
    apart.axes[i].input_extent *= 7;
    std::get<Windows>(apart.axes[i].reach).dilation = 7;
  }
  for (const Row& row :
       {Row{norm(1, 4096, 4096, 2), 4096}, Row{norm(64, 512, 512, 1), 1 << 24},
        Row{norm(1, 1, 1 << 22, 2), 2048}, Row{norm(1, 1 << 22, 1, 2), 2048},
        Row{norm(1, 1024, 1024, 10), 4}, Row{padded, 35}, Row{outside, 0}, Row{apart, 2048}}) {
    float found = -1;
    cpu::execute(row.kernel, inputs, 0, 1, reinterpret_cast<std::byte*>(&found));
    CHECK(found == doctest::Approx(row.expected).epsilon(1e-6));
  }
}

// --- commands

/// A .npy file of zeros that takes no room on the disk.
void write_sparse(const Folder& folder, const std::string& name, const std::string& descr,
                  const std::string& shape, std::uint64_t bytes, bool fortran_order = false) {
  const std::string path = folder.write(name, npy(descr, shape, "", fortran_order));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + bytes);
}

/// A folder with what the commands of the table work on.
class LongFolder : public BatchFolder {
 public:
  LongFolder() {
    constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
    write_sparse(*this, "c.npy", "|u1", "(1048576, 1048576)", 1024 * gibibyte);
    write_sparse(*this, "fortran.npy", "|u1", "(1048576, 1048576)", 1024 * gibibyte, true);
    write_sparse(*this, "plane.npy", "|u1", "(32768, 32768)", gibibyte);
    write_sparse(*this, "plane_fortran.npy", "|u1", "(32768, 32768)", gibibyte, true);
    write_sparse(*this, "big.npy", ">f4", "(32768, 32768)", 4 * gibibyte);
    write("window.json", "{" + window + "}");
    // The output is the input, element for element, of one file against the other.
    write("same.json", "{" + same("plane.npy") + "}");
    write("swap.json", R"({"type": "SLICE1", "desc": {"InputWindowOffsets": [0, 0], )"
                       R"("InputWindowSizes": [1, 1], "InputWindowStrides": [1, 1]}, )"
                       R"("bindings": {"InputTensor": "big.npy", "OutputTensor": "out.npy"}})");
    write("model.json",
          R"({"resources": {"A": {"initialValuesDataType": "FLOAT32", "initialValues": )"
          R"({"valueCount": 500000000, "valueStart": 0, "valueDelta": 1}}}, "dispatchables": {}, )"
          R"("commands": [{"type": "print", "resource": "A"}]})");
  }

  /// A pooling of windows of 2^32 elements that all are one.
  inline static const std::string window =
      R"("type": "LP_POOLING", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
      R"("Sizes": [1, 1, 4194304, 131072], "Strides": [0, 0, 0, 0]}, "Strides": [1, 1], )"
      R"("WindowSize": [4194304, 1024], "StartPadding": [0, 0], "EndPadding": [0, 0], )"
      R"("P": 2}, "bindings": {"InputTensor": "one.npy", "OutputTensor": "window.npy"})";
  static std::string same(const std::string& input) {
    return R"("type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 0], )"
           R"("EndPadding": [0, 0]}, "bindings": {"InputTensor": ")" +
           input + "\"}";
  }
};

struct CommandRow {
  std::string name;
  std::vector<std::string> arguments;
};

constexpr int differ = 1;  // the exit code where an output is not the expected one

std::vector<CommandRow> command_rows() {
  CommandRow many{"check of many files", {"check", "-q"}};
  for (int i = 0; i < 20'000; ++i) many.arguments.emplace_back("window.json");
  return {
      {"run: a large window", {"run", "window.json", "--cpu"}},
      {"run: one thread", {"run", "window.json", "--cpu", "--threads", "1"}},
      {"run: against a golden file in Fortran order",
       {"run", "same.json", "--cpu", "--expect", "plane_fortran.npy"}},
      {"run: a big-endian input", {"run", "swap.json", "--cpu"}},
      {"run: a model", {"run", "model.json", "--cpu"}},
      {"run: a model as JSON", {"run", "model.json", "--cpu", "--format", "json"}},
      {"compare: both in C order", {"compare", "c.npy", "c.npy"}},
      {"compare: C order and Fortran order", {"compare", "c.npy", "fortran.npy"}},
      {"compare: a heat map", {"compare", "plane.npy", "plane.npy", "--heatmap", "map.png"}},
      {"compare: a heat map in Fortran order",
       {"compare", "plane.npy", "plane_fortran.npy", "--heatmap", "map.png"}},
      {"inspect", {"inspect", "c.npy"}},
      many,
      {"convert", {"convert", "swap.json", "--to-model", "made.json"}},
      {"bench", {"bench", "window.json", "--cpu"}},
      {"batch: a large window", {"batch", "window.jsonl", "--cpu", "--results", "r.jsonl"}},
      {"batch: digests", {"batch", "digest.jsonl", "--cpu", "--results", "r.jsonl"}},
      {"batch: Fortran order", {"batch", "fortran.jsonl", "--cpu", "--results", "r.jsonl"}},
      {"batch: a big-endian input", {"batch", "swap.jsonl", "--cpu"}},
  };
}

std::map<std::string, std::string> long_jobs() {
  const std::string slice =
      R"("type": "SLICE1", "desc": {"InputWindowOffsets": [0, 0], "InputWindowSizes": [1, 1], )"
      R"("InputWindowStrides": [1, 1]}, "bindings": {"InputTensor": )";
  return {
      {"window", R"({"id": "window", )" + LongFolder::window + "}"},
      {"digest", R"({"id": "digest", "expect": "one.npy", )" + slice + R"("plane.npy"}})"},
      {"fortran", R"({"id": "fortran", "expect": "plane_fortran.npy", )" +
                      LongFolder::same("plane.npy") + "}"},
      {"swap", R"({"id": "swap", "expect": "one.npy", )" + slice +
                   R"("big.npy", "OutputTensor": "out.npy"}})"},
  };
}

TEST_CASE("stop: a command ends soon after INT or TERM, whatever it is doing") {
  if (is_windows_program()) {
    MESSAGE("SKIPPED: Windows has no such signals");
    return;
  }
  const LongFolder folder;
  for (const auto& [id, job] : long_jobs()) folder.write(id + ".jsonl", job + "\n");
  const std::string before = folder.list();
  std::mt19937 random(std::random_device{}());
  for (const CommandRow& row : command_rows()) {
    for (const int signal : {SIGINT, SIGTERM}) {
      const auto delay = std::chrono::milliseconds(50 + random() % 1000);
      CAPTURE(row.name);
      CAPTURE(delay.count());
      std::vector<std::string> command{program_path()};
      command.insert(command.end(), row.arguments.begin(), row.arguments.end());
      Process process(command, {.folder = folder.path()});
      std::this_thread::sleep_for(delay);
      if (!process.is_running()) {  // a machine faster than any; at least it did what is meant
        CHECK(process.wait().code <= differ);
        continue;
      }
      const auto sent = Clock::now();
      process.send(signal);
      const auto result = process.wait();
      CHECK(seconds_since(sent) < seconds_max);
      CHECK(result.code == 128 + signal);
      CHECK(folder.list().find(".tmp") == std::string::npos);
      std::filesystem::remove(folder / "r.jsonl");
    }
  }
  CHECK(folder.list() == before);
}

TEST_CASE("stop: a run on a GPU ends soon after INT, and what it computes with stays until then") {
  if (is_windows_program()) {
    MESSAGE("SKIPPED: Windows has no such signals");
    return;
  }
  if (program_gpu().empty()) return;
  const BatchFolder folder;
  constexpr std::uint64_t side = 1024;
  write_sparse(folder, "m.npy", "<f4", "(1, 1, 1024, 1024)", side * side * 4);
  folder.write("op.json",
               R"({"type": "GEMM", "desc": {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, )"
               R"("Beta": 0}, "bindings": {"ATensor": "m.npy", "BTensor": "m.npy", )"
               R"("OutputTensor": "out.npy"}})");
  const std::string before = folder.list();
  std::size_t stopped = 0;
  for (const int milliseconds : {100, 200, 400}) {
    CAPTURE(milliseconds);
    Process process({program_path(), "run", "op.json", "--device", program_gpu()},
                    {.folder = folder.path()});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    if (!process.is_running()) continue;  // a fast GPU
    const auto sent = Clock::now();
    process.send(SIGINT);
    const auto result = process.wait();
    CHECK(seconds_since(sent) < 6 * seconds_max);  // the dispatch in flight is waited for
    CHECK(result.code == 128 + SIGINT);
    CHECK(folder.list() == before);
    ++stopped;
  }
  MESSAGE("stopped " << stopped << " runs");
}

TEST_CASE("stop: --timeout ends a job soon, whatever it is doing") {
  const LongFolder folder;
  for (const auto& [id, job] : long_jobs()) {
    if (id == "digest") continue;  // may be done before
    CAPTURE(id);
    folder.write("jobs.jsonl", job + "\n");
    const auto start = Clock::now();
    const auto outcome = folder.run({"jobs.jsonl", "--timeout", "0.3"});
    CHECK(seconds_since(start) < 0.3 + seconds_max);
    CHECK(outcome.status(id) == "ERROR");
    CHECK(contains(outcome.record(id).at("message"), "stopped after 0.3 s (--timeout)"));
    std::filesystem::remove(folder / "records.jsonl");
  }
}

}  // namespace
}  // namespace dmlop::test::stop_test
