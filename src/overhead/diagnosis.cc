#include "overhead/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/intervals.h"

namespace assay {
namespace {

struct Part {
  HostOverheadLayer layer;
  int64_t ns;
};

void find_largest(const HostOverheadSums& sums, HostOverheadDiagnosis& diagnosis) {
  Part largest{HostOverheadLayer::kNone, 0};
  // If dispatch and library front end are not separable, they form one unnamed part.
  const bool split = sums.split_known;
  const Part both{HostOverheadLayer::kNone, sums.ft_dispatch_ns + sums.ct_ns};
  for (const Part part : {split ? Part{HostOverheadLayer::kDispatch, sums.ft_dispatch_ns} : both,
                          Part{HostOverheadLayer::kPython, sums.t_py_ns},
                          Part{HostOverheadLayer::kLaunch, sums.kt_ns},
                          split ? Part{HostOverheadLayer::kLibrary, sums.ct_ns} : both}) {
    if (part.ns > largest.ns) largest = part;
  }
  diagnosis.largest = largest.layer;
  if (sums.t_orch_ns > 0) {
    diagnosis.largest_share = static_cast<double>(largest.ns) / static_cast<double>(sums.t_orch_ns);
  }
}

class LeverList {
 public:
  LeverList(int64_t e2e_ns, std::vector<HostOverheadLever>& levers)
      : e2e_ns_(e2e_ns), levers_(levers) {}

  // The smaller of the affected time and the time that can be saved.
  void add(const char* key, int64_t reach_ns, const char* reach_basis, int64_t cap_ns,
           const char* cap_basis) {
    const int64_t at_most_ns = std::min(reach_ns, cap_ns);
    if (at_most_ns <= 0) return;
    levers_.push_back({key, at_most_ns,
                       static_cast<double>(at_most_ns) / static_cast<double>(e2e_ns_),
                       reach_ns <= cap_ns ? reach_basis : cap_basis});
  }

 private:
  int64_t e2e_ns_;
  std::vector<HostOverheadLever>& levers_;
};

// Collectives take the largest part of device time, waiting for other ranks included.
bool mostly_communication(const HostOverheadReport& report) {
  return 2 * communication_ns(report) > report.whole.sums.t_device_ns;
}

constexpr const char* kIdle = "time in which the GPU ran no kernel: no host change gives back more";
constexpr const char* kStack = "host time before the launch calls, waits left out (exclusive sum)";
constexpr const char* kPath =
    "host time before and in the launch calls, waits left out (exclusive sum)";

}  // namespace

DiagnosisLimits diagnosis_limits(const Trace& trace, const HostOverheadReport& report) {
  std::vector<Interval> busy;
  busy.reserve(report.rows.size());
  for (const HostOverheadRow& row : report.rows) {
    const int64_t start_ns = trace.activities.start_ns[row.kernel.index()];
    busy.push_back({start_ns, start_ns + row.cost.dur_ns});
  }
  DiagnosisLimits limits;
  limits.gpu_busy_ns = std::min(union_ns(std::move(busy)), report.whole.t_e2e_ns);
  limits.gpu_idle_ns = report.whole.t_e2e_ns - limits.gpu_busy_ns;
  return limits;
}

HostOverheadDiagnosis diagnose_overhead(const HostOverheadReport& report,
                                        const HostOverheadSums& sums,
                                        const DiagnosisLimits& limits) {
  HostOverheadDiagnosis diagnosis;
  const ExclusiveOverhead& host = report.whole.exclusive;
  diagnosis.gpu_idle_ns = limits.gpu_idle_ns;
  diagnosis.stack_ns = sums.ft_ns + sums.ct_ns;
  diagnosis.launch_path_ns = sums.kt_ns;
  if (sums.n == 0 || report.whole.t_e2e_ns <= 0) return diagnosis;
  find_largest(sums, diagnosis);
  LeverList levers(report.whole.t_e2e_ns, diagnosis.levers);
  const int64_t idle = limits.gpu_idle_ns;
  const int64_t stack = host.between_ns + host.py_ns + host.dispatch_ns;
  const int64_t path = stack + host.call_ns;
  const bool graphs_already = 2 * report.whole.orphans.graph_followers >= report.whole.sums.n;
  const auto compile = [&] { levers.add("compile", stack, kStack, idle, kIdle); };
  const auto library = [&] {
    if (!report.base_ns) return;  // without a base, the library part is unknown
    // Delta CT charges an operator once per kernel, so it is capped by the host time, counted once.
    levers.add(
        "library_path", std::min(sums.ct_ns, stack),
        sums.ct_ns <= stack ? "library translation, sum of the excess over the base" : kStack, idle,
        kIdle);
  };
  const auto fewer = [&] {
    levers.add("fusion", path, kPath, idle, kIdle);
    if (!graphs_already) levers.add("cuda_graphs", path, kPath, idle, kIdle);
  };
  // Changes with equal bounds keep this order: those to the dominant layer come first.
  if (diagnosis.launch_path_ns > diagnosis.stack_ns) {
    fewer();
    compile();
    library();
  } else if (sums.ct_ns > sums.ft_ns) {
    library();
    compile();
    fewer();
  } else {
    compile();
    library();
    fewer();
  }
  const auto faster = std::llround(kFasterCoreShare * static_cast<double>(path));
  levers.add("faster_core", faster,
             "29 % of the host time before and in the launch calls: the most a newer CPU took off "
             "in the paper",
             idle, kIdle);
  levers.add(mostly_communication(report) ? "communication" : "device_work", limits.gpu_busy_ns,
             "time in which a kernel ran", report.whole.t_e2e_ns, "wall time");
  std::stable_sort(diagnosis.levers.begin(), diagnosis.levers.end(),
                   [](const HostOverheadLever& a, const HostOverheadLever& b) {
                     return a.at_most_ns > b.at_most_ns;
                   });
  return diagnosis;
}

}  // namespace assay
