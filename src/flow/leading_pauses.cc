#include "flow/leading_pauses.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/intervals.h"
#include "flow/names.h"

namespace assay {
namespace {

constexpr int64_t kRareTimes = 20;  // least multiple of the typical duration

// Median duration of the events of that name; none if it has no events.
std::optional<int64_t> usual_ns(const Trace& trace, const Contributor& who) {
  std::vector<int64_t> durations_ns;
  const auto take = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.name[i] == who.name) durations_ns.push_back(table.dur_ns[i]);
    }
  };
  if (who.source == RowSource::kOp) take(trace.ops);
  if (who.source == RowSource::kCall) take(trace.api_calls);
  if (who.source == RowSource::kFrame) take(trace.frames);
  if (who.source == RowSource::kSystem) take(trace.other_events);
  if (durations_ns.empty()) return std::nullopt;
  const auto middle = durations_ns.begin() + static_cast<std::ptrdiff_t>(durations_ns.size() / 2);
  std::nth_element(durations_ns.begin(), middle, durations_ns.end());
  return *middle;
}

// True if the typical event is far shorter than the contributor's stalls.
bool usually_short(const Contributor& who, std::optional<int64_t> usual) {
  return usual && who.pauses > 0 &&
         *usual * kRareTimes <= who.pause_ns / static_cast<int64_t>(who.pauses);
}

// True if most of the host's stalls are in events that are normally short.
bool mostly_rare(const Trace& trace, const FlowReport& report) {
  int64_t all_ns = 0;
  int64_t rare_ns = 0;
  for (const Contributor& contributor : report.contributors) {
    if (!is_host_work(contributor.cause) || contributor.pause_ns == 0) continue;
    all_ns += contributor.pause_ns;
    if (usually_short(contributor, usual_ns(trace, contributor))) rare_ns += contributor.pause_ns;
  }
  return rare_ns * 2 >= all_ns;
}

// True if the long instances of an operator are the same one in each iteration, e.g. always the
// third: then the operator itself takes long (a search, a compilation for a new shape). Stalls of
// the host come at any place.
bool always_the_same(const Trace& trace, const Windows& iterations, const Contributor& who,
                     int64_t usual) {
  constexpr double kByChance = 0.01;
  std::map<int32_t, std::vector<std::pair<int64_t, int64_t>>>
      rows;  // by iteration: (start, duration)
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if (trace.ops.name[i] != who.name) continue;
    const int32_t window = window_at(iterations, trace.ops.start_ns[i]);
    if (window >= 0) rows[window].push_back({trace.ops.start_ns[i], trace.ops.dur_ns[i]});
  }
  std::map<size_t, size_t> long_at;  // count by place in the iteration
  size_t long_rows = 0;
  size_t all = 0;
  for (auto& [window, of] : rows) {
    std::sort(of.begin(), of.end());
    all += of.size();
    for (size_t place = 0; place < of.size(); ++place) {
      if (of[place].second <= kRareTimes * usual) continue;
      ++long_rows;
      ++long_at[place];
    }
  }
  size_t most = 0;
  for (const auto& [place, count] : long_at) most = std::max(most, count);
  if (most < 2 || most * 10 < long_rows * 8) return false;
  const double places = static_cast<double>(all) / static_cast<double>(rows.size());
  return std::pow(places, 1 - static_cast<double>(most)) < kByChance;
}

// False if one contributor has nearly all stalls and they are few, or always at the same place.
bool pauses_spread(const LeadingPauses& pauses) {
  constexpr uint64_t kMany = 8;
  if (!pauses.who || pauses.who->pause_ns * 10 < pauses.ns * 8) return true;
  return pauses.who->pauses >= kMany && !pauses.each_iteration;
}

