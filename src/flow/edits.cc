#include "flow/edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/decimal.h"
#include "flow/attention.h"
#include "flow/causes.h"
#include "flow/names.h"
#include "flow/pieces.h"
#include "flow/replay.h"
#include "flow/work_scales.h"
#include "kernels/kernel.h"
#include "kernels/name.h"
#include "trace/copy_way.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

// Syntax of an edit.
struct EditForm {
  EditKind kind;
  std::string_view word;
  bool pattern;           // takes ":GLOB"
  bool factor;            // takes "=F"
  std::string_view form;  // for help
};
constexpr std::array<EditForm, kEditKinds> kForms = {{
    {EditKind::kSync, "sync", true, false, "sync[:CALL]"},
    {EditKind::kInput, "input", false, false, "input"},
    {EditKind::kAlloc, "alloc", false, false, "alloc"},
    {EditKind::kWarm, "warm", false, false, "warm"},
    {EditKind::kPauses, "pauses", false, false, "pauses"},
    {EditKind::kHost, "host", false, true, "host[=F]"},
    {EditKind::kFasterCpu, "faster_cpu", false, true, "faster_cpu[=F]"},
    {EditKind::kKernels, "kernel", true, true, "kernel:NAME[=F]"},
    {EditKind::kFamily, "family", true, true, "family:KIND[=F]"},
    {EditKind::kOps, "op", true, true, "op:NAME[=F]"},
    {EditKind::kFrames, "frame", true, true, "frame:NAME[=F]"},
    {EditKind::kCalls, "call", true, true, "call:NAME[=F]"},
    {EditKind::kCopies, "copies", false, false, "copies"},
    {EditKind::kComm, "comm", false, false, "comm"},
    {EditKind::kGraph, "cuda_graph", false, false, "cuda_graph"},
    {EditKind::kFuse, "fuse", true, false, "fuse:A+B[+C]"},
    {EditKind::kRoof, "roof", true, false, "roof[:OP]"},
    {EditKind::kAttention, "attention", false, false, "attention"},
    {EditKind::kSkew, "skew", false, false, "skew"},
}};
constexpr double kUsualFasterCpu = 1.3;

const EditForm& form_of(EditKind kind) {
  return *std::find_if(kForms.begin(), kForms.end(),
                       [kind](const EditForm& form) { return form.kind == kind; });
}

Error edit_error(std::string_view text, const std::string& problem) {
  return {ErrorCode::kInvalidArgument, "edit '" + std::string(text) + "': " + problem, "", -1};
}

std::vector<std::string> split_chain(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const size_t end = text.find('+');
    names.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return names;
    text.remove_prefix(end + 1);
  }
}

// Removes a factor from the end of a text: the number after the last '='. Names may contain '=',
// too.
bool take_factor(std::string_view& text, double& factor) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return false;
  if (!parse_double(std::string(text.substr(equals + 1)), factor)) return false;
  text = text.substr(0, equals);
  return true;
}

std::string check_factor(const EditRequest& request) {
  if (request.kind == EditKind::kFasterCpu) {
    return request.factor > 1 && request.factor <= 1000
               ? ""
               : "the speed must be above 1 and at most 1000";
  }
  const bool fine = request.factor >= 0 && request.factor < 1;
  return fine ? "" : "what is left of the time must be at least 0 and below 1";
}

// Causes that a faster CPU shortens. Allocation is left out because the driver and the system do it
// and it waits for the device; data loading because it may wait for other processes.
constexpr std::array kCpuCauses = {FlowCause::kCall, FlowCause::kDispatch, FlowCause::kPython,
                                   FlowCause::kHostGap, FlowCause::kCold};

bool reads_value(std::string_view op) {
  return op == "aten::item" || op == "aten::_local_scalar_dense" || op == "aten::nonzero" ||
         op == "aten::is_nonzero" || op == "aten::equal";
}

}  // namespace

