#include "flow/rank_fold.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "flow/build.h"
#include "flow/names.h"
#include "flow/pieces.h"
#include "kernels/book.h"

namespace assay {
namespace {

// Clock error within a device that may contradict an event.
constexpr int64_t kEarlyNs = 2'000;
constexpr int64_t kTightNs = 6'000;       // a start this soon after an end waited for it
// Most time from a target that was not the last to the return.
constexpr int64_t kMostReturnNs = 2'000;
constexpr int64_t kWaitCallNs = 4'000;    // least own time of a waiting call
constexpr size_t kFarthestRecord = 8;     // most record calls back that a wait may refer to

// A launch of device work, listed in the order of calls.
struct Launched {
  uint32_t work = 0;
  int64_t at_ns = 0;
  uint32_t prev = kNoFlowRow;  // index of the previous launch on its stream
  int32_t iteration = 0;
  std::vector<uint32_t> targets;  // indices of launches on other streams that it waits for
};

struct Step {
  int64_t at_ns = 0;
  uint32_t call = kNoFlowRow;
  uint32_t first = 0;  // range of launches
  uint32_t count = 0;
};

class Iterations {
 public:
  explicit Iterations(const Windows* steps) {
    if (steps == nullptr || steps->source == WindowSource::kWholeTrace) return;
    steps_ = steps;
    numbers_ = iteration_numbers(*steps);
  }
  // The iteration number at a time. Time between two iterations belongs to the earlier one, time
  // before all to the first.
  int32_t at(int64_t time_ns) const {
    if (steps_ == nullptr || steps_->windows.empty()) return 0;
    const auto after = std::partition_point(
        steps_->windows.begin(), steps_->windows.end(),
        [time_ns](const Window& window) { return window.start_ns <= time_ns; });
    const auto place =
        static_cast<size_t>(std::max<std::ptrdiff_t>(after - steps_->windows.begin() - 1, 0));
    return numbers_[place];
  }
  bool labelled() const {
    return steps_ != nullptr && steps_->source == WindowSource::kProfilerStep;
  }

 private:
  const Windows* steps_ = nullptr;
  std::vector<int32_t> numbers_;
};

// Finds the record call of each stream wait without a recorded target.
//
// A wait at one place of an iteration refers to the same record call in every iteration: the
// distance in record calls that no instance contradicts and that binds most often. If none binds, a
// part in a collective waits for the last record of other work. Other work waits for the oldest
// part that nothing waits for yet, on a stream that the same kernel waits for elsewhere.
class WaitFinder {
 public:
  struct Mark {
    uint32_t call = 0;
    uint32_t launch = 0;  // the last launch before it
  };
  struct Wait {
    uint32_t launch = 0;  // the waiting launch
    uint32_t call = 0;
    uint32_t marks = 0;  // number of record calls before it
  };

  WaitFinder(const FlowRun& run, std::vector<Launched>& launches)
      : run_(run), launches_(launches) {}

  std::vector<Mark> marks;
  std::vector<Wait> waits;

  uint64_t find() {
    take_recorded();
    if (left_.empty()) return 0;
    group();
    choose();
    return left_.size();
  }

 private:
  const FlowWork& work(uint32_t launch) const { return run_.works[launches_[launch].work]; }
  bool part(uint32_t launch) const { return work(launch).kind == WorkKind::kCollective; }

  void take_recorded() {
    std::unordered_map<uint32_t, RecordedWait> rows;
    for (const RecordedWait& row : recorded_waits(run_)) {
      const bool tells = row.kind == WaitKind::kStreamWaitEvent && row.record_call != kNoFlowRow;
      if (tells && row.call != kNoFlowRow) rows.emplace(row.call, row);
    }
    std::unordered_map<uint32_t, uint32_t> mark_of;
    for (const Mark& mark : marks) mark_of.emplace(mark.call, mark.launch);
    for (const Wait& wait : waits) {
      const auto row = rows.find(wait.call);
      const auto mark = row == rows.end() ? mark_of.end() : mark_of.find(row->second.record_call);
      if (mark == mark_of.end()) {
        if (row == rows.end()) left_.push_back(wait);
        continue;
      }
      uint32_t launch = mark->second;
      while (launch != kNoFlowRow && !on_stream(launch, row->second.waited_stream)) {
        launch = launch == 0 ? kNoFlowRow : launch - 1;
      }
      if (launch != kNoFlowRow && fits(wait.launch, launch)) add(wait.launch, launch);
    }
  }

