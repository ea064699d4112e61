#include "job/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/numbers.h"
#include "base/stats.h"
#include "job/record_graph.h"
#include "job/tests.h"
#include "job/usual.h"
#include "job/worst_first.h"

namespace assay {
namespace {

constexpr double kBesideItsSet =
    1.5;                             // a rank is named beside its set from so many times its median
constexpr double kNearlyAll = 0.9;   // of the members of a set
constexpr size_t kLeastColumns = 3;  // to tell a pause from what is always so

class Finder {
 public:
  Finder(const FleetJob& job, const FleetSets& sets, const FleetUsual& usual,
         const FleetOptions& options, FleetFindings& found)
      : job_(job),
        sets_(sets),
        usual_(usual),
        options_(options),
        found_(found),
        columns_(job.columns.size()) {
    for (uint32_t r = 0; r < job.ranks.size(); ++r) by_role_[job.roles[r]].push_back(r);
  }

  void run() {
    find_slow_ranks();
    find_slow_sets();
    name_ranks();
    find_pauses();
    find_bursts();
    find_links();
    keep_worst();
    for (FleetFinding& one : found_.worst) explain(one);
  }

 private:
  // ---- ranks ----

  bool has_score(uint32_t rank) const { return !std::isnan(usual_.scores[rank]); }

  void find_slow_ranks() {
    slow_.assign(job_.ranks.size(), false);
    q_.assign(job_.ranks.size(), 1);
    std::vector<uint32_t> tested;
    std::vector<double> p;
    for (const auto& [role, ranks] : by_role_) {
      std::vector<double> scores;
      std::vector<uint32_t> own;
      for (const uint32_t r : ranks) {
        if (!has_score(r)) continue;
        own.push_back(r);
        scores.push_back(usual_.scores[r]);
      }
      if (own.size() < options_.least_peers) continue;
      const std::vector<double> of_role = upper_p(scores);
      p.insert(p.end(), of_role.begin(), of_role.end());
      tested.insert(tested.end(), own.begin(), own.end());
    }
    const std::vector<double> q = adjusted_p(p);
    for (size_t k = 0; k < tested.size(); ++k) {
      const uint32_t r = tested[k];
      q_[r] = q[k];
      slow_[r] = q[k] <= options_.false_share && usual_.scores[r] >= options_.least_slow;
    }
  }

  // ---- sets of ranks ----

  struct SlowSet {
    uint32_t set = 0;
    double q = 1;
    double middle = 0;
    uint32_t slow = 0;
    bool nearly_all = false;
    bool apart = false;  // all of a set so large that it is half of what is usual
  };

  // Of a set of a quarter of the ranks and more the usual work is in part its own, and none of its
  // ranks stands out by itself. It does where each of them is slower than every other rank.
  bool stands_apart(const FleetSet& set, SlowSet& one) const {
    std::vector<double> own;
    std::vector<double> others;
    size_t next = 0;
    for (uint32_t r = 0; r < job_.ranks.size(); ++r) {
      while (next < set.ranks.size() && set.ranks[next] < r) ++next;
      if (!has_score(r)) continue;
      (next < set.ranks.size() && set.ranks[next] == r ? own : others).push_back(usual_.scores[r]);
    }
    if (own.size() < 2 || own.size() * 4 < others.size() + own.size()) return false;
    if (*std::min_element(own.begin(), own.end()) <
        *std::max_element(others.begin(), others.end()) + options_.least_slow) {
      return false;
    }
    one.middle = (1 + median(own)) / (1 + median(others)) - 1;
    return true;
  }

