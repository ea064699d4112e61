#include "job/record_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/checksum.h"
#include "job/record.h"

namespace assay {
namespace {

constexpr size_t kLongestName = 160;
constexpr size_t kMostShares = 32;     // of a segment
constexpr int64_t kShareParts = 4096;  // shares are stored as multiples of 1/4096 of the work
constexpr int64_t kFarthestNs = int64_t{1} << 61;

// Flags in a point's first byte.
constexpr uint64_t kKindMask = 7;
constexpr uint64_t kNextIteration = 8;
constexpr uint64_t kHasWork = 16;

// Shortens a text that is only compared: a long one keeps a prefix and a checksum.
std::string kept_text(const std::string& text) {
  if (text.size() <= kLongestName) return text;
  return text.substr(0, kLongestName - 17) + "#" +
         std::to_string(checksum(text.data(), text.size()) & 0xFFFFFFFFFFFF);
}

class GraphWriter {
 public:
  explicit GraphWriter(const RankFold& fold) : fold_(fold) {}

  std::string write(size_t cap) {
    write_head();
    constexpr size_t kCounts = 40;
    const size_t room = cap > head_.size() + kCounts ? cap - head_.size() - kCounts : 0;
    write_points();
    if (points_.size() > room) {
      find_slack_limit();
      write_points();
    }
    size_t kept = 0;
    while (kept < sizes_.size() && sizes_[kept] <= room) ++kept;
    if (kept < sizes_.size()) kept = whole_iterations(kept);
    VarintWriter made;
    made.add_bytes(head_.bytes());
    made.add(fold_.overlapping);
    made.add(fold_.inferred_waits);
    made.add(fold_.dropped_edges + (kept == 0 ? 0 : dropped_until_[kept - 1]));
    made.add(fold_.cut_points + fold_.points.size() - kept);
    made.add(kept);
    if (kept > 0) {
      made.add_signed(fold_.points.front().time_ns);
      made.add_bytes(std::string_view(points_.bytes()).substr(0, sizes_[kept - 1]));
    }
    return made.bytes();
  }

 private:
  // Reduces `kept` points to complete iterations; unchanged if there is none.
  size_t whole_iterations(size_t kept) const {
    size_t whole = kept;
    while (whole > 1 && fold_.points[whole - 1].iteration == fold_.points[whole].iteration) --whole;
    return whole > 1 ? whole : kept;
  }

  void write_points() {
    points_ = {};
    sizes_.clear();
    dropped_until_.clear();
    dropped_ = 0;
    lists_.clear();
    last_seq_.assign(fold_.groups.size(), -1);
    last_elements_.assign(fold_.groups.size(), -1);
    std::vector<size_t> part_of(fold_.points.size(), SIZE_MAX);
    for (size_t k = 0; k < fold_.parts.size(); ++k) part_of[fold_.parts[k].begin] = k;
    for (uint32_t p = 0; p < fold_.points.size(); ++p) {
      write_point(p, points_);
      if (part_of[p] != SIZE_MAX) write_part(fold_.parts[part_of[p]], points_);
      sizes_.push_back(points_.size());
      dropped_until_.push_back(dropped_);
    }
  }

  void find_slack_limit() {
    if (fold_.points.empty()) return;
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    int64_t iterations = 1;
    for (size_t p = 0; p < fold_.points.size(); ++p) {
      first_ns = std::min(first_ns, fold_.points[p].time_ns);
      last_ns = std::max(last_ns, fold_.points[p].time_ns);
      iterations += p > 0 && fold_.points[p].iteration != fold_.points[p - 1].iteration ? 1 : 0;
    }
    most_slack_ns_ = (last_ns - first_ns) / iterations / 4;
  }

  void write_head() {
    head_.add(fold_.numbered ? 1 : 0);
    head_.add(fold_.names.size());
    for (const std::string& name : fold_.names) head_.add_text(kept_text(name));
    head_.add(fold_.groups.size());
    for (const FoldGroup& group : fold_.groups) {
      head_.add_text(kept_text(group.group.name));
      head_.add_text(kept_text(group.group.ranks));
      head_.add_text(kept_text(group.group.kind));
      head_.add(group.group.all_wait ? 1 : 0);
      head_.add(static_cast<uint64_t>(std::max<int64_t>(group.members, 0)));
    }
  }

