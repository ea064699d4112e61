#include "base/try_thread.h"

#include <system_error>
#include <utility>

namespace assay {

std::optional<std::thread> try_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace assay
