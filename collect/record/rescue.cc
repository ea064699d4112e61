#include "collect/record/rescue.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unordered_map>
#include <utility>

#include "collect/record/clocks.h"
#include "collect/record/decoder.h"
#include "collect/record/host_log.h"
#include "collect/record/shared_area.h"
#include "collect/record/trace_file.h"

namespace assay::record {
namespace {

// Pages use memory only once they are written.
constexpr uint32_t kPlaces = 128;
constexpr AreaLayout kRoomy = {256, 32 << 20};
// For a file system that may be small and full.
constexpr uint32_t kFewPlaces = 16;
constexpr AreaLayout kSmall = {8, 2 << 20};

std::string error_text() { return std::strerror(errno); }

bool may_be_as_long(uint64_t bytes) {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         limit.rlim_cur >= bytes;
}

bool lay_out(int fd, uint64_t session, uint32_t places, const AreaLayout& layout, bool reserve) {
  const uint64_t bytes = layout.place_at(places);
  AreaHead head = {};
  head.magic = AreaHead::kMagic;
  head.session = session;
  head.places = places;
  head.buffers = layout.buffers;
  head.bank_bytes = layout.bank_bytes;
  head.reserve = reserve ? 1 : 0;
  head.place_bytes = sizeof(SharedPlace);
  if (!may_be_as_long(bytes)) {
    errno = EFBIG;
    return false;
  }
  return ::ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
         (!reserve || ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, AreaLayout::kPage) == 0) &&
         ::pwrite(fd, &head, sizeof(head), 0) == sizeof(head);
}

// Blocks SIGXFSZ: `assay record` must survive a file size limit.
class WithoutFileSizeSignal {
 public:
  WithoutFileSizeSignal() {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &one, &before_);
  }
  ~WithoutFileSizeSignal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutFileSizeSignal(const WithoutFileSizeSignal&) = delete;
  WithoutFileSizeSignal& operator=(const WithoutFileSizeSignal&) = delete;

 private:
  sigset_t before_ = {};
};

// The names that a process shared. Only texts in its file count.
class LeftNames : public Names {
 public:
  LeftNames(const SharedPlace& place, TraceFile& file, uint32_t next_text)
      : place_(place), file_(file) {
    const uint64_t used = std::min<uint64_t>(place.names_used.load(), place.names.size());
    for (uint64_t i = 0; i < used; ++i) {
      const SharedName& name = place.names[i];
      if (name.text < next_text) kernels_[name.address] = name.text;
    }
  }

  uint32_t of_call(wire::Domain domain, uint32_t function) override {
    const auto& texts = place_.call_texts[static_cast<size_t>(domain)];
    const uint32_t at = function < texts.size() ? texts[function] : 0;
    if (at == 0 || at > place_.call_text.size()) return file_.text(kUnknownCall);
    const char* text = place_.call_text.data() + at - 1;
    return file_.text({text, ::strnlen(text, place_.call_text.size() - at)});
  }

  // A name that was not written in time is counted as unknown, never guessed.
  uint32_t of_kernel(const char* name) override {
    const auto found = kernels_.find(reinterpret_cast<uint64_t>(name));
    if (found != kernels_.end()) return found->second;
    ++nameless_;
    return wire::kNoString;
  }

  uint64_t nameless() const { return nameless_; }

 private:
  const SharedPlace& place_;
  TraceFile& file_;
  std::unordered_map<uint64_t, uint32_t> kernels_;
  uint64_t nameless_ = 0;
};

struct FileEnd {
  TraceFile::End end;
  SourceProgress sources;
};