  std::vector<SlowSet> test_sets() const {
    std::vector<uint32_t> tested;
    std::vector<double> scores;
    std::vector<double> order(job_.ranks.size(), 0);
    for (uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (!has_score(r)) continue;
      tested.push_back(r);
      scores.push_back(usual_.scores[r]);
    }
    const std::vector<double> orders = order_of(scores);
    for (size_t k = 0; k < tested.size(); ++k) order[tested[k]] = orders[k];
    std::map<std::string, std::vector<SlowSet>> by_kind;
    std::map<std::string, std::vector<double>> p;
    for (uint32_t s = 0; s < sets_.sets.size(); ++s) {
      const FleetSet& set = sets_.sets[s];
      std::vector<double> own;
      double order_sum = 0;
      SlowSet one{.set = s};
      for (const uint32_t r : set.ranks) {
        if (!has_score(r)) continue;
        own.push_back(usual_.scores[r]);
        order_sum += order[r];
        one.slow += slow_[r] ? 1 : 0;
      }
      if (own.size() < 2 || own.size() * 2 > tested.size()) continue;
      one.middle = median(own);
      one.nearly_all = one.slow >= kNearlyAll * static_cast<double>(set.ranks.size());
      one.apart = own.size() * 4 >= tested.size() && stands_apart(set, one);
      by_kind[set.kind].push_back(one);
      p[set.kind].push_back(rank_sum_p(order_sum, own.size(), tested.size()));
    }
    std::vector<SlowSet> slow;
    for (auto& [kind, sets] : by_kind) {
      const std::vector<double> q = adjusted_p(p[kind]);
      for (size_t k = 0; k < sets.size(); ++k) {
        sets[k].q = q[k];
        const bool half = sets[k].apart || sets[k].slow * 2 >= sets_.sets[sets[k].set].ranks.size();
        if (q[k] <= options_.false_share && sets[k].middle >= options_.least_slow && half) {
          slow.push_back(sets[k]);
        }
      }
    }
    return slow;
  }

  // Sets in which nearly all are slow come first, of these the largest; each names ranks that no
  // set before it has named.
  void find_slow_sets() {
    std::vector<SlowSet> slow = test_sets();
    std::sort(slow.begin(), slow.end(), [this](const SlowSet& a, const SlowSet& b) {
      const FleetSet& of_a = sets_.sets[a.set];
      const FleetSet& of_b = sets_.sets[b.set];
      if (a.nearly_all != b.nearly_all) return a.nearly_all;
      if (of_a.ranks.size() != of_b.ranks.size()) return of_a.ranks.size() > of_b.ranks.size();
      return a.set < b.set;
    });
    in_set_.assign(job_.ranks.size(), -1.0);
    for (const SlowSet& one : slow) {
      const FleetSet& set = sets_.sets[one.set];
      uint32_t slow_left = 0;
      for (const uint32_t r : set.ranks) {
        slow_left += (slow_[r] || one.apart) && in_set_[r] < 0 ? 1 : 0;
      }
      if (slow_left * 2 < set.ranks.size()) continue;
      for (const uint32_t r : set.ranks) in_set_[r] = std::max(in_set_[r], one.middle);
      found_.worst.push_back({.kind = FindingKind::kSet,
                              .set_kind = set.kind,
                              .set_name = set.name,
                              .ranks = set.ranks,
                              .score = one.middle,
                              .q = one.q,
                              .peers = static_cast<uint32_t>(job_.ranks.size()),
                              .hits = one.slow,
                              .at_least = one.apart});
    }
  }

  void name_ranks() {
    for (uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (!slow_[r] || usual_.scores[r] < kBesideItsSet * in_set_[r]) continue;
      found_.worst.push_back({.kind = FindingKind::kRank,
                              .ranks = {r},
                              .score = usual_.scores[r],
                              .q = q_[r],
                              .peers = usual_.peers[r]});
    }
  }

  // ---- pauses ----

  bool recorded(uint32_t rank, size_t column) const {
    return usual_.above_ns[rank * columns_ + column] >= 0;
  }

  // Each rank's excess per iteration less what is usual for it.
  std::vector<double> cells_of(uint32_t rank, std::vector<uint32_t>& columns) const {
    std::vector<double> values;
    for (uint32_t c = 0; c < columns_; ++c) {
      if (!recorded(rank, c)) continue;
      columns.push_back(c);
      values.push_back(static_cast<double>(usual_.signed_ns[rank * columns_ + c]));
    }
    if (values.size() < kLeastColumns) return {};
    const double middle = median(values);
    for (double& value : values) value -= middle;
    return values;
  }

