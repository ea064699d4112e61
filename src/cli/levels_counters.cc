#include "cli/levels_counters.h"

#include <CLI/CLI.hpp>

#include "cli/facts_option.h"

namespace assay {
namespace {

OverlapReading reading_of(const std::string& name) {
  for (const OverlapReading reading :
       {OverlapReading::kCurve, OverlapReading::kCumulative, OverlapReading::kQuantile}) {
    if (overlap_reading_name(reading) == name) return reading;
  }
  return OverlapReading::kCurve;
}

}  // namespace

void add_counter_options(CLI::App& verb, CounterFlags& flags) {
  verb.add_option("--counters", flags.counters,
                  "counter runs of the same program: files or folders of rocprofv3 --pmc, rocpd or "
                  "ncu --csv (docs/formats/rocprof.md, docs/formats/ncu.md)")
      ->type_name("PATH");
  verb.add_option("--peaks", flags.peaks,
                  "the device for the waterfall, by name or as values: MI300X, "
                  "clock_mhz=1900,tflops=1200")
      ->type_name("TEXT");
  verb.add_option("--d0", flags.reading,
                  "how durations at 0 % and 50 % overlap are read: curve, cumulative, quantile")
      ->check(CLI::IsMember({"curve", "cumulative", "quantile"}))
      ->capture_default_str();
  verb.add_option("--formulas", flags.formulas,
                  "more formulas over counters (docs/formats/counter_formulas.md)")
      ->type_name("FILE");
  verb.add_flag("--partial-counters", flags.partial,
                "the counter runs were restricted to some kernels: others do not count against the "
                "match rate");
  add_facts_option(verb, flags.facts);
}

CounterRequest counter_request(const CounterFlags& flags) {
  return {.files = flags.counters,
          .peaks = flags.peaks,
          .reading = reading_of(flags.reading),
          .formulas = flags.formulas,
          .facts = flags.facts,
          .partial = flags.partial};
}

}  // namespace assay
