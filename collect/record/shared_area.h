#pragma once

// Memory that a recorded process shares with `assay record`, which keeps it when the process is
// gone by whatever means, and writes down what is left in it (rescue.h). One file without a name
// holds a head and equal places; a process takes one by a lock that the kernel gives back when the
// process is gone. All zeros is a valid, empty place.

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
  uint32_t buffers;  // of kBufferBytes, in each place
  uint64_t bank_bytes;
  uint32_t reserve;      // 1: the file system may be full, so a place is reserved as it is taken
  uint32_t place_bytes;  // sizeof(SharedPlace): another version's is another layout
};

enum class BufferUse : uint32_t {
  kFree = 0,     // all zeros
  kOut = 1,      // CUPTI has it
  kFull = 2,     // came back; `valid` bytes of it are not all in the file
  kWritten = 3,  // they are, and it is being zeroed
};

struct SharedBuffer {
  std::atomic<BufferUse> use;
  uint32_t reserved;
  uint64_t number;  // in the order in which they came back, from 1 on
  uint64_t valid;
};

// The kernel of this name address has this text in the file.
struct SharedName {
  uint64_t address;
  uint32_t text;
  uint32_t reserved;
};

struct SharedBank {
  std::atomic<uint64_t> used;  // bytes of whole records
  uint64_t number;             // in the order in which they are filled, from 1 on
};

// A range that has begun and not ended: written down where the process dies inside it.
struct SharedOpenRange {
  std::atomic<uint64_t> start;  // CLOCK_MONOTONIC; 0 = this place is free
  uint32_t thread;
  uint32_t name;
  uint32_t domain;
  uint32_t category;
  uint32_t flags;
  uint32_t reserved;
};

// Of the process, with a clock, in its file.
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
  uint32_t own_thread;              // its calls are the recorder's and not the program's
  std::atomic<uint32_t> is_traced;  // what is below of the process holds with its tracer
  std::atomic<Told> told;
  std::atomic<uint64_t> alive_ns;  // CLOCK_MONOTONIC when its recorder last looked
  uint64_t max_bytes;
  wire::Process process;  // its texts are below
  wire::Clock clock;      // when a driver started
  std::array<char, 4096> path;
  std::array<char, 256> program;
  std::array<char, 64> version;
  std::array<Progress, 2> progress;
  std::array<std::atomic<uint64_t>, kReasons> lost;  // of what is no longer in a buffer or bank
  std::array<std::atomic<uint16_t>, kKinds> record_bytes;  // by CUPTI's kind; 0 = not known
  std::array<SharedBank, 2> banks;
  std::array<SharedBuffer, kMostBuffers> buffers;
  std::array<std::array<uint32_t, kMostCalls>, 2> call_texts;  // place + 1 of its name, by domain
  uint32_t call_text_used;
  std::array<char, kCallTextBytes> call_text;
  std::array<SharedOpenRange, kMostOpen> open;
  std::atomic<uint64_t> names_used;
  std::array<SharedName, kMostNames> names;  // a later one holds
};

// Where a place and its parts begin.
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

// What a process writes to: a place of the shared file, or memory of its own that dies with it and
// has no buffers.
class Area {
 public:
  Area() = default;
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  // A place in the file `path` that belongs to this session. False: none can be had, problem()
  // says why, and memory of its own is used.
  bool take(const std::string& path, uint64_t session);
  // Memory of its own. False: there is none.
  bool make_own();

  bool is_shared() const { return shared_; }
  const std::string& problem() const { return problem_; }
  SharedPlace& place() const { return *reinterpret_cast<SharedPlace*>(base_); }
  const AreaLayout& layout() const { return layout_; }
  uint8_t* bank(size_t index) const { return base_ + layout_.bank_at(index); }
  uint8_t* buffer(size_t index) const { return base_ + layout_.buffer_at(index); }
  // The buffer's index; the number of buffers when it is none of them.
  size_t index_of(const uint8_t* buffer) const;
  // In a forked child: what the parent shares stays the parent's. Here the addresses get memory of
  // their own, since libraries may still write there.
  void leave_to_parent();

 private:
  bool take_place(int fd, const AreaHead& head);
  bool fail(const std::string& problem);

  uint8_t* base_ = nullptr;
  AreaLayout layout_;
  bool shared_ = false;
  std::string problem_;
};

// Puts or asks the lock of one place, for as long as the open file lives. False: somebody has it.
bool lock_place(int fd, uint64_t place_at);

}  // namespace assay::record