  struct Cell {
    uint32_t rank = 0;
    uint32_t column = 0;
    double ns = 0;
    double q = 1;
  };

  using HitsOfRanks = std::map<uint32_t, std::vector<Cell>>;  // by column

  void find_pauses() {
    std::vector<Cell> cells;
    std::vector<double> p;
    for (const auto& [role, ranks] : by_role_) {
      std::vector<double> values;
      for (const uint32_t r : ranks) {
        std::vector<uint32_t> columns;
        const std::vector<double> own = cells_of(r, columns);
        for (size_t k = 0; k < own.size(); ++k) cells.push_back({r, columns[k], own[k], 1});
        values.insert(values.end(), own.begin(), own.end());
      }
      if (values.empty()) continue;
      const std::vector<double> of_role = upper_p(values);
      p.insert(p.end(), of_role.begin(), of_role.end());
    }
    const std::vector<double> q = adjusted_p(p);
    const double least_ns = options_.least_pause * static_cast<double>(found_.iteration_ns);
    HitsOfRanks hits;
    for (size_t k = 0; k < cells.size(); ++k) {
      cells[k].q = q[k];
      // A rank that is faster than usual all the time does not pause where it is as usual.
      const bool above = usual_.signed_ns[cells[k].rank * columns_ + cells[k].column] > 0;
      if (q[k] <= options_.false_share && cells[k].ns >= least_ns && least_ns > 0 && above) {
        hits[cells[k].rank].push_back(cells[k]);
      }
    }
    name_pauses_of_sets(hits);
    for (auto& [rank, own] : hits) name_pauses_of_rank(rank, own);
  }

  // The iterations in which at least half of a set's ranks pause, with what those do there.
  std::map<uint32_t, std::vector<Cell>> common_pauses(const FleetSet& set,
                                                      const HitsOfRanks& hits) const {
    std::map<uint32_t, std::vector<Cell>> of_column;
    for (const uint32_t r : set.ranks) {
      const auto own = hits.find(r);
      if (own == hits.end()) continue;
      for (const Cell& cell : own->second) of_column[cell.column].push_back(cell);
    }
    std::erase_if(of_column, [&set](const auto& one) {
      return one.second.size() < 2 || one.second.size() * 2 < set.ranks.size();
    });
    return of_column;
  }

  // Largest sets first. What a set is named for is taken out of its ranks' hits.
  void name_pauses_of_sets(HitsOfRanks& hits) {
    if (hits.size() < 2) return;
    std::vector<size_t> by_size(sets_.sets.size());
    std::iota(by_size.begin(), by_size.end(), size_t{0});
    std::stable_sort(by_size.begin(), by_size.end(), [this](size_t a, size_t b) {
      return sets_.sets[a].ranks.size() > sets_.sets[b].ranks.size();
    });
    for (const size_t s : by_size) {
      const FleetSet& set = sets_.sets[s];
      const auto common = common_pauses(set, hits);
      if (common.empty()) continue;
      std::vector<Cell> middles;  // of its ranks, an iteration each
      for (const auto& [column, cells] : common) {
        std::vector<double> ns;
        Cell one = cells.front();
        for (const Cell& cell : cells) {
          ns.push_back(cell.ns);
          one.q = std::min(one.q, cell.q);
        }
        one.ns = median(ns);
        middles.push_back(one);
      }
      FleetFinding named = pauses_of(middles);
      named.set_kind = set.kind;
      named.set_name = set.name;
      named.ranks = set.ranks;
      named.peers = static_cast<uint32_t>(job_.ranks.size());
      found_.worst.push_back(std::move(named));
      for (const uint32_t r : set.ranks) {
        const auto own = hits.find(r);
        if (own == hits.end()) continue;
        std::erase_if(own->second,
                      [&common](const Cell& cell) { return common.contains(cell.column); });
        if (own->second.empty()) hits.erase(own);
      }
    }
  }

