#include "job/usual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/numbers.h"
#include "job/buckets.h"

namespace assay {
namespace {

static_assert(kNoColumn == Buckets::kNone);

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kUnknown = FleetExcess::kUnknown;
constexpr uint32_t kLeastIterations = 3;
constexpr uint32_t kLeastLinks = 4;

int64_t middle_ns(std::vector<int64_t>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  const int64_t below = *std::max_element(values.begin(), half);
  return below + (*half - below) / 2;
}

// The value at which half of the weight is reached; values: not empty.
double weighted_middle(std::vector<std::pair<double, double>>& values) {
  std::sort(values.begin(), values.end());
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double reached = 0;
  for (const auto& [value, weight] : values) {
    reached += weight;
    if (reached * 2 >= all) return value;
  }
  return values.back().first;
}

class Usual {
 public:
  Usual(const FleetJob& job, uint32_t least_peers)
      : job_(job), least_peers_(least_peers), columns_(job.columns.size()) {}

  FleetUsual make() {
    made_.excess.transfer_ns.assign(job_.meetings.size(), 0);
    made_.signed_ns.assign(job_.ranks.size() * columns_, 0);
    made_.above_ns.assign(job_.ranks.size() * columns_, -1);
    tell_usual_work();
    judge_ranks();
    judge_links();
    return std::move(made_);
  }

 private:
  // The slot of a visit; kNoColumn where nothing compares.
  uint32_t key_of(uint32_t v) const {
    const uint32_t slot = job_.visits.slot[v];
    const bool compares = job_.slots[slot].column != kNoColumn && job_.visits.prev[v] != kNoMeeting;
    return compares ? slot : kNoColumn;
  }

  uint32_t place_of_visit(uint32_t v) const { return job_.slots[job_.visits.slot[v]].place; }

  void tell_usual_work() {
    const size_t keys = job_.slots.size();
    std::vector<int64_t>& usual_ns = made_.excess.usual_ns;
    usual_ns.assign(keys, kUnknown);
    peers_.assign(keys, 0);
    const Buckets by_key(keys, job_.visits.size(), [this](uint32_t v) { return key_of(v); });
    std::vector<int64_t> values;
    for (size_t k = 0; k < keys; ++k) {
      peers_[k] = by_key.size(k);
      if (peers_[k] < least_peers_) continue;
      values.clear();
      for (uint32_t row = by_key.first[k]; row < by_key.first[k + 1]; ++row) {
        values.push_back(job_.visits.work_ns[by_key.rows[row]]);
      }
      usual_ns[k] = middle_ns(values);
    }
  }

  void judge_ranks() {
    const Buckets by_rank(job_.ranks.size(), job_.visits.size(),
                          [this](uint32_t v) { return job_.visits.rank[v]; });
    for (uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const auto begin = by_rank.rows.begin();
      judge_rank(r, {begin + by_rank.first[r], begin + by_rank.first[r + 1]});
    }
  }

  void judge_rank(uint32_t rank, const std::vector<uint32_t>& visits) {
    tell_own_usual(rank, visits);
    std::vector<std::pair<double, double>> ratios;
    std::vector<int64_t> peers;
    int64_t all_ns = 0;
    int64_t all_usual_ns = 0;
    for (const uint32_t v : visits) {
      const uint32_t column = job_.slots[job_.visits.slot[v]].column;
      if (column == kNoColumn) continue;
      int64_t& above_ns = made_.above_ns[rank * columns_ + column];
      above_ns = std::max<int64_t>(above_ns, 0);
      const uint32_t key = key_of(v);
      if (key == kNoColumn) continue;
      peers.push_back(peers_[key]);
      const int64_t work_ns = job_.visits.work_ns[v];
      if (const int64_t of_peers_ns = made_.excess.usual_ns[key]; of_peers_ns > 0) {
        const auto usual = static_cast<double>(of_peers_ns);
        ratios.emplace_back(static_cast<double>(work_ns) / usual - 1, usual);
        all_ns += work_ns;
        all_usual_ns += of_peers_ns;
      }
      const int64_t usual_ns = made_.excess.usual_of_visit(job_, v);
      if (usual_ns == kUnknown) continue;
      above_ns += std::max<int64_t>(work_ns - usual_ns, 0);
      made_.signed_ns[rank * columns_ + column] += work_ns - usual_ns;
    }
    made_.scores.push_back(ratios.empty() ? kNone : static_cast<float>(weighted_middle(ratios)));
    made_.totals.push_back(all_usual_ns == 0 ? kNone
                                             : static_cast<float>(share(all_ns, all_usual_ns) - 1));
    made_.peers.push_back(peers.empty() ? 0 : static_cast<uint32_t>(middle_ns(peers)));
    made_.few_peers += ratios.empty() ? 1 : 0;
  }

  // Of places that too few others have: the rank's own median over the iterations.
  void tell_own_usual(uint32_t rank, const std::vector<uint32_t>& visits) {
    std::map<uint32_t, std::vector<int64_t>> of_place;
    for (const uint32_t v : visits) {
      const uint32_t key = key_of(v);
      if (key == kNoColumn || made_.excess.usual_ns[key] != kUnknown) continue;
      of_place[place_of_visit(v)].push_back(job_.visits.work_ns[v]);
    }
    for (auto& [place, values] : of_place) {
      if (values.size() < kLeastIterations) continue;
      made_.excess.own_usual_ns[FleetExcess::own_key(rank, place)] = middle_ns(values);
    }
  }

  // ---- transfers ----

