#include "flow/gains.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "trace/copy_way.h"

namespace assay {
namespace {

constexpr std::array<GainClass, kHostParts> kPartClasses = {GainClass::kWork, GainClass::kLaunch,
                                                            GainClass::kAlloc, GainClass::kInput,
                                                            GainClass::kStartup};

// The group of a class, or kGainGroups if it has none.
size_t group_of(GainClass what) {
  switch (what) {
    case GainClass::kWork:
    case GainClass::kLaunch:
    case GainClass::kAlloc:
    case GainClass::kInput:
    case GainClass::kStartup:
    case GainClass::kLate:
      return static_cast<size_t>(GainGroup::kHost);
    case GainClass::kDevice:
      return static_cast<size_t>(GainGroup::kDevice);
    case GainClass::kCopy:
      return static_cast<size_t>(GainGroup::kCopy);
    case GainClass::kMigration:
      return static_cast<size_t>(GainGroup::kMigration);
    case GainClass::kComm:
      return static_cast<size_t>(GainGroup::kComm);
    case GainClass::kUnseen:
      return static_cast<size_t>(GainGroup::kUnseen);
    case GainClass::kOutside:
      return static_cast<size_t>(GainGroup::kOutside);
    case GainClass::kStands:
    case GainClass::kCut:
      break;
  }
  return kGainGroups;
}

void remove_group(GainGroup group, size_t lane, LaneMasks& masks) {
  for (size_t c = 0; c < kGainClasses; ++c) {
    const auto what = static_cast<GainClass>(c);
    if (group_of(what) == static_cast<size_t>(group)) masks.remove(lane, what);
  }
}

void drop_residuals(size_t lane, LaneMasks& masks) {
  masks.remove(lane, GainClass::kUnseen);
  masks.remove(lane, GainClass::kLate);
}

__extension__ typedef __int128 WideInt;  // products of times and factorials

// Number of the largest pieces that hold half of the sum, by selection. Reorders pieces.
uint64_t half_in(std::vector<int64_t>& pieces, int64_t total_ns) {
  size_t first = 0;
  size_t last = pieces.size();
  int64_t before_ns = 0;
  while (last - first > 1) {
    const size_t middle = first + (last - first) / 2;
    const auto at = [&](size_t i) { return pieces.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(first), at(middle), at(last), std::greater<>());
    int64_t upper_ns = 0;
    for (size_t i = first; i < middle; ++i) upper_ns += pieces[i];
    if ((before_ns + upper_ns) * 2 >= total_ns) {
      last = middle;
    } else {
      before_ns += upper_ns;
      first = middle;
    }
  }
  return pieces.empty() ? 0 : first + 1;
}

class TableMaker {
 public:
  TableMaker(const FlowRun& run, const FlowGraph& graph, Interval window)
      : run_(run),
        start_ns_(graph.start_ns),
        lanes_(make_lane_graph(run, graph, window, host_page_stretches(run))) {}

  GainTable make() {
    table_.window = {start_ns_ + lanes_.from_ns, start_ns_ + lanes_.end_ns};
    table_.idle_ns = table_.window_ns() - working_ns(run_, table_.window);
    add_pieces();
    add_sets();
    add_parts();
    add_models();
    bound();
    return std::move(table_);
  }

 private:
  void add_pieces() {
    std::array<std::vector<int64_t>, kGainGroups> pieces;
    for (uint32_t p = 0; p < lanes_.points(); ++p) {
      if (lanes_.time_ns[p] > lanes_.end_ns) continue;
      for (uint32_t e = lanes_.first_edge[p]; e < lanes_.first_edge[p + 1]; ++e) {
        std::array<int64_t, kGainGroups + 1> of{};
        for (uint32_t k = lanes_.first_part[e]; k < lanes_.first_part[e + 1]; ++k) {
          of[group_of(lanes_.part_class[k])] += lanes_.part_ns[k];
        }
        for (size_t g = 0; g < kGainGroups; ++g) {
          if (of[g] > 0) pieces[g].push_back(of[g]);
        }
      }
    }
    for (size_t g = 0; g < kGainGroups; ++g) {
      add_pieces_of(pieces[g], table_.groups[g]);
      if (table_.groups[g].total_ns > 0) table_.players.push_back(static_cast<GainGroup>(g));
    }
  }

  static void add_pieces_of(std::vector<int64_t>& pieces, GroupGain& gain) {
    if (pieces.empty()) return;
    GainPieces& of = gain.pieces;
    of.count = pieces.size();
    of.largest_ns = *std::max_element(pieces.begin(), pieces.end());
    gain.total_ns = std::accumulate(pieces.begin(), pieces.end(), int64_t{0});
    of.half_in = half_in(pieces, gain.total_ns);
    const auto middle = pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() / 2);
    std::nth_element(pieces.begin(), middle, pieces.end());
    of.median_ns = *middle;
  }

