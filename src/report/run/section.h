#pragma once

// Sections on a whole run: the input, caveats, the headline and its actions.

#include <initializer_list>
#include <string>
#include <vector>

#include "kernels/names.h"
#include "launch/metrics.h"
#include "launch/shares.h"
#include "report/document/document.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

// ---- trace: the input (trace.cc) ----
// Properties of the file for the head of a document: device, rank, events, duration.
std::vector<Item> trace_items(const Trace& trace);
// Rows per table, kinds, times, links and launch numbers: docs/formats/summary.md.
std::vector<Section> import_summary_sections(const Trace& trace, const Links& links,
                                             const LaunchReport& launch);
// "caveats" at the top level of the document; empty notes give an empty array.
Section trust_section(const TrustNotes& notes);

// Caveats of a run: data lost on import, which makes every total a lower bound, then those of each
// module. Several modules may have caveats about the same rows; each describes the effect on its
// own numbers.
TrustNotes all_notes(const ImportLog& log, std::initializer_list<TrustNotes> rooms);
// Kernels are classified by their names. The caveat has the share of the trace that rests on
// guesses, and the share without a classification.
TrustNotes kernel_notes(const Trace& trace, const KernelNames& names);
// Keeps a section for JSON and CSV only: for modules without information for readers of this trace.
void hide_from_readers(Section& section);

// ---- the words (verdict.cc) ----
// A way to make the run faster, and what a replay of the run with it gives.
struct Lever {
  std::string key;   // stable: "cuda_graph", "cheaper_host", "device_work", "input", ...
  std::string what;  // one sentence: what to do
  std::string edit;  // what was replayed, as `assay whatif --edit` takes it
  int64_t gain_ns = 0;
  double share_of_window = 0;
  bool predicted = false;  // else "at most"
  std::string basis;       // what the replay leaves out
  int64_t at_most_ns = 0;  // the bound that needs no replay; where there is none, the gain
};
// "at most 47.2 ms, 5.4 % of the window"
std::string lever_gain_words(const Lever& lever);
bool has_kernels(const Trace& trace);
// Why there is nothing to say about launches, in a trace without kernels.
std::string no_kernels_words(const Trace& trace);
// Sentence for a trace with rows of unknown kinds only; without a full stop.
std::string no_known_work_words(const Trace& trace);
// Graphs and iterations, a sentence each where there is something to say.
std::vector<std::string> run_words(const LaunchReport& launch);
// "launch_shares": shares of the launch module.
Section shares_section(const LaunchShares& shares);

}  // namespace assay
