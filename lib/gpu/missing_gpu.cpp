#include "gpu/missing_gpu.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/path.hpp"
#include "base/system_file.hpp"

#ifndef _WIN32
#include <unistd.h>
#endif

namespace dmlop::gpu {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool may_open(const fs::path& path) {
#ifdef _WIN32
  return is_there(path);
#else
  return ::access(path.c_str(), R_OK | W_OK) == 0;
#endif
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// A GPU that the kernel has: its node, such as renderD128, and the name of who made it.
struct Card {
  std::string node;
  std::string maker;
};

std::string maker_of(const std::string& vendor) {
  if (vendor == "0x10de") return "NVIDIA";
  if (vendor == "0x1002") return "AMD";
  if (vendor == "0x8086") return "Intel";
  return "of vendor " + vendor;
}

std::vector<Card> cards_of(const fs::path& root) {
  std::vector<Card> cards;
  std::error_code error;
  const fs::path cards_folder = root / "sys/class/drm";
  for (const auto& [node, kind] : entries_of(to_text(cards_folder), error)) {
    const std::string vendor = first_line(cards_folder / node / "device/vendor");
    if (node.starts_with("renderD") && !vendor.empty()) cards.push_back({node, maker_of(vendor)});
  }
  std::sort(cards.begin(), cards.end(),
            [](const Card& a, const Card& b) { return a.node < b.node; });
  return cards;
}

const char* driver_remedy(const std::string& maker) {
  return maker == "NVIDIA" ? "install NVIDIA's driver with its part for Vulkan (libnvidia-gl; in a "
                             "container NVIDIA_DRIVER_CAPABILITIES=all)"
                           : "install mesa-vulkan-drivers";
}

}  // namespace

std::vector<std::string> why_no_gpu(const std::string& root) {
  const fs::path system = to_path(root);
  std::vector<std::string> reasons;
  bool has_nvidia = false;
  for (const Card& card : cards_of(system)) {
    has_nvidia = has_nvidia || card.maker == "NVIDIA";
    const fs::path node = system / "dev/dri" / card.node;
    const std::string name = "the GPU /dev/dri/" + card.node + " (" + card.maker + ")";
    if (!is_there(node)) {
      if (card.maker == "NVIDIA" && is_there(system / "dev/nvidiactl")) {
        reasons.push_back(name + " has no Vulkan driver here: " + driver_remedy(card.maker));
      } else {
        reasons.push_back(name +
                          " is not in this container: start it with --gpus all or --device "
                          "/dev/dri");
      }
    } else if (!may_open(node)) {
      reasons.push_back(name +
                        " may not be opened by this user: sudo usermod -aG render,video "
                        "$USER, and log in again");
    } else {
      reasons.push_back(name + " has no Vulkan driver here: " + driver_remedy(card.maker));
    }
  }
  const bool has_nvidia_driver =
      is_there(system / "dev/nvidiactl") || is_there(system / "proc/driver/nvidia/version");
  if (!has_nvidia && has_nvidia_driver)
    reasons.push_back(std::string("an NVIDIA GPU has no Vulkan driver here: ") +
                      driver_remedy("NVIDIA"));
  if (is_there(system / "dev/dxg"))
    reasons.push_back(
        "WSL2 has a GPU, but Vulkan needs a driver for it: install "
        "mesa-vulkan-drivers with dzn");
  if (reasons.empty()) reasons.push_back("the system shows no GPU");
  return reasons;
}

}  // namespace dmlop::gpu
