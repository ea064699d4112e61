#pragma once

// Prefill and decode: the two phases of generating text. Told by labels, else by a pattern that
// repeats per token, else not told: a wrong split spoils every number, no split spoils none.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

enum class Phase : uint8_t { kNone, kPrefill, kDecode };
std::string_view phase_name(Phase phase);

enum class PhaseSource : uint8_t { kNone, kLabels, kShapes, kPattern };
std::string_view phase_source_name(PhaseSource source);

struct Phases {
  PhaseSource source = PhaseSource::kNone;
  Windows windows;           // ordered, disjoint; empty when the phases could not be told apart
  std::vector<Phase> phase;  // per window, kNone for what is neither (a mixed batch)
  // Decode steps among the windows, each of which makes one token per sequence; 0 = not told (one
  // label around a whole decode loop).
  uint64_t decode_steps = 0;
  std::string why;  // one sentence: what told them apart, or what was missing
};

// What a label says. "prefill" and "decode" as words in any letter case ("decoder" is none);
// SGLang's "step[EXTEND ...]"; vLLM's "..._context_3(...)_generation_0(...)": sequences in prefill
// and in decode, both at once is a mixed batch and neither. A label that says both is neither.
Phase phase_of_label(std::string_view label);
// Labels that serving engines give to every step of their loop: "step[DECODE ...]", "execute_...".
bool is_step_label(std::string_view label);

// Whether something attends and nothing trains.
bool may_generate(const Trace& trace);

// 1. Annotations whose label says a phase, the outermost ones.
// 2. Of the given iterations: runs of at least 4 in a row with nearly the same kernels (number
//    within 2 %, at least 95 % in common) are decode steps when the iteration before the run has
//    other kernels and at least 1.2 times their device time: that one is the prefill.
// 3. In a trace that is one window: the sequence of kernel names, in launch order, ends with at
//    least 4 repeats of one period of at least 16 kernels, and the host waits for the device or
//    copies from it in every one of them; what lies before is the prefill if it has 0.8 to 1.5
//    times as many kernels as a period and at least 1.2 times its device time.
// 2 and 3 only where some operator or kernel is an attention and none belongs to training.
Phases find_phases(const Trace& trace, const Links& links, const Windows& windows);

}  // namespace assay
