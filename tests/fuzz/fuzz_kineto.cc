// Any bytes through the reader and every analysis behind it. Beyond not crashing: reading in one
// piece and reading in crumbs must give the same trace or the same refusal.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "flow/run.h"
#include "ingest/chrome/reader.h"
#include "launch/fusion.h"
#include "launch/metrics.h"
#include "launch/tree.h"
#include "trace/iterations.h"
#include "trace/links.h"

namespace {

assay::ReadFn bytes_of(const uint8_t* data, size_t size, size_t crumb) {
  return [data, size, crumb, at = size_t{0}](char* dst, size_t n) mutable -> assay::Result<size_t> {
    const size_t give = std::min({n, crumb, size - at});
    if (give > 0) std::memcpy(dst, data + at, give);
    at += give;
    return give;
  };
}

void require(bool condition) {
  if (!condition) std::abort();
}

void require_same(const assay::Trace& a, const assay::Trace& b) {
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) require(a.member.size() == b.member.size());
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  require(a.strings.size() == b.strings.size());
  require(a.ops.start_ns == b.ops.start_ns && a.activities.start_ns == b.activities.start_ns);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const assay::ReadOptions options{.allow_truncated = size % 2 == 1, .threads = 1};
  auto trace = assay::read_chrome_stream(bytes_of(data, size, size), options);
  auto again = assay::read_chrome_stream(bytes_of(data, size, 7), options);
  require(trace.has_value() == again.has_value());
  if (!trace) {
    require(trace.error().message == again.error().message);
    return 0;
  }
  require_same(*trace, *again);
  const assay::Links links = assay::link_trace(*trace);
  const assay::Windows windows = assay::find_iterations(*trace, links);
  const assay::DeviceFlow flow = assay::joint_flow(assay::make_flow_run(*trace, links));
  auto launch = assay::analyze_launch(*trace, links, windows, {.flow = &flow});
  require(launch.has_value());
  const assay::LaunchMetrics& whole = launch->whole;
  require(whole.tklqt_ns >= 0 && whole.gpu_idle_union_ns >= 0);
  require(whole.busy_in_window_ns + whole.gpu_idle_union_ns == whole.il_ns);
  int64_t told_ns = whole.idle.copy_ns + whole.idle.other_work_ns;
  for (const int64_t cause_ns : whole.idle.cause_ns) told_ns += cause_ns;
  require(told_ns == whole.gpu_idle_union_ns);
  require(assay::analyze_fusion(*trace, links, windows, {}).has_value());
  require(assay::build_call_tree(*trace, links, {}).has_value());
  return 0;
}