  bool on_stream(uint32_t launch, int64_t stream) const {
    return stream < 0 || run_.trace->streams[work(launch).stream].stream == stream;
  }

  bool fits(uint32_t waiter, uint32_t target) const {
    return target < waiter && work(target).stream != work(waiter).stream &&
           work(target).end_ns <= work(waiter).start_ns + kEarlyNs;
  }
  // The launch that precedes the `back`-th record call before the wait; kNoFlowRow if there is
  // none.
  uint32_t target(const Wait& wait, size_t back) const {
    return wait.marks >= back ? marks[wait.marks - back].launch : kNoFlowRow;
  }
  bool fits_at(const Wait& wait, size_t back) const {
    const uint32_t launch = target(wait, back);
    return launch != kNoFlowRow && fits(wait.launch, launch);
  }

  void add(uint32_t waiter, uint32_t target) { launches_[waiter].targets.push_back(target); }

  using Place = std::pair<uint32_t, uint32_t>;  // name, stream
  Place place_of(uint32_t launch) const {
    return {run_.trace->activities.name[work(launch).activity.index()].value, work(launch).stream};
  }

  void group() {
    int32_t iteration = INT32_MIN;
    std::map<Place, uint32_t> count;
    std::vector<uint32_t> nth(launches_.size());
    for (uint32_t k = 0; k < launches_.size(); ++k) {
      if (launches_[k].iteration != iteration) count.clear();
      iteration = launches_[k].iteration;
      nth[k] = ++count[place_of(k)];
    }
    uint32_t before = kNoFlowRow;
    uint32_t which = 0;
    for (uint32_t w = 0; w < left_.size(); ++w) {
      which = left_[w].launch == before ? which + 1 : 0;
      before = left_[w].launch;
      alike_[{place_of(before), nth[before], which}].push_back(w);
    }
    back_.assign(left_.size(), 0);
    for (const auto& [key, uses] : alike_) choose_distance(uses);
  }

  void choose_distance(const std::vector<uint32_t>& uses) {
    size_t best = 0;
    size_t best_tight = 0;
    for (size_t back = 1; back <= kFarthestRecord; ++back) {
      size_t tight = 0;
      const bool holds = std::all_of(uses.begin(), uses.end(), [&](uint32_t w) {
        const uint32_t launch = target(left_[w], back);
        if (launch == kNoFlowRow) return true;
        const int64_t after_ns = work(left_[w].launch).start_ns - work(launch).end_ns;
        tight += after_ns < kTightNs ? 1 : 0;
        return fits(left_[w].launch, launch);
      });
      if (!holds || tight <= best_tight) continue;
      best = back;
      best_tight = tight;
    }
    for (const uint32_t w : uses) {
      back_[w] = best;
      if (best > 0 && target(left_[w], best) != kNoFlowRow) {
        streams_[place_of(left_[w].launch)].insert(work(target(left_[w], best)).stream);
      }
    }
  }

  void choose() {
    std::set<uint32_t> used;
    for (uint32_t w = 0; w < left_.size(); ++w) {
      const Wait& wait = left_[w];
      size_t back = back_[w];
      const bool waiter_is_part = part(wait.launch);
      if (back == 0 && !waiter_is_part) back = oldest_part(wait, used);
      for (const bool other : {true, false}) {
        for (size_t k = 1; back == 0 && k <= kFarthestRecord; ++k) {
          if (!fits_at(wait, k)) continue;
          if (!other || part(target(wait, k)) != waiter_is_part) back = k;
        }
      }
      if (back == 0 || target(wait, back) == kNoFlowRow) continue;
      add(wait.launch, target(wait, back));
      used.insert(target(wait, back));
    }
  }

  size_t oldest_part(const Wait& wait, const std::set<uint32_t>& used) const {
    const auto like = streams_.find(place_of(wait.launch));
    for (size_t back = kFarthestRecord; back > 0; --back) {
      if (!fits_at(wait, back)) continue;
      const uint32_t launch = target(wait, back);
      if (!part(launch) || used.contains(launch)) continue;
      if (like == streams_.end() || like->second.contains(work(launch).stream)) return back;
    }
    return 0;
  }

