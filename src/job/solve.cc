#include "job/solve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/checksum.h"
#include "base/random.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr double kLeastShare = 0.005;    // smallest saving to report, as a share of the span
constexpr double kLeastDevice = 0.008;   // smallest excess, as a share of typical device work
constexpr double kLeastHost = 0.05;      // smallest excess, as a share of typical host work
constexpr double kLeastLink = 1.10;      // smallest slowdown of a link
constexpr double kSpreads = 4;           // smallest excess, in typical spreads
constexpr size_t kMostAligned = 10'000;  // pairs of points
constexpr size_t kMostCandidates = 24;
constexpr size_t kMostStories = 8;  // with a single candidate each
constexpr double kSpread = 1.4826;  // standard deviation / median absolute deviation, if normal
constexpr size_t kLeastSpread = 5;  // ranks needed to estimate a spread
constexpr double kWide = 2;         // work above this multiple of the steady spread weighs less
constexpr double kLeastSpreadOfPieces = 0.01;

struct Middle {
  double centre = 0;
  double spread = 0;
};

// Median and spread. Of two values, the smaller is typical and the spread is unknown (0).
Middle middle_of_values(const std::vector<double>& values) {
  if (values.empty()) return {};
  if (values.size() == 2) return {std::min(values[0], values[1]), 0};
  return {median(values), kSpread * median_abs_deviation(values)};
}

int64_t rounded(double ns) { return std::llround(ns); }

bool is_host(FoldKind kind) { return kind == FoldKind::kHost; }

// Typical times of each segment and each transfer.
class TypicalTimes {
 public:
  explicit TypicalTimes(const JobGraph& graph) : graph_(graph), ranks_(graph.folds().size()) {
    list_places();
    list_classes();
    for (const FoldKind kind : {FoldKind::kKernel, FoldKind::kHost}) {
      std::vector<bool>& bulk = is_host(kind) ? host_bulk : device_bulk;
      bulk.assign(ranks_, true);
      compare(kind, bulk);
      weigh(kind);
      if (std::vector<bool> fast = faster_half(kind); !fast.empty()) {
        bulk = fast;
        compare(kind, bulk);
        weigh(kind);
      }
    }
    find_common();
    compare_transfers();
  }

  GraphUsual values;
  std::vector<int64_t> mean_ns;   // per point: mean over its place
  std::vector<uint32_t> peers;    // per point; 0 = compared with nothing
  std::vector<double> weights;    // per point, at most 1: lower for work that varies by chance
  std::vector<double> spreads;    // per point: spread / typical time of its place, 0 = unknown
  std::vector<bool> device_bulk;  // ranks that define typical device work
  std::vector<bool> host_bulk;    // ranks that define typical host work
  std::map<int32_t, std::map<uint32_t, int64_t>> common;    // iteration -> point -> typical time
  using Class = std::map<uint32_t, std::vector<uint32_t>>;  // collectives by group
  std::vector<Class> classes;

  const FoldPoint& point(uint32_t p) const { return graph_.point(p); }
  // Hash of the names of a point's operations.
  uint64_t operations(uint32_t p) const {
    const uint32_t r = graph_.rank_of(p);
    return names_of(graph_.folds()[r], p - graph_.base(r));
  }
  double ratio(uint32_t p) const {
    return point(p).work_ns <= 0 || peers[p] == 0
               ? 1
               : static_cast<double>(values.work_ns[p]) / static_cast<double>(point(p).work_ns);
  }

 private:
  // Position of a point in the program; ranks are compared at equal places.
  struct Place {
    uint64_t role = 0;  // hash of the rank's collectives in the iteration
    int32_t iteration = 0;
    uint32_t part = 0;  // number of preceding collectives in the iteration
    FoldKind kind = FoldKind::kHost;
    uint32_t nth = 0;      // number among points of its kind since the last collective
    uint32_t kernels = 0;  // number of kernels; for host points, host points since the collective
    uint64_t names = 0;    // hash of the operation names
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // All points of one kind between two collectives on one rank.
  struct Stretch {
    std::vector<uint32_t> points;
    std::set<std::string> names;
    double total = 0;
  };

  // Ranks that a rank's stretch is compared with.
  struct Others {
    uint32_t count = 0;
    double median = 0;    // of their totals
    uint32_t middle = 0;  // rank with the (lower) median total
  };
  // The stretches of one place, ordered once for all ranks.
  class StretchPeers {
   public:
    StretchPeers(const std::map<uint32_t, Stretch>& all, const std::vector<bool>& base)
        : all_(all), base_(base) {}

    Others of(uint32_t rank, const Stretch& own) {
      const Totals& totals = alike(own.names);
      const auto found = std::lower_bound(totals.begin(), totals.end(), std::pair(own.total, rank));
      const bool in = found != totals.end() && found->second == rank;
      const size_t count = totals.size() - (in ? 1 : 0);
      if (count == 0) return {};
      const auto at = [&](size_t k) {
        const size_t skip = in && k >= static_cast<size_t>(found - totals.begin()) ? 1 : 0;
        return totals[k + skip];
      };
      const auto [low, middle] = at((count - 1) / 2);
      return {static_cast<uint32_t>(count), median({low, at(count / 2).first}), middle};
    }

   private:
    using Totals = std::vector<std::pair<double, uint32_t>>;  // (total, rank), ascending

    // Totals of the ranks that do the same as a rank with these names.
    const Totals& alike(const std::set<std::string>& names) {
      const auto [found, is_new] = alike_.try_emplace(names);
      if (!is_new) return found->second;
      if (by_names_.empty()) {
        for (const auto& [rank, one] : all_) {
          if (base_[rank]) by_names_[one.names].emplace_back(one.total, rank);
        }
      }
      for (const auto& [other, totals] : by_names_) {
        if (!does_the_same(names, other)) continue;
        found->second.insert(found->second.end(), totals.begin(), totals.end());
      }
      std::sort(found->second.begin(), found->second.end());
      return found->second;
    }

    // True if `own` contains at least half of the other's names.
    static bool does_the_same(const std::set<std::string>& own,
                              const std::set<std::string>& other) {
      size_t both = 0;
      for (const std::string& name : other) both += own.contains(name) ? 1 : 0;
      return both * 2 >= other.size();
    }

    const std::map<uint32_t, Stretch>& all_;
    const std::vector<bool>& base_;
    std::map<std::set<std::string>, Totals> by_names_;
    std::map<std::set<std::string>, Totals> alike_;
  };

  // Stages of a pipeline differ in what they send and receive. Per point that begins a transfer
  // between two ranks: 1 if this one sends, 2 if it receives. If that is not recorded, the first
  // rank of a pair counts as the sender.
  std::vector<uint8_t> sides() const {
    std::vector<bool> goes_up(graph_.points(), true);
    for (uint32_t r = 0; r < ranks_; ++r) {
      const RankFold& fold = graph_.folds()[r];
      for (const FoldPart& part : fold.parts) {
        const auto two = two_ranks(fold.groups[part.group].group.ranks);
        goes_up[graph_.base(r) + part.begin] = !two || two->first < two->second;
      }
    }
    std::vector<uint8_t> side(graph_.points(), 0);
    for (const GraphMeeting& meeting : graph_.meetings()) {
      if (meeting.ranks.size() != 2 || graph_.groups()[meeting.group].group.kind != kSendRecv)
        continue;
      for (const size_t k : {0, 1}) {
        const bool first = meeting.ranks[k] < meeting.ranks[1 - k];
        side[meeting.begins[k]] = first == goes_up[meeting.begins[k]] ? 1 : 2;
      }
    }
    return side;
  }

  void list_places() {
    peers.assign(graph_.points(), 0);
    weights.assign(graph_.points(), 1);
    spreads.assign(graph_.points(), 0);
    values.work_ns.resize(graph_.points());
    for (uint32_t p = 0; p < graph_.points(); ++p) values.work_ns[p] = point(p).work_ns;
    mean_ns = values.work_ns;
    const std::vector<uint8_t> side = sides();
    for (uint32_t r = 0; r < ranks_; ++r) list_places_of(r, side);
  }

