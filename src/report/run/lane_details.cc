#include "report/run/lane_details.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_string.h"
#include "kernels/name.h"
#include "report/run/packed_columns.h"
#include "text/plain_text.h"

namespace assay {
namespace {

// Values are stored plus one, with 0 = none, so that an empty column compresses to nothing. Host
// events use only kDims, kTypes, kConcrete, kBefore and kAfter.
enum DetailColumn : size_t {
  kName,  // as recorded, if the track shows another name
  kOp,    // index into the texts, as all up to kShape
  kDims,
  kTypes,
  kConcrete,
  kModule,
  kShape,
  kGraph,
  kCollective,
  kWait,
  kCall,
  kThread,  // index in `threads`
  kLead,    // from the start of the call to the start of the activity; negative if clocks differ
  kCallDur,
  kBytes,
  kNode,
  kBefore,  // duration before the window
  kAfter,   // duration after the window
};

std::vector<uint32_t> rows_of(const std::vector<ActivityId>& activities, size_t count) {
  std::vector<uint32_t> rows(count, UINT32_MAX);
  for (size_t i = 0; i < activities.size(); ++i) {
    rows[activities[i].index()] = static_cast<uint32_t>(i);
  }
  return rows;
}

}  // namespace

std::string lane_thread_name(const Thread& thread) {
  return thread.name.empty() ? "thread " + thread.tid : thread.name;
}

LaneDetails::LaneDetails(const Trace& trace, const Links& links, const FlowReport& flow)
    : trace_(trace),
      links_(links),
      window_(flow.window),
      modules_(trace),
      inputs_(input_rows(trace)),
      shapes_(rows_of(trace.kernel_shapes.activity, trace.activities.size())),
      transfers_(rows_of(trace.transfers.activity, trace.activities.size())),
      collectives_(rows_of(trace.collectives.activity, trace.activities.size())) {
  note_waits(flow);
}

void LaneDetails::note_waits(const FlowReport& flow) {
  for (const DeviceFlow& device : flow.devices) {
    auto& by_end = waits_[device.device];
    const std::vector<FlowSlice>& idle = device.idle;
    for (size_t i = 0; i < idle.size();) {
      size_t longest = i;
      size_t last = i;
      for (; i < idle.size() && idle[i].gap == idle[last].gap; ++i) {
        last = i;
        const Interval& span = idle[i].span;
        const Interval& most = idle[longest].span;
        if (span.end_ns - span.start_ns > most.end_ns - most.start_ns) longest = i;
      }
      by_end[idle[last].span.end_ns] = &idle[longest];
    }
  }
}

void LaneDetails::add_thread(uint32_t thread) { threads_.push_back(thread); }

void LaneDetails::begin_row() {
  for (std::string& column : columns_) column.clear();
}

uint64_t LaneDetails::place_of(const std::string& json) {
  const auto [found, is_new] = place_of_.try_emplace(json, texts_.size() + 1);
  if (is_new) texts_.push_back(json);
  return found->second;
}

uint64_t LaneDetails::text(std::string_view text) {
  return text.empty() ? 0 : place_of(json_string(clean_text(text)));
}

uint64_t LaneDetails::fields(std::initializer_list<std::string_view> fields) {
  std::vector<std::string> entries;
  for (const std::string_view field : fields) entries.push_back(json_string(clean_text(field)));
  return place_of(json_list(entries));
}

uint64_t LaneDetails::inputs(OpId op, size_t which) {
  const uint32_t row = op ? inputs_[op.index()] : UINT32_MAX;
  if (row == UINT32_MAX) return 0;
  const OpInputTable& table = trace_.op_inputs;
  const StringId id = which == kDims    ? table.dims[row]
                      : which == kTypes ? table.types[row]
                                        : table.concrete[row];
  return id ? text(trace_.text(id)) : 0;
}

uint64_t LaneDetails::module_at(ApiCallId call) {
  if (modules_.empty()) return 0;
  const Modules::Place place =
      modules_.at(trace_.api_calls.thread[call.index()], trace_.api_calls.start_ns[call.index()]);
  if (!place.found) return 0;
  return fields({place.cls, std::to_string(place.layer), place.stack, place.path});
}

// In schema order: grid, block, registers, shared memory.
uint64_t LaneDetails::shape_of(uint32_t row) {
  const KernelShapeTable& table = trace_.kernel_shapes;
  return place_of(fmt::format("[{},{},{},{},{},{},{},{}]", table.grid_x[row], table.grid_y[row],
                              table.grid_z[row], table.block_x[row], table.block_y[row],
                              table.block_z[row], table.registers[row],
                              table.shared_memory_bytes[row]));
}

uint64_t LaneDetails::collective_of(uint32_t row) {
  const CollectiveTable& table = trace_.collectives;
  const auto named = [&](StringId id) { return id ? trace_.text(id) : std::string_view(); };
  return fields({named(table.collective[row]), named(table.dtype[row]),
                 named(table.process_group[row]), std::to_string(table.group_size[row]),
                 std::to_string(table.in_elements[row]), std::to_string(table.out_elements[row])});
}

// The cause of idle time, and the name of its row.
uint64_t LaneDetails::waited_for(const FlowSlice& slice) {
  const auto name_in = [&](const auto& table) {
    return std::string(trace_.text(table.name[slice.row]));
  };
  std::string name;
  switch (slice.row == kNoFlowRow ? RowSource::kNone : slice.source) {
    case RowSource::kNone:
      break;
    case RowSource::kActivity:
      name = describe_kernel(trace_.text(trace_.activities.name[slice.row]));
      break;
    case RowSource::kCall:
      name = name_in(trace_.api_calls);
      break;
    case RowSource::kOp:
      name = name_in(trace_.ops);
      break;
    case RowSource::kFrame:
      name = name_in(trace_.frames);
      break;
    case RowSource::kAnnotation:
      name = name_in(trace_.annotations);
      break;
    case RowSource::kSystem:
      name = name_in(trace_.other_events);
      break;
  }
  return fields({flow_cause_name(slice.cause), name});
}

void LaneDetails::add_work(ActivityId work) {
  const size_t a = work.index();
  Cells cells = {};
  cut(trace_.activities.start_ns[a], trace_.activities.dur_ns[a], cells);
  const std::string_view name = trace_.text(trace_.activities.name[a]);
  if (describe_kernel(name) != name) cells[kName] = text(name);
  const OpId op = links_.activity_op[a];
  if (op) cells[kOp] = text(trace_.text(trace_.ops.name[op.index()]));
  for (const size_t which : {kDims, kTypes, kConcrete}) cells[which] = inputs(op, which);
  if (const uint32_t row = shapes_[a]; row != UINT32_MAX) {
    cells[kShape] = shape_of(row);
    if (const uint64_t graph = trace_.kernel_shapes.graph_id[row]; graph != 0) {
      cells[kGraph] = text(fmt::format("{}", graph));
      cells[kNode] = trace_.kernel_shapes.graph_node_id[row] + 1;
    }
  }
  if (const uint32_t row = collectives_[a]; row != UINT32_MAX)
    cells[kCollective] = collective_of(row);
  if (const uint32_t row = transfers_[a]; row != UINT32_MAX && trace_.transfers.bytes[row] >= 0)
    cells[kBytes] = static_cast<uint64_t>(trace_.transfers.bytes[row]) + 1;
  const auto waits = waits_.find(trace_.streams[trace_.activities.stream[a].index()].device);
  if (waits != waits_.end()) {
    const auto wait = waits->second.find(trace_.activities.start_ns[a]);
    if (wait != waits->second.end()) cells[kWait] = waited_for(*wait->second);
  }
  if (const ApiCallId call = links_.activity_call[a]) {
    const size_t c = call.index();
    cells[kModule] = module_at(call);
    cells[kCall] = text(trace_.text(trace_.api_calls.name[c]));
    const uint32_t thread = trace_.api_calls.thread[c].value;
    const auto place = std::find(threads_.begin(), threads_.end(), thread);
    cells[kThread] = static_cast<uint64_t>(place - threads_.begin()) + 1;
    if (place == threads_.end()) threads_.push_back(thread);
    cells[kLead] = zigzag(trace_.activities.start_ns[a] - trace_.api_calls.start_ns[c]) + 1;
    cells[kCallDur] = static_cast<uint64_t>(trace_.api_calls.dur_ns[c]) + 1;
  }
  append(cells);
}

void LaneDetails::add_host(int64_t start_ns, int64_t dur_ns, OpId op) {
  Cells cells = {};
  cut(start_ns, dur_ns, cells);
  for (const size_t which : {kDims, kTypes, kConcrete}) cells[which] = inputs(op, which);
  append(cells);
}

void LaneDetails::cut(int64_t start_ns, int64_t dur_ns, Cells& cells) const {
  const int64_t before_ns = window_.start_ns - start_ns;
  const int64_t after_ns = start_ns + dur_ns - window_.end_ns;
  if (before_ns > 0) cells[kBefore] = static_cast<uint64_t>(before_ns) + 1;
  if (after_ns > 0) cells[kAfter] = static_cast<uint64_t>(after_ns) + 1;
}

void LaneDetails::append(const Cells& cells) {
  for (size_t column = 0; column < kColumns; ++column)
    append_varint(cells[column], columns_[column]);
}

void LaneDetails::end_row() {
  std::vector<std::string> places;
  for (size_t column = 0; column < kColumns; ++column) {
    const std::string& bytes = columns_[column];
    const bool blank = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
    places.push_back(fmt::format("{}", blank ? -1 : static_cast<int64_t>(body_.size())));
    if (!blank) body_ += bytes;
  }
  heads_.push_back(json_list(places));
}

std::string LaneDetails::bytes() const {
  if (heads_.empty()) return "";
  std::vector<std::string> threads;
  for (const uint32_t thread : threads_) {
    threads.push_back(json_string(clean_text(lane_thread_name(trace_.threads[thread]))));
  }
  return with_length(fmt::format(R"({{"version":1,"texts":{},"threads":{},"rows":{}}})",
                                 json_list(texts_), json_list(threads), json_list(heads_))) +
         body_;
}

}  // namespace assay
