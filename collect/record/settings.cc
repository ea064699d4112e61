#include "collect/record/settings.h"

#include <cstdlib>
#include <cstring>

namespace assay::record {
namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::string text(const char* name) {
  const char* value = variable(name);
  return value != nullptr ? value : "";
}

uint64_t number(const char* name, uint64_t otherwise, int base = 10) {
  const char* value = variable(name);
  if (value == nullptr) return otherwise;
  char* end = nullptr;
  const uint64_t parsed = std::strtoull(value, &end, base);
  return *end == '\0' ? parsed : otherwise;
}

bool says(const char* name, const char* word) {
  const char* value = variable(name);
  return value != nullptr && std::strcmp(value, word) == 0;
}

}  // namespace

Settings settings_from_environment() {
  Settings settings;
  settings.path = text("ASSAY_RECORD_OUT");
  if (settings.path.empty()) settings.path = "out.assaytrace";
  settings.cupti = text("ASSAY_CUPTI");
  settings.torch = text("ASSAY_RECORD_TORCH");
  settings.torch_modules = says("ASSAY_RECORD_TORCH_MODULES", "hooks");
  settings.capture_range = text("ASSAY_RECORD_RANGE");
  settings.control = text("ASSAY_RECORD_CONTROL");
  settings.shared = text("ASSAY_RECORD_SHARED");
  settings.version = text("ASSAY_RECORD_VERSION");
  settings.session = number("ASSAY_RECORD_SESSION", 0, 16);
  settings.max_bytes = number("ASSAY_RECORD_MAX_BYTES", settings.max_bytes);
  settings.max_memory = number("ASSAY_RECORD_MAX_MEMORY", settings.max_memory);
  settings.flush_ms = static_cast<uint32_t>(number("ASSAY_RECORD_FLUSH_MS", settings.flush_ms));
  if (settings.flush_ms == 0) settings.flush_ms = 1;
  settings.tracer_clock = says("ASSAY_RECORD_CLOCK", "tracer");
  settings.all_calls = says("ASSAY_RECORD_CALLS", "all");
  settings.whole_graphs = says("ASSAY_RECORD_GRAPHS", "whole");
  return settings;
}

}  // namespace assay::record
