#include "flow/host_compute.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {
namespace {

constexpr int64_t kLeastMeanNs = 20'000;

// Operator names, without their library, that only allocate, copy or view tensors. They are slow if
// a tensor subclass runs Python code or the GIL is taken.
constexpr std::string_view kComputesNothing =
    " _to_copy _unsafe_view _reshape_alias alias as_strided chunk contiguous detach detach_ expand"
    " expand_as flatten lift_fresh movedim narrow numpy_T permute pin_memory _pin_memory"
    " requires_grad_ reshape resize_ result_type select set_ slice split split_with_sizes squeeze"
    " squeeze_ t t_ to transpose transpose_ unbind unflatten unsqueeze unsqueeze_ view view_as"
    " wait_tensor ";

// True for a name with a library prefix, except autograd nodes, which contain other operators, and
// communication (`c10d::`), which waits.
bool may_compute(std::string_view name) {
  const size_t at = name.rfind("::");
  if (at == std::string_view::npos || name.starts_with("c10d") ||
      name.find("autograd::") != name.npos || name.find("empty") != name.npos ||
      name.find("copy") != name.npos) {
    return false;
  }
  const std::string word = " " + std::string(name.substr(at + 2)) + " ";
  return kComputesNothing.find(word) == std::string_view::npos;
}

struct OfOneName {
  int64_t ns = 0;
  int64_t count = 0;
  bool calls = false;
};

// Fills per requested name the total duration and count of its operators, and whether one contains
// a runtime call.
std::unordered_map<uint32_t, OfOneName> rows_by_name(const Trace& trace,
                                                     std::unordered_map<uint32_t, OfOneName> of) {
  std::unordered_map<uint32_t, std::vector<int64_t>> calls_ns;  // by thread
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    calls_ns[trace.api_calls.thread[c].value].push_back(trace.api_calls.start_ns[c]);
  }
  for (auto& [thread, starts_ns] : calls_ns) std::sort(starts_ns.begin(), starts_ns.end());
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const auto found = of.find(trace.ops.name[i].value);
    if (found == of.end()) continue;
    OfOneName& one = found->second;
    one.ns += trace.ops.dur_ns[i];
    ++one.count;
    const std::vector<int64_t>& starts_ns = calls_ns[trace.ops.thread[i].value];
    const auto next = std::lower_bound(starts_ns.begin(), starts_ns.end(), trace.ops.start_ns[i]);
    one.calls |= next != starts_ns.end() && *next < trace.ops.start_ns[i] + trace.ops.dur_ns[i];
  }
  return of;
}

}  // namespace

HostCompute host_compute(const Trace& trace, const std::vector<Contributor>& contributors) {
  std::unordered_map<uint32_t, OfOneName> asked;
  for (const Contributor& one : contributors) {
    const bool op = one.cause == FlowCause::kDispatch && one.source == RowSource::kOp;
    if (op && may_compute(trace.text(one.name))) asked.try_emplace(one.name.value);
  }
  if (asked.empty() || trace.api_calls.empty()) return {};
  const auto rows = rows_by_name(trace, std::move(asked));
  HostCompute found;
  for (const Contributor& one : contributors) {
    if (one.cause != FlowCause::kDispatch || one.source != RowSource::kOp) continue;
    const auto row = rows.find(one.name.value);
    if (row == rows.end() || row->second.calls) continue;
    if (row->second.ns < kLeastMeanNs * row->second.count) continue;
    found.ns += one.ns;
    found.names.push_back(one.name);
  }
  return found;
}

}  // namespace assay
