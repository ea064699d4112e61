#include "ingest/chrome/header.h"

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "ingest/text/json_text.h"

namespace assay {
namespace {

// Keys that describe the profile. All others may contain a user's environment and are not read.
constexpr std::array<std::string_view, 14> kKeptKeys = {
    "schemaVersion",     "record_shapes",        "with_stack",
    "with_flops",        "with_modules",         "profile_memory",
    "cupti_version",     "cuda_runtime_version", "cuda_driver_version",
    "roctracer_version", "hip_runtime_version",  "hip_driver_version",
    "trace_id",          "displayTimeUnit"};

std::string plain_text(const JsonValue& value, ImportLog& log) {
  std::string scratch;
  TextRepairs repairs;
  std::string text(clean_json_text(value.text, true, scratch, repairs));
  if (repairs.invalid_escapes != 0)
    log.add(ImportCode::kInvalidEscape, -1, repairs.invalid_escapes);
  if (repairs.invalid_bytes != 0) log.add(ImportCode::kInvalidUtf8, -1, repairs.invalid_bytes);
  return text;
}

int64_t integer_or(const JsonValue& value, int64_t fallback) {
  int64_t number = 0;
  DecimalShape shape;
  return parse_decimal(value.text, 0, number, shape) == DecimalStatus::kOk ? number : fallback;
}

template <typename Member>
void for_each_member(const JsonValue& object, JsonCursor cursor, Member&& member) {
  cursor.at = object.position;
  uint64_t trailing_commas = 0;
  // A malformed value was already rejected when it was skipped.
  (void)read_object(cursor, trailing_commas, [&](std::string_view key, JsonCursor& at) {
    JsonValue value;
    const Walk walk = read_value(at, value);
    if (walk == Walk::kOk) member(key, value);
    return walk;
  });
}

// Kineto of early 2021 used the field names of CUDA's structure, under "computeProperties".
DeviceProperties read_device(const JsonValue& object, const JsonCursor& cursor, ImportLog& log) {
  DeviceProperties device;
  for_each_member(object, cursor, [&device, &log](std::string_view key, const JsonValue& value) {
    if (key == "id") device.id = integer_or(value, 0);
    if (key == "name") device.name = plain_text(value, log);
    if (key == "totalGlobalMem") device.total_memory_bytes = integer_or(value, 0);
    if (key == "numSms" || key == "multiProcessorCount")
      device.multiprocessors = integer_or(value, 0);
    if (key == "warpSize") device.warp_size = integer_or(value, 0);
    if (key == "computeMajor" || key == "major") device.compute_major = integer_or(value, 0);
    if (key == "computeMinor" || key == "minor") device.compute_minor = integer_or(value, 0);
  });
  return device;
}

Tracer tracer_of(std::string_view key) {
  if (key == "pytorch_profiler") return Tracer::kPyTorchProfiler;
  if (key == "nsight_systems") return Tracer::kNsightSystems;
  return key == "assay" ? Tracer::kAssay : Tracer::kOther;
}

std::optional<int64_t> optional_integer(const JsonValue& value) {
  const int64_t number = integer_or(value, -1);
  return number >= 0 ? std::optional<int64_t>(number) : std::nullopt;
}

}  // namespace

void ChromeHeader::take(std::string_view key, const JsonValue& value, JsonCursor cursor,
                        ImportLog& log) {
  if (key == "baseTimeNanoseconds") {
    int64_t base = 0;
    if (parse_int64(value.text, base)) {
      base_time_ns = base;
    } else {
      log.add(ImportCode::kWrongType);
    }
    return;
  }
  if (key == "deviceProperties" || key == "computeProperties") {
    devices.clear();
    if (value.kind != JsonKind::kArray) return;
    const JsonCursor outer = cursor;
    cursor.at = value.position;
    (void)read_array(cursor, [&](const JsonValue& element) {
      if (element.kind == JsonKind::kObject) devices.push_back(read_device(element, outer, log));
    });
    return;
  }
  if (key == "distributedInfo") {
    if (value.kind != JsonKind::kObject) return;
    has_distributed = true;
    distributed = {};
    for_each_member(value, cursor, [this, &log](std::string_view name, const JsonValue& member) {
      if (name == "rank") distributed.rank = optional_integer(member);
      if (name == "world_size") distributed.world_size = optional_integer(member);
      if (name == "backend") distributed.backend = plain_text(member, log);
    });
    return;
  }
  if (key == "assayTimeline" && value.kind == JsonKind::kObject) {
    timeline = TimelineHead();
    for_each_member(value, cursor, [this](std::string_view name, const JsonValue& member) {
      if (name == "traces") timeline->traces = integer_or(member, 1);
      if (name == "tracer") timeline->tracer = tracer_of(member.text);
    });
    return;
  }
  if (std::find(kKeptKeys.begin(), kKeptKeys.end(), key) == kKeptKeys.end()) return;
  if (value.kind == JsonKind::kArray || value.kind == JsonKind::kObject) return;
  metadata.push_back({std::string(key), plain_text(value, log)});
}

void ChromeHeader::merge(ChromeHeader&& later) {
  if (later.base_time_ns) base_time_ns = later.base_time_ns;
  if (!later.devices.empty()) devices = std::move(later.devices);
  if (later.has_distributed) {
    has_distributed = true;
    distributed = std::move(later.distributed);
  }
  if (later.timeline) timeline = later.timeline;
  for (MetadataEntry& entry : later.metadata) metadata.push_back(std::move(entry));
}

}  // namespace assay
