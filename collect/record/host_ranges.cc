#include "collect/record/host_ranges.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

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

HostRanges::Open HostRanges::opened(std::string_view domain, std::string_view name,
                                    uint32_t category) {
  return {this_thread(), texts_.hold(domain), texts_.hold(name),
          category,      monotonic_ns(),      is_capture(name)};
}

void HostRanges::forget(const Open& open) {
  texts_.release(open.domain);
  texts_.release(open.name);
}

// For one record with these texts, which the file then needs.
bool HostRanges::room_for(std::initializer_list<uint32_t> texts) {
  const bool fits = waiting() < most_waiting_ && texts_.waiting_bytes() < most_text_bytes_ &&
                    std::find(texts.begin(), texts.end(), kLostText) == texts.end();
  if (!fits) {
    ++lost_;
    return false;
  }
  for (const uint32_t text : texts) texts_.write(text);
  waiting_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void HostRanges::keep_range(const Open& open, uint32_t flags) {
  if (!room_for({open.name, open.domain})) return;
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

int HostRanges::push(std::string_view domain, std::string_view name, uint32_t category) {
  const std::lock_guard lock(mutex_);
  const Open added = opened(domain, name, category);
  std::vector<Open>& open = stack(added.thread);
  int depth = 0;
  for (const Open& range : open) depth += range.domain == added.domain ? 1 : 0;
  open.push_back(added);
  return depth;
}

int HostRanges::pop(std::string_view domain, bool keep, bool& captures) {
  const uint32_t thread = this_thread();
  const std::lock_guard lock(mutex_);
  const uint32_t in = texts_.hold(domain);
  std::vector<Open>& open = stack(thread);
  auto last = open.rbegin();
  while (last != open.rend() && last->domain != in) ++last;
  int depth = -1;
  if (last != open.rend()) {
    captures = last->captures;
    if (keep) keep_range(*last, wire::kPushPop);
    forget(*last);
    open.erase(std::next(last).base());
    depth = 0;
    for (const Open& range : open) depth += range.domain == in ? 1 : 0;
  }
  texts_.release(in);
  return depth;
}

uint64_t HostRanges::start(std::string_view domain, std::string_view name, uint32_t category) {
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_start_++;
  started_[id] = opened(domain, name, category);
  return id;
}

bool HostRanges::end(uint64_t id, bool keep, bool& captures) {
  const std::lock_guard lock(mutex_);
  const auto found = started_.find(id);
  if (found == started_.end()) return false;
  captures = found->second.captures;
  if (keep) keep_range(found->second, 0);
  forget(found->second);
  started_.erase(found);
  return true;
}

void HostRanges::mark(std::string_view domain, std::string_view name) {
  wire::Mark mark = {};
  mark.thread = this_thread();
  mark.time = monotonic_ns();
  const std::lock_guard lock(mutex_);
  mark.name = texts_.hold(name);
  mark.domain = texts_.hold(domain);
  if (room_for({mark.name, mark.domain})) marks_.push_back(mark);
  texts_.release(mark.name);
  texts_.release(mark.domain);
}

void HostRanges::name_thread(uint32_t thread, std::string_view name) {
  wire::ThreadName named = {};
  named.thread = thread;
  const std::lock_guard lock(mutex_);
  named.name = texts_.hold(name);
  if (room_for({named.name})) threads_.push_back(named);
  texts_.release(named.name);
}

void HostRanges::add(const OperatorSeen& seen) {
  wire::Operator op = {};
  op.thread = seen.thread;
  op.start = seen.start;
  op.end = seen.end;
  op.sequence = seen.sequence;
  op.forward_thread = seen.forward_thread;
  op.flags = seen.is_range != 0 ? uint32_t{wire::kUserRange} : 0;
  const auto hold = [this](const char* text) {
    return texts_.hold(text != nullptr ? std::string_view(text) : std::string_view());
  };
  const std::lock_guard lock(mutex_);
  op.name = hold(seen.name);
  op.dims = hold(seen.dims);
  op.types = hold(seen.types);
  op.strides = hold(seen.strides);
  op.concrete = hold(seen.concrete);
  const auto texts = {op.name, op.dims, op.types, op.strides, op.concrete};
  if (room_for(texts)) operators_.push_back(op);
  for (const uint32_t text : texts) texts_.release(text);
}

uint64_t HostRanges::texts_forgotten() {
  const std::lock_guard lock(mutex_);
  return texts_.forgotten();
}

bool HostRanges::fetch(TraceFile& file) {
  std::vector<Texts::Definition> texts;
  std::vector<wire::Range> ranges;
  std::vector<wire::Mark> marks;
  std::vector<wire::ThreadName> threads;
  std::vector<wire::Operator> operators;
  uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    texts = texts_.fetch();
    ranges.swap(ranges_);
    marks.swap(marks_);
    threads.swap(threads_);
    operators.swap(operators_);
    std::swap(lost, lost_);
    waiting_.store(0, std::memory_order_relaxed);
  }
  for (const auto& [id, value] : texts) file.define(id, value);
  for (const wire::Range& range : ranges) file.add(wire::Kind::kRange, range);
  for (const wire::Mark& mark : marks) file.add(wire::Kind::kMark, mark);
  for (const wire::ThreadName& thread : threads) file.add(wire::Kind::kThread, thread);
  for (const wire::Operator& op : operators) file.add(wire::Kind::kOperator, op);
  file.count_lost(wire::LostReason::kMemory, lost);
  return !ranges.empty() || !marks.empty() || !threads.empty() || !operators.empty() || lost > 0;
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
