#include "findings/other_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "base/numbers.h"

namespace assay::findings {
namespace {

constexpr double kNotFaster = 1.05;
constexpr double kSlower = 1 / 1.05;
// No GPU is so many times as fast as the one before it: a larger bound by the host says nothing.
constexpr double kFarBound = 10;
constexpr double kGibi = 1024.0 * 1024 * 1024;

// "1.83", "24"
std::string factor_text(double factor) {
  char text[32];
  std::snprintf(text, sizeof(text), factor < 9.995 ? "%.2f" : "%.0f", factor);
  return text;
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB", bytes / kGibi);
  return text;
}

// Sort key: the middle, else the geometric mean of the range.
double order_of(bool has_middle, const Ends90& ends) {
  return has_middle ? ends.middle : std::sqrt(ends.low * ends.high);
}
double order_of(const RunOnGpu& gpu) { return order_of(gpu.has_middle, gpu.gain); }
double order_of(const RunCost& cost) { return order_of(cost.has_middle, cost.usd_for_hour); }

int64_t whole(double ns) { return std::llround(ns); }

Finding run_of(const RunOnGpu& gpu, const OtherGpus& found) {
  Finding out{.code = gpu.has_middle ? Code::kOnRun : Code::kOnRunInterval};
  out.text("gpu", gpu.gpu.name);
  if (gpu.has_middle) out.ns("run", whole(gpu.run_ns.middle));
  out.ns("run_low", whole(gpu.run_ns.low)).ns("run_high", whole(gpu.run_ns.high));
  out.ns("now", whole(found.now_ns.middle));
  if (gpu.has_middle) out.text("gain", factor_text(gpu.gain.middle));
  out.text("low", factor_text(gpu.gain.low)).text("high", factor_text(gpu.gain.high));
  // If the host is unknown, another sentence says so.
  if (!gpu.has_middle && found.host_known()) out.fraction("known", gpu.known_share);
  return out;
}

Finding headline(const OtherGpus& found) {
  const RunOnGpu* best = best_gpu(found);
  const Ends90& bound = found.bound_gain;
  if (!host_binds_first(found)) return run_of(*best, found);
  if (bound.high < kNotFaster) {
    return Finding{.code = Code::kOnHostBinds}.text("bound", factor_text(bound.middle));
  }
  Finding out{.code = best == nullptr || !best->has_middle ? Code::kOnNoGpuFaster
                                                           : Code::kOnHostBindsLikely};
  if (out.code == Code::kOnHostBindsLikely) {
    out.text("gpu", best->gpu.name).text("gain", factor_text(best->gain.middle));
    out.text("low", factor_text(best->gain.low)).text("high", factor_text(best->gain.high));
  }
  out.text("bound", factor_text(bound.middle));
  if (found.host.untraced) out.text("most", factor_text(bound.high));
  return out;
}

Finding pace(const OtherGpus& found) {
  const HostPace& host = found.host;
  Finding out{.code = host.source == HostPaceSource::kUntraced ? Code::kOnPaceUntraced
                      : host.source == HostPaceSource::kSpeed  ? Code::kOnPaceSpeed
                      : host.source == HostPaceSource::kLike   ? Code::kOnPaceLike
                                                               : Code::kOnPaceRecorded};
  if (host.source == HostPaceSource::kRecorded) return out;
  if (host.source == HostPaceSource::kLike) {
    out.text("like", host.other.recording).count("names", host.other.names);
    out.text("ratio", factor_text(host.other.middle));
    if (host.untraced) out.text("without", "without profiler overhead");
  } else {
    out.ns("recorded", found.recorded_ns);
  }
  out.fraction("pace", host.middle).fraction("low", host.low).fraction("high", host.high);
  return out;
}

// The slowest GPU that makes the run at most 5 % slower.
const RunOnGpu* slowest_that_does(const OtherGpus& found) {
  const RunOnGpu* slowest = nullptr;
  for (const RunOnGpu& gpu : found.gpus) {
    if (!gpu.has_time() || !gpu.has_middle || gpu.gain.middle < kSlower) continue;
    if (slowest == nullptr || gpu.kernels.middle > slowest->kernels.middle) slowest = &gpu;
  }
  return slowest;
}

void add_slack(const OtherGpus& found, std::vector<Finding>& out) {
  const bool binds = host_binds_first(found) || found.knee > 1;
  if (!binds || found.slack_5_percent <= 1) return;
  Finding slack{.code = Code::kOnSlack};
  slack.text("factor", factor_text(found.slack_5_percent));
  if (const RunOnGpu* slowest = slowest_that_does(found)) slack.text("gpu", slowest->gpu.name);
  out.push_back(std::move(slack));
}

// "2.50"; three significant digits below 10 cents
std::string usd_text(double usd) {
  char text[32];
  std::snprintf(text, sizeof(text), usd < 0.1 ? "$%.3g" : "$%.2f", usd);
  return text;
}

Finding recorded_lacks(const OtherGpus& found) {
  return Finding{.code = Code::kOnRecordedLacks}
      .text("gpu", found.recorded.device)
      .text("missing", found.recorded_missing);
}

// Missing values, memory and units of one of the GPUs.
void add_caveats(const RunOnGpu& gpu, const OtherGpus& found, std::vector<Finding>& out) {
  if (!gpu.missing.empty()) {
    out.push_back(
        Finding{.code = Code::kOnCardLacks}.text("gpu", gpu.gpu.name).text("missing", gpu.missing));
    return;
  }
  if (!gpu.fits) {
    out.push_back(Finding{.code = Code::kOnTooSmall}
                      .text("gpu", gpu.gpu.name)
                      .text("needs", gigabytes(static_cast<double>(found.reserved_bytes)))
                      .text("has", gigabytes(gpu.roof.memory_bytes)));
  }
  for (const auto& [type, ns] : gpu.lacking_ns) {
    std::string upper = type;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    out.push_back(Finding{.code = Code::kOnNoUnits}
                      .text("gpu", gpu.gpu.name)
                      .text("type", std::move(upper))
                      .fraction("time", ::assay::share(ns, gpu.kernel_ns)));
  }
  if (gpu.fabric_changes) {
    out.push_back(Finding{.code = Code::kOnFabric}
                      .text("gpu", gpu.gpu.name)
                      .text("before", found.recorded.fabric)
                      .text("after", gpu.roof.fabric));
  }
}

}  // namespace

const RunOnGpu* best_gpu(const OtherGpus& found) {
  const RunOnGpu* best = nullptr;
  for (const RunOnGpu& gpu : found.gpus) {
    if (!gpu.has_time()) continue;
    if (best == nullptr || order_of(gpu) > order_of(*best)) best = &gpu;
  }
  return best;
}

bool host_binds_first(const OtherGpus& found) {
  return found.host_known() &&
         (found.bound_gain.middle < kNotFaster || best_gpu(found) == nullptr);
}

std::vector<Finding> other_gpu_findings(const OtherGpus& found) {
  std::vector<Finding> out;
  const RunOnGpu* best = best_gpu(found);
  const bool host_first = host_binds_first(found);
  const bool near_bound = found.bound_gain.low < kFarBound;
  const bool unscaled = best == nullptr && !found.recorded_missing.empty();
  if (unscaled) out.push_back(recorded_lacks(found));
  if (best != nullptr || (found.host_known() && (near_bound || !unscaled))) {
    out.push_back(headline(found));
  }
  if (!found.host_known()) {
    if (best != nullptr) {
      out.push_back(
          Finding{.code = Code::kOnHostUnknown}.fraction("unlinked", found.unlinked_share));
    }
  } else if (best != nullptr && !host_first) {
    if (best->has_middle) {
      out.push_back(Finding{.code = Code::kOnKernels}
                        .text("gpu", best->gpu.name)
                        .text("kernels", factor_text(best->kernels.middle))
                        .text("low", factor_text(best->kernels.low))
                        .text("high", factor_text(best->kernels.high)));
    }
    if (near_bound) {
      const Ends90& bound = found.bound_gain;
      out.push_back(Finding{.code = Code::kOnHostBindsNext}
                        .text("bound", factor_text(bound.middle))
                        .text("low", factor_text(bound.low))
                        .text("high", factor_text(bound.high)));
    }
  } else {
    out.push_back(Finding{.code = Code::kOnHostAndKernels}
                      .ns("host", whole(found.host_ns.middle))
                      .ns("host_low", whole(found.host_ns.low))
                      .ns("host_high", whole(found.host_ns.high))
                      .ns("kernels", found.kernel_ns));
  }
  add_slack(found, out);
  if (!found.recorded_missing.empty() && !unscaled) out.push_back(recorded_lacks(found));
  std::vector<std::string> other_makers;
  bool any_time = false;
  for (const RunOnGpu& gpu : found.gpus) {
    any_time |= gpu.has_time();
    add_caveats(gpu, found, out);
    if (gpu.has_time() && gpu.change == GpuChange::kMaker) other_makers.push_back(gpu.gpu.name);
  }
  if (!other_makers.empty()) {
    out.push_back(Finding{.code = Code::kOnOtherMaker}.list("gpus", std::move(other_makers)));
  }
  if (any_time && found.reserved_bytes < 0) out.push_back({.code = Code::kOnMemoryUnknown});
  if (found.host_known()) out.push_back(pace(found));
  if (any_time) {
    out.push_back(Finding{.code = Code::kOnKnown}.fraction("known", found.known_share));
  }
  if (found.host_known() && found.unlinked_share > 0.01) {
    out.push_back(Finding{.code = Code::kOnUnlinked}.fraction("unlinked", found.unlinked_share));
  }
  return out;
}

std::optional<Finding> cost_finding(const std::vector<RunCost>& costs) {
  const auto cheaper = [](const RunCost& a, const RunCost& b) { return order_of(a) < order_of(b); };
  const auto best = std::min_element(costs.begin(), costs.end(), cheaper);
  const bool compared = costs.size() > 1 && costs.front().recorded;
  if (best == costs.end() || (best->recorded && !compared)) return std::nullopt;
  const RunCost* shown = &*best;
  if (best->recorded) {
    shown = &*std::min_element(costs.begin() + 1, costs.end(), cheaper);
  }
  const auto overlaps = [&](const RunCost& cost) {
    return &cost != &*best && cost.usd_for_hour.low < best->usd_for_hour.high;
  };
  Finding out{.code = best->recorded ? Code::kOnCostRecorded : Code::kOnCost};
  out.text("gpu", shown->gpu);
  if (shown->has_middle) out.text("usd", usd_text(shown->usd_for_hour.middle));
  out.text("low", usd_text(shown->usd_for_hour.low));
  out.text("high", usd_text(shown->usd_for_hour.high));
  if (compared) out.text("now", usd_text(costs.front().usd_per_hour));
  if (std::any_of(costs.begin(), costs.end(), overlaps)) out.text("unsure", "not certain");
  return out;
}

std::vector<Finding> scored_run_findings(const ScoredRun& scored) {
  std::vector<Finding> out;
  out.push_back({.code = Code::kOnScore});
  out.back().text("gpu", scored.gpu).ns("run", scored.measured_ns);
  if (!scored.as_recorded) {
    out.back().ns("run_low", scored.measured_low_ns).ns("run_high", scored.measured_high_ns);
  }
  if (scored.predicted_ns > 0) {
    out.back()
        .ns("predicted", scored.predicted_ns)
        .fraction("error", std::abs(scored.signed_error));
    out.back().text("side", scored.signed_error < 0 ? "too little" : "too much");
  }
  out.back().ns("low", scored.low_ns).ns("high", scored.high_ns);
  out.push_back({.code = !scored.held   ? Code::kOnScoreUndecided
                         : *scored.held ? Code::kOnScoreHeld
                                        : Code::kOnScoreMissed});
  if (!scored.as_recorded) out.push_back({.code = Code::kOnScoreUntraced});
  if (!scored.program_known) out.push_back({.code = Code::kOnScoreProgramUnknown});
  return out;
}

}  // namespace assay::findings
