#pragma once

#include <functional>
#include <optional>
#include <thread>

namespace assay {

// A thread that does `work`; none where the system grants no more of them (a container's limit on
// processes, no room for a stack). The caller then does without, or does the work itself.
std::optional<std::thread> try_thread(std::function<void()> work);

}  // namespace assay
