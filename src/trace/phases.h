#pragma once

// Prefill and decode, the two phases of text generation. Detected by labels, else by a pattern that
// repeats per token, else unknown: a wrong split would make every number wrong, no split makes none
// wrong.

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
  Windows windows;           // sorted, disjoint; empty if the phases are not separable
  std::vector<Phase> phase;  // per window; kNone for a mixed batch
  // Number of decode steps among the windows, each of which makes one token per sequence; 0 =
  // unknown (one label around a whole decode loop).
  uint64_t decode_steps = 0;
  std::string why;  // a sentence: the evidence, or the missing data
};

// Phase of a label: "prefill" and "decode" as whole words in any letter case (not "decoder");
// SGLang's "step[EXTEND ...]"; vLLM's "..._context_3(...)_generation_0(...)", the numbers of
// sequences in prefill and in decode. kNone for mixed batches, and for labels with both words.
Phase phase_of_label(std::string_view label);
// True for labels that serving engines give to every step: "step[DECODE ...]", "execute_...".
bool is_step_label(std::string_view label);

// True if the trace contains attention and no training.
bool may_generate(const Trace& trace);

// Methods, in this order:
// 1. Outermost annotations with a label of a phase.
// 2. Of the given iterations: runs of at least 4 in a row with nearly the same kernels (number
//    within 2 %, at least 95 % in common) are decode steps if the iteration before the run has
//    other kernels and at least 1.2 times their device time. That iteration is the prefill.
// 3. In a trace that is one window: the sequence of kernel names, in launch order, ends with at
//    least 4 repeats of one period of at least 16 kernels, and the host waits for the device or
//    copies from it in every one of them. The part before it is the prefill if it has 0.8 to 1.5
//    times as many kernels as a period and at least 1.2 times its device time.
// 2 and 3 apply only if an operator or kernel is an attention and none belongs to training.
Phases find_phases(const Trace& trace, const Links& links, const Windows& windows);

}  // namespace assay
