#include "report/run/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_string.h"
#include "kernels/name.h"
#include "report/run/lane_details.h"
#include "report/run/packed_columns.h"
#include "report/run/timeline.h"
#include "text/plain_text.h"

namespace assay {
namespace {

// Device states, numbered after those of FlowCause.
constexpr uint32_t kComputes = kFlowCauses;
constexpr uint32_t kCommunicates = kFlowCauses + 1;
constexpr uint32_t kCopies = kFlowCauses + 2;
constexpr size_t kStates = kFlowCauses + 3;

constexpr size_t kMostThreads = 6;

// The colour class of a timeline event.
enum class LaneKind : uint8_t { kKernel, kCollective, kCopy, kOperator, kCall, kFrame, kLabel };

struct LaneEvent {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  StringId name;
  LaneKind kind = LaneKind::kKernel;
  uint32_t row = 0;  // row in the table of its kind
};

struct LaneRow {
  const char* kind = "stream";
  std::string name;
  uint64_t count = 0;  // of all events, stored or not
  uint32_t thread = UINT32_MAX;
  std::vector<LaneEvent> events;

  bool is_stream() const { return std::string_view(kind) == "stream"; }
};

struct RestBin {
  int64_t covered_ns = 0;
  uint64_t begins = 0;
};

class LaneMaker {
 public:
  LaneMaker(const Trace& trace, const Links& links, const Windows& windows, const FlowReport& flow,
            const LaneBudget& budget)
      : trace_(trace),
        links_(links),
        windows_(windows),
        flow_(flow),
        budget_(budget),
        window_(flow.window),
        begin_ns_(flow.stretches.parts.empty() ? 0 : flow.window.start_ns - flow.stretches.window.start_ns) {}

  LaneBytes make() {
    if (window_.end_ns <= window_.start_ns) return {};
    for (const DeviceFlow& device : flow_.devices) add_causes(device);
    collect_streams();
    collect_threads();
    thin_out();
    for (const LaneRow& row : rows_) add_events(row);
    LaneDetails details(trace_, links_, flow_);
    for (const LaneRow& row : rows_) {
      if (!row.is_stream()) details.add_thread(row.thread);
    }
    for (const LaneRow& row : rows_) {
      details.begin_row();
      for (const LaneEvent& event : row.events) {
        if (row.is_stream()) {
          details.add_work(ActivityId(event.row));
        } else {
          details.add_host(event.start_ns, event.dur_ns,
                           event.kind == LaneKind::kOperator ? OpId(event.row) : OpId());
        }
      }
      details.end_row();
    }
    return {header() + body_, details.bytes()};
  }

 private:
  // ---- causes ----

  struct Run {
    Interval span;
    uint32_t state = 0;
  };

  std::vector<Run> runs_of(const DeviceFlow& device) const {
    std::vector<Run> runs;
    const auto add = [&](Interval span, uint32_t state) {
      span = {std::max(span.start_ns, window_.start_ns), std::min(span.end_ns, window_.end_ns)};
      if (span.end_ns > span.start_ns) runs.push_back({span, state});
    };
    const auto by_start = [](const Run& a, const Run& b) {
      return a.span.start_ns < b.span.start_ns;
    };
    // Each list is sorted, and intervals do not overlap.
    size_t before = 0;
    const auto merge = [&] {
      std::inplace_merge(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(before),
                         runs.end(), by_start);
      before = runs.size();
    };
    for (const Interval& span : device.compute) add(span, kComputes);
    merge();
    for (const Interval& span : device.collective) add(span, kCommunicates);
    merge();
    for (const Interval& span : device.copy) add(span, kCopies);
    merge();
    for (const FlowSlice& slice : device.idle) add(slice.span, static_cast<uint32_t>(slice.cause));
    merge();
    std::vector<Run> merged;
    for (const Run& run : runs) {
      const bool goes_on = !merged.empty() && merged.back().state == run.state &&
                           merged.back().span.end_ns == run.span.start_ns;
      if (goes_on) {
        merged.back().span.end_ns = run.span.end_ns;
      } else {
        merged.push_back(run);
      }
    }
    return merged;
  }

  void add_causes(const DeviceFlow& device) {
    const std::vector<Run> runs = runs_of(device);
    const size_t at = body_.size();
    const bool exact = runs.size() <= budget_.runs;
    if (exact) {
      add_runs(runs);
    } else {
      add_bins(runs);
    }
    head_rows_.push_back(
        fmt::format(R"({{"kind":"{}","name":"GPU {}","count":{},"held":{},"at":{},"bytes":{}}})",
                    exact ? "causes" : "cause_bins", device.device, runs.size(),
                    exact ? runs.size() : budget_.bins, at, body_.size() - at));
  }