  const FlowRun& run_;
  std::vector<Launched>& launches_;
  std::vector<Wait> left_;
  std::map<std::tuple<Place, uint32_t, uint32_t>, std::vector<uint32_t>> alike_;
  std::vector<size_t> back_;  // per left_: distance in record calls, 0 = none
  std::map<Place, std::set<uint32_t>> streams_;
};

int64_t lower_quartile(std::vector<int64_t>& values, int64_t most_ns, int64_t otherwise_ns) {
  constexpr int64_t kLeastNs = -20'000;
  std::erase_if(values, [most_ns](int64_t ns) { return ns <= kLeastNs || ns >= most_ns; });
  return quantile_ns(values, 0.25, otherwise_ns);
}

class Folder {
 public:
  Folder(const FlowRun& run, const Windows* steps)
      : run_(run), trace_(*run.trace), iterations_(steps), cursor_(run.threads.size()) {}

  RankFold fold() {
    list_steps();
    if (launches_.empty()) return {};
    made_.numbered = iterations_.labelled();
    find_waits();
    find_floors();
    find_kept();
    list_details();
    walk();
    order_shares();
    return std::move(made_);
  }

 private:
  // ---- launches ---------------------------------------------------------------------------------

  const FlowWork& work(uint32_t launch) const { return run_.works[launches_[launch].work]; }
  bool part(uint32_t launch) const { return work(launch).kind == WorkKind::kCollective; }

  void list_steps() {
    std::vector<Step> steps;
    for (uint32_t c = 0; c < run_.calls.size(); ++c) {
      steps.push_back({.at_ns = run_.calls[c].start_ns, .call = c});
    }
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      if (run_.works[w].call == kNoFlowRow) {
        steps.push_back({.at_ns = run_.works[w].start_ns, .first = w});
      }
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.at_ns < b.at_ns; });
    std::vector<uint32_t> last(trace_.streams.size(), kNoFlowRow);
    for (Step& step : steps) {
      std::vector<uint32_t> works;
      if (step.call == kNoFlowRow) {
        works.push_back(step.first);
      } else {
        const FlowCall& call = run_.calls[step.call];
        for (uint32_t k = 0; k < call.work_count; ++k) {
          works.push_back(run_.works_of_calls[call.first_work + k]);
        }
        std::stable_sort(works.begin(), works.end(), [this](uint32_t a, uint32_t b) {
          return run_.works[a].start_ns < run_.works[b].start_ns;
        });
      }
      step.first = static_cast<uint32_t>(launches_.size());
      step.count = static_cast<uint32_t>(works.size());
      for (const uint32_t w : works) {
        uint32_t& before = last[run_.works[w].stream];
        launches_.push_back({.work = w,
                             .at_ns = step.at_ns,
                             .prev = before,
                             .iteration = iterations_.at(step.at_ns),
                             .targets = {}});
        before = static_cast<uint32_t>(launches_.size() - 1);
      }
      steps_.push_back(step);
    }
    place_of_work_.assign(run_.works.size(), kNoFlowRow);
    for (uint32_t k = 0; k < launches_.size(); ++k) place_of_work_[launches_[k].work] = k;
  }

  // Stream waits from calls, plus other inferred waits between streams.
  void find_waits() {
    WaitFinder finder(run_, launches_);
    std::vector<uint32_t> pending;
    uint32_t last = kNoFlowRow;
    bool any_calls = false;
    for (const Step& step : steps_) {
      if (step.count > 0) {
        for (const uint32_t call : pending) {
          finder.waits.push_back({step.first, call, pending_marks_[call]});
        }
        pending.clear();
        last = step.first + step.count - 1;
        continue;
      }
      if (step.call == kNoFlowRow) continue;
      const ApiRole role = run_.links->role_of(trace_, run_.calls[step.call].row);
      if (role == ApiRole::kEventRecord && last != kNoFlowRow) {
        finder.marks.push_back({step.call, last});
      } else if (role == ApiRole::kStreamWait) {
        any_calls = true;
        pending.push_back(step.call);
        pending_marks_[step.call] = static_cast<uint32_t>(finder.marks.size());
      }
    }
    made_.inferred_waits = finder.find();
    for (uint32_t k = 0; k < launches_.size(); ++k) {
      const FlowWork& own = work(k);
      if (any_calls && !own.wait_inferred) continue;
      for (uint32_t w = 0; w < own.wait_count; ++w) add_target(k, run_.waits[own.first_wait + w]);
    }
    for (Launched& launch : launches_) {
      std::sort(launch.targets.begin(), launch.targets.end());
      launch.targets.erase(std::unique(launch.targets.begin(), launch.targets.end()),
                           launch.targets.end());
    }
  }

