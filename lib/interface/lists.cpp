// operators(), operator_json(), devices() and version() of <dmlop/dmlop.hpp>.
#include "base/text.hpp"
#include "gpu/backends.hpp"
#include "guide/operator_json.hpp"
#include "guide/words.hpp"
#include "interface/translate.hpp"
#include "ops/operator.hpp"
#include "spec/near_operators.hpp"

namespace dmlop {

std::vector<OperatorInfo> v0::operators() {
  std::vector<std::string> places = gpu::backend_names();
  places.insert(places.begin(), "cpu");
  std::vector<OperatorInfo> list;
  for (const std::string& name : specified_operators()) {
    list.push_back(
        {name, std::string(family_of(name)), to_text(*operator_introduced(name)), places});
  }
  return list;
}

const OperatorSpec& spec_named(const std::string& name) {
  const std::string upper = upper_case(name);
  if (const OperatorSpec* spec = find_spec(without_operator_prefix(upper))) return *spec;
  const std::string meant = operator_suggestion(name);
  throw Error(ErrorKind::usage, "DirectML has no operator \"" + printable(name) + "\"" +
                                    (meant.empty() ? "" : ": " + meant));
}

std::string v0::operator_json(const std::string& name) {
  return with_failures([&] {
    const OperatorSpec& spec = spec_named(name);
    const bool runs = find_operator(spec.name) != nullptr;
    return to_json(spec, runs ? places() : std::vector<std::string>{}).dump();
  });
}

std::string_view v0::version() noexcept {
  return DMLOP_VERSION;
}

std::vector<DeviceInfo> v0::devices() {
  return with_failures([] {
    std::vector<DeviceInfo> list{{"cpu", "CPU", "cpu", "", 0}};
    for (const gpu::DeviceInfo& device : gpu::list_devices().devices)
      list.push_back({device.spec(), device.name, std::string(name_of(device.kind)), device.driver,
                      device.memory_bytes});
    return list;
  });
}

}  // namespace dmlop