  void list_places_of(uint32_t r, const std::vector<uint8_t>& side) {
    const RankFold& fold = graph_.folds()[r];
    std::vector<uint64_t> part_at(fold.points.size(), 0);
    std::map<int32_t, uint64_t> roles;
    for (const FoldPart& part : fold.parts) {
      const FoldGroup& group = fold.groups[part.group];
      const std::string& kind = group.group.kind;
      const auto members = static_cast<uint64_t>(std::max<int64_t>(group.members, 0));
      const uint64_t at = members * 4 + side[graph_.base(r) + part.begin];
      part_at[part.begin] = mix_seeds(checksum(kind.data(), kind.size()), at) | 1;
    }
    for (uint32_t p = 0; p < fold.points.size(); ++p) {
      if (part_at[p] == 0) continue;
      uint64_t& role = roles[fold.points[p].iteration];
      role = mix_seeds(role, part_at[p]);
    }
    struct Count {
      uint32_t parts = 0;
      std::array<uint32_t, 5> nth{};
    };
    // Number of host points between two collectives. It is part of the place, so a host with an
    // additional wait is compared over the whole stretch.
    std::vector<uint32_t> host_points(fold.points.size(), 0);
    std::map<int32_t, std::vector<uint32_t>> since_part;
    for (uint32_t p = 0; p < fold.points.size(); ++p) {
      std::vector<uint32_t>& since = since_part[fold.points[p].iteration];
      if (part_at[p] != 0) since.clear();
      if (p == 0 || !is_host(fold.points[p].kind)) continue;
      since.push_back(p);
      for (const uint32_t of : since) host_points[of] = static_cast<uint32_t>(since.size());
    }
    std::map<int32_t, Count> counts;
    for (uint32_t p = 0; p < fold.points.size(); ++p) {
      const FoldPoint& one = fold.points[p];
      Count& count = counts[one.iteration];
      if (part_at[p] != 0) {
        ++count.parts;
        count.nth = {};
      }
      const uint32_t nth = p == 0 ? 0 : ++count.nth[static_cast<size_t>(one.kind)];
      if (one.work_ns <= 0) continue;
      const uint32_t of_stretch = is_host(one.kind) ? host_points[p] : one.kernels;
      const Place place{roles[one.iteration], one.iteration,    count.parts, one.kind, nth,
                        of_stretch,           names_of(fold, p)};
      places_[place].push_back(graph_.base(r) + p);
      Stretch& stretch = stretches_[whole(place)][r];
      stretch.points.push_back(graph_.base(r) + p);
      stretch.total += static_cast<double>(one.work_ns);
      for (uint32_t k = one.first_share; k < fold.share_end(p); ++k) {
        stretch.names.insert(fold.names[fold.shares[k].name]);
      }
    }
  }

  static Place whole(Place place) {
    place.nth = place.kernels = 0;
    place.names = 0;
    return place;
  }

  // Hash of the operation names of a point, independent of their order.
  static uint64_t names_of(const RankFold& fold, uint32_t p) {
    uint64_t sum = 0;
    for (uint32_t k = fold.points[p].first_share; k < fold.share_end(p); ++k) {
      const std::string& name = fold.names[fold.shares[k].name];
      sum += checksum(name.data(), name.size());
    }
    return sum;
  }

  std::vector<double> works(const std::vector<uint32_t>& points,
                            const std::vector<bool>& base) const {
    std::vector<double> some;
    std::vector<double> all;
    for (const uint32_t p : points) {
      const auto ns = static_cast<double>(point(p).work_ns);
      all.push_back(ns);
      if (base[graph_.rank_of(p)]) some.push_back(ns);
    }
    return some.empty() ? all : some;
  }

  void compare(FoldKind kind, const std::vector<bool>& base) {
    for (const auto& [place, points] : places_) {
      if (place.kind != kind) continue;
      for (const uint32_t p : points) peers[p] = 0;
      if (points.size() < 2 || points.size() * 2 <= stretches_[whole(place)].size()) {
        if (points.size() < 2 && is_host(place.kind)) compare_iterations(place, points);
        continue;
      }
      const std::vector<double> own = works(points, base);
      const double usual =
          points.size() == 2 ? *std::min_element(own.begin(), own.end()) : median(own);
      double sum = 0;
      for (const uint32_t p : points) sum += static_cast<double>(point(p).work_ns);
      const double spread =
          own.size() < kLeastSpread ? 0 : kSpread * median_abs_deviation(own) / usual;
      for (const uint32_t p : points) {
        spreads[p] = spread;
        values.work_ns[p] = rounded(usual);
        mean_ns[p] = rounded(sum / static_cast<double>(points.size()));
        peers[p] = static_cast<uint32_t>(points.size());
      }
    }
    for (const auto& [place, of_ranks] : stretches_) {
      if (place.kind != kind || of_ranks.size() < 2) continue;
      StretchPeers likes(of_ranks, base);
      for (const auto& [rank, own] : of_ranks) compare_stretch(rank, own, of_ranks, likes);
    }
    if (kind == FoldKind::kKernel && has_stages()) compare_names(base);
  }

  template <typename Visit>
  void each_share(uint32_t p, const Visit& visit) const {
    const uint32_t r = graph_.rank_of(p);
    const RankFold& fold = graph_.folds()[r];
    const uint32_t local = p - graph_.base(r);
    for (uint32_t s = fold.points[local].first_share; s < fold.share_end(local); ++s) {
      visit(fold.names[fold.shares[s].name], static_cast<double>(fold.shares[s].ns));
    }
  }

