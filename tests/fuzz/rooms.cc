#include "rooms.h"

#include <nlohmann/json.hpp>

#include "answers/breakdown/breakdown.h"
#include "answers/diff.h"
#include "answers/job/rank_record.h"
#include "answers/launch.h"
#include "answers/overhead.h"
#include "answers/report.h"
#include "answers/tables.h"
#include "answers/whatif.h"
#include "report/writers/writers.h"

namespace assay::fuzz {
namespace {

// A refusal says why; what is written can be read again.
bool written(const Result<Answer>& answer) {
  if (!answer) {
    if (answer.error().describe().empty()) __builtin_trap();
    return false;
  }
  if (!nlohmann::json::accept(write_json(answer->document))) __builtin_trap();
  if (write_terminal(answer->document, {.width = 60}).empty()) __builtin_trap();
  if (write_markdown(answer->document).empty()) __builtin_trap();
  return true;
}

}  // namespace

bool every_answer(const std::string& path, bool allow_truncated) {
  const TraceRequest traces{.inputs = {path}, .threads = 1, .allow_truncated = allow_truncated};
  const bool reported =
      written(answer_report({.traces = traces, .everything = allow_truncated, .timelines = true}));
  if (!reported) return false;
  written(answer_whatif({.traces = traces}));
  written(answer_why({.traces = traces}));
  written(answer_launch({.traces = traces, .tree = TreeOptions{}, .graph = true}));
  written(answer_fusion({.traces = traces}));
  written(answer_info(traces));
  written(answer_overhead({.traces = traces}));
  written(answer_breakdown({.traces = traces, .roof = !allow_truncated}));
  const DiffRequest same{
      .traces = {.threads = 1, .allow_truncated = allow_truncated}, .a = path, .b = path};
  if (const auto diff = answer_diff(same)) {
    if (!nlohmann::json::accept(write_json(diff->answer.document))) __builtin_trap();
  }
  if (const auto loaded = load_input(path, traces)) (void)make_rank_record(*loaded);
  return true;
}

void every_answer_of_two(const std::string& a, const std::string& b) {
  const TraceRequest job{.inputs = {a, b}, .threads = 1};
  written(answer_report({.traces = job}));
  written(answer_why({.traces = job}));
  written(answer_whatif({.traces = job}));
  written(answer_breakdown({.traces = job}));
  const auto changed = answer_diff({.traces = {.threads = 1}, .a = a, .b = b});
  if (changed && !nlohmann::json::accept(write_json(changed->answer.document))) __builtin_trap();
}

}  // namespace assay::fuzz
