// The entry point that rocprofiler-sdk calls in a library of ROCP_TOOL_LIBRARIES (registration.h).
// Other tools may run concurrently: each has contexts of its own.

#include "collect/record_amd/recorder.h"

namespace assay::record_amd {
namespace {

int initialize(rocprofiler::Finalize, void*) {
  Recorder::get().configure();
  return 0;
}

void finalize(void*) { Recorder::get().finish(); }

}  // namespace
}  // namespace assay::record_amd

// nullptr: this version is unsupported.
extern "C" __attribute__((visibility("default"))) assay::rocprofiler::ToolConfiguration*
rocprofiler_configure(uint32_t version, const char*, uint32_t,
                      assay::rocprofiler::ClientId* client) {
  namespace amd = assay::record_amd;
  try {
    client->name = "assay record";
    if (!amd::Recorder::get().attach(version)) return nullptr;
  } catch (...) {
    return nullptr;
  }
  static assay::rocprofiler::ToolConfiguration tool = {sizeof(tool), amd::initialize, amd::finalize,
                                                       nullptr};
  return &tool;
}
