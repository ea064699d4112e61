#include "ingest/nvtx_ranges.h"

#include <algorithm>
#include <string>

#include "base/decimal.h"
#include "ingest/text/json_text.h"
#include "trace/backward_names.h"

namespace assay {
namespace {

constexpr int64_t kSomeForwardThread = 1;

// The label of an operator from torch.autograd.profiler.emit_nvtx(): `aten::mm, seq = 12, op_id =
// 40, sizes = [[8, 128], [128, 64]], input_op_ids = [...]`.
struct OpLabel {
  std::string_view name;
  int64_t sequence = -1;
  std::string_view sizes;
  bool from_framework = false;
};

std::string_view part_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

OpLabel op_label(std::string_view text) {
  OpLabel label;
  label.name = text;
  for (const std::string_view key : {", seq = ", ", op_id = ", ", sizes = "}) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos || at == 0) continue;
    label.from_framework = true;
    label.name = label.name.substr(0, std::min(at, label.name.size()));
  }
  if (!label.from_framework) return label;
  const std::string_view sequence = part_after(text, ", seq = ");
  if (!parse_int64(sequence.substr(0, sequence.find(',')), label.sequence)) label.sequence = -1;
  const std::string_view sizes = part_after(text, ", sizes = ");
  label.sizes = sizes.substr(0, sizes.find(", input_op_ids"));
  return label;
}

}  // namespace

RangeRow add_nvtx_range(TraceBuilder& builder, const RangeSpan& span, std::string_view text,
                        bool keep_op_inputs) {
  const OpLabel label = op_label(text);
  const StringId name = builder.text(label.name);
  if (!label.from_framework) {
    builder.annotations.push_back({span.start_ns, span.dur_ns, name, span.thread, 0});
    return {false, static_cast<uint32_t>(builder.annotations.size() - 1)};
  }
  builder.ops.push_back({span.start_ns, span.dur_ns, name, span.thread, 0});
  const OpId op(builder.ops.size() - 1);
  if (label.sequence >= 0) {
    // A backward node carries the sequence number of its forward operator, but not that operator's
    // thread.
    const int64_t forward_thread = is_backward_node(label.name) ? kSomeForwardThread : 0;
    builder.op_sequences.push_back({op, label.sequence, forward_thread});
  }
  if (keep_op_inputs && !label.sizes.empty()) {
    std::string scratch;
    const StringId dims = builder.text(compact_json(label.sizes, false, scratch));
    builder.op_inputs.push_back({op, dims, StringId(0), StringId(0), StringId(0)});
  }
  return {true, 0};
}

// Uses only innermost ranges: the time from the start of an outer range to its later launches is
// not the cost of reaching them.
void add_stand_in_operators(TraceBuilder& builder, std::vector<uint32_t> rows) {
  if (!builder.ops.empty()) return;
  const AnnotationTable& ranges = builder.annotations;
  std::sort(rows.begin(), rows.end(), [&ranges](uint32_t a, uint32_t b) {
    if (ranges.thread[a] != ranges.thread[b]) return ranges.thread[a] < ranges.thread[b];
    if (ranges.start_ns[a] != ranges.start_ns[b]) return ranges.start_ns[a] < ranges.start_ns[b];
    return ranges.dur_ns[a] != ranges.dur_ns[b] ? ranges.dur_ns[a] > ranges.dur_ns[b] : a < b;
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t row = rows[i];
    const int64_t end_ns = ranges.start_ns[row] + ranges.dur_ns[row];
    const bool holds_another = i + 1 < rows.size() &&
                               ranges.thread[rows[i + 1]] == ranges.thread[row] &&
                               ranges.start_ns[rows[i + 1]] < end_ns;
    if (holds_another) continue;
    builder.ops.push_back(
        {ranges.start_ns[row], ranges.dur_ns[row], ranges.name[row], ranges.thread[row], 0});
  }
}

}  // namespace assay