  // Gap since the previous run, length, state.
  void add_runs(const std::vector<Run>& runs) {
    int64_t end_ns = window_.start_ns;
    for (const Run& run : runs) {
      append_varint(static_cast<uint64_t>(run.span.start_ns - end_ns), body_);
      append_varint(static_cast<uint64_t>(run.span.end_ns - run.span.start_ns), body_);
      append_varint(run.state, body_);
      end_ns = run.span.end_ns;
    }
  }

  // Per bin: number of states, then each state with its share in 1/255.
  void add_bins(const std::vector<Run>& runs) {
    std::vector<std::array<double, kStates>> bins(budget_.bins);
    for (const Run& run : runs) {
      spread(run.span, [&](size_t bin, double share) { bins[bin][run.state] += share; });
    }
    for (const auto& bin : bins) {
      std::string states;
      uint64_t count = 0;
      for (uint32_t state = 0; state < kStates; ++state) {
        const auto share = static_cast<uint64_t>(std::lround(std::min(bin[state], 1.0) * 255));
        if (share == 0) continue;
        append_varint(state, states);
        append_varint(share, states);
        ++count;
      }
      append_varint(count, body_);
      body_ += states;
    }
  }

  // Calls `take` with each bin and the share of it that the span covers.
  template <typename Take>
  void spread(Interval span, const Take& take) const {
    const double bin_ns =
        static_cast<double>(window_.end_ns - window_.start_ns) / static_cast<double>(budget_.bins);
    const double from =
        static_cast<double>(std::max(span.start_ns, window_.start_ns) - window_.start_ns);
    const double to = static_cast<double>(std::min(span.end_ns, window_.end_ns) - window_.start_ns);
    for (auto bin = static_cast<size_t>(std::max(from, 0.0) / bin_ns); bin < budget_.bins; ++bin) {
      const double begin = static_cast<double>(bin) * bin_ns;
      if (begin >= to) break;
      take(bin, std::max(0.0, std::min(to, begin + bin_ns) - std::max(from, begin)) / bin_ns);
    }
  }

  // ---- events ----

  // An event of duration 0 counts as 1 ns.
  bool inside(int64_t start_ns, int64_t dur_ns) const {
    return start_ns + std::max<int64_t>(dur_ns, 1) > window_.start_ns && start_ns < window_.end_ns;
  }

  void collect_streams() {
    std::vector<LaneRow> rows(trace_.streams.size());
    for (size_t s = 0; s < rows.size(); ++s) {
      rows[s].name =
          fmt::format("GPU {}, stream {}", trace_.streams[s].device, trace_.streams[s].stream);
    }
    const ActivityTable& table = trace_.activities;
    for (size_t a = 0; a < table.size(); ++a) {
      if (table.kind[a] == ActivityKind::kSync || !inside(table.start_ns[a], table.dur_ns[a]))
        continue;
      const bool copy =
          table.kind[a] == ActivityKind::kMemcpy || table.kind[a] == ActivityKind::kMemset;
      const bool collective = !copy && flow_.kernels != nullptr &&
                              flow_.kernels->of(table.name[a]).kind == KernelKind::kCommunication;
      rows[table.stream[a].index()].events.push_back({table.start_ns[a], table.dur_ns[a],
                                                      table.name[a],
                                                      copy         ? LaneKind::kCopy
                                                      : collective ? LaneKind::kCollective
                                                                   : LaneKind::kKernel,
                                                      static_cast<uint32_t>(a)});
    }
    keep_rows(rows);
  }

  // Keeps rows with events, in order.
  void keep_rows(std::vector<LaneRow>& rows) {
    for (LaneRow& row : rows) {
      if (row.events.empty()) continue;
      row.count = row.events.size();
      rows_.push_back(std::move(row));
    }
  }

  template <typename Table>
  void take(const Table& table, LaneKind kind, std::vector<LaneRow>& rows) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (!inside(table.start_ns[i], table.dur_ns[i])) continue;
      LaneRow& row = rows[table.thread[i].index()];
      if (row.kind != nullptr) {
        row.events.push_back(
            {table.start_ns[i], table.dur_ns[i], table.name[i], kind, static_cast<uint32_t>(i)});
      } else {
        ++row.count;
      }
    }
  }

