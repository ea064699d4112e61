#include "overhead/host_entries.h"

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Operators, or the labelled ranges that replace them. Rows are in order of (thread, start, longer
// first), so the parent of a row precedes it.
struct Spans {
  const std::vector<int64_t>* start_ns = nullptr;
  const std::vector<int64_t>* dur_ns = nullptr;
  const std::vector<StringId>* name = nullptr;
  const std::vector<ThreadId>* thread = nullptr;
  std::vector<uint32_t> parent;
  std::vector<uint32_t> call_span;  // per call: the innermost span open when it starts

  size_t size() const { return start_ns->size(); }
};

Spans operator_spans(const Trace& trace, const Links& links) {
  Spans spans{&trace.ops.start_ns, &trace.ops.dur_ns, &trace.ops.name, &trace.ops.thread, {}, {}};
  spans.parent.reserve(trace.ops.size());
  for (OpId parent : links.op_parent) spans.parent.push_back(parent.value);
  spans.call_span.reserve(trace.api_calls.size());
  for (OpId op : links.call_op) spans.call_span.push_back(op.value);
  return spans;
}

// Ranges need not nest (Nsight Systems has start/end ranges in addition to push/pop): the innermost
// is the latest-starting one that is still open.
Spans range_spans(const Trace& trace) {
  const AnnotationTable& ranges = trace.annotations;
  const ApiCallTable& calls = trace.api_calls;
  Spans spans{&ranges.start_ns, &ranges.dur_ns, &ranges.name, &ranges.thread, {}, {}};
  spans.parent.assign(ranges.size(), kNone);
  spans.call_span.assign(calls.size(), kNone);
  std::vector<uint32_t> open;
  const auto innermost = [&](int64_t time_ns) {
    while (!open.empty() && ranges.start_ns[open.back()] + ranges.dur_ns[open.back()] <= time_ns) {
      open.pop_back();
    }
    return open.empty() ? kNone : open.back();
  };
  size_t call = 0;
  for (size_t range = 0; range < ranges.size() || call < calls.size();) {
    const bool call_first =
        range == ranges.size() ||
        (call < calls.size() && (calls.thread[call] < ranges.thread[range] ||
                                 (calls.thread[call] == ranges.thread[range] &&
                                  calls.start_ns[call] < ranges.start_ns[range])));
    const ThreadId thread = call_first ? calls.thread[call] : ranges.thread[range];
    if (!open.empty() && ranges.thread[open.back()] != thread) open.clear();
    if (call_first) {
      spans.call_span[call] = innermost(calls.start_ns[call]);
      ++call;
      continue;
    }
    spans.parent[range] = innermost(ranges.start_ns[range]);
    open.push_back(static_cast<uint32_t>(range++));
  }
  return spans;
}

// Finds the Python frames open at each query. Queries are ordered by (thread, time).
class FrameSweep {
 public:
  explicit FrameSweep(const FrameTable& frames) : frames_(frames) {}

  void advance(ThreadId thread, int64_t time_ns) {
    if (thread != thread_) enter(thread);
    for (; next_ < end_ && frames_.start_ns[next_] <= time_ns; ++next_) {
      const int64_t start_ns = frames_.start_ns[next_];
      drop_ended(start_ns);
      open_.push_back({start_ns, start_ns + frames_.dur_ns[next_]});
    }
    drop_ended(time_ns);
  }
  // Starts of the latest-starting and of the earliest-starting open frame; only if any().
  bool any() const { return bottom_ < open_.size(); }
  int64_t innermost_ns() const { return open_.back().start_ns; }
  int64_t outermost_ns() const { return open_[bottom_].start_ns; }

 private:
  struct Open {
    int64_t start_ns;
    int64_t end_ns;
  };

  void enter(ThreadId thread) {
    const auto [first, last] =
        std::equal_range(frames_.thread.begin(), frames_.thread.end(), thread);
    next_ = static_cast<size_t>(first - frames_.thread.begin());
    end_ = static_cast<size_t>(last - frames_.thread.begin());
    thread_ = thread;
    open_.clear();
    bottom_ = 0;
  }

  // Frames need not nest. Ended frames are dropped at the top and skipped at the bottom; those
  // between them stay until then.
  void drop_ended(int64_t time_ns) {
    while (!open_.empty() && open_.back().end_ns <= time_ns) open_.pop_back();
    while (bottom_ < open_.size() && open_[bottom_].end_ns <= time_ns) ++bottom_;
    bottom_ = std::min(bottom_, open_.size());
  }

  const FrameTable& frames_;
  ThreadId thread_;
  size_t next_ = 0;
  size_t end_ = 0;
  std::vector<Open> open_;
  size_t bottom_ = 0;
};

enum class NameKind : uint8_t { kOther, kAten, kStep };

std::vector<NameKind> name_kinds(const Trace& trace) {
  std::vector<NameKind> kinds(trace.strings.size(), NameKind::kOther);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::string_view name = trace.text(StringId(i));
    if (name.starts_with("aten::")) kinds[i] = NameKind::kAten;
    if (name.starts_with("ProfilerStep#")) kinds[i] = NameKind::kStep;
  }
  return kinds;
}

