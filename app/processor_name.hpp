// What the processor of this machine is called.
#pragma once

#include <string>

namespace dmlop::app {

/// "" where the system does not say.
std::string processor_name();

}  // namespace dmlop::app
