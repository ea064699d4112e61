#include "trace/builder.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <type_traits>

#include "base/decimal.h"
#include "trace/process_facts.h"
#include "trace/unrecorded.h"

namespace assay {
namespace {

// ---- merging ----

template <typename T>
void append_mapped(std::vector<T>& to, const std::vector<T>& from, const std::vector<T>& map) {
  for (const T id : from) to.push_back(id ? map[id.value] : T());
}

template <typename T>
void append_shifted(std::vector<Id<T>>& to, const std::vector<Id<T>>& from, size_t shift) {
  for (const Id<T> id : from) to.push_back(id ? Id<T>(id.index() + shift) : Id<T>());
}

// Maps ids of the later builder to those of the earlier one.
struct IdMaps {
  std::vector<StringId> strings;
  std::vector<ThreadId> threads;
  std::vector<StreamId> streams;
  size_t ops = 0;         // rows before
  size_t api_calls = 0;   // rows before
  size_t activities = 0;  // rows before

  template <typename T>
  void append(std::vector<T>& to, const std::vector<T>& from) const {
    if constexpr (std::is_same_v<T, StringId>) {
      append_mapped(to, from, strings);
    } else if constexpr (std::is_same_v<T, ThreadId>) {
      append_mapped(to, from, threads);
    } else if constexpr (std::is_same_v<T, StreamId>) {
      append_mapped(to, from, streams);
    } else if constexpr (std::is_same_v<T, OpId>) {
      append_shifted(to, from, ops);
    } else if constexpr (std::is_same_v<T, ApiCallId>) {
      append_shifted(to, from, api_calls);
    } else if constexpr (std::is_same_v<T, ActivityId>) {
      append_shifted(to, from, activities);
    } else {
      to.insert(to.end(), from.begin(), from.end());
    }
  }
};

// ---- sorting ----

// New order of a table: order[new row] = old row. Empty means "already in order".
using Order = std::vector<uint32_t>;

struct SortKey {
  int64_t start_ns;
  uint32_t row;
};

// Orders rows of equal time by all other values in the file: ids first, which increase as the
// program runs, then texts and measured values. Rows that are still equal are interchangeable.
template <typename Table>
class TieOrder {
 public:
  TieOrder(const Table& table, const StringPool& strings) : table_(table), strings_(strings) {}

  bool operator()(uint32_t a, uint32_t b) const {
    std::strong_ordering order = compare(a, b, false);
    if (order == 0) order = compare(a, b, true);
    return order < 0;
  }

 private:
  std::strong_ordering compare(uint32_t a, uint32_t b, bool texts) const {
    std::strong_ordering order = std::strong_ordering::equal;
    table_.for_each_column([&](auto, auto, auto, const auto& column) {
      using Cell = typename std::remove_cvref_t<decltype(column)>::value_type;
      constexpr bool kText = std::is_same_v<Cell, StringId>;
      constexpr bool kMeasured = std::is_same_v<Cell, double>;
      if (order != 0 || texts != (kText || kMeasured)) return;
      if constexpr (kText) {
        if (column[a] != column[b])
          order = by_text(strings_.view(column[a]), strings_.view(column[b]));
      } else if constexpr (kMeasured) {
        order = total_place(column[a]) <=> total_place(column[b]);
      } else {
        order = column[a] <=> column[b];
      }
    });
    return order;
  }

  // Key of a number in IEEE 754's total order: -0 before 0, NaN at the ends.
  static int64_t total_place(double value) {
    int64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits < 0 ? bits ^ INT64_MAX : bits;
  }

  // "<built-in function sleep>" calls no Python code, so it is inside the other frame of the same
  // time.
  static std::strong_ordering by_text(std::string_view a, std::string_view b) {
    const bool a_inner = a.starts_with('<');
    const bool b_inner = b.starts_with('<');
    return a_inner != b_inner ? a_inner <=> b_inner : a.compare(b) <=> 0;
  }

