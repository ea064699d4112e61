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
  return {this_thread(),
          texts_.hold(domain),
          texts_.hold(name),
          category,
          monotonic_ns(),
          is_capture(name),
          0};
}

// Shares an open range, so that it is written if the process dies. Limited by the number of places.
void HostRanges::share(Open& open, uint32_t flags) {
  if (free_open_.empty() || !room_for({open.name, open.domain})) return;
  define({open.name, open.domain});
  open.shared = free_open_.back();
  free_open_.pop_back();
  SharedOpenRange& place = area_->place().open[open.shared - 1];
  place.thread = open.thread;
  place.name = open.name;
  place.domain = open.domain;
  place.category = open.category;
  place.flags = flags;
  place.start.store(open.start, std::memory_order_release);
}

void HostRanges::forget(const Open& open) {
  if (open.shared != 0) {
    area_->place().open[open.shared - 1].start.store(0, std::memory_order_release);
    free_open_.push_back(open.shared);
  }
  texts_.release(open.domain);
  texts_.release(open.name);
}

// True if there is space for one record with these texts.
bool HostRanges::room_for(std::initializer_list<uint32_t> texts) const {
  const size_t most_bytes = 256 + texts.size() * (sizeof(wire::String) + wire::kMaxText + 8);
  return waiting() < most_waiting_ && log_.room() >= most_bytes &&
         std::find(texts.begin(), texts.end(), kLostText) == texts.end();
}

// Writes those texts that the file does not have yet.
void HostRanges::define(std::initializer_list<uint32_t> texts) {
  for (const uint32_t text : texts) texts_.write(text);
  if (texts_.waiting_bytes() == 0) return;
  for (const auto& [id, value] : texts_.fetch()) {
    const wire::String record = wire::string_record(id, value.size());
    log_.add(&record, sizeof(record), value.data(), value.size());
  }
}

template <typename Record>
void HostRanges::keep(wire::Kind kind, Record record, std::initializer_list<uint32_t> texts) {
  if (!room_for(texts)) {
    ++lost_;
    return;
  }
  define(texts);
  record.header = {kind, sizeof(Record)};
  log_.add(&record, sizeof(record));
  waiting_.fetch_add(1, std::memory_order_relaxed);
}

void HostRanges::keep_range(const Open& open, uint32_t flags) {
  wire::Range range = {};
  range.thread = open.thread;
  range.start = open.start;
  range.end = monotonic_ns();
  range.name = open.name;
  range.domain = open.domain;
  range.flags = flags;
  range.category = open.category;
  keep(wire::Kind::kRange, range, {open.name, open.domain});
}

void HostRanges::use(Area& area) {
  const std::lock_guard lock(mutex_);
  log_.use(area);
  area_ = &area;
  if (!area.is_shared()) return;
  for (uint32_t i = SharedPlace::kMostOpen; i > 0; --i) free_open_.push_back(i);
  for (auto& [thread, stack] : stacks_) {
    for (Open& range : stack) share(range, wire::kPushPop);
  }
  for (auto& [id, range] : started_) share(range, 0);
}

int HostRanges::push(std::string_view domain, std::string_view name, uint32_t category, bool keep) {
  const std::lock_guard lock(mutex_);
  Open added = opened(domain, name, category);
  if (keep) share(added, wire::kPushPop);
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

uint64_t HostRanges::start(std::string_view domain, std::string_view name, uint32_t category,
                           bool keep) {
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_start_++;
  Open& added = started_[id] = opened(domain, name, category);
  if (keep) share(added, 0);
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
  keep(wire::Kind::kMark, mark, {mark.name, mark.domain});
  texts_.release(mark.name);
  texts_.release(mark.domain);
}

void HostRanges::name_thread(uint32_t thread, std::string_view name) {
  wire::ThreadName named = {};
  named.thread = thread;
  const std::lock_guard lock(mutex_);
  named.name = texts_.hold(name);
  keep(wire::Kind::kThread, named, {named.name});
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
  keep(wire::Kind::kOperator, op, texts);
  for (const uint32_t text : texts) texts_.release(text);
}

uint64_t HostRanges::texts_forgotten() {
  const std::lock_guard lock(mutex_);
  return texts_.forgotten();
}

void HostRanges::add(wire::Window window) {
  window.header = {wire::Kind::kWindow, sizeof(window)};
  const std::lock_guard lock(mutex_);
  if (log_.room() >= sizeof(window)) log_.add(&window, sizeof(window));
}

bool HostRanges::fetch(TraceFile& file, SourceProgress& progress) {
  bool any = false;
  uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    any = log_.swap();
    std::swap(lost, lost_);
    waiting_.store(0, std::memory_order_relaxed);
  }
  file.count_lost(wire::LostReason::kMemory, lost);
  if (!any) return lost > 0;
  log_.write_full(file, progress);
  file.flush();
  log_.give_back();
  return true;
}

void HostRanges::end_all(TraceFile& file, SourceProgress& progress) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [thread, open] : stacks_) {
      for (const Open& range : open) {
        keep_range(range, wire::kPushPop | wire::kStillOpen);
        forget(range);
      }
      open.clear();
    }
    for (auto& [id, range] : started_) {
      keep_range(range, wire::kStillOpen);
      forget(range);
    }
    started_.clear();
  }
  fetch(file, progress);
}

}  // namespace assay::record