  bool near(uint32_t p, const FoldEdge& edge, const FoldVector& vector) const {
    const int64_t length_ns = fold_.points[p].time_ns - fold_.points[edge.source].time_ns;
    return length_ns - vector.sum_ns() <= most_slack_ns_;
  }

  void write_point(uint32_t p, VarintWriter& to) {
    const FoldPoint& point = fold_.points[p];
    const int32_t before = p == 0 ? 0 : fold_.points[p - 1].iteration;
    to.add(static_cast<uint64_t>(point.kind) | (point.iteration != before ? kNextIteration : 0) |
           (point.work_ns != 0 ? kHasWork : 0));
    if (point.iteration != before) to.add_signed(int64_t{point.iteration} - before);
    if (point.work_ns != 0) to.add(static_cast<uint64_t>(point.work_ns));
    if (point.kind == FoldKind::kKernel) {
      to.add(point.kernels);
      write_shares(p, to);
    }
    std::vector<std::pair<const FoldEdge*, std::vector<FoldVector>>> edges;
    for (uint32_t e = point.first_edge; e < fold_.edge_end(p); ++e) {
      std::vector<FoldVector> vectors;
      for (uint32_t v = fold_.edges[e].first; v < fold_.edges[e].first + fold_.edges[e].count;
           ++v) {
        if (near(p, fold_.edges[e], fold_.vectors[v])) vectors.push_back(fold_.vectors[v]);
      }
      dropped_ += fold_.edges[e].count - vectors.size();
      if (!vectors.empty()) edges.emplace_back(&fold_.edges[e], std::move(vectors));
    }
    to.add(edges.size());
    for (const auto& [edge, vectors] : edges) {
      const bool device = edge->device != kNoSegment;
      const bool host = edge->host != kNoSegment;
      to.add(p - edge->source);
      to.add(vectors.size() << 2 | (device ? 2 : 0) | (host ? 1 : 0));
      for (const FoldVector& vector : vectors) {
        if (device) to.add_signed(point.work_ns - vector.device_ns);
        if (host) to.add(static_cast<uint64_t>(vector.host_ns));
        to.add_signed(vector.fixed_ns + (device ? 0 : vector.device_ns) +
                      (host ? 0 : vector.host_ns));
      }
    }
  }

  void write_shares(uint32_t p, VarintWriter& to) {
    const uint32_t first = fold_.points[p].first_share;
    const auto all = static_cast<size_t>(fold_.share_end(p) - first);
    const size_t count = std::min(all, kMostShares);
    std::vector<uint32_t> names;
    for (size_t s = 0; s < count; ++s) names.push_back(fold_.shares[first + s].name);
    std::sort(names.begin(), names.end());
    const auto [known, is_new] = lists_.try_emplace(names, lists_.size());
    to.add(known->second);
    if (is_new) {
      to.add(names.size());
      for (const uint32_t name : names) to.add(name);
    }
    for (const uint32_t name : names) {
      int64_t ns = 0;
      for (size_t s = 0; s < count; ++s) {
        if (fold_.shares[first + s].name == name) ns = fold_.shares[first + s].ns;
      }
      const int64_t work_ns = std::max<int64_t>(fold_.points[p].work_ns, 1);
      to.add(static_cast<uint64_t>(static_cast<double>(ns) / static_cast<double>(work_ns) *
                                   static_cast<double>(kShareParts)));
    }
  }

  void write_part(const FoldPart& part, VarintWriter& to) {
    to.add(part.group);
    to.add_signed(part.seq - last_seq_[part.group] - 1);
    to.add_signed(part.elements - last_elements_[part.group]);
    last_seq_[part.group] = part.seq;
    last_elements_[part.group] = part.elements;
  }

  const RankFold& fold_;
  VarintWriter head_;
  VarintWriter points_;
  std::vector<size_t> sizes_;            // bytes written after each point
  std::vector<uint64_t> dropped_until_;  // edges dropped after each point
  int64_t most_slack_ns_ = INT64_MAX;
  uint64_t dropped_ = 0;
  std::map<std::vector<uint32_t>, uint64_t> lists_;
  std::vector<int64_t> last_seq_;
  std::vector<int64_t> last_elements_;
};

class GraphReader {
 public:
  explicit GraphReader(VarintReader& from) : from_(from) {}