Result<EditRequest> parse_edit(std::string_view text) {
  std::string_view rest = text;
  const size_t word_end = rest.find_first_of(":=");
  const std::string_view word = rest.substr(0, word_end);
  const auto form = std::find_if(kForms.begin(), kForms.end(),
                                 [word](const EditForm& each) { return each.word == word; });
  if (form == kForms.end())
    return edit_error(text, "there is no such edit; there are " + edit_forms());
  EditRequest request;
  request.kind = form->kind;
  if (form->kind == EditKind::kFasterCpu) request.factor = kUsualFasterCpu;
  rest.remove_prefix(word.size());
  if (form->factor) take_factor(rest, request.factor);
  if (!rest.empty() && (!form->pattern || rest[0] != ':')) {
    return edit_error(text, "write it as " + std::string(form->form));
  }
  if (!rest.empty()) rest.remove_prefix(1);
  const bool for_all = form->kind == EditKind::kSync || form->kind == EditKind::kRoof;
  if (rest.empty() && form->pattern && !for_all) {
    return edit_error(text, "it needs a name: " + std::string(form->form));
  }
  request.pattern = rest;
  if (form->kind == EditKind::kFuse) {
    request.chain = split_chain(rest);
    const bool full = std::none_of(request.chain.begin(), request.chain.end(),
                                   [](const std::string& name) { return name.empty(); });
    if (request.chain.size() < 2 || !full)
      return edit_error(text, "a chain is two kernels or more: " + std::string(form->form));
  }
  if (form->factor) {
    const std::string problem = check_factor(request);
    if (!problem.empty()) return edit_error(text, problem);
  }
  return request;
}

std::string edit_text(const EditRequest& request) {
  const EditForm& form = form_of(request.kind);
  std::string text(form.word);
  if (!request.pattern.empty()) text += ":" + request.pattern;
  if (!form.factor || (request.factor == 0 && request.kind != EditKind::kFasterCpu)) return text;
  char number[32];
  std::snprintf(number, sizeof(number), "=%.6g", request.factor);
  return text + number;
}

std::string edit_forms() {
  std::string text;
  for (const EditForm& form : kForms) text += (text.empty() ? "" : ", ") + std::string(form.form);
  return text;
}

std::string_view edit_refusal_word(EditRefusal refusal) {
  constexpr std::array<std::string_view, 15> kWords = {
      "",          "model_error", "unexplained",    "unlinked",
      "cold",      "nothing",     "few_iterations", "not_capturable",
      "varies",    "in_graphs",   "chain_varies",   "needs_ranks",
      "no_shapes", "no_peaks",    "no_operators"};
  return kWords[static_cast<size_t>(refusal)];
}

// ---- what an edit changes -----------------------------------------------------------------------

EditMaker::EditMaker(const FlowRun& run, const Windows& iterations, RoofSources sources)
    : run_(run), iterations_(iterations), sources_(std::move(sources)) {
  for (const HostThread& thread : run.threads) {
    for (const HostPiece& piece : thread.pieces)
      has_cause_[static_cast<size_t>(piece.cause)] = true;
  }
  for (const FlowCall& call : run.calls) has_cause_[static_cast<size_t>(call.kind)] = true;
  for (const FlowWork& work : run.works) has_work_[static_cast<size_t>(work.kind)] = true;
}

Edit EditMaker::make(const EditRequest& request) const {
  Edit edit;
  edit.request = request;
  edit.cause.fill(1);
  edit.work.fill(1);
  edit.predicted = request.factor > 0;
  switch (request.kind) {
    case EditKind::kSync:
      make_sync(edit);
      break;
    case EditKind::kInput:
      make_cause(FlowCause::kInput, edit);
      break;
    case EditKind::kAlloc:
      make_cause(FlowCause::kAlloc, edit);
      break;
    case EditKind::kWarm:
      make_cause(FlowCause::kCold, edit);
      break;
    case EditKind::kPauses:
      make_pauses(edit);
      break;
    case EditKind::kHost:
      make_host(request.factor, kHostWork, edit);
      break;
    case EditKind::kFasterCpu:
      make_host(1 / request.factor, kCpuCauses, edit);
      edit.keeps_silence = true;
      break;
    case EditKind::kKernels:
    case EditKind::kFamily:
      make_kernels(edit);
      break;
    case EditKind::kOps:
      make_ops(edit);
      break;
    case EditKind::kFrames:
      make_frames(edit);
      break;
    case EditKind::kCalls:
      make_calls(edit);
      break;
    case EditKind::kCopies:
      make_copies(edit);
      break;
    case EditKind::kComm:
      edit.work[static_cast<size_t>(WorkKind::kCollective)] = 0;
      edit.affected = has_work_[static_cast<size_t>(WorkKind::kCollective)];
      break;
    case EditKind::kGraph:
      make_graph(edit);
      break;
    case EditKind::kFuse:
      make_fuse(edit);
      break;
    case EditKind::kRoof:
      make_roof(edit);
      break;
    case EditKind::kAttention:
      make_attention(edit);
      break;
    case EditKind::kSkew:
      edit.refusal = EditRefusal::kNeedsRanks;
      break;
  }
  if (edit.affected == 0 && edit.refusal == EditRefusal::kNone)
    edit.refusal = EditRefusal::kNothing;
  return edit;
}

