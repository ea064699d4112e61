// Problem: a process without rows of a GPU ignores the meaning of its features. It predicted an
// H200 below an H100, which has the same compute and less bandwidth and memory.
//
// Method: see the header. M is the fastest measured GPU that a data sheet dominates, and C the
// slowest measured one that dominates it. R is the fastest of the GPU itself and the GPUs without
// rows that it dominates. The answer is max(M, min(R, C)). All three increase with the data sheet,
// so the answer does too.
//
// Effect: docs/measured/throughput_llm_inference_bench.md.

#include "throughput/unmeasured_gpu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/decimal.h"
#include "throughput/data_sheets.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Minimum share of compute or bandwidth of a GPU without rows that may bound the point. A slower
// one would be no bound.
constexpr double kNearShare = 0.5;

struct Candidate {
  const HardwareFacts* facts = nullptr;
  std::string name;
  bool measured = false;
  size_t asked = 0;  // index of its speed
};

using Sheets = std::vector<const HardwareFacts*>;

// "75 % of the estimate is that of 'H100' times the ratio of bandwidths".
std::string share_text(const std::string& sibling, const SiblingWeights& weights,
                       double HardwareFacts::* goes_with) {
  std::string how;
  if (weights.by_sheet > 0) {
    how = goes_with == &HardwareFacts::tflops ? "times the ratio of 16-bit FLOP/s"
                                              : "times the ratio of bandwidths";
  }
  if (weights.by_physics > 0) how += std::string(how.empty() ? "" : " and ") + "as physics has it";
  return rounded_text(100 * weights.sum()) + " % of the estimate is that of '" + sibling + "' " +
         how;
}

bool may_bound(const BenchRow& row, const HardwareFacts& of, const HardwareFacts& other) {
  const double share = std::max(other.tflops / of.tflops, other.bandwidth_tb_s / of.bandwidth_tb_s);
  return dominates(row, of, other) && share >= kNearShare;
}

class Settled {
 public:
  Settled(const UnmeasuredPoint& point, const Sheets& book, const WeightsOf& weights_of,
          std::vector<BenchRow>& asked)
      : point_(point), weights_of_(weights_of) {
    add(point.hardware, point.row.hardware, false, asked);
    for (const MeasuredGpu& gpu : *point.measured) {
      if (vendor_of(*gpu.facts) == vendor_of(*point.hardware))
        add(gpu.facts, gpu.name, true, asked);
    }
    for (const HardwareFacts* other : book) {
      if (candidate_of(other) == nullptr && may_bound(point.row, *point.hardware, *other))
        add(other, other->name, false, asked);
    }
  }

  SheetEstimate estimate(double HardwareFacts::* goes_with,
                         const std::vector<LogSpeed>& speeds) const {
    SheetEstimate out;
    const double own = speeds[gpus_.front().asked].told;
    if (const Candidate* sibling = sibling_of(*point_.hardware)) {
      out.sibling = sibling->name;
      out.log_sibling = by_sheet(*point_.hardware, *sibling, goes_with, speeds) - own;
    }
    const SiblingWeights weights = weights_of_(*point_.hardware, point_.row.framework);
    if (!out.sibling.empty() && weights.sum() > 0)
      out.reasons.push_back(share_text(out.sibling, weights, goes_with));
    const double blended = blend(gpus_.front(), goes_with, speeds);
    const double ordered = order(blended, goes_with, speeds, out.reasons);
    out.log_factor = ordered - own;
    return out;
  }

 private:
  void add(const HardwareFacts* facts, const std::string& name, bool measured,
           std::vector<BenchRow>& asked) {
    gpus_.push_back({facts, name, measured, asked.size()});
    asked.push_back(point_.row);
    asked.back().hardware = name;
  }

  const Candidate* candidate_of(const HardwareFacts* facts) const {
    const auto at = std::find_if(gpus_.begin(), gpus_.end(),
                                 [&](const Candidate& gpu) { return gpu.facts == facts; });
    return at == gpus_.end() ? nullptr : &*at;
  }

