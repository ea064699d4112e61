#pragma once

// From results of the tax room to sections of a Document.

#include <string>
#include <vector>

#include "flow/flow.h"
#include "report/document/document.h"
#include "report/run/section.h"
#include "tax/diagnosis.h"
#include "tax/kernel_db.h"
#include "tax/measured.h"
#include "tax/sweep.h"
#include "tax/tax.h"

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
LayerNames layer_names(TaxMode mode);

// A lever of the tax room as a reader meets it: what it gives is what a replay says of the same
// change; its own bound stays beside it.
struct TaxAdvice {
  TaxLever lever;
  std::string what;     // one sentence: what to do
  std::string same_as;  // key of the verdict's lever that does the same, or more
  Lever replayed;       // that lever
};
// levers: of the verdict, in its order. What the verdict has no lever for is not advised, so that
// no two sections advise against each other; of an undecided run nothing is.
std::vector<TaxAdvice> tax_advice(const TaxDiagnosis& diagnosis, const std::vector<Lever>& levers);

// Advice that one replay stands for, told together.
struct AdviceGroup {
  Lever replayed;
  std::vector<std::string> what;
};
std::vector<AdviceGroup> group_advice(const std::vector<TaxAdvice>& advice);

// The answer of `assay tax` in sentences; the first one is the answer. cold_ns: how long one-off
// costs hold the devices up, as the causes of idle time tell, over `devices`.
std::vector<std::string> tax_verdict_words(const Trace& trace, const TaxReport& report,
                                           const TaxDiagnosis& diagnosis,
                                           const std::vector<TaxAdvice>& advice,
                                           int64_t cold_ns = 0, size_t devices = 1);
// The sentence that follows the answer when there is a replay.
std::string tax_measured_words(const TaxReport& report, const MeasuredReport& measured);
// One or two sentences for `assay report`, which has a verdict of its own.
std::vector<std::string> tax_report_words(const TaxReport& report, const TaxDiagnosis& diagnosis);

struct TaxSectionInput {
  const TaxReport& report;
  const TaxDiagnosis& diagnosis;
  const std::vector<TaxAdvice>& advice;
  const KernelDatabase* database = nullptr;  // for the table of the costliest kernels
  size_t top = 10;                           // rows of it; 0 = all
  const MeasuredReport* measured = nullptr;  // with a replay
};
// "tax": whole, windows, phases, means, families, orphans, diagnosis, kernels, measured.
Section tax_section(const TaxSectionInput& input);

// The few numbers by which traces are compared.
std::vector<Item> tax_overview(const TaxReport& report);

struct TaxPlatform {
  std::string name;
  std::vector<TaxPoint> points;  // by (sequence length, batch)
};
// A batch size or length: whole numbers nearly always, and then printed as such.
Value size_value(double size);
std::string size_text(double size);
// "tax_sweep": points, crossovers, changes. One platform or two.
Section tax_sweep_section(const std::vector<TaxPlatform>& platforms);
std::vector<std::string> tax_sweep_words(const std::vector<TaxPlatform>& platforms);

}  // namespace assay