  // Lowers the weight of work that varies by chance: experts process a different number of tokens
  // each time. A rank's own speed shows in work that takes all ranks about the same time.
  void weigh(FoldKind kind) {
    std::vector<std::pair<double, double>> known;  // spread, time
    std::map<std::string, std::vector<double>> of_names;
    double all = 0;
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      if (point(p).kind != kind || spreads[p] <= 0) continue;
      each_share(p,
                 [&](const std::string& name, double) { of_names[name].push_back(spreads[p]); });
      known.emplace_back(spreads[p], static_cast<double>(values.work_ns[p]));
      all += known.back().second;
    }
    std::sort(known.begin(), known.end());
    double steady = 0;  // largest spread in the steadiest quarter of the time
    double below = 0;
    for (const auto& [spread, ns] : known) {
      if (below * 4 <= all) steady = spread;
      below += ns;
    }
    std::map<std::string, double> middles;
    for (auto& [name, spreads] : of_names) middles[name] = median(std::move(spreads));
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      if (point(p).kind != kind) continue;
      double spread = spreads[p];
      // If too few ranks have this place, use the spread of the same operations elsewhere.
      each_share(p, [&](const std::string& name, double) {
        const auto like = middles.find(name);
        if (spreads[p] <= 0 && like != middles.end()) spread = std::max(spread, like->second);
      });
      weights[p] = spread <= kWide * steady ? 1 : std::pow(steady / spread, 2);
    }
  }

  // Compares points that most ranks lack: the total work between two collectives is compared, and
  // points with peers of their own keep their typical time.
  void compare_stretch(uint32_t rank, const Stretch& own, const std::map<uint32_t, Stretch>& all,
                       StretchPeers& likes) {
    double left = 0;
    double placed = 0;
    for (const uint32_t p : own.points) {
      (peers[p] > 1 ? placed : left) +=
          static_cast<double>(peers[p] > 1 ? values.work_ns[p] : point(p).work_ns);
    }
    if (left <= 0) return;
    const Others others = likes.of(rank, own);
    if (others.count == 0) return;
    const double usual = std::max(others.median - placed, 0.0);
    const double ratio = std::min(1.0, usual / left);
    std::vector<int64_t> aligned;
    if (is_host(point(own.points.front()).kind)) {
      aligned = align(own.points, all.at(others.middle).points);
    }
    for (size_t k = 0; k < own.points.size(); ++k) {
      const uint32_t p = own.points[k];
      if (peers[p] > 1) continue;
      values.work_ns[p] = aligned.empty() ? rounded(static_cast<double>(point(p).work_ns) * ratio)
                                          : std::min(point(p).work_ns, aligned[k]);
      mean_ns[p] = values.work_ns[p];
      peers[p] = others.count + 1;
    }
  }

  // Per own point: work of the corresponding point of `other`, 0 if there is none. The alignment
  // keeps the order and minimizes the sum of differences (edit distance), because a host with an
  // additional stop has a point that others lack. Empty above kMostAligned pairs.
  std::vector<int64_t> align(const std::vector<uint32_t>& own,
                             const std::vector<uint32_t>& other) const {
    const size_t columns = other.size() + 1;
    if ((own.size() + 1) * columns > kMostAligned) return {};
    std::vector<int64_t> cost((own.size() + 1) * columns, 0);
    const auto at = [&cost, columns](size_t k, size_t n) -> int64_t& {
      return cost[k * columns + n];
    };
    const auto work = [this](const std::vector<uint32_t>& points, size_t k) {
      return point(points[k]).work_ns;
    };
    for (size_t k = 1; k <= own.size(); ++k) at(k, 0) = at(k - 1, 0) + work(own, k - 1);
    for (size_t n = 1; n <= other.size(); ++n) at(0, n) = at(0, n - 1) + work(other, n - 1);
    const auto joint = [&](size_t k, size_t n) {
      return at(k - 1, n - 1) + std::abs(work(own, k - 1) - work(other, n - 1));
    };
    for (size_t k = 1; k <= own.size(); ++k) {
      for (size_t n = 1; n <= other.size(); ++n) {
        at(k, n) = std::min(
            {joint(k, n), at(k - 1, n) + work(own, k - 1), at(k, n - 1) + work(other, n - 1)});
      }
    }
    std::vector<int64_t> made(own.size(), 0);
    for (size_t k = own.size(), n = other.size(); k > 0 && n > 0;) {
      if (at(k, n) == joint(k, n)) {
        made[--k] = work(other, --n);
      } else if (at(k, n) == at(k - 1, n) + work(own, k - 1)) {
        --k;
      } else {
        --n;
      }
    }
    return made;
  }

  // For host work that no other rank does: limits it to 1.5 times the median over the same place in
  // other iterations.
  void compare_iterations(const Place& place, const std::vector<uint32_t>& points) {
    std::vector<double> others;
    for (const int32_t iteration : iterations()) {
      Place other = place;
      other.iteration = iteration;
      const auto found = places_.find(other);
      if (iteration == place.iteration || found == places_.end()) continue;
      others.push_back(static_cast<double>(point(found->second.front()).work_ns));
    }
    if (others.size() < 2) return;
    const int64_t most_ns = rounded(1.5 * median(others));
    for (const uint32_t p : points) {
      values.work_ns[p] = std::min(point(p).work_ns, most_ns);
      peers[p] = 1;
    }
  }

  const std::set<int32_t>& iterations() {
    if (iterations_.empty()) {
      for (const auto& [place, points] : places_) iterations_.insert(place.iteration);
    }
    return iterations_;
  }

  bool has_stages() const {
    return std::any_of(graph_.folds().begin(), graph_.folds().end(), [](const RankFold& fold) {
      return std::any_of(fold.groups.begin(), fold.groups.end(), [](const FoldGroup& group) {
        return group.group.kind == kSendRecv && group.members <= 2;
      });
    });
  }
  // Numbers of iterations agree on all ranks only if labels give them.
  int32_t iteration_of(uint32_t p) const {
    return graph_.folds()[graph_.rank_of(p)].numbered ? point(p).iteration : 0;
  }

  // Pipeline stages run different operations in different orders, so operations that at least three
  // ranks have are compared by name, iteration by iteration.
  void compare_names(const std::vector<bool>& base) {
    std::map<std::pair<std::string, int32_t>, std::map<uint32_t, double>> totals;
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      each_share(p, [&](const std::string& name, double ns) {
        totals[{name, iteration_of(p)}][graph_.rank_of(p)] += ns;
      });
    }
    std::map<std::pair<std::string, int32_t>, double> usual;
    for (const auto& [key, of_ranks] : totals) {
      if (of_ranks.size() < 3) continue;
      std::vector<double> some;
      std::vector<double> all;
      for (const auto& [rank, ns] : of_ranks) {
        all.push_back(ns);
        if (base[rank]) some.push_back(ns);
      }
      usual[key] = median(some.size() < 2 ? all : some);
    }
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      if (point(p).work_ns <= 0 || point(p).kind != FoldKind::kKernel) continue;
      double told = 0;
      double usual_ns = 0;
      each_share(p, [&](const std::string& name, double ns) {
        const std::pair key(name, iteration_of(p));
        const auto of_all = usual.find(key);
        const double factor =
            of_all == usual.end()
                ? 1.0
                : std::clamp(of_all->second / totals[key][graph_.rank_of(p)], 0.33, 3.0);
        told += ns;
        usual_ns += ns * factor;
      });
      if (told <= 0) continue;
      values.work_ns[p] = rounded(usual_ns * static_cast<double>(point(p).work_ns) / told);
      peers[p] = std::max<uint32_t>(peers[p], 3);
    }
  }

  // Own and typical work of each rank.
  using OwnAndTypical = std::pair<std::vector<double>, std::vector<double>>;
  OwnAndTypical by_place(FoldKind kind) const {
    OwnAndTypical made{std::vector<double>(ranks_, 1), std::vector<double>(ranks_, 1)};
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      if (point(p).kind != kind || peers[p] == 0) continue;
      made.first[graph_.rank_of(p)] += weights[p] * static_cast<double>(point(p).work_ns);
      made.second[graph_.rank_of(p)] += weights[p] * static_cast<double>(values.work_ns[p]);
    }
    return made;
  }
  // The same for device work, by iteration. The places of ranks that wait differ from those of
  // ranks that do not, and a place where only one half is has that half's pace.
  OwnAndTypical totals() const {
    std::map<int32_t, std::map<uint32_t, double>> of_iterations;
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      if (point(p).kind != FoldKind::kKernel || peers[p] == 0) continue;
      of_iterations[iteration_of(p)][graph_.rank_of(p)] +=
          weights[p] * static_cast<double>(point(p).work_ns);
    }
    OwnAndTypical made{std::vector<double>(ranks_, 1), std::vector<double>(ranks_, 1)};
    for (const auto& [iteration, of_ranks] : of_iterations) {
      std::vector<double> all;
      for (const auto& [rank, ns] : of_ranks) all.push_back(ns);
      const double usual = median(std::move(all));
      for (const auto& [rank, ns] : of_ranks) {
        made.first[rank] += ns;
        made.second[rank] += usual;
      }
    }
    return made;
  }

  // True if the ranks outside `fast` take longer for at least 80 % of the work that both halves do,
  // name by name. Stages that only do other work are not slow.
  bool most_takes_longer(const std::vector<bool>& fast) const {
    struct Sums {
      double ns = 0;
      std::set<uint32_t> ranks;
      double mean() const { return ns / static_cast<double>(ranks.size()); }
    };
    std::map<std::string, std::array<Sums, 2>> of_names;  // of the slower and the faster half
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      if (point(p).kind != FoldKind::kKernel) continue;
      const uint32_t r = graph_.rank_of(p);
      each_share(p, [&](const std::string& name, double ns) {
        Sums& sums = of_names[name][fast[r] ? 1 : 0];
        sums.ns += ns;
        sums.ranks.insert(r);
      });
    }
    std::erase_if(of_names, [](const auto& one) {
      return one.second[0].ranks.empty() || one.second[1].ranks.empty();
    });
    double slower = 0;
    double all = 0;
    for (const auto& [name, halves] : of_names) {
      slower += halves[0].mean();
      all += halves[1].mean();
    }
    if (slower <= all) return false;
    const double least = 0.4 * std::log(slower / all);
    double longer = 0;
    for (const auto& [name, halves] : of_names) {
      const double ratio = halves[0].mean() / std::max(halves[1].mean(), 1.0);
      if (std::log(ratio) > least) longer += halves[1].mean();
    }
    return longer >= 0.8 * all;
  }

  // If about half of the ranks are clearly slower than the rest, returns which ranks are the faster
  // half, which is then typical. Otherwise returns an empty vector.
  std::vector<bool> faster_half(FoldKind kind) const {
    if (ranks_ < 8 || (is_host(kind) && has_stages())) return {};
    const auto [own, usual] =
        kind == FoldKind::kKernel && !has_stages() ? totals() : by_place(kind);
    std::vector<uint32_t> order(ranks_);
    std::iota(order.begin(), order.end(), 0U);
    std::vector<double> rel(ranks_);
    for (size_t r = 0; r < ranks_; ++r) rel[r] = own[r] / usual[r] - 1;
    std::sort(order.begin(), order.end(), [&rel](uint32_t a, uint32_t b) {
      return std::pair(rel[a], a) < std::pair(rel[b], b);
    });
    size_t widest = 0;
    for (size_t k = 0; k + 1 < ranks_; ++k) {
      const auto gap = [&](size_t at) { return rel[order[at + 1]] - rel[order[at]]; };
      if (gap(k) > gap(widest)) widest = k;
    }
    const double gap = rel[order[widest + 1]] - rel[order[widest]];
    const double low = rel[order[widest]] - rel[order.front()];
    const double high = rel[order.back()] - rel[order[widest + 1]];
    const auto below = static_cast<double>(widest + 1);
    const auto all = static_cast<double>(ranks_);
    const bool halves = below >= 0.35 * all && below <= 0.65 * all;
    if (!halves || gap <= 0.01 || gap <= 2 * std::max(low, high)) return {};
    std::vector<bool> fast(ranks_, false);
    for (size_t k = 0; k <= widest; ++k) fast[order[k]] = true;
    if (has_stages() && !most_takes_longer(fast)) return {};
    return fast;
  }

  // Finds work that takes far longer in one iteration than in the others, on most ranks.
  void find_common() {
    std::map<Place, std::vector<std::pair<int32_t, const std::vector<uint32_t>*>>> across;
    for (const auto& [place, points] : places_) {
      Place same = place;
      same.iteration = 0;
      across[same].emplace_back(place.iteration, &points);
    }
    for (const auto& [place, uses] : across) {
      for (const auto& [iteration, points] : uses) {
        std::vector<double> others;
        for (const auto& [other, theirs] : uses) {
          if (other != iteration) {
            others.push_back(static_cast<double>(values.work_ns[theirs->front()]));
          }
        }
        if (others.empty() || points->size() < 2) continue;
        const double usual = median(others);
        const auto here = static_cast<double>(values.work_ns[points->front()]);
        if (here <= 5 * usual + 500'000) continue;
        for (const uint32_t p : *points) common[iteration][p] = rounded(usual);
      }
    }
    // Drops iterations with at most half of the ranks affected, as with one pipeline stage.
    std::erase_if(common, [this](const auto& one) {
      std::set<uint32_t> ranks;
      for (const auto& [p, ns] : one.second) ranks.insert(graph_.rank_of(p));
      return ranks.size() * 2 <= ranks_;
    });
  }

  void list_classes() {
    using Key = std::tuple<std::string, std::string, int64_t, int, bool, Pair>;
    std::map<Key, Class> by_key;
    const std::vector<Pair> pairs = places_of_pairs();
    const std::map<KindOfGroup, bool> whole = whole_groups_cross();
    for (uint32_t m = 0; m < graph_.meetings().size(); ++m) {
      const GraphMeeting& meeting = graph_.meetings()[m];
      const GraphGroup& group = graph_.groups()[meeting.group];
      const int size = meeting.elements > 0
                           ? static_cast<int>(std::log2(static_cast<double>(meeting.elements)))
                           : -1;
      // An incomplete group takes the layout of complete groups of its kind.
      const KindOfGroup kind = kind_of(group);
      const auto like = is_whole(group) ? whole.end() : whole.find(kind);
      const bool across = like == whole.end() ? crosses(group.ranks) : like->second;
      const Pair& pair = pairs[meeting.group];
      const bool apart = pair == Pair() && across;
      by_key[std::tuple_cat(kind, std::tuple(size, apart, pair))][meeting.group].push_back(m);
    }
    for (auto& [key, one] : by_key) classes.push_back(std::move(one));
  }

  // Per group of two ranks: their positions in the process group. Pairs at the same position of two
  // or more process groups are compared with each other; {} for all other groups. Recorded numbers
  // place a pair of which one rank is absent.
  using Pair = std::pair<uint32_t, uint32_t>;
  std::vector<Pair> places_of_pairs() const {
    std::map<std::string, std::set<int64_t>> ranks;  // by name
    const auto pair_of = [](const GraphGroup& group) -> std::optional<std::pair<int64_t, int64_t>> {
      if (group.group.kind != kSendRecv || group.ranks.size() > 2) return std::nullopt;
      if (const auto two = two_ranks(group.group.ranks))
        return std::minmax(two->first, two->second);
      if (group.ranks.size() < 2) return std::nullopt;
      return std::pair<int64_t, int64_t>(group.ranks[0], group.ranks[1]);
    };
    for (const GraphGroup& group : graph_.groups()) {
      if (const auto pair = pair_of(group)) {
        ranks[group.group.name].insert({pair->first, pair->second});
      }
    }
    std::vector<Pair> places(graph_.groups().size());
    std::map<Pair, std::set<std::string>> names;
    for (size_t g = 0; g < places.size(); ++g) {
      const GraphGroup& group = graph_.groups()[g];
      const auto pair = pair_of(group);
      if (!pair) continue;
      const std::set<int64_t>& all = ranks[group.group.name];
      const auto place = [&all](int64_t r) {
        return static_cast<uint32_t>(std::distance(all.begin(), all.find(r)));
      };
      places[g] = {place(pair->first), place(pair->second)};
      names[places[g]].insert(group.group.name);
    }
    for (Pair& pair : places) {
      if (names[pair].size() < 2) pair = {};
    }
    return places;
  }

  using KindOfGroup = std::tuple<std::string, std::string, int64_t>;
  static KindOfGroup kind_of(const GraphGroup& group) {
    return {group.group.kind, without_digits(group.group.name), group.members};
  }
  static bool is_whole(const GraphGroup& group) {
    return std::cmp_greater_equal(group.ranks.size(), group.members);
  }
  std::map<KindOfGroup, bool> whole_groups_cross() const {
    std::map<KindOfGroup, bool> found;
    for (const GraphGroup& group : graph_.groups()) {
      if (is_whole(group)) found.try_emplace(kind_of(group), crosses(group.ranks));
    }
    return found;
  }

  // Removes digits: groups tp0 and tp1 are of the same kind.
  static std::string without_digits(std::string name) {
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    return name;
  }

  // True if the group's ranks are not consecutive. Such groups are compared separately.
  static bool crosses(const std::vector<uint32_t>& ranks) {
    return ranks.back() - ranks.front() + 1 > ranks.size();
  }

  std::vector<double> transfers(const std::vector<uint32_t>& meetings) const {
    std::vector<double> ns;
    for (const uint32_t m : meetings) {
      ns.push_back(static_cast<double>(graph_.meetings()[m].transfer_ns));
    }
    return ns;
  }

  void compare_transfers() {
    for (const GraphMeeting& meeting : graph_.meetings()) {
      values.transfer_ns.push_back(meeting.transfer_ns);
    }
    for (const Class& one : classes) {
      std::map<uint32_t, double> middles;
      std::set<uint32_t> incomplete;
      for (const auto& [group, meetings] : one) {
        middles[group] = median(transfers(meetings));
        const bool is_whole = std::all_of(meetings.begin(), meetings.end(), [this](uint32_t m) {
          return graph_.meetings()[m].complete;
        });
        if (!is_whole) incomplete.insert(group);
      }
      const bool all_lack = incomplete.size() == one.size();
      std::vector<double> sorted;
      for (const auto& [group, middle] : middles) {
        if (all_lack || !incomplete.contains(group)) sorted.push_back(middle);
      }
      std::sort(sorted.begin(), sorted.end());
      for (const auto& [group, meetings] : one) {
        const double own = middles[group];
        const bool counts = all_lack || !incomplete.contains(group);
        const size_t others = sorted.size() - (counts ? 1 : 0);
        if (others == 0) continue;
        const auto self = static_cast<size_t>(
            std::lower_bound(sorted.begin(), sorted.end(), own) - sorted.begin());
        const auto other = [&](size_t k) { return sorted[k + (counts && k >= self ? 1 : 0)]; };
        const double usual = others == 1 ? std::min(other(0), own)
                                         : median({other((others - 1) / 2), other(others / 2)});
        const double most = own > 1.03 * usual ? std::min(usual, own) : own;
        for (const uint32_t m : meetings) values.transfer_ns[m] = rounded(most);
      }
    }
  }

  const JobGraph& graph_;
  size_t ranks_;
  std::map<Place, std::vector<uint32_t>> places_;
  std::map<Place, std::map<uint32_t, Stretch>> stretches_;  // by place and rank
  std::set<int32_t> iterations_;
};

