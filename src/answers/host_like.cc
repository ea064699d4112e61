#include "answers/host_like.h"

#include <fmt/format.h>

#include <utility>

#include "answers/host_calls.h"
#include "base/files.h"

namespace assay {
namespace {

DiffRun host_run(const LoadedTrace& loaded, const std::vector<Interval>& spans) {
  DiffRun run;
  run.host_calls = host_calls(loaded.trace, loaded.links, spans);
  run.host_iterations = spans.size();
  return run;
}

// Minimum share of common calls, on both sides. A vision transformer and BERT share 33 % because of
// equal layers; recordings of one program share 87 % or more.
constexpr double kLeastLikeShare = 0.6;

constexpr const char* kCompared = "operators and launch calls";

}  // namespace

HostRecording host_recording(const LoadedTrace& loaded) {
  HostRecording out{.file = loaded.trace.source,
                    .has_iterations = loaded.windows.source != WindowSource::kWholeTrace,
                    .whole = host_run(loaded, {{INT64_MIN, INT64_MAX}})};
  if (out.has_iterations) out.by_iteration = host_run(loaded, iteration_spans(loaded.windows));
  return out;
}

Result<HostRecording> read_host_recording(const std::string& path, const TraceRequest& traces) {
  TraceRequest request = traces;
  request.keep_op_inputs = false;
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(path, request));
  return host_recording(loaded);
}

std::string why_other_program(const PaceChange& pace, const std::string& recorded,
                              const std::string& what) {
  const std::string other = "shows another program than " + file_name(recorded) + ": ";
  if (pace.why_none == NoPace::kFewNames) {
    return fmt::format("{}only {} {} occur as often in both, and {} are needed", other, pace.names,
                       what, kLeastPaceNames);
  }
  if (pace.share < kLeastLikeShare) {
    return fmt::format(
        "{}{} that occur as often in both take {:.0f} % of the host time, and {:.0f} % are needed",
        other, what, 100 * pace.share, 100 * kLeastLikeShare);
  }
  return "";
}

Result<OtherHost> host_like(const HostRecording& like, const HostRecording& recorded) {
  const bool by_iteration = like.has_iterations && recorded.has_iterations;
  const auto run_of = [by_iteration](const HostRecording& of) {
    return std::vector<DiffRun>{by_iteration ? of.by_iteration : of.whole};
  };
  const PaceChange pace = compare_pace(run_of(recorded), run_of(like));
  std::string why = why_other_program(pace, recorded.file, kCompared);
  if (why.empty() && !pace.told) {
    why = fmt::format(
        "shows no single pace of a host: {} take {:.2f} to {:.2f} times as long as in {}",
        kCompared, pace.low, pace.high, file_name(recorded.file));
  }
  if (!why.empty()) return Error{ErrorCode::kInvalidArgument, "--like: " + why, like.file, -1};
  return host_of_recording(file_name(like.file), pace.names, pace.low, pace.ratio, pace.high);
}

}  // namespace assay
