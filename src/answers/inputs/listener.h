#pragma once

// Progress messages of an answer. The library prints nothing itself. An empty function ignores its
// messages.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ingest/chrome/reader.h"

namespace assay {

struct Listener {
  // The file is being read while the result is held; `progress` must outlive it.
  std::function<std::shared_ptr<void>(const std::string& path, const ReadProgress& progress)>
      reading = {};
  // A notice that is not an error, such as an omitted input. It may contain names from files, which
  // are hostile text.
  std::function<void(const std::string& sentence)> note = {};
  // A phase has ended. bytes: its input, 0 = unknown.
  std::function<void(const char* phase, double seconds, uint64_t bytes)> phase = {};
  // Progress of a long search. An empty text means that it has ended.
  std::function<void(const std::string& text)> step = {};
  // Held while a search may be stopped early. If stopped() is true, the search ends and returns its
  // best result so far.
  std::function<std::shared_ptr<void>()> stoppable = {};
  std::function<bool()> stopped = {};

  void tell(const std::string& sentence) const;
  void tell_step(const std::string& text) const;
  std::shared_ptr<void> begin_reading(const std::string& path, const ReadProgress& progress) const;
  std::shared_ptr<void> begin_stoppable() const;
  bool asks_to_stop() const;
};

// Reports the time of each phase to the listener.
class PhaseClock {
 public:
  // listener must outlive the clock.
  explicit PhaseClock(const Listener& listener);
  // Ends the phase that began with the clock or the previous mark.
  void mark(const char* phase, uint64_t bytes = 0);

 private:
  const Listener& listener_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace assay
