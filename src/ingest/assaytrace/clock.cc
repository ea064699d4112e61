#include "ingest/assaytrace/clock.h"

#include <algorithm>
#include <cstdlib>

namespace assay {
namespace {

// Adjusted clocks run up to 0.05 % fast or slow, and sampling takes time. A larger change is a
// step.
constexpr int64_t kStepNs = 1'000'000;
constexpr int64_t kStepShare = 1000;

int64_t difference(uint64_t later, uint64_t earlier) {
  return static_cast<int64_t>(later - earlier);  // modulo 2^64: hostile values may wrap, never trap
}

bool is_step(int64_t change_ns, int64_t elapsed_ns) {
  const uint64_t change =
      change_ns < 0 ? 0 - static_cast<uint64_t>(change_ns) : static_cast<uint64_t>(change_ns);
  const int64_t elapsed = std::max<int64_t>(elapsed_ns, 0);
  return change > static_cast<uint64_t>(kStepNs + elapsed / kStepShare);
}

int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

int64_t RecordingClock::offset(const wire::Clock& clock) const {
  return difference(clock.tracer, clock.monotonic);
}

void RecordingClock::settle(wire::ClockKind kind, const wire::FileHeader* header) {
  kind_ = kind;
  for (size_t i = 1; i < clocks_.size(); ++i) {
    const int64_t elapsed = difference(clocks_[i].monotonic, clocks_[i - 1].monotonic);
    const int64_t wall = difference(clocks_[i].realtime, clocks_[i - 1].realtime);
    if (is_step(minus(wall, elapsed), elapsed)) ++wall_steps_;
  }
  const bool any = !clocks_.empty();
  if (kind != wire::ClockKind::kTracerOwn) {
    if (any) {
      base_ns_ = difference(clocks_.front().realtime, clocks_.front().monotonic);
    } else if (header != nullptr) {
      base_ns_ = difference(header->realtime_ns, header->monotonic_ns);
    }
    if (kind == wire::ClockKind::kNone) return;
  }
  std::erase_if(clocks_, [](const wire::Clock& clock) { return clock.tracer == 0; });
  if (clocks_.empty()) return;
  if (kind == wire::ClockKind::kTracerOwn) {
    base_ns_ = difference(clocks_.front().realtime, clocks_.front().tracer);
    wall_steps_ = 0;  // the tracer uses the wall clock: counted as tracer steps below
  }
  int64_t expected = kind == wire::ClockKind::kMonotonic ? 0 : offset(clocks_.front());
  uint64_t before = clocks_.front().monotonic;
  for (const wire::Clock& clock : clocks_) {
    if (is_step(minus(offset(clock), expected), difference(clock.monotonic, before))) {
      ++tracer_steps_;
    }
    expected = offset(clock);
    before = clock.monotonic;
  }
  told_ns_ = difference(clocks_.back().monotonic, clocks_.front().monotonic);
  if (kind == wire::ClockKind::kTracerOwn && tracer_steps_ == 0) {
    drift_ns_ = minus(offset(clocks_.back()), offset(clocks_.front()));
  }
}

int64_t RecordingClock::tracer_time(uint64_t monotonic_ns) const {
  const auto time = static_cast<int64_t>(monotonic_ns);
  if (kind_ != wire::ClockKind::kTracerOwn || clocks_.empty()) return time;
  const auto after = std::upper_bound(
      clocks_.begin(), clocks_.end(), monotonic_ns,
      [](uint64_t moment, const wire::Clock& clock) { return moment < clock.monotonic; });
  const auto sum = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  if (after == clocks_.begin()) return sum(time, offset(clocks_.front()));
  const wire::Clock& left = *(after - 1);
  if (after == clocks_.end()) return sum(time, offset(left));
  const int64_t span = difference(after->monotonic, left.monotonic);
  const int64_t change = minus(offset(*after), offset(left));
  if (is_step(change, span)) return sum(time, offset(left));
  const double share = span > 0 ? static_cast<double>(difference(monotonic_ns, left.monotonic)) /
                                      static_cast<double>(span)
                                : 0;
  return sum(time, sum(offset(left), static_cast<int64_t>(share * static_cast<double>(change))));
}

void RecordingClock::report(ImportLog& log) const {
  log.add(ImportCode::kClockStep, -1, wall_steps_);
  log.add(ImportCode::kTracerClockStep, -1, tracer_steps_);
}

}  // namespace assay