  RankFold read() {
    read_head();
    made_.overlapping = from_.next();
    made_.inferred_waits = from_.next();
    made_.dropped_edges = from_.next();
    made_.cut_points = from_.next();
    const size_t points = from_.next_count(2);
    if (points > 0) start_ns_ = from_.next_signed();
    for (uint32_t p = 0; p < points && good(); ++p) read_point(p);
    if (open_part_) bad_ = true;
    if (!good()) {
      from_.next_bytes(UINT64_MAX);
      return {};
    }
    name_host_segments();
    return std::move(made_);
  }

 private:
  bool good() const { return from_.ok() && !bad_; }
  int64_t checked(int64_t ns) {
    bad_ = bad_ || ns > kLongestInRecord || ns < -kLongestInRecord;
    return bad_ ? 0 : ns;
  }
  int64_t signed_ns() { return checked(from_.next_signed()); }
  int64_t length_ns() {
    const uint64_t ns = from_.next();
    return checked(ns > static_cast<uint64_t>(kLongestInRecord) ? INT64_MAX
                                                                : static_cast<int64_t>(ns));
  }

  void read_head() {
    made_.numbered = from_.next() != 0;
    for (size_t left = from_.next_count(); left > 0 && from_.ok(); --left) {
      made_.names.emplace_back(from_.next_text());
    }
    for (size_t left = from_.next_count(5); left > 0 && from_.ok(); --left) {
      FoldGroup group;
      group.group.name = from_.next_text();
      group.group.ranks = from_.next_text();
      group.group.kind = from_.next_text();
      group.group.all_wait = from_.next() != 0;
      group.members = length_ns();
      made_.groups.push_back(std::move(group));
    }
    last_seq_.assign(made_.groups.size(), -1);
    last_elements_.assign(made_.groups.size(), -1);
  }

  void read_point(uint32_t p) {
    const uint64_t head = from_.next();
    const uint64_t kind = head & kKindMask;
    if (kind > static_cast<uint64_t>(FoldKind::kKernel) || (p == 0 && kind != 0)) bad_ = true;
    FoldPoint point{.kind = static_cast<FoldKind>(bad_ ? 0 : kind), .iteration = iteration_};
    if ((head & kNextIteration) != 0) {
      const int64_t next = iteration_ + checked(from_.next_signed());
      if (next < INT32_MIN || next > INT32_MAX) bad_ = true;
      point.iteration = iteration_ = bad_ ? 0 : static_cast<int32_t>(next);
    }
    point.work_ns = (head & kHasWork) != 0 ? length_ns() : 0;
    point.first_edge = static_cast<uint32_t>(made_.edges.size());
    point.first_share = static_cast<uint32_t>(made_.shares.size());
    if (point.kind == FoldKind::kKernel) {
      point.kernels = static_cast<uint32_t>(std::min<uint64_t>(from_.next(), UINT32_MAX));
      read_shares(point.work_ns);
    }
    point.time_ns = read_edges(p, point.work_ns);
    made_.points.push_back(point);
    if (point.kind == FoldKind::kBegin) read_part(p);
    if (point.kind == FoldKind::kEnd) {
      if (!open_part_ || made_.parts.back().begin + 1 != p) bad_ = true;
      open_part_ = false;
      if (!bad_) made_.parts.back().end = p;
    }
  }

  int64_t read_edges(uint32_t p, int64_t work_ns) {
    int64_t at_ns = p == 0 ? start_ns_ : INT64_MIN;
    const size_t edges = from_.next_count(3);
    if ((p == 0) != (edges == 0)) bad_ = true;
    for (size_t e = 0; e < edges && good(); ++e) {
      const uint64_t back = from_.next();
      const uint64_t head = from_.next();
      const uint64_t count = head >> 2;
      if (back == 0 || back > p || count == 0 || count > 16) {
        bad_ = true;
        return 0;
      }
      FoldEdge edge{.source = p - static_cast<uint32_t>(back),
                    .device = (head & 2) != 0 ? p : kNoSegment,
                    .host = (head & 1) != 0 ? p : kNoSegment,
                    .first = static_cast<uint32_t>(made_.vectors.size()),
                    .count = static_cast<uint32_t>(count)};
      for (uint64_t v = 0; v < count; ++v) {
        FoldVector vector;
        if (edge.device != kNoSegment) vector.device_ns = work_ns - signed_ns();
        if (edge.host != kNoSegment) vector.host_ns = length_ns();
        vector.fixed_ns = signed_ns();
        at_ns = std::max(at_ns, made_.points[edge.source].time_ns + vector.sum_ns());
        made_.vectors.push_back(vector);
      }
      made_.edges.push_back(edge);
    }
    bad_ = bad_ || at_ns > kFarthestNs || at_ns < -kFarthestNs;
    return bad_ ? 0 : at_ns;
  }

