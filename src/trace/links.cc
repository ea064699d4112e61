#include "trace/links.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace assay {

namespace {

// Maximum time by which a child may outlive its parent. Whole-microsecond traces round both ends to
// 1 us, and even nanosecond traces have children that end a few hundred ns late.
constexpr int64_t kOutliveNs = 1000;
// Maximum nesting depth of operators, equal to Python's default recursion limit.
constexpr uint32_t kMostNested = 1000;

// Saturating addition, for files with absurd durations.
void add_clamped(int64_t& sum, int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = std::numeric_limits<int64_t>::max();
}

// First call of every correlation id. Ids are a per-process counter, so their range is nearly
// always a small multiple of the number of calls: a table of that range needs one load per look-up.
// Ids that are far apart (concatenated traces) use a sorted list.
class CorrelationIndex {
 public:
  explicit CorrelationIndex(const ApiCallTable& calls) {
    uint32_t low = std::numeric_limits<uint32_t>::max();
    uint32_t high = 0;
    size_t keyed = 0;
    for (uint32_t correlation : calls.correlation) {
      if (correlation == 0) continue;
      low = std::min(low, correlation);
      high = std::max(high, correlation);
      ++keyed;
    }
    if (keyed == 0) return;
    if (high - low < 4 * keyed + 1024) {
      fill_table(calls, low, high);
    } else {
      fill_list(calls, keyed);
    }
  }

  ApiCallId find(uint32_t correlation) const {
    if (!table_.empty()) {
      // Below low_ the difference wraps and lands beyond the table.
      const uint32_t place = correlation - low_;
      return place < table_.size() ? table_[place] : ApiCallId();
    }
    const auto it = std::lower_bound(
        list_.begin(), list_.end(), correlation,
        [](const Entry& entry, uint32_t wanted) { return entry.correlation < wanted; });
    return it != list_.end() && it->correlation == correlation ? it->call : ApiCallId();
  }

 private:
  struct Entry {
    uint32_t correlation;
    ApiCallId call;
  };

  void fill_table(const ApiCallTable& calls, uint32_t low, uint32_t high) {
    low_ = low;
    table_.resize(size_t{high} - low + 1);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls.correlation[i] == 0) continue;
      ApiCallId& first = table_[calls.correlation[i] - low];
      // Rows are sorted by thread, so the first row is not always the first call.
      if (!first || calls.start_ns[i] < calls.start_ns[first.index()]) first = ApiCallId(i);
    }
  }

  void fill_list(const ApiCallTable& calls, size_t keyed) {
    list_.reserve(keyed);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls.correlation[i] != 0) list_.push_back({calls.correlation[i], ApiCallId(i)});
    }
    std::sort(list_.begin(), list_.end(), [&](const Entry& a, const Entry& b) {
      if (a.correlation != b.correlation) return a.correlation < b.correlation;
      const int64_t a_start = calls.start_ns[a.call.index()];
      const int64_t b_start = calls.start_ns[b.call.index()];
      return a_start != b_start ? a_start < b_start : a.call < b.call;
    });
    const auto same = [](const Entry& a, const Entry& b) { return a.correlation == b.correlation; };
    list_.erase(std::unique(list_.begin(), list_.end(), same), list_.end());
  }

  uint32_t low_ = 0;
  std::vector<ApiCallId> table_;
  std::vector<Entry> list_;  // sorted by correlation
};

void link_activities(const Trace& trace, const CorrelationIndex& calls, Links& links) {
  const ActivityTable& activities = trace.activities;
  links.activity_call.resize(activities.size());
  links.call_offsets.assign(trace.api_calls.size() + 1, 0);
  for (size_t i = 0; i < activities.size(); ++i) {
    if (activities.correlation[i] == 0) continue;
    const ApiCallId call = calls.find(activities.correlation[i]);
    if (!call) continue;
    links.activity_call[i] = call;
    ++links.call_offsets[call.index() + 1];
  }
  for (size_t i = 1; i < links.call_offsets.size(); ++i) {
    links.call_offsets[i] += links.call_offsets[i - 1];
  }

  links.call_activities.resize(links.call_offsets.back());
  std::vector<uint32_t> next(links.call_offsets.begin(), links.call_offsets.end() - 1);
  for (size_t i = 0; i < activities.size(); ++i) {
    const ApiCallId call = links.activity_call[i];
    if (call) links.call_activities[next[call.index()]++] = ActivityId(i);
  }
  for (size_t i = 0; i + 1 < links.call_offsets.size(); ++i) {
    const auto begin = links.call_activities.begin() + links.call_offsets[i];
    const auto end = links.call_activities.begin() + links.call_offsets[i + 1];
    if (end - begin < 2) continue;
    std::sort(begin, end, [&](ActivityId a, ActivityId b) {
      const int64_t a_start = activities.start_ns[a.index()];
      const int64_t b_start = activities.start_ns[b.index()];
      return a_start != b_start ? a_start < b_start : a < b;
    });
  }
}

