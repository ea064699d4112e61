// Notes replace actions if no action can be simulated: what was seen, the likely reason, what to
// record, and what to do. All rules that hold are used, in order.

#include "findings/advice.h"
#include "findings/rules/rule.h"
#include "findings/rules/words.h"

namespace assay::findings {
namespace {

bool queued(const RunFacts& f) { return f.bottleneck == BoundBy::kUnseenWork; }
bool no_launch_record(const RunFacts& f) {
  return queued(f) && f.leading_cause == FlowCause::kNoEvidence;
}
bool late_clock(const RunFacts& f) {
  return queued(f) && !no_launch_record(f) && f.clock_gap.device_late;
}
bool host_functions(const RunFacts& f) {
  const uint64_t functions = f.evidence.host_functions;
  return queued(f) && !no_launch_record(f) && !late_clock(f) && f.queued_to_the_end &&
         functions > 0 && functions * 2 >= f.queued_gaps;
}
bool graph_gaps(const RunFacts& f) {
  return queued(f) && !no_launch_record(f) && !late_clock(f) && !host_functions(f) &&
         f.evidence.graph_holes;
}
bool other_process(const RunFacts& f) {
  return queued(f) && !no_launch_record(f) && !late_clock(f) && !host_functions(f) &&
         !graph_gaps(f) && f.queued_to_the_end;
}
bool earlier_work(const RunFacts& f) {
  return queued(f) && !no_launch_record(f) && !late_clock(f) && !host_functions(f) &&
         !graph_gaps(f) && !other_process(f);
}

bool init(const RunFacts& f) { return f.bottleneck == BoundBy::kColdStart; }
bool recurs(const RunFacts& f) { return init(f) && f.init_iterations > 0; }

bool no_work(const RunFacts& f) { return f.bottleneck == BoundBy::kNotLoaded; }
bool waits_outside(const RunFacts& f) {
  return no_work(f) && !f.sleeps && f.wait_holder.empty() && f.evidence.loops;
}
bool idle(const RunFacts& f) {
  return no_work(f) && !f.sleeps && f.wait_holder.empty() && !f.evidence.loops;
}

bool no_gpu(const RunFacts& f) { return f.bottleneck == BoundBy::kNoGpu; }
bool only_host(const RunFacts& f) {
  return no_gpu(f) && !f.mostly_unread && f.evidence.launch_calls == 0 && f.profiler_span_ns == 0;
}

// True if a recording of complete iterations is needed.
bool record_steady(const RunFacts& f) {
  const bool start = init(f) && !recurs(f) && !f.init_communicator && !f.init_mid_run;
  return start || f.bottleneck == BoundBy::kTooLittle || f.bottleneck == BoundBy::kNoHost ||
         (only_host(f) && !edits_pytorch(f));
}

void fill(std::string_view cause, const RunFacts& f, Finding& out) {
  if (const Advice* advice = advice_for(cause, f)) fill_advice(*advice, f, out);
}

const RunRule kNotes[] = {
    ASSAY_RULE(kNoteSeenLongestGap, queued(f) && !no_launch_record(f) && f.longest_queued.ns > 0,
               out.ns("longest", f.longest_queued.ns)
                   .ns("at", f.longest_queued_at_ns)
                   .named("name", SubjectKind::kKernel, f.longest_queued.name)),
    ASSAY_RULE(kNoteLikelyFiltered, no_launch_record(f)),
    ASSAY_RULE(kNoteRecordLaunches, no_launch_record(f)),
    ASSAY_RULE(kNoteLikelyGpuClockLate, late_clock(f)),
    ASSAY_RULE(kNoteRecordAgainClocks, late_clock(f)),
    ASSAY_RULE(kNoteLikelyHostFunctions, host_functions(f),
               out.count("calls", f.evidence.host_functions)),
    ASSAY_RULE(kNoteRecordHostFunctions, host_functions(f)),
    ASSAY_RULE(kNoteLikelyGraphNodes, graph_gaps(f)),
    ASSAY_RULE(kNoteRecordGraphContents, graph_gaps(f)),
    ASSAY_RULE(kNoteLikelyOtherProcess, other_process(f)),
    ASSAY_RULE(kNoteRecordAllProcesses, other_process(f)),
    ASSAY_RULE(kNoteLikelyEarlierWork, earlier_work(f)),
    ASSAY_RULE(kNoteRecordIdleGpu, earlier_work(f) && edits_pytorch(f)),
    ASSAY_RULE(kNoteRecordIdleGpuAll, earlier_work(f) && !pytorch(f) && !uses_engine(f)),
    ASSAY_RULE(kNoteRecordAdvised, earlier_work(f) && uses_engine(f), fill("record", f, out)),

    ASSAY_RULE(kNoteSeenInit,
               init(f) && !f.init_parts.empty() && !f.init_parts[0].name.empty(), std::vector<std::string> parts;
               for (const TimeByName& part : f.init_parts) {
                 parts.push_back(part.name);
                 out.about(SubjectKind::kOperator, part.name);
               } out.ns("time", f.init_parts[0].ns)
                   .text("name", f.init_parts[0].name);
               if (parts.size() > 1) out.ns("time2", f.init_parts[1].ns)
                   .text("name2", f.init_parts[1].name);
               if (parts.size() > 2) out.ns("time3", f.init_parts[2].ns)
                   .text("name3", f.init_parts[2].name)),
    ASSAY_RULE(kNoteDoRecompilesTorch, recurs(f) && f.init_compiles && pytorch(f)),
    ASSAY_RULE(kNoteDoRecompilesJax,
               recurs(f) && f.init_compiles && f.program.kind == ProgramKind::kJax),
    ASSAY_RULE(kNoteDoRecompiles,
               recurs(f) && !(f.init_compiles &&
                              (pytorch(f) || f.program.kind == ProgramKind::kJax))),
    ASSAY_RULE(kNoteDoCommunicators, init(f) && !recurs(f) && f.init_communicator),
    ASSAY_RULE(kNoteDoCompileBefore,
               init(f) && !recurs(f) && !f.init_communicator && f.init_mid_run),

    ASSAY_RULE(kNoteDoEventNotSleep, no_work(f) && f.sleeps),
    ASSAY_RULE(kNoteDoShortenThread, no_work(f) && !f.sleeps && !f.wait_holder.empty(),
               out.named("holder", SubjectKind::kFunction, f.wait_holder)),
    ASSAY_RULE(kNoteLikelyExternal, waits_outside(f)),
    ASSAY_RULE(kNoteLikelyIdleServer, idle(f)),
    ASSAY_RULE(kNoteRecordAdvised, idle(f), fill("load", f, out)),

    ASSAY_RULE(kNoteDoAllRanks, f.bottleneck == BoundBy::kCollectiveWait),

    ASSAY_RULE(kNoteLikelyUnsupportedFormat, no_gpu(f) && f.mostly_unread),
    ASSAY_RULE(kNoteLikelyCounters, no_gpu(f) && !f.mostly_unread && f.counter_ranges),
    ASSAY_RULE(kNoteLikelyProfilerConflict,
               no_gpu(f) && !f.mostly_unread && !f.counter_ranges && f.evidence.launch_calls > 0),
    ASSAY_RULE(kNoteLikelyOtherProcessWork,
               no_gpu(f) && !f.mostly_unread && f.evidence.launch_calls == 0 &&
                   f.profiler_span_ns > 0),
    ASSAY_RULE(kNoteRecordDeviceTorch, only_host(f) && edits_pytorch(f)),

    ASSAY_RULE(kNoteRecordCpu, f.bottleneck == BoundBy::kNoHost),
    ASSAY_RULE(kNoteRecordAdvised, record_steady(f), fill("record", f, out)),
};

}  // namespace

std::span<const RunRule> note_rules() { return kNotes; }

}  // namespace assay::findings