// True if the file has the complete block of this progress.
bool has_block(int fd, uint64_t session, const Progress& progress, FileEnd& found) {
  const uint64_t offset = progress.offset.load(std::memory_order_acquire);
  if (offset == 0) return false;
  wire::BlockHeader header = {};
  const auto at = static_cast<off_t>(offset);
  if (::pread(fd, &header, sizeof(header), at) != sizeof(header)) return false;
  if (header.magic != wire::kBlockMagic || header.session != session ||
      header.sequence != progress.sequence.load() || header.payload_bytes > wire::kMaxPayload) {
    return false;
  }
  std::vector<unsigned char> payload(header.payload_bytes);
  const ssize_t got = ::pread(fd, payload.data(), payload.size(), at + off_t{sizeof(header)});
  if (got != static_cast<ssize_t>(payload.size())) return false;
  if (header.checksum != wire::block_checksum(header, payload.data())) return false;
  found.end = {offset + sizeof(header) + payload.size(), header.sequence + 1, progress.next_text,
               progress.records};
  found.sources = progress.sources;
  return true;
}

// False: the file has blocks, but how much of the shared data they hold is unknown.
bool find_end(const std::string& path, uint64_t session, const SharedPlace& place, FileEnd& found,
              std::string& problem) {
  // The program may have overwritten the path.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    problem = error_text();
    return false;
  }
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
      (status.st_size > 0 && status.st_size < static_cast<off_t>(sizeof(wire::FileHeader)))) {
    ::close(fd);
    problem = "it is not of this recording";
    return false;
  }
  wire::FileHeader head = {};
  const bool has_head = ::pread(fd, &head, sizeof(head), 0) == sizeof(head);
  if (has_head && (std::memcmp(head.magic, wire::kMagic, sizeof(head.magic)) != 0 ||
                   head.session != session || head.checksum != wire::file_checksum(head))) {
    ::close(fd);
    problem = "it is not of this recording";
    return false;
  }
  FileEnd ends[2];
  const bool held[2] = {has_block(fd, session, place.progress[0], ends[0]),
                        has_block(fd, session, place.progress[1], ends[1])};
  wire::BlockHeader first = {};
  const bool has_more =
      ::pread(fd, &first, sizeof(first), sizeof(wire::FileHeader)) == sizeof(first);
  ::close(fd);
  if (held[0] || held[1]) {
    const bool second = held[1] && (!held[0] || ends[1].end.sequence > ends[0].end.sequence);
    found = ends[second ? 1 : 0];
    return true;
  }
  // The file has at most a first block that was being written.
  const bool begun = place.progress[0].offset.load() == sizeof(wire::FileHeader) &&
                     place.progress[1].offset.load() == 0;
  if (has_head) found.end.bytes = sizeof(wire::FileHeader);
  if (!has_more || begun) return true;
  problem = "its last block is not what its process wrote";
  return false;
}

void write_process(const SharedPlace& place, TraceFile& file) {
  wire::Process process = place.process;
  process.name =
      file.text({place.program.data(), ::strnlen(place.program.data(), place.program.size())});
  process.assay_version =
      file.text({place.version.data(), ::strnlen(place.version.data(), place.version.size())});
  file.add(wire::Kind::kProcess, process);
}

bool is_told(const SharedPlace& place) {
  return place.told.load() >= (place.is_traced.load() != 0 ? Told::kTraced : Told::kProcess);
}

// Writes the clock if the file lacks it, and for CLOCK_MONOTONIC also the last moment.
void write_clock(const SharedPlace& place, TraceFile& file) {
  const bool is_ours = place.process.clock != wire::ClockKind::kTracerOwn;
  wire::Clock clock = place.clock;
  if (is_ours) {
    clock.monotonic = monotonic_ns();
    clock.tracer = place.process.clock == wire::ClockKind::kMonotonic ? clock.monotonic : 0;
    clock.realtime = realtime_ns();
    clock.uncertainty_ns = static_cast<uint32_t>(monotonic_ns() - clock.monotonic);
  }
  if (is_ours || !is_told(place)) file.add(wire::Kind::kClock, clock);
}

