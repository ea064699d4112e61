#pragma once

// The trace file of Assay's tracer (.assaytrace, docs/formats/assaytrace.md), as the recorder
// writes it and the reader reads it. Little endian; every field has its natural alignment, every
// struct a multiple of 8 bytes. A file is a FileHeader followed by blocks. Only complete blocks
// count, so a truncated file is readable up to its last complete block. A reader uses the bytes of
// a record that it knows, zero-fills a shorter record, and skips unknown kinds: new fields are only
// added at the end.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace assay::wire {

constexpr char kMagic[8] = {'A', 'S', 'S', 'A', 'Y', 'T', 'R', 'C'};
constexpr uint32_t kVersion = 1;
constexpr uint32_t kByteOrder = 0x01020304;
constexpr uint32_t kBlockMagic = 0x4B4C4241;  // "ABLK"
// Larger payloads are corrupt: the recorder writes much smaller blocks.
constexpr uint32_t kMaxPayload = 16u << 20;
constexpr uint32_t kNoString = 0;
// Longest text of a String record; longer texts are truncated.
constexpr uint32_t kMaxText = 65'000;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // offset of the first block
  uint32_t byte_order;    // kByteOrder as the writer stores it
  uint32_t pid;
  uint64_t session;  // equal in all files of one `assay record`
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t reserved;
  uint64_t checksum;  // of the bytes before it
};

struct BlockHeader {
  uint32_t magic;
  uint32_t payload_bytes;  // of the records, a multiple of 8
  uint32_t records;
  uint32_t sequence;  // 0, 1, 2 ...: a gap is a lost block
  uint64_t session;   // equals that of the file; a block of another file is ignored
  uint64_t checksum;  // of the bytes before it and of the payload
};

enum class Kind : uint16_t {
  kProcess = 1,
  kString = 2,
  kApiCall = 3,
  kKernel = 4,
  kCopy = 5,
  kFill = 6,
  kWait = 7,
  kRange = 8,
  kMark = 9,
  kGraphRun = 10,
  kOverhead = 11,
  kExternal = 12,
  kDevice = 13,
  kContext = 14,
  kClock = 15,
  kLost = 16,
  kNote = 17,
  kWindow = 18,
  kThread = 19,
  kFooter = 20,
  kOperator = 21,
  kInside = 22,
};

// Events of the program, unlike records about the recording: only these count as lost.
constexpr bool is_event(Kind kind) {
  return (kind >= Kind::kApiCall && kind <= Kind::kExternal) || kind == Kind::kOperator;
}

struct RecordHeader {
  Kind kind;
  uint16_t bytes;  // of the record with this header, a multiple of 8
};

// The clock of the tracer's times.
enum class ClockKind : uint32_t {
  kTracerOwn = 0,  // CUPTI's: CLOCK_REALTIME with its steps; rocprofiler-sdk's own
  kMonotonic = 1,  // CLOCK_MONOTONIC, set by a CUPTI callback
  kNone = 2,       // no tracer: only host ranges, in CLOCK_MONOTONIC
};

enum class TracerKind : uint32_t { kCupti = 0, kRocprofiler = 1 };

struct Process {
  RecordHeader header;
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t name;  // of the program, without folders
  ClockKind clock;
  uint32_t driver_version;  // as the driver reports it: 13000 for CUDA 13.0; 0 = unknown
  uint32_t tracer_version;  // CUPTI's; for rocprofiler-sdk 10000 is 1.0.0; 0 = none
  uint32_t assay_version;   // string
  uint32_t flags;           // 1: forked from a recorded process
  TracerKind tracer;
};

// The text follows, zero-padded to a multiple of 8. An id is defined before its first use and has
// one text.
struct String {
  RecordHeader header;
  uint32_t id;
  uint32_t length;
  uint32_t reserved;
};

constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// For a text of at most kMaxText bytes.
constexpr String string_record(uint32_t id, size_t length) {
  return {{Kind::kString, static_cast<uint16_t>(sizeof(String) + padded(length))},
          id,
          static_cast<uint32_t>(length),
          0};
}

enum class Domain : uint16_t { kRuntime = 0, kDriver = 1, kHsa = 2 };

// From here on, start and end are tracer times in nanoseconds unless noted.
struct ApiCall {
  RecordHeader header;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t thread;  // the OS thread id
  uint32_t name;
  Domain domain;
  uint16_t function;  // CUPTI's callback id
  int32_t result;
};

struct Kernel {
  RecordHeader header;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t name;  // mangled
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t registers;
  uint32_t static_shared;
  uint32_t dynamic_shared;
  uint32_t graph_id;  // 0 = no graph
  uint64_t graph_node;
};