void count_activities(const Trace& trace, Links& links) {
  const ActivityTable& activities = trace.activities;
  LinkStats& stats = links.stats;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  links.first_linked_ns.assign(trace.streams.size(), kNever);
  int64_t first_of_all_ns = kNever;
  for (size_t i = 0; i < activities.size(); ++i) {
    const bool linked = bool(links.activity_call[i]);
    switch (activities.kind[i]) {
      case ActivityKind::kKernel:
        ++stats.kernels;
        if (linked) {
          ++stats.kernels_linked;
          int64_t& first_ns = links.first_linked_ns[activities.stream[i].index()];
          first_ns = std::min(first_ns, activities.start_ns[i]);
          first_of_all_ns = std::min(first_of_all_ns, activities.start_ns[i]);
        } else {
          ++stats.kernels_unlinked;
          add_clamped(stats.kernels_unlinked_ns, activities.dur_ns[i]);
        }
        break;
      case ActivityKind::kMemcpy:
      case ActivityKind::kMemset:
        ++stats.copies;
        stats.copies_linked += linked;
        break;
      case ActivityKind::kSync:
      case ActivityKind::kOther:
        break;
    }
  }
  for (int64_t& first_ns : links.first_linked_ns) {
    if (first_ns == kNever) first_ns = first_of_all_ns;
  }
  for (size_t i = 0; i < activities.size(); ++i) {
    if (activities.kind[i] != ActivityKind::kKernel) continue;
    if (!links.carried_over(trace, ActivityId(i))) continue;
    ++stats.kernels_carried_over;
    add_clamped(stats.kernels_carried_over_ns, activities.dur_ns[i]);
  }
}

void count_calls(const Trace& trace, const CorrelationIndex& calls, Links& links) {
  LinkStats& stats = links.stats;
  for (size_t i = 0; i < trace.api_calls.size(); ++i) {
    const ApiCallId call(i);
    const uint32_t correlation = trace.api_calls.correlation[i];
    if (correlation != 0 && calls.find(correlation) != call) {
      ++stats.duplicate_calls;
      continue;
    }
    const ApiRole role = links.role_of(trace, call);
    uint64_t kernels = 0;
    for (ActivityId activity : links.activities_of(call)) {
      kernels += trace.activities.kind[activity.index()] == ActivityKind::kKernel;
    }
    if (role == ApiRole::kGraphLaunch) {
      stats.graph_launches += kernels > 0;
      stats.graph_kernels += kernels;
    } else {
      stats.shared_correlations += kernels > 1;
    }
    if (role == ApiRole::kKernelLaunch || role == ApiRole::kGraphLaunch) {
      ++stats.launch_calls;
      stats.launch_calls_unlinked += links.activities_of(call).empty();
      stats.calls_without_op += !links.call_op[i];
    }
  }
}

// One pass over ops and calls, thread by thread in time order, with a stack of the open ops.
//
// An op leaves the stack if it has ended, or if a child outlives it by more than kOutliveNs. Any
// later start inside such an op is also inside that child, which is the inner one, and whatever
// outlives the child also outlives the op. An op under a tolerated child may have ended already, so
// every pop tests the end.
class Nester {
 public:
  Nester(const Trace& trace, Links& links) : trace_(trace), links_(links) {}

  void run() {
    const OpTable& ops = trace_.ops;
    const ApiCallTable& calls = trace_.api_calls;
    links_.op_parent.resize(ops.size());
    links_.call_op.resize(calls.size());
    size_t op = 0;
    size_t call = 0;
    while (op < ops.size() || call < calls.size()) {
      ThreadId thread;  // kNone, the largest id
      if (op < ops.size()) thread = ops.thread[op];
      if (call < calls.size()) thread = std::min(thread, calls.thread[call]);
      open_.clear();
      while (true) {
        const bool has_op = op < ops.size() && ops.thread[op] == thread;
        const bool has_call = call < calls.size() && calls.thread[call] == thread;
        if (has_op && (!has_call || ops.start_ns[op] <= calls.start_ns[call])) {
          place_op(OpId(op++));
        } else if (has_call) {
          place_call(ApiCallId(call++));
        } else {
          break;
        }
      }
    }
  }

 private:
  struct Open {
    int64_t end_ns;
    OpId op;
    uint32_t depth;  // number of parents
  };