  // Of a meeting's visits in its column the slot with the least place: the same place for groups
  // that do the same.
  uint32_t slot_of(const FleetMeeting& meeting) const {
    uint32_t least = job_.visits.slot[meeting.first_visit];
    for (uint32_t v = meeting.first_visit; v < meeting.first_visit + meeting.visits; ++v) {
      const uint32_t slot = job_.visits.slot[v];
      if (job_.slots[slot].column != meeting.column) continue;
      if (job_.slots[slot].place < job_.slots[least].place) least = slot;
    }
    return least;
  }

  void judge_links() {
    const size_t keys = job_.slots.size();
    std::vector<uint32_t> key(job_.meetings.size(), kNoColumn);
    std::vector<uint32_t> group(job_.meetings.size(), kNoColumn);
    made_.link_class.assign(job_.groups.size(), kNoColumn);
    for (uint32_t m = 0; m < key.size(); ++m) {
      const FleetMeeting& meeting = job_.meetings[m];
      if (meeting.group == kAlone || meeting.column == kNoColumn) continue;
      key[m] = slot_of(meeting);
      uint32_t& link_class = made_.link_class[meeting.group];
      link_class = std::min(link_class, job_.slots[key[m]].place);
      if (meeting.complete) group[m] = meeting.group;
    }
    const Buckets by_key(keys, key);
    usual_transfer_ns_.assign(keys, kUnknown);
    std::vector<int64_t> values;
    for (size_t k = 0; k < keys; ++k) {
      values.clear();
      for (uint32_t row = by_key.first[k]; row < by_key.first[k + 1]; ++row) {
        const FleetMeeting& meeting = job_.meetings[by_key.rows[row]];
        if (meeting.complete) values.push_back(meeting.transfer_ns);
      }
      if (values.size() >= kLeastLinks) usual_transfer_ns_[k] = middle_ns(values);
    }
    tell_excess(key, least_transfers(key, by_key));
    score_links(key, Buckets(job_.groups.size(), group));
  }

  // Per slot the shortest transfer there, or where few meet there, at its place in any iteration:
  // what waiting for absent members is measured against where too few meetings are complete.
  std::vector<int64_t> least_transfers(const std::vector<uint32_t>& key,
                                       const Buckets& by_key) const {
    std::vector<int64_t> of_slot(job_.slots.size(), INT64_MAX);
    std::unordered_map<uint32_t, int64_t> of_place;
    for (uint32_t m = 0; m < key.size(); ++m) {
      if (key[m] == kNoColumn) continue;
      const int64_t ns = job_.meetings[m].transfer_ns;
      of_slot[key[m]] = std::min(of_slot[key[m]], ns);
      int64_t& least = of_place.try_emplace(job_.slots[key[m]].place, ns).first->second;
      least = std::min(least, ns);
    }
    for (size_t s = 0; s < of_slot.size(); ++s) {
      const auto place = of_place.find(job_.slots[s].place);
      if (by_key.size(s) < kLeastLinks && place != of_place.end()) of_slot[s] = place->second;
    }
    return of_slot;
  }

  void tell_excess(const std::vector<uint32_t>& key, const std::vector<int64_t>& least_ns) {
    for (uint32_t m = 0; m < key.size(); ++m) {
      if (key[m] == kNoColumn) continue;
      const FleetMeeting& meeting = job_.meetings[m];
      int64_t usual_ns = usual_transfer_ns_[key[m]];
      if (usual_ns == kUnknown && !meeting.complete) usual_ns = least_ns[key[m]];
      if (usual_ns == kUnknown) continue;
      made_.excess.transfer_ns[m] = std::max<int64_t>(meeting.transfer_ns - usual_ns, 0);
    }
  }

  void score_links(const std::vector<uint32_t>& key, const Buckets& by_group) {
    made_.link_scores.assign(job_.groups.size(), kNone);
    made_.short_link_scores.assign(job_.groups.size(), kNone);
    for (size_t g = 0; g < job_.groups.size(); ++g) {
      std::vector<std::pair<double, double>> ratios;
      for (uint32_t row = by_group.first[g]; row < by_group.first[g + 1]; ++row) {
        const uint32_t m = by_group.rows[row];
        const int64_t usual_ns = key[m] == kNoColumn ? kUnknown : usual_transfer_ns_[key[m]];
        if (usual_ns <= 0) continue;
        const auto usual = static_cast<double>(usual_ns);
        ratios.emplace_back(static_cast<double>(job_.meetings[m].transfer_ns) / usual - 1, usual);
      }
      if (ratios.empty()) continue;
      made_.link_scores[g] = static_cast<float>(weighted_middle(ratios));
      double longest = 0;
      for (const auto& [ratio, usual] : ratios) longest = std::max(longest, usual);
      std::erase_if(ratios, [longest](const auto& one) { return one.second * 2 >= longest; });
      if (ratios.size() < kLeastLinks) continue;
      made_.short_link_scores[g] = static_cast<float>(weighted_middle(ratios));
    }
  }

  const FleetJob& job_;
  uint32_t least_peers_;
  size_t columns_;
  FleetUsual made_;
  std::vector<int64_t> usual_transfer_ns_;  // per slot
  std::vector<uint32_t> peers_;
};

}  // namespace

int64_t rank_excess_ns(const std::vector<int64_t>& above_ns, size_t columns, uint32_t rank) {
  int64_t sum_ns = 0;
  for (size_t c = 0; c < columns; ++c) sum_ns += std::max<int64_t>(above_ns[rank * columns + c], 0);
  return sum_ns;
}

FleetUsual find_usual(const FleetJob& job, uint32_t least_peers) {
  return Usual(job, least_peers).make();
}

}  // namespace assay