  // Replays the window without each set of players.
  void add_sets() {
    const size_t players = table_.players.size();
    const size_t sets = size_t{1} << players;
    table_.without.resize(sets);
    const int64_t window_ns = table_.window_ns();
    for (size_t first = 0; first < sets; first += kReplayLanes) {
      LaneMasks masks;
      const size_t lanes = std::min(kReplayLanes, sets - first);
      for (size_t lane = 0; lane < lanes; ++lane) {
        for (size_t i = 0; i < players; ++i) {
          if (((first + lane) >> i & 1) != 0) remove_group(table_.players[i], lane, masks);
        }
      }
      const LaneTimes spans = replay_lanes(lanes_, masks, false, times_);
      for (size_t lane = 0; lane < lanes; ++lane) {
        table_.without[first + lane] = window_ns - spans[lane];
      }
    }
    table_.keep_ns = window_ns - table_.without.front();
    table_.rest_ns = window_ns - table_.without.back();
    const std::vector<int64_t> shares = shapley_ns(players, table_.without);
    for (size_t i = 0; i < players; ++i) {
      GroupGain& gain = table_.of(table_.players[i]);
      gain.gain_ns = table_.without[size_t{1} << i];
      gain.only_ns = window_ns - table_.without[(sets - 1) ^ (size_t{1} << i)];
      gain.share_ns = shares[i];
    }
  }

  // Gains without each part of the host, and without the host's waits.
  void add_parts() {
    LaneMasks masks;
    for (size_t i = 0; i < kHostParts; ++i) masks.remove(i, kPartClasses[i]);
    masks.cut_waits(kHostParts);
    const LaneTimes spans = replay_lanes(lanes_, masks, false, times_);
    for (size_t i = 0; i < kHostParts; ++i) {
      table_.host_gain_ns[i] = table_.window_ns() - spans[i];
    }
    table_.order_gain_ns = table_.window_ns() - spans[kHostParts];
  }

  // Gains by the other models of unexplained time.
  void add_models() {
    for (const GainGroup player : table_.players) {
      GroupGain& gain = table_.of(player);
      gain.low_ns = gain.high_ns = gain.gain_ns;
    }
    table_.pin_ns = lanes_.pinned.empty() ? table_.keep_ns : add_model(true);
    table_.drop_ns = add_model(false);
  }

  int64_t add_model(bool pins) {
    static_assert(kGainGroups < kReplayLanes);
    LaneMasks masks;
    const size_t players = table_.players.size();
    for (size_t lane = 0; lane <= players; ++lane) {
      if (lane < players) remove_group(table_.players[lane], lane, masks);
      if (!pins) drop_residuals(lane, masks);
    }
    const LaneTimes spans = replay_lanes(lanes_, masks, pins, times_);
    const int64_t all_ns = spans[players];
    for (size_t i = 0; i < players; ++i) {
      // Scale to the window: the model's own may be shorter.
      const double share =
          all_ns <= 0 ? 0 : static_cast<double>(all_ns - spans[i]) / static_cast<double>(all_ns);
      const auto gain_ns = static_cast<int64_t>(share * static_cast<double>(table_.window_ns()));
      GroupGain& gain = table_.of(table_.players[i]);
      gain.low_ns = std::min(gain.low_ns, gain_ns);
      gain.high_ns = std::max(gain.high_ns, gain_ns);
    }
    return all_ns;
  }

  // A replay may overlap work that did not overlap, and whether it would run as fast is unknown.
  void bound() {
    const int64_t window_ns = table_.window_ns();
    for (const GainGroup player : table_.players) {
      GroupGain& gain = table_.of(player);
      const bool host = player == GainGroup::kHost || player == GainGroup::kOutside;
      // Unexplained delay leaves the device idle.
      const bool idle = host || player == GainGroup::kUnseen;
      const int64_t most_ns = std::min(idle ? table_.idle_ns : window_ns,
                                       host ? window_ns : gain.total_ns);
      gain.gain_ns = std::clamp<int64_t>(gain.gain_ns, 0, most_ns);
      gain.low_ns = std::clamp<int64_t>(gain.low_ns, 0, gain.gain_ns);
      gain.high_ns = std::clamp<int64_t>(gain.high_ns, gain.gain_ns, most_ns);
    }
    for (int64_t& ns : table_.host_gain_ns) ns = std::clamp<int64_t>(ns, 0, table_.idle_ns);
    table_.order_gain_ns = std::clamp<int64_t>(table_.order_gain_ns, 0, table_.idle_ns);
  }