  // Every launch walks its chain of parents, so the length is bounded: an operator nested deeper
  // than kMostNested becomes a sibling.
  OpId parent_below(const Open& around, int64_t start_ns, uint32_t& depth) const {
    OpId parent = around.op;
    depth = around.depth + 1;
    if (depth <= kMostNested) return parent;
    do {
      parent = links_.op_parent[parent.index()];
      --depth;
    } while (parent && trace_.end_ns(parent) <= start_ns);
    return parent;
  }

  void place_op(OpId op) {
    const int64_t start_ns = trace_.ops.start_ns[op.index()];
    const int64_t end_ns = trace_.end_ns(op);
    bool split = false;
    while (!open_.empty()) {
      const int64_t open_end_ns = open_.back().end_ns;
      if (open_end_ns > start_ns) {
        if (end_ns - open_end_ns <= kOutliveNs) break;
        split = true;
      }
      open_.pop_back();
    }
    uint32_t depth = 0;
    if (!open_.empty()) {
      const OpId parent = parent_below(open_.back(), start_ns, depth);
      split |= parent != open_.back().op;
      links_.op_parent[op.index()] = parent;
      links_.stats.overlap_tolerated += end_ns > open_.back().end_ns;
    }
    links_.stats.overlap_split += split;
    open_.push_back(
        {end_ns, op, depth});  // a zero-length op is popped before anything is inside it
  }

  void place_call(ApiCallId call) {
    const int64_t start_ns = trace_.api_calls.start_ns[call.index()];
    while (!open_.empty() && open_.back().end_ns <= start_ns) open_.pop_back();
    if (!open_.empty()) links_.call_op[call.index()] = open_.back().op;
  }

  const Trace& trace_;
  Links& links_;
  std::vector<Open> open_;
};

// Operators by External id, in start order.
class ExternalIdIndex {
 public:
  explicit ExternalIdIndex(const OpTable& ops) : ops_(ops) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.external_id[i] != 0) list_.push_back(OpId(i));
    }
    std::sort(list_.begin(), list_.end(), [&](OpId a, OpId b) {
      if (id_of(a) != id_of(b)) return id_of(a) < id_of(b);
      if (start_of(a) != start_of(b)) return start_of(a) < start_of(b);
      return a < b;
    });
  }

  // The last op with this id that starts no later than start_ns; if all start later, the first.
  OpId find(uint32_t external_id, int64_t start_ns) const {
    const auto after = std::partition_point(list_.begin(), list_.end(), [&](OpId op) {
      return id_of(op) < external_id || (id_of(op) == external_id && start_of(op) <= start_ns);
    });
    if (after != list_.begin() && id_of(*(after - 1)) == external_id) return *(after - 1);
    if (after != list_.end() && id_of(*after) == external_id) return *after;
    return OpId();
  }

 private:
  uint32_t id_of(OpId op) const { return ops_.external_id[op.index()]; }
  int64_t start_of(OpId op) const { return ops_.start_ns[op.index()]; }

  const OpTable& ops_;
  std::vector<OpId> list_;
};

void attribute_activities(const Trace& trace, Links& links) {
  const ActivityTable& activities = trace.activities;
  LinkStats& stats = links.stats;
  links.activity_op.resize(activities.size());
  struct Pending {
    ActivityId activity;
    uint32_t external_id;
    int64_t start_ns;
  };
  std::vector<Pending> pending;
  for (size_t i = 0; i < activities.size(); ++i) {
    const ApiCallId call = links.activity_call[i];
    if (call && links.call_op[call.index()]) {
      links.activity_op[i] = links.call_op[call.index()];
      ++stats.activity_ops_by_call;
      continue;
    }
    uint32_t external_id = activities.external_id[i];
    int64_t start_ns = activities.start_ns[i];
    if (call) {
      start_ns = trace.api_calls.start_ns[call.index()];
      if (external_id == 0) external_id = trace.api_calls.external_id[call.index()];
    }
    if (external_id == 0) continue;
    if (external_id == activities.correlation[i]) {
      ++stats.external_ids_ignored;
    } else {
      pending.push_back({ActivityId(i), external_id, start_ns});
    }
  }
  if (pending.empty()) return;
  const ExternalIdIndex ops(trace.ops);
  for (const Pending& row : pending) {
    const OpId op = ops.find(row.external_id, row.start_ns);
    links.activity_op[row.activity.index()] = op;
    stats.activity_ops_by_external_id += bool(op);
  }
}

}  // namespace

Links link_trace(const Trace& trace) {
  Links links;
  links.role = api_roles(trace.strings);
  const CorrelationIndex calls(trace.api_calls);
  link_activities(trace, calls, links);
  Nester(trace, links).run();
  count_activities(trace, links);
  count_calls(trace, calls, links);
  attribute_activities(trace, links);
  return links;
}

}  // namespace assay
