#pragma once

// The parts of a recording: what waits for work from before it, start-up, what can be judged, holes,
// and time in which nobody asked. They touch, and together they are the window, to the nanosecond.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "flow/causes.h"
#include "flow/run.h"
#include "trace/iterations.h"

namespace assay {

enum class BoundBy : uint8_t;  // flow/verdict.h

enum class StretchKind : uint8_t {
  kSteady,     // can be judged
  kStart,      // less than 1 % of the device's work, before any of the others
  kBefore,     // before the first labelled step
  kLeadIn,     // work was handed over and waits for what is not in the file
  kStartUp,    // one-off costs before the steady part
  kColdAgain,  // one-off costs in the middle
  kHole,       // as kLeadIn, in the middle
  kNotLoaded,  // nobody asked for work
  kTail,       // kHole or kNotLoaded up to the end
  kAfter,      // behind the last labelled step and its work
  kAsked,      // chosen by its times (judge_run)
};
constexpr size_t kStretchKinds = 11;
// "steady", "lead_in", ...; what users type and JSON has.
std::string_view stretch_kind_word(StretchKind kind);

// What a run is made of in one stretch, where labels or repetition tell.
enum class StretchUnit : uint8_t { kNone, kIteration, kStep, kPrefill, kDecode, kMixed };
std::string_view stretch_unit_word(StretchUnit unit);
// True for steps of an inference engine.
bool is_engine_step(StretchUnit unit);

struct Stretch {
  StretchKind kind = StretchKind::kSteady;
  Interval span;
  int64_t ns = 0;  // of it, without what the recorder left out
  StretchUnit unit = StretchUnit::kNone;
  uint64_t iterations = 0;       // whole ones, or steps of an engine
  std::optional<BoundBy> cause;  // none where it was not looked at
  bool headline = false;         // the answer is about this one
  FlowTotals total;              // over all devices
};

// As named on the command line and in messages: "lead-in", "39 iterations", "prefill step".
std::string stretch_name(const Stretch& stretch);

struct Stretches {
  std::vector<Stretch> parts;  // in order of time; one where nothing is cut; none without work
  Interval window;             // all of them
  int64_t window_ns = 0;       // without what the recorder left out
  double idle_share = 0;       // of the devices, over all of it
  bool torn = false;           // holes throughout: rows are missing, and idle time means nothing

  const Stretch* headline() const {
    for (const Stretch& part : parts) {
      if (part.headline) return &part;
    }
    return nullptr;
  }
};

// Steps of an inference engine by their labels, the outermost ones; windows as those of iterations.
Windows engine_steps(const Trace& trace);

// Only kinds, spans, units and iterations are filled. device: FlowReport::all_devices().
std::vector<Stretch> find_stretches(const FlowRun& run, const DeviceFlow& device,
                                    const Windows& iterations, Interval window);

// Of the labelled steps among `iterations`, from the first begin to the last end; none without
// labels.
std::optional<Interval> labelled_steps(const Windows& iterations);

}  // namespace assay
