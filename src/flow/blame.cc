// Problem: knowing that a rank is late does not show which of its work takes long.
//
// Method: the cost of a set of ranks is the makespan saved when each of their work items takes the
// median of their peers, replayed in one graph of all ranks. The same for one name of work alone
// shows what takes long.
//
// Effect: the cost of injected delays is reproduced exactly (docs/measured/blame.md).

#include "flow/blame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/numbers.h"
#include "flow/causes.h"

namespace assay {
namespace {

// Two ranks do the same work if they share this fraction of the smaller one's device work items.
constexpr double kSameWork = 0.6;

using RankSet = std::vector<uint32_t>;
using OnlyWork = std::function<bool(const RankGraph&, const OwnWork&)>;

// The median of sorted values without the one at `skip`; SIZE_MAX skips none.
int64_t middle_without(const std::vector<int64_t>& sorted, size_t skip) {
  const size_t n = sorted.size() - (skip < sorted.size() ? 1 : 0);
  const auto at = [&](size_t k) { return sorted[k < skip ? k : k + 1]; };
  const int64_t upper = at(n / 2);
  if (n % 2 == 1) return upper;
  const int64_t lower = at(n / 2 - 1);
  return lower + (upper - lower) / 2;
}

// Per rank the number of its class. Ranks of one class do the same work.
std::vector<uint32_t> classes_of(const Job& job) {
  const std::vector<RankGraph>& ranks = job.ranks();
  std::vector<std::unordered_set<uint64_t>> first_of_class;
  std::vector<uint32_t> classes;
  for (const RankGraph& rank : ranks) {
    std::unordered_set<uint64_t> own;
    for (const OwnWork& work : rank.works) {
      if (!rank.names[work.name].host) own.insert(work.match);
    }
    uint32_t found = 0;
    for (; found < first_of_class.size(); ++found) {
      const auto& other = first_of_class[found];
      size_t common = 0;
      for (const uint64_t match : own) common += other.count(match);
      const auto smaller = static_cast<double>(std::min(own.size(), other.size()));
      if (smaller > 0 && static_cast<double>(common) >= kSameWork * smaller) break;
    }
    classes.push_back(found);
    if (found == first_of_class.size()) first_of_class.push_back(std::move(own));
  }
  return classes;
}

// Per class of ranks and name of work: the number of work items on each rank.
using NameCounts = std::map<std::pair<uint32_t, WorkName>, std::vector<int64_t>>;

NameCounts count_names(const Job& job, const std::vector<uint32_t>& classes) {
  const std::vector<RankGraph>& ranks = job.ranks();
  NameCounts counts;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    std::vector<int64_t> own(ranks[r].names.size());
    for (const OwnWork& work : ranks[r].works) ++own[work.name];
    for (uint32_t name = 0; name < own.size(); ++name) {
      auto& found = counts[{classes[r], ranks[r].names[name]}];
      found.resize(ranks.size());
      found[r] += own[name];
    }
  }
  return counts;
}

// Flags by rank and by the rank's own index of names: the rank has more work items of that name
// than the median rank of its class.
std::vector<std::vector<bool>> names_in_excess(const Job& job, const std::vector<uint32_t>& classes,
                                               const NameCounts& counts) {
  const std::vector<RankGraph>& ranks = job.ranks();
  std::vector<std::vector<bool>> more(ranks.size());
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    for (uint32_t name = 0; name < ranks[r].names.size(); ++name) {
      const std::vector<int64_t>& all = counts.at({classes[r], ranks[r].names[name]});
      std::vector<int64_t> peers;
      for (uint32_t p = 0; p < ranks.size(); ++p) {
        if (classes[p] == classes[r]) peers.push_back(all[p]);
      }
      more[r].push_back(all[r] > middle_of(std::move(peers)));
    }
  }
  return more;
}

