#pragma once

// Progress messages of an answer. The library prints nothing. A caller may pass functions; an empty
// one ignores its messages.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ingest/chrome/reader.h"

namespace assay {

struct Listener {
  // A file is being read for as long as the result is held; progress lives longer than that.
  std::function<std::shared_ptr<void>(const std::string& path, const ReadProgress& progress)>
      reading = {};
  // A notice that is not an error: an omitted input, a rebuilt cached form. It
  // may hold names from files: hostile text.
  std::function<void(const std::string& sentence)> note = {};
  // A phase has ended. bytes: its input; 0 = unknown.
  std::function<void(const char* phase, double seconds, uint64_t bytes)> phase = {};
  // Progress of a long search; an empty text means that it has ended.
  std::function<void(const std::string& text)> step = {};
  // Held while a search may be stopped early. stopped: end it now and answer with what there is.
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
  // The phase that began with the clock, or with the mark before.
  void mark(const char* phase, uint64_t bytes = 0);

 private:
  const Listener& listener_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace assay
