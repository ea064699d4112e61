#include "throughput/serving/queueing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

constexpr double kKeepsUp = 0.999;
// Number of states beyond the maximum concurrency. Later states have no weight at planned loads.
constexpr size_t kStatesPerSeat = 4;
constexpr size_t kMoreStates = 199;

// Finished requests per second with 1, 2, ... in flight, made non-decreasing.
std::vector<double> speeds(const ClosedLoop& loop) {
  std::vector<double> speed;
  double most = 0;
  for (size_t k = 1; k <= loop.ttft_ms.size(); ++k) {
    const double e2e_s = (loop.ttft_ms[k - 1] + (loop.out_len - 1) * loop.tpot_ms[k - 1]) / 1000;
    most = std::max(most, static_cast<double>(k) / e2e_s);
    speed.push_back(most);
  }
  return speed;
}

// TTFT of a request that arrives while `k` others are inside.
double first_token_ms(const ClosedLoop& loop, size_t k, double capacity_per_s, double variation) {
  const size_t seats = loop.ttft_ms.size();
  const double waiting = k < seats ? 0 : static_cast<double>(k - seats + 1);
  return loop.ttft_ms[std::min(k, seats - 1)] +
         waiting / capacity_per_s * 1000 * (1 + variation) / 2;
}

// The smallest value with a cumulative weight of at least `q`; weights sum to 1.
double weighed_quantile(std::vector<std::pair<double, double>> values, double q) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (sum >= q) return value;
  }
  return values.back().first;
}

}  // namespace

double capacity_per_s(const ClosedLoop& loop) { return speeds(loop).back(); }

double most_load(double variation) {
  constexpr double kPoisson = 0.85;
  constexpr double kPerVariation = 0.15;
  constexpr double kLeast = 0.3;
  return std::clamp(kPoisson - kPerVariation * (variation - 1), kLeast, kPoisson);
}

bool keeps_limits(const ClosedLoop& loop, double per_s, const RateLimits& limits,
                  double variation) {
  // States below e^-40 of the likeliest one do not change a share of requests.
  constexpr double kNegligible = -40;
  const std::vector<double> speed = speeds(loop);
  const size_t seats = speed.size();
  if (!(per_s <= most_load(variation) * speed.back())) return false;
  double log_weight = 0;
  double largest = 0;
  double sum = 0, first_kept = 0, busy = 0, token_kept = 0;
  for (size_t k = 0; k < kStatesPerSeat * seats + kMoreStates + 1; ++k) {
    if (k > 0) log_weight += std::log(per_s / speed[std::min(k, seats) - 1]);
    if (log_weight > largest) {
      // Rescales the sums to the new largest weight.
      const double shrink = std::exp(largest - log_weight);
      for (double* value : {&sum, &first_kept, &busy, &token_kept}) *value *= shrink;
      largest = log_weight;
    }
    if (log_weight - largest < kNegligible && k > seats) break;
    const double weight = std::exp(log_weight - largest);
    const double first = first_token_ms(loop, k, speed.back(), variation);
    sum += weight;
    if (first <= limits.ttft_ms) first_kept += weight;
    if (k == 0) continue;
    const double decoding = weight * static_cast<double>(std::min(k, seats));
    busy += decoding;
    if (loop.tpot_ms[std::min(k, seats) - 1] <= limits.tpot_ms) token_kept += decoding;
  }
  return first_kept >= limits.percentile * sum && token_kept >= limits.percentile * busy;
}

std::optional<AtRate> at_rate(const ClosedLoop& loop, double per_s, double percentile,
                              double variation) {
  const std::vector<double> speed = speeds(loop);
  const size_t seats = speed.size();
  if (!(per_s < kKeepsUp * speed.back())) return std::nullopt;
  const size_t states = kStatesPerSeat * seats + kMoreStates + 1;
  std::vector<double> log_weight(states, 0);
  for (size_t k = 1; k < states; ++k)
    log_weight[k] = log_weight[k - 1] + std::log(per_s / speed[std::min(k, seats) - 1]);
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  std::vector<double> share(states);
  for (size_t k = 0; k < states; ++k) share[k] = std::exp(log_weight[k] - largest);
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  for (double& p : share) p /= sum;

  AtRate out;
  std::vector<std::pair<double, double>> inside, ttft, tpot;
  double busy = 0;
  for (size_t k = 0; k < states; ++k) {
    inside.emplace_back(static_cast<double>(k), share[k]);
    out.in_flight += share[k] * static_cast<double>(k);
    const double first = first_token_ms(loop, k, speed.back(), variation);
    ttft.emplace_back(first, share[k]);
    out.ttft_ms += share[k] * first;
    if (k == 0) continue;
    // Each token counts with the number of requests that decode at the same time.
    const double decoding = share[k] * static_cast<double>(std::min(k, seats));
    tpot.emplace_back(loop.tpot_ms[std::min(k, seats) - 1], decoding);
    busy += decoding;
  }
  for (auto& [ms, weight] : tpot) {
    weight /= busy;
    out.tpot_ms += weight * ms;
  }
  out.in_flight_percentile = weighed_quantile(std::move(inside), percentile);
  out.ttft_percentile_ms = weighed_quantile(std::move(ttft), percentile);
  out.tpot_percentile_ms = weighed_quantile(std::move(tpot), percentile);
  return out;
}

}  // namespace assay