struct Copy {
  RecordHeader header;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint64_t bytes;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint8_t direction;  // CUpti_ActivityMemcpyKind
  uint8_t from;       // CUpti_ActivityMemoryKind
  uint8_t to;
  uint8_t is_async;
  uint32_t graph_id;
  uint32_t peer_device;  // destination of a copy between devices; UINT32_MAX = none
  uint64_t graph_node;
};

struct Fill {
  RecordHeader header;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint64_t bytes;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t memory;  // CUpti_ActivityMemoryKind
  uint32_t value;
  uint32_t graph_id;
  uint64_t graph_node;
};

struct Wait {
  RecordHeader header;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t type;  // CUpti_ActivitySynchronizationType
  uint32_t context;
  uint32_t stream;  // UINT32_MAX: no particular one
  uint32_t event;
};

enum RangeFlags : uint32_t {
  kPushPop = 1,    // otherwise start/end ranges, which may overlap
  kStillOpen = 2,  // not ended by the program: the end is the end of recording
};

// NVTX. Times are CLOCK_MONOTONIC.
struct Range {
  RecordHeader header;
  uint32_t thread;
  uint64_t start;
  uint64_t end;
  uint32_t name;
  uint32_t domain;  // string; kNoString = the default domain
  uint32_t flags;
  uint32_t category;
};

struct Mark {
  RecordHeader header;
  uint32_t thread;
  uint64_t time;  // CLOCK_MONOTONIC
  uint32_t name;
  uint32_t domain;
};

enum OperatorFlags : uint32_t {
  kUserRange = 1,  // a record_function range, not an operator
};

// A PyTorch operator, from an observer inside PyTorch. Times are CLOCK_MONOTONIC. Input texts are
// JSON in the format of PyTorch's profiler (docs/formats/kineto.md); kNoString = unknown.
struct Operator {
  RecordHeader header;
  uint32_t thread;
  uint64_t start;
  uint64_t end;
  int64_t sequence;         // autograd's sequence number; -1 = none
  uint64_t forward_thread;  // RecordFunction's thread number of the forward operator; 0 = it is one
  uint32_t name;
  uint32_t dims;
  uint32_t types;
  uint32_t strides;
  uint32_t concrete;
  uint32_t flags;
};

// A call made inside another call: activities with its correlation belong to the outer one.
struct Inside {
  RecordHeader header;
  uint32_t correlation;
  uint32_t outer;
  uint32_t reserved;
};

// A graph launch recorded as one activity.
struct GraphRun {
  RecordHeader header;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t graph_id;
};

// From rocprofiler-sdk. CUpti_ActivityOverheadKind does not use these numbers.
enum ScratchOverhead : uint32_t {
  kScratchOther = 0x8000'0000u,
  kScratchAllocation = 0x8000'0001u,
  kScratchFree = 0x8000'0002u,
  kScratchReclaim = 0x8000'0003u,
};

struct Overhead {
  RecordHeader header;
  uint32_t type;  // CUpti_ActivityOverheadKind or ScratchOverhead
  uint64_t start;
  uint64_t end;
  uint32_t thread;  // 0 = unknown
  uint32_t reserved;
};

struct External {
  RecordHeader header;
  uint32_t correlation;
  uint32_t type;  // CUpti_ExternalCorrelationKind
  uint32_t reserved;
  uint64_t id;
};

struct Device {
  RecordHeader header;
  uint32_t id;
  uint64_t memory_bytes;
  uint32_t name;
  uint32_t multiprocessors;
  uint32_t warp_size;
  uint32_t compute_major;
  uint32_t compute_minor;
  uint32_t clock_khz;
  uint8_t uuid[16];
};

struct Context {
  RecordHeader header;
  uint32_t id;
  uint32_t device;
  uint32_t null_stream;
};

// One moment on three clocks. Written at the start of recording, at every flush and at the end.
struct Clock {
  RecordHeader header;
  uint32_t uncertainty_ns;  // duration of the reads
  uint64_t tracer;          // 0 = none
  uint64_t monotonic;
  uint64_t realtime;
};

enum class LostReason : uint32_t {
  kTracer = 1,      // dropped by the tracer: its host or device buffer was full
  kMemory = 2,      // host ranges dropped because the recorder's memory was full
  kByteLimit = 3,   // the file had reached its limit
  kWrite = 4,       // the file could not be written
  kUnknown = 5,     // delivered records that could not be read
  kUnfinished = 6,  // calls and GPU activities without an end at program exit
};

struct Lost {
  RecordHeader header;
  LostReason reason;
  uint64_t count;
  uint64_t monotonic;
};

