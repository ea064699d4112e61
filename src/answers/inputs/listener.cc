#include "answers/inputs/listener.h"

namespace assay {

void Listener::tell(const std::string& sentence) const {
  if (note) note(sentence);
}

void Listener::tell_step(const std::string& text) const {
  if (step) step(text);
}

std::shared_ptr<void> Listener::begin_reading(const std::string& path,
                                              const ReadProgress& progress) const {
  return reading ? reading(path, progress) : nullptr;
}

std::shared_ptr<void> Listener::begin_stoppable() const {
  return stoppable ? stoppable() : nullptr;
}

bool Listener::asks_to_stop() const { return stopped && stopped(); }

PhaseClock::PhaseClock(const Listener& listener)
    : listener_(listener), last_(std::chrono::steady_clock::now()) {}

void PhaseClock::mark(const char* phase, uint64_t bytes) {
  if (!listener_.phase) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - last_;
  listener_.phase(phase, took.count(), bytes);
  last_ = std::chrono::steady_clock::now();
}

}  // namespace assay
