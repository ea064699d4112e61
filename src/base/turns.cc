#include "base/turns.h"

#include <algorithm>
#include <cmath>

#include "base/stats.h"

namespace assay {
namespace {

constexpr size_t kLeastTurns = 20;
constexpr size_t kTurnsPerPiece = 100;
constexpr double kLeastShare = 0.3;
constexpr double kTellsMore = 1.08;  // ratio of shares by which the larger number of positions must
                                     // be better
constexpr double kMostMedians = 2;   // limit of a deviation, in medians of the absolute deviations

// Subtracts from each value the mean of the `count` around it, to remove changes common to all
// sources.
std::vector<double> apart_from_turn(const std::vector<double>& values, size_t count) {
  const size_t before = count / 2;
  std::vector<double> sums{0};
  for (const double value : values) sums.push_back(sums.back() + value);
  std::vector<double> apart;
  for (size_t i = before; i + count <= values.size() + before; ++i) {
    const double mean = (sums[i - before + count] - sums[i - before]) / static_cast<double>(count);
    apart.push_back(values[i] - mean);
  }
  return apart;
}

// Clips deviations to twice their median: a step common to all sources spreads over one turn and
// would mask the persistent differences.
void bound(std::vector<double>& apart) {
  if (apart.empty()) return;
  std::vector<double> sizes;
  for (const double one : apart) sizes.push_back(std::fabs(one));
  const double most = kMostMedians * median(std::move(sizes));
  if (most <= 0) return;
  for (double& one : apart) one = std::clamp(one, -most, most);
}

// Sums of squares around the mean: total, and between positions.
struct Squares {
  double all = 0;
  double between = 0;
  double share() const { return all > 0 ? between / all : 0; }
};

Squares squares_of(const double* begin, size_t count, size_t turns) {
  const size_t size = count * turns;
  double mean = 0;
  for (size_t i = 0; i < size; ++i) mean += begin[i] / static_cast<double>(size);
  Squares squares;
  for (size_t i = 0; i < size; ++i) squares.all += (begin[i] - mean) * (begin[i] - mean);
  for (size_t place = 0; place < count; ++place) {
    double sum = 0;
    for (size_t turn = 0; turn < turns; ++turn) sum += begin[place + turn * count] - mean;
    squares.between += sum * sum / static_cast<double>(turns);
  }
  return squares;
}

// Share of the variance between the `places` positions (`count` is a multiple of them): the minimum
// of the overall share and the share of the chunk at the lowest quartile.
double share_between(const std::vector<double>& values, size_t count, size_t places) {
  std::vector<double> apart = apart_from_turn(values, count);
  bound(apart);
  const size_t turns = std::min(kTurnsPerPiece, apart.size() / count);
  const size_t piece = turns * count;
  Squares all;
  std::vector<double> shares;
  for (size_t at = 0; piece > 0 && at + piece <= apart.size(); at += piece) {
    const Squares one = squares_of(apart.data() + at, places, piece / places);
    all.all += one.all;
    all.between += one.between;
    shares.push_back(one.share());
  }
  if (shares.empty()) return 0;
  std::sort(shares.begin(), shares.end());
  return std::min(all.share(), shares[shares.size() / 4]);
}

bool enough(const std::vector<double>& values, size_t count) {
  return values.size() >= kLeastTurns * count;
}

// The smallest divisor of `count` that explains the variance as well.
size_t fewest(const std::vector<double>& values, size_t count) {
  const double share = share_between(values, count, count);
  for (size_t fewer = 2; fewer < count; ++fewer) {
    const bool divides = count % fewer == 0;
    if (divides && share <= kTellsMore * share_between(values, count, fewer)) return fewer;
  }
  return count;
}

// The multiple of `count`, up to `most`, with positions that explain clearly more; else `count`.
size_t told_by_more(const std::vector<double>& values, size_t count, size_t most) {
  for (size_t more = 2 * count; more <= most && enough(values, more); more += count) {
    const double share = share_between(values, more, more);
    if (share >= kLeastShare && share > kTellsMore * share_between(values, more, count)) {
      return told_by_more(values, more, most);
    }
  }
  return count;
}

}  // namespace

double share_in_turn(const std::vector<double>& values, size_t count) {
  return enough(values, count) ? share_between(values, count, count) : 0;
}

size_t written_in_turn(const std::vector<double>& values, size_t most) {
  double best = 0;
  size_t found = 1;
  for (size_t count = 2; count <= most && enough(values, count); ++count) {
    const double share = share_between(values, count, count);
    if (share < kLeastShare || share <= best) continue;
    best = share;
    found = count;
  }
  return found == 1 ? 1 : told_by_more(values, fewest(values, found), most);
}

}  // namespace assay
