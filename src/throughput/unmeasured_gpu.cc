// Problem: a process that never saw a GPU forgets what its features say: an H200 came out below an
// H100, which has the same compute and less bandwidth and memory.
//
// Method: see the header. With M the fastest measured GPU that a data sheet dominates, C the
// slowest measured that dominates it, and R the fastest of itself and the GPUs without rows that it
// dominates, the answer is max(M, min(R, C)): each of the three rises with the data sheet, so the
// answer does.
//
// Effect: docs/measured/throughput_llm_inference_bench.md.

#include "throughput/unmeasured_gpu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "throughput/data_sheets.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Of GPUs without rows those are asked that have at least this share of compute or bandwidth: a
// slower one would be no bound.
constexpr double kNearShare = 0.5;

struct Candidate {
  const HardwareFacts* facts = nullptr;
  std::string name;
  bool measured = false;
  size_t asked = 0;  // place of its speed
};

using Sheets = std::vector<const HardwareFacts*>;

bool may_bound(const BenchRow& row, const HardwareFacts& of, const HardwareFacts& other) {
  const double share = std::max(other.tflops / of.tflops, other.bandwidth_tb_s / of.bandwidth_tb_s);
  return dominates(row, of, other) && share >= kNearShare;
}

class Settled {
 public:
  Settled(const UnmeasuredPoint& point, const Sheets& book, std::vector<BenchRow>& asked)
      : point_(point) {
    for (const MeasuredGpu& gpu : *point.measured) measured_.push_back(gpu.facts);
    add(point.hardware, point.row.hardware, false, asked);
    for (const MeasuredGpu& gpu : *point.measured) {
      if (vendor_of(*gpu.facts) == vendor_of(*point.hardware))
        add(gpu.facts, gpu.name, true, asked);
    }
    for (const HardwareFacts* other : book) {
      const bool known = std::any_of(gpus_.begin(), gpus_.end(),
                                     [&](const Candidate& gpu) { return gpu.facts == other; });
      if (!known && may_bound(point.row, *point.hardware, *other))
        add(other, other->name, false, asked);
    }
  }

  SheetEstimate estimate(const SiblingShare& share, const std::vector<double>& speeds) const {
    SheetEstimate out;
    const double own = speeds[gpus_.front().asked];
    if (const Candidate* sibling = sibling_of(*point_.hardware)) {
      out.sibling = sibling->name;
      out.weight = weight_of(*point_.hardware, share);
      out.log_sibling = by_sibling(*point_.hardware, *sibling, share, speeds) - own;
    }
    const double blended = blend(gpus_.front(), share, speeds);
    const double ordered = order(blended, share, speeds, out.reason);
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

  const Candidate* sibling_of(const HardwareFacts& hardware) const {
    const HardwareFacts* nearest = nearest_sibling(hardware, measured_);
    const auto at = std::find_if(gpus_.begin(), gpus_.end(),
                                 [&](const Candidate& gpu) { return gpu.facts == nearest; });
    return nearest == nullptr || at == gpus_.end() ? nullptr : &*at;
  }

  double weight_of(const HardwareFacts& hardware, const SiblingShare& share) const {
    return siblings(hardware, measured_) == 1 ? share.of_one : share.of_several;
  }

  static double by_sibling(const HardwareFacts& hardware, const Candidate& sibling,
                           const SiblingShare& share, const std::vector<double>& speeds) {
    return speeds[sibling.asked] +
           std::log(hardware.*share.goes_with / sibling.facts->*share.goes_with);
  }

  // What is told of a GPU before the order.
  double blend(const Candidate& gpu, const SiblingShare& share,
               const std::vector<double>& speeds) const {
    const double own = speeds[gpu.asked];
    const Candidate* sibling = gpu.measured ? nullptr : sibling_of(*gpu.facts);
    if (sibling == nullptr) return own;
    const double weight = weight_of(*gpu.facts, share);
    return (1 - weight) * own + weight * by_sibling(*gpu.facts, *sibling, share, speeds);
  }

  double order(double own, const SiblingShare& share, const std::vector<double>& speeds,
               std::string& reason) const {
    double least = -kInfinity;  // M of above
    double most = kInfinity;    // C
    double raised = own;        // R
    std::string least_name, most_name, raised_name;
    const auto take = [](double value, const std::string& name, double& best, std::string& whose) {
      best = value;
      whose = name;
    };
    for (size_t k = 1; k < gpus_.size(); ++k) {
      const Candidate& gpu = gpus_[k];
      const double speed = blend(gpu, share, speeds);
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
    if (ordered != own) reason = how + whose + "' by its data sheet";
    return ordered;
  }

  const UnmeasuredPoint& point_;
  Sheets measured_;
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
                                           const FactBook& facts, const SiblingShare& share,
                                           const LogSpeeds& log_speeds) {
  const Sheets book = sheets_of(facts);
  std::vector<BenchRow> asked;
  std::vector<Settled> settled;
  settled.reserve(points.size());
  for (const UnmeasuredPoint& point : points) settled.emplace_back(point, book, asked);
  const std::vector<double> speeds = asked.empty() ? std::vector<double>() : log_speeds(asked);
  std::vector<SheetEstimate> out;
  for (const Settled& one : settled) out.push_back(one.estimate(share, speeds));
  return out;
}

}  // namespace assay