struct Table {
  bool pace = false;
  std::vector<double> excess;  // per rank
  std::vector<double> usual;
  std::vector<double> rel;
  std::vector<std::vector<uint32_t>> points;
  Middle middle;
};

class Solver {
 public:
  Solver(const JobGraph& graph, const std::vector<StorySet>& sets)
      : graph_(graph), sets_(sets), usual_(graph), ranks_(graph.folds().size()) {}

  JobSolution solve() {
    device_ = table(FoldKind::kKernel);
    pace_ = table(FoldKind::kKernel, true);
    host_ = table(FoldKind::kHost);
    tell_ranks();
    for (const uint32_t r : kinds_of_exchange()) exchanges_.insert(r);
    find_devices();
    find_ranks(host_, StoryKind::kHost, kLeastHost);
    find_links();
    find_sets(pace_, StoryKind::kDevice);
    find_sets(host_, StoryKind::kHost);
    find_common();
    std::stable_sort(
        found_.begin(), found_.end(),
        [](const StoryFinding& a, const StoryFinding& b) { return a.excess_ns > b.excess_ns; });
    if (found_.size() > kMostCandidates) found_.resize(kMostCandidates);
    share_work_out();
    cure_evenly();
    price();
    weigh();
    price_absent();
    solved_.identity_errors = graph_.identity_errors();
    for (StoryFinding& one : solved_.findings) explain(one);
    return std::move(solved_);
  }