// The own work of all ranks grouped by what it is, so that a median over ranks is one lookup. Work
// that most ranks of a class of three or more lack counts as 0 ns on those ranks. If they have
// other work instead, that work's time counts in its place.
class Peers {
 public:
  explicit Peers(const Job& job)
      : job_(job), classes_(classes_of(job)), name_counts_(count_names(job, classes_)) {
    class_size_.assign(
        classes_.empty() ? 0 : *std::max_element(classes_.begin(), classes_.end()) + 1, 0);
    for (const uint32_t c : classes_) ++class_size_[c];
    std::vector<size_t> all(job.works());
    std::iota(all.begin(), all.end(), size_t{0});
    const auto key = [&](size_t w) {
      return std::tuple(classes_[job.rank_of_work(w)], job.work(w).match, job.rank_of_work(w));
    };
    std::sort(all.begin(), all.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    const std::vector<std::vector<bool>> more = names_in_excess(job, classes_, name_counts_);
    for (size_t i = 0; i < all.size();) {
      size_t end = i + 1;
      while (end < all.size() && std::get<0>(key(all[end])) == std::get<0>(key(all[i])) &&
             std::get<1>(key(all[end])) == std::get<1>(key(all[i]))) {
        ++end;
      }
      const bool rare = is_rare(all, i, end, more);
      if (end - i > 1 || rare) {
        works_.insert(works_.end(), all.begin() + static_cast<std::ptrdiff_t>(i),
                      all.begin() + static_cast<std::ptrdiff_t>(end));
        groups_.push_back({works_.size(), std::get<0>(key(all[i])), rare});
      }
      i = end;
    }
    find_replaced();
  }

  bool same_work(uint32_t a, uint32_t b) const { return classes_[a] == classes_[b]; }

  // True if a rank of the set has over 10 % more work items of that name than the median of the
  // ranks outside the set that do the same work.
  bool has_far_more(const RankSet& set, const WorkName& what) const {
    for (const uint32_t r : set) {
      const auto counts = name_counts_.find({classes_[r], what});
      if (counts == name_counts_.end()) continue;
      std::vector<int64_t> others;
      for (uint32_t p = 0; p < classes_.size(); ++p) {
        const bool in_set = std::binary_search(set.begin(), set.end(), p);
        if (!in_set && same_work(p, r)) others.push_back(counts->second[p]);
      }
      if (others.empty()) continue;
      if (counts->second[r] * 10 > middle_of(std::move(others)) * 11) return true;
    }
    return false;
  }

  // visit(work, median over its class) for all own work.
  template <typename Visit>
  void for_each_median(Visit&& visit) const {
    std::vector<int64_t> values;
    size_t first = 0;
    for (const Group& group : groups_) {
      values.clear();
      for (size_t i = first; i < group.end; ++i) values.push_back(job_.work(works_[i]).ns);
      pad(group, class_size_[group.of_class], values);
      std::sort(values.begin(), values.end());
      const int64_t median = middle_without(values, SIZE_MAX);
      for (size_t i = first; i < group.end; ++i) visit(works_[i], usual(group, works_[i], median));
      first = group.end;
    }
  }

  // visit(work, median over the ranks outside the set) for the own work of a set.
  template <typename Visit>
  void for_set(const std::vector<bool>& in_set, Visit&& visit) const {
    std::vector<size_t> outside_of_class(class_size_.size());
    for (size_t r = 0; r < classes_.size(); ++r) outside_of_class[classes_[r]] += !in_set[r];
    std::vector<int64_t> outside;
    size_t first = 0;
    for (const Group& group : groups_) {
      outside.clear();
      bool inside = false;
      for (size_t i = first; i < group.end; ++i) {
        if (in_set[job_.rank_of_work(works_[i])]) {
          inside = true;
        } else {
          outside.push_back(job_.work(works_[i]).ns);
        }
      }
      pad(group, outside_of_class[group.of_class], outside);
      if (inside && !outside.empty()) {
        std::sort(outside.begin(), outside.end());
        const int64_t median = middle_without(outside, SIZE_MAX);
        for (size_t i = first; i < group.end; ++i) {
          if (in_set[job_.rank_of_work(works_[i])]) {
            visit(works_[i], usual(group, works_[i], median));
          }
        }
      }
      first = group.end;
    }
  }

  // visit(work, median over the other ranks of its class) for all own work.
  template <typename Visit>
  void for_each_alone(Visit&& visit) const {
    std::vector<int64_t> values;
    size_t first = 0;
    for (const Group& group : groups_) {
      values.clear();
      for (size_t i = first; i < group.end; ++i) values.push_back(job_.work(works_[i]).ns);
      pad(group, class_size_[group.of_class], values);
      std::sort(values.begin(), values.end());
      for (size_t i = first; i < group.end; ++i) {
        const auto own = std::lower_bound(values.begin(), values.end(), job_.work(works_[i]).ns);
        visit(works_[i], usual(group, works_[i],
                               middle_without(values, static_cast<size_t>(own - values.begin()))));
      }
      first = group.end;
    }
  }

  std::vector<bool> flags(const RankSet& ranks) const {
    std::vector<bool> in_set(job_.ranks().size(), false);
    for (const uint32_t r : ranks) in_set[r] = true;
    return in_set;
  }

  JobEdit edit_of(const RankSet& ranks, const OnlyWork& only) const {
    JobEdit edit;
    edit.work_ns.assign(job_.works(), -1);
    for_set(flags(ranks), [&](size_t w, int64_t median) {
      if (!only || only(job_.ranks()[job_.rank_of_work(w)], job_.work(w))) edit.work_ns[w] = median;
    });
    return edit;
  }

 private:
  // Matching work items of one class; the group ends before works_[end].
  struct Group {
    size_t end = 0;
    uint32_t of_class = 0;
    bool rare = false;  // most ranks of the class lack it
  };

  bool is_rare(const std::vector<size_t>& all, size_t first, size_t end,
               const std::vector<std::vector<bool>>& more) const {
    constexpr size_t kLeastRanks = 3;
    const size_t ranks = class_size_[classes_[job_.rank_of_work(all[first])]];
    if (ranks < kLeastRanks || (end - first) * 2 >= ranks) return false;
    return std::all_of(all.begin() + static_cast<std::ptrdiff_t>(first),
                       all.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](size_t w) { return more[job_.rank_of_work(w)][job_.work(w).name]; });
  }

