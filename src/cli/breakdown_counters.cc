#include "cli/breakdown_counters.h"

#include "cli/facts_option.h"
#include "cli/options.h"

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

void add_counter_options(Verb& verb, CounterFlags& flags) {
  verb.option("--counters", flags.counters,
              "counter runs of the same program: files or folders of rocprofv3 --pmc, rocpd or "
              "ncu --csv (docs/formats/rocprof.md, docs/formats/ncu.md)")
      .called("PATH");
  verb.option("--peaks", flags.peaks,
              "the device for waterfall and roofline, by name, or for the waterfall as values: "
              "MI300X, clock_mhz=1900,tflops=1200")
      .called("TEXT");
  verb.option("--d0", flags.reading,
              "how durations at 0 % and 50 % overlap are read: curve, cumulative, quantile")
      .one_of({"curve", "cumulative", "quantile"})
      .shows_default();
  verb.option("--formulas", flags.formulas,
              "more formulas over counters (docs/formats/counter_formulas.md)")
      .called("FILE");
  verb.flag("--partial-counters", flags.partial,
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
