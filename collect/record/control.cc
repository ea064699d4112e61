#include "collect/record/control.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace assay::record {

void Control::open(const std::string& path) {
  if (path.empty()) return;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* map = ::mmap(nullptr, sizeof(wire::Control), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (map != MAP_FAILED) word_ = static_cast<const wire::Control*>(map);
}

bool Control::changed(bool& recording) {
  if (word_ == nullptr || __atomic_load_n(&word_->magic, __ATOMIC_RELAXED) != wire::kControlMagic) {
    return false;
  }
  const uint32_t now = __atomic_load_n(&word_->recording, __ATOMIC_ACQUIRE);
  if (now == seen_) return false;
  seen_ = now;
  recording = now != 0;
  return true;
}

}  // namespace assay::record
