#include "answers/diff.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "answers/diff_job.h"
#include "answers/diff_run.h"
#include "base/files.h"
#include "diff/caveats.h"
#include "diff/ordinals.h"
#include "report/flow/untraced.h"

namespace assay {
namespace {

// The comparison of both sides, with caveats.
struct Compared {
  DiffReport report;
  TrustNotes notes;
  std::vector<GateResult> gates;
};

bool has_iterations(const std::vector<DiffInput>& side) {
  return std::all_of(side.begin(), side.end(),
                     [](const DiffInput& input) { return input.by_iteration.iterations; });
}

std::vector<DiffRun> take_runs(std::vector<DiffInput>& side, bool by_iteration) {
  std::vector<DiffRun> runs;
  for (DiffInput& input : side) {
    runs.push_back(std::move(by_iteration ? input.by_iteration : input.whole));
  }
  return runs;
}

// The option of both sides.
struct UntracedSides {
  std::string a;
  std::string b;
};
Result<UntracedSides> parse_untraced(const std::string& asked) {
  if (asked.empty() || asked == "none" || is_regular_file(asked))
    return UntracedSides{asked, asked};
  const size_t comma = asked.find(',');
  const std::string a = asked.substr(0, comma);
  const std::string b = comma == std::string::npos ? "" : asked.substr(comma + 1);
  if (a.empty() || b.empty() || b.find(',') != std::string::npos) {
    return Error{ErrorCode::kInvalidArgument,
                 "--untraced takes the times of both sides (6.11ms,3.63ms), a file with both, or "
                 "none, not '" +
                     asked + "'",
                 "", -1};
  }
  return UntracedSides{a, b};
}

// Why a side has no times without profiler overhead.
std::string why_recorded(const std::vector<DiffInput>& side) {
  for (const DiffInput& input : side) {
    if (input.untraced_by_iteration) continue;
    const std::string words = untraced_words(input.untraced);
    return words.empty() ? input.file + " has no iteration measured without the profiler" : words;
  }
  return "";
}

// The runs of both sides without profiler overhead, if an iteration of every trace was measured.
struct UntracedRuns {
  std::vector<DiffRun> a;
  std::vector<DiffRun> b;
  TrustNotes notes;
  bool used = false;
};
UntracedRuns take_untraced(std::vector<DiffInput>& side_a, std::vector<DiffInput>& side_b) {
  UntracedRuns found;
  const auto any = [](const std::vector<DiffInput>& side) {
    return std::any_of(side.begin(), side.end(),
                       [](const DiffInput& input) { return !input.untraced.from.empty(); });
  };
  if (!any(side_a) && !any(side_b)) return found;
  for (const auto* side : {&side_a, &side_b}) {
    std::string why = why_recorded(*side);
    if (why.empty()) continue;
    while (why.ends_with('.')) why.pop_back();
    found.notes.push_back({"diff_recorded", 1, 0, "time_ns",
                           std::string("times of both sides are as recorded, because of ") +
                               (side == &side_a ? "A" : "B") + ": " + why});
    return found;
  }
  found.used = true;
  for (DiffInput& input : side_a) found.a.push_back(*std::move(input.untraced_by_iteration));
  for (DiffInput& input : side_b) found.b.push_back(*std::move(input.untraced_by_iteration));
  found.notes.push_back({"diff_untraced", 1, 0, "time_ns",
                         "intervals are those of the recorded iterations; they do not contain the "
                         "error of the times measured without the profiler"});
  return found;
}

// Compares iterations with iterations; if a side has none, whole traces with whole traces.
Result<Compared> compare(const DiffRequest& request, std::vector<DiffInput>& side_a,
                         std::vector<DiffInput>& side_b) {
  take_waiting_apart(side_a, side_b);
  const bool in_a = has_iterations(side_a);
  const bool in_b = has_iterations(side_b);
  std::vector<DiffRun> a = take_runs(side_a, in_a && in_b);
  std::vector<DiffRun> b = take_runs(side_b, in_a && in_b);
  UntracedRuns untraced = take_untraced(side_a, side_b);
  std::optional<DiffRecorded> recorded;
  if (untraced.used) {
    recorded = DiffRecorded{.a_from = side_a.front().untraced.from,
                            .b_from = side_b.front().untraced.from,
                            .a_ns = make_side(a).time_ns,
                            .b_ns = make_side(b).time_ns};
    a = std::move(untraced.a);
    b = std::move(untraced.b);
  }
  join_unlike_ordinals(a, b);
  Compared compared;
  const DiffSide of_a = make_side(a);
  const DiffSide of_b = make_side(b);
  if (request.resampling.paired) {
    if (std::string why = no_pairs(of_a, of_b); !why.empty())
      return Error{ErrorCode::kInvalidArgument, "--paired: " + std::move(why), "", -1};
  }
  compared.report = compare_sides(of_a, of_b, request.resampling);
  compared.report.whole_traces = !in_a || !in_b;
  compared.report.recorded = std::move(recorded);
  compared.report.ranks = compare_ranks(a, b, compared.report.change_ns);
  compared.report.pace = compare_pace(a, b);
  compared.notes = diff_caveats(a, b, compared.report);
  std::move(untraced.notes.begin(), untraced.notes.end(), std::back_inserter(compared.notes));
  if (in_a != in_b) {
    compared.notes.push_back(
        {"diff_basis", 1, 0, "time_ns",
         std::string("no iterations were found in ") + (in_a ? "B" : "A") +
             ": whole traces are compared, which is fair only if both do the same work"});
  }
  ASSAY_TRY_ASSIGN(compared.gates,
                   check_gates(request.gates, compared.report, request.fail_on_any));
  return compared;
}

Document make_document(const std::vector<DiffInput>& a, const std::vector<DiffInput>& b,
                       const DiffView& view) {
  Document document = new_document("Diff");
  const auto add = [&](const std::vector<DiffInput>& side, const char* letter,
                       const std::vector<std::string>& files) {
    for (size_t i = 0; i < side.size(); ++i) {
      std::vector<Item> head = {{"side", "side", letter, Unit::kText}};
      head.insert(head.end(), side[i].head.begin(), side[i].head.end());
      document.inputs.push_back({files[i], std::move(head)});
      for (ImportNote note : side[i].import_log) {
        note.meaning = std::string(letter) + ": " + note.meaning;
        document.import_log.push_back(std::move(note));
      }
    }
  };
  const auto files = [](const std::vector<DiffInput>& side) {
    std::vector<std::string> names;
    for (const DiffInput& input : side) names.push_back(input.file);
    return names;
  };
  add(a, "A", files(a));
  add(b, "B", files(b));
  document.verdict = diff_words(view);
  document.sections = diff_sections(view);
  return document;
}

bool any_lost(const std::vector<DiffInput>& side) {
  return std::any_of(side.begin(), side.end(),
                     [](const DiffInput& input) { return input.data_lost; });
}

}  // namespace

Result<DiffAnswer> answer_diff(const DiffRequest& request) {
  TraceRequest traces = request.traces;
  traces.keep_op_inputs = true;
  ASSAY_TRY_ASSIGN(const UntracedSides untraced, parse_untraced(request.untraced));
  ASSAY_TRY_ASSIGN(std::vector<DiffInput> a, read_diff_side(request.a, traces, untraced.a));
  ASSAY_TRY_ASSIGN(std::vector<DiffInput> b, read_diff_side(request.b, traces, untraced.b));
  ASSAY_TRY_ASSIGN(Compared compared, compare(request, a, b));
  DiffAnswer made{.answer = {},
                  .report = std::move(compared.report),
                  .notes = std::move(compared.notes),
                  .gates = std::move(compared.gates)};
  made.answer = {make_document(a, b, made.view(request)), any_lost(a) || any_lost(b)};
  return made;
}

}  // namespace assay
