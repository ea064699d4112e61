#include "diff/caveats.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

using Runs = std::vector<DiffRun>;
using Texts = std::set<std::string>;

// With fewer blocks, intervals are too wide to be useful.
constexpr uint64_t kFewBlocks = 5;
// Below this share of the device time in common, the sides may be different programs.
constexpr double kLittleCommon = 0.2;

// Share of the device time in rows that both sides have; the smaller of both sides. None if a side
// has no device time.
std::optional<double> common_share(const DiffLevel& level) {
  const auto share_of = [&level](DiffRowSide DiffRow::*side) -> std::optional<double> {
    int64_t all_ns = 0;
    int64_t common_ns = 0;
    for (const DiffRow& row : level.rows) {
      const int64_t busy_ns = (row.*side).busy_ns;
      all_ns += busy_ns;
      if (!row.rest && row.a.calls > 0 && row.b.calls > 0) common_ns += busy_ns;
    }
    if (all_ns <= 0) return {};
    return static_cast<double>(common_ns) / static_cast<double>(all_ns);
  };
  const auto a = share_of(&DiffRow::a);
  const auto b = share_of(&DiffRow::b);
  if (!a || !b) return {};
  return std::min(*a, *b);
}

Texts texts_of(const Runs& runs, std::string DiffRun::* field) {
  Texts texts;
  for (const DiffRun& run : runs) {
    if (!(run.*field).empty()) texts.insert(run.*field);
  }
  return texts;
}

std::string joined(const Texts& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : " and ") + text;
  return list.empty() ? "none recorded" : list;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

uint64_t number_with(const Runs& runs, bool DiffRun::* flag) {
  return static_cast<uint64_t>(
      std::count_if(runs.begin(), runs.end(), [&](const DiffRun& run) { return run.*flag; }));
}

uint64_t sum_of(const Runs& runs, uint64_t DiffRun::* field) {
  uint64_t sum = 0;
  for (const DiffRun& run : runs) sum += run.*field;
  return sum;
}

std::set<int64_t> ranks_of(const Runs& runs) {
  std::set<int64_t> ranks;
  for (const DiffRun& run : runs) {
    if (run.rank) ranks.insert(*run.rank);
  }
  return ranks;
}

// True if all kernel costs are equal to the nanosecond, in every iteration: the same recording.
bool same_work(const DiffRun& x, const DiffRun& y) {
  const auto& level_x = x.levels[static_cast<size_t>(DiffLevelKind::kKernel)];
  const auto& level_y = y.levels[static_cast<size_t>(DiffLevelKind::kKernel)];
  if (x.samples.empty() || level_x.samples.size() != level_y.samples.size()) return false;
  const auto same_entry = [&](const DiffEntry& a, const DiffEntry& b) {
    return a.cost.calls == b.cost.calls && a.cost.busy_ns == b.cost.busy_ns &&
           a.cost.idle_ns == b.cost.idle_ns && a.cost.dur_ns == b.cost.dur_ns &&
           level_x.items[a.item].name == level_y.items[b.item].name;
  };
  for (size_t s = 0; s < level_x.samples.size(); ++s) {
    const auto& entries = level_x.samples[s];
    const auto& others = level_y.samples[s];
    if (!std::equal(entries.begin(), entries.end(), others.begin(), others.end(), same_entry)) {
      return false;
    }
  }
  return true;
}

class Caveats {
 public:
  Caveats(const Runs& a, const Runs& b, const DiffReport& report) : a_(a), b_(b), report_(report) {}