  // cells: by column.
  FleetFinding pauses_of(const std::vector<Cell>& cells) const {
    const auto number = [&](size_t k) { return job_.columns[cells[k].column]; };
    FleetFinding one{.kind = FindingKind::kPauses,
                     .hits = static_cast<uint32_t>(cells.size()),
                     .first_hit = number(0),
                     .last_hit = number(cells.size() - 1)};
    for (const Cell& cell : cells) {
      one.score = std::max(one.score, cell.ns / static_cast<double>(found_.iteration_ns));
      one.q = std::min(one.q, cell.q);
    }
    if (cells.size() >= kLeastColumns) {
      const int32_t every = number(1) - number(0);
      bool same = true;
      for (size_t k = 2; k < cells.size(); ++k) same = same && number(k) - number(k - 1) == every;
      one.every = same ? static_cast<uint32_t>(every) : 0;
    }
    return one;
  }

  void name_pauses_of_rank(uint32_t rank, const std::vector<Cell>& cells) {
    FleetFinding one = pauses_of(cells);
    one.ranks = {rank};
    one.peers = usual_.peers[rank];
    // A rank that is slow anyway is one row.
    for (FleetFinding& known : found_.worst) {
      if (known.kind != FindingKind::kRank || known.ranks.front() != rank) continue;
      known.pause = one.score;
      known.hits = one.hits;
      known.every = one.every;
      known.first_hit = one.first_hit;
      known.last_hit = one.last_hit;
      return;
    }
    found_.worst.push_back(std::move(one));
  }

  // Ranks that are held up now and then in most iterations: more own work in all than in the
  // middle. Iterations are alike then, and the middle of its places is usual.
  void find_bursts() {
    std::vector<uint32_t> tested;
    std::vector<double> scores;
    std::vector<double> p;
    for (const auto& [role, ranks] : by_role_) {
      std::vector<double> of_role;
      for (const uint32_t r : ranks) {
        if (!has_score(r)) continue;
        tested.push_back(r);
        of_role.push_back(static_cast<double>(usual_.totals[r]) - usual_.scores[r]);
      }
      if (of_role.size() < options_.least_peers) {
        tested.resize(tested.size() - of_role.size());
        continue;
      }
      scores.insert(scores.end(), of_role.begin(), of_role.end());
      const std::vector<double> p_of_role = upper_p(of_role);
      p.insert(p.end(), p_of_role.begin(), p_of_role.end());
    }
    std::set<uint32_t> named;
    for (const FleetFinding& known : found_.worst) {
      if (known.kind != FindingKind::kSet) named.insert(known.ranks.begin(), known.ranks.end());
    }
    const std::vector<double> q = adjusted_p(p);
    for (size_t k = 0; k < tested.size(); ++k) {
      if (q[k] > options_.false_share || scores[k] < options_.least_pause) continue;
      if (named.contains(tested[k])) continue;
      found_.worst.push_back({.kind = FindingKind::kPauses,
                              .ranks = {tested[k]},
                              .score = scores[k],
                              .q = q[k],
                              .peers = usual_.peers[tested[k]]});
    }
  }

  // ---- links ----

  void find_links() {
    std::map<uint32_t, std::vector<uint32_t>> by_class;
    for (uint32_t g = 0; g < job_.groups.size(); ++g) {
      if (!std::isnan(usual_.link_scores[g])) by_class[usual_.link_class[g]].push_back(g);
    }
    std::vector<uint32_t> tested;
    std::vector<double> p;
    for (const auto& [link_class, groups] : by_class) {
      if (groups.size() < options_.least_peers) continue;
      std::vector<double> scores;
      for (const uint32_t g : groups) scores.push_back(usual_.link_scores[g]);
      const std::vector<double> of_class = upper_p(scores);
      p.insert(p.end(), of_class.begin(), of_class.end());
      tested.insert(tested.end(), groups.begin(), groups.end());
    }
    const std::vector<double> q = adjusted_p(p);
    std::map<uint32_t, double> slow;
    for (size_t k = 0; k < tested.size(); ++k) {
      if (q[k] <= options_.false_share && usual_.link_scores[tested[k]] >= options_.least_link) {
        slow[tested[k]] = q[k];
      }
    }
    name_links(slow, by_class);
  }