  void add_target(uint32_t launch, uint32_t target_work) {
    const uint32_t target = place_of_work_[target_work];
    if (target == kNoFlowRow || target >= launch) return;
    if (run_.works[target_work].end_ns > work(launch).start_ns) return;
    launches_[launch].targets.push_back(target);
  }

  // True if the previous launch on the stream delays this one, at least in part. A short kernel can
  // begin after the next one, which overlaps it: both still wait for the same.
  bool follows(uint32_t launch) const {
    const uint32_t prev = launches_[launch].prev;
    return prev != kNoFlowRow && work(launch).start_ns + kEarlyNs >= work(prev).start_ns;
  }

  void find_floors() {
    std::vector<int64_t> launch_ns;
    std::vector<int64_t> stream_ns;
    std::vector<int64_t> event_ns;
    for (uint32_t k = 0; k < launches_.size(); ++k) {
      const FlowWork& own = work(k);
      if (follows(k)) stream_ns.push_back(own.start_ns - work(launches_[k].prev).end_ns);
      if (own.call != kNoFlowRow && own.start_ns >= run_.calls[own.call].end_ns) {
        launch_ns.push_back(own.start_ns - run_.calls[own.call].end_ns);
      }
      for (const uint32_t t : launches_[k].targets)
        event_ns.push_back(own.start_ns - work(t).end_ns);
    }
    launch_floor_ns_ = lower_quartile(launch_ns, 20'000, 3'000);
    stream_floor_ns_ = std::max<int64_t>(lower_quartile(stream_ns, 10'000, 1'500), 0);
    event_floor_ns_ = std::max<int64_t>(lower_quartile(event_ns, 10'000, 2'000), 0);
  }

  bool waits(const Step& step) const {
    if (step.call == kNoFlowRow) return false;
    const FlowCall& call = run_.calls[step.call];
    if (run_.links->role_of(trace_, call.row) == ApiRole::kSynchronize) return true;
    // Calls that may wait but did not are own host time.
    for (uint32_t t = 0; t < call.target_count; ++t) {
      if (run_.works[run_.targets[call.first_target + t]].end_ns > call.start_ns) return true;
    }
    return false;
  }

  void find_kept() {
    kept_.assign(launches_.size(), false);
    std::map<uint32_t, uint32_t> tails;  // by stream
    const auto keep_tails = [&] {
      for (const auto& [stream, tail] : tails) kept_[tail] = true;
    };
    for (const Step& step : steps_) {
      for (uint32_t k = step.first; k < step.first + step.count; ++k) {
        for (const uint32_t t : launches_[k].targets) kept_[t] = true;
        if (part(k)) keep_tails();
        tails[work(k).stream] = k;
      }
      if (waits(step)) {
        keep_tails();
        const FlowCall& call = run_.calls[step.call];
        for (uint32_t t = 0; t < call.target_count; ++t) keep(run_.targets[call.first_target + t]);
      }
      if (step.call != kNoFlowRow) keep(run_.calls[step.call].after_work);
    }
    keep_tails();
  }

  void keep(uint32_t w) {
    if (w != kNoFlowRow && place_of_work_[w] != kNoFlowRow) kept_[place_of_work_[w]] = true;
  }

  // ---- points -----------------------------------------------------------------------------------

  // Paths to one moment, by the point they come from and whether that is a host point.
  using Paths = std::map<std::pair<uint32_t, bool>, std::vector<FoldVector>>;

