#pragma once

// Sections of a Document from results of the overhead module.

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

// Two decimals; values that round to 0 or 1 without being equal are marked.
std::string hdbi_text(double hdbi);

// Label of sums computed as printed in the paper.
inline constexpr const char* kAsPrinted = "as printed; may exceed wall";

// Names of two layers; they depend on the mode.
struct LayerNames {
  const char* dispatch;
  const char* launch;
};
LayerNames layer_names(HostOverheadMode mode);

// A change suggested by the overhead module, for readers. Its gain comes from a simulation of the
// same change; the module's own bound is also shown.
struct HostOverheadAdvice {
  HostOverheadLever lever;
  Lever replayed;  // the headline's action with the same or a larger effect
};
// `levers` are the headline's actions, in order. A change without such an action is not
// recommended, so that sections do not contradict each other. If the cause is unknown, nothing is
// recommended.
std::vector<HostOverheadAdvice> overhead_advice(const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<Lever>& levers);
// Their actions, each once.
std::vector<Lever> recommended(const std::vector<HostOverheadAdvice>& advice);

// Sentences of `assay overhead`; the first one is the headline. cold_ns: time in which one-time
// initialization blocks the devices, summed over `devices`.
std::vector<std::string> overhead_verdict_words(const Trace& trace,
                                                const HostOverheadReport& report,
                                                const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<HostOverheadAdvice>& advice,
                                                int64_t cold_ns = 0, size_t devices = 1);
// The sentence that follows the headline if there is a replay.
std::string overhead_measured_words(const HostOverheadReport& report,
                                    const MeasuredReport& measured);
// One or two sentences for `assay report`, which has its own headline.
std::vector<std::string> overhead_report_words(const HostOverheadReport& report,
                                               const HostOverheadDiagnosis& diagnosis);

// T_Orch and HDBI of the run without profiler overhead, from a measured iteration (docs/metrics.md,
// Untraced). The values assume the same overhead for every row; the ranges cover other
// distributions of the overhead over the host.
struct UntracedOverhead {
  int64_t iteration_ns = 0;
  int64_t recorded_iteration_ns = 0;
  double each_ns = 0;  // mean T_Orch per iteration
  double each_low_ns = 0;
  double each_high_ns = 0;
  std::string from = {};  // where the measured iteration comes from
  int64_t t_orch_ns = 0;  // of the whole trace, as are its low and high values
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
  const KernelDatabase* database = nullptr;  // for the table of the most expensive kernels; may be
                                             // null
  size_t top = 10;                           // rows of that table; 0 = all
  size_t most_steps = kMostStepRows;         // rows of windows; 0 = all
  const MeasuredReport* measured = nullptr;  // null without a replay
  const UntracedOverhead* untraced = nullptr;  // null without a measured iteration
};
// Section "overhead". Blocks: whole, windows, phases and means; families, orphans and diagnosis;
// kernels and measured.
Section overhead_section(const HostOverheadSectionInput& input);

// The key numbers, for a table that compares traces.
std::vector<Item> overhead_overview(const HostOverheadReport& report);

struct HostOverheadPlatform {
  std::string name;
  std::vector<HostOverheadPoint> points;  // by (sequence length, batch)
};
// A batch size or length; integers, which are the normal case, are printed as such.
Value size_value(double size);
std::string size_text(double size);
// "overhead_sweep": points, crossovers, changes. For one or two platforms.
Section overhead_sweep_section(const std::vector<HostOverheadPlatform>& platforms);
std::vector<std::string> overhead_sweep_words(const std::vector<HostOverheadPlatform>& platforms);

}  // namespace assay