// Recognizes nodes of PyTorch's backward pass, which its engine runs in C++. Since 1.10 their names
// end in a number ("MmBackward0"), and a name without one is a Python function. Before 1.10, no
// name ended in 0.
class AutogradNames {
 public:
  explicit AutogradNames(const Trace& trace) {
    for (size_t i = 0; i < trace.strings.size(); ++i) {
      numbered_ |= trace.text(StringId(i)).ends_with("Backward0");
    }
  }

  bool is_engine(std::string_view name) const {
    return name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") ||
           (is_node(name) && (!numbered_ || is_digit(name.back())));
  }
  bool is_python(std::string_view name) const {
    return is_node(name) && numbered_ && !is_digit(name.back());
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_node(std::string_view name) {
    constexpr std::string_view kBackward = "Backward";
    if (name.find_first_of(" :.#") != std::string_view::npos) return false;
    while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
    return name.size() > kBackward.size() && name.ends_with(kBackward);
  }

  bool numbered_ = false;
};

// Per span: whether the framework's engine runs it.
std::vector<bool> engine_spans(const Trace& trace, const Spans& spans) {
  const AutogradNames names(trace);
  std::vector<uint8_t> known(trace.strings.size(), 0);  // 1 = unknown, 2 = engine, 3 = Python
  std::vector<bool> engine(spans.size(), false);
  for (size_t span = 0; span < spans.size(); ++span) {
    const StringId name = (*spans.name)[span];
    uint8_t& kind = known[name.index()];
    if (kind == 0) {
      const std::string_view text = trace.text(name);
      kind = names.is_engine(text) ? 2 : names.is_python(text) ? 3 : 1;
    }
    const bool inherited = spans.parent[span] != kNone && engine[spans.parent[span]];
    engine[span] = kind == 2 || (kind == 1 && inherited);
  }
  return engine;
}

// Enclosing rows of each span. Parents precede children, so one pass suffices for each.
struct Around {
  std::vector<uint32_t> entry;     // innermost aten span, else the span itself; none for steps
  std::vector<uint32_t> outer;     // innermost non-aten span around it
  std::vector<uint32_t> root;      // outermost span that is not a step
  std::vector<int64_t> before_ns;  // of outermost spans: latest end of earlier ones on the thread