  const Table& table_;
  const StringPool& strings_;
};

// Sorts rows of one lane. Recorded lanes are mostly sorted, often as a few interleaved runs, so the
// sorted case is detected first.
template <typename Ties>
void sort_lane(std::vector<SortKey>& keys, const std::vector<int64_t>& dur_ns, const Ties& ties) {
  const auto before = [&](const SortKey& a, const SortKey& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (dur_ns[a.row] != dur_ns[b.row]) return dur_ns[a.row] > dur_ns[b.row];
    return ties(a.row, b.row);
  };
  if (!std::is_sorted(keys.begin(), keys.end(), before))
    std::sort(keys.begin(), keys.end(), before);
}

template <typename Table, typename LaneId>
Order order_by_lane(const Table& table, const std::vector<LaneId>& lane,
                    const StringPool& strings) {
  const std::vector<int64_t>& start_ns = table.start_ns;
  const std::vector<int64_t>& dur_ns = table.dur_ns;
  const TieOrder ties(table, strings);
  const size_t rows = start_ns.size();
  bool sorted = true;
  for (size_t i = 1; i < rows && sorted; ++i) {
    if (lane[i] != lane[i - 1]) {
      sorted = lane[i - 1] < lane[i];
    } else if (start_ns[i] != start_ns[i - 1]) {
      sorted = start_ns[i - 1] < start_ns[i];
    } else if (dur_ns[i] != dur_ns[i - 1]) {
      sorted = dur_ns[i - 1] > dur_ns[i];
    } else {
      sorted = !ties(static_cast<uint32_t>(i), static_cast<uint32_t>(i - 1));
    }
  }
  if (sorted) return {};
  // Stable counting sort by lane, then each lane separately. Rows without a lane come last.
  size_t known = 0;
  for (const LaneId id : lane) known = id ? std::max<size_t>(known, id.index() + 1) : known;
  const size_t lanes = known + 1;
  const auto place = [known](LaneId id) { return id ? static_cast<size_t>(id.index()) : known; };
  std::vector<uint32_t> first(lanes + 1, 0);
  for (const LaneId id : lane) ++first[place(id) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  Order order(rows);
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (size_t i = 0; i < rows; ++i) order[next[place(lane[i])]++] = static_cast<uint32_t>(i);
  std::vector<SortKey> keys;
  for (size_t l = 0; l < lanes; ++l) {
    keys.clear();
    for (uint32_t i = first[l]; i < first[l + 1]; ++i)
      keys.push_back({start_ns[order[i]], order[i]});
    sort_lane(keys, dur_ns, ties);
    for (uint32_t i = first[l]; i < first[l + 1]; ++i) order[i] = keys[i - first[l]].row;
  }
  return order;
}

template <typename Table>
Order order_by_time(const Table& table, const std::vector<int64_t>& time_ns,
                    const StringPool& strings) {
  const TieOrder ties(table, strings);
  const auto before = [&](uint32_t a, uint32_t b) {
    return time_ns[a] != time_ns[b] ? time_ns[a] < time_ns[b] : ties(a, b);
  };
  bool sorted = true;
  for (uint32_t i = 1; i < time_ns.size() && sorted; ++i) sorted = !before(i, i - 1);
  if (sorted) return {};
  Order order(time_ns.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), before);
  return order;
}

template <typename Table>
void reorder(Table& table, const Order& order) {
  if (order.empty()) return;
  table.for_each_column([&order](auto, auto, auto, auto& column) {
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(order.size());
    for (const uint32_t row : order) sorted.push_back(column[row]);
    column = std::move(sorted);
  });
}

// Keeps only the given rows, in that order. Unlike for an Order, an empty list keeps none.
template <typename Table>
void keep_only(Table& table, const Order& rows) {
  if (rows.empty()) {
    table.release();
  } else {
    reorder(table, rows);
  }
}

// Rows that repeat an earlier row exactly; `same(i, j)` compares. Rows are sorted, so repeats have
// equal start and duration and are adjacent or nearly so.
template <typename Table, typename Same>
std::vector<uint32_t> duplicate_rows(const Table& table, Same same) {
  std::vector<uint32_t> repeats;
  const auto& start = table.start_ns;
  const auto& dur = table.dur_ns;
  for (size_t i = 1; i < start.size(); ++i) {
    // Keep zero-length rows: with whole-microsecond times, two distinct ones may look equal.
    for (size_t j = i; dur[i] > 0 && j-- > 0 && start[j] == start[i] && dur[j] == dur[i];) {
      if (!same(i, j)) continue;
      repeats.push_back(static_cast<uint32_t>(i));
      break;
    }
  }
  return repeats;
}

// Allocator records that repeat the previous one. An address is freed before it is allocated again,
// so two equal records at one time without a free between them are one record.
std::vector<uint32_t> repeated_records(const MemoryEventTable& rows) {
  std::vector<uint32_t> repeats;
  for (uint32_t i = 1; i < rows.size(); ++i) {
    const auto same = [&](const auto& column) { return column[i] == column[i - 1]; };
    if (rows.addr[i] == 0 || !same(rows.time_ns) || !same(rows.addr) || !same(rows.bytes) ||
        !same(rows.total_allocated_bytes) || !same(rows.total_reserved_bytes) ||
        !same(rows.device_type) || !same(rows.device)) {
      continue;
    }
    const auto [begin, end] =
        std::equal_range(rows.time_ns.begin(), rows.time_ns.end(), rows.time_ns[i]);
    bool counterpart = false;
    for (auto at = begin; at != end && !counterpart; ++at) {
      const auto k = static_cast<size_t>(at - rows.time_ns.begin());
      counterpart = rows.addr[k] == rows.addr[i] && (rows.bytes[k] < 0) != (rows.bytes[i] < 0);
    }
    if (!counterpart) repeats.push_back(i);
  }
  return repeats;
}

// All rows except `dropped`, in order.
Order keep_others(size_t rows, const std::vector<uint32_t>& dropped) {
  Order keep;
  keep.reserve(rows - dropped.size());
  size_t d = 0;
  for (uint32_t i = 0; i < rows; ++i) {
    if (d < dropped.size() && dropped[d] == i) {
      ++d;
    } else {
      keep.push_back(i);
    }
  }
  return keep;
}

// New row per old row when `order` is applied to `old_rows` rows; kNone for dropped rows.
template <typename RowId>
std::vector<RowId> inverse(const Order& order, size_t old_rows) {
  std::vector<RowId> where(old_rows);
  for (size_t i = 0; i < order.size(); ++i) where[order[i]] = RowId(i);
  return where;
}

// Updates the owner column of a side table after its owner was reordered, and sorts the side table
// by it.
template <typename Table, typename RowId>
void follow_owner(Table& side, std::vector<RowId> Table::*owner, const std::vector<RowId>& where) {
  auto& column = side.*owner;
  for (RowId& id : column) id = where[id.index()];
  Order order;
  order.reserve(column.size());
  for (uint32_t i = 0; i < column.size(); ++i) {
    if (column[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&column](uint32_t a, uint32_t b) { return column[a] < column[b]; });
  keep_only(side, order);
}

// ---- times that cannot belong to the run --------------------------------------------------------

// Three days: no profile is longer, and a sum of tens of thousands of such times still fits.
constexpr int64_t kReachNs = int64_t{1} << 48;

// The interval in which rows must be. Unlimited unless some times are days apart.
struct Reach {
  int64_t first_ns = INT64_MIN;
  int64_t last_ns = INT64_MAX;
  bool unlimited = true;

  bool holds(int64_t start_ns, int64_t dur_ns) const {
    return unlimited || (start_ns >= first_ns && start_ns <= last_ns && dur_ns <= kReachNs);
  }
};

// The interval around the typical start.
Reach find_reach(const TimeShape& shape, int64_t typical_start_ns) {
  const bool close =
      shape.max_start_ns < shape.min_start_ns ||
      (shape.max_dur_ns <= kReachNs && shape.max_start_ns - shape.min_start_ns <= kReachNs);
  if (close) return {};
  return {typical_start_ns - kReachNs, typical_start_ns + kReachNs, false};
}

template <typename Table>
std::vector<uint32_t> far_rows(const Table& table, const Reach& reach) {
  std::vector<uint32_t> far;
  if (reach.unlimited) return far;
  for (uint32_t i = 0; i < table.size(); ++i) {
    bool held = true;
    if constexpr (requires { table.dur_ns; }) {
      held = reach.holds(table.start_ns[i], table.dur_ns[i]);
    } else {
      held = reach.holds(table.time_ns[i], 0);
    }
    if (!held) far.push_back(i);
  }
  return far;
}

std::string lane_key(std::string_view pid, std::string_view tid) {
  std::string key(pid);
  key += '\n';
  key += tid;
  return key;
}

template <typename Table>
void shift_times(Table& table, int64_t base_time_ns) {
  if constexpr (requires { table.start_ns; }) {
    for (int64_t& t : table.start_ns) t += base_time_ns;
  } else if constexpr (requires { table.time_ns; }) {
    for (int64_t& t : table.time_ns) t += base_time_ns;
  }
}

// Renumbers texts by first use in the sorted rows. A row without a name gets the empty one, because
// analyses index data by name.
class TextNumbers {
 public:
  explicit TextNumbers(const StringPool& recorded)
      : recorded_(recorded), number_of_(recorded.size()) {}

  template <typename Table>
  void renumber(Table& table) {
    table.for_each_column([this](std::string_view column, auto, auto, auto& values) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, std::vector<StringId>>) {
        const StringId absent = column == kNameColumn ? StringId(0) : StringId();
        for (StringId& id : values) id = id ? number_of(id) : absent;
      }
    });
  }

