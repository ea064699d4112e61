// Problem: a recording of the device alone contains nested, unmarked steps and layers: 30 training
// steps of 28 layers are 840 equal sequences of kernels. Warm-up, autotuning, evaluation,
// checkpoints and logging are in between, so no shift maps the sequence exactly to itself.
//
// Method: a name that occurs once per iteration splits the sequence at its iterations, and so does
// the first of a name that occurs in clusters. Every name is tried as such a mark. The parts
// between marks are compared, as bags of names, with the typical part (the median count of each
// name). Marks with similar parts that cover most of the sequence are a level. A part with
// additional work before or after it is cut to the typical length. Levels of different lengths are
// layers, iterations, or iterations with a rarer one (a logging step). A level consists of layers
// if the level above adds substantial work. The result counts as iterations only with evidence
// (PeriodEvidence), and if the names of consecutive parts are in the same order.
//
// Effect: tests/unit/trace/kernel_periods_test.cc has sequences with a result, and those without
// one: the layers of one pass, blocks of a ResNet, a loop over one kernel.

#include "trace/kernel_periods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace assay {

namespace {

constexpr size_t kLeastPeriods = 3;
constexpr size_t kLeastItems = 8;       // minimum of a period; fewer are a loop over one operation
constexpr size_t kLeastLayerItems = 4;  // minimum of a repeated block in a period
constexpr double kAlike = 0.9;          // minimum similarity of bags of names
constexpr double kMostBefore = 0.5;     // maximum share of the sequence before the first period
constexpr double kCovered = 0.75;       // minimum share of the rest in periods
constexpr double kLayersCover = 0.3;    // minimum share of a period in its repeated block
constexpr size_t kLeastLayers = 2;      // minimum per iteration
constexpr double kAddsMuch = 0.25;      // items the level above must add, as a share of this length
constexpr double kClusterJump = 2;      // minimum ratio of gaps between clusters to gaps within one
constexpr size_t kSampled = 15;         // number of parts that determine the typical one
constexpr size_t kMarksPerCount = 3;
constexpr size_t kMostMarks = 48;
constexpr double kSameLength = 0.1;
constexpr double kInOrder = 0.3;      // minimum share of common four-name runs of adjacent parts
constexpr double kPauseLengths = 10;  // minimum gap before an iteration, in lengths of it

using Counts = std::vector<uint32_t>;  // per token

struct Level {
  std::vector<Period> parts;
  Counts usual;
  size_t length = 0;   // items of the typical part
  size_t covered = 0;  // items of all parts
  double alike = 1;
};

struct Demands {
  size_t least_items = kLeastItems;
  double most_before = kMostBefore;
  double covered = kCovered;
};

struct Mark {
  std::vector<size_t> begins;
  double unevenness = 0;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Deviation of the distances between marks from the median distance, relative to it.
double unevenness(const std::vector<size_t>& begins) {
  std::vector<double> gaps;
  for (size_t i = 1; i < begins.size(); ++i) {
    gaps.push_back(static_cast<double>(begins[i] - begins[i - 1]));
  }
  const double middle = median_of(gaps);
  for (double& gap : gaps) gap = std::abs(gap - middle);
  return median_of(gaps) / middle;
}

// Minimum distance between clusters, at the largest jump of the sorted distances; 0 = there is
// none.
size_t cluster_gap(const std::vector<size_t>& at) {
  std::vector<size_t> gaps;
  for (size_t i = 1; i < at.size(); ++i) gaps.push_back(at[i] - at[i - 1]);
  std::sort(gaps.begin(), gaps.end());
  size_t from = 0;
  double most = kClusterJump;
  for (size_t i = 1; i < gaps.size(); ++i) {
    const double jump = static_cast<double>(gaps[i]) / static_cast<double>(gaps[i - 1]);
    if (jump < most || gaps.size() - i + 1 < kLeastPeriods) continue;
    most = jump;
    from = gaps[i];
  }
  return from;
}

class Search {
 public:
  Search(const std::vector<SequenceItem>& items, size_t tokens, const Demands& demands)
      : items_(items), tokens_(tokens), demands_(demands), count_(tokens) {
    for (const SequenceItem& item : items) heavy_ |= is_heavy(item.role);
    role_.resize(tokens, WorkRole::kPlain);
    for (const SequenceItem& item : items) role_[item.token] = item.role;
  }