// Copies, and calls in which the host moves the bytes itself.
void EditMaker::make_copies(Edit& edit) const {
  for (const WorkKind kind : {WorkKind::kCopy, WorkKind::kFill}) {
    edit.work[static_cast<size_t>(kind)] = 0;
    edit.affected += has_work_[static_cast<size_t>(kind)];
  }
  edit.marked = 0;
  edit.calls.assign(run_.calls.size(), false);
  for (const FlowWork& work : run_.works) {
    if (work.kind != WorkKind::kCopy || work.call == kNoFlowRow) continue;
    const FlowCall& call = run_.calls[work.call];
    if (call.kind == FlowCause::kCall && (call.blocks || work.host_stages)) {
      edit.calls[work.call] = true;
    }
  }
}

void EditMaker::make_cause(FlowCause cause, Edit& edit) const {
  edit.cause[static_cast<size_t>(cause)] = 0;
  edit.affected = has_cause_[static_cast<size_t>(cause)];
}

void EditMaker::make_host(double left, std::span<const FlowCause> causes, Edit& edit) const {
  for (const FlowCause cause : causes) {
    edit.cause[static_cast<size_t>(cause)] = left;
    edit.affected += has_cause_[static_cast<size_t>(cause)];
  }
}

void EditMaker::make_pauses(Edit& edit) const {
  edit.no_pauses = true;
  for (const HostThread& thread : run_.threads) {
    if (thread.launches == 0) continue;
    for (size_t i = 0; i < thread.pieces.size(); ++i) {
      const int64_t end_ns =
          i + 1 < thread.pieces.size() ? thread.pieces[i + 1].start_ns : thread.end_ns;
      const HostPiece& piece = thread.pieces[i];
      edit.affected += is_host_work(piece.cause) && end_ns - piece.start_ns >= kPauseNs;
    }
  }
}

// True if the waiting call may bring a value that the host reads.
bool EditMaker::brings_value(uint32_t c) const {
  const Trace& trace = *run_.trace;
  const FlowCall& call = run_.calls[c];
  for (uint32_t k = 0; k < call.work_count; ++k) {
    const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
    if (work.kind == WorkKind::kCopy &&
        copy_way(trace.text(trace.activities.name[work.activity.index()])) == CopyWay::kToHost) {
      return true;
    }
  }
  for (OpId op = run_.links->call_op[call.row.index()]; op;
       op = run_.links->op_parent[op.index()]) {
    if (reads_value(trace.text(trace.ops.name[op.index()]))) return true;
  }
  return false;
}

// True if a release of memory, which waits by itself, repeats the wait before the next launch.
bool EditMaker::waits_again(uint32_t c) const {
  const Trace& trace = *run_.trace;
  const ThreadId thread = run_.calls[c].thread;
  constexpr uint32_t kFar = 64;
  const auto end = std::min<size_t>(run_.calls.size(), size_t{c} + kFar);
  for (size_t next = size_t{c} + 1; next < end; ++next) {
    const FlowCall& call = run_.calls[next];
    if (call.thread != thread || call.work_count > 0) return false;
    const std::string_view name = trace.text(trace.api_calls.name[call.row.index()]);
    const bool frees = run_.links->role_of(trace, call.row) == ApiRole::kFree &&
                       name.find("Free") != std::string_view::npos &&
                       name.find("Async") == std::string_view::npos;
    if (frees) return true;
  }
  return false;
}

void EditMaker::make_sync(Edit& edit) const {
  const Trace& trace = *run_.trace;
  const bool all = edit.request.pattern.empty();
  if (all) edit.cause[static_cast<size_t>(FlowCause::kSync)] = 0;
  edit.unwaited.assign(run_.calls.size(), false);
  for (uint32_t c = 0; c < run_.calls.size(); ++c) {
    const FlowCall& call = run_.calls[c];
    if (call.kind != FlowCause::kSync) continue;
    const std::string_view name = trace.text(trace.api_calls.name[call.row.index()]);
    if (!all && !matches_glob(name, edit.request.pattern)) continue;
    if (waits_again(c)) continue;
    edit.unwaited[c] = true;
    ++edit.affected;
    edit.value_is_read = edit.value_is_read || brings_value(c);
  }
}

