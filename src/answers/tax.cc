#include "answers/tax.h"

#include <optional>
#include <utility>

#include "answers/ranks.h"
#include "base/byte_source.h"
#include "ingest/replay/file.h"
#include "ingest/replay/floor.h"
#include "launch/metrics.h"
#include "report/run/section.h"
#include "report/tax/section.h"
#include "tax/measured.h"

namespace assay {
namespace {

constexpr size_t kMaxFamiliesBytes = size_t{1} << 20;

Result<std::string> read_text(const std::string& path) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  const ReadFn read = source.stream(false);
  std::string text;
  std::string block(size_t{1} << 14, '\0');
  for (;;) {
    ASSAY_TRY_ASSIGN(const size_t got, read(block.data(), block.size()));
    if (got == 0) return text;
    text.append(block, 0, got);
    if (text.size() > kMaxFamiliesBytes) {
      return Error{ErrorCode::kUnsupported, "larger than 1 MiB: this is no list of families", "",
                   -1};
    }
  }
}

Result<KernelFamilies> load_families(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text(path));
  return extend_kernel_families(builtin_kernel_families(), text);
}

Result<MeasuredReport> measure(const TaxRequest& request, const KernelDatabase& database,
                               const TaxReport& report) {
  ASSAY_TRY_ASSIGN(const ReplayFile replay, read_replay_file(request.replay));
  MeasuredOptions options;
  options.mode = report.mode;
  options.base_weighting = report.base_weighting;
  options.floor = report.floor;
  return measure_tax(database, replay, report, options);
}

Result<TraceContent> tax_content(const TaxRequest& request, const KernelFamilies& families,
                                 const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  ASSAY_TRY_ASSIGN(const LaunchFloor floor, floor_asked(request.floor, loaded.trace, loaded.links));
  ASSAY_TRY_ASSIGN(const TaxReport report, analyze_tax(loaded.trace, loaded.links, loaded.windows,
                                                       tax_options(request, families, floor)));
  const KernelDatabase database =
      build_kernel_database(loaded.trace, report, families, request.options.count_copies);
  clock.mark("tax");
  if (request.kernels) ASSAY_TRY(request.kernels(database));
  std::optional<MeasuredReport> measured;
  if (!request.replay.empty()) {
    ASSAY_TRY_ASSIGN(measured, measure(request, database, report));
  }
  const TaxSums& sums = measured ? measured->sums : report.whole.sums;
  const TaxDiagnosis diagnosis = diagnose_tax(report, sums, diagnosis_limits(loaded.trace, report));
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, {.floor = floor}));
  const std::vector<TaxAdvice> advice =
      tax_advice(diagnosis, host_levers(launch), outside_il_ns(report, launch));
  TraceContent content;
  content.overview = tax_overview(report);
  content.verdict = tax_verdict_words(loaded.trace, report, diagnosis, advice);
  if (measured) {
    content.verdict.insert(content.verdict.begin(), tax_measured_words(report, *measured));
  }
  content.sections.push_back(tax_section({.report = report,
                                          .diagnosis = diagnosis,
                                          .advice = advice,
                                          .database = &database,
                                          .top = request.top,
                                          .measured = measured ? &*measured : nullptr}));
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {report.trust, floor.trust, measured ? measured->trust : TrustNotes{}})));
  if (report.whole.sums.n == 0) {
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

}  // namespace

Result<KernelFamilies> tax_families(const TaxRequest& request) {
  if (request.families.empty()) return builtin_kernel_families();
  auto families = load_families(request.families);
  if (families) return families;
  Error error = families.take_error();
  error.file = request.families;
  return error;
}

TaxOptions tax_options(const TaxRequest& request, const KernelFamilies& families,
                       const LaunchFloor& floor) {
  TaxOptions options = request.options;
  options.floor = floor;
  options.families = &families;
  return options;
}

Result<Answer> answer_tax(const TaxRequest& request) {
  ASSAY_TRY_ASSIGN(const KernelFamilies families, tax_families(request));
  TraceRequest traces = request.traces;
  traces.keep_op_inputs = true;  // unique kernels differ by their operators' inputs
  return answer_traces(traces, "Tax", [&](const LoadedTrace& loaded) {
    return tax_content(request, families, loaded);
  });
}

}  // namespace assay