  Around(const Trace& trace, const Spans& spans)
      : entry(spans.size(), kNone),
        outer(spans.size(), kNone),
        root(spans.size(), kNone),
        before_ns(spans.size(), INT64_MIN) {
    const std::vector<NameKind> kinds = name_kinds(trace);
    std::vector<uint32_t> aten(spans.size(), kNone);
    for (uint32_t span = 0; span < spans.size(); ++span) {
      const uint32_t parent = spans.parent[span];
      const bool child = parent != kNone;
      const NameKind kind = kinds[(*spans.name)[span].index()];
      if (child) {
        aten[span] = aten[parent];
        root[span] = root[parent];
        const bool other = kinds[(*spans.name)[parent].index()] == NameKind::kOther;
        outer[span] = other ? parent : outer[parent];
      }
      if (kind == NameKind::kStep) {
        entry[span] = child ? entry[parent] : kNone;
        continue;
      }
      if (kind == NameKind::kAten) aten[span] = span;
      if (root[span] == kNone) root[span] = span;
      entry[span] = aten[span] != kNone ? aten[span] : span;
    }
    int64_t end_ns = INT64_MIN;
    for (uint32_t span = 0; span < spans.size(); ++span) {
      if (span > 0 && (*spans.thread)[span] != (*spans.thread)[span - 1]) end_ns = INT64_MIN;
      if (root[span] != span) continue;
      before_ns[span] = end_ns;
      end_ns = std::max(end_ns, (*spans.start_ns)[span] + (*spans.dur_ns)[span]);
    }
  }
};

// Number of calls with GPU activities under each span, including those under its children.
std::vector<uint32_t> calls_below(const Spans& spans, const Links& links) {
  std::vector<uint32_t> below(spans.size(), 0);
  for (size_t call = 0; call < spans.call_span.size(); ++call) {
    const uint32_t span = spans.call_span[call];
    if (span != kNone && !links.activities_of(ApiCallId(call)).empty()) ++below[span];
  }
  for (size_t span = spans.size(); span-- > 0;) {
    if (spans.parent[span] != kNone) below[spans.parent[span]] += below[span];
  }
  return below;
}

// Start of the latest-starting frame around each wanted span; INT64_MAX without one.
std::vector<int64_t> frames_around(const Trace& trace, const Spans& spans,
                                   const std::vector<bool>& wanted) {
  std::vector<int64_t> starts(spans.size(), INT64_MAX);
  FrameSweep frames(trace.frames);
  for (size_t span = 0; span < spans.size(); ++span) {
    if (!wanted[span]) continue;
    frames.advance((*spans.thread)[span], (*spans.start_ns)[span]);
    if (frames.any()) starts[span] = frames.innermost_ns();
  }
  return starts;
}

// Per span: whether it is the entry of a call with GPU activities.
std::vector<bool> used_entries(const Spans& spans, const Around& around, const Links& links) {
  std::vector<bool> used(spans.size());
  for (size_t call = 0; call < spans.call_span.size(); ++call) {
    const uint32_t span = spans.call_span[call];
    if (span == kNone || links.activities_of(ApiCallId(call)).empty()) continue;
    if (around.entry[span] != kNone) used[around.entry[span]] = true;
  }
  return used;
}

// Fills the entry of a call from its enclosing spans.
class EntryFinder {
 public:
  EntryFinder(const Trace& trace, const Links& links, const Spans& spans, bool ranges)
      : spans_(spans),
        ranges_(ranges),
        around_(trace, spans),
        engine_(engine_spans(trace, spans)),
        below_(calls_below(spans, links)),
        frame_ns_(frames_around(trace, spans, used_entries(spans, around_, links))) {}

  void fill(size_t call, HostEntry& entry) const {
    const uint32_t span = spans_.call_span[call];
    const uint32_t found = span == kNone ? kNone : around_.entry[span];
    if (found == kNone) return;
    (ranges_ ? entry.range.value : entry.op.value) = found;
    entry.start_ns = start_of(found);
    entry.root_ns = std::min(entry.root_ns, start_of(around_.root[span]));
    entry.before_ns = around_.before_ns[around_.root[span]];
    entry.single_launch = below_[found] == 1;
    if (frame_ns_[found] != INT64_MAX) {
      entry.torch_ns = frame_ns_[found];
    } else if (around_.outer[found] != kNone) {
      entry.torch_ns = start_of(around_.outer[found]);
      entry.engine = engine_[around_.outer[found]];
    }
  }

 private:
  int64_t start_of(uint32_t span) const { return (*spans_.start_ns)[span]; }

  const Spans& spans_;
  bool ranges_;
  Around around_;
  std::vector<bool> engine_;
  std::vector<uint32_t> below_;
  std::vector<int64_t> frame_ns_;
};

}  // namespace

HostEntries::HostEntries(const Trace& trace, const Links& links) : slots_(trace.api_calls.size()) {
  ranges_as_ops_ = trace.ops.size() == 0 && trace.annotations.size() > 0;
  const Spans spans = ranges_as_ops_ ? range_spans(trace) : operator_spans(trace, links);
  const EntryFinder finder(trace, links, spans, ranges_as_ops_);
  entries_.emplace_back();
  FrameSweep frames(trace.frames);
  for (size_t call = 0; call < slots_.size(); ++call) {
    if (links.activities_of(ApiCallId(call)).empty()) continue;
    HostEntry entry;
    entry.root_ns = trace.api_calls.start_ns[call];
    frames.advance(trace.api_calls.thread[call], entry.root_ns);
    if (frames.any()) entry.root_ns = frames.outermost_ns();
    finder.fill(call, entry);
    slots_[call] = static_cast<uint32_t>(entries_.size());
    entries_.push_back(entry);
  }
}

}  // namespace assay