  // Levels by the length of their parts, shortest first. Of levels of similar length, keeps the one
  // that covers most.
  std::vector<Level> levels() {
    std::vector<Level> found;
    for (const Mark& mark : marks()) {
      std::optional<Level> level = judge(mark.begins);
      if (!level) continue;
      const auto same = std::find_if(found.begin(), found.end(), [&level](const Level& other) {
        const double ratio = static_cast<double>(level->length) / static_cast<double>(other.length);
        return ratio > 1 - kSameLength && ratio < 1 / (1 - kSameLength);
      });
      if (same == found.end()) {
        found.push_back(*std::move(level));
      } else if (level->covered > same->covered) {
        *same = *std::move(level);
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Level& a, const Level& b) { return a.length < b.length; });
    return found;
  }

  // The level of the parts between marks; nullopt if the parts are too few, too short, too
  // different, or too small a share of the sequence.
  std::optional<Level> judge(const std::vector<size_t>& begins) {
    if (begins.size() < kLeastPeriods || items_.size() / begins.size() < demands_.least_items) {
      return std::nullopt;
    }
    Level level;
    level.usual = usual_counts(begins);
    for (uint32_t n : level.usual) level.length += n;
    if (level.length < demands_.least_items) return std::nullopt;
    if (begins.front() > 0) add_part(level, 0, begins.front(), true);
    for (size_t k = 0; k < begins.size(); ++k) {
      add_part(level, begins[k], k + 1 < begins.size() ? begins[k + 1] : items_.size(), false);
    }
    if (level.parts.size() < kLeastPeriods) return std::nullopt;
    const auto all = static_cast<double>(items_.size());
    const auto before = static_cast<double>(level.parts.front().begin);
    if (before > demands_.most_before * all) return std::nullopt;
    if (static_cast<double>(level.covered) < demands_.covered * (all - before)) return std::nullopt;
    return level;
  }

  // True if the parts of `above` are iterations with those of `below` as their layers: they add
  // substantial work outside the layers. An occasional logging step adds little; layers of another
  // kind add attention.
  bool adds_to_layers(const Level& above, const Level& below) const {
    const Period& middle = above.parts[above.parts.size() / 2];
    return adds_to_layers(middle, below, 0);
  }

  bool holds_role(const Level& level, WorkRole role) const {
    for (size_t t = 0; t < tokens_; ++t) {
      if (level.usual[t] > 0 && role_[t] == role) return true;
    }
    return false;
  }
  // True if a part may be a layer. A layer of experts may also copy a result to the host, to route
  // its tokens.
  bool may_be_layer(const Level& level) const {
    size_t attention = 0;
    for (size_t t = 0; t < tokens_; ++t) {
      if (role_[t] == WorkRole::kAttention) attention += level.usual[t];
    }
    return attention == 1 || attention == 2;
  }
  bool is_model() const { return heavy_; }
  bool has_role(WorkRole role) const {
    return std::find(role_.begin(), role_.end(), role) != role_.end();
  }

  // True if a block repeats inside the middle part, as layers do.
  bool holds_layers(const Level& level) const {
    const Period& middle = level.parts[level.parts.size() / 2];
    const std::vector<SequenceItem> inside(
        items_.begin() + static_cast<std::ptrdiff_t>(middle.begin),
        items_.begin() + static_cast<std::ptrdiff_t>(middle.end));
    Search search(inside, tokens_, {kLeastLayerItems, 1, kLayersCover});
    const WorkRole must =
        search.has_role(WorkRole::kAttention) ? WorkRole::kAttention : WorkRole::kHeavy;
    for (const Level& block : search.levels()) {
      if (holds_role(block, must) && adds_to_layers(middle, block, middle.begin)) return true;
    }
    return false;
  }

  // True if the sequence consists only of the level: all parts similar, and the ends like parts of
  // one.
  bool is_whole(const Level& level) {
    for (size_t k = 1; k < level.parts.size(); ++k) {
      if (level.parts[k].begin != level.parts[k - 1].end) return false;
    }
    const size_t head = level.parts.front().begin;
    const size_t tail = items_.size() - level.parts.back().end;
    if (head >= level.length || tail >= level.length) return false;
    const Period& first = level.parts.front();
    const Period& last = level.parts.back();
    // Additional items in the first or last part would be the head of a pass.
    if (first.end - first.begin != level.length || last.end - last.begin != level.length) {
      return false;
    }
    return equal(0, first.end - head, head) && equal(last.end, last.begin, tail);
  }

  // True if only complete parts were recorded. Layers cut from one pass, without other activities,
  // hardly ever match a multiple.
  bool is_even(const Level& level) const { return items_.size() % level.length == 0; }

