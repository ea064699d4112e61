#pragma once

// Time in which each class of kernels ran in any interval, seen through a first-order ramp. This is
// the right-hand side of the joint model, which evaluates it some thousand times.

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

// Time constants that the ramp may have, in seconds, ascending; 0 first. A ramp is its place here:
// a closed list, because every kPlacesPerPass-th needs its own pass over the time. Those between
// two of them are interpolated from their passes. A search steps by kPlacesPerStep. A ramp that was
// as far off as such a step, 13 %, made the base 1 W wrong where its interval was 0.5 W.
constexpr size_t kPlacesPerPass = 4;
constexpr size_t kPlacesPerStep = 16;
std::span<const double> ramp_list_s();
size_t nearest_ramp(double ramp_s);
// The same among the places that a search steps over from 0.
size_t nearest_searched_ramp(double ramp_s);

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
    // tau y on the grid, and what it counts for.
    struct Pass {
      const float* held = nullptr;
      double weight = 0;
    };
    explicit Ramped(const Activity& activity) : activity_(activity) {}
    void subtract(const Pass& pass, const Between& end, const Between& begin, double* out) const;

    const Activity& activity_;
    std::array<Pass, 4> passes_;  // around the ramp, and around a shorter one after it
    size_t count_ = 0;
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
  const float* held_of(size_t passed);
  void add_passes(size_t ramp, double weight, Ramped& ramped);

  size_t classes_ = 0;
  size_t points_ = 0;
  double begin_s_ = 0;
  double step_s_ = 0;
  double per_step_ = 0;
  std::vector<double> busy_s_;  // C by grid point, then class
  std::map<size_t, Held> held_;  // by place among those with a pass
  uint64_t questions_ = 0;
};

}  // namespace assay
