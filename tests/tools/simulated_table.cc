#include <cstdio>
#include <cstdlib>
#include "support/power_proof.h"
using namespace assay;
int main(int argc, char** argv) {
  uint64_t from = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1, to = argc > 2 ? strtoull(argv[2], nullptr, 10) : 100;
  for (uint64_t seed = from; seed <= to; ++seed) {
    auto o = proof::prove(seed);
    std::printf("%3lu %-10s %-10s T=%8ld w/T=%7.3f n=%6u thr=%d mo=%d runs=%u g=%u lois=%u/%u %-14s ssp=%+.3f%% drift=%+.3f gold=%d curve=%.2f%% rms=%.2f%% band=%u/%u in=%d sm=%d deg=%u res=%.2f %s%s\n",
      seed, o.kind.c_str(), o.workload.c_str(), o.profile.t_exec_ns, o.w_over_t, o.plan.executions_per_run, o.plan.throttles, o.plan.mean_only, o.profile.runs, o.profile.golden, o.profile.lois, o.profile.loi_target,
      o.failed ? "FAILED" : std::string(power_verdict_name(o.profile.verdict)).c_str(), 100*o.ssp_error, o.drift_error, o.golden_is_common, 100*o.fit_rms, 100*o.curve_rms, o.band_hits, o.band_points, o.interval_holds, o.smooth, o.profile.degree, o.profile.residual_w,
      o.message.c_str(), o.profile.verdict==PowerVerdict::kRefused && !o.profile.reasons.empty() ? o.profile.reasons[0].substr(0,60).c_str() : "");
    std::fflush(stdout);
  }
}
