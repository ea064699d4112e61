#pragma once

// What an answer tells while it is made. The library says nothing by itself: whoever asks may
// listen, and a function that is left empty listens to nothing.

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
  // What is no error but worth a sentence: an input left out, a cached form that was made anew. It
  // may hold names from files: hostile text.
  std::function<void(const std::string& sentence)> note = {};
  // A phase of the work is over. bytes: what it took in; 0 = not told.
  std::function<void(const char* phase, double seconds, uint64_t bytes)> phase = {};
  // How far a long search is; an empty text: it is over.
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

// Tells the listener how long each phase took.
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
