#include "flow/names.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"

namespace assay {
namespace {

// All patterns are lower-case and matched against lower-case names. Loaders of PyTorch, TensorFlow,
// DALI, WebDataset, FFCV, Grain and Hugging Face, and labels that training programs put around
// theirs.

// Data loaders of the common libraries, and the labels that training programs put around theirs.
constexpr std::array<std::string_view, 19> kInput = {
    "dataloader",      "data_loader",     "data loader",
    "data loading",    "data_loading",    "datasets/iterable_dataset",
    "load_batch",      "load batch",      "fetch_batch",
    "fetch batch",     "next_batch",      "next batch",
    "batch-generator", "iteratorgetnext", "tf_data",
    "webdataset",      "nvidia/dali",     "ffcv/",
    "grain/_src"};
// Names that create a data loader but load nothing, and servers that schedule requests.
constexpr std::array<std::string_view, 4> kNoInput = {"get_dataloader", "build_dataloader",
                                                      "create_dataloader", "schedule"};

// Also initialization of communicators.
constexpr std::array<std::string_view, 27> kCompilers = {"triton/compiler",
                                                         "/compiler.py(",
                                                         "gpucompiler",
                                                         "triton/backends",
                                                         "triton/runtime/autotuner",
                                                         "triton/runtime/build",
                                                         "torch/_dynamo/convert_frame",
                                                         "torch/_dynamo/symbolic_convert",
                                                         "torch/_dynamo/output_graph",
                                                         "torch/_inductor/compile",
                                                         "torch/_inductor/codecache",
                                                         "torch/_inductor/async_compile",
                                                         "torch/_inductor/graph.py",
                                                         "torch/_inductor/scheduler",
                                                         "torch/_inductor/codegen",
                                                         "torch/_inductor/select_algorithm",
                                                         "torch/_functorch/_aot_autograd/graph",
                                                         "torch/utils/cpp_extension",
                                                         "(dynamo_timed)",
                                                         "jax/_src/compiler",
                                                         "xlacompile",
                                                         "backend_compile",
                                                         "lazy function loading",
                                                         "cudnn_find",
                                                         "ncclcomminit",
                                                         "rcclcomminit",
                                                         "init_process_group"};

// Prefixes of CPython built-ins in frame names, after "<built-in function ", "<built-in method " or
// "<method '". The host waits for the device:
constexpr std::array<std::string_view, 1> kSync = {"synchronize"};
// A thread waits for external input or sleeps:
constexpr std::array<std::string_view, 8> kOutside = {
    "poll", "select", "epoll", "recv", "accept", "sleep", "kqueue", "wait_for_requests"};
// A thread waits for another one:
constexpr std::array<std::string_view, 6> kLocks = {"acquire", "wait",   "get of",
                                                    "join",    "result", "sched_yield"};
// Reads of files or sockets; a wait only below a queue or socket:
constexpr std::array<std::string_view, 2> kReads = {"read", "readinto"};
// Suffixes of Python functions that wait for another thread or process:
constexpr std::array<std::string_view, 7> kWaits = {
    ": wait",        ": wait_for",          ": join", ": result", ": barrier",
    ": communicate", ": run_until_complete"};
// System calls in which a thread waits for external input or sleeps:
constexpr std::array<std::string_view, 20> kSystemOutside = {
    "poll",       "ppoll",    "epoll_wait", "epoll_pwait",     "select",  "pselect", "recv",
    "recvmsg",    "recvmmsg", "recvfrom",   "accept",          "accept4", "msgrcv",  "sigwait",
    "mq_receive", "sleep",    "nanosleep",  "clock_nanosleep", "usleep",  "pause"};
// System calls in which a thread waits for another thread or process:
constexpr std::array<std::string_view, 16> kSystemLocks = {"pthread_cond_wait",
                                                           "pthread_cond_timedwait",
                                                           "pthread_cond_clockwait",
                                                           "pthread_join",
                                                           "pthread_mutex_lock",
                                                           "pthread_mutex_timedlock",
                                                           "pthread_rwlock_rdlock",
                                                           "pthread_rwlock_wrlock",
                                                           "pthread_barrier_wait",
                                                           "futex",
                                                           "sem_wait",
                                                           "sem_timedwait",
                                                           "sem_clockwait",
                                                           "waitpid",
                                                           "waitid",
                                                           "wait4"};
constexpr std::array<std::string_view, 6> kQueues = {
    "queue.py",     "zmq/",
    "selectors.py", "multiprocessing/connection.py",
    "socket.py",    "asyncio/base_events.py"};

// The name of a built-in function or method; empty for other names.
std::string_view built_in(std::string_view text) {
  for (const std::string_view form : {"<built-in function ", "<built-in method ", "<method '"}) {
    if (text.starts_with(form)) return text.substr(form.size());
  }
  return {};
}

// The function name in "file.py(12): name"; empty for other names.
std::string_view python_function(std::string_view text) {
  const size_t at = text.rfind("): ");
  return at == std::string_view::npos || text.find(".py(") == std::string_view::npos
             ? std::string_view()
             : text.substr(at + 3);
}

// True for functions that receive, and for waits in files of queues and sockets.
bool waits_outside(std::string_view function, bool of_queue) {
  if (function == "recv" || function.starts_with("recv_")) return true;
  return of_queue && std::find(kOutside.begin(), kOutside.end(), function) != kOutside.end();
}

template <size_t n>
bool begins_with_any(std::string_view text, const std::array<std::string_view, n>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.starts_with(part); });
}