  StringPool take() && { return std::move(used_); }

 private:
  StringId number_of(StringId recorded) {
    StringId& number = number_of_[recorded.index()];
    if (!number) number = used_.intern(recorded_.view(recorded));
    return number;
  }

  const StringPool& recorded_;
  std::vector<StringId> number_of_;
  StringPool used_;
};

// Numeric order for numbers, which precede other texts.
bool before_by_number(const std::string& a, const std::string& b) {
  int64_t a_number = 0;
  int64_t b_number = 0;
  const bool a_counts = parse_int64(a, a_number);
  const bool b_counts = parse_int64(b, b_number);
  if (a_counts && b_counts && a_number != b_number) return a_number < b_number;
  return a_counts != b_counts ? a_counts : a < b;
}

// Sorts `lanes`. Returns the new number of each; empty if the order is unchanged.
template <typename LaneId, typename Row, typename Before>
std::vector<LaneId> sort_lanes(std::vector<Row>& lanes, Before before) {
  if (std::is_sorted(lanes.begin(), lanes.end(), before)) return {};
  Order order(lanes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return before(lanes[a], lanes[b]); });
  std::vector<Row> sorted;
  for (const uint32_t lane : order) sorted.push_back(std::move(lanes[lane]));
  lanes = std::move(sorted);
  return inverse<LaneId>(order, lanes.size());
}