  uint32_t add_point(FoldKind kind, int64_t time_ns, int32_t iteration, int64_t work_ns) {
    made_.points.push_back({.kind = kind,
                            .iteration = iteration,
                            .time_ns = time_ns,
                            .work_ns = work_ns,
                            .first_edge = static_cast<uint32_t>(made_.edges.size()),
                            .first_share = static_cast<uint32_t>(made_.shares.size())});
    return static_cast<uint32_t>(made_.points.size() - 1);
  }
  void add_edge(uint32_t source, uint32_t device, uint32_t host,
                const std::vector<FoldVector>& vectors) {
    made_.edges.push_back({source, device, host, static_cast<uint32_t>(made_.vectors.size()),
                           static_cast<uint32_t>(vectors.size())});
    made_.vectors.insert(made_.vectors.end(), vectors.begin(), vectors.end());
  }

  // Host work and waiting since the host's last point. Waiting is fixed time.
  FoldVector host_until(int64_t time_ns) const {
    const int64_t all_ns = time_ns - host_time_ns_;
    const int64_t own_ns = std::max<int64_t>(all_ns - waited_ns_, 0);
    return {0, own_ns, all_ns - own_ns};
  }

  // Adds the time that the call's thread waited since the last count.
  void count_waiting(const FlowCall& call) {
    if (call.start_ns <= counted_ns_) return;
    for_each_piece(run_, run_.threads[call.thread.index()], {counted_ns_, call.start_ns}, cursor_,
                   [this](const PieceSpan& span) {
                     if (span.piece == nullptr) return;
                     const FlowCause cause = span.piece->cause;
                     if (cause == FlowCause::kSync || cause == FlowCause::kNothingAsked) {
                       waited_ns_ += span.end_ns - span.start_ns;
                     }
                   });
    counted_ns_ = call.start_ns;
  }

  void set_host(uint32_t point, int64_t time_ns) {
    host_ = point;
    host_time_ns_ = time_ns;
    counted_ns_ = std::max(counted_ns_, time_ns);
    waited_ns_ = 0;
  }

  void host_point(int64_t time_ns, int32_t iteration) {
    const FoldVector since = host_until(time_ns);
    const uint32_t point = add_point(FoldKind::kHost, time_ns, iteration, since.host_ns);
    add_edge(host_, kNoSegment, point, {since});
    set_host(point, time_ns);
  }

  void walk() {
    host_ = add_point(FoldKind::kHost, run_.start_ns, iterations_.at(run_.start_ns), 0);
    host_time_ns_ = counted_ns_ = run_.start_ns;
    end_point_.assign(launches_.size(), kNoSegment);
    tail_.assign(trace_.streams.size(), {});
    for (const Step& step : steps_) {
      const FlowCall* call = step.call == kNoFlowRow ? nullptr : &run_.calls[step.call];
      if (call != nullptr && (step.count > 0 || waits(step))) {
        count_waiting(*call);
        resume_after(*call);
      }
      for (uint32_t k = step.first; k < step.first + step.count; ++k) place(k, call);
      if (waits(step)) wait_in(*call);
    }
    name_host_segments();
  }

  // Handles an unrecorded wait of the host before the call.
  void resume_after(const FlowCall& call) {
    if (call.after_work == kNoFlowRow) return;
    const uint32_t launch = place_of_work_[call.after_work];
    if (launch == kNoFlowRow || end_point_[launch] == kNoSegment) return;
    const int64_t end_ns = run_.works[call.after_work].end_ns;
    if (end_ns > call.start_ns || end_ns <= host_time_ns_) return;
    const uint32_t point =
        add_point(FoldKind::kResumed, call.start_ns, iterations_.at(call.start_ns), 0);
    add_edge(host_, kNoSegment, kNoSegment, {{0, 0, 0}});
    add_edge(end_point_[launch], kNoSegment, kNoSegment, {{0, 0, call.start_ns - end_ns}});
    set_host(point, call.start_ns);
  }

