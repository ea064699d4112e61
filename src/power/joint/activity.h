#pragma once

// Time in which each class of kernels ran in any interval, seen through a first-order ramp. This is
// the right-hand side of the joint model, which evaluates it some thousand times.

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

// x_k(t) is how many kernels of class k run at t, y_k follows it with y' = (x - y) / tau. The
// integral of y is C - tau y with C that of x; both are kept on a grid, C exact at its points.
class Activity {
 public:
  // spans[k]: intervals of the kernels of class k, in any order, overlapping or not. Valid queries
  // are from begin_s to end_s. Before begin_s the ramp has no state.
  Activity(const std::vector<std::vector<BusySpan>>& spans, double begin_s, double end_s,
           double step_s);

  size_t classes() const { return classes_; }

  // A moment between two points of the grid: what each of the two counts for.
  struct Between {
    size_t from = 0;  // of the first point, into values by point, then class
    double left = 0;
    double right = 0;
  };

  // A ramp's passes, made once and kept for the next question; a few are kept at most.
  class Ramped {
   public:
    // Mean of y_k over [end_s - width_s, end_s], into out[0, classes).
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
  // second: a shorter ramp after the first, 0 = none. The two in series are a difference of single
  // ramps: (tau_1 y_1 - tau_2 y_2) / (tau_1 - tau_2).
  Ramped ramped(size_t ramp, size_t second = 0);

 private:
  struct Held {
    std::vector<float> values;  // under a nanosecond off: tau y is below classes x 0.25 s
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
