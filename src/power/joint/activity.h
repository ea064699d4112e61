#pragma once

// Mean number of running kernels of each class in any interval, after a first-order ramp. This is
// the right-hand side of the joint model, which evaluates it thousands of times.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace assay {

struct BusySpan {
  double start_s = 0;
  double end_s = 0;
};

// Time constants that the ramp may have, in seconds, ascending; 0 first. A ramp is its place here:
// a closed list, because each needs its own pass over the time.
std::span<const double> ramp_list_s();
size_t nearest_ramp(double ramp_s);

// x_k(t) is the number of kernels of class k that run at t. y_k follows it: y' = (x - y) / tau. The
// integral of y is C - tau y, where C is the integral of x. Both are stored on a grid of step_s and
// interpolated; C is exact at the grid points.
class Activity {
 public:
  // spans[k]: intervals of the kernels of class k, in any order, overlapping or not. Queries are
  // valid from begin_s to end_s. The ramp starts at 0 at begin_s.
  Activity(const std::vector<std::vector<BusySpan>>& spans, double begin_s, double end_s,
           double step_s);

  size_t classes() const { return classes_; }

  // A time between two grid points, with the weight of each.
  struct Between {
    size_t from = 0;  // index of the first point, times classes()
    double left = 0;
    double right = 0;
  };

  // A response with one or two ramps, built from cached passes. The next call of ramped() may evict
  // them and so invalidate it.
  class Ramped {
   public:
    // Writes the mean of y_k over [end_s - width_s, end_s] to out[k].
    void means(double end_s, double width_s, double* out) const;

   private:
    friend class Activity;
    Ramped(const Activity& activity, const float* held) : activity_(activity), held_(held) {}
    void subtract(const float* held, double weight, const Between& end, const Between& begin,
                  double* out) const;

    const Activity& activity_;
    const float* held_;              // tau y on the grid; null for a ramp of 0
    const float* second_ = nullptr;  // of a shorter ramp after the first
    double first_weight_ = 1;
    double second_weight_ = 0;
  };
  // second: a shorter ramp after the first, 0 = none. Two in series are a weighted difference of
  // single ones: (tau_1 y_1 - tau_2 y_2) / (tau_1 - tau_2).
  Ramped ramped(size_t ramp, size_t second = 0);

 private:
  struct Held {
    std::vector<float> values;  // rounding error below 8 ns per running kernel
    uint64_t used = 0;
  };
  Between between(double t_s, double weight) const;
  std::vector<float> follow(double ramp_s) const;
  const float* held_of(size_t ramp);

  size_t classes_ = 0;
  size_t points_ = 0;
  double begin_s_ = 0;
  double step_s_ = 0;
  double per_step_ = 0;
  std::vector<double> busy_s_;  // C by grid point, then class
  std::map<size_t, Held> held_;
  uint64_t questions_ = 0;
};

}  // namespace assay