void EditMaker::make_kernels(Edit& edit) const {
  const Trace& trace = *run_.trace;
  const std::string& pattern = edit.request.pattern;
  const bool by_kind = edit.request.kind == EditKind::kFamily;
  std::vector<uint8_t> known(trace.strings.size(), 0);  // 1: no, 2: yes
  const auto fits = [&](StringId id) {
    const std::string_view name = trace.text(id);
    if (by_kind) return matches_glob(kernel_kind_name(run_.kernels->of(id).kind), pattern);
    return matches_glob(name, pattern) || matches_glob(short_kernel_name(name), pattern) ||
           matches_glob(describe_kernel(name), pattern);
  };
  edit.marked = edit.request.factor;
  edit.works.assign(run_.works.size(), false);
  for (uint32_t w = 0; w < run_.works.size(); ++w) {
    const FlowWork& work = run_.works[w];
    if (work.kind != WorkKind::kCompute && work.kind != WorkKind::kCollective) continue;
    const StringId id = trace.activities.name[work.activity.index()];
    if (known[id.index()] == 0) known[id.index()] = fits(id) ? 2 : 1;
    edit.works[w] = known[id.index()] == 2;
    edit.affected += edit.works[w];
  }
}

void EditMaker::make_ops(Edit& edit) const {
  const Trace& trace = *run_.trace;
  edit.marked = edit.request.factor;
  edit.ops.assign(trace.ops.size(), false);
  for (size_t o = 0; o < trace.ops.size(); ++o) {
    const OpId parent = run_.links->op_parent[o];
    const bool inside = parent && edit.ops[parent.index()];
    edit.ops[o] = inside || matches_glob(trace.text(trace.ops.name[o]), edit.request.pattern);
    edit.affected += edit.ops[o];
  }
}

void EditMaker::make_frames(Edit& edit) const {
  const Trace& trace = *run_.trace;
  edit.marked = edit.request.factor;
  edit.frame_names.assign(trace.strings.size(), false);
  std::vector<bool> asked(trace.strings.size(), false);
  for (const StringId name : trace.frames.name) {
    if (asked[name.index()]) continue;
    asked[name.index()] = true;
    edit.frame_names[name.index()] = matches_glob(trace.text(name), edit.request.pattern);
    edit.affected += edit.frame_names[name.index()];
  }
}

void EditMaker::make_calls(Edit& edit) const {
  const Trace& trace = *run_.trace;
  edit.marked = edit.request.factor;
  edit.calls.assign(run_.calls.size(), false);
  for (uint32_t c = 0; c < run_.calls.size(); ++c) {
    const std::string_view name = trace.text(trace.api_calls.name[run_.calls[c].row.index()]);
    edit.calls[c] = matches_glob(name, edit.request.pattern);
    edit.affected += edit.calls[c];
  }
}

void EditMaker::make_graph(Edit& edit) const {
  const GraphSpans spans = find_graph_spans(run_, iterations_);
  edit.refusal = spans.refusal;
  if (spans.refusal != EditRefusal::kNone) return;
  edit.free_calls.assign(run_.calls.size(), false);
  edit.short_calls.assign(run_.calls.size(), false);
  edit.joined.assign(run_.works.size(), false);
  edit.joined_ns = kGraphNodeNs;
  for (const std::vector<uint32_t>& calls : spans.calls) {
    for (const uint32_t c : calls) {
      const FlowCall& call = run_.calls[c];
      (c == calls.front() ? edit.short_calls : edit.free_calls)[c] = true;
      for (uint32_t k = 0; k < call.work_count; ++k) {
        edit.joined[run_.works_of_calls[call.first_work + k]] = true;
      }
      ++edit.affected;
    }
  }
}

void EditMaker::make_fuse(Edit& edit) const {
  const ChainMatches matches = find_chain(run_, iterations_, edit.request.chain);
  if (matches.first > matches.works.size()) {
    edit.refusal = matches.works.empty() ? EditRefusal::kNothing : EditRefusal::kChainVaries;
    return;
  }
  edit.free_calls.assign(run_.calls.size(), false);
  edit.joined.assign(run_.works.size(), false);
  for (const std::vector<uint32_t>& works : matches.works) {
    for (size_t k = 1; k < works.size(); ++k) {
      edit.joined[works[k]] = true;
      const uint32_t call = run_.works[works[k]].call;
      if (call != kNoFlowRow) edit.free_calls[call] = true;
    }
    ++edit.affected;
  }
}