  // The smallest set of another kind than groups that holds all members; none: sets_.sets.size().
  std::vector<size_t> smallest_sets() const {
    std::vector<size_t> by_size(sets_.sets.size());
    std::iota(by_size.begin(), by_size.end(), size_t{0});
    std::stable_sort(by_size.begin(), by_size.end(), [this](size_t a, size_t b) {
      return sets_.sets[a].ranks.size() < sets_.sets[b].ranks.size();
    });
    std::map<uint32_t, std::vector<size_t>> of_rank;
    for (const size_t s : by_size) {
      if (sets_.sets[s].kind == "group") continue;
      for (const uint32_t r : sets_.sets[s].ranks) of_rank[r].push_back(s);
    }
    std::vector<size_t> smallest(job_.groups.size(), sets_.sets.size());
    for (uint32_t g = 0; g < job_.groups.size(); ++g) {
      const std::vector<uint32_t>& members = job_.groups[g].members;
      if (members.empty()) continue;
      for (const size_t s : of_rank[members.front()]) {
        const std::vector<uint32_t>& ranks = sets_.sets[s].ranks;
        if (!std::includes(ranks.begin(), ranks.end(), members.begin(), members.end())) continue;
        smallest[g] = s;
        break;
      }
    }
    return smallest;
  }

  // Where at least half of the like links inside a set are slow, and two, the set's links are
  // named; else each by itself.
  void name_links(const std::map<uint32_t, double>& slow,
                  const std::map<uint32_t, std::vector<uint32_t>>& by_class) {
    if (slow.empty()) return;
    const std::vector<size_t> smallest = smallest_sets();
    for (const auto& [link_class, groups] : by_class) {
      std::map<size_t, std::vector<uint32_t>> slow_in;
      std::map<size_t, uint32_t> all_in;
      for (const uint32_t g : groups) {
        ++all_in[smallest[g]];
        if (slow.contains(g)) slow_in[smallest[g]].push_back(g);
      }
      for (const auto& [set, own] : slow_in) {
        const bool named =
            set < sets_.sets.size() && own.size() >= 2 && own.size() * 2 >= all_in[set];
        if (named) {
          name_link(own, slow, sets_.sets[set].kind, sets_.sets[set].name);
          continue;
        }
        for (const uint32_t g : own) name_link({g}, slow, "group", job_.groups[g].key.name);
      }
    }
  }

  void name_link(const std::vector<uint32_t>& groups, const std::map<uint32_t, double>& slow,
                 const std::string& kind, const std::string& name) {
    FleetFinding one{
        .kind = FindingKind::kLinks, .set_kind = kind, .set_name = name, .groups = groups};
    std::set<uint32_t> ranks;
    std::vector<double> scores;
    for (const uint32_t g : groups) {
      ranks.insert(job_.groups[g].members.begin(), job_.groups[g].members.end());
      scores.push_back(usual_.link_scores[g]);
      one.q = std::min(one.q, slow.at(g));
    }
    one.ranks.assign(ranks.begin(), ranks.end());
    one.score = median(scores);
    one.hits = static_cast<uint32_t>(groups.size());
    one.long_only = std::all_of(groups.begin(), groups.end(), [this](uint32_t g) {
      return usual_.short_link_scores[g] < options_.least_link / 2;
    });
    found_.worst.push_back(std::move(one));
  }

  // ---- what the excess is ----

