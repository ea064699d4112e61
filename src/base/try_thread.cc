#include "base/try_thread.h"

#include <utility>

#include "base/platform/platform.h"

namespace assay {

std::optional<std::thread> try_thread(std::function<void()> work) {
  return platform::start_thread(std::move(work));
}

}  // namespace assay