  TrustNotes list() {
    same_recording();
    little_common();
    different_text(&DiffRun::gpu, "diff_gpu", "time_ns", "the GPUs differ, ",
                   ": kernels are chosen by machine, and the change is not one of code alone");
    different_text(&DiffRun::tracer, "diff_tracer", "tklqt_ns,time_ns", "the tracers differ, ",
                   ": launch times contain their tracer's cost, and the change with them");
    ranks();
    basis();
    different_flag(&DiffRun::shapes, "diff_shapes", "hdbi,t_orch_ns",
                   "operator inputs were recorded on one side only: recording them costs host "
                   "time, and unique kernels are separated less well without");
    different_flag(&DiffRun::stacks, "diff_stacks", "tklqt_ns,hdbi,t_orch_ns,time_ns",
                   "Python frames were recorded on one side only: recording them costs host time, "
                   "which is in every host number of that side");
    different_flag(
        &DiffRun::whole_microseconds, "diff_resolution", "time_ns,tklqt_ns",
        "one side has times in whole microseconds only: its short kernels are rounded");
    losses();
    sampling();
    positions();
    return notes_.take();
  }

 private:
  void different_text(std::string DiffRun::* field, const char* what, const char* affects,
                      const std::string& before, const std::string& after) {
    const Texts in_a = texts_of(a_, field);
    const Texts in_b = texts_of(b_, field);
    if (in_a == in_b) return;
    if (in_a.empty() || in_b.empty()) {
      notes_.add(std::string(what) + "_not_told", 1, 0, affects,
                 std::string(in_a.empty() ? "A" : "B") +
                     " does not record what the other side does, " +
                     joined(in_a.empty() ? in_b : in_a) + ": whether they agree is not known");
      return;
    }
    notes_.add(what, a_.size() + b_.size(), 0, affects,
               before + joined(in_a) + " against " + joined(in_b) + after);
  }

  // Adds a caveat unless the flag is equal in all runs of both sides.
  void different_flag(bool DiffRun::* flag, const char* what, const char* affects,
                      const char* effect) {
    const uint64_t in_a = number_with(a_, flag);
    const uint64_t in_b = number_with(b_, flag);
    const bool all = in_a == a_.size() && in_b == b_.size();
    if (all || in_a + in_b == 0) return;
    notes_.add(what, in_a + in_b, 0, affects, effect);
  }

  void basis() {
    different_text(&DiffRun::window_source, "diff_windows", "time_ns",
                   "iterations were found by different means, ", ": they may not be the same work");
    different_text(&DiffRun::window_name, "diff_window_names", "time_ns",
                   "iterations have different names, ", ": they may not be the same work");
    if (report_.a.iterations != report_.b.iterations) {
      notes_.add("diff_iterations",
                 std::max(report_.a.iterations, report_.b.iterations) -
                     std::min(report_.a.iterations, report_.b.iterations),
                 0, "",
                 "the sides have different numbers of iterations: everything is per iteration");
    }
    notes_.add("diff_iterations_without_kernels",
               sum_of(a_, &DiffRun::iterations_without_kernels) +
                   sum_of(b_, &DiffRun::iterations_without_kernels),
               0, "time_ns", "iterations without kernels are left out on both sides");
  }

  // Ranks that only one side has.
  void ranks() {
    const std::set<int64_t> in_a = ranks_of(a_);
    const std::set<int64_t> in_b = ranks_of(b_);
    std::vector<int64_t> on_one_side;
    std::set_symmetric_difference(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                                  std::back_inserter(on_one_side));
    if (in_a.size() + in_b.size() < 3 || on_one_side.empty()) return;
    notes_.add("diff_ranks", on_one_side.size(), 0, "time_ns,kernels",
               "A has " + std::to_string(in_a.size()) +
                   (in_a.size() == 1 ? " rank and B " : " ranks and B ") +
                   std::to_string(in_b.size()) +
                   ", and they are not the same ones (the first that one side lacks is rank " +
                   std::to_string(on_one_side.front()) +
                   "): the change contains the difference between ranks");
  }