  const Candidate* sibling_of(const HardwareFacts& hardware) const {
    const MeasuredGpu* nearest = nearest_sibling(hardware, *point_.measured);
    return nearest == nullptr ? nullptr : candidate_of(nearest->facts);
  }

  static double by_sheet(const HardwareFacts& hardware, const Candidate& sibling,
                         double HardwareFacts::* goes_with, const std::vector<LogSpeed>& speeds) {
    return speeds[sibling.asked].told + std::log(hardware.*goes_with / sibling.facts->*goes_with);
  }

  // Estimate for a GPU before the order is applied.
  double blend(const Candidate& gpu, double HardwareFacts::* goes_with,
               const std::vector<LogSpeed>& speeds) const {
    const LogSpeed& own = speeds[gpu.asked];
    const Candidate* sibling = gpu.measured ? nullptr : sibling_of(*gpu.facts);
    if (sibling == nullptr) return own.told;
    const LogSpeed& other = speeds[sibling->asked];
    const double physics = other.told + own.physics - other.physics;
    const SiblingWeights weights = weights_of_(*gpu.facts, point_.row.framework);
    return (1 - weights.sum()) * own.told +
           weights.by_sheet * by_sheet(*gpu.facts, *sibling, goes_with, speeds) +
           weights.by_physics * physics;
  }

  double order(double own, double HardwareFacts::* goes_with, const std::vector<LogSpeed>& speeds,
               std::vector<std::string>& reasons) const {
    double least = -kInfinity;  // M of the file comment
    double most = kInfinity;    // C
    double raised = own;        // R
    std::string least_name, most_name, raised_name;
    const auto take = [](double value, const std::string& name, double& best, std::string& whose) {
      best = value;
      whose = name;
    };
    for (size_t k = 1; k < gpus_.size(); ++k) {
      const Candidate& gpu = gpus_[k];
      const double speed = blend(gpu, goes_with, speeds);
      const bool below = dominates(point_.row, *point_.hardware, *gpu.facts);
      const bool above = dominates(point_.row, *gpu.facts, *point_.hardware);
      if (gpu.measured && below && speed > least) take(speed, gpu.name, least, least_name);
      if (gpu.measured && above && speed < most) take(speed, gpu.name, most, most_name);
      if (!gpu.measured && below && speed > raised) take(speed, gpu.name, raised, raised_name);
    }
    const double ordered = std::max(least, std::min(raised, most));
    const char* how = ordered < own ? "no faster than '" : "at least as fast as '";
    const std::string& whose = ordered == least  ? least_name
                               : ordered == most ? most_name
                                                 : raised_name;
    if (ordered != own) reasons.push_back(how + whose + "' by its data sheet");
    return ordered;
  }

  const UnmeasuredPoint& point_;
  const WeightsOf& weights_of_;
  std::vector<Candidate> gpus_;  // the point's own first
};

Sheets sheets_of(const FactBook& facts) {
  Sheets sheets;
  for (const std::string& name : facts.hardware_names()) sheets.push_back(facts.hardware(name));
  return sheets;
}

}  // namespace

void note_gpu(const HardwareFacts* facts, const std::string& name, MeasuredGpus& gpus) {
  const bool known = std::any_of(gpus.begin(), gpus.end(),
                                 [&](const MeasuredGpu& gpu) { return gpu.facts == facts; });
  if (!known) gpus.push_back({facts, name});
}

std::vector<SheetEstimate> sheet_estimates(const std::vector<UnmeasuredPoint>& points,
                                           const FactBook& facts, double HardwareFacts::* goes_with,
                                           const WeightsOf& weights_of,
                                           const LogSpeeds& log_speeds) {
  const Sheets book = sheets_of(facts);
  std::vector<BenchRow> asked;
  std::vector<Settled> settled;
  settled.reserve(points.size());
  for (const UnmeasuredPoint& point : points) settled.emplace_back(point, book, weights_of, asked);
  const std::vector<LogSpeed> speeds = asked.empty() ? std::vector<LogSpeed>() : log_speeds(asked);
  std::vector<SheetEstimate> out;
  for (const Settled& one : settled) out.push_back(one.estimate(goes_with, speeds));
  return out;
}

}  // namespace assay
