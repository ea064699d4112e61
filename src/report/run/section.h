#pragma once

// Sections on a whole run: input, caveats, headline and actions.

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
// Properties of the trace for the head of a document: device, rank, events, duration.
std::vector<Item> trace_items(const Trace& trace);
// Rows per table, kinds, times, links and launch numbers: docs/formats/summary.md.
std::vector<Section> import_summary_sections(const Trace& trace, const Links& links,
                                             const LaunchReport& launch);
// "caveats" at the top level of the document; an empty array if there are no notes.
Section trust_section(const TrustNotes& notes);

// Caveats of a run: first data lost on import, which makes every total a lower bound, then those of
// each module. Several modules may have caveats on the same events; each describes the effect on
// its own numbers.
TrustNotes all_notes(const ImportLog& log, std::initializer_list<TrustNotes> rooms);
// Caveat on kernel classification by name: the share of the trace with a guessed class and the
// share without one.
TrustNotes kernel_notes(const Trace& trace, const KernelNames& names);
// Shows a section only in JSON and CSV, for modules that have nothing for readers of this trace.
void hide_from_readers(Section& section);
// Shows a section only to readers, for values that the data has under other keys.
void hide_from_data(Section& section);

// ---- the words (verdict.cc) ----
// A change that makes the run faster, with its gain from a replay.
struct Lever {
  std::string key;   // stable: "cuda_graph", "cheaper_host", "device_work", "input", ...
  std::string what;  // one sentence: what to do
  std::string edit;  // simulated change as an argument of `assay whatif --edit`
  int64_t gain_ns = 0;
  double share_of_window = 0;
  bool predicted = false;  // false: an upper bound
  std::string basis;       // what the replay does not model
  int64_t at_most_ns = 0;  // bound without a replay; the gain if there is none
};
// "at most 47.2 ms, 5.4 % of the window"
std::string lever_gain_words(const Lever& lever);
// A sentence on the first three; empty if there are none.
std::string levers_text(const std::vector<Lever>& levers);
bool has_kernels(const Trace& trace);
// Why launches cannot be analyzed in a trace without kernels.
std::string no_kernels_words(const Trace& trace);
// Sentence for a trace that has only events of unknown kinds, without a period.
std::string no_known_work_words(const Trace& trace);
// One sentence each on graphs and on iterations, if they occur.
std::vector<std::string> run_words(const LaunchReport& launch);
// "launch_shares": shares of the launch module.
Section shares_section(const LaunchShares& shares);

}  // namespace assay
