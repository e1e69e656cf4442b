// An application of DirectML behind the layer: layer_host.exe MODE, in a folder with the layer as
// DirectML.dll and fake_directml.cpp as DirectML.real.dll. It ends with 0 if all is as it should
// be.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graph/from_description.hpp"
#include "layer/dll/directml.hpp"
#include "ops/operator.hpp"
#include "struct_builder.hpp"

namespace {

using namespace dmlop;
using namespace dmlop::layer;
namespace fs = std::filesystem;

std::atomic<int> failures{0};

void check(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

template <typename T>
void check_equal(const T& is, const T& expected, const std::string& what) {
  check(is == expected, what);
  if constexpr (std::is_same_v<T, std::string>) {
    if (is != expected) std::printf("--- is\n%s--- must be\n%s---\n", is.c_str(), expected.c_str());
  }
}

template <typename Function>
Function function_of(HMODULE module, const char* name) {
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
}

fs::path folder() {
  std::wstring path(1024, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return fs::path(path).parent_path();
}

const HMODULE layer_module = LoadLibraryW((folder() / "DirectML.dll").c_str());

void refuse_with(HRESULT result) {
  static const auto verdict =
      function_of<void (*)(HRESULT)>(GetModuleHandleW(L"DirectML.real.dll"), "fake_verdict");
  verdict(result);
}

long living() {
  return function_of<long (*)()>(GetModuleHandleW(L"DirectML.real.dll"), "fake_living")();
}

struct Releaser {
  void operator()(IUnknown* object) const { object->Release(); }
};
template <typename T>
using Owned = std::unique_ptr<T, Releaser>;

/// By ordinal, as ONNX Runtime does.
Owned<IDMLDevice1> make_device(INT flags = 0, IUnknown* d3d12_device = nullptr) {
  const auto create = reinterpret_cast<CreateDevice1>(
      reinterpret_cast<void*>(GetProcAddress(layer_module, MAKEINTRESOURCEA(2))));
  void* made = nullptr;
  check_equal<HRESULT>(create(d3d12_device, flags, 0x2000, iid_device1, &made), S_OK,
                       "a device is made");
  return Owned<IDMLDevice1>(static_cast<IDMLDevice1*>(made));
}

Owned<IDMLOperator> create(IDMLDevice* device, Address desc, HRESULT expected = S_OK) {
  void* made = nullptr;
  const HRESULT result =
      device->CreateOperator(reinterpret_cast<const void*>(desc), iid_operator, &made);
  check_equal(result, expected, "the result of CreateOperator");
  return Owned<IDMLOperator>(static_cast<IDMLOperator*>(made));
}

Description example(const std::string& name) {
  Diagnostics findings;
  auto description = read_description(
      "", "{\"type\": \"" + name + "\", \"desc\": " + find_spec(name)->example + "}", {}, findings);
  check_description(*description, findings);
  check(findings.empty(), "the example of " + name);
  return std::move(*description);
}

/// What the layer wrote since the last call.
std::string new_log() {
  static std::size_t read = 0;
  std::ifstream file(folder() / "dmlop-layer.log", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string added = text.substr(std::min(read, text.size()));
  read = text.size();
  return added;
}

/// A PADDING whose output is too large.
Address wrong_padding(test::StructBuilder& builder) {
  const Address desc = builder.build(example("PADDING"));
  reinterpret_cast<std::uint32_t*>(builder.buffers[1]->sizes)[3] = 11;
  builder.buffers[1]->total_size_in_bytes = 1024;
  return desc;
}

constexpr const char* padding_report =
    "CreateOperator: DML_OPERATOR_PADDING refused (80070057 E_INVALIDARG)\n"
    "  OutputTensor.Sizes[3] is 11, must be 10\n"
    "    rule: OutputTensor.Sizes[3] == InputTensor.Sizes[3] + StartPadding[3] + EndPadding[3], "
    "where 4 + 2 + 4 = 10\n"
    "    help: write 10\n";

void test_refusals() {
  const auto device = make_device();
  test::StructBuilder builder, relu_builder;
  const Address desc = wrong_padding(builder);
  const Address relu = relu_builder.build(example("ACTIVATION_RELU"));
  create(device.get(), desc);
  create(device.get(), relu);
  check_equal<std::string>(new_log(), "", "nothing is said while calls succeed");

  refuse_with(E_INVALIDARG);
  create(device.get(), desc, E_INVALIDARG);
  check_equal<std::string>(new_log(), padding_report, "CreateOperator");
  create(device.get(), desc, E_INVALIDARG);
  check_equal<std::string>(new_log(), "", "the same is said once");
  create(device.get(), relu, E_INVALIDARG);
  check(new_log().starts_with(
            "CreateOperator: DML_OPERATOR_ACTIVATION_RELU refused (80070057 E_INVALIDARG)\n"
            "  the rules of DirectML 1.15.4 that dmlop knows find nothing wrong\n  {\"type\":"),
        "a refusal without a reason shows the description");

  refuse_with(S_OK);
  const auto padding = create(device.get(), desc);
  refuse_with(E_OUTOFMEMORY);
  void* made = nullptr;
  check_equal<HRESULT>(device->CompileOperator(padding.get(), 0, iid_compiled_operator, &made),
                       E_OUTOFMEMORY, "the result of CompileOperator");
  check(new_log().starts_with("CompileOperator: DML_OPERATOR_PADDING failed (8007000E "
                              "E_OUTOFMEMORY)\n  OutputTensor.Sizes[3] is 11, must be 10\n"),
        "CompileOperator");
  device->CompileOperator(reinterpret_cast<IDMLOperator*>(0x20), 0, iid_compiled_operator, &made);
  check_equal<std::string>(new_log(),
                           "CompileOperator: failed (8007000E E_OUTOFMEMORY)\n  op is "
                           "0x0000000000000020, which is not an operator of this device\n",
                           "CompileOperator of a wild pointer");
  IDMLCompiledOperator* none[] = {nullptr};
  device->CreateOperatorInitializer(1, none, iid_operator_initializer, &made);
  check_equal<std::string>(new_log(),
                           "CreateOperatorInitializer: failed (8007000E E_OUTOFMEMORY)\n"
                           "  operators[0] is null\n",
                           "CreateOperatorInitializer");
  UINT level = 0;
  device->CheckFeatureSupport(1, 8, &level, 4, &level);
  check_equal<std::string>(new_log(),
                           "CheckFeatureSupport: DML_FEATURE_FEATURE_LEVELS refused (80070057 "
                           "E_INVALIDARG)\n  featureQueryDataSize is 8, must be 16\n",
                           "CheckFeatureSupport");
  refuse_with(S_OK);
}

void test_pointers() {
  const auto device = make_device();
  test::StructBuilder builder;
  const Address desc = builder.build(example("PADDING"));
  builder.buffers[0]->strides = 0x10;
  create(device.get(), desc);
  check_equal<std::string>(
      new_log(),
      "CreateOperator: DirectML is given pointers that cannot be read, and may crash\n"
      "  InputTensor.Strides is 0x0000000000000010, where 4 elements cannot be read\n"
      "    rule: it points to as many elements as InputTensor.DimensionCount says\n",
      "what cannot be read is said before the call");
  refuse_with(E_INVALIDARG);
  create(device.get(), 0, E_INVALIDARG);
  check_equal<std::string>(new_log(),
                           "CreateOperator: refused (80070057 E_INVALIDARG)\n"
                           "  desc is null, must point to a DML_OPERATOR_DESC\n",
                           "null");
  builder.buffers[0]->strides = 0;
  builder.buffers[0]->dimension_count = ~0U;
  create(device.get(), desc, E_INVALIDARG);
  check_equal<std::string>(new_log(),
                           "CreateOperator: refused (80070057 E_INVALIDARG)\n"
                           "  InputTensor.DimensionCount is 4294967295, must be at most 8\n",
                           "a count of four billion");
  refuse_with(S_OK);
}

/// x -> relu -> y.
struct OneNode {
  OneNode(IDMLDevice* device, test::StructBuilder& builder)
      : relu(create(device, builder.build(example("ACTIVATION_RELU")))) {
    const Address node = builder.keep(OperatorNodeDesc{reinterpret_cast<Address>(relu.get()), 0});
    graph.input_count = graph.output_count = 1;
    graph.node_count = graph.input_edge_count = graph.output_edge_count = 1;
    graph.nodes = builder.keep(TypedDesc{1, node});
    graph.input_edges = builder.keep(TypedDesc{1, builder.keep(InputEdgeDesc{0, 0, 0, 0})});
    graph.output_edges = builder.keep(TypedDesc{2, builder.keep(OutputEdgeDesc{0, 0, 0, 0})});
  }

  HRESULT compile(IDMLDevice1* device) {
    void* made = nullptr;
    const HRESULT result = device->CompileGraph(&graph, 0, iid_compiled_operator, &made);
    if (made != nullptr) static_cast<IUnknown*>(made)->Release();
    return result;
  }

  Owned<IDMLOperator> relu;
  GraphDesc graph{};
};

void test_graphs() {
  const auto device = make_device();
  test::StructBuilder builder;
  OneNode one(device.get(), builder);
  check_equal<HRESULT>(one.compile(device.get()), S_OK, "a graph is compiled");
  check_equal<std::string>(new_log(), "", "nothing is said while calls succeed");
  refuse_with(E_INVALIDARG);
  one.compile(device.get());
  check_equal<std::string>(new_log(),
                           "CompileGraph: refused (80070057 E_INVALIDARG)\n"
                           "  the rules of DirectML 1.15.4 that dmlop knows find nothing wrong\n"
                           "  help: DMLOP_CAPTURE=FOLDER writes the graph, which dmlop check and "
                           "dmlop run take; it has 1 node\n",
                           "a graph without a mistake");
  one.graph.input_edge_count = 0;
  one.compile(device.get());
  const std::string log = new_log();
  check(log.starts_with("CompileGraph: refused (80070057 E_INVALIDARG)\n  node \"node 0\" "
                        "(DML_OPERATOR_ACTIVATION_RELU): "),
        "an input without an edge: " + log);
  one.relu.reset();
  one.compile(device.get());
  check(new_log().find("which is not an operator") != std::string::npos,
        "an operator that was released");
  refuse_with(S_OK);
}

/// Compiles an operator and makes binding tables for it.
void test_binding_tables(IDMLDevice* device, IDMLOperator* operation, bool is_fake) {
  void* made = nullptr;
  check_equal<HRESULT>(device->CompileOperator(operation, 0, iid_compiled_operator, &made), S_OK,
                       "an operator is compiled");
  const Owned<IUnknown> compiled(static_cast<IUnknown*>(made));
  const auto report_of = [&](BindingTableDesc desc) {
    if (is_fake) refuse_with(E_INVALIDARG);
    void* table = nullptr;
    const HRESULT result = device->CreateBindingTable(&desc, IID_IUnknown, &table);
    if (table != nullptr) static_cast<IUnknown*>(table)->Release();
    if (is_fake) refuse_with(S_OK);
    check(FAILED(result), "a binding table is refused");
    return new_log();
  };
  const auto address = reinterpret_cast<Address>(compiled.get());
  const std::string few = report_of({address, 0x1000, 0x1000, 0});
  check(few.starts_with("CreateBindingTable: refused (80070057 E_INVALIDARG)\n"
                        "  SizeInDescriptors is 0, must be at least "),
        "too few descriptors: " + few);
  if (!is_fake) return;
  check_equal<std::string>(report_of({0x20, 0x1000, 0x1000, 4}),
                           "CreateBindingTable: refused (80070057 E_INVALIDARG)\n"
                           "  Dispatchable is 0x0000000000000020, which is neither a compiled "
                           "operator nor an initializer of this device\n",
                           "a wild dispatchable");
  check_equal<std::string>(report_of({address, 0, 0x1000, 4}),
                           "CreateBindingTable: refused (80070057 E_INVALIDARG)\n"
                           "  CPUDescriptorHandle is null\n",
                           "no handle");
}

void test_bindings() {
  const auto device = make_device();
  test::StructBuilder builder;
  const auto relu = create(device.get(), builder.build(example("ACTIVATION_RELU")));
  test_binding_tables(device.get(), relu.get(), true);
}

/// Calls that DirectML makes of its own device.
void test_inside() {
  const auto device = make_device();
  test::StructBuilder builder;
  OneNode one(device.get(), builder);
  function_of<void (*)(bool)>(GetModuleHandleW(L"DirectML.real.dll"), "fake_calls_itself")(true);
  refuse_with(E_OUTOFMEMORY);
  one.compile(device.get());
  check_equal<std::string>(
      new_log(),
      "CompileGraph: failed (8007000E E_OUTOFMEMORY)\n"
      "  There is not enough memory: of the GPU, of its budget, or of the process.\n"
      "  help: Make the tensors or the batch smaller. dmlop run --device-memory N runs operators "
      "on "
      "tensors that are larger than the memory of the GPU.\n"
      "  help: DMLOP_CAPTURE=FOLDER writes the graph, which dmlop check and dmlop run take; it has "
      "1 node\n"
      "  inside it, DirectML failed to do this:\n"
      "    CompileOperator: failed (8007000E E_OUTOFMEMORY)\n"
      "      op is null, which is not an operator of this device\n",
      "a call inside of another is said with it");
  refuse_with(S_OK);
  one.compile(device.get());
  check_equal<std::string>(new_log(), "", "a call that succeeds");
  function_of<void (*)(bool)>(GetModuleHandleW(L"DirectML.real.dll"), "fake_calls_itself")(false);
  refuse_with(E_FAIL);
  one.compile(device.get());
  const std::string log = new_log();
  check(log.starts_with("CompileGraph: failed (80004005 E_FAIL)\n") &&
            log.find("inside it") == std::string::npos,
        "what failed before is forgotten");
  refuse_with(S_OK);
}

void test_devices() {
  const auto device = make_device();
  const auto old_device = make_device(1);  // another class, of feature level 5_0
  test::StructBuilder builder;
  const Address fold = builder.build(example("FOLD"));
  refuse_with(E_INVALIDARG);
  create(device.get(), fold, E_INVALIDARG);
  check(new_log().find("find nothing wrong") != std::string::npos, "FOLD at 6_4");
  create(old_device.get(), fold, E_INVALIDARG);
  check(new_log().find("6_4") != std::string::npos, "FOLD at 5_0");
  refuse_with(DXGI_ERROR_UNSUPPORTED);
  const auto create_device = function_of<CreateDevice>(layer_module, "DMLCreateDevice");
  void* made = nullptr;
  check_equal<HRESULT>(create_device(nullptr, 0, iid_device, &made), DXGI_ERROR_UNSUPPORTED,
                       "the result of DMLCreateDevice");
  check(new_log().starts_with(
            "DMLCreateDevice: failed (887A0004 DXGI_ERROR_UNSUPPORTED)\n  The device "),
        "DMLCreateDevice");
  refuse_with(S_OK);
}

void test_threads() {
  constexpr int threads = 8, rounds = 200;
  const auto first = make_device();
  const auto second = make_device(1);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      IDMLDevice1* device = i % 2 == 0 ? first.get() : second.get();
      test::StructBuilder builder;
      const Address wrong = wrong_padding(builder);
      for (int round = 0; round < rounds; ++round) {
        OneNode one(device, builder);
        check_equal<HRESULT>(one.compile(device), S_OK, "a graph in a thread");
        if (round % 50 != 0) continue;
        refuse_with(E_INVALIDARG);
        create(device, wrong, E_INVALIDARG);
        refuse_with(S_OK);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  check_equal<std::string>(new_log(), padding_report, "eight threads say it once");
}

void test_capture() {
  const auto device = make_device();
  test::StructBuilder builder;
  OneNode one(device.get(), builder);
  one.compile(device.get());
  create(device.get(), builder.build(example("PADDING")));
  create(device.get(), builder.build(example("PADDING")));
  refuse_with(E_INVALIDARG);
  create(device.get(), wrong_padding(builder), E_INVALIDARG);
  refuse_with(S_OK);
  std::ifstream file(folder() / "captured" / "index.jsonl", std::ios::binary);
  const std::string index{std::istreambuf_iterator<char>(file), {}};
  check_equal<std::string>(
      index,
      "{\"file\":\"operator_0001_ACTIVATION_RELU/op.json\",\"type\":\"DML_OPERATOR_ACTIVATION_"
      "RELU\"}\n"
      "{\"file\":\"graph_0001/graph.bin\",\"nodes\":1}\n"
      "{\"file\":\"operator_0002_PADDING/op.json\",\"type\":\"DML_OPERATOR_PADDING\"}\n"
      "{\"file\":\"operator_0003_PADDING/op.json\",\"type\":\"DML_OPERATOR_PADDING\","
      "\"refused\":\"80070057 E_INVALIDARG\"}\n",
      "the index of what was captured");
}

void test_quiet() {
  const auto device = make_device();
  test::StructBuilder builder;
  refuse_with(E_INVALIDARG);
  create(device.get(), wrong_padding(builder), E_INVALIDARG);
  check(!fs::exists(folder() / "dmlop-layer.log"), "quiet writes no log");
  refuse_with(S_OK);
}

/// A device of Direct3D 12; null if the system has none.
Owned<IUnknown> make_d3d12_device() {
  // {189819f1-1db6-4b57-be54-1821339b85f7}
  constexpr GUID iid_d3d12_device{
      0x189819f1, 0x1db6, 0x4b57, {0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7}};
  using Create = HRESULT(WINAPI*)(IUnknown*, INT, REFIID, void**);
  const HMODULE module = LoadLibraryW(L"d3d12.dll");
  const auto make = module == nullptr ? nullptr : function_of<Create>(module, "D3D12CreateDevice");
  constexpr INT level_11_0 = 0xb000;
  void* made = nullptr;
  if (make == nullptr || FAILED(make(nullptr, level_11_0, iid_d3d12_device, &made))) return nullptr;
  return Owned<IUnknown>(static_cast<IUnknown*>(made));
}

/// Microsoft's DirectML.dll, which is there as DirectML.real.dll. Returns the reason to skip it.
std::string test_real() {
  const wchar_t* real = _wgetenv(L"DMLOP_REAL_DIRECTML");
  if (real == nullptr) return "DirectML.real.dll is ours; DMLOP_REAL_DIRECTML is not set";
  const auto d3d12_device = make_d3d12_device();
  if (d3d12_device == nullptr) return "there is no device of Direct3D 12";
  const auto device = make_device(0, d3d12_device.get());
  if (device == nullptr) return "";
  std::size_t accepted = 0;
  for (const std::string& name : specified_operators()) {
    test::StructBuilder builder;
    void* made = nullptr;
    const Address desc = builder.build(example(name));
    const HRESULT result =
        device->CreateOperator(reinterpret_cast<const void*>(desc), iid_operator, &made);
    const Owned<IUnknown> operation(static_cast<IUnknown*>(made));
    const std::string log = new_log();
    check(FAILED(result) != log.empty(), name + " is reported if, and only if, it fails");
    if (FAILED(result)) std::printf("%s", log.c_str());
    accepted += SUCCEEDED(result) ? 1 : 0;
  }
  std::printf("%zu of 177 examples are accepted\n", accepted);
  test::StructBuilder builder;
  create(device.get(), wrong_padding(builder), E_INVALIDARG);
  check_equal<std::string>(new_log(), padding_report, "CreateOperator of Microsoft's DirectML");
  OneNode one(device.get(), builder);
  test_binding_tables(device.get(), one.relu.get(), false);
  check_equal<HRESULT>(one.compile(device.get()), S_OK, "a graph is compiled");
  one.graph.input_edge_count = 0;
  check(FAILED(one.compile(device.get())), "a graph without an edge is refused");
  const std::string log = new_log();
  check(log.starts_with("CompileGraph: refused ("), "CompileGraph of Microsoft's DirectML");
  std::printf("%s", log.c_str());
  return "";
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  check(layer_module != nullptr, "the layer loads");
  if (failures > 0) return 1;
  fs::remove(folder() / "dmlop-layer.log");
  fs::remove_all(folder() / "captured");
  const std::vector<std::pair<std::string, void (*)()>> tests{
      {"refusals", test_refusals}, {"pointers", test_pointers}, {"graphs", test_graphs},
      {"inside", test_inside},     {"bindings", test_bindings}, {"devices", test_devices},
      {"threads", test_threads},   {"capture", test_capture},   {"quiet", test_quiet}};
  if (mode == "real") {
    if (const std::string reason = test_real(); !reason.empty()) {
      std::printf("SKIPPED: %s\n", reason.c_str());
      return 77;
    }
    std::printf(failures == 0 ? "real: all is right\n" : "real: failed\n");
    std::fflush(stdout);
    return failures == 0 ? 0 : 1;
  }
  bool has_run = false;
  for (const auto& [name, test] : tests) {
    if (name != mode) continue;
    test();
    has_run = true;
  }
  check(has_run, "a mode that is known");
  if (has_run) check_equal<long>(living(), 0, "all objects are released");
  std::printf(failures == 0 ? "%s: all is right\n" : "%s: failed\n", mode.c_str());
  return failures == 0 ? 0 : 1;
}