  // Beyond the most that are listed those with the least excess are counted alone.
  void keep_worst() {
    std::vector<int64_t> of_group(job_.groups.size(), 0);
    for (size_t m = 0; m < job_.meetings.size(); ++m) {
      const FleetMeeting& meeting = job_.meetings[m];
      if (meeting.group != kAlone && meeting.complete) {
        of_group[meeting.group] += usual_.excess.transfer_ns[m];
      }
    }
    for (FleetFinding& one : found_.worst) {
      if (one.kind == FindingKind::kLinks) {
        for (const uint32_t g : one.groups) one.link_excess_ns += of_group[g];
        continue;
      }
      for (const uint32_t r : one.ranks)
        one.excess.rest_ns += rank_excess_ns(usual_.above_ns, columns_, r);
    }
    const auto weight = [](const FleetFinding& one) {
      return one.excess.rest_ns + one.link_excess_ns;
    };
    std::stable_sort(
        found_.worst.begin(), found_.worst.end(),
        [&](const FleetFinding& a, const FleetFinding& b) { return weight(a) > weight(b); });
    if (found_.worst.size() <= kMostFindings) return;
    found_.more = found_.worst.size() - kMostFindings;
    found_.worst.erase(found_.worst.begin() + kMostFindings, found_.worst.end());
  }

  struct Times {
    int64_t kernel_ns = 0;
    int64_t launch_ns = 0;
    int64_t copy_ns = 0;
  };

  // The median times of a role's ranks in an iteration, as far as their records tell.
  const std::map<int32_t, Times>& usual_times(uint64_t role) {
    const auto known = times_.find(role);
    if (known != times_.end()) return known->second;
    std::map<int32_t, std::array<std::vector<int64_t>, 3>> values;
    for (const uint32_t r : by_role_.at(role)) {
      for (const RecordIteration& one : iterations_of(job_.ranks[r])) {
        auto& own = values[one.number];
        own[0].push_back(one.kernel_ns);
        own[1].push_back(one.launch_ns);
        own[2].push_back(one.copy_ns);
      }
    }
    std::map<int32_t, Times>& times = times_[role];
    for (auto& [number, own] : values) {
      times[number] = {median_ns(own[0]), median_ns(own[1]), median_ns(own[2])};
    }
    return times;
  }

  void explain(FleetFinding& one) {
    if (one.kind == FindingKind::kLinks) return;
    one.excess = {};
    for (const uint32_t r : one.ranks) {
      const std::map<int32_t, Times>& usual = usual_times(job_.roles[r]);
      const std::vector<RecordIteration> iterations = iterations_of(job_.ranks[r]);
      std::map<int32_t, const RecordIteration*> own;
      for (const RecordIteration& it : iterations) own[it.number] = &it;
      for (size_t c = 0; c < columns_; ++c) {
        const int64_t above_ns = std::max<int64_t>(usual_.above_ns[r * columns_ + c], 0);
        const auto it = own.find(job_.columns[c]);
        const auto like = usual.find(job_.columns[c]);
        if (it == own.end() || like == usual.end()) {
          one.excess.rest_ns += above_ns;
        } else {
          split(above_ns, *it->second, like->second, one.excess);
        }
      }
    }
    name_cause(one);
  }

  // Kernels first, then launches, then copies, each as far as it is above usual; the rest is idle
  // for other reasons.
  static void split(int64_t above_ns, const RecordIteration& own, const Times& usual,
                    ExcessSplit& to) {
    const auto take = [&above_ns](int64_t more_ns, int64_t& part_ns) {
      const int64_t taken_ns = std::clamp<int64_t>(more_ns, 0, above_ns);
      part_ns += taken_ns;
      above_ns -= taken_ns;
    };
    take(own.kernel_ns - usual.kernel_ns, to.kernel_ns);
    take(own.launch_ns - usual.launch_ns, to.launch_ns);
    take(own.copy_ns - usual.copy_ns, to.copy_ns);
    to.rest_ns += above_ns;
  }

