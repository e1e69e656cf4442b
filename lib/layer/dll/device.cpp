#include "layer/dll/device.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "layer/dll/objects.hpp"
#include "layer/dll/reports.hpp"
#include "layer/explain.hpp"
#include "layer/hresults.hpp"
#include "layer/memory_reader.hpp"

namespace dmlop::layer {
namespace {

// The places of methods in the table of IDMLDevice1, behind those of IUnknown and IDMLObject.
constexpr std::size_t check_feature_support_slot = 7;
constexpr std::size_t create_operator_slot = 8;
constexpr std::size_t compile_operator_slot = 9;
constexpr std::size_t create_initializer_slot = 10;
constexpr std::size_t create_binding_table_slot = 12;
constexpr std::size_t compile_graph_slot = 17;

using CheckFeatureSupport = HRESULT(STDMETHODCALLTYPE*)(IDMLDevice*, INT, UINT, const void*, UINT,
                                                        void*);
using CreateOperator = HRESULT(STDMETHODCALLTYPE*)(IDMLDevice*, const void*, REFIID, void**);
using CompileOperator = HRESULT(STDMETHODCALLTYPE*)(IDMLDevice*, IDMLOperator*, INT, REFIID,
                                                    void**);
using CreateInitializer = HRESULT(STDMETHODCALLTYPE*)(IDMLDevice*, UINT,
                                                      IDMLCompiledOperator* const*, REFIID, void**);
using CreateBindingTable = HRESULT(STDMETHODCALLTYPE*)(IDMLDevice*, const void*, REFIID, void**);
using CompileGraph = HRESULT(STDMETHODCALLTYPE*)(IDMLDevice*, const void*, INT, REFIID, void**);

/// The methods of one table before they were replaced.
struct Originals {
  void** table = nullptr;
  CheckFeatureSupport check_feature_support = nullptr;
  CreateOperator create_operator = nullptr;
  CompileOperator compile_operator = nullptr;
  CreateInitializer create_initializer = nullptr;
  CreateBindingTable create_binding_table = nullptr;
  CompileGraph compile_graph = nullptr;
};

// A DLL has few classes of devices: with and without the debug layer.
std::array<std::atomic<const Originals*>, 16> watched;

// The tables of what can be dispatched: few, too.
std::array<std::atomic<void**>, 16> dispatchable_tables;

std::mutex watching;
std::shared_mutex levels_mutex;

std::map<const void*, FeatureLevel>& levels() {
  static auto* const only = new std::map<const void*, FeatureLevel>;
  return *only;
}

void** table_of(const void* object) {
  return *static_cast<void** const*>(object);
}

const Originals* find_originals(void** table) {
  for (const auto& each : watched) {
    const Originals* const originals = each.load(std::memory_order_acquire);
    if (originals == nullptr) return nullptr;
    if (originals->table == table) return originals;
  }
  return nullptr;
}

/// The methods that the layer replaced in a device's table. A table into which somebody copied the
/// methods of the layer has those of the first one.
const Originals& originals_of(const void* device) {
  const Originals* const found = find_originals(table_of(device));
  return found != nullptr ? *found : *watched[0].load(std::memory_order_acquire);
}

FeatureLevel level_of(const void* device) {
  const std::shared_lock lock(levels_mutex);
  const auto found = levels().find(device);
  return found == levels().end() ? newest_feature_level : found->second;
}

Address address_of(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}

std::uint32_t code_of(HRESULT result) {
  return static_cast<std::uint32_t>(result);
}

/// Says what DirectML is about to read and cannot. It may not come back from that. Returns whether
/// there is anything.
bool warn_of_unreadable(const std::string& call, const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings) {
    if (finding.kind != ErrorKind::io_failed) continue;
    text += "  " + finding.message + "\n";
    if (!finding.rule.empty()) text += "    rule: " + finding.rule + "\n";
  }
  if (text.empty()) return false;
  report(call + ": DirectML is given pointers that cannot be read, and may crash\n" + text);
  return true;
}

/// A call of the application, or one that DirectML makes of its own device while it serves one.
/// Only calls of the application are reported and captured; what failed inside of one that fails is
/// said with it.
class Call {
 public:
  Call() {
    if (depth_++ == 0) inside_.clear();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { --depth_; }

  bool is_inside_another() const { return depth_ > 1; }

  void report_refusal(const Refusal& refusal) const {
    if (is_inside_another()) {
      if (inside_.size() < inside_bytes_max) inside_ += text_of(refusal);
      return;
    }
    std::string text = text_of(refusal);
    if (!inside_.empty()) text += "  inside it, DirectML failed to do this:\n" + indented(inside_);
    report(text);
  }

 private:
  static constexpr std::size_t inside_bytes_max = 10'000;

  static std::string indented(std::string_view lines) {
    std::string text;
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n') + 1;
      text += "    " + std::string(lines.substr(0, end));
      lines.remove_prefix(end);
    }
    return text;
  }

