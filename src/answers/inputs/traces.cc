#include "answers/inputs/traces.h"

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "ingest/cached_load.h"
#include "ingest/chrome/execution_trace.h"
#include "ingest/load.h"
#include "ingest/stand_ins.h"
#include "ingest/text/csv_table.h"
#include "kernels/views.h"
#include "trace/label_windows.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

Result<Trace> load_maybe_cached(const std::string& path, const ReadOptions& read,
                                const TraceRequest& request) {
  if (request.cache.empty() || read.inputs != nullptr) return load_trace(path, read);
  std::string folder = request.cache;
  if (folder == "auto") {
    ASSAY_TRY_ASSIGN(folder, default_cache_folder());
  }
  std::string note;
  auto trace = load_cached(path, read, folder, note);
  if (!note.empty()) request.listener.tell(path + ": " + note);
  return trace;
}

// The built-in kernel name table, preceded by the rules of the user's file if given.
Result<std::shared_ptr<const KernelBook>> kernel_book(const std::string& path) {
  if (path.empty()) return KernelBook::built_in();
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  auto book = std::make_shared<KernelBook>(*KernelBook::built_in());
  ASSAY_TRY(book->add(text, path));
  return std::shared_ptr<const KernelBook>(std::move(book));
}

}  // namespace

Result<std::vector<std::string>> input_files(const std::vector<std::string>& arguments,
                                             const Listener& listener) {
  std::vector<std::string> notes;
  auto files = expand_inputs(arguments, &notes);
  for (const std::string& note : notes) listener.tell(note);
  return files;
}

Result<std::vector<std::string>> accepted_files(const TraceRequest& request) {
  std::vector<std::string> files = request.files;
  if (files.empty()) {
    ASSAY_TRY_ASSIGN(files, input_files(request.inputs, request.listener));
  }
  if (request.accept) ASSAY_TRY(request.accept(files));
  constexpr size_t kMany = 64;
  if (files.size() > kMany) {
    request.listener.tell(std::to_string(files.size()) +
                          " traces, read one after the other. For a job of this size, assay job "
                          "reads on many machines and keeps little of each");
  }
  return files;
}

namespace {

WorkRole work_role(const KernelFacts& facts) {
  if (is_optimizer_step(facts)) return WorkRole::kOptimizer;
  switch (facts.kind) {
    case KernelKind::kGemm:
    case KernelKind::kConv:
      return WorkRole::kHeavy;
    case KernelKind::kAttention:
      return WorkRole::kAttention;
    default:
      return WorkRole::kPlain;
  }
}

// Per StringId: the role of a kernel in an iteration, by its name.
std::vector<WorkRole> work_roles(const LoadedTrace& loaded) {
  std::vector<WorkRole> roles(loaded.trace.strings.size());
  for (size_t i = 0; i < roles.size(); ++i) roles[i] = work_role(loaded.kernels->of(StringId(i)));
  return roles;
}

// Reports what the execution trace gave. Refuses that of another run, with none of the operators.
Status note_inputs(const ExecutionTrace& inputs, const Trace& trace, const TraceRequest& request) {
  const auto count_of = [&trace](std::string_view key) -> std::string {
    for (const MetadataEntry& entry : trace.metadata) {
      if (entry.key == key) return entry.value;
    }
    return "0";
  };
  const std::string operators = count_of(kInputsJoined);
  const std::string without = count_of(kInputsUnjoined);
  if (operators == "0" && without != "0" && trace.op_inputs.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "an execution trace of another run or process: none of the trace's " + without +
                     " operators without shapes is in it by process, id and name",
                 request.execution_trace, -1};
  }
  request.listener.tell(request.execution_trace + " has the inputs of " + operators +
                        " operators; " + without + " stay without shapes, and " +
                        std::to_string(inputs.bad_nodes) + " of its nodes are not used");
  return Ok{};
}

}  // namespace

Result<LoadedTrace> load_input(const std::string& path, const TraceRequest& request) {
  PhaseClock clock(request.listener);
  ASSAY_TRY_ASSIGN(const auto book, kernel_book(request.kernels));
  ReadProgress progress;
  std::optional<ExecutionTrace> inputs;
  if (!request.execution_trace.empty()) {
    ASSAY_TRY_ASSIGN(inputs, read_execution_trace(request.execution_trace));
  }
  const ReadOptions read{.allow_truncated = request.allow_truncated,
                         .keep_op_inputs = request.keep_op_inputs,
                         .threads = request.threads,
                         .progress = &progress,
                         .inputs = inputs ? &*inputs : nullptr};
  LoadedTrace loaded;
  {
    const std::shared_ptr<void> watched = request.listener.begin_reading(path, progress);
    ASSAY_TRY_ASSIGN(loaded.trace, load_maybe_cached(path, read, request));
  }
  if (inputs) ASSAY_TRY(note_inputs(*inputs, loaded.trace, request));
  clock.mark("read", loaded.trace.content_bytes);
  loaded.links = link_trace(loaded.trace);
  clock.mark("link");
  loaded.kernels =
      std::make_shared<const KernelNames>(loaded.trace.strings, loaded.trace.activities.name, book);
  clock.mark("kernels");
  if (request.window.empty()) {
    loaded.windows = find_iterations(loaded.trace, loaded.links, work_roles(loaded));
  } else {
    auto windows = windows_by_label(loaded.trace, request.window);
    if (!windows) {
      Error error = windows.take_error();
      error.file = path;
      return error;
    }
    loaded.windows = *std::move(windows);
  }
  clock.mark("windows");
  return loaded;
}

Result<LoadedTrace> load_or_split(std::vector<std::string>& files, size_t at,
                                  const TraceRequest& request) {
  if (!request.execution_trace.empty() && files.size() != 1) {
    return Error{ErrorCode::kInvalidArgument,
                 "--execution-trace belongs to one trace, the process that wrote it; " +
                     std::to_string(files.size()) + " are given",
                 "", -1};
  }
  auto loaded = load_input(files[at], request);
  if (!loaded && loaded.error().code == ErrorCode::kSeveralTraces &&
      is_regular_file(files[at])) {
    ASSAY_TRY_ASSIGN(const StandIns apart, processes_apart(files[at]));
    if (apart.left_out > 0) {
      request.listener.tell(shown_path(files[at]) + ": " + std::to_string(apart.left_out) +
                            " rows of other processes are not read");
    }
    files[at] = apart.files.front();
    files.insert(files.begin() + static_cast<std::ptrdiff_t>(at) + 1, apart.files.begin() + 1,
                 apart.files.end());
    loaded = load_input(files[at], request);
  }
  if (loaded) loaded->among = files.size();
  return loaded;
}

bool skip_input(const TraceRequest& request, const std::string& file, const Error& error) {
  const bool named =
      std::find(request.inputs.begin(), request.inputs.end(), file) != request.inputs.end();
  if (named || error.code != ErrorCode::kNotATrace) return false;
  request.listener.tell("skipped " + error.describe());
  return true;
}

Status each_trace(const TraceRequest& request, const std::function<Status(LoadedTrace)>& see) {
  ASSAY_TRY_ASSIGN(std::vector<std::string> files, input_files(request.inputs, request.listener));
  for (size_t i = 0; i < files.size(); ++i) {
    ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_or_split(files, i, request));
    ASSAY_TRY(see(std::move(loaded)));
  }
  return Ok{};
}

}  // namespace assay
