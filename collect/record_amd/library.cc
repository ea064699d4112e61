#include "collect/record_amd/library.h"

#include <dlfcn.h>

#include <iterator>

namespace assay::record_amd {
namespace {

using rocprofiler::kSuccess;

// The names in packages, newest first.
constexpr const char* kNames[] = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                  "librocprofiler-sdk.so"};

void* loaded_library() {
  for (const char* name : kNames) {
    void* handle = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) return handle;
  }
  return RTLD_DEFAULT;  // under another name: it called this tool, so its functions are in the
                        // process
}

template <typename Function>
void bind(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

struct KindsAsked {
  rocprofiler::KindName name;
  Numbers found;
};

struct OperationsAsked {
  rocprofiler::OperationName name;
  std::vector<Operation> found;
};

int add_kind(int kind, void* data) {
  auto& asked = *static_cast<KindsAsked*>(data);
  const char* name = nullptr;
  uint64_t length = 0;
  if (asked.name(kind, &name, &length) == kSuccess && name != nullptr) asked.found[name] = kind;
  return 0;
}

int add_operation(int kind, int32_t operation, void* data) {
  auto& asked = *static_cast<OperationsAsked*>(data);
  const char* name = nullptr;
  uint64_t length = 0;
  if (asked.name(kind, operation, &name, &length) == kSuccess && name != nullptr) {
    asked.found.push_back({operation, name});
  }
  return 0;
}

}  // namespace

Library bind_rocprofiler(uint32_t version) {
  Library bound;
  bound.version = version;
  rocprofiler::Functions& to = bound.functions;
  void* from = loaded_library();
  std::string& missing = bound.problem;
  bind(from, "rocprofiler_create_context", to.create_context, missing);
  bind(from, "rocprofiler_start_context", to.start_context, missing);
  bind(from, "rocprofiler_stop_context", to.stop_context, missing);
  bind(from, "rocprofiler_create_buffer", to.create_buffer, missing);
  bind(from, "rocprofiler_flush_buffer", to.flush_buffer, missing);
  bind(from, "rocprofiler_configure_buffer_tracing_service", to.buffer_service, missing);
  bind(from, "rocprofiler_configure_callback_tracing_service", to.callback_service, missing);
  bind(from, "rocprofiler_query_buffer_tracing_kind_name", to.buffer_kind_name, missing);
  bind(from, "rocprofiler_query_buffer_tracing_kind_operation_name", to.buffer_operation_name,
       missing);
  bind(from, "rocprofiler_iterate_buffer_tracing_kinds", to.buffer_kinds, missing);
  bind(from, "rocprofiler_iterate_buffer_tracing_kind_operations", to.buffer_operations, missing);
  bind(from, "rocprofiler_query_callback_tracing_kind_name", to.callback_kind_name, missing);
  bind(from, "rocprofiler_query_callback_tracing_kind_operation_name", to.callback_operation_name,
       missing);
  bind(from, "rocprofiler_iterate_callback_tracing_kinds", to.callback_kinds, missing);
  bind(from, "rocprofiler_iterate_callback_tracing_kind_operations", to.callback_operations,
       missing);
  bind(from, "rocprofiler_query_available_agents", to.agents, missing);
  bind(from, "rocprofiler_get_timestamp", to.timestamp, missing);
  bind(from, "rocprofiler_push_external_correlation_id", to.push_external, missing);
  bind(from, "rocprofiler_pop_external_correlation_id", to.pop_external, missing);
  std::string may_be_missing;
  bind(from, "rocprofiler_get_status_string", to.status_text, may_be_missing);
  return bound;
}

std::string version_text(uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string status_text(const rocprofiler::Functions& functions, int status) {
  const char* words = functions.status_text != nullptr ? functions.status_text(status) : nullptr;
  return words != nullptr ? words : "status " + std::to_string(status);
}

Numbers kinds_by_name(rocprofiler::IterateKinds iterate, rocprofiler::KindName name) {
  KindsAsked asked = {name, {}};
  iterate(add_kind, &asked);
  return std::move(asked.found);
}

std::vector<Operation> operations_of(int kind, rocprofiler::IterateOperations iterate,
                                     rocprofiler::OperationName name) {
  OperationsAsked asked = {name, {}};
  iterate(kind, add_operation, &asked);
  return std::move(asked.found);
}

}  // namespace assay::record_amd
