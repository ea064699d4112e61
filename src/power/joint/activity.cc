#include "power/joint/activity.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

constexpr std::array kRampsS = {0.0,   .002, .003, .004, .006, .008, .01, .0125, .015,
                                .0175, .02,  .025, .03,  .035, .04,  .05, .06,   .07,
                                .08,   .09,  .1,   .12,  .14,  .16,  .18, .2,    .25};
constexpr size_t kAlwaysHeld = 6;
constexpr size_t kMostHeldBytes = size_t{48} << 20;  // beyond those

// Writes the integral of one class up to every grid point: sums over starts before t minus sums
// over ends before t. Times count from begin_s, so that long traces keep their precision.
void add_busy(const std::vector<BusySpan>& spans, double begin_s, double step_s, size_t stride,
              size_t points, double* out) {
  for (const bool starts : {true, false}) {
    std::vector<double> times;
    times.reserve(spans.size());
    for (const BusySpan& span : spans) {
      times.push_back((starts ? span.start_s : span.end_s) - begin_s);
    }
    std::sort(times.begin(), times.end());
    const double sign = starts ? 1 : -1;
    double sum = 0;
    size_t before = 0;
    for (size_t i = 0; i < points; ++i) {
      const double t = step_s * static_cast<double>(i);
      for (; before < times.size() && times[before] < t; ++before) sum += times[before];
      out[i * stride] += sign * (static_cast<double>(before) * t - sum);
    }
  }
}

}  // namespace

std::span<const double> ramp_list_s() { return kRampsS; }

size_t nearest_ramp(double ramp_s) {
  size_t best = 0;
  for (size_t i = 1; i < kRampsS.size(); ++i) {
    if (std::fabs(kRampsS[i] - ramp_s) < std::fabs(kRampsS[best] - ramp_s)) best = i;
  }
  return best;
}

Activity::Activity(const std::vector<std::vector<BusySpan>>& spans, double begin_s, double end_s,
                   double step_s)
    : classes_(spans.size()),
      points_(static_cast<size_t>(std::ceil(std::max(0.0, end_s - begin_s) / step_s)) + 2),
      begin_s_(begin_s),
      step_s_(step_s),
      per_step_(1 / step_s),
      busy_s_(points_ * classes_, 0) {
  for (size_t k = 0; k < classes_; ++k) {
    add_busy(spans[k], begin_s, step_s, classes_, points_, busy_s_.data() + k);
  }
}

// Assumes x constant within a step. The integral of y over the step is then exactly that of x minus
// the change of tau y.
std::vector<float> Activity::follow(double ramp_s) const {
  std::vector<float> held(points_ * classes_, 0);
  const double keep = std::exp(-step_s_ / ramp_s);
  std::vector<double> y(classes_, 0);
  for (size_t i = 1; i < points_; ++i) {
    for (size_t k = 0; k < classes_; ++k) {
      const double x = (busy_s_[i * classes_ + k] - busy_s_[(i - 1) * classes_ + k]) / step_s_;
      y[k] = x + (y[k] - x) * keep;
      held[i * classes_ + k] = static_cast<float>(ramp_s * y[k]);
    }
  }
  return held;
}

const float* Activity::held_of(size_t ramp) {
  if (ramp == 0) return nullptr;
  auto found = held_.find(ramp);
  if (found == held_.end()) {
    const size_t bytes = points_ * classes_ * sizeof(float);
    const size_t most = std::max(kAlwaysHeld, kMostHeldBytes / std::max<size_t>(bytes, 1));
    if (held_.size() >= most) {
      held_.erase(std::min_element(held_.begin(), held_.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      }));
    }
    found = held_.emplace(ramp, Held{follow(kRampsS[ramp])}).first;
  }
  found->second.used = ++questions_;
  return found->second.values.data();
}

Activity::Between Activity::between(double t_s, double weight) const {
  const double place =
      std::clamp((t_s - begin_s_) * per_step_, 0.0, static_cast<double>(points_) - 1.001);
  const auto at = static_cast<size_t>(place);
  const double right = weight * (place - static_cast<double>(at));
  return {at * classes_, weight - right, right};
}

Activity::Ramped Activity::ramped(size_t ramp, size_t second) {
  Ramped both(*this, held_of(ramp));
  if (second == 0) return both;
  both.second_ = held_of(second);
  const double apart = kRampsS[ramp] - kRampsS[second];
  both.first_weight_ = kRampsS[ramp] / apart;
  both.second_weight_ = -kRampsS[second] / apart;
  return both;
}

void Activity::Ramped::means(double end_s, double width_s, double* out) const {
  const Between end = activity_.between(end_s, 1 / width_s);
  const Between begin = activity_.between(end_s - width_s, -1 / width_s);
  // Loops without branches, because a fit spends its time here.
  const size_t classes = activity_.classes_;
  const double* ends = activity_.busy_s_.data() + end.from;
  const double* begins = activity_.busy_s_.data() + begin.from;
  for (size_t k = 0; k < classes; ++k) {
    out[k] = end.left * ends[k] + end.right * ends[classes + k] + begin.left * begins[k] +
             begin.right * begins[classes + k];
  }
  if (held_ != nullptr) subtract(held_, first_weight_, end, begin, out);
  if (second_ != nullptr) subtract(second_, second_weight_, end, begin, out);
}

void Activity::Ramped::subtract(const float* held, double weight, const Between& end,
                                const Between& begin, double* out) const {
  const size_t classes = activity_.classes_;
  const float* ends = held + end.from;
  const float* begins = held + begin.from;
  for (size_t k = 0; k < classes; ++k) {
    const auto at = [k](const float* values, size_t next) {
      return static_cast<double>(values[next + k]);
    };
    out[k] -= weight * (end.left * at(ends, 0) + end.right * at(ends, classes) +
                        begin.left * at(begins, 0) + begin.right * at(begins, classes));
  }
}

}  // namespace assay
