#pragma once

// From a closed loop (so many requests always in flight: what tables hold) to requests that arrive
// at a rate (what a service has). Spec page planner, 5.

#include <cstddef>
#include <optional>
#include <vector>

namespace assay {

// Mean TTFT and TPOT in ms with 1, 2, ... requests in flight; as long as there are seats.
struct ClosedLoop {
  std::vector<double> ttft_ms;
  std::vector<double> tpot_ms;
  double out_len = 1;
};

// Of one replica. Percentiles are those of the queue's own spread: what requests at one load differ
// by is not known from means.
struct AtRate {
  double in_flight = 0;  // mean, waiting ones included
  double in_flight_percentile = 0;
  double ttft_ms = 0;  // mean over requests
  double ttft_percentile_ms = 0;
  double tpot_ms = 0;  // mean over tokens
  double tpot_percentile_ms = 0;
};

// Finished requests per second with all seats taken.
double capacity_per_s(const ClosedLoop& loop);

// Poisson arrivals share the replica's speed: k inside are finished at k / E2E(k) a second, made
// non-decreasing, and at the last seat's rate when more are waiting; then the number inside has a
// distribution in closed form that does not depend on how lengths are spread (Cohen, "The multiple
// phase service network with generalized processor sharing", Acta Informatica 12, 1979), and a
// request that arrives sees it. `variation`: squared coefficient of variation of the gaps between
// arrivals, 1 for Poisson; waiting grows with (1 + variation) / 2 (Kingman, 1961). Absent where the
// replica cannot keep up.
std::optional<AtRate> at_rate(const ClosedLoop& loop, double per_s, double percentile,
                              double variation = 1);

// Limits that a replica must keep at a percentile of requests and of tokens.
struct RateLimits {
  double ttft_ms = 0;
  double tpot_ms = 0;
  double percentile = 0.9;
};
// Whether at_rate() would say that both are kept, at no more than most_load() of the capacity; in a
// tenth of the time.
bool keeps_limits(const ClosedLoop& loop, double per_s, const RateLimits& limits, double variation);

// The share of its capacity up to which a replica is planned: beyond, TTFT is right only in its
// order of magnitude (measured against a simulated engine, spec page planner). 0.85 for Poisson,
// 0.7 where the squared variation of gaps is 2.
double most_load(double variation);

}  // namespace assay