// A failure or deviation from the request. docs/formats/assaytrace.md has the sentences.
enum class NoteCode : uint32_t {
  kNoTracer = 1,         // no libcupti was found
  kTracerRefused = 2,    // CUPTI returns an error: value
  kNoPermission = 3,     // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES and similar
  kOtherSubscriber = 4,  // another profiler holds CUPTI in this process
  kOldDriver = 5,        // CUPTI does not support this driver
  kOldTracer = 6,        // CUPTI before CUDA 11.6: other record layouts
  kKindRefused = 7,      // a kind of record is unavailable: value is its number
  kTakenOver = 8,        // another profiler took CUPTI's buffers while recording
  kByteLimit = 9,        // the file reached its limit: value
  kWriteFailed = 10,     // value is errno
  kClockCallback = 11,   // CUPTI rejects the clock callback: its own clock is used
  kUnsupportedGpu = 12,  // MIG, vGPU, WSL, confidential computing: value is CUPTI's error
  kTextsForgotten =
      13,  // value names of ranges were evicted. No range is lost
  kNoOperators =
      14,  // operators were requested but are unavailable; value 1: the observer failed
  kOldRocprofiler = 15,      // rocprofiler-sdk before 0.5: value is its version
  kRocprofilerRefused = 16,  // rocprofiler-sdk returns an error: value is its status
  kNotShared = 17,           // the recorder's memory is lost if the process dies
  kRescued = 18,    // the process died: value records were recovered from its shared memory
  kNamesLost = 19,  // value of these kernels have no name: only the process knew it
};

struct Note {
  RecordHeader header;
  NoteCode code;
  uint64_t monotonic;
  int64_t value;
  uint32_t text;  // string; may be kNoString
  uint32_t reserved;
};

enum class WindowReason : uint32_t { kWhole = 0, kSignal = 1, kRange = 2 };

// Recording was switched on (is_open) or off. Times are CLOCK_MONOTONIC.
struct Window {
  RecordHeader header;
  WindowReason reason;
  uint64_t monotonic;
  uint32_t is_open;
  uint32_t reserved;
};

struct ThreadName {
  RecordHeader header;
  uint32_t thread;
  uint32_t name;
  uint32_t reserved;
};

// The last record of a closed file.
struct Footer {
  RecordHeader header;
  uint32_t reserved;
  uint64_t records;  // in all blocks before, without this one
  uint64_t lost;
  uint64_t monotonic;
};

static_assert(sizeof(FileHeader) == 64 && sizeof(BlockHeader) == 32);
static_assert(sizeof(Process) == 40 && sizeof(String) == 16 && sizeof(ApiCall) == 40);
static_assert(sizeof(Kernel) == 88 && sizeof(Copy) == 64 && sizeof(Fill) == 64);
static_assert(sizeof(Wait) == 40 && sizeof(Range) == 40 && sizeof(Mark) == 24);
static_assert(sizeof(GraphRun) == 40 && sizeof(Overhead) == 32 && sizeof(External) == 24);
static_assert(sizeof(Device) == 56 && sizeof(Context) == 16 && sizeof(Clock) == 32);
static_assert(sizeof(Lost) == 24 && sizeof(Note) == 32 && sizeof(Window) == 24);
static_assert(sizeof(Operator) == 64 && sizeof(Inside) == 16);
static_assert(sizeof(ThreadName) == 16 && sizeof(Footer) == 32);

// Not part of a file: a memory-mapped file that `assay record` shares with its recorders, for the
// start and stop signals.
struct Control {
  uint32_t magic;      // kControlMagic
  uint32_t recording;  // 1 = on, 0 = off
};
constexpr uint32_t kControlMagic = 0x4C544341;  // "ACTL"

// FNV-1a over 64-bit words with the high half folded down: per word
// h = (h ^ word) * 0x100000001B3, then h ^= h >> 32.
// `bytes` is a multiple of 8. Each step is a bijection, so any change of one word changes the
// result.
inline uint64_t checksum(const void* data, size_t bytes, uint64_t seed = 0xCBF29CE484222325u) {
  const auto* at = static_cast<const unsigned char*>(data);
  uint64_t hash = seed;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, at + i, 8);
    hash = (hash ^ word) * 0x100000001B3u;
    hash ^= hash >> 32;
  }
  return hash;
}

inline uint64_t file_checksum(const FileHeader& header) {
  return checksum(&header, offsetof(FileHeader, checksum));
}

inline uint64_t block_checksum(const BlockHeader& header, const void* payload) {
  return checksum(payload, header.payload_bytes,
                  checksum(&header, offsetof(BlockHeader, checksum)));
}

}  // namespace assay::wire