  static thread_local int depth_;
  static thread_local std::string inside_;
};

thread_local int Call::depth_ = 0;
thread_local std::string Call::inside_;

/// Remembers what an object looks like that has binding properties.
void note_dispatchable(void* const* made) {
  IDMLDispatchable* dispatchable = nullptr;
  if (made == nullptr || *made == nullptr) return;
  if (FAILED(static_cast<IUnknown*>(*made)->QueryInterface(
          iid_dispatchable, reinterpret_cast<void**>(&dispatchable))))
    return;
  void** const table = table_of(dispatchable);
  dispatchable->Release();
  for (auto& each : dispatchable_tables) {
    void** expected = nullptr;
    if (each.compare_exchange_strong(expected, table) || expected == table) return;
  }
}

HRESULT STDMETHODCALLTYPE create_operator(IDMLDevice* device, const void* desc, REFIID riid,
                                          void** made) {
  const Call call;
  std::optional<ReadOperator> read;
  Diagnostics findings;
  quietly([&] {
    read = read_operator(address_of(desc), findings);
    warn_of_unreadable("CreateOperator", findings);
  });
  const HRESULT result = originals_of(device).create_operator(device, desc, riid, made);
  quietly([&] {
    if (FAILED(result)) {
      Refusal refusal{
          .call = "CreateOperator", .subject = "", .code = code_of(result), .findings = findings};
      if (read) explain_operator(*read, level_of(device), refusal);
      call.report_refusal(refusal);
      if (read && !call.is_inside_another()) capture(*read, level_of(device), refusal.code);
    } else if (read && made != nullptr && *made != nullptr) {
      if (!call.is_inside_another()) capture(*read, level_of(device), 0);
      remember_operator(*made, std::move(*read));
    }
  });
  return result;
}

HRESULT STDMETHODCALLTYPE compile_operator(IDMLDevice* device, IDMLOperator* operation, INT flags,
                                           REFIID riid, void** made) {
  const Call call;
  // Before the call, which may end with the operator released.
  std::shared_ptr<const ReadOperator> read;
  quietly([&] { read = find_operator_object(address_of(operation)); });
  const HRESULT result =
      originals_of(device).compile_operator(device, operation, flags, riid, made);
  if (SUCCEEDED(result)) return note_dispatchable(made), result;
  quietly([&] {
    Refusal refusal{
        .call = "CompileOperator", .subject = "", .code = code_of(result), .findings = {}};
    if (read != nullptr) {
      explain_operator(*read, level_of(device), refusal);
    } else {
      refusal.findings.push_back(
          {.message = "op is " +
                      (operation == nullptr ? "null" : hex_address(address_of(operation))) +
                      ", which is not an operator of this device"});
    }
    call.report_refusal(refusal);
  });
  return result;
}

HRESULT STDMETHODCALLTYPE create_initializer(IDMLDevice* device, UINT count,
                                             IDMLCompiledOperator* const* operators, REFIID riid,
                                             void** made) {
  const Call call;
  const HRESULT result =
      originals_of(device).create_initializer(device, count, operators, riid, made);
  if (SUCCEEDED(result)) return note_dispatchable(made), result;
  quietly([&] {
    Refusal refusal{.call = "CreateOperatorInitializer",
                    .subject = "",
                    .code = code_of(result),
                    .findings = {}};
    MemoryReader memory(refusal.findings);
    constexpr std::uint32_t operators_max = 1'000'000;
    const auto list = memory.list<Address>(address_of(operators), count, "operators",
                                           "operatorCount", operators_max);
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      if ((*list)[i] == 0) memory.refuse("operators[" + std::to_string(i) + "] is null");
    }
    call.report_refusal(refusal);
  });
  return result;
}