// The contributor with the longest stalls in total.
std::optional<Contributor> longest_pauses(const FlowReport& report) {
  std::optional<Contributor> longest;
  for (const Contributor& contributor : report.contributors) {
    if (!is_host_work(contributor.cause) || contributor.pause_ns == 0) continue;
    if (!longest || contributor.pause_ns > longest->pause_ns) longest = contributor;
  }
  return longest;
}

// Merges adjacent host stalls: the name changes within one, and the device keeps waiting.
class Stalls {
 public:
  void add(Interval span) {
    if (!spans_.empty() && spans_.back().end_ns == span.start_ns) {
      spans_.back().end_ns = span.end_ns;
    } else {
      spans_.push_back(span);
    }
  }
  DurationSpread spread() const {
    std::vector<int64_t> durations_ns;
    for (const Interval& span : spans_) durations_ns.push_back(span.end_ns - span.start_ns);
    return duration_spread(durations_ns);
  }

 private:
  std::vector<Interval> spans_;  // device by device, by time
};

// Fills the lengths of all stalls and of those of `who`. Their sums match FlowTotals and
// ContributorSums.
void measure(const Trace& trace, const FlowReport& report, LeadingPauses& pauses) {
  Stalls all;
  Stalls of_who;
  for (size_t d = 0; d < report.devices.size(); ++d) {
    for (const Interval& recorded : subtract({report.device_windows[d]}, report.unrecorded)) {
      for (const FlowSlice& slice : report.devices[d].idle) {
        const Interval stall = {std::max(slice.span.start_ns, recorded.start_ns),
                                std::min(slice.span.end_ns, recorded.end_ns)};
        if (stall.end_ns - stall.start_ns < kPauseNs || !is_host_work(slice.cause)) continue;
        all.add(stall);
        if (pauses.who && slice.cause == pauses.who->cause && slice.source == pauses.who->source &&
            row_name(trace, slice.source, slice.row) == pauses.who->name) {
          of_who.add(stall);
        }
      }
    }
  }
  pauses.all = all.spread();
  pauses.of_who = of_who.spread();
}

}  // namespace

LeadingPauses leading_pauses(const FlowReport& report) {
  int64_t host_ns = 0;
  LeadingPauses found;
  for (size_t c = 0; c < kFlowCauses; ++c) {
    if (!is_host_work(static_cast<FlowCause>(c))) continue;
    host_ns += report.total.cause_ns[c];
    found.ns += report.total.pause_ns[c];
    found.count += report.total.pauses[c];
  }
  if (found.ns == 0 || found.ns * 2 < host_ns) return {};
  for (const Contributor& contributor : report.contributors) {
    if (!is_host_work(contributor.cause) || contributor.pause_ns * 2 < found.ns) continue;
    if (!found.who || contributor.pause_ns > found.who->pause_ns) found.who = contributor;
  }
  // A Python function with calls about as long as the shortest stall is one cause, not stalls.
  const bool shorter_ones = found.who && found.who->name && found.who->cause == FlowCause::kPython &&
                            found.who->pause_ns * 5 < found.who->ns * 4;
  return shorter_ones ? LeadingPauses{} : found;
}

void judge_pauses(const Trace& trace, const FlowReport& report, const Windows* iterations,
                  LeadingPauses& pauses) {
  if (pauses.ns > 0 && !pauses.who && !mostly_rare(trace, report))
    pauses.who = longest_pauses(report);
  if (pauses.who) {
    const std::optional<int64_t> usual = usual_ns(trace, *pauses.who);
    pauses.rare = usually_short(*pauses.who, usual);
    pauses.each_iteration = iterations != nullptr && usual &&
                            pauses.who->source == RowSource::kOp &&
                            always_the_same(trace, *iterations, *pauses.who, *usual);
  }
  if (pauses.ns > 0) measure(trace, report, pauses);
  const bool spread = pauses_spread(pauses);
  pauses.stalls = pauses.ns > 0 && pauses.count > 1 && spread && (!pauses.who || pauses.rare);
}

}  // namespace assay
