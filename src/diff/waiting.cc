#include "diff/waiting.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace assay {
namespace {

// The entry of an item among those of a sample, which are by item.
DiffCost& cost_of(std::vector<DiffEntry>& entries, uint32_t item) {
  const auto at =
      std::lower_bound(entries.begin(), entries.end(), item,
                       [](const DiffEntry& entry, uint32_t wanted) { return entry.item < wanted; });
  if (at != entries.end() && at->item == item) return at->cost;
  return entries.insert(at, {item, {}})->cost;
}

int64_t own_ns(const DiffRun& run) {
  int64_t sum_ns = 0;
  for (const DiffSample& sample : run.samples) sum_ns += sample.time_ns;
  for (const DiffCollective& part : run.collectives) sum_ns -= part.busy_ns;
  return sum_ns / static_cast<int64_t>(run.samples.size());
}

const DiffRun* find_rank(const std::vector<DiffRun>& runs, int64_t rank) {
  for (const DiffRun& run : runs) {
    if (run.rank == rank) return &run;
  }
  return nullptr;
}

// Mean wait per sample.
struct MeanWaiting {
  int64_t sum_ns = 0;
  size_t samples = 0;
  void add(const DiffRun& run) {
    sum_ns += run.waiting_ns;
    samples += run.samples.size();
  }
  double mean_ns() const { return static_cast<double>(sum_ns) / static_cast<double>(samples); }
};

// Fills `apart` with the ranks that exceed the median change by at least half as much as the
// largest change does.
void find_apart(DiffRanks& found, int64_t change_ns) {
  constexpr double kLeastShare = 0.25;  // of the change, for the waiting and for a rank's own time
  const int64_t sign = change_ns > 0 ? 1 : -1;
  const double least_ns = kLeastShare * static_cast<double>(std::abs(change_ns));
  if (static_cast<double>(sign * found.waiting_change_ns) < least_ns) return;
  std::vector<int64_t> moves;
  for (const DiffRankTime& rank : found.ranks) moves.push_back(sign * rank.change_ns());
  std::sort(moves.begin(), moves.end());
  const int64_t middle_ns = moves[(moves.size() - 1) / 2];
  const int64_t reach_ns = moves.back() - middle_ns;
  if (static_cast<double>(reach_ns) < least_ns) return;
  for (const DiffRankTime& rank : found.ranks) {
    const int64_t move_ns = sign * rank.change_ns();
    if (2 * (move_ns - middle_ns) < reach_ns) continue;
    found.apart.push_back(rank.rank);
    if (move_ns == moves.back()) found.apart_ns = rank.change_ns();
  }
  if (2 * found.apart.size() > found.ranks.size()) found.apart.clear();
}

}  // namespace

void take_waiting_apart(DiffRun& run, const std::map<int64_t, std::vector<Interval>>& waiting) {
  run.waiting_ns = 0;
  std::array<uint32_t, kDiffLevels> rest{};
  for (size_t l = 0; l < kDiffLevels; ++l) {
    rest[l] = static_cast<uint32_t>(run.levels[l].items.size());
    const std::string name(kWaitingForRanks);
    run.levels[l].items.push_back({.name = name, .shown = name, .rest = true});
  }
  for (const DiffCollective& part : run.collectives) {
    const auto spans = waiting.find(part.gpu);
    if (spans == waiting.end()) continue;
    const int64_t inside_ns = length_in(spans->second, {part.start_ns, part.end_ns});
    const int64_t ns = std::min(inside_ns, part.busy_ns);
    if (ns == 0) continue;
    run.waiting_ns += ns;
    for (size_t l = 0; l < kDiffLevels; ++l) {
      auto& entries = run.levels[l].samples[part.sample];
      cost_of(entries, part.item[l]).busy_ns -= ns;
      cost_of(entries, rest[l]).add({.calls = 1, .busy_ns = ns});
    }
  }
}

DiffRanks compare_ranks(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b,
                        int64_t change_ns) {
  DiffRanks found;
  MeanWaiting of_a;
  MeanWaiting of_b;
  for (const DiffRun& run : a) {
    if (!run.rank || run.waiting_ns < 0 || run.samples.empty()) continue;
    const DiffRun* other = find_rank(b, *run.rank);
    if (other == nullptr || other->waiting_ns < 0 || other->samples.empty()) continue;
    found.ranks.push_back({*run.rank, own_ns(run), own_ns(*other)});
    of_a.add(run);
    of_b.add(*other);
  }
  if (found.ranks.size() < 2) return {};
  std::sort(found.ranks.begin(), found.ranks.end(),
            [](const DiffRankTime& x, const DiffRankTime& y) { return x.rank < y.rank; });
  found.waiting_change_ns = std::llround(of_b.mean_ns() - of_a.mean_ns());
  if (change_ns != 0) find_apart(found, change_ns);
  return found;
}

}  // namespace assay
