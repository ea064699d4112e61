#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "answers/inputs/name_value.h"
#include "answers/inputs/sweep.h"
#include "answers/overhead.h"
#include "ingest/replay/floor.h"
#include "report/overhead/section.h"
#include "report/run/section.h"

namespace assay {
namespace {

struct SweepInputs {
  const HostOverheadRequest& request;
  const TraceRequest& traces;
  Answer answer;
  TrustNotes trust = {};
};

struct SweepArgument {
  PointLabel label;
  std::string path;
};

Result<SweepArgument> parse_argument(const std::string& flag, const std::string& argument) {
  ASSAY_TRY_ASSIGN(
      auto named,
      split_name_value(flag, argument, "SIZE=TRACE, e.g. 8=b8.json.gz or 4x2048=b4s2048.json.gz"));
  auto label = parse_point_label(named.first);
  if (!label) {
    Error error = label.take_error();
    error.message = fmt::format("{} {}: {}", flag, argument, error.message);
    return error;
  }
  return SweepArgument{*label, std::move(named.second)};
}

Result<HostOverheadPoint> add_trace(const SweepArgument& argument, SweepInputs& inputs) {
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(argument.path, inputs.traces));
  ASSAY_TRY_ASSIGN(const LaunchFloor floor,
                   floor_asked(inputs.request.floor, loaded.trace, loaded.links));
  ASSAY_TRY_ASSIGN(const HostOverheadReport report,
                   analyze_overhead(loaded.trace, loaded.links, loaded.windows,
                                    overhead_options(inputs.request, loaded, floor)));
  std::vector<Item> items = trace_items(loaded.trace);
  items.insert(items.begin(), {"batch", "batch", size_value(argument.label.batch)});
  if (argument.label.seq_len > 0) {
    items.insert(items.begin() + 1, {"seq_len", "length", size_value(argument.label.seq_len)});
  }
  inputs.answer.document.inputs.push_back({argument.path, std::move(items)});
  inputs.answer.data_lost |= loaded.trace.log.data_lost();
  for (TrustNote note : all_notes(loaded.trace.log, {report.trust, floor.trust})) {
    note.effect = fmt::format("{}: {}", argument.path, note.effect);
    inputs.trust.push_back(std::move(note));
  }
  return point_of(report, argument.label.batch, argument.label.seq_len);
}

Result<HostOverheadPlatform> load_platform(const HostOverheadSweepPlatform& asked,
                                           SweepInputs& inputs) {
  HostOverheadPlatform platform{asked.name, {}};
  const std::string& flag = asked.flag;
  ASSAY_TRY_ASSIGN(const std::vector<std::string> expanded,
                   expand_sweep(flag, asked.batches, inputs.traces.listener));
  for (const std::string& text : expanded) {
    ASSAY_TRY_ASSIGN(const SweepArgument argument, parse_argument(flag, text));
    for (const HostOverheadPoint& point : platform.points) {
      if (point.batch == argument.label.batch && point.seq_len == argument.label.seq_len) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("{} {}: this size is there already; repeats of a run belong into "
                                 "one trace as iterations",
                                 flag, text),
                     "", -1};
      }
    }
    ASSAY_TRY_ASSIGN(HostOverheadPoint point, add_trace(argument, inputs));
    platform.points.push_back(std::move(point));
  }
  std::sort(platform.points.begin(), platform.points.end(),
            [](const HostOverheadPoint& a, const HostOverheadPoint& b) {
              return std::tie(a.seq_len, a.batch) < std::tie(b.seq_len, b.batch);
            });
  return platform;
}

}  // namespace

Result<Answer> answer_overhead_sweep(const HostOverheadSweepRequest& request) {
  TraceRequest traces = request.overhead.traces;
  traces.keep_op_inputs = true;  // as answer_overhead
  SweepInputs inputs{request.overhead, traces, {new_document("Overhead")}};
  std::vector<HostOverheadPlatform> platforms;
  for (const HostOverheadSweepPlatform& asked : request.platforms) {
    ASSAY_TRY_ASSIGN(HostOverheadPlatform platform, load_platform(asked, inputs));
    platforms.push_back(std::move(platform));
  }
  inputs.answer.document.verdict = overhead_sweep_words(platforms);
  inputs.answer.document.sections = {overhead_sweep_section(platforms),
                                     trust_section(inputs.trust)};
  return std::move(inputs.answer);
}

}  // namespace assay