  // True if consecutive parts have their names in the same order: bags of names are similar also
  // for unordered work.
  bool in_order(const Level& level) const {
    std::vector<double> shares;
    const size_t pairs = level.parts.size() - 1;
    const size_t sampled = std::min(pairs, kSampled);
    for (size_t s = 0; s < sampled; ++s) {
      const size_t k = s * pairs / sampled;
      const std::vector<Run> before = runs_of(level.parts[k]);
      const std::vector<Run> after = runs_of(level.parts[k + 1]);
      std::vector<Run> common;
      std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                            std::back_inserter(common));
      shares.push_back(static_cast<double>(common.size()) /
                       static_cast<double>(std::max<size_t>(after.size(), 1)));
    }
    return median_of(std::move(shares)) >= kInOrder;
  }

  // True if each part but the first follows a gap of many times its own length.
  bool comes_after_pauses(const Level& level) const {
    std::vector<double> lengths;
    for (size_t k = 1; k < level.parts.size(); ++k) {
      const Period& part = level.parts[k];
      int64_t span_ns = items_[part.begin].dur_ns;
      for (size_t i = part.begin + 1; i < part.end; ++i) {
        span_ns += items_[i].gap_ns + items_[i].dur_ns;
      }
      const auto pause_ns = static_cast<double>(items_[part.begin].gap_ns);
      lengths.push_back(pause_ns / static_cast<double>(std::max<int64_t>(span_ns, 1)));
    }
    return *std::min_element(lengths.begin(), lengths.end()) >= kPauseLengths;
  }

  // The same level split at the likely start of an iteration: after the optimizer, or at the
  // longest gap.
  Level cut_well(const Level& level) {
    const bool trains = holds_role(level, WorkRole::kOptimizer);
    for (const std::vector<size_t>& begins :
         {trains ? optimizer_ends() : longest_pauses(level), paused_begins(level)}) {
      std::optional<Level> better = judge(begins);
      if (better && better->parts.size() >= level.parts.size()) return *std::move(better);
    }
    return level;
  }

 private:
  // Consecutive names, sorted.
  using Run = std::array<uint32_t, 4>;
  std::vector<Run> runs_of(const Period& part) const {
    std::vector<Run> runs;
    for (size_t i = part.begin; i + 4 <= part.end; ++i) {
      runs.push_back(
          {items_[i].token, items_[i + 1].token, items_[i + 2].token, items_[i + 3].token});
    }
    std::sort(runs.begin(), runs.end());
    return runs;
  }

  // The parts of `below` begin at item `shift`.
  bool adds_to_layers(const Period& above, const Level& below, size_t shift) const {
    size_t layers = 0;
    size_t added = 0;
    size_t attention = 0;
    bool adds_heavy = false;
    bool reads_back = false;
    size_t at = above.begin;
    const auto add_outside = [&](size_t end) {
      for (; at < end; ++at) {
        attention += items_[at].role == WorkRole::kAttention ? 1 : 0;
        adds_heavy |= is_heavy(items_[at].role);
        reads_back |= items_[at].role == WorkRole::kReadback;
        added += below.usual[items_[at].token] == 0 ? 1 : 0;
      }
    };
    for (const Period& part : below.parts) {
      if (part.begin + shift < above.begin || part.end + shift > above.end) continue;
      ++layers;
      add_outside(part.begin + shift);
      at = part.end + shift;
    }
    add_outside(above.end);
    // One or two more attention kernels are a layer of another kind, so the whole part is layers.
    const bool other_layer = attention == 1 || attention == 2;
    if (layers < kLeastLayers || other_layer) return false;
    // Work added to layers with attention is at least a head; otherwise the layers are of two
    // kinds.
    if (holds_role(below, WorkRole::kAttention)) return adds_heavy || reads_back;
    return adds_heavy ||
           static_cast<double>(added) >= kAddsMuch * static_cast<double>(below.length);
  }

  static bool is_heavy(WorkRole role) {
    return role == WorkRole::kHeavy || role == WorkRole::kAttention || role == WorkRole::kOptimizer;
  }

  bool equal(size_t a, size_t b, size_t n) const {
    for (size_t i = 0; i < n; ++i) {
      if (items_[a + i].token != items_[b + i].token) return false;
    }
    return true;
  }

  Counts usual_counts(const std::vector<size_t>& begins) {
    const size_t stretches = begins.size() - 1;
    const size_t sampled = std::min(stretches, kSampled);
    std::vector<Counts> counts;
    for (size_t s = 0; s < sampled; ++s) {
      const size_t k = s * stretches / sampled;
      Counts& one = counts.emplace_back(tokens_);
      for (size_t i = begins[k]; i < begins[k + 1]; ++i) ++one[items_[i].token];
    }
    Counts usual(tokens_);
    std::vector<uint32_t> column(sampled);
    for (size_t t = 0; t < tokens_; ++t) {
      for (size_t s = 0; s < sampled; ++s) column[s] = counts[s][t];
      std::nth_element(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(sampled / 2),
                       column.end());
      usual[t] = column[sampled / 2];
    }
    return usual;
  }

