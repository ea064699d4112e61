#include "answers/host_like.h"

#include <fmt/format.h>

#include <utility>

#include "answers/host_calls.h"
#include "base/files.h"
#include "diff/pace.h"

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

std::string why_no_pace(const PaceChange& pace, const HostRecording& recorded) {
  const std::string other = "shows another program than " + file_name(recorded.file) + ": ";
  if (pace.why_none == NoPace::kFewNames) {
    return fmt::format(
        "{}only {} operators and launch calls occur as often in both, and {} are needed", other,
        pace.names, kLeastPaceNames);
  }
  if (pace.share < kLeastLikeShare) {
    return fmt::format(
        "{}operators and launch calls that occur as often in both take {:.0f} % of the host time, "
        "and {:.0f} % are needed",
        other, 100 * pace.share, 100 * kLeastLikeShare);
  }
  return fmt::format(
      "shows no single pace of a host: operators and launch calls take {:.2f} to {:.2f} times as "
      "long as in {}",
      pace.low, pace.high, file_name(recorded.file));
}

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

Result<OtherHost> host_like(const HostRecording& like, const HostRecording& recorded) {
  const bool by_iteration = like.has_iterations && recorded.has_iterations;
  const auto run_of = [by_iteration](const HostRecording& of) {
    return std::vector<DiffRun>{by_iteration ? of.by_iteration : of.whole};
  };
  const PaceChange pace = compare_pace(run_of(recorded), run_of(like));
  if (!pace.told || pace.share < kLeastLikeShare) {
    return Error{ErrorCode::kInvalidArgument, "--like: " + why_no_pace(pace, recorded), like.file,
                 -1};
  }
  return host_of_recording(file_name(like.file), pace.names, pace.low, pace.ratio, pace.high);
}

}  // namespace assay
