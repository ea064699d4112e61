#include "breakdown/twins.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay {
namespace {

constexpr size_t kLeastRun = 8;

bool wants_twin(const KernelLevel& row) {
  const bool told = row.unplaced == UnplacedReason::kPlaced && row.phase != LevelPhase::kNone;
  return row.t_l_ns == kNoTime && !told && row.by != PlacedBy::kMap &&
         row.by != PlacedBy::kStructure && row.by != PlacedBy::kKernelName;
}

void copy_place(const KernelLevel& from, KernelLevel& to) {
  to.phase = from.phase;
  to.layer = from.layer;
  if (to.unplaced == UnplacedReason::kPlaced) return;  // a collective keeps its own kind
  to.op = from.op;
  to.by = PlacedBy::kTwin;
  to.unplaced = UnplacedReason::kPlaced;
}

// z[i]: length of the longest common prefix of text and text[i..].
std::vector<uint32_t> z_function(const std::vector<uint32_t>& text) {
  std::vector<uint32_t> z(text.size(), 0);
  size_t left = 0;
  size_t right = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    size_t length = i < right ? std::min<size_t>(right - i, z[i - left]) : 0;
    while (i + length < text.size() && text[length] == text[i + length]) ++length;
    z[i] = static_cast<uint32_t>(length);
    if (i + length > right) {
      left = i;
      right = i + length;
    }
  }
  return z;
}

// The rows of one stream, sorted by start.
class StreamTwins {
 public:
  StreamTwins(std::vector<KernelLevel>& rows, const std::vector<uint32_t>& order) : rows_(rows) {
    for (uint32_t row : order) (wants_twin(rows[row]) ? open_ : placed_).push_back(row);
  }

  void place() {
    size_t end = open_.size();
    for (size_t round = 0; end > 0 && round < kMostRounds; ++round) {
      const size_t length = place_suffix(end);
      // A kernel without a match may be between two sequences that have one.
      end -= std::max<size_t>(length, 1);
      if (length == 0 && ++failures_ > kMostFailures) return;
    }
  }

 private:
  // Limits, because each round costs a pass over the stream: a stream in many pieces matches
  // nothing.
  static constexpr size_t kMostRounds = 256;
  static constexpr size_t kMostFailures = 16;

  // Attributes the longest matching suffix of open_[0, end); returns its number of rows.
  size_t place_suffix(size_t end) {
    std::vector<uint32_t> text;
    text.reserve(end + placed_.size() + 1);
    for (size_t i = end; i-- > 0;) text.push_back(rows_[open_[i]].kernel.value);
    text.push_back(UINT32_MAX);
    for (size_t i = placed_.size(); i-- > 0;) text.push_back(rows_[placed_[i]].kernel.value);
    const std::vector<uint32_t> z = z_function(text);
    size_t best = 0;
    size_t at = 0;
    for (size_t i = end + 1; i < text.size(); ++i) {
      if (z[i] <= best) continue;  // among equally long matches, the latest in time is used
      best = z[i];
      at = i;
    }
    if (best < kLeastRun) return 0;
    for (size_t k = 0; k < best; ++k) {
      const uint32_t twin = placed_[text.size() - 1 - (at + k)];
      copy_place(rows_[twin], rows_[open_[end - 1 - k]]);
    }
    return best;
  }

  std::vector<KernelLevel>& rows_;
  std::vector<uint32_t> open_;
  std::vector<uint32_t> placed_;
  size_t failures_ = 0;
};

// Attribution that all attributed kernels of a name share.
struct Shared {
  const KernelLevel* first = nullptr;
  bool op = true;
  bool phase = true;
  bool layer = true;
};

void place_by_name(std::vector<KernelLevel>& rows) {
  std::unordered_map<uint32_t, Shared> shared;
  for (const KernelLevel& row : rows) {
    if (wants_twin(row) || row.unplaced != UnplacedReason::kPlaced) continue;
    Shared& one = shared[row.kernel.value];
    if (one.first == nullptr) one.first = &row;
    one.op = one.op && one.first->op == row.op;
    one.phase = one.phase && one.first->phase == row.phase;
    one.layer = one.layer && one.first->layer == row.layer;
  }
  for (KernelLevel& row : rows) {
    if (!wants_twin(row)) continue;
    const auto found = shared.find(row.kernel.value);
    if (found == shared.end() || !found->second.op || !found->second.phase) continue;
    const int32_t layer = found->second.layer ? found->second.first->layer : kNoLayer;
    copy_place(*found->second.first, row);
    row.layer = layer;
  }
}

}  // namespace

void place_by_twins(const Trace& trace, std::vector<KernelLevel>& rows) {
  if (std::none_of(rows.begin(), rows.end(), wants_twin)) return;
  std::map<StreamId, std::vector<uint32_t>> streams;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    streams[trace.activities.stream[rows[i].activity.index()]].push_back(i);
  }
  for (auto& [stream, order] : streams) {
    std::sort(order.begin(), order.end(), [&rows](uint32_t a, uint32_t b) {
      return std::tie(rows[a].t_ks_ns, rows[a].activity) <
             std::tie(rows[b].t_ks_ns, rows[b].activity);
    });
    StreamTwins(rows, order).place();
  }
  place_by_name(rows);
}

}  // namespace assay