  // Per side and rank: the fraction of its rare work that replaces work which most other ranks
  // have.
  void find_replaced() {
    const size_t ranks = classes_.size();
    std::array<std::vector<int64_t>, 2> rare_ns;
    std::array<std::vector<int64_t>, 2> missing_ns;
    for (size_t side = 0; side < 2; ++side) {
      rare_ns[side].resize(ranks);
      missing_ns[side].resize(ranks);
      replaced_[side].assign(ranks, 0);
    }
    std::vector<int64_t> values;
    std::vector<bool> here(ranks);
    size_t first = 0;
    for (const Group& group : groups_) {
      const size_t side = is_host(works_[first]) ? 1 : 0;
      values.clear();
      std::fill(here.begin(), here.end(), false);
      for (size_t i = first; i < group.end; ++i) {
        const uint32_t rank = job_.rank_of_work(works_[i]);
        values.push_back(job_.work(works_[i]).ns);
        here[rank] = true;
        if (group.rare) rare_ns[side][rank] += values.back();
      }
      first = group.end;
      if (group.rare || values.size() * 2 <= class_size_[group.of_class]) continue;
      if (values.size() == class_size_[group.of_class]) continue;
      std::sort(values.begin(), values.end());
      for (size_t r = 0; r < ranks; ++r) {
        if (here[r] || classes_[r] != group.of_class) continue;
        missing_ns[side][r] += middle_without(values, SIZE_MAX);
      }
    }
    for (size_t side = 0; side < 2; ++side) {
      for (size_t r = 0; r < ranks; ++r) {
        if (rare_ns[side][r] == 0) continue;
        replaced_[side][r] = std::min(1.0, share(missing_ns[side][r], rare_ns[side][r]));
      }
    }
  }