  // The cause of idle time that the ranks have more of than the median of their role.
  void name_cause(FleetFinding& one) {
    CauseTimes more{};
    for (const uint32_t r : one.ranks) {
      const CauseTimes& usual = usual_causes(job_.roles[r]);
      for (size_t c = 0; c < kFlowCauses; ++c) {
        more[c] += job_.ranks[r].causes.idle_ns[c] - usual[c];
      }
    }
    for (size_t c = 0; c < kFlowCauses; ++c) {
      const auto cause = static_cast<FlowCause>(c);
      // What waits for other ranks is what a late rank does to others.
      if (cause == FlowCause::kWaitOther || more[c] <= one.cause_excess_ns) continue;
      if (more[c] * 4 < one.excess.rest_ns + one.excess.launch_ns) continue;
      one.cause = cause;
      one.cause_excess_ns = more[c];
    }
  }

  const CauseTimes& usual_causes(uint64_t role) {
    const auto known = causes_.find(role);
    if (known != causes_.end()) return known->second;
    CauseTimes& usual = causes_[role];
    for (size_t c = 0; c < kFlowCauses; ++c) {
      std::vector<int64_t> values;
      for (const uint32_t r : by_role_.at(role)) {
        values.push_back(job_.ranks[r].causes.idle_ns[c]);
      }
      usual[c] = median_ns(values);
    }
    return usual;
  }