  void read_shares(int64_t work_ns) {
    const uint64_t list = from_.next();
    if (list > lists_.size()) {
      bad_ = true;
      return;
    }
    if (list == lists_.size()) {
      std::vector<uint32_t> names;
      for (size_t left = from_.next_count(); left > 0 && good(); --left) {
        const uint64_t name = from_.next();
        if (name >= made_.names.size() || names.size() >= kMostShares) {
          bad_ = true;
          return;
        }
        names.push_back(static_cast<uint32_t>(name));
      }
      lists_.push_back(std::move(names));
    }
    for (const uint32_t name : lists_[list]) {
      const uint64_t parts = from_.next();
      if (parts > static_cast<uint64_t>(kShareParts)) bad_ = true;
      const double share = static_cast<double>(parts) / static_cast<double>(kShareParts);
      made_.shares.push_back({name, static_cast<int64_t>(share * static_cast<double>(work_ns))});
    }
  }

  void read_part(uint32_t p) {
    const uint64_t group = from_.next();
    if (open_part_ || group >= made_.groups.size()) {
      bad_ = true;
      return;
    }
    FoldPart part{.begin = p, .end = p, .group = static_cast<uint32_t>(group)};
    part.seq = last_seq_[group] += signed_ns() + 1;
    part.elements = last_elements_[group] += signed_ns();
    if (part.seq > kFarthestNs || part.elements > kFarthestNs) bad_ = true;
    made_.parts.push_back(part);
    open_part_ = true;
  }

  // Assigns the host work of a path to the host segment that follows the path's source, if any.
  void name_host_segments() {
    std::vector<uint32_t> hosts;
    for (uint32_t p = 0; p < made_.points.size(); ++p) {
      const FoldKind kind = made_.points[p].kind;
      if (kind == FoldKind::kHost || kind == FoldKind::kResumed) hosts.push_back(p);
    }
    for (FoldEdge& edge : made_.edges) {
      if (edge.host == kNoSegment) continue;
      const auto next = std::upper_bound(hosts.begin(), hosts.end(), edge.source);
      const bool has = next != hosts.end() && made_.points[*next].kind == FoldKind::kHost;
      edge.host = has ? *next : kNoSegment;
    }
  }

  VarintReader& from_;
  RankFold made_;
  int64_t start_ns_ = 0;
  int32_t iteration_ = 0;
  bool bad_ = false;
  bool open_part_ = false;
  std::vector<std::vector<uint32_t>> lists_;
  std::vector<int64_t> last_seq_;
  std::vector<int64_t> last_elements_;
};

}  // namespace

std::string graph_bytes(const RankFold& fold, size_t cap) { return GraphWriter(fold).write(cap); }

RankFold read_graph(VarintReader& from) { return GraphReader(from).read(); }

void cut_to_fit(RankFold& fold, size_t ranks, size_t most) {
  const size_t own = most / std::max<size_t>(ranks, 1);
  if (!fold.numbered || fold.points.size() <= own) return;
  const int32_t first = fold.points.front().iteration;
  auto kept = static_cast<uint32_t>(own);
  const int32_t beyond = std::max(fold.points[kept].iteration, first + 1);
  while (kept > 0 && fold.points[kept - 1].iteration >= beyond) --kept;
  while (kept < fold.points.size() && fold.points[kept].iteration < beyond) ++kept;
  if (kept == fold.points.size()) return;
  cut_fold(fold, kept);
}

int32_t cut_alike(std::vector<RankFold>& folds) {
  int32_t last = INT32_MAX;
  for (const RankFold& fold : folds) {
    if (fold.cut_points > 0 && !fold.points.empty())
      last = std::min(last, fold.points.back().iteration);
  }
  for (RankFold& fold : folds) {
    if (!fold.numbered) continue;
    uint32_t kept = 0;
    while (kept < fold.points.size() && fold.points[kept].iteration <= last) ++kept;
    cut_fold(fold, kept);
  }
  return last;
}

}  // namespace assay