template <typename Table, typename LaneId>
void renumber_lanes(Table& table, const std::vector<LaneId>& number_of) {
  if (number_of.empty()) return;
  table.for_each_column([&number_of](auto, auto, auto, auto& values) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, std::vector<LaneId>>) {
      for (LaneId& id : values) {
        if (id) id = number_of[id.index()];
      }
    }
  });
}

}  // namespace

void TimeShape::merge(const TimeShape& other) {
  max_start_ns = std::max(max_start_ns, other.max_start_ns);
  min_start_ns = std::min(min_start_ns, other.min_start_ns);
  max_dur_ns = std::max(max_dur_ns, other.max_dur_ns);
  fraction_lengths |= other.fraction_lengths;
  fraction_leading_zero |= other.fraction_leading_zero;
  sub_microsecond |= other.sub_microsecond;
  times += other.times;
}

ThreadId TraceBuilder::thread(std::string_view pid, std::string_view tid) {
  if (last_thread_ && thread_key_.size() == pid.size() + 1 + tid.size() &&
      thread_key_.compare(0, pid.size(), pid) == 0 &&
      thread_key_.compare(pid.size() + 1, tid.size(), tid) == 0) {
    return last_thread_;
  }
  thread_key_ = lane_key(pid, tid);
  const auto [found, added] = thread_ids_.try_emplace(thread_key_, ThreadId(threads_.size()));
  if (added) threads_.push_back({std::string(pid), std::string(tid), ""});
  last_thread_ = found->second;
  return last_thread_;
}

StreamId TraceBuilder::stream(int64_t device, int64_t stream) {
  if (last_stream_ && streams_[last_stream_.index()].device == device &&
      streams_[last_stream_.index()].stream == stream) {
    return last_stream_;
  }
  const auto [found, added] = stream_ids_.try_emplace({device, stream}, StreamId(streams_.size()));
  if (added) streams_.push_back({device, stream, ""});
  last_stream_ = found->second;
  return last_stream_;
}