void write_buffers(const uint8_t* base, const AreaLayout& layout, const SourceProgress& done,
                   Decoder& decoder) {
  const auto& place = *reinterpret_cast<const SharedPlace*>(base);
  std::vector<size_t> order;
  for (size_t i = 0; i < layout.buffers; ++i) {
    const BufferUse use = place.buffers[i].use.load(std::memory_order_acquire);
    const bool in_file = use == BufferUse::kFull && place.buffers[i].number < done.buffer;
    if ((use == BufferUse::kFull && !in_file) || use == BufferUse::kOut) order.push_back(i);
  }
  // Completed buffers in order, then those that CUPTI was filling.
  std::sort(order.begin(), order.end(), [&place](size_t a, size_t b) {
    const auto number = [&place](size_t i) {
      const SharedBuffer& buffer = place.buffers[i];
      return buffer.use.load() == BufferUse::kOut ? UINT64_MAX : buffer.number;
    };
    return std::pair(number(a), a) < std::pair(number(b), b);
  });
  for (const size_t i : order) {
    const SharedBuffer& buffer = place.buffers[i];
    const bool full = buffer.use.load() == BufferUse::kFull;
    const uint64_t skip = full && buffer.number == done.buffer ? done.buffer_records : 0;
    const size_t size = full ? std::min<uint64_t>(buffer.valid, kBufferBytes) : kBufferBytes;
    decoder.decode_left(place.record_bytes, base + layout.buffer_at(i), size, skip);
  }
}

void write_banks(const uint8_t* base, const AreaLayout& layout, const SourceProgress& done,
                 TraceFile& file) {
  const auto& place = *reinterpret_cast<const SharedPlace*>(base);
  const size_t older = place.banks[0].number <= place.banks[1].number ? 0 : 1;
  for (const size_t i : {older, 1 - older}) {
    const SharedBank& bank = place.banks[i];
    const uint64_t used = std::min<uint64_t>(bank.used.load(), layout.bank_bytes);
    if (used == 0 || bank.number < done.bank) continue;
    uint64_t at = bank.number == done.bank ? done.bank_bytes : 0;
    HostLog::write(base + layout.bank_at(i), at, used, file, at);
  }
}

void write_open_ranges(const SharedPlace& place, TraceFile& file) {
  // The process ended soon after its recorder's last check, which may be long ago.
  const uint64_t alive = std::min(place.alive_ns.load(), monotonic_ns());
  for (const SharedOpenRange& open : place.open) {
    wire::Range range = {};
    range.start = open.start.load(std::memory_order_acquire);
    if (range.start == 0) continue;
    range.thread = open.thread;
    range.end = std::max(alive, range.start);
    range.name = open.name;
    range.domain = open.domain;
    range.category = open.category;
    range.flags = open.flags | wire::kStillOpen;
    file.add(wire::Kind::kRange, range);
  }
}

void write_note(wire::NoteCode code, uint64_t value, const std::string& text, TraceFile& file) {
  wire::Note note = {};
  note.code = code;
  note.monotonic = monotonic_ns();
  note.value = static_cast<int64_t>(value);
  note.text = file.text(text);
  file.add(wire::Kind::kNote, note);
}

// The program may have overwritten the text.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

