#include "answers/files/timeline_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "base/export_file.h"
#include "base/files.h"

namespace assay {
namespace {

// Ignores case.
bool ends_with(std::string_view text, std::string_view end) {
  if (text.size() < end.size()) return false;
  return std::equal(
      end.begin(), end.end(), text.end() - static_cast<ptrdiff_t>(end.size()),
      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

Status check_name(const std::string& path) {
  if (ends_with(path, ".json") || ends_with(path, ".json.gz") || is_special_file(path)) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "--perfetto writes JSON: the name must end in .json or .json.gz", path, -1};
}

}  // namespace

struct TimelineFile::State {
  OutputFile file;
  std::optional<GzipStream> gzip = {};
  std::string packed = {};
  std::optional<PerfettoWriter> writer = {};

  Status write(std::string_view text);
};

Status TimelineFile::State::write(std::string_view text) {
  if (!gzip) return file.write(text);
  packed.clear();
  gzip->write(text, packed);
  return file.write(packed);
}

Result<TimelineFile> TimelineFile::open(const std::string& path,
                                        const std::vector<std::string>& inputs,
                                        const std::string& document) {
  ASSAY_TRY(check_name(path));
  if (normal_path(path) == normal_path(document)) {
    return Error{ErrorCode::kInvalidArgument, "--perfetto and --output name the same file", path,
                 -1};
  }
  ASSAY_TRY(check_export(path, inputs));
  ASSAY_TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  std::shared_ptr<State> state(new State{.file = std::move(file)});
  if (ends_with(path, ".gz")) state->gzip.emplace();
  State* const target = state.get();
  state->writer.emplace([target](std::string_view text) { return target->write(text); },
                        inputs.size());
  return TimelineFile(std::move(state));
}

Status TimelineFile::add(const Trace& trace, const Links& links, const Timeline& timeline) {
  return state_->writer->add(trace, links, timeline);
}

Status TimelineFile::finish() {
  ASSAY_TRY(state_->writer->finish());
  if (state_->gzip) {
    state_->packed.clear();
    state_->gzip->finish(state_->packed);
    ASSAY_TRY(state_->file.write(state_->packed));
  }
  return state_->file.finish();
}

std::string TimelineFile::describe() const {
  const PerfettoCounts& counts = state_->writer->counts();
  std::string text =
      fmt::format("{} events of the trace, {} annotations, {} counter samples, {} arrows",
                  counts.slices, counts.annotations, counts.counters, counts.arrows);
  if (counts.arrows_left_out > 0) {
    text += fmt::format(
        "; {} arrows left out: the work starts before its call, or one end is not "
        "in the trace",
        counts.arrows_left_out);
  }
  if (counts.moved_traces > 0) {
    text += fmt::format("; {} traces share no clock with the first one and were laid on its start",
                        counts.moved_traces);
  }
  return text;
}

}  // namespace assay
