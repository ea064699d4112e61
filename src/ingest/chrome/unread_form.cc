#include "ingest/chrome/unread_form.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "trace/process_facts.h"
#include "trace/unread.h"

namespace assay {
namespace {

struct Form {
  std::string_view is;
  std::string_view give;
};

// Horovod names a process after the tensor, and its first phase after the negotiated operation.
constexpr Form kHorovodForm = {
    "a timeline of Horovod: when tensors were reduced, nothing of the GPU",
    "give the trace of the program itself: torch.profiler with "
    "export_chrome_trace, nsys profile or rocprofv3"};
// RunMetadata of TensorFlow 1, written by its timeline module: one process per device, category
// "Op".
constexpr Form kTensorFlowForm = {
    "a timeline of TensorFlow's sessions (RunMetadata), a form that is "
    "not read",
    "record with nsys profile -t cuda,nvtx and nsys export --type sqlite"};
constexpr Form kOnnxForm = {
    "a profile of ONNX Runtime: its operators, neither calls nor kernels",
    "record the program with nsys profile -t cuda,nvtx and nsys export --type "
    "sqlite, or with rocprofv3"};
constexpr Form kOtherForm = {
    "",
    "Assay reads Chrome traces of PyTorch, JAX, rocprof and Ascend NPUs; record "
    "any program with nsys profile or rocprofv3"};

bool is_onnx_row(std::string_view category, std::string_view name) {
  const bool known = category == "Node" || category == "Session";
  return known && (contains(name, "_kernel_time") || contains(name, "_fence_") ||
                   contains(name, "session_initialization") || contains(name, "model_run"));
}

const Form& form_of(const Trace& trace) {
  const OtherEventTable& rows = trace.other_events;
  std::vector<std::optional<std::string_view>> process_of(trace.threads.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = trace.text(rows.name[i]);
    const std::string_view category = trace.text(rows.category[i]);
    std::optional<std::string_view>& known = process_of[rows.thread[i].index()];
    if (!known) {
      known = process_fact(trace, kProcessName, trace.threads[rows.thread[i].index()].pid);
    }
    const std::string_view process = *known;
    if (name.starts_with("NEGOTIATE_") || process.starts_with("Horovod")) return kHorovodForm;
    if (is_onnx_row(category, name)) return kOnnxForm;
    if (category == "Op" && process.ends_with(" Compute") && process.starts_with('/')) {
      return kTensorFlowForm;
    }
  }
  return kOtherForm;
}

}  // namespace

Status check_form(const Trace& trace) {
  const bool read = !trace.ops.empty() || !trace.frames.empty() || !trace.api_calls.empty() ||
                    !trace.activities.empty() || !trace.annotations.empty() ||
                    !trace.gpu_annotations.empty();
  if (read || trace.other_events.empty()) return Ok{};
  const Form& form = form_of(trace);
  const std::vector<StringId>& categories = trace.other_events.category;
  const bool any_category = std::any_of(categories.begin(), categories.end(),
                                        [](StringId category) { return category != StringId(0); });
  if (form.is.empty() && any_category) return Ok{};
  const std::string is = form.is.empty() ? "a Chrome trace of a form that is not read: " +
                                               std::to_string(trace.other_events.size()) +
                                               " events " + unread_rows_words(trace)
                                         : std::string(form.is);
  return Error{ErrorCode::kNotATrace, "unsupported: " + is + "; " + std::string(form.give), "", -1};
}

}  // namespace assay