  bool is_host(size_t w) const {
    return job_.ranks()[job_.rank_of_work(w)].names[job_.work(w).name].host;
  }

  // What a work item would take on the rank's peers. median_ns: their median.
  int64_t usual(const Group& group, size_t w, int64_t median_ns) const {
    if (!group.rare || median_ns > 0) return median_ns;
    const double part = replaced_[is_host(w) ? 1 : 0][job_.rank_of_work(w)];
    return static_cast<int64_t>(std::llround(part * static_cast<double>(job_.work(w).ns)));
  }

  // Adds 0 ns for each of the `ranks` ranks without such work.
  static void pad(const Group& group, size_t ranks, std::vector<int64_t>& values) {
    if (group.rare && values.size() < ranks) values.resize(ranks, 0);
  }

  const Job& job_;
  std::vector<uint32_t> classes_;  // per rank; equal for ranks that do the same work
  NameCounts name_counts_;
  std::vector<size_t> class_size_;
  std::vector<size_t> works_;  // found on several ranks, or rare; by group
  std::vector<Group> groups_;
  std::array<std::vector<double>, 2> replaced_;  // [0]: device, [1]: host
};

// "[0, 1, 2]" -> ascending indices of these ranks; empty if one is not in the job.
RankSet ranks_told(const std::string& text, const std::map<int64_t, uint32_t>& place_of) {
  RankSet ranks;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    int64_t rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc()) {
      ++at;
      continue;
    }
    at = next;
    const auto found = place_of.find(rank);
    if (found == place_of.end()) return {};
    ranks.push_back(found->second);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Named sets of ranks: nodes, inferred from device numbers, and process groups. Empty if a rank's
// number is unknown or not unique.
class NamedSets {
 public:
  explicit NamedSets(const Job& job) : ranks_(job.ranks().size()) {
    std::map<int64_t, uint32_t> place_of;
    int64_t devices = 0;
    for (uint32_t r = 0; r < job.ranks().size(); ++r) {
      const RankGraph& rank = job.ranks()[r];
      if (!rank.rank || !place_of.try_emplace(*rank.rank, r).second) return;
      devices = std::max(devices, rank.device + 1);
    }
    add_nodes(job, devices);
    for (const CollectiveGroup& group : job.groups()) {
      add(ranks_told(group.ranks, place_of), "process group " + group.name);
    }
  }

  const std::map<RankSet, std::string>& all() const { return sets_; }
  std::string name_of(const RankSet& ranks) const {
    const auto found = sets_.find(ranks);
    return found == sets_.end() ? "" : found->second;
  }

 private:
  // Nodes, if every rank's device is its rank modulo the devices per node.
  void add_nodes(const Job& job, int64_t devices) {
    std::map<int64_t, RankSet> nodes;
    for (uint32_t r = 0; r < job.ranks().size(); ++r) {
      const RankGraph& rank = job.ranks()[r];
      if (devices < 2 || *rank.rank % devices != rank.device) return;
      nodes[*rank.rank / devices].push_back(r);
    }
    for (auto& [node, ranks] : nodes) add(std::move(ranks), "node " + std::to_string(node));
  }

  // Skips the set of all ranks, which has no peers, and single ranks, which need no name.
  void add(RankSet ranks, std::string name) {
    if (ranks.size() < 2 || ranks.size() == ranks_) return;
    sets_.try_emplace(std::move(ranks), std::move(name));
  }

  size_t ranks_ = 0;
  std::map<RankSet, std::string> sets_;
};

class Explainer {
 public:
  Explainer(const Job& job, const BlameVerdict& told, const BlameOptions& options)
      : job_(job), told_(told), options_(options), peers_(job), named_(job) {}

