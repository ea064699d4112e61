// A libcupti.so.N beside the fake driver: hands every call on to the driver's own
// (fake_tracing.cc), and says that it is of CUDA N.0. FAKE_NOT_COMPATIBLE names those, by file name
// and separated by commas, that refuse this driver: when a kind is switched on.

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collect/record/cupti_abi.h"

namespace {

std::string file_name() {
  Dl_info info = {};
  static const int here = 0;
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

bool refuses() {
  const char* set = std::getenv("FAKE_NOT_COMPATIBLE");
  if (set == nullptr) return false;
  return ("," + std::string(set) + ",").find("," + file_name() + ",") != std::string::npos;
}

template <typename... Arguments>
int hand_on(const char* name, Arguments... arguments) {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* function =
      driver == nullptr ? nullptr : reinterpret_cast<int (*)(Arguments...)>(::dlsym(driver, name));
  return function == nullptr ? 999 : function(arguments...);
}

}  // namespace

extern "C" {

namespace cupti = assay::cupti;

int cuptiGetVersion(uint32_t* version) {
  const std::string name = file_name();
  // CUDA 12.8 counted its versions; from 13.0 on they are CUDA's.
  *version = name == "libcupti.so.12" ? 26 : name == "libcupti.so.11.8" ? 18 : 130000;
  return 0;
}
int cuptiActivityEnable(uint32_t kind) {
  return refuses() ? cupti::kNotCompatible : hand_on("cuptiActivityEnable", kind);
}
int cuptiActivityDisable(uint32_t kind) { return hand_on("cuptiActivityDisable", kind); }
int cuptiGetResultString(int result, const char** text) {
  return hand_on("cuptiGetResultString", result, text);
}
int cuptiSubscribe(void** handle, cupti::Callback callback, void* user) {
  return hand_on("cuptiSubscribe", handle, callback, user);
}
int cuptiUnsubscribe(void* handle) { return hand_on("cuptiUnsubscribe", handle); }
int cuptiActivityRegisterCallbacks(cupti::BufferRequested ask, cupti::BufferCompleted give) {
  return hand_on("cuptiActivityRegisterCallbacks", ask, give);
}
int cuptiActivityFlushAll(uint32_t flags) { return hand_on("cuptiActivityFlushAll", flags); }
int cuptiActivityGetNextRecord(uint8_t* from, size_t valid, void** record) {
  return hand_on("cuptiActivityGetNextRecord", from, valid, record);
}
int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* count) {
  return hand_on("cuptiActivityGetNumDroppedRecords", context, stream, count);
}
int cuptiGetTimestamp(uint64_t* ns) { return hand_on("cuptiGetTimestamp", ns); }
int cuptiGetCallbackName(int domain, uint32_t function, const char** name) {
  return hand_on("cuptiGetCallbackName", domain, function, name);
}
int cuptiSetThreadIdType(int type) { return hand_on("cuptiSetThreadIdType", type); }
int cuptiActivityRegisterTimestampCallback(uint64_t (*now)()) {
  return hand_on("cuptiActivityRegisterTimestampCallback", now);
}

}  // extern "C"
