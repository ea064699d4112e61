#include "collect/replay/labels.h"

#include <dlfcn.h>

// The header-only NVTX of the CUDA toolkit finds the tracer itself. Without that header, the
// library of older toolkits is used if installed.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define ASSAY_NVTX_HEADER 1
#endif

namespace assay::replay {
#ifdef ASSAY_NVTX_HEADER

void push_label(const char* text) { nvtxRangePushA(text); }
void pop_label() { nvtxRangePop(); }
bool labels_possible() { return true; }

#else
namespace {

struct Library {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;

  Library() {
    void* handle = dlopen("libnvToolsExt.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return;
    push = reinterpret_cast<int (*)(const char*)>(dlsym(handle, "nvtxRangePushA"));
    pop = reinterpret_cast<int (*)()>(dlsym(handle, "nvtxRangePop"));
    if (push == nullptr || pop == nullptr) push = nullptr;
  }
};

const Library& library() {
  static const Library found;
  return found;
}

}  // namespace

void push_label(const char* text) {
  if (library().push != nullptr) library().push(text);
}
void pop_label() {
  if (library().push != nullptr) library().pop();
}
bool labels_possible() { return library().push != nullptr; }

#endif
}  // namespace assay::replay
