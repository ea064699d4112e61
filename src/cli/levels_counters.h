#pragma once

// The options of `levels` that bring hardware counters in, and what becomes of them.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common.h"
#include "levels/counters.h"
#include "levels/ranks.h"
#include "report/document/document.h"

namespace assay {

class Verb;  // cli/options.h

struct ConfigFigures;  // levels/figures.h

struct CounterFlags {
  std::vector<std::string> counters;
  std::string peaks;
  std::string reading = "curve";
  std::string formulas;
  std::string facts;
  bool partial = false;
};

void add_counter_options(Verb& verb, CounterFlags& flags);

// The counter runs of a command, read once.
class CounterRuns {
 public:
  static Result<CounterRuns> read(const CounterFlags& flags, const CommonOptions& common);

  bool empty() const { return passes_.empty(); }
  // Of the runs, those of the trace's rank; runs whose name tells no rank are every rank's.
  Result<CounterJoin> join(const LoadedTrace& loaded, const LevelsReport& report,
                           int64_t rank) const;
  // What waterfalls are made of, and these: the figures of a configuration.
  Status add_waterfalls(const CounterFlags& flags, const JobLevels& job,
                        ConfigFigures& figures) const;
  // Adds inputs, words and tables to the document.
  Status describe(const CounterFlags& flags, const JobLevels& job, Document& document) const;

 private:
  std::vector<CounterPass> passes_;
  CounterOptions options_;
};

}  // namespace assay
