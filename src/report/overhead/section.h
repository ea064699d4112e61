#pragma once

// From results of the overhead room to sections of a Document.

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

// Two decimals; what only rounds to 0 or 1 is told apart.
std::string hdbi_text(double hdbi);

// What stands beside every literal sum.
inline constexpr const char* kAsPrinted = "as printed; may exceed wall";

// What two of the layers hold depends on the mode.
struct LayerNames {
  const char* dispatch;
  const char* launch;
};
LayerNames layer_names(HostOverheadMode mode);

// A lever of the overhead room as a reader meets it: what it gives is what a replay says of the
// same change; its own bound stays beside it.
struct HostOverheadAdvice {
  HostOverheadLever lever;
  std::string what;     // one sentence: what to do
  std::string same_as;  // key of the verdict's lever that does the same, or more
  Lever replayed;       // that lever
};
// levers: of the verdict, in its order. What the verdict has no lever for is not advised, so that
// no two sections advise against each other; of an undecided run nothing is.
std::vector<HostOverheadAdvice> overhead_advice(const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<Lever>& levers);

// Advice that one replay stands for, told together.
struct AdviceGroup {
  Lever replayed;
  std::vector<std::string> what;
};
std::vector<AdviceGroup> group_advice(const std::vector<HostOverheadAdvice>& advice);

// The answer of `assay overhead` in sentences; the first one is the answer. cold_ns: how long
// one-off costs hold the devices up, as the causes of idle time tell, over `devices`.
std::vector<std::string> overhead_verdict_words(const Trace& trace,
                                                const HostOverheadReport& report,
                                                const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<HostOverheadAdvice>& advice,
                                                int64_t cold_ns = 0, size_t devices = 1);
// The sentence that follows the answer when there is a replay.
std::string overhead_measured_words(const HostOverheadReport& report,
                                    const MeasuredReport& measured);
// One or two sentences for `assay report`, which has a verdict of its own.
std::vector<std::string> overhead_report_words(const HostOverheadReport& report,
                                               const HostOverheadDiagnosis& diagnosis);

struct HostOverheadSectionInput {
  const HostOverheadReport& report;
  const HostOverheadDiagnosis& diagnosis;
  const std::vector<HostOverheadAdvice>& advice;
  const KernelDatabase* database = nullptr;  // for the table of the costliest kernels
  size_t top = 10;                           // rows of it; 0 = all
  size_t most_steps = kMostStepRows;         // rows of windows; 0 = all
  const MeasuredReport* measured = nullptr;  // with a replay
};
// "overhead": whole, windows, phases, means, families, orphans, diagnosis, kernels, measured.
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
