#include "gpu/vulkan/kernels.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG  // which brings its inflate
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_FAILURE_STRINGS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace dmlop::gpu::vulkan {

std::vector<std::uint32_t> Kernel::spirv() const {
  // RFC 1952: a header without a name has 10 bytes, and the last 4 bytes are the size. The decoder
  // is not told where the deflated bytes end: it reads ahead.
  constexpr std::ptrdiff_t header = 10;
  std::uint32_t bytes;
  std::memcpy(&bytes, end - sizeof bytes, sizeof bytes);
  std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
  const int inflated = stbi_zlib_decode_noheader_buffer(
      reinterpret_cast<char*>(words.data()), static_cast<int>(bytes),
      reinterpret_cast<const char*>(begin + header), static_cast<int>(end - begin - header));
  if (inflated != static_cast<int>(bytes))
    throw Error(ErrorKind::run_failed,
                "kernel " + std::string(name) + " of this program is damaged");
  return words;
}

const Kernel* find_kernel(std::string_view name) {
  const auto all = kernels();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Kernel& kernel) { return kernel.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace dmlop::gpu::vulkan
