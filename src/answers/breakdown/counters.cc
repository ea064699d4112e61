#include "answers/breakdown/counters.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "answers/inputs/facts.h"
#include "base/decimal.h"
#include "base/files.h"
#include "breakdown/figures_measured.h"
#include "ingest/counters/files.h"
#include "ingest/load.h"
#include "ingest/text/csv_table.h"
#include "report/breakdown/counters.h"

namespace assay {
namespace {

Error bad(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

// The rank in the last path component that contains one; -1 if none does.
int64_t rank_in_path(const std::string& path) {
  int64_t rank = -1;
  for (const std::string& part : path_parts(path)) {
    const int64_t told = rank_from_name(part);
    if (told >= 0) rank = told;
  }
  return rank;
}

// "MI300X,clock_mhz=1900": a name, values, or both.
struct PeaksText {
  std::string name;
  std::map<std::string, double> values;
};
Result<PeaksText> parse_peaks(std::string_view text) {
  static const std::set<std::string> kKnown = {
      "tflops", "clock_mhz",           "compute_units",
      "xcds",   "matrix_units_per_cu", "matrix_flop_per_clock"};
  PeaksText peaks;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      if (!peaks.name.empty()) return bad("--peaks names two devices");
      peaks.name = part;
      continue;
    }
    const std::string key(part.substr(0, equals));
    double value = 0;
    if (kKnown.count(key) == 0 || !parse_double(part.substr(equals + 1), value) || !(value > 0)) {
      return bad("--peaks " + std::string(part) +
                 ": write a device's name, or tflops, clock_mhz, compute_units, "
                 "matrix_units_per_cu, matrix_flop_per_clock or xcds with a number above 0");
    }
    peaks.values[key] = value;
  }
  return peaks;
}

// The device model that was counted; empty if no file names it. Errors: several models.
Result<CounterDevice> counted_device(const CounterJoin& counters) {
  CounterDevice one;
  for (const CounterDevice& device : counters.devices) {
    if (one.name.empty()) one = device;
    if (!device.name.empty() && device.name != one.name) {
      return bad("the counter runs are of several kinds of device (" + one.name + ", " +
                 device.name + "); give each a command of its own, or --peaks");
    }
  }
  return one;
}

Result<WaterfallDevice> find_device(const CounterRequest& request, const CounterJoin& counters) {
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(request.facts));
  ASSAY_TRY_ASSIGN(const PeaksText asked, parse_peaks(request.peaks));
  CounterDevice counted;
  if (asked.name.empty()) {
    ASSAY_TRY_ASSIGN(counted, counted_device(counters));
  } else {
    ASSAY_TRY(check_peaks_device(facts, asked.name));
  }
  WaterfallDevice device;
  device.peaks.device = asked.name.empty() ? counted.name : asked.name;
  std::map<std::string, double> values;
  for (const auto& [key, fact] : facts.values("hardware", device.peaks.device)) {
    values[key] = fact.value;
    const bool peak = key == "clock_mhz" || key == "compute_units" || key == "tflops" ||
                      key == "matrix_flop_per_clock";
    if (peak) {
      device.peaks.source += (device.peaks.source.empty() ? "" : "; ") + key + ": " + fact.source;
    }
  }
  // The list of agents in the run takes precedence over the device specifications.
  const std::pair<const char*, double> told[] = {{"compute_units", counted.compute_units},
                                                 {"matrix_units_per_cu", counted.simd_per_cu},
                                                 {"xcds", counted.xcds}};
  for (const auto& [key, value] : told) {
    if (value > 0) values[key] = value;
  }
  for (const auto& [key, value] : asked.values) {
    values[key] = value;
    device.peaks.source += (device.peaks.source.empty() ? "" : "; ") + key + ": --peaks";
  }
  const auto value = [&](const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? 0 : found->second;
  };
  device.peaks.clock_hz = value("clock_mhz") * 1e6;
  device.peaks.flop_per_s =
      value("compute_units") * value("matrix_flop_per_clock") * device.peaks.clock_hz;
  if (device.peaks.flop_per_s == 0 || asked.values.count("tflops") != 0) {
    device.peaks.flop_per_s = value("tflops") * 1e12;
  }
  for (const char* key : {"compute_units", "matrix_units_per_cu", "xcds"}) {
    if (value(key) > 0) device.constants[key] = value(key);
  }
  return device;
}