void TraceBuilder::name_lane(std::string_view pid, std::string_view tid, std::string_view name) {
  lane_names_.insert_or_assign(lane_key(pid, tid), std::string(name));
}

std::string_view TraceBuilder::lane_name(std::string_view pid, std::string_view tid) const {
  const auto found = lane_names_.find(lane_key(pid, tid));
  return found == lane_names_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view TraceBuilder::process_fact(std::string_view fact, std::string_view pid) const {
  const auto found = process_facts_.find(process_fact_key(fact, pid));
  return found == process_facts_.end() ? std::string_view() : std::string_view(found->second);
}

void TraceBuilder::join_lane(Lane written, Lane of, std::string_view name) {
  const ThreadId owner = thread(of.pid, of.tid);
  joined_.emplace_back(lane_key(written.pid, written.tid), owner);
  thread_ids_.insert_or_assign(joined_.back().first, owner);
  last_thread_ = ThreadId();
  joined_names_.insert_or_assign(lane_key(of.pid, of.tid), std::string(name));
}

void TraceBuilder::tell_process(std::string_view fact, std::string_view pid,
                                std::string_view value) {
  process_facts_.insert_or_assign(process_fact_key(fact, pid), std::string(value));
}

void TraceBuilder::tell_timeline_process(std::string_view fact, std::string_view pid,
                                         std::string_view value) {
  timeline_facts_.insert_or_assign(process_fact_key(fact, pid), std::string(value));
}

std::vector<MetadataEntry> TraceBuilder::process_entries() const {
  std::set<std::string> pids;
  for (const Thread& thread : threads_) pids.insert(thread.pid);
  for (const Stream& stream : streams_) pids.insert(std::to_string(stream.device));
  const auto& facts = is_timeline_ ? timeline_facts_ : process_facts_;
  std::vector<MetadataEntry> entries;
  for (const std::string& pid : pids) {
    for (const std::string_view fact : kProcessFacts) {
      const auto told = facts.find(process_fact_key(fact, pid));
      if (told != facts.end() && !told->second.empty())
        entries.push_back({told->first, told->second});
    }
  }
  return entries;
}

void TraceBuilder::reserve_times(double factor) {
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  member.reserve(static_cast<size_t>(static_cast<double>(member.size()) * factor));
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
}

void TraceBuilder::merge(TraceBuilder&& other) {
  IdMaps maps;
  maps.strings = strings.merge(other.strings);
  for (const Thread& t : other.threads_) maps.threads.push_back(thread(t.pid, t.tid));
  for (auto& [lane, owner] : other.joined_) {
    joined_.emplace_back(std::move(lane), maps.threads[owner.index()]);
    thread_ids_.insert_or_assign(joined_.back().first, joined_.back().second);
  }
  last_thread_ = ThreadId();
  for (const Stream& s : other.streams_) maps.streams.push_back(stream(s.device, s.stream));
  maps.ops = ops.size();
  maps.api_calls = api_calls.size();
  maps.activities = activities.size();
  for (const auto& [row, id] : other.other_correlations) {
    other_correlations.emplace_back(row + static_cast<uint32_t>(other_events.size()), id);
  }
  for (const auto& [row, type] : other.other_task_types) {
    other_task_types.emplace_back(row + static_cast<uint32_t>(other_events.size()),
                                  maps.strings[type.value]);
  }
#define ASSAY_COLUMN(type, name, unit, doc) maps.append(to.name, from.name);
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  {                                             \
    Row##Table& to = member;                    \
    Row##Table& from = other.member;            \
    COLUMNS(ASSAY_COLUMN)                       \
    from.release();                             \
  }
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
#undef ASSAY_COLUMN
  profiler_span_ns = std::max(profiler_span_ns, other.profiler_span_ns);
  inputs_joined += other.inputs_joined;
  inputs_unjoined += other.inputs_unjoined;
  for (SpanMark mark : other.marks) {
    mark.thread = maps.threads[mark.thread.index()];
    mark.name = maps.strings[mark.name.value];
    mark.category = maps.strings[mark.category.value];
    mark.stream = maps.streams[mark.stream.index()];
    marks.push_back(mark);
  }
  for (ForwardBackwardFlowRow arrow : other.dependency_flows) {
    arrow.thread = maps.threads[arrow.thread.index()];
    dependency_flows.push_back(arrow);
  }
  for (auto& [lane, name] : other.lane_names_) lane_names_.insert_or_assign(lane, std::move(name));
  for (auto& [lane, name] : other.joined_names_) {
    joined_names_.insert_or_assign(lane, std::move(name));
  }
  for (auto& [key, value] : other.process_facts_) {
    process_facts_.insert_or_assign(key, std::move(value));
  }
  for (auto& [key, value] : other.timeline_facts_) {
    timeline_facts_.insert_or_assign(key, std::move(value));
  }
  is_timeline_ |= other.is_timeline_;
  counts.events += other.counts.events;
  counts.flow_starts += other.counts.flow_starts;
  counts.flow_ends += other.counts.flow_ends;
  counts.metadata += other.counts.metadata;
  counts.instants += other.counts.instants;
  counts.spans += other.counts.spans;
  log.merge(other.log);
  time_shape.merge(other.time_shape);
}

size_t TraceBuilder::longest_table() const {
  size_t longest = 0;
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) longest = std::max(longest, member.size());
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  return longest;
}