// Durations never grow, and gaps between kernels stay: the gain is an upper bound on faster
// kernels.
void EditMaker::make_roof(Edit& edit) const {
  RoofShares shares = roof_shares(run_, edit.request.pattern, sources_);
  edit.affected = shares.works;
  edit.works_left = std::move(shares.left);
  if (!shares.any_work) {
    edit.refusal = edit.request.pattern.empty() ? EditRefusal::kNoShapes : EditRefusal::kNothing;
  } else if (!shares.any_roof) {
    edit.refusal = EditRefusal::kNoPeaks;
  }
}

// The products keep their time; the kernels between them take none.
void EditMaker::make_attention(Edit& edit) const {
  if (!run_.has_ops) {
    edit.refusal = EditRefusal::kNoOperators;
    return;
  }
  const UnfusedAttention found = find_unfused_attention(run_);
  edit.affected = found.cores.size();
  edit.falls_back = found.falls_back;
  edit.marked = 0;
  edit.works.assign(run_.works.size(), false);
  edit.joined.assign(run_.works.size(), false);
  edit.free_calls.assign(run_.calls.size(), false);
  const auto free = [&](const std::vector<uint32_t>& calls, bool takes_time) {
    for (const uint32_t c : calls) {
      const FlowCall& call = run_.calls[c];
      edit.free_calls[c] = true;
      for (uint32_t k = 0; k < call.work_count; ++k) {
        const uint32_t work = run_.works_of_calls[call.first_work + k];
        edit.joined[work] = true;
        edit.works[work] = !takes_time;
      }
    }
  };
  for (const AttentionCore& core : found.cores) {
    free(core.between, false);
    free(core.second, true);
  }
}

// ---- graphs and chains --------------------------------------------------------------------------

namespace {

// Per iteration, the calls of threads that launch, in time order.
std::vector<std::vector<uint32_t>> calls_of_iterations(const FlowRun& run,
                                                       const Windows& iterations) {
  std::vector<std::vector<uint32_t>> calls(iterations.windows.size());
  for (uint32_t c = 0; c < run.calls.size(); ++c) {
    if (run.threads[run.calls[c].thread.index()].launches == 0) continue;
    const int32_t window = window_at(iterations, run.calls[c].start_ns);
    if (window >= 0) calls[static_cast<size_t>(window)].push_back(c);
  }
  for (auto& of_window : calls) {
    std::stable_sort(of_window.begin(), of_window.end(), [&run](uint32_t a, uint32_t b) {
      return run.calls[a].start_ns < run.calls[b].start_ns;
    });
  }
  return calls;
}

bool breaks_graph(const FlowRun& run, const FlowCall& call) {
  return call.kind == FlowCause::kSync || call.kind == FlowCause::kAlloc ||
         call.kind == FlowCause::kCold || call.target_count > 0 || call.graph ||
         pageable_copy(run, call) != nullptr;
}

bool launches_kernel(const FlowRun& run, const FlowCall& call) {
  for (uint32_t k = 0; k < call.work_count; ++k) {
    const WorkKind kind = run.works[run.works_of_calls[call.first_work + k]].kind;
    if (kind == WorkKind::kCompute || kind == WorkKind::kCollective) return true;
  }
  return false;
}

// The calls with most launches between two that break a graph, from the first call to the last
// launch.
std::vector<uint32_t> longest_stretch(const FlowRun& run, const std::vector<uint32_t>& calls) {
  size_t best_begin = 0;
  size_t best_end = 0;
  size_t best_launches = 0;
  size_t begin = 0;
  size_t end = 0;
  size_t launches = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const FlowCall& call = run.calls[calls[i]];
    if (breaks_graph(run, call)) {
      begin = end = i + 1;
      launches = 0;
    } else if (launches_kernel(run, call)) {
      end = i + 1;
      ++launches;
    }
    if (launches <= best_launches) continue;
    best_begin = begin;
    best_end = end;
    best_launches = launches;
  }
  const auto at = [&calls](size_t i) { return calls.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(best_begin), at(best_end)};
}

std::vector<StringId> kernels_of(const FlowRun& run, const std::vector<uint32_t>& calls) {
  std::vector<StringId> names;
  for (const uint32_t c : calls) {
    const FlowCall& call = run.calls[c];
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run.works[run.works_of_calls[call.first_work + k]];
      names.push_back(run.trace->activities.name[work.activity.index()]);
    }
  }
  return names;
}