  double likeness(const Level& level, size_t begin, size_t end) {
    size_t common = 0;
    for (size_t i = begin; i < end; ++i) {
      const uint32_t token = items_[i].token;
      common += count_[token]++ < level.usual[token] ? 1 : 0;
    }
    for (size_t i = begin; i < end; ++i) count_[items_[i].token] = 0;
    return static_cast<double>(common) / static_cast<double>(std::max(end - begin, level.length));
  }

  // Adds the part, or the section of it that is similar to the typical one.
  void add_part(Level& level, size_t begin, size_t end, bool last_first) {
    double alike = likeness(level, begin, end);
    if (alike < kAlike && end - begin > level.length) {
      const Period head{begin, begin + level.length};
      const Period tail{end - level.length, end};
      for (const Period& part : {last_first ? tail : head, last_first ? head : tail}) {
        alike = likeness(level, part.begin, part.end);
        begin = part.begin;
        end = part.end;
        if (alike >= kAlike) break;
      }
    }
    if (alike < kAlike) return;
    level.parts.push_back({begin, end});
    level.covered += end - begin;
    level.alike = std::min(level.alike, alike);
  }

  std::vector<std::vector<size_t>> places() const {
    std::vector<std::vector<size_t>> at(tokens_);
    for (size_t i = 0; i < items_.size(); ++i) at[items_[i].token].push_back(i);
    return at;
  }

  static void add_mark(std::vector<size_t> begins, std::vector<Mark>& marks) {
    if (begins.size() < kLeastPeriods) return;
    const double uneven = unevenness(begins);
    marks.push_back({std::move(begins), uneven});
  }

  static std::vector<size_t> cluster_starts(const std::vector<size_t>& at) {
    const size_t gap = cluster_gap(at);
    if (gap == 0) return {};
    std::vector<size_t> starts = {at.front()};
    for (size_t i = 1; i < at.size(); ++i) {
      if (at[i] - at[i - 1] >= gap) starts.push_back(at[i]);
    }
    return starts;
  }

  // Marks to try: the most evenly spaced ones, a few for each number of parts.
  std::vector<Mark> marks() const {
    std::vector<Mark> all;
    for (const std::vector<size_t>& at : places()) {
      if (at.size() < kLeastPeriods) continue;
      add_mark(at, all);
      add_mark(cluster_starts(at), all);
    }
    add_mark(optimizer_ends(), all);
    std::stable_sort(all.begin(), all.end(), [](const Mark& a, const Mark& b) {
      return a.unevenness != b.unevenness ? a.unevenness < b.unevenness
                                          : a.begins.size() < b.begins.size();
    });
    std::map<size_t, size_t> taken;
    std::vector<Mark> kept;
    for (Mark& mark : all) {
      if (kept.size() == kMostMarks) break;
      if (items_.size() / mark.begins.size() < demands_.least_items) continue;
      if (++taken[mark.begins.size()] <= kMarksPerCount) kept.push_back(std::move(mark));
    }
    return kept;
  }