 private:
  // Excess of each rank's work of one kind. pace: weighted, so work that varies by chance counts
  // less.
  Table table(FoldKind kind, bool pace = false) const {
    Table made;
    made.pace = pace;
    made.excess.assign(ranks_, 0);
    made.usual.assign(ranks_, 0);
    made.points.resize(ranks_);
    std::vector<double> usual(ranks_, 0);
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      const FoldPoint& point = graph_.point(p);
      if (point.kind != kind || usual_.peers[p] == 0) continue;
      const uint32_t r = graph_.rank_of(p);
      made.points[r].push_back(p);
      const double weight = pace ? usual_.weights[p] : 1;
      made.excess[r] += weight * static_cast<double>(above_ns(p));
      usual[r] += weight * static_cast<double>(usual_.values.work_ns[p]);
      made.usual[r] += static_cast<double>(usual_.values.work_ns[p]);
    }
    std::vector<double> of_bulk;
    for (uint32_t r = 0; r < ranks_; ++r) {
      made.rel.push_back(made.excess[r] / std::max(usual[r], 1.0));
      made.excess[r] = made.rel[r] * made.usual[r];
      if (bulk(kind)[r] && !made.points[r].empty()) of_bulk.push_back(made.rel[r]);
    }
    made.middle = middle_of_values(of_bulk);
    made.middle.spread = std::max(made.middle.spread, spread_of_chance(made, bulk(kind))) + 1e-4;
    return made;
  }

  const std::vector<bool>& bulk(FoldKind kind) const {
    return is_host(kind) ? usual_.host_bulk : usual_.device_bulk;
  }

  // Standard error of a rank's mean over iterations that vary by chance. With two ranks, each is
  // compared with its own median: if one is slow, both are far from the common median.
  double spread_of_chance(const Table& table, const std::vector<bool>& bulk) const {
    std::vector<double> cells;
    size_t most = 1;
    const bool pair = std::count(bulk.begin(), bulk.end(), true) == 2;
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (!bulk[r]) continue;
      std::map<int32_t, std::pair<double, double>> of_iteration;
      for (const uint32_t p : table.points[r]) {
        auto& [excess, usual] = of_iteration[graph_.point(p).iteration];
        const double weight = table.pace ? usual_.weights[p] : 1;
        excess += weight * static_cast<double>(above_ns(p));
        usual += weight * static_cast<double>(usual_.values.work_ns[p]);
      }
      most = std::max(most, of_iteration.size());
      std::vector<double> own;
      for (const auto& [iteration, sums] : of_iteration) {
        own.push_back(sums.first / std::max(sums.second, 1.0));
      }
      if (own.empty()) continue;
      const double centre = pair ? median(own) : table.middle.centre;
      for (const double rel : own) cells.push_back(std::abs(rel - centre));
    }
    if (cells.size() < 3) return 0;
    return kSpread * median(std::move(cells)) / std::sqrt(static_cast<double>(most));
  }

  void tell_ranks() {
    for (uint32_t r = 0; r < ranks_; ++r) {
      std::vector<double> peers;
      for (const uint32_t p : device_.points[r]) peers.push_back(usual_.peers[p]);
      if (peers.empty()) {
        for (const uint32_t p : host_.points[r]) peers.push_back(usual_.peers[p]);
      }
      solved_.peers.push_back(peers.empty() ? 0 : static_cast<uint32_t>(median(peers)));
      solved_.uncompared += solved_.peers.back() < 2 ? 1 : 0;
      solved_.excess_ns.push_back(
          rounded(std::max(device_.excess[r], 0.0) + std::max(host_.excess[r], 0.0)));
      const double usual_ns = device_.usual[r] + host_.usual[r];
      const bool compared = solved_.peers.back() >= 2 && usual_ns > 0;
      solved_.scores.push_back(
          compared ? static_cast<float>((device_.excess[r] + host_.excess[r]) / usual_ns)
                   : std::numeric_limits<float>::quiet_NaN());
      std::map<int32_t, int64_t>& above = solved_.above_ns.emplace_back();
      for (const Table* table : {&device_, &host_}) {
        for (const uint32_t p : table->points[r]) above[graph_.point(p).iteration] += above_ns(p);
      }
      for (auto& [iteration, ns] : above) ns = std::max<int64_t>(ns, 0);
    }
  }

  std::vector<uint32_t> kinds_of_exchange() const {
    std::vector<uint32_t> ranks;
    for (const GraphMeeting& meeting : graph_.meetings()) {
      const std::string& kind = graph_.groups()[meeting.group].group.kind;
      if (kind != "all_to_all" && (kind != kSendRecv || meeting.ranks.size() == 2)) continue;
      ranks.insert(ranks.end(), meeting.ranks.begin(), meeting.ranks.end());
    }
    return ranks;
  }

  int64_t above_ns(uint32_t p) const { return graph_.point(p).work_ns - usual_.values.work_ns[p]; }

  bool stands_out(const Table& table, uint32_t r, double least) const {
    if (table.points[r].empty()) return false;
    const double bound = table.middle.centre + std::max(least, kSpreads * table.middle.spread);
    const double least_ns = kLeastShare / 2 * static_cast<double>(graph_.span_ns());
    return table.rel[r] > bound && table.excess[r] > least_ns;
  }

  StoryFinding story_of(const Table& table, StoryKind kind, uint32_t r) const {
    StoryFinding one{.kind = kind, .ranks = {r}, .factor = 1 + table.rel[r]};
    one.points = table.points[r];
    one.excess_ns = rounded(table.excess[r]);
    one.peers = solved_.peers[r];
    return one;
  }

  void find_ranks(const Table& table, StoryKind kind, double least) {
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (!stands_out(table, r, least)) continue;
      found_.push_back(story_of(table, kind, r));
      find_places(found_.back());
    }
  }

  // Ranks that are slow (kDevice) or have more exchanged work at a typical speed (kWork).
  void find_devices() {
    for (uint32_t r = 0; r < ranks_; ++r) {
      const bool slow = stands_out(pace_, r, kLeastDevice);
      const bool more = stands_out(device_, r, kLeastDevice);
      if (!slow && !more) continue;
      StoryFinding one = story_of(more ? device_ : pace_, StoryKind::kDevice, r);
      if (more && !even(one)) {
        if (exchanges_.contains(r)) one.kind = StoryKind::kWork;
      } else if (slow) {
        one = story_of(pace_, StoryKind::kDevice, r);
      }
      find_places(one);
      found_.push_back(std::move(one));
    }
  }

  // True if most of the work takes longer by about the same factor, name by name, and at most a
  // fifth of it is shorter than chance explains. Single pieces may be long or short by chance:
  // experts get more or fewer tokens in each layer.
  bool even(const StoryFinding& one) const {
    struct Sums {
      double own = 0;
      double usual = 0;
    };
    std::map<std::pair<uint32_t, uint32_t>, Sums> of_names;  // by rank and name
    double too_short = 0;
    for (const uint32_t p : one.points) {
      const uint32_t r = graph_.rank_of(p);
      const RankFold& fold = graph_.folds()[r];
      const uint32_t local = p - graph_.base(r);
      const double ratio = usual_.ratio(p);
      const double weight = usual_.weights[p];
      auto left = static_cast<double>(graph_.point(p).work_ns);
      const double by_chance = kSpreads * std::max(usual_.spreads[p], kLeastSpreadOfPieces);
      if (std::log(one.factor * ratio) > by_chance) too_short += weight * left * ratio;
      const auto add = [&](uint32_t name, double ns) {
        Sums& sums = of_names[{r, name}];
        sums.own += weight * ns;
        sums.usual += weight * ns * ratio;
        left -= ns;
      };
      for (uint32_t k = fold.points[local].first_share; k < fold.share_end(local); ++k) {
        add(fold.shares[k].name, std::min(left, static_cast<double>(fold.shares[k].ns)));
      }
      // Unnamed work counts as an operation of its own.
      if (left > 0) add(UINT32_MAX - local, left);
    }
    double slow = 0;
    double all = 0;
    for (const auto& [name, sums] : of_names) {
      all += sums.usual;
      const double longer = std::log(sums.own / std::max(sums.usual, 1.0));
      if (longer > 0.4 * std::log(one.factor)) slow += sums.usual;
    }
    return slow >= 0.8 * all && too_short <= 0.2 * all;
  }

  // Sets the cured times. Work that is evenly slower is divided by one factor and keeps its chance
  // variation. Other work takes the typical time of its place.
  void cure_evenly() {
    for (const StoryFinding& one : found_) {
      const bool own_work = one.kind == StoryKind::kDevice || one.kind == StoryKind::kHost;
      if (!own_work || one.pauses) continue;
      if (!even(one)) {
        const bool pace =
            one.kind == StoryKind::kDevice &&
            (one.ranks.size() > 1 || stands_out(pace_, one.ranks.front(), kLeastDevice));
        for (const uint32_t p : one.points) {
          if (!pace || usual_.weights[p] == 1) continue;
          usual_.values.work_ns[p] = graph_.point(p).work_ns;
        }
        continue;
      }
      const std::set<int32_t> in(one.iterations.begin(), one.iterations.end());
      const auto has = [&](uint32_t p) {
        return in.empty() || in.contains(graph_.point(p).iteration);
      };
      double own = 0;
      double usual = 0;
      for (const uint32_t p : one.points) {
        if (!has(p)) continue;
        own += usual_.weights[p] * static_cast<double>(graph_.point(p).work_ns);
        usual += usual_.weights[p] * static_cast<double>(usual_.values.work_ns[p]);
      }
      for (const uint32_t p : one.points) {
        const auto ns = static_cast<double>(graph_.point(p).work_ns);
        usual_.values.work_ns[p] = rounded(has(p) ? ns * usual / own : ns);
      }
    }
  }

  // Fills pauses, longest_ns, places and iterations of a finding.
  void find_places(StoryFinding& one) const {
    std::map<int32_t, int64_t> of_iteration;
    std::vector<int64_t> above;
    for (const uint32_t p : one.points) {
      of_iteration[graph_.point(p).iteration] += above_ns(p);
      above.push_back(above_ns(p));
    }
    std::sort(above.begin(), above.end(), std::greater<>());
    const size_t few = std::max<size_t>(1, above.size() / 50);
    const int64_t in_few_ns = std::accumulate(
        above.begin(), above.begin() + static_cast<std::ptrdiff_t>(few), int64_t{0});
    one.pauses = one.kind == StoryKind::kHost && in_few_ns * 2 > one.excess_ns;
    one.longest_ns = above.front();
    for (const int64_t ns : above) one.places += ns * 4 > above.front() ? 1 : 0;
    int64_t most_ns = 0;
    for (const auto& [iteration, ns] : of_iteration) most_ns = std::max(most_ns, ns);
    for (const auto& [iteration, ns] : of_iteration) {
      if (ns * 4 > most_ns) one.iterations.push_back(iteration);
    }
    if (one.iterations.size() == of_iteration.size()) one.iterations.clear();
  }

  void find_links() {
    std::map<uint32_t, StoryFinding> links;
    for (const TypicalTimes::Class& one : usual_.classes) {
      if (one.size() < 2) continue;
      std::vector<double> spread;
      size_t all = 0;
      for (const auto& [group, incomplete] : one) {
        // Skip incomplete collectives: waiting for a missing rank looks like a slow link.
        const std::vector<uint32_t> meetings = complete_of(incomplete);
        if (meetings.empty()) continue;
        std::vector<double> logs = transfer_logs(meetings);
        const double middle = median(logs);
        for (const double x : logs) spread.push_back(std::abs(x - middle));
        all += meetings.size();
      }
      if (spread.empty()) continue;
      const double sd = kSpread * median(spread);
      for (const auto& [group, incomplete] : one) {
        const std::vector<uint32_t> meetings = complete_of(incomplete);
        if (meetings.empty()) continue;
        const double others = static_cast<double>(std::max<size_t>(all - meetings.size(), 1));
        const double error =
            1.25 * sd * std::sqrt(1 / static_cast<double>(meetings.size()) + 1 / others);
        int64_t excess_ns = 0;
        std::vector<double> usual;
        for (const uint32_t m : meetings) {
          excess_ns += graph_.meetings()[m].transfer_ns - usual_.values.transfer_ns[m];
          usual.push_back(
              std::log(std::max(static_cast<double>(usual_.values.transfer_ns[m]), 100.0)));
        }
        const double longer = median(transfer_logs(meetings)) - median(usual);
        const double least_ns = kLeastShare / 2 * static_cast<double>(graph_.span_ns());
        const double bound = std::max(std::log(kLeastLink), 4.5 * error);
        if (longer <= bound || static_cast<double>(excess_ns) <= least_ns) continue;
        // All collective kinds of one group are one link.
        StoryFinding& link = links[first_of_same_ranks(group)];
        link.kind = StoryKind::kLink;
        link.factor = std::max(link.factor, std::exp(longer));
        link.excess_ns += excess_ns;
        link.peers = std::max(link.peers, static_cast<uint32_t>(one.size()));
        link.meetings.insert(link.meetings.end(), meetings.begin(), meetings.end());
        link.groups.push_back(group);
        const std::vector<uint32_t>& ranks = graph_.groups()[group].ranks;
        link.ranks.insert(link.ranks.end(), ranks.begin(), ranks.end());
      }
    }
    for (auto& [group, link] : links) {
      std::sort(link.ranks.begin(), link.ranks.end());
      link.ranks.erase(std::unique(link.ranks.begin(), link.ranks.end()), link.ranks.end());
      std::sort(link.groups.begin(), link.groups.end());
      link.set_kind = "group";
      link.set_name = graph_.groups()[link.groups.front()].group.name;
    }
    join_links(links);
    for (auto& [group, link] : links) found_.push_back(std::move(link));
  }

  // Joins slow links into one for the smallest set in which at least two, and at least half, of the
  // similar links are slow.
  void join_links(std::map<uint32_t, StoryFinding>& links) const {
    std::map<uint32_t, uint32_t> slow_link_of_group;  // group -> key in `links`
    for (const auto& [first, link] : links) {
      for (const uint32_t g : link.groups) slow_link_of_group[g] = first;
    }
    join_pairs(links, slow_link_of_group);
    for (auto set = sets_.rbegin(); set != sets_.rend(); ++set) {
      const auto inside = [set](const std::vector<uint32_t>& ranks) {
        return std::includes(set->ranks.begin(), set->ranks.end(), ranks.begin(), ranks.end());
      };
      const auto slow = std::count_if(links.begin(), links.end(), [&](const auto& one) {
        return one.second.set_kind == "group" && inside(one.second.ranks);
      });
      if (set->kind == "group" || slow < 2) continue;
      std::set<uint32_t> joined;
      for (const TypicalTimes::Class& like : usual_.classes) {
        std::vector<uint32_t> own;
        size_t all = 0;
        for (const auto& [group, meetings] : like) {
          if (!inside(graph_.groups()[group].ranks)) continue;
          ++all;
          const auto link = slow_link_of_group.find(group);
          if (link == slow_link_of_group.end()) continue;
          if (links.at(link->second).set_kind == "group") own.push_back(link->second);
        }
        if (own.size() >= 2 && own.size() * 2 >= all) joined.insert(own.begin(), own.end());
      }
      join(joined, set->kind, set->name, links, slow_link_of_group);
    }
  }

  // Merges the links into the first one.
  static void join(const std::set<uint32_t>& joined, const std::string& kind,
                   const std::string& name, std::map<uint32_t, StoryFinding>& links,
                   std::map<uint32_t, uint32_t>& slow_link_of_group) {
    if (joined.size() < 2) return;
    StoryFinding& whole = links.at(*joined.begin());
    whole.set_kind = kind;
    whole.set_name = name;
    for (auto next = std::next(joined.begin()); next != joined.end(); ++next) {
      const StoryFinding& link = links.at(*next);
      whole.factor = std::max(whole.factor, link.factor);
      whole.excess_ns += link.excess_ns;
      whole.meetings.insert(whole.meetings.end(), link.meetings.begin(), link.meetings.end());
      whole.groups.insert(whole.groups.end(), link.groups.begin(), link.groups.end());
      whole.ranks.insert(whole.ranks.end(), link.ranks.begin(), link.ranks.end());
      for (const uint32_t g : link.groups) slow_link_of_group[g] = *joined.begin();
      links.erase(*next);
    }
    std::sort(whole.ranks.begin(), whole.ranks.end());
    whole.ranks.erase(std::unique(whole.ranks.begin(), whole.ranks.end()), whole.ranks.end());
  }

  // Joins the slow pairs of a process group into one link if at least half of its pairs are slow.
  void join_pairs(std::map<uint32_t, StoryFinding>& links,
                  std::map<uint32_t, uint32_t>& slow_link_of_group) const {
    std::map<std::string, std::pair<std::set<uint32_t>, std::set<uint32_t>>> by_name;
    for (uint32_t g = 0; g < graph_.groups().size(); ++g) {
      const GraphGroup& group = graph_.groups()[g];
      if (group.group.kind != kSendRecv || group.members != 2) continue;
      auto& [all, slow] = by_name[group.group.name];
      all.insert(first_of_same_ranks(g));
      const auto link = slow_link_of_group.find(g);
      if (link != slow_link_of_group.end()) slow.insert(link->second);
    }
    for (const auto& [name, pairs] : by_name) {
      if (pairs.second.size() * 2 < pairs.first.size()) continue;
      join(pairs.second, "group", name, links, slow_link_of_group);
    }
  }

  std::vector<uint32_t> complete_of(std::vector<uint32_t> meetings) const {
    std::erase_if(meetings, [this](uint32_t m) { return !graph_.meetings()[m].complete; });
    return meetings;
  }

  // The first group of the same name and ranks.
  uint32_t first_of_same_ranks(uint32_t group) const {
    for (uint32_t g = 0; g < group; ++g) {
      const GraphGroup& other = graph_.groups()[g];
      if (other.group.name == graph_.groups()[group].group.name &&
          other.ranks == graph_.groups()[group].ranks) {
        return g;
      }
    }
    return group;
  }

  std::vector<double> transfer_logs(const std::vector<uint32_t>& meetings) const {
    std::vector<double> logs;
    for (const uint32_t m : meetings) {
      logs.push_back(
          std::log(std::max(static_cast<double>(graph_.meetings()[m].transfer_ns), 100.0)));
    }
    return logs;
  }

  // Replaces ranks by their node, stage or group if three quarters of its ranks stand out by about
  // the same factor, each on its own or only together.
  void find_sets(const Table& table, StoryKind kind) {
    std::map<uint32_t, const StoryFinding*> alone;
    for (const StoryFinding& one : found_) {
      if (one.kind == kind && one.ranks.size() == 1) alone[one.ranks.front()] = &one;
    }
    std::set<uint32_t> used;
    std::vector<StoryFinding> made;
    for (const StorySet& set : sets_) {
      if (set.ranks.size() < 2 || set.ranks.size() >= ranks_) continue;
      if (std::any_of(set.ranks.begin(), set.ranks.end(),
                      [&used](uint32_t r) { return used.contains(r); })) {
        continue;
      }
      std::vector<double> rel;
      size_t in = 0;
      for (const uint32_t r : set.ranks) {
        rel.push_back(table.rel[r]);
        in += alone.contains(r) ? 1 : 0;
      }
      const auto size = static_cast<double>(rel.size());
      const double middle = median(rel);
      const double beyond = middle - table.middle.centre;
      const double z = beyond / (1.25 * table.middle.spread / std::sqrt(size));
      size_t half = 0;
      for (const double x : rel) half += x > table.middle.centre + beyond / 2 ? 1 : 0;
      const bool each = static_cast<double>(in) >= 0.75 * size;
      const bool together = kind == StoryKind::kDevice && rel.size() >= 4 && z > 6 &&
                            beyond > 0.01 && static_cast<double>(half) >= 0.75 * size;
      if (!each && !together) continue;
      const auto [least, most] = std::minmax_element(rel.begin(), rel.end());
      if (*most - *least >= 0.5 * middle + 0.01) continue;
      StoryFinding one{
          .kind = kind, .set_kind = set.kind, .set_name = set.name, .ranks = set.ranks};
      one.factor = 1 + middle;
      double excess = 0;
      for (const uint32_t r : set.ranks) {
        one.points.insert(one.points.end(), table.points[r].begin(), table.points[r].end());
        excess += table.excess[r];
        one.peers = std::max(one.peers, solved_.peers[r]);
        used.insert(r);
      }
      if (excess <= 0) continue;
      one.excess_ns = rounded(excess);
      find_places(one);
      made.push_back(std::move(one));
    }
    std::erase_if(found_, [&](const StoryFinding& one) {
      return one.kind == kind && one.ranks.size() == 1 && used.contains(one.ranks.front());
    });
    found_.insert(found_.end(), made.begin(), made.end());
  }

  void find_common() {
    for (const auto& [iteration, points] : usual_.common) {
      StoryFinding one{.kind = StoryKind::kAll, .pauses = true, .iterations = {iteration}};
      std::set<uint32_t> ranks;
      for (const auto& [p, ns] : points) {
        one.points.push_back(p);
        one.excess_ns = std::max(one.excess_ns, usual_.values.work_ns[p] - ns);
        usual_.values.work_ns[p] = ns;
        ranks.insert(graph_.rank_of(p));
      }
      one.ranks.assign(ranks.begin(), ranks.end());
      one.longest_ns = one.excess_ns;
      one.places = 1;
      one.peers = static_cast<uint32_t>(ranks.size());
      found_.push_back(std::move(one));
    }
  }

  // Exchanged work does not disappear: others take it over. The cure gives each rank that exchanges
  // it the mean work. Pieces of the same operations scale by one factor and keep their variation.
  void share_work_out() {
    for (StoryFinding& one : found_) {
      if (one.kind != StoryKind::kWork) continue;
      std::set<uint32_t> with;
      for (const GraphMeeting& meeting : graph_.meetings()) {
        const std::string& kind = graph_.groups()[meeting.group].group.kind;
        if (kind != "all_to_all" && kind != kSendRecv) continue;
        if (std::find(meeting.ranks.begin(), meeting.ranks.end(), one.ranks.front()) ==
            meeting.ranks.end()) {
          continue;
        }
        with.insert(meeting.ranks.begin(), meeting.ranks.end());
      }
      one.points.clear();
      for (const uint32_t r : with) {
        std::map<uint64_t, std::pair<double, double>> sums;  // by operations: own work, mean work
        for (const uint32_t p : device_.points[r]) {
          auto& [own, mean] = sums[usual_.operations(p)];
          own += static_cast<double>(graph_.point(p).work_ns);
          mean += static_cast<double>(usual_.mean_ns[p]);
        }
        for (const uint32_t p : device_.points[r]) {
          const auto& [own, mean] = sums[usual_.operations(p)];
          one.points.push_back(p);
          usual_.values.work_ns[p] =
              rounded(static_cast<double>(graph_.point(p).work_ns) * mean / own);
        }
      }
    }
  }

  // ---- replays ----------------------------------------------------------------------------------

  // What a replay sets to typical values: the findings in `these`, or, if `all`, everything except
  // them.
  struct Question {
    bool all = false;
    bool absent = false;  // also the transfers of incomplete collectives
    std::vector<const StoryFinding*> these = {};
  };

  std::vector<int64_t> ask(const std::vector<Question>& questions,
                           std::vector<std::vector<int64_t>>* times = nullptr) const {
    std::vector<int64_t> spans;
    for (size_t first = 0; first < questions.size(); first += kQuestions) {
      const size_t last = std::min(first + kQuestions, questions.size());
      GraphAsk asked{std::vector<uint8_t>(graph_.points(), 0),
                     std::vector<uint8_t>(graph_.meetings().size(), 0)};
      for (size_t k = first; k < last; ++k) {
        const auto bit = static_cast<uint8_t>(1U << (k - first));
        if (questions[k].all) {
          for (uint32_t p = 0; p < graph_.points(); ++p) {
            if (usual_.peers[p] > 0) asked.segments[p] |= bit;
          }
          for (uint8_t& mask : asked.transfers) mask |= bit;
        }
        for (size_t m = 0; questions[k].absent && m < graph_.meetings().size(); ++m) {
          if (!graph_.meetings()[m].complete) asked.transfers[m] |= bit;
        }
        const auto set = [&](uint8_t& mask) {
          mask = static_cast<uint8_t>(questions[k].all ? mask & ~bit : mask | bit);
        };
        for (const StoryFinding* one : questions[k].these) {
          for (const uint32_t p : one->points) set(asked.segments[p]);
          for (const uint32_t m : one->meetings) set(asked.transfers[m]);
        }
      }
      std::vector<int64_t> at;
      const auto lanes = graph_.replay(usual_.values, asked, times == nullptr ? nullptr : &at);
      for (size_t k = first; k < last; ++k) {
        spans.push_back(lanes[k - first]);
        if (times == nullptr) continue;
        std::vector<int64_t>& own = times->emplace_back();
        for (const GraphMeeting& meeting : graph_.meetings()) {
          for (const uint32_t begin : meeting.begins) {
            own.push_back(at[begin * kQuestions + (k - first)]);
          }
        }
      }
    }
    return spans;
  }

  void price() {
    std::vector<Question> questions = {{}, {.all = true}};
    for (const StoryFinding& one : found_) questions.push_back({.these = {&one}});
    for (const StoryFinding& one : found_) questions.push_back({.all = true, .these = {&one}});
    const std::vector<int64_t> spans = ask(questions);
    solved_.span_ns = spans[0];
    solved_.usual_span_ns = std::min(spans[1], spans[0]);
    const auto least_ns = rounded(kLeastShare * static_cast<double>(spans[0]));
    std::vector<const StoryFinding*> named;
    for (size_t k = 0; k < found_.size(); ++k) {
      found_[k].saved_alone_ns = std::clamp<int64_t>(spans[0] - spans[2 + k], 0, spans[0]);
      const int64_t inside_ns = spans[2 + found_.size() + k] - spans[1];
      if (std::max(found_[k].saved_alone_ns, inside_ns) > least_ns) named.push_back(&found_[k]);
    }
    price_joint(named);
    std::erase_if(named, [least_ns](const StoryFinding* one) {
      return std::max(one->saved_ns, one->saved_alone_ns) <= least_ns;
    });
    price_joint(named);
    std::stable_sort(named.begin(), named.end(), [](const StoryFinding* a, const StoryFinding* b) {
      return std::max(a->saved_ns, a->saved_alone_ns) > std::max(b->saved_ns, b->saved_alone_ns);
    });
    named_ = named;
  }

  void price_joint(const std::vector<const StoryFinding*>& named) {
    solved_.saved_ns = solved_.least_saved_ns = 0;
    if (named.empty()) return;
    std::vector<Question> questions = {
        {.absent = true, .these = named}, {.absent = true}, {.these = named}};
    for (const StoryFinding* left_out : named) {
      Question without{.absent = true};
      for (const StoryFinding* one : named) {
        if (one != left_out) without.these.push_back(one);
      }
      questions.push_back(std::move(without));
    }
    const std::vector<int64_t> spans = ask(questions);
    solved_.saved_ns = std::clamp<int64_t>(spans[1] - spans[0], 0, solved_.span_ns);
    solved_.least_saved_ns = std::clamp<int64_t>(solved_.span_ns - spans[2], 0, solved_.saved_ns);
    for (size_t k = 0; k < named.size(); ++k) {
      StoryFinding& one = found_[static_cast<size_t>(named[k] - found_.data())];
      one.saved_ns = std::clamp<int64_t>(spans[3 + k] - spans[0], 0, solved_.span_ns);
    }
  }

  // ---- stories ----------------------------------------------------------------------------------

  // Mean |waiting in the story - recorded waiting| over all ranks of all collectives, in ns.
  double misfit(const std::vector<int64_t>& begins) const {
    double sum = 0;
    size_t k = 0;
    for (const GraphMeeting& meeting : graph_.meetings()) {
      int64_t last_ns = INT64_MIN;
      for (size_t v = 0; v < meeting.begins.size(); ++v) last_ns = std::max(last_ns, begins[k + v]);
      for (size_t v = 0; v < meeting.begins.size(); ++v) {
        const int64_t waits_ns = graph_.time_ns(meeting.begins[v]) - meeting.last_ns;
        sum += std::abs(static_cast<double>(begins[k + v] - last_ns - waits_ns));
      }
      k += meeting.begins.size();
    }
    return k == 0 ? 0 : sum / static_cast<double>(k);
  }

  struct Story {
    const StoryFinding* single = nullptr;
    std::vector<const StoryFinding*> told;
    double misfit = 0;
  };

  void weigh() {
    std::vector<Story> stories = {{nullptr, {}, 0}, {nullptr, named_, 0}};
    for (const StoryFinding& one : found_) {
      if (stories.size() >= kMostStories + 2) break;
      const bool is_told = named_.size() == 1 && named_.front() == &one;
      if (!is_told) stories.push_back({&one, {&one}, 0});
    }
    std::vector<Question> questions;
    for (const Story& story : stories) questions.push_back({.all = true, .these = story.told});
    std::vector<std::vector<int64_t>> begins;
    ask(questions, &begins);
    for (size_t k = 0; k < stories.size(); ++k) stories[k].misfit = misfit(begins[k]);
    const double nobody = stories[0].misfit;
    const double told = stories[1].misfit;
    solved_.explained = nobody <= 0 ? 1 : std::max(0.0, 1 - told / nobody);
    if (!named_.empty()) {
      const auto power = static_cast<double>(std::min<size_t>(16, 4 * iterations()));
      for (size_t k = 2; k < stories.size(); ++k) {
        const StoryFinding& rival = *stories[k].single;
        // A finding does not rival itself.
        if (std::find(named_.begin(), named_.end(), &rival) != named_.end()) continue;
        const double odds =
            told <= 0 ? 1000 : std::min(1000.0, std::pow(stories[k].misfit / told, power));
        if (odds >= solved_.odds) continue;
        solved_.odds = odds;
        solved_.rival_ranks = rival.ranks;
        solved_.rival_link = rival.kind == StoryKind::kLink;
        solved_.rival = rival.set_name;
      }
    }
    for (const StoryFinding* one : named_) solved_.findings.push_back(*one);
  }

  size_t iterations() const {
    std::set<int32_t> seen;
    for (uint32_t p = 0; p < graph_.points(); ++p) seen.insert(graph_.point(p).iteration);
    return std::max<size_t>(seen.size(), 1);
  }

  // Sets absent_ns: the span saved if transfers of incomplete collectives took the 10 % quantile of
  // their class.
  void price_absent() {
    GraphUsual fast = usual_.values;
    GraphAsk asked{{}, std::vector<uint8_t>(graph_.meetings().size(), 0)};
    bool any = false;
    for (const TypicalTimes::Class& one : usual_.classes) {
      std::vector<int64_t> all;
      for (const auto& [group, meetings] : one) {
        for (const uint32_t m : meetings) all.push_back(graph_.meetings()[m].transfer_ns);
      }
      std::sort(all.begin(), all.end());
      for (const auto& [group, meetings] : one) {
        for (const uint32_t m : meetings) {
          if (graph_.meetings()[m].complete) continue;
          any = true;
          asked.transfers[m] = 1;
          fast.transfer_ns[m] = std::min(graph_.meetings()[m].transfer_ns, all[all.size() / 10]);
        }
      }
    }
    if (!any) return;
    solved_.absent_ns =
        std::clamp<int64_t>(solved_.span_ns - graph_.replay(fast, asked)[0], 0, solved_.span_ns);
  }

  // Sets `what` to the operation with at least 60 % of the finding's excess, if there are several.
  void explain(StoryFinding& one) const {
    if (one.kind == StoryKind::kLink || one.kind == StoryKind::kHost || one.kind == StoryKind::kAll)
      return;
    std::map<std::string, double> above;
    double all = 0;
    for (const uint32_t p : one.points) {
      const uint32_t r = graph_.rank_of(p);
      if (std::find(one.ranks.begin(), one.ranks.end(), r) == one.ranks.end()) continue;
      const RankFold& fold = graph_.folds()[r];
      const uint32_t local = p - graph_.base(r);
      const double share = 1 - usual_.ratio(p);
      for (uint32_t s = fold.points[local].first_share; s < fold.share_end(local); ++s) {
        const double ns = share * static_cast<double>(fold.shares[s].ns);
        above[fold.names[fold.shares[s].name]] += ns;
        all += ns;
      }
    }
    for (const auto& [name, ns] : above) {
      if (ns * 5 >= 3 * all && ns > 0 && above.size() > 1) one.what = name;
    }
  }

  const JobGraph& graph_;
  const std::vector<StorySet>& sets_;
  TypicalTimes usual_;
  size_t ranks_;
  Table device_;
  Table pace_;  // device_, weighted: work that varies by chance counts less
  Table host_;
  std::set<uint32_t> exchanges_;
  std::vector<StoryFinding> found_;
  std::vector<const StoryFinding*> named_;
  JobSolution solved_;
};

}  // namespace

JobSolution solve_job(const JobGraph& graph, const std::vector<StorySet>& sets) {
  return Solver(graph, sets).solve();
}

}  // namespace assay