Result<CounterFormulas> load_formulas(const std::string& path) {
  ASSAY_TRY_ASSIGN(CounterFormulas formulas, CounterFormulas::built_in());
  if (path.empty()) return formulas;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  ASSAY_TRY(formulas.add(text, path));
  return formulas;
}

Result<CountersView> view_of(const CounterRequest& request, const JobLevels& job) {
  ASSAY_TRY_ASSIGN(const CounterFormulas formulas, load_formulas(request.formulas));
  WaterfallOptions options;
  options.reading = request.reading;
  ASSAY_TRY_ASSIGN(options.device, find_device(request, job.counters));
  return CountersView{op_waterfalls(job.counters, formulas, options), options.reading,
                      options.device};
}

// Rejects options that need counter files.
Status fits_without_counters(const CounterRequest& request, bool roof) {
  if (!request.formulas.empty() || request.partial)
    return bad("--formulas and --partial-counters go with --counters");
  if (!roof && !(request.peaks.empty() && request.facts.empty()))
    return bad("--peaks and --specs go with --counters or --roofline");
  ASSAY_TRY_ASSIGN(const PeaksText peaks, parse_peaks(request.peaks));
  if (!peaks.values.empty()) {
    return bad("--peaks " + request.peaks +
               ": values are for the waterfall of --counters; the roofline takes a device's name, "
               "and values from --specs FILE (docs/formats/facts.md)");
  }
  return Ok{};
}

}  // namespace

Result<std::string> peaks_device(const std::string& text) {
  ASSAY_TRY_ASSIGN(PeaksText peaks, parse_peaks(text));
  return std::move(peaks.name);
}

Result<CounterRuns> CounterRuns::read(const CounterRequest& request, bool allow_truncated,
                                      bool roof) {
  CounterRuns runs;
  runs.options_.partial = request.partial;
  if (request.files.empty()) {
    ASSAY_TRY(fits_without_counters(request, roof));
    return runs;
  }
  ASSAY_TRY_ASSIGN(runs.passes_, read_counter_passes(request.files, allow_truncated));
  return runs;
}

Result<CounterJoin> CounterRuns::join(const LoadedTrace& loaded, const BreakdownReport& report,
                                      int64_t rank) const {
  std::vector<CounterPass> own;
  for (const CounterPass& pass : passes_) {
    const int64_t told = rank_in_path(pass.source);
    if (told < 0 || rank < 0 || told == rank) own.push_back(pass);
  }
  if (own.empty()) return CounterJoin{};
  CounterOptions options = options_;
  options.kernels = loaded.kernels->shared_book();
  return join_counters(loaded.trace, loaded.links, loaded.windows, report, own, options);
}

Status CounterRuns::add_waterfalls(const CounterRequest& request, const JobLevels& job,
                                   ConfigFigures& figures) const {
  if (job.counters.empty()) {
    figures.no_waterfalls = "the counter runs are of other ranks";
    return Ok{};
  }
  ASSAY_TRY_ASSIGN(const CountersView view, view_of(request, job));
  add_figure_waterfalls(view.ops, job.op_names, figures);
  return Ok{};
}

Status CounterRuns::describe(const CounterRequest& request, const JobLevels& job,
                             Document& document) const {
  if (job.counters.empty()) {
    return bad(
        "no counter run is of a rank that was given: the ranks in the names of the counter "
        "files are others");
  }
  ASSAY_TRY_ASSIGN(const CountersView view, view_of(request, job));
  for (std::string& sentence : counter_words(job, view)) {
    document.verdict.push_back(std::move(sentence));
  }
  Section section{.key = "breakdown", .title = "Hardware counters"};
  add_counter_blocks(job, view, section);
  document.sections.push_back(std::move(section));
  return Ok{};
}

}  // namespace assay