  JobBlame find() {
    found_.makespan_ns = job_.makespan_ns({});
    found_.identity_errors = job_.identity_errors();
    find_excess();
    try_named_sets();
    found_.common_gain_ns = told_.common_gain_ns;
    if (!told_.late.empty()) {
      found_.late = BlameSet{told_.late, named_.name_of(told_.late), told_.gain_ns};
      for (const uint32_t r : told_.late) gain_of({r});
    }
    if (found_.late) {
      explain(*found_.late);
    } else {
      explain_nobody();
    }
    find_transfer_gain();
    found_.links = compare_links(job_, found_.makespan_ns, {.slow_link = slow_link()});
    found_.network = told_.slow_link > 0;
    for (const auto& [ranks, gain_ns] : tried_) {
      found_.sets.push_back({ranks, named_.name_of(ranks), gain_ns});
    }
    std::stable_sort(found_.sets.begin(), found_.sets.end(),
                     [](const BlameSet& a, const BlameSet& b) {
                       if (a.gain_ns != b.gain_ns) return a.gain_ns > b.gain_ns;
                       return a.ranks.size() < b.ranks.size();
                     });
    return std::move(found_);
  }

 private:
  double slow_link() const {
    constexpr double kNearlyThat = 0.6;
    return told_.slow_link > 0 ? 1 + kNearlyThat * (told_.slow_link - 1) : options_.slow_link;
  }

  int64_t gain_of(const RankSet& ranks) {
    const auto [at, is_new] = tried_.try_emplace(ranks, 0);
    if (is_new) at->second = gain_of(ranks, {});
    return at->second;
  }
  int64_t gain_of(const RankSet& ranks, const OnlyWork& only) const {
    return found_.makespan_ns - job_.makespan_ns(peers_.edit_of(ranks, only));
  }
  void find_excess() {
    JobEdit edit;
    edit.apart = true;
    const std::vector<int64_t> own = job_.ends_ns(edit);
    edit.work_ns.assign(job_.works(), -1);
    peers_.for_each_alone([&](size_t w, int64_t median) { edit.work_ns[w] = median; });
    const std::vector<int64_t> paced = job_.ends_ns(edit);
    std::vector<int64_t> saved_ns;
    for (uint32_t r = 0; r < own.size(); ++r) {
      saved_ns.push_back(own[r] - paced[r]);
    }
    found_.excess_ns = beyond_peers(saved_ns);
    for (uint32_t r = 0; r < own.size(); ++r) {
      found_.peers.push_back(static_cast<uint32_t>(values_of_peers(saved_ns, r).size()));
    }
  }

  std::vector<int64_t> values_of_peers(const std::vector<int64_t>& values, uint32_t rank) const {
    std::vector<int64_t> peers;
    for (uint32_t p = 0; p < values.size(); ++p) {
      if (p != rank && peers_.same_work(p, rank)) peers.push_back(values[p]);
    }
    return peers;
  }

  // Each rank's value minus the median of its peers, if that is positive.
  std::vector<int64_t> beyond_peers(const std::vector<int64_t>& values) const {
    std::vector<int64_t> beyond;
    for (uint32_t r = 0; r < values.size(); ++r) {
      std::vector<int64_t> peers = values_of_peers(values, r);
      const int64_t usual_ns = peers.empty() ? 0 : middle_of(std::move(peers));
      beyond.push_back(values[r] - std::max<int64_t>(usual_ns, 0));
    }
    return beyond;
  }

  // Transfers with ranks outside the job keep their time: those ranks may delay them.
  void find_transfer_gain() {
    JobEdit edit;
    for (const JobMeeting& meeting : job_.meetings()) {
      edit.transfer_ns.push_back(meeting.complete ? 0 : -1);
    }
    found_.transfer_gain_ns = found_.makespan_ns - job_.makespan_ns(edit);
  }