int64_t TraceBuilder::typical_start_ns() const {
  constexpr size_t kSamples = 4096;  // per table; enough for a median
  std::vector<int64_t> starts_ns;
  for (const auto* column : {&ops.start_ns, &frames.start_ns, &api_calls.start_ns,
                             &activities.start_ns, &annotations.start_ns, &other_events.start_ns}) {
    const size_t step = column->size() / kSamples + 1;
    for (size_t i = 0; i < column->size(); i += step) starts_ns.push_back((*column)[i]);
  }
  if (starts_ns.empty()) return 0;
  const auto middle = starts_ns.begin() + static_cast<std::ptrdiff_t>(starts_ns.size() / 2);
  std::nth_element(starts_ns.begin(), middle, starts_ns.end());
  return *middle;
}

namespace {

// Sorts the tables by lane and time, drops exact duplicates and rows out of range, and updates
// references to moved rows.
class TableSorter {
 public:
  TableSorter(TraceBuilder& built, const Reach& reach) : built_(built), reach_(reach) {}

  // Tables that others refer to come first, with updates of their side tables; then the other
  // tables.
  void sort() {
    sort_ops();
    sort_api_calls();
    sort_activities();
    drop_all_far();
    sort_others();
  }

 private:
  template <typename Table>
  void drop_far(Table& table) {
    const std::vector<uint32_t> far = far_rows(table, reach_);
    if (far.empty()) return;
    built_.log.add(ImportCode::kTimestampOverflow, -1, far.size());
    keep_only(table, keep_others(table.size(), far));
  }

  // same: true if two rows are duplicates. repoint: called with the old index of each new row, and
  // the number of old rows.
  template <typename Table, typename Lanes, typename Same, typename Repoint>
  void sort_owner(Table& table, const Lanes& lane, Same same, Repoint repoint) {
    const size_t rows = table.size();
    Order order = order_by_lane(table, lane, built_.strings);
    reorder(table, order);
    const std::vector<uint32_t> repeats = duplicate_rows(table, same);
    const std::vector<uint32_t> far = far_rows(table, reach_);
    if (!repeats.empty()) built_.log.add(ImportCode::kDuplicateEvent, -1, repeats.size());
    if (!far.empty()) built_.log.add(ImportCode::kTimestampOverflow, -1, far.size());
    std::vector<uint32_t> dropped;
    std::set_union(repeats.begin(), repeats.end(), far.begin(), far.end(),
                   std::back_inserter(dropped));
    if (!dropped.empty()) {
      const Order keep = keep_others(rows, dropped);
      keep_only(table, keep);
      Order kept;
      kept.reserve(keep.size());
      for (const uint32_t row : keep) kept.push_back(order.empty() ? row : order[row]);
      repoint(kept, rows);
      return;
    }
    if (!order.empty()) repoint(order, rows);
  }