  void wait_in(const FlowCall& call) {
    const int32_t iteration = iterations_.at(call.start_ns);
    std::map<uint32_t, int64_t> ends;  // by point
    int64_t last_ns = INT64_MIN;
    for (uint32_t t = 0; t < call.target_count; ++t) {
      const uint32_t w = run_.targets[call.first_target + t];
      const uint32_t launch = place_of_work_[w];
      if (launch == kNoFlowRow || end_point_[launch] == kNoSegment) continue;
      ends[end_point_[launch]] = run_.works[w].end_ns;
      last_ns = std::max(last_ns, run_.works[w].end_ns);
    }
    if (call.work_count == 0 || host_time_ns_ < call.start_ns) {
      host_point(call.start_ns, iteration);
    }
    const uint32_t begin = host_;
    const int64_t begin_ns = host_time_ns_;
    const int64_t all_ns = call.end_ns - begin_ns;
    const bool waited = last_ns > begin_ns;
    const uint32_t point = add_point(FoldKind::kResumed, call.end_ns, iteration, 0);
    add_edge(begin, kNoSegment, kNoSegment,
             {{0, 0, waited ? std::min(kWaitCallNs, all_ns) : all_ns}});
    for (const auto& [source, end_ns] : ends) {
      const int64_t lag_ns = call.end_ns - end_ns;
      const bool binds = waited && end_ns == last_ns;
      add_edge(source, kNoSegment, kNoSegment,
               {{0, 0, binds ? lag_ns : std::min(kMostReturnNs, lag_ns)}});
    }
    set_host(point, call.end_ns);
  }

  // State of a stream: paths to the end of its last launch, unless that is a point.
  struct Tail {
    Paths paths;
    int64_t own_ns = 0;  // own work of the segment so far
    uint32_t kernels = 0;
    std::map<uint32_t, int64_t> names;
  };

  struct Candidate {
    int64_t at_ns = 0;
    Paths paths;
  };

  // Paths from the end of a launch, `lag_ns` later.
  Candidate after(uint32_t launch, int64_t lag_ns) const {
    Candidate made{work(launch).end_ns + lag_ns, {}};
    if (end_point_[launch] != kNoSegment) {
      made.paths[{end_point_[launch], false}] = {{0, 0, lag_ns}};
      return made;
    }
    made.paths = tail_[work(launch).stream].paths;
    for (auto& [from, vectors] : made.paths) {
      for (FoldVector& vector : vectors) vector.fixed_ns += lag_ns;
    }
    return made;
  }

  std::vector<Candidate> candidates(uint32_t k, const FlowCall* call) const {
    const FlowWork& own = work(k);
    std::vector<Candidate> all;
    if (call != nullptr) {
      const bool behind = own.start_ns >= call->end_ns;
      const int64_t from_ns = behind ? call->end_ns : call->start_ns;
      const int64_t lag_ns =
          behind ? std::min(launch_floor_ns_, own.start_ns - from_ns) : own.start_ns - from_ns;
      FoldVector vector = host_until(std::max(from_ns, host_time_ns_));
      vector.fixed_ns += lag_ns + std::min<int64_t>(from_ns - host_time_ns_, 0);
      all.push_back({from_ns + lag_ns, {{{host_, true}, {vector}}}});
    }
    const uint32_t prev = launches_[k].prev;
    if (follows(k)) {
      all.push_back(after(prev, std::min(stream_floor_ns_, own.start_ns - work(prev).end_ns)));
    }
    for (const uint32_t t : launches_[k].targets) {
      if (end_point_[t] == kNoSegment) continue;
      all.push_back(after(t, std::min(event_floor_ns_, own.start_ns - work(t).end_ns)));
    }
    if (all.empty()) {
      const int64_t lag_ns = own.start_ns - made_.points.front().time_ns;
      all.push_back({own.start_ns, {{{0, false}, {{0, 0, lag_ns}}}}});
    }
    return all;
  }

