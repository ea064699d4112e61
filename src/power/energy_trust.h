#pragma once

// Caveats of the energies of a trace.

#include <cstdint>

#include "power/attribute.h"
#include "power/coverage.h"
#include "power/laying.h"

namespace assay {

// Gaps in the log, and work of the trace before and after the log.
void add_coverage_trust(const Coverage& covered, CoveredSpan span, TrustNotes& trust);
// outside_ns: time of the trace that no sample covers, apart from gaps; no caveat if <= 0.
void add_uncovered_trust(int64_t outside_ns, TrustNotes& trust);
void add_zone_trust(int64_t zone_ns, TrustNotes& trust);
void add_sensor_trust(const EnergyReport& report, const SensorPrior& sensor, TrustNotes& trust);
// Samples that depend on earlier ones, under a fixed response.
void add_smoothing_trust(TrustNotes& trust);
// Clocks that were up in idle, or fell under load.
void add_clock_trust(const LogClocks& clocks, TrustNotes& trust);
// pooled: kernel names in the class of the rest.
void add_model_trust(const EnergyReport& report, size_t pooled, TrustNotes& trust);

}  // namespace assay