  // No rank is late: counts the hosts' stalls and finds the name that holds most of the time beyond
  // the medians.
  void explain_nobody() {
    constexpr int64_t kLeastPart = 3;  // 1/3 of all excess
    std::map<WorkName, BlamePart> parts;
    int64_t all_ns = 0;
    peers_.for_each_median([&](size_t w, int64_t median) {
      const int64_t excess_ns = job_.work(w).ns - median;
      if (name_of(w).host) note_pause(job_.work(w).ns, median, found_.other_pauses);
      if (excess_ns <= 0) return;
      BlamePart& part = parts[name_of(w)];
      part.excess_ns += excess_ns;
      ++part.works;
      all_ns += excess_ns;
    });
    for (auto& [what, part] : parts) {
      if (part.excess_ns * kLeastPart < all_ns) continue;
      if (found_.uneven && part.excess_ns <= found_.uneven->excess_ns) continue;
      part.what = what;
      found_.uneven = part;
    }
  }

  static RankSet largest_first(const std::vector<int64_t>& values) {
    RankSet ranks(values.size());
    std::iota(ranks.begin(), ranks.end(), 0u);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&values](uint32_t a, uint32_t b) { return values[a] > values[b]; });
    return ranks;
  }

  void try_named_sets() {
    const RankSet ranks = largest_first(found_.excess_ns);
    for (size_t i = 0; i < ranks.size() && i < options_.alone; ++i) gain_of({ranks[i]});
    for (const auto& [set, name] : named_.all()) gain_of(set);
  }

  // ---- why a set is late ------------------------------------------------------------------------

  void explain(const BlameSet& set) {
    std::map<WorkName, BlamePart> parts;
    std::map<uint32_t, ExcessByName> by_rank;
    std::map<int32_t, int64_t> by_iteration;
    peers_.for_set(peers_.flags(set.ranks), [&](size_t w, int64_t median) {
      const WorkName& what = name_of(w);
      Excess& excess = by_rank[job_.rank_of_work(w)][what];
      excess.ns += job_.work(w).ns - median;
      excess.usual_ns += median;
      by_iteration[job_.work(w).iteration] += job_.work(w).ns - median;
      BlamePart& part = parts[what];
      part.what = what;
      part.excess_ns += job_.work(w).ns - median;
      ++part.works;
      if (what.host) note_pause(job_.work(w).ns, median, found_.pauses);
    });
    for (const auto& [rank, excess] : by_rank) found_.reasons.push_back(reason_of(rank, excess));
    found_.when = when_of(by_iteration);
    RankSet others;
    for (uint32_t r = 0; r < job_.ranks().size(); ++r) {
      if (!std::binary_search(set.ranks.begin(), set.ranks.end(), r)) others.push_back(r);
    }
    const std::vector<bool> in_others = peers_.flags(others);
    peers_.for_each_alone([&](size_t w, int64_t median) {
      if (!in_others[job_.rank_of_work(w)] || !name_of(w).host) return;
      note_pause(job_.work(w).ns, median, found_.other_pauses);
    });
    for (const bool host : {true, false}) {
      (host ? found_.host_gain_ns : found_.device_gain_ns) =
          gain_of(set.ranks, [host](const RankGraph& rank, const OwnWork& work) {
            return rank.names[work.name].host == host;
          });
    }
    for (auto& [what, part] : parts) found_.parts.push_back(std::move(part));
    std::stable_sort(
        found_.parts.begin(), found_.parts.end(),
        [](const BlamePart& a, const BlamePart& b) { return a.excess_ns > b.excess_ns; });
    if (found_.parts.size() > options_.parts) found_.parts.resize(options_.parts);
    for (BlamePart& part : found_.parts) part.more = peers_.has_far_more(set.ranks, part.what);
    for (BlamePart& part : found_.parts) {
      part.gain_ns = gain_of(set.ranks, [&part](const RankGraph& rank, const OwnWork& work) {
        return rank.names[work.name] == part.what;
      });
    }
    std::stable_sort(found_.parts.begin(), found_.parts.end(),
                     [](const BlamePart& a, const BlamePart& b) { return a.gain_ns > b.gain_ns; });
  }

  struct Excess {
    int64_t ns = 0;
    int64_t usual_ns = 0;
  };
  using ExcessByName = std::map<WorkName, Excess>;
  static BlameReason reason_of(uint32_t rank, const ExcessByName& excess) {
    BlameReason reason;
    reason.rank = rank;
    for (const auto& [what, of] : excess) (what.host ? reason.host_ns : reason.device_ns) += of.ns;
    for (const auto& [what, of] : excess) {
      if (what.host != reason.on_host()) continue;
      reason.side_usual_ns += of.usual_ns;
      if (of.ns <= reason.excess_ns) continue;
      reason.what = what;
      reason.excess_ns = of.ns;
      reason.usual_ns = of.usual_ns;
    }
    return reason;
  }

  // None if less than half of the excess is in numbered iterations, or if it is spread over them.
  static std::optional<BlameSpan> when_of(std::map<int32_t, int64_t> by_iteration) {
    constexpr size_t kLeastIterations = 5;
    constexpr size_t kFewOf = 5;  // at most 1/5 of the iterations
    const int64_t outside_ns = by_iteration[-1];
    by_iteration.erase(-1);
    std::vector<std::pair<int32_t, int64_t>> steps;
    int64_t all_ns = 0;
    for (const auto& [iteration, ns] : by_iteration) {
      steps.emplace_back(iteration, std::max<int64_t>(ns, 0));
      all_ns += steps.back().second;
    }
    if (steps.size() < kLeastIterations || all_ns <= 0 || outside_ns > all_ns) return std::nullopt;
    const auto most = [all_ns](int64_t ns) { return ns * 10 >= all_ns * 9; };
    std::vector<std::pair<int64_t, int32_t>> longest;
    for (const auto& [iteration, ns] : steps) longest.emplace_back(ns, iteration);
    std::sort(longest.rbegin(), longest.rend());
    BlameSpan few{.iteration = longest.front().second, .of = steps.size()};
    for (int64_t sum_ns = 0; (few.count + 1) * kFewOf <= steps.size();) {
      few.iteration = std::min(few.iteration, longest[few.count].second);
      sum_ns += longest[few.count++].first;
      if (most(sum_ns)) return few;
    }
    return from_or_until(steps, all_ns);
  }

  // The iteration that has all excess on one side, with at least a quarter of the iterations on
  // each.
  static std::optional<BlameSpan> from_or_until(
      const std::vector<std::pair<int32_t, int64_t>>& steps, int64_t all_ns) {
    const size_t n = steps.size();
    int64_t before_ns = 0;
    std::optional<BlameSpan> from;
    std::optional<BlameSpan> until;
    for (size_t k = 0; k < n; ++k) {
      const bool sides = k * 4 >= n && (n - k) * 4 >= n;
      if (sides && before_ns * 50 <= all_ns) {
        from = {
            .kind = BlameSpan::Kind::kFrom, .iteration = steps[k].first, .count = n - k, .of = n};
      }
      if (sides && !until && before_ns * 50 >= all_ns * 49) {
        until = {
            .kind = BlameSpan::Kind::kUntil, .iteration = steps[k - 1].first, .count = k, .of = n};
      }
      before_ns += steps[k].second;
    }
    return from ? from : until;
  }

  const WorkName& name_of(size_t w) const {
    return job_.ranks()[job_.rank_of_work(w)].names[job_.work(w).name];
  }

  static void note_pause(int64_t ns, int64_t median, HostPauses& pauses) {
    if (ns - median < kPauseNs) return;
    ++pauses.count;
    pauses.sum_ns += ns - median;
    pauses.longest_ns = std::max(pauses.longest_ns, ns);
  }

  const Job& job_;
  const BlameVerdict& told_;
  const BlameOptions options_;
  const Peers peers_;
  const NamedSets named_;
  std::map<RankSet, int64_t> tried_;
  JobBlame found_;
};

}  // namespace

int64_t blame_ns(const Job& job, const std::vector<uint32_t>& ranks, const OnlyWork& only) {
  return job.makespan_ns({}) - job.makespan_ns(Peers(job).edit_of(ranks, only));
}

JobBlame find_blame(const Job& job, const BlameVerdict& told, const BlameOptions& options) {
  return Explainer(job, told, options).find();
}

}  // namespace assay
