#include "launch/idle.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

// Appends `span`, joined with the last interval if they touch, to keep the index small.
void append(std::vector<Interval>& merged, Interval span) {
  if (!merged.empty() && merged.back().end_ns == span.start_ns) {
    merged.back().end_ns = span.end_ns;
  } else {
    merged.push_back(span);
  }
}

// Calls visit(row, part) for every row that overlaps the gap, with the overlap. `at` is the first
// row to check and only moves forward: call with ascending gaps.
template <typename Row, typename SpanOf, typename Visit>
void for_each_part(const std::vector<Row>& rows, Interval gap, size_t& at, SpanOf span_of,
                   Visit visit) {
  while (at < rows.size() && span_of(rows[at]).end_ns <= gap.start_ns) ++at;
  for (size_t i = at; i < rows.size() && span_of(rows[i]).start_ns < gap.end_ns; ++i) {
    const Interval span = span_of(rows[i]);
    visit(rows[i],
          Interval{std::max(span.start_ns, gap.start_ns), std::min(span.end_ns, gap.end_ns)});
  }
}

// Adds kOtherWork slices for the parts of the gap that the slices starting at `first` do not cover.
void add_rest(Interval gap, uint32_t number, size_t first, std::vector<IdleSlice>& slices) {
  const auto begin = [&] { return slices.begin() + static_cast<std::ptrdiff_t>(first); };
  const auto earlier = [](const IdleSlice& a, const IdleSlice& b) {
    return a.span.start_ns < b.span.start_ns;
  };
  std::sort(begin(), slices.end(), earlier);
  std::vector<Interval> told;
  for (auto at = begin(); at != slices.end(); ++at) append(told, at->span);
  for (const Interval& span : subtract({gap}, told)) {
    slices.push_back({span, IdleState::kOtherWork, number});
  }
  std::sort(begin(), slices.end(), earlier);
}

}  // namespace

int64_t IdleTime::host_busy_ns() const {
  const IdleTime& of = *this;
  return of[FlowCause::kCall] + of[FlowCause::kDispatch] + of[FlowCause::kAlloc] +
         of[FlowCause::kCold];
}
int64_t IdleTime::host_blocked_ns() const { return (*this)[FlowCause::kSync]; }
int64_t IdleTime::host_input_ns() const { return (*this)[FlowCause::kInput]; }
int64_t IdleTime::host_gaps_ns() const {
  return (*this)[FlowCause::kHostGap] + (*this)[FlowCause::kPython];
}
int64_t IdleTime::latency_ns() const { return (*this)[FlowCause::kLatency]; }
int64_t IdleTime::unseen_ns() const {
  return (*this)[FlowCause::kUnseen] + (*this)[FlowCause::kWaitOther];
}
int64_t IdleTime::nothing_asked_ns() const { return (*this)[FlowCause::kNothingAsked]; }
int64_t IdleTime::no_evidence_ns() const { return (*this)[FlowCause::kNoEvidence]; }
int64_t IdleTime::host_ns() const {
  const IdleTime& of = *this;
  return of[FlowCause::kCall] + of[FlowCause::kDispatch] + of[FlowCause::kPython] +
         of[FlowCause::kHostGap] + of[FlowCause::kLatency];
}

IdleView::IdleView(const DeviceFlow& flow) : flow_(flow), copies_(flow.copy) {
  std::array<std::vector<Interval>, kFlowCauses> causes;
  std::vector<Interval> after_sync;
  for (const FlowSlice& slice : flow.idle) {
    append(causes[static_cast<size_t>(slice.cause)], slice.span);
    if (slice.opened_by == OpenedBy::kSync) append(after_sync, slice.span);
  }
  for (size_t c = 0; c < kFlowCauses; ++c) causes_[c] = IntervalIndex(std::move(causes[c]));
  after_sync_ = IntervalIndex(std::move(after_sync));
}

IdleTime IdleView::in(const std::vector<Interval>& gaps) const {
  IdleTime idle;
  idle.other_work_ns = length_ns(gaps);
  for (size_t c = 0; c < kFlowCauses; ++c) {
    if (causes_[c].intervals().empty()) continue;
    idle.cause_ns[c] = causes_[c].length_in(gaps);
    idle.other_work_ns -= idle.cause_ns[c];
  }
  idle.copy_ns = copies_.length_in(gaps);
  idle.other_work_ns -= idle.copy_ns;
  idle.after_sync_ns = after_sync_.length_in(gaps);
  return idle;
}

std::vector<IdleSlice> idle_slices(const DeviceFlow& flow, const std::vector<Interval>& gaps) {
  std::vector<IdleSlice> slices;
  size_t next_slice = 0;
  size_t next_copy = 0;
  for (uint32_t gap = 0; gap < gaps.size(); ++gap) {
    const size_t first = slices.size();
    for_each_part(
        flow.idle, gaps[gap], next_slice, [](const FlowSlice& slice) { return slice.span; },
        [&](const FlowSlice& slice, Interval part) {
          slices.push_back({part, IdleState::kCause, gap, &slice});
        });
    for_each_part(
        flow.copy, gaps[gap], next_copy, [](const Interval& copy) { return copy; },
        [&](const Interval&, Interval part) { slices.push_back({part, IdleState::kCopy, gap}); });
    add_rest(gaps[gap], gap, first, slices);
  }
  return slices;
}

}  // namespace assay