// Rescues the mapped slot of a dead process.
SharedMemory::Rescued rescue_one(const uint8_t* base, const AreaLayout& layout, uint64_t session) {
  const auto& place = *reinterpret_cast<const SharedPlace*>(base);
  SharedMemory::Rescued rescued;
  const std::string path(place.path.data(), ::strnlen(place.path.data(), place.path.size()));
  rescued.file = printable(path);
  rescued.pid = place.pid;
  FileEnd end;
  if (!find_end(path, session, place, end, rescued.problem)) return rescued;
  TraceFile file;
  if (!file.resume(path, session, place.max_bytes, end.end)) {
    rescued.problem = std::strerror(file.error());
    return rescued;
  }
  if (end.end.bytes == 0) file.begin(place.pid);  // not even its header
  for (size_t reason = 0; reason < place.lost.size(); ++reason) {
    file.count_lost(static_cast<wire::LostReason>(reason), place.lost[reason].load());
  }
  const uint64_t unfinished_before = file.lost(wire::LostReason::kUnfinished);
  if (!is_told(place)) write_process(place, file);
  LeftNames names(place, file, end.end.next_text);
  Decoder decoder(file, names, place.own_thread);
  const uint64_t before = file.events();
  write_buffers(base, layout, end.sources, decoder);
  write_banks(base, layout, end.sources, file);
  write_open_ranges(place, file);
  write_clock(place, file);
  file.flush();
  rescued.rows = file.events() - before;
  rescued.nameless = names.nameless();
  rescued.unfinished = file.lost(wire::LostReason::kUnfinished) - unfinished_before;
  file.take_last();
  if (rescued.nameless > 0) {
    write_note(wire::NoteCode::kNamesLost, rescued.nameless,
               std::to_string(rescued.nameless) +
                   " of the last kernels have no name: the program was gone before theirs was "
                   "written down",
               file);
  }
  write_note(wire::NoteCode::kRescued, rescued.rows,
             "the program was killed, crashed, called _exit or exec: its last " +
                 std::to_string(rescued.rows) + " rows were read from shared memory; " +
                 std::to_string(rescued.unfinished) + " that had not finished are missing",
             file);
  file.close(monotonic_ns());
  if (file.error() != 0) rescued.problem = std::strerror(file.error());
  return rescued;
}

// A process that was killed together with the command may not have ended yet.
bool lock_in_time(int fd, uint64_t place_at) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (lock_place(fd, place_at)) return true;
    if (errno != EAGAIN && errno != EACCES) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      session_(other.session_),
      path_(std::move(other.path_)),
      problem_(std::move(other.problem_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(session_, other.session_);
  std::swap(path_, other.path_);
  std::swap(problem_, other.problem_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (fd_ >= 0) ::close(fd_);
}

SharedMemory SharedMemory::make(uint64_t session) {
  SharedMemory memory;
  memory.session_ = session;
  memory.path_ = kNoSharedMemory;
  memory.fd_ = ::memfd_create("assay-record", MFD_CLOEXEC);
  bool made = memory.fd_ >= 0 && lay_out(memory.fd_, session, kPlaces, kRoomy, false);
  if (!made) {
    memory.problem_ = error_text();
    if (memory.fd_ >= 0) ::close(memory.fd_);
    memory.fd_ = ::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    made = memory.fd_ >= 0 && lay_out(memory.fd_, session, kFewPlaces, kSmall, true);
    if (!made) memory.problem_ += "; /dev/shm: " + error_text();
  }
  if (made) {
    memory.path_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory.fd_);
    memory.problem_.clear();
  }
  return memory;
}

std::vector<SharedMemory::Rescued> SharedMemory::rescue() {
  std::vector<Rescued> all;
  AreaHead head = {};
  if (fd_ < 0 || ::pread(fd_, &head, sizeof(head), 0) != sizeof(head)) return all;
  const WithoutFileSizeSignal quiet;
  const AreaLayout layout = {head.buffers, head.bank_bytes};
  for (uint32_t i = 0; i < head.places; ++i) {
    const uint64_t at = layout.place_at(i);
    PlaceUse use = PlaceUse::kEmpty;
    const bool left = ::pread(fd_, &use, sizeof(use), static_cast<off_t>(at)) == sizeof(use) &&
                      use == PlaceUse::kRecording;
    if (!left || !lock_in_time(fd_, at)) continue;
    // The process may have closed its file in the meantime.
    if (::pread(fd_, &use, sizeof(use), static_cast<off_t>(at)) != sizeof(use) ||
        use != PlaceUse::kRecording) {
      continue;
    }
    void* map = ::mmap(nullptr, layout.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                       fd_, static_cast<off_t>(at));
    if (map == MAP_FAILED) {
      all.push_back({"", 0, 0, 0, 0, "shared memory: " + error_text()});
      continue;
    }
    all.push_back(rescue_one(static_cast<const uint8_t*>(map), layout, session_));
    static_cast<SharedPlace*>(map)->use.store(PlaceUse::kClosed, std::memory_order_release);
    ::munmap(map, layout.bytes());
  }
  return all;
}

}  // namespace assay::record