  // The end of each cluster of optimizer kernels.
  std::vector<size_t> optimizer_ends() const {
    std::vector<size_t> at;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].role == WorkRole::kOptimizer) at.push_back(i);
    }
    if (at.empty()) return {};
    const size_t gap = std::max<size_t>(cluster_gap(at), 1);
    std::vector<size_t> ends;
    for (size_t i = 0; i < at.size(); ++i) {
      const bool last = i + 1 == at.size() || at[i + 1] - at[i] >= gap;
      if (last && at[i] + 1 < items_.size()) ends.push_back(at[i] + 1);
    }
    return ends;
  }

  // The longest gap of each part, if it nearly always precedes the same name.
  std::vector<size_t> longest_pauses(const Level& level) const {
    std::vector<size_t> at;
    std::map<uint32_t, size_t> times;
    for (const Period& part : level.parts) {
      size_t longest = part.begin;
      for (size_t i = part.begin; i < part.end; ++i) {
        if (items_[i].begins && items_[i].gap_ns > items_[longest].gap_ns) longest = i;
      }
      at.push_back(longest);
      ++times[items_[longest].token];
    }
    const auto usual =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto all = static_cast<double>(at.size());
    if (static_cast<double>(usual->second) + 1 < kAlike * all) return {};
    std::vector<double> pauses;
    for (const size_t i : at) pauses.push_back(static_cast<double>(items_[i].gap_ns));
    const double long_enough = median_of(pauses) / 2;
    at.clear();
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool paused = static_cast<double>(items_[i].gap_ns) >= long_enough;
      // The first one has no gap before it.
      if (items_[i].token == usual->first && (paused || i == 0)) at.push_back(i);
    }
    return at;
  }

  // Positions of the name that occurs once in each part after the longest gap.
  std::vector<size_t> paused_begins(const Level& level) const {
    std::map<uint32_t, std::vector<double>> pauses;
    std::map<uint32_t, bool> inside;
    for (const Period& part : level.parts) {
      for (size_t i = part.begin; i < part.end; ++i) {
        const uint32_t token = items_[i].token;
        if (level.usual[token] != 1) continue;
        pauses[token].push_back(static_cast<double>(items_[i].gap_ns));
        if (!items_[i].begins && i > 0) inside[token] = true;
      }
    }
    double longest = -1;
    uint32_t best = 0;
    for (const auto& [token, gaps] : pauses) {
      if (inside.contains(token)) continue;
      const double pause = median_of(gaps);
      if (pause > longest) best = token;
      longest = std::max(longest, pause);
    }
    if (longest < 0) return {};
    return places()[best];
  }

  const std::vector<SequenceItem>& items_;
  size_t tokens_;
  Demands demands_;
  Counts count_;  // all 0 between calls
  std::vector<WorkRole> role_;
  bool heavy_ = false;
};

// The level with iterations as its parts, and the evidence; nullopt if it is unclear.
std::optional<std::pair<Level, PeriodEvidence>> iterations_of(Search& search,
                                                              std::vector<Level> levels) {
  if (search.has_role(WorkRole::kOptimizer)) {
    for (Level& level : levels) {
      if (search.holds_role(level, WorkRole::kOptimizer)) {
        return std::pair(std::move(level), PeriodEvidence::kOptimizer);
      }
    }
    return std::nullopt;
  }
  if (levels.empty()) return std::nullopt;
  size_t at = 0;
  for (size_t above = 1; above < levels.size(); ++above) {
    if (search.adds_to_layers(levels[above], levels[at])) at = above;
  }
  Level& level = levels[at];
  // Only models with known names: among unknown names, a layer with experts looks like an
  // iteration.
  if (search.is_model() && (at > 0 || search.holds_layers(level))) {
    return std::pair(std::move(level), PeriodEvidence::kLayers);
  }
  if (search.holds_role(level, WorkRole::kReadback) && !search.may_be_layer(level)) {
    return std::pair(std::move(level), PeriodEvidence::kReadback);
  }
  if (search.comes_after_pauses(search.cut_well(level))) {
    return std::pair(std::move(level), PeriodEvidence::kPause);
  }
  const bool may_be_cut = !search.is_model() || search.is_even(level);
  if (may_be_cut && search.is_whole(level) && !search.holds_role(level, WorkRole::kAttention)) {
    return std::pair(std::move(level), PeriodEvidence::kWhole);
  }
  return std::nullopt;
}

}  // namespace

std::string_view period_evidence_words(PeriodEvidence evidence) {
  switch (evidence) {
    case PeriodEvidence::kOptimizer:
      return "each with its optimizer";
    case PeriodEvidence::kLayers:
      return "each with layers inside";
    case PeriodEvidence::kReadback:
      return "each with a copy to the host";
    case PeriodEvidence::kPause:
      return "each after a gap ten times as long as itself";
    case PeriodEvidence::kWhole:
      return "nothing lies between them";
  }
  return "";
}

std::optional<Periods> find_periods(const std::vector<SequenceItem>& items) {
  if (items.size() < kLeastPeriods * kLeastItems) return std::nullopt;
  size_t tokens = 0;
  for (const SequenceItem& item : items) tokens = std::max<size_t>(tokens, item.token + 1);
  Search search(items, tokens, {});
  auto found = iterations_of(search, search.levels());
  if (!found) return std::nullopt;
  const Level level = search.cut_well(found->first);
  if (!search.in_order(level)) return std::nullopt;
  Periods result{.periods = level.parts, .evidence = found->second};
  result.items = level.length;
  result.alike = level.alike;
  result.outside = items.size() - level.covered;
  for (const Period& one : level.parts) {
    if (one.begin > 0 && !items[one.begin].begins) return std::nullopt;
  }
  return result;
}

}  // namespace assay