  void place(uint32_t k, const FlowCall* call) {
    const FlowWork& own = work(k);
    const int32_t iteration = launches_[k].iteration;
    if (call != nullptr && (part(k) || iteration != iteration_) && host_time_ns_ < call->start_ns) {
      host_point(call->start_ns, iteration);
    }
    iteration_ = iteration;
    std::vector<Candidate> all = candidates(k, call);
    const auto binds =
        std::max_element(all.begin(), all.end(),
                         [](const Candidate& a, const Candidate& b) { return a.at_ns < b.at_ns; });
    const int64_t residual_ns = own.start_ns - binds->at_ns;
    Paths paths;
    for (Candidate& one : all) {
      for (auto& [from, vectors] : one.paths) {
        for (FoldVector& vector : vectors) {
          if (&one == &*binds) vector.fixed_ns += residual_ns;
          paths[from].push_back(vector);
        }
      }
    }
    for (auto& [from, vectors] : paths) keep_envelope(vectors);
    const uint32_t prev = launches_[k].prev;
    made_.overlapping += follows(k) && own.start_ns < work(prev).end_ns ? 1 : 0;
    Tail& tail = tail_[own.stream];
    if (part(k)) {
      add_part(k, paths);
      tail.paths.clear();
      return;
    }
    const int64_t dur_ns = own.end_ns - own.start_ns;
    for (auto& [from, vectors] : paths) {
      for (FoldVector& vector : vectors) vector.device_ns += dur_ns;
    }
    tail.own_ns += dur_ns;
    ++tail.kernels;
    tail.names[name_of(k)] += dur_ns;
    if (!kept_[k]) {
      tail.paths = std::move(paths);
      return;
    }
    const uint32_t point = add_point(FoldKind::kKernel, own.end_ns, iteration, tail.own_ns);
    made_.points[point].kernels = tail.kernels;
    for (const auto& [from, vectors] : paths) {
      add_edge(from.first, point, from.second ? kFromHost : kNoSegment, vectors);
    }
    for (const auto& [name, ns] : tail.names) made_.shares.push_back({name, ns});
    tail = {};
    end_point_[k] = point;
  }

  void add_part(uint32_t k, const Paths& paths) {
    const FlowWork& own = work(k);
    const int32_t iteration = launches_[k].iteration;
    const uint32_t begin = add_point(FoldKind::kBegin, own.start_ns, iteration, 0);
    for (const auto& [from, vectors] : paths) {
      // Earlier kernels of its stream are a segment that already ended at a point.
      add_edge(from.first, kNoSegment, from.second ? kFromHost : kNoSegment, vectors);
    }
    const uint32_t end = add_point(FoldKind::kEnd, own.end_ns, iteration, 0);
    add_edge(begin, kNoSegment, kNoSegment, {{0, 0, own.end_ns - own.start_ns}});
    end_point_[k] = end;
    FoldPart part{begin, end, group_of(k), -1, -1};
    if (const uint32_t detail = details_[own.activity.index()]; detail != kNoFlowRow) {
      part.seq = meeting_party(trace_, detail).seq;
      part.elements =
          std::max(trace_.collectives.in_elements[detail], trace_.collectives.out_elements[detail]);
    }
    made_.parts.push_back(part);
  }

  // Resolves kFromHost: the host segment of a path from a host point ends at the next host point.
  void name_host_segments() {
    std::vector<uint32_t> hosts;
    for (uint32_t p = 0; p < made_.points.size(); ++p) {
      const FoldKind kind = made_.points[p].kind;
      if (kind == FoldKind::kHost || kind == FoldKind::kResumed) hosts.push_back(p);
    }
    for (FoldEdge& edge : made_.edges) {
      if (edge.host != kFromHost) continue;
      const auto next = std::upper_bound(hosts.begin(), hosts.end(), edge.source);
      edge.host =
          next != hosts.end() && made_.points[*next].kind == FoldKind::kHost ? *next : kNoSegment;
    }
  }

  // ---- groups and names -------------------------------------------------------------------------

  void list_details() {
    details_.assign(trace_.activities.size(), kNoFlowRow);
    for (uint32_t i = 0; i < trace_.collectives.size(); ++i) {
      details_[trace_.collectives.activity[i].index()] = i;
    }
  }

  uint32_t group_of(uint32_t k) {
    const ActivityId activity = work(k).activity;
    const uint32_t detail = details_[activity.index()];
    CollectiveGroup group;
    StringId told;
    int64_t members = 0;
    if (detail != kNoFlowRow) {
      told = trace_.collectives.collective[detail];
      MeetingParty party = meeting_party(trace_, detail);
      group.name = std::move(party.name);
      group.ranks = std::move(party.ranks);
      members = std::max<int64_t>(party.members, 0);
    }
    group.kind = collective_kind(trace_, *run_.links, *run_.kernels, told, activity,
                                 run_.links->activity_op[activity.index()]);
    group.all_wait = all_wait(group.kind);
    const auto [found, is_new] =
        group_ids_.try_emplace(group, static_cast<uint32_t>(made_.groups.size()));
    if (is_new) made_.groups.push_back({std::move(group), members});
    return found->second;
  }