/// What DirectML.h says of a feature: the sizes of its structs.
struct Feature {
  const char* name;
  UINT query_size;
  UINT data_size;
};
constexpr std::array features{Feature{"DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT", 4, 4},
                              Feature{"DML_FEATURE_FEATURE_LEVELS", 16, 4}};

void explain_feature(INT feature, UINT query_size, const void* query, UINT data_size,
                     const void* data, Refusal& refusal) {
  const auto refuse = [&](std::string message) {
    refusal.findings.push_back({.message = std::move(message)});
  };
  if (feature < 0 || feature >= static_cast<INT>(features.size()))
    return refuse("feature is " + std::to_string(feature) + ", which is no DML_FEATURE");
  const Feature& known = features[static_cast<std::size_t>(feature)];
  refusal.subject = known.name;
  const auto check = [&](const char* name, UINT size, UINT expected, const void* pointer) {
    if (size != expected)
      refuse(std::string(name) + "Size is " + std::to_string(size) + ", must be " +
             std::to_string(expected));
    if (pointer == nullptr) refuse(std::string(name) + " is null");
  };
  check("featureQueryData", query_size, known.query_size, query);
  check("featureSupportData", data_size, known.data_size, data);
}

HRESULT STDMETHODCALLTYPE check_feature_support(IDMLDevice* device, INT feature, UINT query_size,
                                                const void* query, UINT data_size, void* data) {
  const Call call;
  const HRESULT result = originals_of(device).check_feature_support(device, feature, query_size,
                                                                    query, data_size, data);
  if (SUCCEEDED(result)) return result;
  quietly([&] {
    Refusal refusal{
        .call = "CheckFeatureSupport", .subject = "", .code = code_of(result), .findings = {}};
    explain_feature(feature, query_size, query, data_size, data, refusal);
    call.report_refusal(refusal);
  });
  return result;
}

HRESULT STDMETHODCALLTYPE compile_graph(IDMLDevice* device, const void* desc, INT flags,
                                        REFIID riid, void** made) {
  const Call call;
  std::optional<Graph> graph;
  Diagnostics findings;
  quietly([&] {
    graph = read_graph_desc(address_of(desc), find_operator_object, findings);
    warn_of_unreadable("CompileGraph", findings);
  });
  const HRESULT result = originals_of(device).compile_graph(device, desc, flags, riid, made);
  if (SUCCEEDED(result)) note_dispatchable(made);
  quietly([&] {
    if (FAILED(result)) {
      Refusal refusal{
          .call = "CompileGraph", .subject = "", .code = code_of(result), .findings = findings};
      if (graph) explain_graph(*graph, level_of(device), refusal);
      call.report_refusal(refusal);
      if (graph && !call.is_inside_another()) capture(*graph, level_of(device), refusal.code);
    } else if (graph && !call.is_inside_another()) {
      capture(*graph, level_of(device), 0);
    }
  });
  return result;
}

/// Whether an address is that of an object which was noted; it may point anywhere.
bool is_dispatchable(Address address) {
  void** table = nullptr;
  return copy_memory(address, std::as_writable_bytes(std::span(&table, 1))) && table != nullptr &&
         std::ranges::any_of(dispatchable_tables, [&](const auto& each) { return each == table; });
}

void explain_binding_table(const void* desc, Diagnostics& findings) {
  if (desc == nullptr) return;  // an empty table is allowed
  MemoryReader memory(findings);
  const auto table =
      memory.read<BindingTableDesc>(address_of(desc), "desc", "DML_BINDING_TABLE_DESC");
  if (!table) return;
  if (!is_dispatchable(table->dispatchable))
    return memory.refuse(
        "Dispatchable is " +
        (table->dispatchable == 0 ? "null" : hex_address(table->dispatchable)) +
        ", which is neither a compiled operator nor an initializer of this device");
  BindingProperties needed{};
  reinterpret_cast<IDMLDispatchable*>(table->dispatchable)->GetBindingProperties(&needed);
  if (table->size_in_descriptors < needed.required_descriptor_count)
    memory.refuse("SizeInDescriptors is " + std::to_string(table->size_in_descriptors) +
                      ", must be at least " + std::to_string(needed.required_descriptor_count),
                  "SizeInDescriptors >= GetBindingProperties().RequiredDescriptorCount");
  if (table->cpu_descriptor_handle == 0 && needed.required_descriptor_count > 0)
    memory.refuse("CPUDescriptorHandle is null");
  if (table->gpu_descriptor_handle == 0 && needed.required_descriptor_count > 0)
    memory.refuse("GPUDescriptorHandle is null");
}

