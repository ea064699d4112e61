#include "findings/causes.h"

#include <algorithm>

#include "flow/verdict.h"

namespace assay::findings {
namespace {

// clang-format off
constexpr CauseInfo kCauses[] = {
    {"compute", "compute", "compute",
     "The GPU runs kernels other than communication.",
     "Speed up the kernels: assay breakdown FILE lists them by operation, --roofline their distance to the peak.", false},
    {"collective", "exposed communication", "exposed comm",
     "Communication runs and no other kernel overlaps it. One rank alone cannot separate waiting from transfer.",
     "Analyze all ranks (assay DIR); overlap or reduce communication.", false},
    {"comm_wait", "straggler wait", "straggler wait",
     "A rank waits inside a collective until the last rank arrives.",
     "Find the straggler: assay DIR.", false},
    {"transfer", "communication transfer", "transfer",
     "A collective moves data after all ranks have arrived, with no kernel overlapping it.",
     "Overlap it, start it earlier or send fewer bytes; check slow links.", false},
    {"copy", "exposed copies", "exposed copies",
     "Only copies and memsets run, with no kernel overlapping them.",
     "Pin host memory, copy on another stream, keep data on the GPU.", false},
    {"wait_other", "stream/event dependency", "dependency",
     "Submitted work waits for an event, another stream or another GPU of the program.",
     "Move the event, or give the waiting stream or GPU other work.", false},
    {"latency", "launch latency", "launch latency",
     "Work was submitted to an idle stream less than the typical launch latency ago.",
     "Launch fewer, larger kernels: fusion or CUDA graphs.", false},
    {"sync", "synchronization", "synchronization",
     "The host waits in a blocking call, so nothing is submitted and the GPU runs dry.",
     "Keep values on the GPU; read them later or less often; avoid device-wide synchronization.", false},
    {"cold", "one-time initialization", "initialization",
     "Contexts, module and library loading, compilation, autotuning, first calls.",
     "Profile after warm-up; for start-up time itself, load or compile ahead.", false},
    {"alloc", "memory allocation", "allocation",
     "The host is in a driver call that allocates or frees memory.",
     "Allocate once, use a pool, or the framework's caching allocator.", false},
    {"input", "data loading", "data loading",
     "The launching thread waits for or prepares the next batch.",
     "More workers, prefetching, pinned memory.", false},
    {"call", "runtime API calls", "runtime API",
     "CPU time inside CUDA or HIP runtime calls that launch or copy.",
     "Fewer launches: CUDA graphs or fusion.", true},
    {"dispatch", "operator dispatch", "dispatch",
     "CPU time inside framework operators that prepare kernels.",
     "torch.compile, CUDA graphs, fewer and larger operators; assay overhead FILE splits it by layer.", true},
    {"python", "Python", "Python",
     "CPU time in Python code between operators.",
     "Compile the step, or move the code out of the loop.", true},
    {"host_gap", "unattributed host time", "unattributed",
     "The host had not submitted work, and no recorded event shows what it did.",
     "Record Python stacks, operators or CPU samples.", true},
    {"migration", "page migration", "page migration",
     "The host touches pages of managed memory that lie on the GPU, and they move back one by one.",
     "Prefetch managed memory, or copy it before it is read.", false},
    {"unseen", "queued, not started", "queued",
     "Work was submitted and runnable but did not start, and the trace does not show why: earlier work, another process, or missing events.",
     "Record from an idle GPU, with all processes and event types. No advice is given until then.", false},
    {"no_evidence", "no launch record", "no launch record",
     "The next GPU activity has no launch call in the trace.",
     "Record runtime API calls.", false},
    {"nothing_asked", "no work submitted", "no work",
     "The host had no work to submit: it waited for an external event or was done.",
     "Profile under load.", false},
    {"rest", "other causes", "other",
     "Causes that are too small to be named.",
     "See the table of causes: assay FILE --full.", false},
};

constexpr BottleneckInfo kBottlenecks[] = {
    {"gpu", "GPU-bound", "GPU-bound", "the GPU is busy nearly all the time"},
    {"host", "Host-bound", "host-bound", "the GPU waits for the CPU to prepare and launch work"},
    {"input", "Input-bound", "input-bound", "the GPU waits for data loading"},
    {"sync", "Synchronization-bound", "bound by synchronization", "the host waits for the GPU before submitting more"},
    {"alloc", "Allocation-bound", "bound by memory allocation", "memory is allocated or freed in the steady state"},
    {"cold_start", "Warm-up", "without a steady state", "one-time initialization dominates"},
    {"unseen_device_work", "Undetermined", "undetermined", "queued work did not start and the trace does not show why"},
    {"collective_wait", "Communication-bound", "bound by communication", "time inside collectives (one rank: waiting and transfer together)"},
    {"communication", "Communication-bound", "bound by communication", "exposed transfer with no straggler"},
    {"copy", "Copy-bound", "copy-bound", "copies set the pace"},
    {"not_loaded", "Underutilized", "undetermined", "no work was submitted"},
    {"too_little", "Not enough data", "undetermined", "too few activities or too short a window"},
    {"no_gpu", "No GPU activity", "undetermined", "no kernel, copy or memset in the trace"},
    {"no_host", "Undetermined", "undetermined", "GPU events without any CPU event"},
    {"migration", "Migration-bound", "bound by page migration", "pages of managed memory move between host and GPU"},
};
// clang-format on

}  // namespace

std::span<const CauseInfo> all_causes() { return kCauses; }

const CauseInfo* find_cause(std::string_view key) {
  const auto* at = std::find_if(std::begin(kCauses), std::end(kCauses),
                                [key](const CauseInfo& cause) { return cause.key == key; });
  return at == std::end(kCauses) ? nullptr : at;
}

std::string_view cause_name(std::string_view key) {
  const CauseInfo* cause = find_cause(key);
  return cause == nullptr ? key : cause->name;
}

std::string_view cause_legend(std::string_view key) {
  const CauseInfo* cause = find_cause(key);
  return cause == nullptr ? key : cause->legend;
}

std::string_view cause_name(FlowCause cause) { return cause_name(flow_cause_name(cause)); }

std::string_view cause_legend(FlowCause cause) { return cause_legend(flow_cause_name(cause)); }

std::span<const BottleneckInfo> all_bottlenecks() { return kBottlenecks; }

const BottleneckInfo* find_bottleneck(std::string_view key) {
  const auto* at = std::find_if(std::begin(kBottlenecks), std::end(kBottlenecks),
                                [key](const BottleneckInfo& one) { return one.key == key; });
  return at == std::end(kBottlenecks) ? nullptr : at;
}

std::string_view bottleneck_word(BoundBy bound) {
  return find_bottleneck(bound_by_word(bound))->within;
}

}  // namespace assay::findings
