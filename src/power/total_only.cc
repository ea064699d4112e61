#include "power/total_only.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "power/coverage.h"
#include "power/energy_trust.h"

namespace assay {
namespace {

constexpr int64_t kLongestStepNs = 5 * kSecondNs;  // longest typical step of a log that is fitted

std::vector<PowerPiece> pieces_of(const PowerSeries& series) {
  if (!series.pieces.empty()) return series.pieces;
  std::vector<PowerPiece> pieces;
  const int64_t longest = longest_stand_ns(series.readings, 0);
  for (size_t i = 1; i < series.readings.size(); ++i) {
    const int64_t begin = series.readings[i - 1].t_ns;
    const int64_t end = series.readings[i].t_ns;
    if (end > begin && end - begin <= longest) {
      pieces.push_back({begin, end, series.readings[i].power_w});
    }
  }
  return pieces;
}

}  // namespace

std::string why_total_only(const PowerSeries& series) {
  if (!series.pieces.empty()) return "the log has energies of windows, and no power over time";
  const int64_t step = typical_step_ns(series.readings);
  if (step <= kLongestStepNs) return {};
  return "the log has a sample every " +
         std::to_string(std::llround(static_cast<double>(step) * 1e-9)) + " s";
}

Result<EnergyReport> total_energy(const PowerSeries& series, CoveredSpan span,
                                  const AttributeOptions& options, std::string why) {
  const std::vector<PowerPiece> pieces = pieces_of(series);
  if (pieces.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the log has only one sample: no energy over time",
                 "", -1};
  }
  ASSAY_TRY_ASSIGN(const int64_t zone_ns,
                   zone_of_log({pieces.front().begin_ns, pieces.back().end_ns}, span, options));
  const int64_t moved_ns = options.sensor.offset_ns + zone_ns;
  EnergyReport report;
  report.total_only = std::move(why);
  report.zone_ns = zone_ns;
  report.gain = options.gain;
  double joules = 0;
  int64_t begin = INT64_MAX;
  int64_t end = INT64_MIN;
  for (const PowerPiece& piece : pieces) {
    const int64_t from = std::max(piece.begin_ns + moved_ns, span.begin_ns);
    const int64_t to = std::min(piece.end_ns + moved_ns, span.end_ns);
    if (to <= from) continue;
    begin = std::min(begin, from);
    end = std::max(end, to);
    report.covered_ns += to - from;
    ++report.readings;
    joules += piece.power_w * static_cast<double>(to - from) * 1e-9;
  }
  if (report.covered_ns == 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "the log has no sample that covers time of the trace", "", -1};
  }
  report.trace_begin_ns = span.begin_ns;
  report.begin_ns = begin;
  report.end_ns = end;
  report.total_uj = std::llround(joules * 1e6);
  report.unattributed_uj = report.total_uj;
  report.total_low_j = report.total_high_j = joules;
  report.mean_w = joules / (static_cast<double>(report.covered_ns) * 1e-9);
  report.period_ns = static_cast<double>(typical_step_ns(series.readings));
  if (options.tokens > 0 && options.most_tokens == 0) {
    report.energy_per_token_j = joules / static_cast<double>(options.tokens);
  }
  add_uncovered_trust(span.end_ns - span.begin_ns - report.covered_ns, report.trust);
  add_zone_trust(zone_ns, report.trust);
  return report;
}

}  // namespace assay
