#pragma once

// Mean number of running kernels of each class in any interval, after a first-order ramp. This is
// the right-hand side of the joint model, which evaluates it thousands of times.

#include <array>
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

// Time constants that a ramp may have, in seconds, ascending from 0. A ramp is an index into this
// list. Every kPlacesPerPass-th entry has its own pass over the time axis, and entries between are
// interpolated from the two passes around them. A search moves by kPlacesPerStep entries, up to 13
// %. Without the finer entries, the base was off by 1 W with an interval of 0.5 W.
constexpr size_t kPlacesPerPass = 4;
constexpr size_t kPlacesPerStep = 16;
std::span<const double> ramp_list_s();
size_t nearest_ramp(double ramp_s);
// The nearest entry that is a multiple of kPlacesPerStep.
size_t nearest_searched_ramp(double ramp_s);

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
    // tau y on the grid, and its weight.
    struct Pass {
      const float* held = nullptr;
      double weight = 0;
    };
    explicit Ramped(const Activity& activity) : activity_(activity) {}
    void subtract(const Pass& pass, const Between& end, const Between& begin, double* out) const;

    const Activity& activity_;
    std::array<Pass, 4> passes_;  // two around the ramp, two around the second one
    size_t count_ = 0;
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
  const float* held_of(size_t passed);
  void add_passes(size_t ramp, double weight, Ramped& ramped);

  size_t classes_ = 0;
  size_t points_ = 0;
  double begin_s_ = 0;
  double step_s_ = 0;
  double per_step_ = 0;
  std::vector<double> busy_s_;   // C, by grid point, then class
  std::map<size_t, Held> held_;  // by ramp / kPlacesPerPass
  uint64_t questions_ = 0;
};

}  // namespace assay