  void sort_ops() {
    const OpTable& ops = built_.ops;
    const auto same = [&ops](size_t i, size_t j) {
      return ops.external_id[i] != 0 && ops.external_id[i] == ops.external_id[j] &&
             ops.name[i] == ops.name[j] && ops.thread[i] == ops.thread[j];
    };
    sort_owner(built_.ops, ops.thread, same, [this](const Order& order, size_t rows) {
      if (built_.op_sequences.empty() && built_.op_inputs.empty()) return;
      const std::vector<OpId> where = inverse<OpId>(order, rows);
      follow_owner(built_.op_sequences, &OpSequenceTable::op, where);
      follow_owner(built_.op_inputs, &OpInputTable::op, where);
    });
  }

  void sort_api_calls() {
    const ApiCallTable& calls = built_.api_calls;
    const auto same = [&calls](size_t i, size_t j) {
      return calls.correlation[i] != 0 && calls.correlation[i] == calls.correlation[j] &&
             calls.name[i] == calls.name[j] && calls.thread[i] == calls.thread[j];
    };
    sort_owner(built_.api_calls, calls.thread, same, [this](const Order& order, size_t rows) {
      if (built_.launch_names.empty()) return;
      const std::vector<ApiCallId> where = inverse<ApiCallId>(order, rows);
      follow_owner(built_.launch_names, &LaunchNameTable::call, where);
    });
  }

  void sort_activities() {
    const ActivityTable& rows_of = built_.activities;
    const auto same = [&rows_of](size_t i, size_t j) {
      return rows_of.correlation[i] != 0 && rows_of.correlation[i] == rows_of.correlation[j] &&
             rows_of.name[i] == rows_of.name[j] && rows_of.stream[i] == rows_of.stream[j] &&
             rows_of.kind[i] == rows_of.kind[j];
    };
    sort_owner(built_.activities, rows_of.stream, same, [this](const Order& order, size_t rows) {
      const std::vector<ActivityId> where = inverse<ActivityId>(order, rows);
      follow_owner(built_.kernel_shapes, &KernelShapeTable::activity, where);
      follow_owner(built_.transfers, &TransferTable::activity, where);
      follow_owner(built_.collectives, &CollectiveTable::activity, where);
      follow_owner(built_.waits, &WaitTable::activity, where);
    });
  }

  void drop_all_far() {
    drop_far(built_.frames);
    drop_far(built_.annotations);
    drop_far(built_.gpu_annotations);
    drop_far(built_.other_events);
    drop_far(built_.overheads);
    drop_far(built_.counters);
    drop_far(built_.memory_events);
    drop_far(built_.forward_backward_flows);
  }

  void sort_others() {
    TraceBuilder& b = built_;
    const StringPool& texts = b.strings;
    reorder(b.frames, order_by_lane(b.frames, b.frames.thread, texts));
    reorder(b.annotations, order_by_lane(b.annotations, b.annotations.thread, texts));
    reorder(b.gpu_annotations, order_by_lane(b.gpu_annotations, b.gpu_annotations.stream, texts));
    reorder(b.other_events, order_by_lane(b.other_events, b.other_events.thread, texts));
    reorder(b.overheads, order_by_time(b.overheads, b.overheads.start_ns, texts));
    reorder(b.counters, order_by_time(b.counters, b.counters.time_ns, texts));
    reorder(b.memory_events, order_by_time(b.memory_events, b.memory_events.time_ns, texts));
    const std::vector<uint32_t> repeats = repeated_records(b.memory_events);
    if (!repeats.empty()) {
      b.log.add(ImportCode::kDuplicateEvent, -1, repeats.size());
      keep_only(b.memory_events, keep_others(b.memory_events.size(), repeats));
    }
    reorder(b.forward_backward_flows,
            order_by_time(b.forward_backward_flows, b.forward_backward_flows.time_ns, texts));
  }

  TraceBuilder& built_;
  const Reach& reach_;
};

}  // namespace

void TraceBuilder::count_odd_devices() {
  constexpr int64_t kNoMachineHas = 1024;
  const auto odd = std::count_if(
      activities.stream.begin(), activities.stream.end(),
      [this](StreamId stream) { return streams_[stream.index()].device >= kNoMachineHas; });
  if (odd > 0) log.add(ImportCode::kOddDevice, -1, static_cast<uint64_t>(odd));
}