  void losses() {
    const uint64_t lost = sum_of(a_, &DiffRun::rows_lost) + sum_of(b_, &DiffRun::rows_lost);
    notes_.add("diff_rows_lost", lost, 0, "time_ns,kernels",
               "rows were lost on import: what is missing on one side looks like a change");
    const auto both = [&](uint64_t DiffRun::* field) {
      return sum_of(a_, field) + sum_of(b_, field);
    };
    const uint64_t carried = both(&DiffRun::kernels_carried_over);
    notes_.add("diff_carried_over_kernels", carried, 0, "time_ns,kernels,tklqt_ns",
               "kernels queued before the trace started: left out of launch numbers, but counted "
               "in the trace's time, or in the iteration in which they start");
    notes_.add("diff_unlinked_kernels", both(&DiffRun::kernels_unlinked) - carried, 0,
               "tklqt_ns,launches",
               "kernels without a launch call: in no launch number, and in the iteration in which "
               "they start on the device");
    int64_t outside_ns = 0;
    for (const Runs* side : {&a_, &b_}) {
      for (const DiffRun& run : *side) outside_ns += run.works_outside_ns;
    }
    notes_.add("diff_work_outside", both(&DiffRun::works_outside), outside_ns, "time_ns",
               "GPU activities launched outside every iteration, for example before the first one: "
               "in no iteration's time, but they may delay an iteration");
  }

  // Rewritten code looks the same as another program.
  void little_common() {
    const auto kernels = common_share(report_.levels[static_cast<size_t>(DiffLevelKind::kKernel)]);
    if (!kernels) return;
    const double operations =
        common_share(report_.levels[static_cast<size_t>(DiffLevelKind::kOperation)]).value_or(0);
    if (std::max(operations, *kernels) >= kLittleCommon) return;
    if (report_.pace.names >= kLeastPaceNames) return;
    notes_.add("diff_little_common", 1, 0, "time_ns",
               "operations with " + percent(operations) + " and kernels with " + percent(*kernels) +
                   " of the device time occur in both A and B: the change is one of speed only if "
                   "both do the same work");
  }

  // The same recording on both sides, whatever the file names.
  void same_recording() {
    const auto in_a = [&](const DiffRun& run) {
      return std::any_of(a_.begin(), a_.end(),
                         [&](const DiffRun& other) { return same_work(run, other); });
    };
    const auto shared = static_cast<uint64_t>(std::count_if(b_.begin(), b_.end(), in_a));
    const bool all = shared == b_.size() && a_.size() == b_.size();
    notes_.add("diff_same_recording", shared, 0, "time_ns",
               all ? "A and B are the same recording: every kernel has the same name and times"
                   : "some files of B hold the same recording as a file of A: what they share can "
                     "show no change");
  }

  void sampling() {
    const uint64_t fewest = std::min(report_.a.blocks, report_.b.blocks);
    if (fewest < 2) {
      notes_.add(
          "diff_one_sample", 1, 0, "time_ns",
          "a side is one iteration, so significance is unknown: give several files per side, or "
          "traces of several iterations");
      return;
    }
    const bool one_run = report_.a.block_kind == BlockKind::kIterations ||
                         report_.b.block_kind == BlockKind::kIterations;
    if (one_run) {
      notes_.add("diff_one_run", 1, 0, "time_ns",
                 "a side is one run: intervals know how its iterations differ, not how runs do; "
                 "give several files a side for that");
    }
    if (fewest < kFewBlocks) {
      notes_.add("diff_few_samples", fewest, 0, "time_ns",
                 "so few iterations or repeats on a side make wide intervals: small real changes "
                 "are called noise");
    }
  }

  void positions() {
    uint64_t given_up = 0;
    for (const DiffLevel& level : report_.levels) given_up += level.positions_given_up;
    notes_.add("diff_positions_given_up", given_up, 0, "match",
               "levels with sequences too different to align: renamed items there are matched by "
               "name and operators only, or listed as added and removed");
  }

  const Runs& a_;
  const Runs& b_;
  const DiffReport& report_;
  NoteList notes_;
};

}  // namespace

TrustNotes diff_caveats(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b,
                        const DiffReport& report) {
  return Caveats(a, b, report).list();
}

}  // namespace assay
