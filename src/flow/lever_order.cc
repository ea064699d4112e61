#include "flow/lever_order.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/side_by_side.h"

namespace assay {
namespace {

// Problem: a greedy order needs a replay of each remaining edit after each one taken. Method: one
// more edit shortens the current critical path by what it removes from that path's edges, and no
// run ends before any of its paths does: that bounds the edit's gain. Edits are replayed only if
// the bound reaches the best gain found, mostly one of 30. The order equals that of replaying all.
class OrderFinder {
 public:
  OrderFinder(const GainFinder& finder, std::span<const OrderedLever> levers, unsigned threads)
      : finder_(finder), levers_(levers), search_(levers.size()) {
    const size_t workers = workers_for(levers.size(), threads);
    for (size_t w = 0; w < workers; ++w)
      workers_.push_back(std::make_unique<Worker>(finder.slots()));
  }

  std::vector<TakenLever> find(int64_t least_ns) {
    std::vector<TakenLever> order;
    std::vector<size_t> left(levers_.size());
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] = i;
      search_[i].more_ns = levers_[i].alone_ns;
    }
    while (!left.empty()) {
      const size_t best = order.empty() ? best_of(left) : next(left);
      if (search_[best].more_ns < least_ns) break;
      order.push_back({best, search_[best].more_ns});
      left.erase(std::find(left.begin(), left.end(), best));
      if (!left.empty()) take(best, order.size() == 1);
    }
    return order;
  }

 private:
  // State of one edit.
  struct Searched {
    int64_t more_ns = 0;   // time saved on top of those taken
    int64_t bound_ns = 0;  // upper bound of more_ns
    bool spent = false;    // changes nothing on top of those taken, hence never will
  };
  // Buffers of one thread.
  struct Worker {
    explicit Worker(const EditSlots& all) : trial(all) {}
    Trial trial;
    EditedLags lags;  // with all taken, except while one more is applied
    std::vector<uint32_t> slots;
  };

  size_t best_of(const std::vector<size_t>& left) const {
    return *std::max_element(left.begin(), left.end(), [&](size_t a, size_t b) {
      return search_[a].more_ns < search_[b].more_ns;
    });
  }

  // left: ascending.
  size_t next(const std::vector<size_t>& left) {
    side_by_side(left.size(), static_cast<unsigned>(workers_.size()), [&](size_t i, size_t worker) {
      search_[left[i]].bound_ns = bound_ns(left[i], *workers_[worker]);
    });
    std::vector<size_t> by_bound = left;
    std::stable_sort(by_bound.begin(), by_bound.end(),
                     [&](size_t a, size_t b) { return search_[a].bound_ns > search_[b].bound_ns; });
    size_t best = by_bound.front();
    search_[best].more_ns = more_ns(best);
    for (size_t k = 1; k < by_bound.size(); ++k) {
      const size_t i = by_bound[k];
      const int64_t best_ns = search_[best].more_ns;
      if (search_[i].bound_ns < best_ns) break;
      if (search_[i].bound_ns == best_ns && i > best) continue;
      search_[i].more_ns = more_ns(i);
      const bool first_of_equals = search_[i].more_ns == best_ns && i < best;
      if (search_[i].more_ns > best_ns || first_of_equals) best = i;
    }
    return best;
  }

  int64_t bound_ns(size_t lever, Worker& worker) {
    constexpr int64_t kUnbounded = INT64_MAX;
    if (search_[lever].spent) return 0;
    if (taken_bounded_) return kUnbounded;  // shorter work also raises the bound
    const EditSlots& all = finder_.slots();
    const auto& [edit, touched, alone_ns] = levers_[lever];
    worker.slots.clear();
    for (const uint32_t slot : touched) {
      if (on_path_[all.edge_of(slot)]) worker.slots.push_back(slot);
    }
    if (worker.slots.empty()) return 0;
    LagEditor& editor = worker.trial.editor;
    if (!editor.fits(taken_, *edit, lags_)) return kUnbounded;
    if (!editor.edit(taken_, *edit, worker.slots, worker.lags)) {
      search_[lever].spent = !editor.edit(taken_, *edit, touched, worker.lags);
      editor.copy(touched, lags_, worker.lags);
      return 0;
    }
    int64_t bound_ns = 0;
    bool cuts = false;
    for (const uint32_t slot : worker.slots) {
      const uint32_t edge = all.edge_of(slot);
      cuts |= worker.lags.lag_ns[edge] == kCutLag;
      if (!cuts) bound_ns += lags_.lag_ns[edge] - worker.lags.lag_ns[edge];
    }
    editor.copy(worker.slots, lags_, worker.lags);
    return cuts ? kUnbounded : bound_ns;
  }

  int64_t more_ns(size_t lever) {
    Searched& searched = search_[lever];
    if (searched.spent) return 0;
    Worker& worker = *workers_.front();
    LagEditor& editor = worker.trial.editor;
    const auto& [edit, touched, alone_ns] = levers_[lever];
    if (!editor.fits(taken_, *edit, lags_)) {
      StrongestEdits edits = taken_;
      add_edit(*edit, edits);
      editor.lags(edits, worker.trial.lags);
      searched.spent = worker.trial.lags == lags_;
      return searched.spent ? 0 : gain_ns(worker.trial.lags);
    }
    searched.spent = !editor.edit(taken_, *edit, touched, worker.lags);
    const int64_t more_ns = searched.spent ? 0 : gain_ns(worker.lags);
    editor.copy(touched, lags_, worker.lags);
    return more_ns;
  }

  // Time saved beyond those taken.
  int64_t gain_ns(const EditedLags& lags) {
    return finder_.run_gain(lags, workers_.front()->trial) - taken_ns_;
  }

  void take(size_t lever, bool first) {
    taken_ns_ += search_[lever].more_ns;
    LagEditor& editor = workers_.front()->trial.editor;
    const auto& [edit, touched, alone_ns] = levers_[lever];
    const bool spent = search_[lever].spent;
    const bool fits = !first && editor.fits(taken_, *edit, lags_);
    if (!spent && fits) editor.edit(taken_, *edit, touched, lags_);
    add_edit(*edit, taken_);
    if (spent) return;
    if (!fits) editor.lags(taken_, lags_);
    for (const auto& worker : workers_) {
      if (fits) {
        editor.copy(touched, lags_, worker->lags);
      } else {
        worker->lags = lags_;
      }
    }
    taken_bounded_ = finder_.mark_path(lags_, workers_.front()->trial, on_path_);
  }

  const GainFinder& finder_;
  const std::span<const OrderedLever> levers_;
  std::vector<Searched> search_;  // per lever
  std::vector<std::unique_ptr<Worker>> workers_;
  StrongestEdits taken_;
  EditedLags lags_;  // with all taken
  int64_t taken_ns_ = 0;
  bool taken_bounded_ = false;  // the bound on gains reduces their gain
  std::vector<bool> on_path_;   // per edge: on the critical path with all taken
};

}  // namespace

std::vector<TakenLever> order_levers(const GainFinder& finder, std::span<const OrderedLever> levers,
                                     int64_t least_ns, unsigned threads) {
  return OrderFinder(finder, levers, threads).find(least_ns);
}

}  // namespace assay