void TraceBuilder::order_lanes() {
  const std::vector<ThreadId> number_of_thread =
      sort_lanes<ThreadId>(threads_, [](const Thread& a, const Thread& b) {
        return a.pid != b.pid ? before_by_number(a.pid, b.pid) : before_by_number(a.tid, b.tid);
      });
  const std::vector<StreamId> number_of_stream =
      sort_lanes<StreamId>(streams_, [](const Stream& a, const Stream& b) {
        return std::pair(a.device, a.stream) < std::pair(b.device, b.stream);
      });
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  renumber_lanes(member, number_of_thread);     \
  renumber_lanes(member, number_of_stream);
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  const auto moved = [](auto& id, const auto& number_of) {
    if (id && !number_of.empty()) id = number_of[id.index()];
  };
  for (SpanMark& mark : marks) {
    moved(mark.thread, number_of_thread);
    moved(mark.stream, number_of_stream);
  }
  for (ForwardBackwardFlowRow& arrow : dependency_flows) moved(arrow.thread, number_of_thread);
  for (auto& [key, thread] : thread_ids_) moved(thread, number_of_thread);
  for (auto& [key, stream] : stream_ids_) moved(stream, number_of_stream);
  for (auto& [key, thread] : joined_) moved(thread, number_of_thread);
  last_thread_ = ThreadId();
  last_stream_ = StreamId();
}

void TraceBuilder::order_other_events() {
  const Order order = order_by_lane(other_events, other_events.thread, strings);
  if (!order.empty()) {
    const auto where = inverse<Id<struct OtherEventTag>>(order, other_events.size());
    for (auto& [row, id] : other_correlations) row = where[row].value;
    for (auto& [row, type] : other_task_types) row = where[row].value;
    reorder(other_events, order);
  }
  std::sort(dependency_flows.begin(), dependency_flows.end(),
            [](const ForwardBackwardFlowRow& a, const ForwardBackwardFlowRow& b) {
              return std::tie(a.time_ns, a.flow_id, a.thread, a.is_end) <
                     std::tie(b.time_ns, b.flow_id, b.thread, b.is_end);
            });
}

Trace TraceBuilder::finish(int64_t base_time_ns) && {
  const Reach reach = find_reach(time_shape, typical_start_ns());
  order_lanes();
  TableSorter(*this, reach).sort();
  count_odd_devices();
  Trace trace;
  TextNumbers texts(strings);
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  shift_times(member, base_time_ns);            \
  texts.renumber(member);                       \
  trace.member = std::move(member);
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  trace.base_time_ns = base_time_ns;

  const auto name_of = [this](const std::string& pid, const std::string& tid) {
    return std::string(lane_name(pid, tid));
  };
  for (Thread& t : threads_) {
    const auto joined = joined_names_.find(lane_key(t.pid, t.tid));
    t.name = joined == joined_names_.end() ? name_of(t.pid, t.tid) : joined->second;
  }
  for (Stream& s : streams_) s.name = name_of(std::to_string(s.device), std::to_string(s.stream));
  trace.metadata = process_entries();
  // With recorded operators or activities, the rows show the time range.
  if (inputs_joined + inputs_unjoined > 0) {
    trace.metadata.push_back({std::string(kInputsJoined), std::to_string(inputs_joined)});
    trace.metadata.push_back({std::string(kInputsUnjoined), std::to_string(inputs_unjoined)});
  }
  if (trace.ops.empty() && trace.activities.empty() && profiler_span_ns > 0) {
    trace.metadata.push_back({std::string(kProfilerSpanNs), std::to_string(profiler_span_ns)});
  }
  trace.threads = std::move(threads_);
  trace.streams = std::move(streams_);
  trace.strings = std::move(texts).take();
  trace.counts = counts;
  trace.log = log;
  trace.whole_microseconds = time_shape.whole_microseconds();
  trace.unrecorded = unrecorded_spans(trace);
  const size_t pauses = trace.unrecorded.size();
  if (pauses > 0) trace.log.add(ImportCode::kPausedRecording, -1, pauses);
  return trace;
}

}  // namespace assay
