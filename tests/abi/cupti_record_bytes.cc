// Whether CUPTI itself, without a GPU or a driver, tells how long its records are, as its headers
// say: what assay record goes by in the buffers of a program that is gone.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>

#include "collect/record/decoder.h"

int main(int, char** argv) {
  using namespace assay;
  void* library = ::dlopen(argv[1], RTLD_NOW);
  cupti::Functions functions = {};
  functions.next_record = library == nullptr ? nullptr
                                             : reinterpret_cast<decltype(functions.next_record)>(
                                                   ::dlsym(library, "cuptiActivityGetNextRecord"));
  if (functions.next_record == nullptr) return 77;
  static record::RecordBytes bytes = {};
  record::learn_record_bytes(functions, bytes);
  struct Known {
    uint32_t kind;
    size_t bytes;
  };
  constexpr Known kKnown[] = {
      {cupti::kRuntime, sizeof(CUpti_ActivityAPI)},
      {cupti::kDriver, sizeof(CUpti_ActivityAPI)},
      {cupti::kExternalCorrelation, sizeof(CUpti_ActivityExternalCorrelation)},
#if CUPTI_API_VERSION >= 130000
      {cupti::kConcurrentKernel, sizeof(CUpti_ActivityKernel10)},
      {cupti::kMemcpy, sizeof(CUpti_ActivityMemcpy6)},
      {cupti::kMemset, sizeof(CUpti_ActivityMemset4)},
#endif
  };
  int wrong = 0;
  for (const Known& known : kKnown) {
    if (bytes[known.kind] == known.bytes) continue;
    ++wrong;
    std::printf("kind %u: CUPTI says %u, its header %zu\n", known.kind, unsigned{bytes[known.kind]},
                known.bytes);
  }
  for (const uint32_t kind : {cupti::kMemcpy2, cupti::kSynchronization, cupti::kOverhead,
                              cupti::kGraphTrace, cupti::kContext, cupti::kKernel}) {
    if (bytes[kind] != 0) continue;
    ++wrong;
    std::printf("kind %u: CUPTI does not say\n", kind);
  }
  return wrong == 0 ? 0 : 1;
}
