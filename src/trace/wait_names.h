#pragma once

// Kinds of waits by name and number: Kineto names the kinds of CUpti_ActivitySynchronizationType;
// Nsight Systems and our recorder store CUPTI's number.

#include <cstdint>
#include <string_view>

#include "trace/schema.h"

namespace assay {

// "Event Sync", "Stream Wait Event", ...; "Unknown Sync" for kUnknown.
std::string_view wait_name(WaitKind kind);
// kUnknown for other names and numbers.
WaitKind wait_kind_of(std::string_view name);
WaitKind wait_kind_of(int64_t cupti_type);

// True if a device row is a waiting command ("event_wait", "BARRIER_PACKET", "semaphore wait"),
// which occupies nothing. Every word of such a name is about waiting.
bool is_device_wait(std::string_view name);

}  // namespace assay