  const FleetJob& job_;
  const FleetSets& sets_;
  const FleetUsual& usual_;
  const FleetOptions& options_;
  FleetFindings& found_;
  size_t columns_;
  std::map<uint64_t, std::vector<uint32_t>> by_role_;
  std::vector<bool> slow_;
  std::vector<double> q_;
  std::vector<double> in_set_;  // per rank: middle of the set that names it; -1 = none
  std::map<uint64_t, std::map<int32_t, Times>> times_;
  std::map<uint64_t, CauseTimes> causes_;
};

void find_short_ranks(const FleetJob& job, FleetFindings& found) {
  const size_t columns = job.columns.size();
  const auto has = [&](size_t r, size_t c) { return found.cells_ns[r * columns + c] >= 0; };
  std::vector<size_t> common;
  for (size_t c = 0; c < columns; ++c) {
    size_t ranks = 0;
    for (size_t r = 0; r < job.ranks.size(); ++r) ranks += has(r, c) ? 1 : 0;
    if (ranks * 2 >= job.ranks.size()) common.push_back(c);
  }
  found.usual_iterations = static_cast<uint32_t>(common.size());
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    uint32_t own = 0;
    for (const size_t c : common) own += has(r, c) ? 1 : 0;
    if (own < found.usual_iterations) found.short_ranks.push_back({r, own});
  }
}

// The larger first. A process group comes after another set of the same ranks.
std::vector<StorySet> story_sets(const FleetSets& sets) {
  std::vector<StorySet> made;
  for (const FleetSet& set : sets.sets) made.push_back({set.kind, set.name, set.ranks});
  std::stable_sort(made.begin(), made.end(), [](const StorySet& a, const StorySet& b) {
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() > b.ranks.size();
    return (a.kind != "group") > (b.kind != "group");
  });
  return made;
}

FindingKind kind_of(const StoryFinding& story) {
  if (story.kind == StoryKind::kLink) return FindingKind::kLinks;
  if (story.kind == StoryKind::kAll) return FindingKind::kAll;
  if (story.pauses) return FindingKind::kPauses;
  return story.set_kind.empty() ? FindingKind::kRank : FindingKind::kSet;
}

void set_span(int64_t span_ns, const FleetJob& job, FleetFindings& found) {
  found.span_ns = span_ns;
  found.iteration_ns = job.columns.empty() ? 0 : span_ns / static_cast<int64_t>(job.columns.size());
}

// The findings of the solver as rows.
void take_solution(JobSolution solved, const FleetJob& job, FleetFindings& found) {
  set_span(solved.span_ns, job, found);
  found.replayed = true;
  found.saved_by_worst_ns = solved.saved_ns;
  found.saved_by_absent_ns = solved.absent_ns;
  found.saved_by_rest_ns =
      std::max<int64_t>(solved.span_ns - solved.usual_span_ns - solved.saved_ns, 0);
  found.few_peers = solved.uncompared;
  for (const StoryFinding& story : solved.findings) {
    FleetFinding row{.kind = kind_of(story),
                     .set_kind = story.set_kind,
                     .set_name = story.set_name,
                     .ranks = story.ranks,
                     .score = story.factor - 1,
                     .peers = story.peers};
    if (row.kind == FindingKind::kPauses || row.kind == FindingKind::kAll) {
      row.hits = static_cast<uint32_t>(story.iterations.size());
      if (!story.iterations.empty()) {
        row.first_hit = story.iterations.front();
        row.last_hit = story.iterations.back();
      }
      row.score = share(story.longest_ns, std::max<int64_t>(found.iteration_ns, 1));
    }
    (row.kind == FindingKind::kLinks                                      ? row.link_excess_ns
     : story.kind == StoryKind::kDevice || story.kind == StoryKind::kWork ? row.excess.kernel_ns
                                                                          : row.excess.rest_ns) =
        story.excess_ns;
    row.saved_ns = story.saved_ns;
    row.saved_alone_ns = story.saved_alone_ns;
    found.worst.push_back(std::move(row));
  }
  found.solution = std::move(solved);
}

// Own work beyond the typical as the solver compares it, in iterations in which the rank has a
// collective.
void take_cells(const FleetJob& job, FleetFindings& found) {
  const JobSolution& solved = *found.solution;
  found.scores = solved.scores;
  found.peers = solved.peers;
  const size_t columns = job.columns.size();
  found.cells_ns.assign(job.ranks.size() * columns, -1);
  for (size_t v = 0; v < job.visits.size(); ++v) {
    const uint32_t column = job.slots[job.visits.slot[v]].column;
    if (column == kNoColumn) continue;
    const uint32_t rank = job.visits.rank[v];
    const auto own = solved.above_ns[rank].find(job.columns[column]);
    found.cells_ns[rank * columns + column] = own == solved.above_ns[rank].end() ? 0 : own->second;
  }
}

// True if each rank's record has a graph: those of an older version have parts in collectives and
// no fold.
bool can_solve(const FleetJob& job, const std::vector<RankFold>& folds) {
  if (folds.empty() || folds.size() > kMostSolved) return false;
  for (size_t r = 0; r < folds.size(); ++r) {
    if (folds[r].points.empty() && !job.ranks[r].group_ids.empty()) return false;
  }
  return true;
}

void find_by_graphs(FleetJob& job, const FleetSets& sets, std::vector<RankFold> folds,
                    FleetFindings& found) {
  cut_alike(folds);
  const JobGraph graph(std::move(folds));
  job.counts.matched = graph.matched();
  job.counts.unmatched = graph.unmatched();
  job.counts.contradicting = graph.cut();
  take_solution(solve_job(graph, story_sets(sets)), job, found);
  take_cells(job, found);
}

void find_by_gaps(const FleetJob& job, const FleetSets& sets, const FleetOptions& options,
                  FleetFindings& found) {
  FleetUsual usual = find_usual(job, options.least_peers);
  int64_t span_ns = 0;
  found.residual = replay_residual(job, usual.excess, span_ns);
  set_span(span_ns, job, found);
  Finder(job, sets, usual, options, found).run();
  found.replayed = job.counts.matched > 0 && found.residual <= options.most_residual;
  if (found.replayed) put_worst_first(job, usual.excess, found);
  found.few_peers = usual.few_peers;
  found.scores = std::move(usual.scores);
  found.peers = std::move(usual.peers);
  found.cells_ns = std::move(usual.above_ns);
}

}  // namespace

FleetFindings find_in_fleet(FleetJob& job, const FleetSets& sets, const FleetOptions& options,
                            std::vector<RankFold> folds) {
  FleetFindings found;
  found.clocks = align_fleet(job);
  set_first_starts(found.clocks, job);
  if (can_solve(job, folds)) {
    find_by_graphs(job, sets, std::move(folds), found);
  } else {
    find_by_gaps(job, sets, options, found);
  }
  find_short_ranks(job, found);
  return found;
}

}  // namespace assay
