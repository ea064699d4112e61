#include "collect/record/shared_area.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace assay::record {
namespace {

constexpr uint64_t kOwnBankBytes = 16 << 20;

// Opens only an area of this session: the path may denote another file here.
int open_area(const std::string& path, uint64_t session, AreaHead& head, std::string& problem) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    problem = path + ": " + std::strerror(errno);
    return -1;
  }
  const int fd = S_ISREG(status.st_mode) ? ::open(path.c_str(), O_RDWR | O_CLOEXEC) : -1;
  const bool ours = fd >= 0 && ::pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
                    head.magic == AreaHead::kMagic && head.session == session &&
                    head.place_bytes == sizeof(SharedPlace) &&
                    head.buffers <= SharedPlace::kMostBuffers;
  if (ours) return fd;
  problem = path + ": " +
            (fd < 0 && S_ISREG(status.st_mode) ? std::strerror(errno)
                                               : "not the shared memory of this recording");
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace

bool lock_place(int fd, uint64_t place_at) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(place_at);
  lock.l_len = 1;
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool Area::fail(const std::string& problem) {
  problem_ = problem;
  return false;
}

bool Area::take_place(int fd, const AreaHead& head) {
  layout_ = {head.buffers, head.bank_bytes};
  for (uint32_t i = 0; i < head.places; ++i) {
    const auto at = static_cast<off_t>(layout_.place_at(i));
    if (!lock_place(fd, static_cast<uint64_t>(at))) {
      if (errno == EAGAIN || errno == EACCES) continue;
      return fail(std::string("locks: ") + std::strerror(errno));
    }
    PlaceUse use = PlaceUse::kEmpty;
    if (::pread(fd, &use, sizeof(use), at) != sizeof(use)) return fail("cannot be read");
    if (use == PlaceUse::kRecording) {
      // Of a dead process: left for `assay record`.
      struct flock unlock = {};
      unlock.l_type = F_UNLCK;
      unlock.l_whence = SEEK_SET;
      unlock.l_start = at;
      unlock.l_len = 1;
      ::fcntl(fd, F_OFD_SETLK, &unlock);
      continue;
    }
    const auto bytes = static_cast<off_t>(layout_.bytes());
    // Also clears the data of a process that died while taking the slot.
    if (::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, bytes) != 0) {
      return fail(std::string("cannot be emptied: ") + std::strerror(errno));
    }
    if (head.reserve != 0 && ::fallocate(fd, FALLOC_FL_KEEP_SIZE, at, bytes) != 0) {
      return fail(std::string("no space in it: ") + std::strerror(errno));
    }
    void* map = ::mmap(nullptr, layout_.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                       fd, at);
    if (map == MAP_FAILED) return fail(std::string("cannot be mapped: ") + std::strerror(errno));
    // Keep these hundreds of MiB out of core files.
    ::madvise(map, layout_.bytes(), MADV_DONTDUMP);
    base_ = static_cast<uint8_t*>(map);
    shared_ = true;
    return true;
  }
  return fail("all " + std::to_string(head.places) + " places in it are taken");
}

bool Area::take(const std::string& path, uint64_t session) {
  AreaHead head = {};
  const int fd = open_area(path, session, head, problem_);
  // The mapping keeps the open file, and with it the lock.
  if (fd >= 0) {
    take_place(fd, head);
    ::close(fd);
  }
  return shared_;
}

bool Area::make_own() {
  layout_ = {0, kOwnBankBytes};
  void* map = ::mmap(nullptr, layout_.bytes(), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return false;
  base_ = static_cast<uint8_t*>(map);
  return true;
}

size_t Area::index_of(const uint8_t* buffer) const {
  if (base_ == nullptr || buffer < this->buffer(0)) return layout_.buffers;
  const auto index = static_cast<size_t>(buffer - this->buffer(0)) / kBufferBytes;
  return index < layout_.buffers ? index : layout_.buffers;
}

void Area::leave_to_parent() {
  if (!shared_) return;
  ::mmap(base_, layout_.bytes(), PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace assay::record