  uint32_t name_of(uint32_t k) {
    const ActivityId activity = work(k).activity;
    const StringId name = trace_.activities.name[activity.index()];
    const auto [found, is_new] =
        name_ids_.try_emplace(name.value, static_cast<uint32_t>(made_.names.size()));
    if (is_new) made_.names.emplace_back(trace_.text(name));
    return found->second;
  }

  void order_shares() {
    for (uint32_t p = 0; p < made_.points.size(); ++p) {
      std::stable_sort(made_.shares.begin() + made_.points[p].first_share,
                       made_.shares.begin() + made_.share_end(p),
                       [](const FoldShare& a, const FoldShare& b) { return a.ns > b.ns; });
    }
  }

  static constexpr uint32_t kFromHost = UINT32_MAX - 1;

  const FlowRun& run_;
  const Trace& trace_;
  Iterations iterations_;
  PieceCursor cursor_;
  RankFold made_;
  std::vector<Step> steps_;
  std::vector<Launched> launches_;
  std::vector<uint32_t> place_of_work_;
  std::unordered_map<uint32_t, uint32_t> pending_marks_;
  std::vector<bool> kept_;
  std::vector<uint32_t> end_point_;  // per launch
  std::vector<Tail> tail_;           // per stream
  std::vector<uint32_t> details_;    // per activity: row of collectives
  std::map<CollectiveGroup, uint32_t> group_ids_;
  std::unordered_map<uint32_t, uint32_t> name_ids_;
  int64_t launch_floor_ns_ = 0;
  int64_t stream_floor_ns_ = 0;
  int64_t event_floor_ns_ = 0;
  uint32_t host_ = 0;
  int64_t host_time_ns_ = 0;
  int64_t counted_ns_ = 0;
  int64_t waited_ns_ = 0;
  int32_t iteration_ = INT32_MIN;
};

}  // namespace

RankFold fold_rank(const FlowRun& run, const Windows* steps) { return Folder(run, steps).fold(); }

void keep_envelope(std::vector<FoldVector>& vectors) {
  if (vectors.size() < 2) return;
  // Paces of device and host, times two.
  constexpr std::array<std::pair<int64_t, int64_t>, 7> kPaces = {
      {{2, 2}, {1, 2}, {2, 1}, {4, 2}, {2, 4}, {0, 2}, {2, 0}}};
  std::vector<FoldVector> kept;
  for (const auto& [device, host] : kPaces) {
    const auto length = [device = device, host = host](const FoldVector& v) {
      return device * v.device_ns + host * v.host_ns + 2 * v.fixed_ns;
    };
    kept.push_back(*std::max_element(vectors.begin(), vectors.end(),
                                     [&length](const FoldVector& a, const FoldVector& b) {
                                       return std::pair(length(a), a) < std::pair(length(b), b);
                                     }));
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  vectors = std::move(kept);
}

uint64_t fold_errors(const RankFold& fold) {
  uint64_t errors = 0;
  for (uint32_t p = 0; p < fold.points.size(); ++p) {
    int64_t latest_ns = INT64_MIN;
    for (uint32_t e = fold.points[p].first_edge; e < fold.edge_end(p); ++e) {
      const FoldEdge& edge = fold.edges[e];
      for (uint32_t v = edge.first; v < edge.first + edge.count; ++v) {
        latest_ns =
            std::max(latest_ns, fold.points[edge.source].time_ns + fold.vectors[v].sum_ns());
      }
    }
    errors += latest_ns != INT64_MIN && latest_ns != fold.points[p].time_ns ? 1 : 0;
  }
  return errors;
}

void cut_fold(RankFold& fold, uint32_t first) {
  if (first >= fold.points.size()) return;
  fold.cut_points += fold.points.size() - first;
  fold.shares.resize(fold.points[first].first_share);
  const uint32_t edges = fold.points[first].first_edge;
  if (edges < fold.edges.size()) fold.vectors.resize(fold.edges[edges].first);
  fold.edges.resize(edges);
  fold.points.resize(first);
  for (FoldEdge& edge : fold.edges) {
    if (edge.host != kNoSegment && edge.host >= first) edge.host = kNoSegment;
  }
  std::erase_if(fold.parts, [first](const FoldPart& part) { return part.end >= first; });
}

}  // namespace assay
