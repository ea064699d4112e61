#include "collect/record/host_ranges.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "collect/record/clocks.h"

namespace assay::record {

namespace {

std::atomic<uint32_t> forks = 1;

}  // namespace

void forget_threads() { forks.fetch_add(1, std::memory_order_relaxed); }

uint32_t this_thread() {
  static thread_local uint32_t thread = 0;
  static thread_local uint32_t asked_after = 0;
  const uint32_t now = forks.load(std::memory_order_relaxed);
  if (asked_after != now) {
    asked_after = now;
    thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  }
  return thread;
}

uint32_t HostRanges::text(std::string_view value) {
  if (value.empty()) return wire::kNoString;
  const std::lock_guard lock(mutex_);
  const auto id = static_cast<uint32_t>(ids_.size()) | kHostTextBit;
  const auto [found, added] = ids_.try_emplace(std::string(value), id);
  if (added) new_texts_.push_back({id, std::string(value)});
  return found->second;
}

bool HostRanges::room() {
  if (waiting() < most_waiting_) {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  ++lost_;
  return false;
}

void HostRanges::keep_range(const Open& open, uint32_t flags) {
  if (!room()) return;
  wire::Range range = {};
  range.thread = open.thread;
  range.start = open.start;
  range.end = monotonic_ns();
  range.name = open.name;
  range.domain = open.domain;
  range.flags = flags;
  range.category = open.category;
  ranges_.push_back(range);
}

int HostRanges::push(uint32_t domain, uint32_t name, uint32_t category) {
  const uint32_t thread = this_thread();
  const std::lock_guard lock(mutex_);
  std::vector<Open>& open = stack(thread);
  int depth = 0;
  for (const Open& range : open) depth += range.domain == domain ? 1 : 0;
  open.push_back({thread, domain, name, category, monotonic_ns()});
  return depth;
}

int HostRanges::pop(uint32_t domain, bool keep, uint32_t& name) {
  const uint32_t thread = this_thread();
  const std::lock_guard lock(mutex_);
  std::vector<Open>& open = stack(thread);
  auto last = open.rbegin();
  while (last != open.rend() && last->domain != domain) ++last;
  if (last == open.rend()) return -1;
  name = last->name;
  if (keep) keep_range(*last, wire::kPushPop);
  open.erase(std::next(last).base());
  int depth = 0;
  for (const Open& range : open) depth += range.domain == domain ? 1 : 0;
  return depth;
}

uint64_t HostRanges::start(uint32_t domain, uint32_t name, uint32_t category) {
  const uint32_t thread = this_thread();
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_start_++;
  started_[id] = {thread, domain, name, category, monotonic_ns()};
  return id;
}

bool HostRanges::end(uint64_t id, bool keep, uint32_t& name) {
  const std::lock_guard lock(mutex_);
  const auto found = started_.find(id);
  if (found == started_.end()) return false;
  name = found->second.name;
  if (keep) keep_range(found->second, 0);
  started_.erase(found);
  return true;
}

void HostRanges::mark(uint32_t domain, uint32_t name) {
  wire::Mark mark = {};
  mark.thread = this_thread();
  mark.time = monotonic_ns();
  mark.name = name;
  mark.domain = domain;
  const std::lock_guard lock(mutex_);
  if (room()) marks_.push_back(mark);
}

void HostRanges::name_thread(uint32_t thread, uint32_t name) {
  wire::ThreadName named = {};
  named.thread = thread;
  named.name = name;
  const std::lock_guard lock(mutex_);
  if (room()) threads_.push_back(named);
}

bool HostRanges::fetch(TraceFile& file) {
  std::vector<Text> texts;
  std::vector<wire::Range> ranges;
  std::vector<wire::Mark> marks;
  std::vector<wire::ThreadName> threads;
  uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    texts.swap(new_texts_);
    ranges.swap(ranges_);
    marks.swap(marks_);
    threads.swap(threads_);
    std::swap(lost, lost_);
    waiting_.store(0, std::memory_order_relaxed);
  }
  for (const Text& text : texts) file.define(text.id, text.value);
  for (const wire::Range& range : ranges) file.add(wire::Kind::kRange, range);
  for (const wire::Mark& mark : marks) file.add(wire::Kind::kMark, mark);
  for (const wire::ThreadName& thread : threads) file.add(wire::Kind::kThread, thread);
  file.count_lost(wire::LostReason::kMemory, lost);
  return !ranges.empty() || !marks.empty() || !threads.empty() || lost > 0;
}

void HostRanges::end_all(TraceFile& file) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [thread, open] : stacks_) {
      for (const Open& range : open) keep_range(range, wire::kPushPop | wire::kStillOpen);
      open.clear();
    }
    for (auto& [id, range] : started_) keep_range(range, wire::kStillOpen);
    started_.clear();
  }
  fetch(file);
}

}  // namespace assay::record
