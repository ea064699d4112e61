#pragma once

// Converts a closed loop (a constant number of requests in flight, as in tables) to requests that
// arrive at a rate (as in a service). Spec page planner, 5.

#include <cstddef>
#include <optional>
#include <vector>

namespace assay {

// Mean TTFT and TPOT in ms with 1, 2, ... requests in flight, up to the maximum concurrency.
struct ClosedLoop {
  std::vector<double> ttft_ms;
  std::vector<double> tpot_ms;
  double out_len = 1;
};

// State of one replica. Percentiles include only the spread of the queue, because means do not show
// the variation between requests at one load.
struct AtRate {
  double in_flight = 0;  // mean, waiting ones included
  double in_flight_percentile = 0;
  double ttft_ms = 0;  // mean over requests
  double ttft_percentile_ms = 0;
  double tpot_ms = 0;  // mean over tokens
  double tpot_percentile_ms = 0;
};

// Finished requests per second at maximum concurrency.
double capacity_per_s(const ClosedLoop& loop);

// Poisson arrivals share the replica's speed. With k requests inside, k / E2E(k) finish per second,
// made non-decreasing; with more waiting, the rate is that of the last seat. The number inside then
// has a closed-form distribution that does not depend on the spread of lengths, and an arriving
// request sees it (Cohen, "The multiple phase service network with generalized processor sharing",
// Acta Informatica 12, 1979). `variation`: squared coefficient of variation of the gaps between
// arrivals, 1 for Poisson. Waiting grows with (1 + variation) / 2 (Kingman, 1961). nullopt if the
// replica cannot keep up.
std::optional<AtRate> at_rate(const ClosedLoop& loop, double per_s, double percentile,
                              double variation = 1);

// Limits that a replica must keep at a percentile of requests and of tokens.
struct RateLimits {
  double ttft_ms = 0;
  double tpot_ms = 0;
  double percentile = 0.9;
};
// True if at_rate() meets both limits at no more than most_load() of the capacity. Takes a tenth of
// the time of at_rate().
bool keeps_limits(const ClosedLoop& loop, double per_s, const RateLimits& limits, double variation);

// Maximum planned load of a replica, as a share of its capacity. Above it, TTFT is correct only in
// its order of magnitude (measured against a simulated engine, spec page planner). 0.85 for
// Poisson, 0.7 for a squared variation of gaps of 2.
double most_load(double variation);

}  // namespace assay
