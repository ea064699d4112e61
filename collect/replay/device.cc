#include "collect/replay/device.h"

#include <dlfcn.h>

#include <cstdio>

namespace assay::replay {
namespace {

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

struct Uuid {
  unsigned char bytes[16];
};

std::string text_of(const Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%02x", uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex;
  }
  return text;
}

}  // namespace

DeviceFacts device_facts() {
  DeviceFacts facts;
  void* cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (cuda == nullptr) return facts;
  const auto init = symbol<int (*)(unsigned)>(cuda, "cuInit");
  const auto name = symbol<int (*)(char*, int, int)>(cuda, "cuDeviceGetName");
  const auto uuid = symbol<int (*)(Uuid*, int)>(cuda, "cuDeviceGetUuid");
  const auto version = symbol<int (*)(int*)>(cuda, "cuDriverGetVersion");
  // PyTorch uses the first visible device by default. The handle of that device equals its ordinal.
  char text[256] = {};
  if (init == nullptr || name == nullptr || init(0) != 0 || name(text, sizeof text, 0) != 0)
    return facts;
  facts.name = text;
  Uuid id = {};
  if (uuid != nullptr && uuid(&id, 0) == 0) facts.uuid = text_of(id);
  int number = 0;
  if (version != nullptr && version(&number) == 0) {
    facts.driver = std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }
  return facts;
}

}  // namespace assay::replay
