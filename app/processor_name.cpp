#include "processor_name.hpp"

#include <fstream>

#include "base/system_file.hpp"

namespace dmlop::app {

std::string processor_name() {
#ifdef _WIN32
  return environment_variable("PROCESSOR_IDENTIFIER");
#else
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
#endif
}

}  // namespace dmlop::app
