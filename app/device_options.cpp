#include "device_options.hpp"

#include "base/output.hpp"
#include "base/system_file.hpp"
#include "gpu/backends.hpp"

namespace dmlop::app {

void DeviceOptions::add_to(OptionList& command, ExecutionOptions& execution) {
  const Option cpu_flag = command.add_flag("--cpu", cpu, "Run on the CPU");
  const Option gpu_flag = command.add_flag("--gpu", gpu, "Run on the best hardware GPU, or fail");
  const std::string backend = gpu::backend_names().front();
  const Option spec =
      command
          .add_option(
              "--device", device,
              "cpu, gpu, " + backend + ", " + backend + ":NUMBER or " + backend +
                  ":PART-OF-NAME (default: DMLOP_DEVICE, else a hardware GPU, else the CPU)")
          .type_name("SPEC")
          .choices({"cpu", "gpu", backend, backend + ":0"});
  gpu_flag.excludes(cpu_flag);
  spec.excludes(cpu_flag).excludes(gpu_flag);
  command.add_option("--threads", execution.threads, "CPU threads (default: all)")
      .integer_between(1, 4096)
      .type_name("N");
  command
      .add_option(
          "--device-memory", execution.device_memory_bytes,
          "Limit the GPU memory for buffers, such as 512MB (default: as much as tiles need)")
      .bytes_from(4096)
      .type_name("BYTES");
  command
      .add_option("--host-memory", execution.host_memory_bytes,
                  "Limit the memory for temporary tensors on the CPU, such as 2GB (default: none)")
      .bytes_from(1)
      .type_name("BYTES");
}

gpu::DeviceRequest DeviceOptions::request() const {
  if (cpu) return {"cpu"};
  if (gpu) return {"gpu"};
  if (!device.empty()) return {device};
  return {environment_variable("DMLOP_DEVICE"), "DMLOP_DEVICE"};
}

Backend open_backend(const gpu::DeviceRequest& request, bool quiet) {
  Backend backend(request);
  if (!backend.notice().empty() && !quiet)
    print(StandardStream::error, {"dmlop: ", backend.notice(), "\n"});
  return backend;
}

Backend other_device(const std::string& against, const Backend& first) {
  Backend other(gpu::DeviceRequest{against, "--against"});
  if (other.spec() == first.spec())
    throw Error(ErrorKind::usage, "--against " + against + " is " + other.spec() +
                                      ", which runs this already; name another device, or choose "
                                      "the first one with --device");
  return other;
}

void add_strict_indices_option(OptionList& command, ExecutionOptions& execution) {
  command.add_flag("--strict-indices", execution.strict_indices,
                   "Refuse indices that are out of range instead of doing as DirectML does: name "
                   "the first eight, write no output and exit with 3");
}

}  // namespace dmlop::app