bool mostly_in_graphs(const FlowRun& run) {
  int64_t all_ns = 0;
  int64_t graph_ns = 0;
  for (const FlowWork& work : run.works) {
    const int64_t ns = work.end_ns - work.start_ns;
    all_ns += ns;
    if (work.call != kNoFlowRow && run.calls[work.call].graph) graph_ns += ns;
  }
  return graph_ns * 2 >= all_ns && graph_ns > 0;
}

// Matches works against the names of a chain; each text is matched once per name.
class ChainNames {
 public:
  ChainNames(const FlowRun& run, const std::vector<std::string>& chain)
      : run_(run), chain_(chain), known_(chain.size()) {}

  bool fits(uint32_t work, size_t k) {
    const Trace& trace = *run_.trace;
    const StringId id = trace.activities.name[run_.works[work].activity.index()];
    if (known_[k].empty()) known_[k].assign(trace.strings.size(), 0);
    uint8_t& known = known_[k][id.index()];
    if (known == 0) known = fits_name(trace.text(id), chain_[k]) ? 2 : 1;
    return known == 2;
  }

 private:
  static bool fits_name(std::string_view name, const std::string& glob) {
    return name == glob || matches_glob(name, glob) ||
           matches_glob(short_kernel_name(name), glob) || matches_glob(describe_kernel(name), glob);
  }

  const FlowRun& run_;
  const std::vector<std::string>& chain_;
  // Per chain name and StringId; 0: unknown, 1: no, 2: yes.
  std::vector<std::vector<uint8_t>> known_;
};

}  // namespace

GraphSpans find_graph_spans(const FlowRun& run, const Windows& iterations) {
  constexpr double kLeastAlike = 0.8;  // share of iterations with the last one's kernels
  GraphSpans spans;
  if (mostly_in_graphs(run)) return {{}, EditRefusal::kInGraphs};
  if (iterations.source == WindowSource::kWholeTrace || iterations.windows.size() < 2) {
    return {{}, EditRefusal::kFewIterations};
  }
  std::vector<std::vector<StringId>> kernels;
  for (const std::vector<uint32_t>& calls : calls_of_iterations(run, iterations)) {
    std::vector<uint32_t> stretch = longest_stretch(run, calls);
    if (stretch.size() < 3) continue;
    kernels.push_back(kernels_of(run, stretch));
    spans.calls.push_back(std::move(stretch));
  }
  if (spans.calls.size() < 2) return {{}, EditRefusal::kNotCapturable};
  const auto alike =
      static_cast<double>(std::count(kernels.begin(), kernels.end(), kernels.back()));
  if (alike < kLeastAlike * static_cast<double>(kernels.size())) return {{}, EditRefusal::kVaries};
  return spans;
}

ChainMatches find_chain(const FlowRun& run, const Windows& iterations,
                        const std::vector<std::string>& chain) {
  const Trace& trace = *run.trace;
  ChainNames names(run, chain);
  const auto fits = [&names](uint32_t w, size_t k) { return names.fits(w, k); };
  const auto window_of = [&](uint32_t w) {
    const FlowWork& work = run.works[w];
    return window_at(iterations,
                     work.call == kNoFlowRow ? work.start_ns : run.calls[work.call].start_ns);
  };
  std::vector<std::vector<uint32_t>> streams(trace.streams.size());
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    const FlowWork& work = run.works[w];
    if (work.kind == WorkKind::kCompute && !work.in_graph) streams[work.stream].push_back(w);
  }
  ChainMatches found;
  for (const std::vector<uint32_t>& works : streams) {
    for (size_t i = 0; i < works.size(); ++i) {
      if (!fits(works[i], 0)) continue;
      ++found.first;
      if (i + chain.size() > works.size()) continue;
      size_t k = 1;
      while (k < chain.size() && fits(works[i + k], k)) ++k;
      if (k < chain.size()) continue;
      const size_t last = i + chain.size() - 1;
      if (window_of(works[i]) != window_of(works[last])) {
        ++found.crossing;
        continue;
      }
      const auto at = [&works](size_t n) { return works.begin() + static_cast<std::ptrdiff_t>(n); };
      found.works.emplace_back(at(i), at(last + 1));
      i = last;
    }
  }
  return found;
}

}  // namespace assay
