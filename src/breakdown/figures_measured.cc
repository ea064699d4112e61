#include "breakdown/figures_measured.h"

#include <algorithm>
#include <map>

#include "breakdown/waterfall.h"

namespace assay {
namespace {

bool is_of_figure_14(const TelemetryTrack& track) {
  return !track.host &&
         (track.signal == TelemetrySignal::kSmClock ||
          track.signal == TelemetrySignal::kMemoryClock || track.signal == TelemetrySignal::kPower);
}

struct Readings {
  double sum = 0;
  uint64_t count = 0;
};

void add_moments(const std::vector<const TelemetryTrack*>& tracks, int64_t start_ns,
                 std::string_view signal, ConfigFigures& figures) {
  int64_t step_ns = 1;
  for (const TelemetryTrack* track : tracks) step_ns = std::max(step_ns, track->period_ns);
  std::map<int64_t, std::map<std::string, Readings>> steps;
  for (const TelemetryTrack* track : tracks) {
    for (size_t i = 0; i < track->t_ns.size(); ++i) {
      if (track->t_ns[i] < start_ns) continue;
      Readings& readings = steps[(track->t_ns[i] - start_ns) / step_ns][track->device];
      readings.sum += track->value[i];
      ++readings.count;
    }
  }
  for (const auto& [step, devices] : steps) {
    FigureMoment moment;
    moment.signal = signal;
    moment.t_ns = step * step_ns;
    for (const auto& [device, readings] : devices) {
      const double mean = readings.sum / static_cast<double>(readings.count);
      moment.min = moment.gpus == 0 ? mean : std::min(moment.min, mean);
      moment.max = moment.gpus == 0 ? mean : std::max(moment.max, mean);
      moment.mean += mean;
      ++moment.gpus;
    }
    moment.mean /= static_cast<double>(moment.gpus);
    figures.moments.push_back(std::move(moment));
  }
}

}  // namespace

void add_figure_telemetry(const TelemetryReport& report, ConfigFigures& figures) {
  const int64_t start_ns = report.trace.start_ns;
  if (report.cpu) {
    for (const CpuMoment& at : report.cpu->moments) {
      figures.cores.push_back(
          {at.t_ns - start_ns, at.active, at.min_cores, at.one_sibling, at.siblings});
    }
    if (!report.cpu->cores.empty()) {
      figures.cores_used_share = static_cast<double>(report.cpu->cores_used) /
                                 static_cast<double>(report.cpu->cores.size());
    }
  }
  std::map<TelemetrySignal, std::vector<const TelemetryTrack*>> signals;
  for (const TelemetryTrack& track : report.tracks) {
    if (is_of_figure_14(track)) signals[track.signal].push_back(&track);
  }
  for (const auto& [signal, tracks] : signals)
    add_moments(tracks, start_ns, telemetry_signal_name(signal), figures);
}

void add_figure_waterfalls(const std::vector<OpWaterfall>& ops,
                           const std::vector<std::string>& op_names, ConfigFigures& figures) {
  for (const OpWaterfall& op : ops) {
    if (!op.refused.empty()) {
      if (figures.no_waterfalls.empty()) figures.no_waterfalls = op.refused;
      continue;
    }
    FigureWaterfall one{{op.phase, op.op_type, op_names[op.op]}, op.executions, {}};
    for (size_t bar = 0; bar < kWaterfallBars; ++bar) {
      one.bars_ns.emplace_back(waterfall_bar_name(static_cast<WaterfallBar>(bar)),
                               op.waterfall.bars_ns[bar]);
    }
    figures.waterfalls.push_back(std::move(one));
  }
  if (ops.empty()) figures.no_waterfalls = "no matrix product or attention with counters";
}

}  // namespace assay
