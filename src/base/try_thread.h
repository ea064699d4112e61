#pragma once

#include <functional>
#include <optional>
#include <thread>

namespace assay {

// Starts a thread that runs `work`; nullopt if the system grants no more threads (a container's
// process limit, no memory for a stack). The caller then does the work itself or skips it.
std::optional<std::thread> try_thread(std::function<void()> work);

}  // namespace assay
