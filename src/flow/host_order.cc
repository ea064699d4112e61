#include "flow/host_order.h"

#include <algorithm>
#include <unordered_map>

namespace assay {
namespace {

using NamePair = uint64_t;

class HostOrder {
 public:
  explicit HostOrder(const FlowRun& run) : run_(run), streams_(run.trace->streams.size()) {}

  std::vector<uint32_t> find() {
    if (streams_ < 2) return {};
    for (const HostThread& thread : run_.threads) {
      if (thread.launches > 0) go_through(thread);
    }
    if (after_.empty()) return {};
    drop_disproved();
    return std::move(after_);
  }

 private:
  void go_through(const HostThread& thread) {
    uint32_t waited = kNoFlowRow;
    // Per stream: the last wait that already orders some of its work.
    std::vector<uint32_t> followed(streams_, kNoFlowRow);
    for (uint32_t c = thread.first_call; c < thread.first_call + thread.call_count; ++c) {
      const FlowCall& call = run_.calls[c];
      for (uint32_t k = 0; waited != kNoFlowRow && k < call.work_count; ++k) {
        put_after(run_.works_of_calls[call.first_work + k], waited, followed);
      }
      if (!call.blocks) continue;
      for (uint32_t k = 0; k < call.target_count; ++k) {
        const uint32_t target = run_.targets[call.first_target + k];
        const bool later =
            waited == kNoFlowRow || run_.works[target].end_ns > run_.works[waited].end_ns;
        if (later) waited = target;
      }
    }
  }

  void put_after(uint32_t w, uint32_t waited, std::vector<uint32_t>& followed) {
    const FlowWork& work = run_.works[w];
    const FlowWork& before = run_.works[waited];
    if (work.stream == before.stream || followed[work.stream] == waited) return;
    followed[work.stream] = waited;
    if (before.end_ns > work.start_ns) return;  // clocks that differ
    if (after_.empty()) after_.assign(run_.works.size(), kNoFlowRow);
    after_[w] = waited;
  }

  NamePair names(uint32_t a, uint32_t b) const {
    const auto name = [this](uint32_t w) -> uint64_t {
      return run_.trace->activities.name[run_.works[w].activity.index()].value;
    };
    return std::min(name(a), name(b)) << 32 | std::max(name(a), name(b));
  }

  // Removes pairs with names that overlap at least three times: they need no order.
  void drop_disproved() {
    constexpr uint64_t kPlaces = 3;
    std::unordered_map<NamePair, uint64_t> overlaps;
    for (uint32_t w = 0; w < after_.size(); ++w) {
      if (after_[w] != kNoFlowRow) overlaps.try_emplace(names(after_[w], w), 0);
    }
    std::vector<uint32_t> running(streams_, kNoFlowRow);  // per stream: the last work to end
    std::vector<uint32_t> busy;                           // streams with running work
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      const FlowWork& work = run_.works[w];
      std::erase_if(busy, [&](uint32_t stream) {
        return run_.works[running[stream]].end_ns <= work.start_ns;
      });
      for (const uint32_t stream : busy) {
        if (stream == work.stream) continue;
        const auto pair = overlaps.find(names(running[stream], w));
        if (pair != overlaps.end()) ++pair->second;
      }
      const bool known = std::find(busy.begin(), busy.end(), work.stream) != busy.end();
      if (!known) busy.push_back(work.stream);
      if (!known || run_.works[running[work.stream]].end_ns <= work.end_ns) {
        running[work.stream] = w;
      }
    }
    for (uint32_t w = 0; w < after_.size(); ++w) {
      if (after_[w] == kNoFlowRow) continue;
      if (overlaps.at(names(after_[w], w)) >= kPlaces) after_[w] = kNoFlowRow;
    }
  }

  const FlowRun& run_;
  const size_t streams_;
  std::vector<uint32_t> after_;
};

}  // namespace

std::vector<uint32_t> host_order(const FlowRun& run) { return HostOrder(run).find(); }

}  // namespace assay
