#pragma once

// Divides a recording into parts: work queued before it, start-up, steady parts, holes, and time
// without requests. The parts are contiguous and cover the window exactly.

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
  kSteady,     // can be analyzed
  kStart,      // less than 1 % of the device's work, before all other parts
  kBefore,     // before the first labelled step
  kLeadIn,     // submitted work waits for something not in the file
  kStartUp,    // initialization before the steady part
  kColdAgain,  // initialization in the middle
  kHole,       // as kLeadIn, in the middle
  kNotLoaded,  // no work was requested
  kTail,       // kHole or kNotLoaded up to the end
  kAfter,      // after the last labelled step and its work
  kAsked,      // chosen by its times (judge_run)
};
constexpr size_t kStretchKinds = 11;
// "steady", "lead_in", ...; for the command line and JSON.
std::string_view stretch_kind_word(StretchKind kind);

// The repeated unit of a part, from labels or repetition.
enum class StretchUnit : uint8_t { kNone, kIteration, kStep, kPrefill, kDecode, kMixed };
std::string_view stretch_unit_word(StretchUnit unit);
// True for steps of an inference engine.
bool is_engine_step(StretchUnit unit);

struct Stretch {
  StretchKind kind = StretchKind::kSteady;
  Interval span;
  int64_t ns = 0;  // its length without unrecorded time
  StretchUnit unit = StretchUnit::kNone;
  uint64_t iterations = 0;       // complete ones, or engine steps
  std::optional<BoundBy> cause;  // none if not analyzed
  bool headline = false;         // the analyzed part
  FlowTotals total;              // over all devices
};

// The name on the command line and in messages: "lead-in", "39 iterations", "prefill step".
std::string stretch_name(const Stretch& stretch);

struct Stretches {
  std::vector<Stretch> parts;  // in order of time; one if nothing is cut; none without work
  Interval window;             // hull of the parts
  int64_t window_ns = 0;       // without unrecorded time
  double idle_share = 0;       // idle share of the devices over the window
  bool torn = false;           // holes throughout: events are missing, so idle time means nothing

  const Stretch* headline() const {
    for (const Stretch& part : parts) {
      if (part.headline) return &part;
    }
    return nullptr;
  }
};

// Outermost step labels of an inference engine, as windows like those of iterations.
Windows engine_steps(const Trace& trace);

// Fills only kind, span, unit and iterations. device: FlowReport::all_devices(). iterations: from
// the trace; engine labels take precedence if these are not labelled.
std::vector<Stretch> find_stretches(const FlowRun& run, const DeviceFlow& device,
                                    const Windows& iterations, Interval window);

// From the first begin to the last end of `iterations` if they are labelled; else none.
std::optional<Interval> labelled_steps(const Windows& iterations);

}  // namespace assay
