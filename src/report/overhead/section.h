#pragma once

// From results of the overhead module to sections of a Document.

#include <optional>
#include <string>
#include <vector>

#include "flow/flow.h"
#include "overhead/diagnosis.h"
#include "overhead/kernel_db.h"
#include "overhead/measured.h"
#include "overhead/overhead.h"
#include "overhead/sweep.h"
#include "report/document/document.h"
#include "report/document/step_rows.h"
#include "report/run/section.h"

namespace assay {

// Two decimals; values that only round to 0 or 1 are marked.
std::string hdbi_text(double hdbi);

// Label of every sum as printed in the paper.
inline constexpr const char* kAsPrinted = "as printed; may exceed wall";

// Names of two layers, which depend on the mode.
struct LayerNames {
  const char* dispatch;
  const char* launch;
};
LayerNames layer_names(HostOverheadMode mode);

// A change from the overhead module, for readers. Its gain comes from a replay of the same change;
// the module's own bound is shown as well.
struct HostOverheadAdvice {
  HostOverheadLever lever;
  std::string what;     // one sentence: what to do
  std::string same_as;  // key of the headline's action with the same or a larger effect
  Lever replayed;       // that lever
};
// levers: actions of the headline, in its order. A change without such an action is not
// recommended, so that sections do not contradict each other. If the cause is unknown, nothing is
// recommended.
std::vector<HostOverheadAdvice> overhead_advice(const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<Lever>& levers);

// Recommendations with one common replay, shown together.
struct AdviceGroup {
  Lever replayed;
  std::vector<std::string> what;
};
std::vector<AdviceGroup> group_advice(const std::vector<HostOverheadAdvice>& advice);

// Sentences of `assay overhead`; the first one is the answer. cold_ns: time in which one-time
// initialization blocks the devices, by the causes of idle time, over `devices`.
std::vector<std::string> overhead_verdict_words(const Trace& trace,
                                                const HostOverheadReport& report,
                                                const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<HostOverheadAdvice>& advice,
                                                int64_t cold_ns = 0, size_t devices = 1);
// The sentence that follows the answer when there is a replay.
std::string overhead_measured_words(const HostOverheadReport& report,
                                    const MeasuredReport& measured);
// One or two sentences for `assay report`, which has its own headline.
std::vector<std::string> overhead_report_words(const HostOverheadReport& report,
                                               const HostOverheadDiagnosis& diagnosis);

// T_Orch and HDBI of the run without its profiler, by a measured iteration (docs/metrics.md, Untraced). All rows cost alike;
// the ends are over the parts of the host that the profiler may have slowed.
struct UntracedOverhead {
  int64_t iteration_ns = 0;
  int64_t recorded_iteration_ns = 0;
  double each_ns = 0;  // T_Orch of an iteration: mean
  double each_low_ns = 0;
  double each_high_ns = 0;
  std::string from = {};  // where the measured iteration comes from
  int64_t t_orch_ns = 0;  // of the whole trace, as its least and most
  int64_t t_orch_low_ns = 0;
  int64_t t_orch_high_ns = 0;
  std::optional<double> hdbi = {};
  std::optional<double> hdbi_low = {};
  std::optional<double> hdbi_high = {};
};
std::string overhead_untraced_words(const UntracedOverhead& untraced);

struct HostOverheadSectionInput {
  const HostOverheadReport& report;
  const HostOverheadDiagnosis& diagnosis;
  const std::vector<HostOverheadAdvice>& advice;
  const KernelDatabase* database = nullptr;  // for the table of the costliest kernels
  size_t top = 10;                           // rows of it; 0 = all
  size_t most_steps = kMostStepRows;         // rows of windows; 0 = all
  const MeasuredReport* measured = nullptr;  // with a replay
  const UntracedOverhead* untraced = nullptr;  // with a measured iteration
};
// The section "overhead" with whole, windows, phases, means, families, orphans, diagnosis, kernels
// and measured.
Section overhead_section(const HostOverheadSectionInput& input);

// The few numbers by which traces are compared.
std::vector<Item> overhead_overview(const HostOverheadReport& report);

struct HostOverheadPlatform {
  std::string name;
  std::vector<HostOverheadPoint> points;  // by (sequence length, batch)
};
// A batch size or length: whole numbers nearly always, and then printed as such.
Value size_value(double size);
std::string size_text(double size);
// "overhead_sweep": points, crossovers, changes. One platform or two.
Section overhead_sweep_section(const std::vector<HostOverheadPlatform>& platforms);
std::vector<std::string> overhead_sweep_words(const std::vector<HostOverheadPlatform>& platforms);

}  // namespace assay
