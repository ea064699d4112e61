#pragma once

// Hardware-counter runs of traces, and their waterfalls.

#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "breakdown/counters.h"
#include "breakdown/ranks.h"
#include "breakdown/waterfall.h"
#include "report/document/document.h"

namespace assay {

struct ConfigFigures;  // breakdown/figures.h

struct CounterRequest {
  std::vector<std::string> files = {};  // or folders: docs/formats/rocprof.md, docs/formats/ncu.md
  std::string peaks = {};               // "MI300X,clock_mhz=1900": a device, values, or both
  OverlapReading reading = OverlapReading::kCurve;
  std::string formulas = {};  // file: docs/formats/counter_formulas.md
  std::string facts = {};     // file: docs/formats/facts.md
  bool partial = false;       // the runs were restricted to some kernels
};

// The device named by a --peaks argument; empty if the argument has values only.
Result<std::string> peaks_device(const std::string& text);

// The counter runs of a request, read once for all ranks.
class CounterRuns {
 public:
  // `roof`: the device and specifications are needed even without counter runs.
  static Result<CounterRuns> read(const CounterRequest& request, bool allow_truncated,
                                  bool roof = false);

  bool empty() const { return passes_.empty(); }
  // The runs of the trace's rank; a run without a rank in its name belongs to every rank.
  Result<CounterJoin> join(const LoadedTrace& loaded, const BreakdownReport& report,
                           int64_t rank) const;
  // Computes the waterfalls and adds them and their inputs to a configuration's figures.
  Status add_waterfalls(const CounterRequest& request, const JobLevels& job,
                        ConfigFigures& figures) const;
  // Adds inputs, sentences and tables to the document.
  Status describe(const CounterRequest& request, const JobLevels& job, Document& document) const;

 private:
  std::vector<CounterPass> passes_;
  CounterOptions options_;
};

}  // namespace assay
