#pragma once

// One element of a Chrome trace's event array, as views into the piece it was read from. Selects
// the fields to keep for every producer (Kineto of any year, ROCm, RPD, MTIA); kineto_rows.cc
// interprets them.

#include <array>
#include <cstdint>
#include <string_view>

#include "ingest/text/json_walk.h"

namespace assay {

// clang-format off: tables read best as tables
// FIELD(enumerator, "key"): the top-level keys of an event.
#define ASSAY_EVENT_FIELDS(FIELD) \
  FIELD(kPhase, "ph")             \
  FIELD(kCategory, "cat")         \
  FIELD(kName, "name")            \
  FIELD(kPid, "pid")              \
  FIELD(kTid, "tid")              \
  FIELD(kTime, "ts")              \
  FIELD(kDuration, "dur")         \
  FIELD(kId, "id")                \
  FIELD(kArgs, "args")

// ARG(enumerator, "key"): the keys of args that some table has a column for.
#define ASSAY_EVENT_ARGS(ARG)                                  \
  ARG(kExternalId, "External id")                              \
  ARG(kExternalIdOld, "external id")                           \
  ARG(kCorrelation, "correlation")                             \
  ARG(kCorrelationOther, "correlation_id")                     \
  ARG(kTaskType, "Task Type")                                  \
  ARG(kDevice, "device")                                       \
  ARG(kStream, "stream")                                       \
  ARG(kBytes, "bytes")                                         \
  ARG(kSize, "size")                                           \
  ARG(kGrid, "grid")                                           \
  ARG(kBlock, "block")                                         \
  ARG(kRegisters, "registers per thread")                      \
  ARG(kSharedMemory, "shared memory")                          \
  ARG(kGraphId, "graph id")                                    \
  ARG(kGraphNodeId, "graph node id")                           \
  ARG(kSequence, "Sequence number")                            \
  ARG(kForwardThread, "Fwd thread id")                         \
  ARG(kCollective, "Collective name")                          \
  ARG(kInElements, "In msg nelems")                            \
  ARG(kOutElements, "Out msg nelems")                          \
  ARG(kGroupSize, "Group size")                                \
  ARG(kDtype, "dtype")                                         \
  ARG(kProcessGroup, "Process Group Name")                     \
  ARG(kProcessGroupRanks, "Process Group Ranks")               \
  ARG(kCollectiveSeq, "Seq")                                   \
  ARG(kSource, "Src Rank")                                     \
  ARG(kDestination, "Dst Rank")                                \
  ARG(kWaitedStream, "wait_on_stream")                         \
  ARG(kLaunchedKernel, "kernel")                               \
  ARG(kRecordCorrelation, "wait_on_cuda_event_record_corr_id") \
  ARG(kMemoryAddr, "Addr")                                     \
  ARG(kMemoryBytes, "Bytes")                                   \
  ARG(kTotalAllocated, "Total Allocated")                      \
  ARG(kTotalReserved, "Total Reserved")                        \
  ARG(kDeviceType, "Device Type")                              \
  ARG(kDeviceId, "Device Id")                                  \
  ARG(kNameArg, "name")                                        \
  ARG(kLabels, "labels")                                       \
  ARG(kSortIndex, "sort_index")                                \
  ARG(kLaneProcess, "lane process")                            \
  ARG(kLaneThread, "lane thread")                              \
  ARG(kRecordFunction, "Record function id")                   \
  ARG(kInputDims, "Input Dims")                                \
  ARG(kInputDimsOld, "Input dims")                             \
  ARG(kInputTypes, "Input type")                               \
  ARG(kInputStrides, "Input Strides")                          \
  ARG(kConcreteInputs, "Concrete Inputs")
// clang-format on

#define ASSAY_ENUMERATOR(name, key) name,
enum class Field : uint8_t { ASSAY_EVENT_FIELDS(ASSAY_ENUMERATOR) kCount };
enum class Arg : uint8_t { ASSAY_EVENT_ARGS(ASSAY_ENUMERATOR) kCount };
#undef ASSAY_ENUMERATOR
// This argument and all later ones are kept as JSON text, if at all.
constexpr Arg kFirstTextArg = Arg::kInputDims;

// Meaning of an event's category. Names of every Kineto version, CUDA, ROCm, XPU and MTIA
// (spec/formats 1.4); letter case ignored.
enum class Category : uint8_t {
  kNone,  // no category given
  kOp,
  kFrame,
  kRuntimeCall,
  kDriverCall,
  kKernel,
  kMemcpy,
  kMemset,
  kDeviceSync,
  kDeviceOther,
  kAnnotation,
  kGpuAnnotation,
  kOverhead,
  kSpan,  // the profiler's own spans, and rows that Assay added to a timeline
  kInstant,
  kLaunchFlow,           // ac2g and its older names
  kForwardBackwardFlow,  // fwdbwd
  kDependencyFlow,  // from call to activity if rows have no ids: RPD, rocprof 1 and 2, CANN
  kUnknown,
};
struct RawEvent {
  std::array<JsonValue, static_cast<size_t>(Field::kCount)> fields;
  std::array<JsonValue, static_cast<size_t>(Arg::kCount)> args;
  uint32_t seen_fields = 0;  // bit per Field
  uint64_t seen_args = 0;    // bit per Arg
  Category category = Category::kNone;
  bool repeated_key = false;
  uint64_t trailing_commas = 0;
  uint64_t bare_words = 0;  // NaN, inf, ... in arguments that no table has a column for

  bool has(Field field) const { return seen_fields >> static_cast<int>(field) & 1; }
  bool has(Arg arg) const { return seen_args >> static_cast<int>(arg) & 1; }
  const JsonValue& operator[](Field field) const { return fields[static_cast<size_t>(field)]; }
  const JsonValue& operator[](Arg arg) const { return args[static_cast<size_t>(arg)]; }
};
static_assert(static_cast<int>(Arg::kCount) <= 64);

Category category_of(std::string_view name);

// True for NaN, Infinity, a hexadecimal number or an identifier: scalars that are not JSON.
inline bool is_bare_word(std::string_view scalar) {
  const char c = scalar.front();
  const char digit = (c == '-' || c == '+') && scalar.size() > 1 ? scalar[1] : c;
  const bool hex = scalar.size() > 1 && (scalar[1] == 'x' || scalar[1] == 'X');
  if (digit >= '0' && digit <= '9') return hex;
  return scalar != "null" && scalar != "true" && scalar != "false";
}

// Reads the object at the cursor. Skips the arguments of Python frames and flows: no table needs
// them, and most events are of these kinds.
Walk read_event(JsonCursor& cursor, RawEvent& event);

}  // namespace assay