HRESULT STDMETHODCALLTYPE create_binding_table(IDMLDevice* device, const void* desc, REFIID riid,
                                               void** made) {
  const Call call;
  const HRESULT result = originals_of(device).create_binding_table(device, desc, riid, made);
  if (SUCCEEDED(result)) return result;
  quietly([&] {
    Refusal refusal{
        .call = "CreateBindingTable", .subject = "", .code = code_of(result), .findings = {}};
    explain_binding_table(desc, refusal.findings);
    call.report_refusal(refusal);
  });
  return result;
}

/// Puts a method into a table that may not be written.
template <typename Method>
void replace(void** slot, Method method) {
  DWORD before = 0;
  if (VirtualProtect(slot, sizeof(void*), PAGE_READWRITE, &before) == 0) return;
  std::atomic_ref<void*>(*slot).store(reinterpret_cast<void*>(method));
  VirtualProtect(slot, sizeof(void*), before, &before);
}

void watch_table(void** table, bool has_graphs) {
  const std::scoped_lock lock(watching);
  if (find_originals(table) != nullptr) return;
  const auto place =
      std::ranges::find_if(watched, [](const auto& each) { return each.load() == nullptr; });
  if (place == watched.end()) return;
  auto* originals = new Originals{
      .table = table,
      .check_feature_support =
          reinterpret_cast<CheckFeatureSupport>(table[check_feature_support_slot]),
      .create_operator = reinterpret_cast<CreateOperator>(table[create_operator_slot]),
      .compile_operator = reinterpret_cast<CompileOperator>(table[compile_operator_slot]),
      .create_initializer = reinterpret_cast<CreateInitializer>(table[create_initializer_slot]),
      .create_binding_table =
          reinterpret_cast<CreateBindingTable>(table[create_binding_table_slot]),
      .compile_graph =
          has_graphs ? reinterpret_cast<CompileGraph>(table[compile_graph_slot]) : nullptr};
  place->store(originals, std::memory_order_release);
  replace(&table[check_feature_support_slot], &check_feature_support);
  replace(&table[create_operator_slot], &create_operator);
  replace(&table[compile_operator_slot], &compile_operator);
  replace(&table[create_initializer_slot], &create_initializer);
  replace(&table[create_binding_table_slot], &create_binding_table);
  if (has_graphs) replace(&table[compile_graph_slot], &compile_graph);
}

/// Asks the device for its feature level.
void find_level(IDMLDevice* device) {
  std::array<std::uint32_t, feature_levels.size()> asked{};
  for (std::size_t i = 0; i < asked.size(); ++i)
    asked[i] =
        static_cast<std::uint32_t>(feature_levels[i].major << 12 | feature_levels[i].minor << 8);
  struct {
    UINT count;
    const std::uint32_t* levels;
  } const query{static_cast<UINT>(asked.size()), asked.data()};
  std::uint32_t level = 0;
  if (FAILED(device->CheckFeatureSupport(1, sizeof(query), &query, sizeof(level), &level))) return;
  const std::unique_lock lock(levels_mutex);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == level) levels()[device] = feature_levels[i];
  }
}

}  // namespace

void watch_device(IUnknown* made) {
  for (const GUID* iid : {&iid_device1, &iid_device}) {
    IDMLDevice* device = nullptr;
    if (FAILED(made->QueryInterface(*iid, reinterpret_cast<void**>(&device))) || device == nullptr)
      continue;
    quietly([&] {
      find_level(device);
      watch_table(table_of(device), iid == &iid_device1);
    });
    device->Release();
  }
}

}  // namespace dmlop::layer
