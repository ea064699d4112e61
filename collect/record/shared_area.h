#pragma once

// Memory that a recorded process shares with `assay record`, which keeps it after the process ends
// and writes its remaining data (rescue.h). An unnamed file has a header and slots of equal size. A
// process takes a slot with a lock that the kernel releases at its end. All zeros is a valid, empty
// slot.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collect/record/progress.h"
#include "collect/wire.h"

namespace assay::record {

struct AreaHead {
  static constexpr uint64_t kMagic = 0x3141455241595341;  // "ASYAREA1"
  uint64_t magic;
  uint64_t session;
  uint32_t places;
  uint32_t buffers;  // of kBufferBytes, in each slot
  uint64_t bank_bytes;
  uint32_t reserve;      // 1: the file system may be full, so a slot is allocated when it is taken
  uint32_t place_bytes;  // sizeof(SharedPlace): another version has another layout
};

enum class BufferUse : uint32_t {
  kFree = 0,     // all zeros
  kOut = 1,      // CUPTI has it
  kFull = 2,     // completed; not all of its `valid` bytes are in the file
  kWritten = 3,  // all in the file; being zeroed
};

struct SharedBuffer {
  std::atomic<BufferUse> use;
  uint32_t reserved;
  uint64_t number;  // in completion order, from 1
  uint64_t valid;
};

// The string id of the kernel name at this address.
struct SharedName {
  uint64_t address;
  uint32_t text;
  uint32_t reserved;
};

struct SharedBank {
  std::atomic<uint64_t> used;  // bytes of complete records
  uint64_t number;             // in the order of filling, from 1
};

// An open range: written if the process dies inside it.
struct SharedOpenRange {
  std::atomic<uint64_t> start;  // CLOCK_MONOTONIC; 0 = free
  uint32_t thread;
  uint32_t name;
  uint32_t domain;
  uint32_t category;
  uint32_t flags;
  uint32_t reserved;
};

// Whether the file has the process record, and with its tracer's clock.
enum class Told : uint32_t { kNothing = 0, kProcess = 1, kTraced = 2 };

enum class PlaceUse : uint32_t { kEmpty = 0, kRecording = 1, kClosed = 2 };

constexpr size_t kBufferBytes = 1 << 20;

struct SharedPlace {
  static constexpr size_t kMostBuffers = 1024;
  static constexpr size_t kMostNames = 1 << 16;
  static constexpr size_t kMostCalls = 4096;
  static constexpr size_t kCallTextBytes = 256 << 10;
  static constexpr size_t kMostOpen = 4096;
  static constexpr size_t kKinds = 64;
  static constexpr size_t kReasons = 8;

  std::atomic<PlaceUse> use;
  uint32_t pid;
  uint32_t own_thread;              // its calls are the recorder's, not the program's
  std::atomic<uint32_t> is_traced;  // `process` and `clock` are set for its tracer
  std::atomic<Told> told;
  std::atomic<uint64_t> alive_ns;  // CLOCK_MONOTONIC at the last check of its recorder
  uint64_t max_bytes;
  wire::Process process;  // its texts follow
  wire::Clock clock;      // at the start of a driver
  std::array<char, 4096> path;
  std::array<char, 256> program;
  std::array<char, 64> version;
  std::array<Progress, 2> progress;
  std::array<std::atomic<uint64_t>, kReasons> lost;  // events no longer in a buffer or bank
  std::array<std::atomic<uint16_t>, kKinds> record_bytes;  // by CUPTI's kind; 0 = unknown
  std::array<SharedBank, 2> banks;
  std::array<SharedBuffer, kMostBuffers> buffers;
  std::array<std::array<uint32_t, kMostCalls>, 2> call_texts;  // offset + 1 of its name, by domain
  uint32_t call_text_used;
  std::array<char, kCallTextBytes> call_text;
  std::array<SharedOpenRange, kMostOpen> open;
  std::atomic<uint64_t> names_used;
  std::array<SharedName, kMostNames> names;  // a later entry overrides an earlier one
};

// Offsets of a slot and its parts.
struct AreaLayout {
  uint32_t buffers = 0;
  uint64_t bank_bytes = 0;

  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t whole_pages(uint64_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
  }
  uint64_t bank_at(uint64_t bank) const {
    return whole_pages(sizeof(SharedPlace)) + bank * bank_bytes;
  }
  uint64_t buffer_at(uint64_t buffer) const { return bank_at(2) + buffer * kBufferBytes; }
  uint64_t bytes() const { return buffer_at(buffers); }
  uint64_t place_at(uint64_t place) const { return kPage + place * bytes(); }
};

// The memory of a recorder: a slot of the shared file, or private memory without buffers that is
// lost with the process.
class Area {
 public:
  Area() = default;
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  // Takes a slot in the file `path` of this session. False: none is available, problem() has the
  // reason, and the caller uses private memory.
  bool take(const std::string& path, uint64_t session);
  // Allocates private memory. False: out of memory.
  bool make_own();

  bool is_shared() const { return shared_; }
  const std::string& problem() const { return problem_; }
  SharedPlace& place() const { return *reinterpret_cast<SharedPlace*>(base_); }
  const AreaLayout& layout() const { return layout_; }
  uint8_t* bank(size_t index) const { return base_ + layout_.bank_at(index); }
  uint8_t* buffer(size_t index) const { return base_ + layout_.buffer_at(index); }
  // The buffer's index; the number of buffers if it is not one of them.
  size_t index_of(const uint8_t* buffer) const;
  // In a forked child: the slot stays the parent's. Maps private memory at the same addresses,
  // since libraries may still write there.
  void leave_to_parent();

 private:
  bool take_place(int fd, const AreaHead& head);
  bool fail(const std::string& problem);

  uint8_t* base_ = nullptr;
  AreaLayout layout_;
  bool shared_ = false;
  std::string problem_;
};

// Takes the lock of one slot, for as long as the file stays open. False: another process has it.
bool lock_place(int fd, uint64_t place_at);

}  // namespace assay::record