template <size_t n>
bool ends_with_any(std::string_view text, const std::array<std::string_view, n>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.ends_with(part); });
}

// True for marks of iterations such as "step 12", "train_step#3", "Iteration 7".
bool is_step_mark(std::string_view text) {
  if (text.starts_with("profilerstep")) return true;
  constexpr std::string_view kBehind = " _-#:.=([";
  std::string_view words = text;
  const size_t last = words.find_last_not_of("0123456789)]");
  if (last == std::string_view::npos || last + 1 == words.size()) return false;
  words = words.substr(0, last + 1);
  const size_t end = words.find_last_not_of(kBehind);
  if (end == std::string_view::npos) return false;
  words = words.substr(0, end + 1);
  for (const std::string_view mark :
       {"step", "iteration", "iter", "batch", "epoch", "timestep", "frame"}) {
    if (!words.ends_with(mark)) continue;
    words.remove_suffix(mark.size());
    const size_t before = words.find_last_not_of(kBehind);
    words = before == std::string_view::npos ? std::string_view() : words.substr(0, before + 1);
    return words.empty() || words == "train" || words == "training" || words == "global" ||
           words == "time" || words == "main" || words == "loop";
  }
  return false;
}

}  // namespace

HostName classify_system_call(std::string_view name) {
  const auto among = [name](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  HostName kind;
  kind.outside = among(kSystemOutside);
  kind.lock = among(kSystemLocks);
  return kind;
}

HostName classify_host_name(std::string_view name) {
  const std::string text = lower(name);
  HostName kind;
  kind.input = contains_any(text, kInput) && !contains_any(text, kNoInput);
  kind.cold = contains_any(text, kCompilers);
  const std::string_view own = built_in(text);
  kind.sync = begins_with_any(own, kSync) || text.find("block_until_ready") != std::string::npos;
  kind.queue = contains_any(text, kQueues);
  kind.outside = begins_with_any(own, kOutside) || waits_outside(python_function(text), kind.queue);
  kind.lock = begins_with_any(own, kLocks) || ends_with_any(text, kWaits);
  kind.read = begins_with_any(own, kReads);
  kind.step = is_step_mark(text);
  return kind;
}

bool is_waiting_label(std::string_view name) {
  constexpr std::array<std::string_view, 10> kBegins = {
      "MPI_Wait",   "MPI_Barrier", "MPI_Recv", "MPI_All", "MPI_Bcast",
      "MPI_Reduce", "MPI_Gather",  "gloo:",    "nccl:",   "c10d::"};
  const HostName system = classify_system_call(name);
  return system.lock || system.outside ||
         std::any_of(kBegins.begin(), kBegins.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

bool waits_for_others(std::string_view name) {
  const HostName kind = classify_host_name(name);
  return kind.lock || kind.outside || is_waiting_label(name);
}

bool is_inductor_code(std::string_view frame) {
  constexpr size_t kNameLength = 52;
  const size_t end = frame.find(".py(");
  if (end == std::string_view::npos) return false;
  const std::string_view path = frame.substr(0, end);
  if (path.find("torchinductor_") != std::string_view::npos) return true;
  const std::string_view file = path.substr(path.find_last_of("/\\") + 1);
  return file.size() == kNameLength && file.front() == 'c' &&
         std::all_of(file.begin(), file.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

const HostName& HostNames::of(StringId name) {
  if (!asked_[name.index()]) {
    asked_[name.index()] = true;
    known_[name.index()] = classify_host_name(trace_.text(name));
  }
  return known_[name.index()];
}

std::vector<bool> collective_activities(const Trace& trace, const KernelNames& kernels) {
  std::vector<bool> result(trace.activities.size());
  for (size_t a = 0; a < result.size(); ++a) {
    result[a] = trace.activities.kind[a] == ActivityKind::kKernel &&
                kernels.of(trace.activities.name[a]).kind == KernelKind::kCommunication;
  }
  for (const ActivityId activity : trace.collectives.activity) result[activity.index()] = true;
  return result;
}

namespace {

// The kind by the operators around a launch, innermost first; "collective" if none shows it.
std::string kind_by_operator(const Trace& trace, const Links& links, const KernelBook& book,
                             OpId op) {
  std::string kind(kSomeCollective);
  for (; op && kind == kSomeCollective; op = links.op_parent[op.index()]) {
    const std::string_view name = trace.text(trace.ops.name[op.index()]);
    if (name.find("c10d::") == std::string_view::npos && !name.starts_with("nccl:")) continue;
    kind = book.collective_of(name);
  }
  return kind;
}

// The same by labels: until 2023 PyTorch had operators around some collectives only, but a label
// "nccl:all_to_all" around each.
std::string kind_by_label(const Trace& trace, const KernelBook& book, ApiCallId call) {
  constexpr size_t kLabelsInside = 32;  // most labels between a label's begin and the launch
  std::string kind(kSomeCollective);
  if (!call) return kind;
  const int64_t at_ns = trace.api_calls.start_ns[call.index()];
  const auto& threads = trace.annotations.thread;
  const auto own =
      std::equal_range(threads.begin(), threads.end(), trace.api_calls.thread[call.index()]);
  const auto first = static_cast<size_t>(own.first - threads.begin());
  const auto& starts = trace.annotations.start_ns;
  const auto begin = starts.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = starts.begin() + (own.second - threads.begin());
  auto row = static_cast<size_t>(std::upper_bound(begin, end, at_ns) - starts.begin());
  for (size_t k = 0; k < kLabelsInside && row > first && kind == kSomeCollective; ++k) {
    --row;
    if (starts[row] + trace.annotations.dur_ns[row] < at_ns) continue;
    const std::string_view name = trace.text(trace.annotations.name[row]);
    if (name.starts_with("nccl:")) kind = book.collective_of(name);
  }
  return kind;
}

}  // namespace

std::string collective_kind(const Trace& trace, const Links& links, const KernelNames& kernels,
                            StringId told, ActivityId activity, OpId op) {
  const KernelBook& book = kernels.book();
  if (told) {
    std::string kind = book.collective_of(trace.text(told));
    if (kind != kSomeCollective) return kind;
  }
  const std::string& named = kernels.of(trace.activities.name[activity.index()]).collective;
  if (named != kSomeCollective && named != kSendRecv) return named;
  // NCCL composes all-to-alls and grouped operations of sends and receives: the operator shows what
  // was requested.
  std::string asked = kind_by_operator(trace, links, book, op);
  if (asked == kSomeCollective) {
    asked = kind_by_label(trace, book, links.activity_call[activity.index()]);
  }
  return asked == kSomeCollective ? named : asked;
}

StringId row_name(const Trace& trace, RowSource source, uint32_t row) {
  switch (source) {
    case RowSource::kActivity:
      return trace.activities.name[row];
    case RowSource::kCall:
      return trace.api_calls.name[row];
    case RowSource::kOp:
      return trace.ops.name[row];
    case RowSource::kFrame:
      return trace.frames.name[row];
    case RowSource::kAnnotation:
      return trace.annotations.name[row];
    case RowSource::kSystem:
      return trace.other_events.name[row];
    case RowSource::kNone:
      break;
  }
  return StringId();
}

}  // namespace assay