  // Selects the threads with the most runtime calls; rows of other threads are only counted.
  void collect_threads() {
    const size_t threads = trace_.threads.size();
    std::vector<uint64_t> calls(threads, 0);
    for (const ThreadId thread : trace_.api_calls.thread) ++calls[thread.index()];
    std::vector<size_t> order;
    for (size_t t = 0; t < threads; ++t) {
      if (calls[t] > 0) order.push_back(t);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return calls[a] > calls[b]; });
    if (order.size() > kMostThreads) order.resize(kMostThreads);
    std::vector<LaneRow> rows(threads);
    for (LaneRow& row : rows) row.kind = nullptr;
    for (const size_t t : order) {
      rows[t].kind = "thread";
      rows[t].thread = static_cast<uint32_t>(t);
      rows[t].name = lane_thread_name(trace_.threads[t]);
    }
    take(trace_.annotations, LaneKind::kLabel, rows);
    take(trace_.frames, LaneKind::kFrame, rows);
    take(trace_.ops, LaneKind::kOperator, rows);
    take(trace_.api_calls, LaneKind::kCall, rows);
    for (LaneRow& row : rows) {
      std::stable_sort(
          row.events.begin(), row.events.end(), [](const LaneEvent& a, const LaneEvent& b) {
            return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
          });
    }
    for (const LaneRow& row : rows) {
      if (row.kind != nullptr || row.count == 0) continue;
      ++other_threads_;
      other_rows_ += row.count;
    }
    std::erase_if(rows, [](const LaneRow& row) { return row.kind == nullptr; });
    keep_rows(rows);
  }

  // Limits the stored events: device rows take precedence over threads, and the longest events are
  // kept.
  void thin_out() {
    total_ = other_rows_;
    for (const LaneRow& row : rows_) total_ += row.count;
    const uint64_t left = thin_out(true, budget_.events);
    thin_out(false, left);
  }

  uint64_t thin_out(bool streams, uint64_t most) {
    std::vector<int64_t> lengths;
    for (const LaneRow& row : rows_) {
      if (row.is_stream() != streams) continue;
      for (const LaneEvent& event : row.events) lengths.push_back(event.dur_ns);
    }
    if (lengths.size() <= most) return most - lengths.size();
    const auto nth = lengths.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(lengths.begin(), nth, lengths.end(), std::greater<>());
    const int64_t shortest_ns = *nth + 1;
    shortest_ns_[streams ? 0 : 1] = shortest_ns;
    const auto is_short = [&](const LaneEvent& event) { return event.dur_ns < shortest_ns; };
    for (LaneRow& row : rows_) {
      if (row.is_stream() != streams) continue;
      if (streams) add_rest(row, shortest_ns);
      std::erase_if(row.events, is_short);
    }
    return 0;
  }

  // Stores the events of a stream that are not kept individually as covered time and number of
  // starts per bin. Together with the kept events, covered time is exact to the nanosecond.
  void add_rest(const LaneRow& row, int64_t shortest_ns) {
    const auto count = static_cast<int64_t>(budget_.bins);
    const int64_t bin_ns = (window_.end_ns - window_.start_ns + count - 1) / count;
    std::vector<RestBin> bins(budget_.bins);
    for (const LaneEvent& event : row.events) {
      if (event.dur_ns >= shortest_ns) continue;
      const int64_t from = std::max(event.start_ns, window_.start_ns) - window_.start_ns;
      const int64_t to = std::min(event.start_ns + event.dur_ns, window_.end_ns) - window_.start_ns;
      ++bins[static_cast<size_t>(from / bin_ns)].begins;
      for (int64_t bin = from / bin_ns; bin * bin_ns < to; ++bin) {
        bins[static_cast<size_t>(bin)].covered_ns +=
            std::min(to, (bin + 1) * bin_ns) - std::max(from, bin * bin_ns);
      }
    }
    const size_t at = body_.size();
    for (const RestBin& bin : bins) append_varint(static_cast<uint64_t>(bin.covered_ns), body_);
    for (const RestBin& bin : bins) append_varint(bin.begins, body_);
    head_rows_.push_back(fmt::format(
        R"({{"kind":"rest","name":{},"count":{},"held":{},"at":{},"bytes":{}}})",
        json_string(clean_text(row.name)), row.count, bins.size(), at, body_.size() - at));
  }

  uint32_t name_index(const LaneEvent& event) {
    const auto [found, is_new] =
        index_of_.try_emplace(event.name.value, static_cast<uint32_t>(names_.size()));
    if (is_new) {
      const std::string_view text = trace_.text(event.name);
      const bool device = event.kind == LaneKind::kKernel || event.kind == LaneKind::kCollective;
      names_.push_back(lane_text(device ? describe_kernel(text) : std::string(text)));
      const bool known = device && flow_.kernels != nullptr;
      kinds_.push_back(known ? flow_.kernels->of(event.name).kind : KernelKind::kOther);
    }
    return found->second;
  }

  // Four consecutive columns: start relative to the previous start, length, name, kind.
  void add_events(const LaneRow& row) {
    const size_t at = body_.size();
    int64_t before_ns = window_.start_ns;
    for (const LaneEvent& event : row.events) {
      const int64_t start_ns = std::max(event.start_ns, window_.start_ns);
      append_varint(static_cast<uint64_t>(start_ns - before_ns), body_);
      before_ns = start_ns;
    }
    for (const LaneEvent& event : row.events) {
      const int64_t end_ns = std::min(event.start_ns + event.dur_ns, window_.end_ns);
      append_varint(static_cast<uint64_t>(end_ns - std::max(event.start_ns, window_.start_ns)),
                    body_);
    }
    for (const LaneEvent& event : row.events) append_varint(name_index(event), body_);
    for (const LaneEvent& event : row.events) body_ += static_cast<char>(event.kind);
    held_ += row.events.size();
    head_rows_.push_back(fmt::format(
        R"({{"kind":"{}","name":{},"count":{},"held":{},"at":{},"bytes":{}}})", row.kind,
        json_string(clean_text(row.name)), row.count, row.events.size(), at, body_.size() - at));
  }

  // ---- the header ----

  std::string steps() const {
    std::vector<std::string> entries;
    if (windows_.source == WindowSource::kWholeTrace) return "[]";
    for (const Window& step : windows_.windows) {
      const int64_t from = std::max(step.start_ns, window_.start_ns);
      const int64_t to = std::min(step.end_ns, window_.end_ns);
      if (to <= from) continue;
      entries.push_back(fmt::format("[{},{},{}]", from - window_.start_ns, to - window_.start_ns,
                                    json_string(lane_text(step.name))));
    }
    return json_list(entries);
  }

  // Indices of kernel names by kind: {"gemm":[3,17]}. Unknown kinds are omitted.
  std::string kinds() const {
    std::map<std::string_view, std::vector<std::string>> places;
    for (size_t n = 0; n < kinds_.size(); ++n) {
      if (kinds_[n] == KernelKind::kOther) continue;
      places[kernel_kind_name(kinds_[n])].push_back(fmt::format("{}", n));
    }
    std::vector<std::string> entries;
    for (const auto& [kind, names] : places) {
      entries.push_back(fmt::format("\"{}\":{}", kind, json_list(names)));
    }
    const std::string inside = json_list(entries);
    return "{" + inside.substr(1, inside.size() - 2) + "}";
  }

  std::string header() const {
    std::vector<std::string> names;
    for (const std::string& name : names_) names.push_back(json_string(name));
    std::vector<std::string> states;
    for (size_t c = 0; c < kFlowCauses; ++c) {
      states.push_back(fmt::format("\"{}\"", flow_cause_name(static_cast<FlowCause>(c))));
    }
    for (const char* state : {"compute", "collective", "copy"}) {
      states.push_back(fmt::format("\"{}\"", state));
    }
    const std::string text = fmt::format(
        R"({{"version":2,"begin_ns":{},"window_ns":{},"total":{},"held":{},"shortest_ns":[{},{}],"other_threads":{},"other_rows":{},"states":{},"steps":{},"rows":{},"names":{},"kinds":{}}})",
        begin_ns_, window_.end_ns - window_.start_ns, total_, held_, shortest_ns_[0], shortest_ns_[1],
        other_threads_, other_rows_, json_list(states), steps(), json_list(head_rows_),
        json_list(names), kinds());
    return with_length(text);
  }

  const Trace& trace_;
  const Links& links_;
  const Windows& windows_;
  const FlowReport& flow_;
  const LaneBudget& budget_;
  const Interval window_;
  int64_t begin_ns_;  // start of the window, relative to the start of the recording
  std::vector<LaneRow> rows_;
  std::vector<std::string> head_rows_;
  std::vector<std::string> names_;
  std::vector<KernelKind> kinds_;  // kind of each of names_
  std::unordered_map<uint32_t, uint32_t> index_of_;
  std::string body_;
  uint64_t total_ = 0;
  uint64_t held_ = 0;
  uint64_t other_threads_ = 0;  // threads without a track
  uint64_t other_rows_ = 0;
  std::array<int64_t, 2> shortest_ns_ = {0, 0};  // shortest stored event of streams and of threads;
                                                 // 0 = all are stored
};

}  // namespace

LaneBytes lane_bytes(const Trace& trace, const Links& links, const Windows& windows,
                     const FlowReport& flow, const LaneBudget& budget) {
  return LaneMaker(trace, links, windows, flow, budget).make();
}

}  // namespace assay
