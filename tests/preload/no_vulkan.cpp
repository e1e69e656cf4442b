// Preloaded into the program by gpu_test.cpp: a machine without the Vulkan loader.
#include <dlfcn.h>

#include <cstring>

extern "C" void* dlopen(const char* file, int mode) noexcept {
  if (file != nullptr && std::strstr(file, "libvulkan") != nullptr) return nullptr;
  using Dlopen = void* (*)(const char*, int);
  static const auto real = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  return real(file, mode);
}