  const FlowRun& run_;
  const int64_t start_ns_;
  const LaneGraph lanes_;
  GainTable table_;
  std::vector<LaneTimes> times_;
};

}  // namespace

std::string_view gain_group_name(GainGroup group) {
  constexpr std::array<std::string_view, kGainGroups> kNames = {
      "host", "device", "copy", "migration", "comm", "unseen", "outside"};
  return kNames[static_cast<size_t>(group)];
}

std::string_view host_part_name(HostPart part) {
  constexpr std::array<std::string_view, kHostParts> kNames = {"work", "launch", "alloc", "input",
                                                               "startup"};
  return kNames[static_cast<size_t>(part)];
}

int64_t GainTable::together_ns(GainGroup a, GainGroup b) const {
  size_t set = 0;
  for (size_t i = 0; i < players.size(); ++i) {
    if (players[i] == a || players[i] == b) set |= size_t{1} << i;
  }
  return without.empty() ? 0 : without[set];
}

GainTable find_gains(const FlowRun& run, const FlowGraph& graph, Interval window) {
  return TableMaker(run, graph, window).make();
}

std::vector<Interval> host_page_stretches(const FlowRun& run) {
  constexpr int64_t kGapNs = 10'000;
  constexpr int64_t kMostGapNs = 1'000'000;
  std::vector<Interval> moves;
  for (const FlowWork& work : run.works) {
    if (!work.migration) continue;
    const StringId name = run.trace->activities.name[work.activity.index()];
    if (copy_way(run.trace->text(name)) != CopyWay::kToHost) continue;
    moves.push_back({work.start_ns, work.end_ns});
  }
  moves = merge_intervals(std::move(moves));
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < moves.size(); ++i) {
    const int64_t gap_ns = moves[i].start_ns - moves[i - 1].end_ns;
    if (gap_ns > kGapNs) gaps.push_back(gap_ns);
  }
  int64_t limit_ns = kGapNs;
  if (!gaps.empty()) {
    std::sort(gaps.begin(), gaps.end());
    // Pages of one pass over memory move in much closer succession than separate passes do.
    limit_ns = std::min(
        kMostGapNs, 3 * (gaps.size() > 2 ? gaps[gaps.size() * 9 / 10] : gaps.back()));
  }
  std::vector<Interval> stretches;
  for (const Interval& move : moves) {
    if (!stretches.empty() && move.start_ns - stretches.back().end_ns <= limit_ns) {
      stretches.back().end_ns = move.end_ns;
    } else {
      stretches.push_back(move);
    }
  }
  return stretches;
}

int64_t working_ns(const FlowRun& run, Interval window) {
  std::vector<int64_t> sum_ns(run.devices.size(), 0);
  std::vector<int64_t> reached_ns(run.devices.size(), window.start_ns);
  for (const FlowWork& work : run.works) {  // by start
    if (work.helper) continue;
    int64_t& reached = reached_ns[work.device];
    const int64_t end_ns = std::min(work.end_ns, window.end_ns);
    sum_ns[work.device] += std::max<int64_t>(0, end_ns - std::max(reached, work.start_ns));
    reached = std::max(reached, end_ns);
  }
  return sum_ns.empty() ? 0 : *std::max_element(sum_ns.begin(), sum_ns.end());
}

std::vector<int64_t> shapley_ns(size_t players, const std::vector<int64_t>& values) {
  std::vector<int64_t> factorial(players + 1, 1);
  for (size_t n = 1; n <= players; ++n) {
    factorial[n] = factorial[n - 1] * static_cast<int64_t>(n);
  }
  std::vector<int64_t> shares(players);
  std::vector<std::pair<int64_t, size_t>> left;  // remainder, and its player
  int64_t told_ns = 0;
  for (size_t p = 0; p < players; ++p) {
    const size_t own = size_t{1} << p;
    WideInt sum = 0;
    for (size_t set = 0; set < values.size(); ++set) {
      if ((set & own) != 0) continue;
      size_t size = 0;
      for (size_t bits = set; bits != 0; bits &= bits - 1) ++size;
      sum += static_cast<WideInt>(factorial[size] * factorial[players - size - 1]) *
             (values[set | own] - values[set]);
    }
    shares[p] = static_cast<int64_t>(sum / factorial[players]);
    left.emplace_back(static_cast<int64_t>(sum % factorial[players]), p);
    told_ns += shares[p];
  }
  // Hand out what rounding down left, largest remainders first.
  std::stable_sort(left.begin(), left.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const int64_t all_ns = values.empty() ? 0 : values.back() - values.front();
  for (size_t i = 0; told_ns < all_ns && i < left.size(); ++i, ++told_ns) ++shares[left[i].second];
  return shares;
}

}  // namespace assay
