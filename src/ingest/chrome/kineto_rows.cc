#include "ingest/chrome/kineto_rows.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/decimal.h"
#include "base/latest_time.h"
#include "ingest/text/json_text.h"
#include "trace/api_names.h"
#include "trace/hip_kernels.h"
#include "trace/process_facts.h"
#include "trace/wait_names.h"

namespace assay {
namespace {

bool is_null(const JsonValue& value) {
  return value.kind == JsonKind::kScalar && value.text == "null";
}

// Form of a numeric field, or why it has no number.
enum class NumberText : uint8_t { kNumber, kQuoted, kAbsent, kBareWord, kWrongType };

NumberText number_text(const JsonValue& value) {
  if (value.kind == JsonKind::kString) {
    return value.text.empty() ? NumberText::kAbsent : NumberText::kQuoted;
  }
  if (value.kind != JsonKind::kScalar) return NumberText::kWrongType;
  const bool digit = value.text.front() >= '0' && value.text.front() <= '9';
  if (digit && !is_bare_word(value.text)) return NumberText::kNumber;
  if (value.text == "null") return NumberText::kAbsent;
  if (value.text == "true" || value.text == "false") return NumberText::kWrongType;
  return is_bare_word(value.text) ? NumberText::kBareWord : NumberText::kNumber;
}

// The trailing number of an old lane name, "stream 7".
std::string_view trailing_digits(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return text.substr(begin);
}

// The only mapping from categories to tables. `from` provides the columns name(), thread(),
// stream(), correlation(), external_id() and category_text(). Only those of the table are called,
// because reading them dominates the cost.
template <typename Columns>
void file_row(TraceBuilder& builder, Category category, int64_t start_ns, int64_t dur_ns,
              int64_t offset, Columns&& from) {
  const auto activity = [&](ActivityKind kind) {
    const StringId name = from.name();
    const std::string_view text = builder.strings.view(name);
    const bool any = kind == ActivityKind::kKernel || kind == ActivityKind::kOther;
    if (kind == ActivityKind::kKernel) kind = kind_of_hip_kernel(text);
    if (any && is_device_wait(text)) kind = ActivityKind::kSync;
    builder.activities.push_back(
        {start_ns, dur_ns, name, from.stream(), from.correlation(), from.external_id(), kind});
  };
  const auto call = [&](ApiKind kind) {
    const StringId name = from.name();
    const std::string_view text = builder.strings.view(name);
    const std::string_view plain = without_api_version(text);
    builder.api_calls.push_back({start_ns, dur_ns,
                                 plain.size() == text.size() ? name : builder.text(plain),
                                 from.thread(), from.correlation(), from.external_id(), kind});
  };
  switch (category) {
    case Category::kFrame:
      builder.frames.push_back({start_ns, dur_ns, from.name(), from.thread()});
      return;
    case Category::kOp:
      builder.ops.push_back({start_ns, dur_ns, from.name(), from.thread(), from.external_id()});
      return;
    case Category::kRuntimeCall:
      return call(ApiKind::kRuntime);
    case Category::kDriverCall:
      return call(ApiKind::kDriver);
    case Category::kKernel:
      return activity(ActivityKind::kKernel);
    case Category::kMemcpy:
      return activity(ActivityKind::kMemcpy);
    case Category::kMemset:
      return activity(ActivityKind::kMemset);
    case Category::kDeviceSync:
      return activity(ActivityKind::kSync);
    case Category::kDeviceOther:
      return activity(ActivityKind::kOther);
    case Category::kAnnotation:
      builder.annotations.push_back(
          {start_ns, dur_ns, from.name(), from.thread(), from.external_id()});
      return;
    case Category::kGpuAnnotation:
      builder.gpu_annotations.push_back({start_ns, dur_ns, from.name(), from.stream()});
      return;
    case Category::kOverhead:
      builder.overheads.push_back({start_ns, dur_ns, from.name()});
      return;
    case Category::kSpan:
      ++builder.counts.spans;
      return;
    default:
      builder.log.add(ImportCode::kUnknownCategory, offset);
      builder.other_events.push_back(
          {start_ns, dur_ns, from.name(), from.category_text(), from.thread()});
  }
}

// The columns of a span with separate begin and end events, from its begin event.
struct MarkColumns {
  const SpanMark& mark;

  StringId name() const { return mark.name; }
  ThreadId thread() const { return mark.thread; }
  StreamId stream() const { return mark.stream; }
  uint32_t correlation() const { return mark.correlation; }
  uint32_t external_id() const { return mark.external_id; }
  StringId category_text() const { return mark.category; }
};

}  // namespace

void pair_marks(TraceBuilder& builder) {
  std::vector<SpanMark>& marks = builder.marks;
  std::stable_sort(marks.begin(), marks.end(), [](const SpanMark& a, const SpanMark& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.time_ns < b.time_ns;
  });
  std::vector<SpanMark> open;
  const auto close_all = [&] {
    for (const SpanMark& mark : open) builder.log.add(ImportCode::kUnmatchedBegin, mark.offset);
    open.clear();
  };
  for (const SpanMark& mark : marks) {
    if (!open.empty() && open.back().thread != mark.thread) close_all();
    if (mark.begin) {
      open.push_back(mark);
      continue;
    }
    // An end closes the innermost open span, or if it has a name, the innermost one with that name.
    size_t i = open.size();
    while (i > 0 && mark.name != StringId(0) && open[i - 1].name != mark.name) --i;
    if (i == 0) {
      builder.log.add(ImportCode::kUnmatchedEnd, mark.offset);
      continue;
    }
    builder.log.add(ImportCode::kBeginEndPair, open[i - 1].offset);
    const SpanMark& begin = open[i - 1];
    const int64_t dur_ns = mark.time_ns - begin.time_ns;
    builder.time_shape.max_dur_ns = std::max(builder.time_shape.max_dur_ns, dur_ns);
    file_row(builder, category_of(builder.strings.view(begin.category)), begin.time_ns, dur_ns,
             begin.offset, MarkColumns{begin});
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
  close_all();
  marks.clear();
}

void KinetoRows::add(const RawEvent& event, JsonCursor cursor, int64_t offset, bool check_utf8) {
  offset_ = offset;
  check_utf8_ = check_utf8;
  ++builder_.counts.events;
  if (event.repeated_key) log(ImportCode::kDuplicateKey);
  if (event.bare_words != 0) log(ImportCode::kNanLiteral, event.bare_words);
  if (event.trailing_commas != 0) log(ImportCode::kTrailingComma, event.trailing_commas);
  const std::string_view phase = event.has(Field::kPhase) ? event[Field::kPhase].text : "";
  if (phase.size() != 1) {
    log(phase.empty() ? ImportCode::kNotAnObject : ImportCode::kUnknownPhase);
    return;
  }
  switch (phase[0]) {
    case 'X':
      return add_complete(event, cursor);
    case 'B':
    case 'E':
      return add_mark(event, phase[0] == 'B');
    case 'M':
      return add_metadata(event);
    case 'i':
    case 'I':
      return add_instant(event);
    case 'C':
      return add_counter(event, cursor);
    case 's':
    case 't':
    case 'f':
      return add_flow(event, phase[0] == 'f');
    default:
      log(ImportCode::kUnknownPhase);
  }
}

void KinetoRows::add_complete(const RawEvent& event, JsonCursor cursor) {
  const Category category = event.category;
  if (category == Category::kSpan) {
    add_span(event);
    return;
  }
  int64_t start_ns = 0;
  if (!read_start(event, start_ns)) return;
  const int64_t dur_ns = read_duration(event);
  if (dur_ns > kLatestNs) {
    log(ImportCode::kTimestampOverflow);
    return;
  }
  struct EventColumns {
    KinetoRows& rows;
    const RawEvent& event;

    StringId name() { return rows.name_of(event); }
    ThreadId thread() { return rows.thread_of(event); }
    StreamId stream() { return rows.stream_of(event); }
    uint32_t correlation() { return rows.read_id(event, Arg::kCorrelation); }
    uint32_t external_id() { return rows.read_external_id(event); }
    StringId category_text() { return rows.category_text(event); }
  };
  const size_t calls = builder_.api_calls.size();
  const size_t activities = builder_.activities.size();
  const size_t others = builder_.other_events.size();
  file_row(builder_, category, start_ns, dur_ns, offset_, EventColumns{*this, event});
  if (category == Category::kOp) {
    add_sequence(event);
    if (keep_op_inputs_) add_inputs(event);
    return;
  }
  if (builder_.api_calls.size() > calls) add_launch_name(event);
  if (builder_.activities.size() > activities) add_activity_details(event, cursor);
  if (builder_.other_events.size() == others) return;
  const auto row = static_cast<uint32_t>(others);
  if (event.has(Arg::kCorrelationOther)) {
    builder_.other_correlations.emplace_back(row, read_id(event, Arg::kCorrelationOther));
  }
  if (event.has(Arg::kTaskType)) {
    builder_.other_task_types.emplace_back(row, read_text(event, Arg::kTaskType));
  }
}

void KinetoRows::add_span(const RawEvent& event) {
  ++builder_.counts.spans;
  const bool of_torch =
      event.has(Field::kName) && event[Field::kName].text.starts_with("PyTorch Profiler");
  if (!of_torch || !event.has(Field::kDuration)) return;
  // Parsed separately, so that it does not affect the detected time resolution.
  int64_t dur_ns = 0;
  DecimalShape shape;
  if (parse_decimal(event[Field::kDuration].text, time_scale_, dur_ns, shape) ==
      DecimalStatus::kOk) {
    builder_.profiler_span_ns = std::max(builder_.profiler_span_ns, dur_ns);
  }
}

// Adds the autograd sequence number of the last added operator.
void KinetoRows::add_sequence(const RawEvent& event) {
  if (!event.has(Arg::kSequence)) return;
  const int64_t sequence = read_integer(event, Arg::kSequence, -1);
  if (sequence < 0) return;
  builder_.op_sequences.push_back(
      {OpId(builder_.ops.size() - 1), sequence, read_integer(event, Arg::kForwardThread, 0)});
}

// The node of an operator. Kineto writes the id of the node since 2023; before that its external id
// was the same number. Other runs use the same numbers, so processes and names are compared too.
const ExecutionTrace::Node* KinetoRows::node_of(const RawEvent& event) {
  int64_t id = read_integer(event, Arg::kRecordFunction, 0);
  if (!event.has(Arg::kRecordFunction)) id = read_external_id(event);
  const std::string& pid = execution_trace_->pid;
  const bool other = !pid.empty() && event.has(Field::kPid) && event[Field::kPid].text != pid;
  if (id <= 0 || other) return nullptr;
  const auto found = execution_trace_->nodes.find(static_cast<uint64_t>(id));
  if (found == execution_trace_->nodes.end()) return nullptr;
  return builder_.text(found->second.name) == name_of(event) ? &found->second : nullptr;
}

void KinetoRows::add_inputs(const RawEvent& event) {
  const Arg dims_arg = event.has(Arg::kInputDims) ? Arg::kInputDims : Arg::kInputDimsOld;
  StringId dims = json_of(event, dims_arg);
  StringId types = json_of(event, Arg::kInputTypes);
  StringId strides = json_of(event, Arg::kInputStrides);
  StringId concrete = json_of(event, Arg::kConcreteInputs);
  const bool lacks = dims == StringId(0) || types == StringId(0) || concrete == StringId(0);
  if (execution_trace_ != nullptr && lacks) {
    const ExecutionTrace::Node* node = node_of(event);
    const bool same = node != nullptr && (dims == StringId(0) || builder_.text(node->dims) == dims);
    if (same) {
      ++builder_.inputs_joined;
      if (dims == StringId(0)) dims = builder_.text(node->dims);
      if (types == StringId(0)) types = builder_.text(node->types);
      if (strides == StringId(0)) strides = builder_.text(node->strides);
      if (concrete == StringId(0)) concrete = builder_.text(node->concrete);
    } else if (dims == StringId(0)) {
      ++builder_.inputs_unjoined;
    }
  }
  for (const StringId told : {dims, types, strides, concrete}) {
    if (told == StringId(0)) continue;
    builder_.op_inputs.push_back({OpId(builder_.ops.size() - 1), dims, types, strides, concrete});
    return;
  }
}

// Adds the kernel that the last added call launches.
void KinetoRows::add_launch_name(const RawEvent& event) {
  if (!event.has(Arg::kLaunchedKernel)) return;
  const StringId kernel = read_text(event, Arg::kLaunchedKernel);
  if (kernel == StringId(0)) return;
  builder_.launch_names.push_back({ApiCallId(builder_.api_calls.size() - 1), kernel});
}

// Adds rows to the side tables of the last added activity.
void KinetoRows::add_activity_details(const RawEvent& event, JsonCursor cursor) {
  const ActivityId activity(builder_.activities.size() - 1);
  if (event.has(Arg::kGrid) || event.has(Arg::kGraphNodeId)) {
    add_kernel_shape(event, activity, cursor);
  }
  if (event.has(Arg::kCollective)) add_collective(event, activity);
  if (event.category == Category::kDeviceSync) add_wait(event, activity);
  if (event.category != Category::kMemcpy && event.category != Category::kMemset) return;
  const int64_t bytes = event.has(Arg::kBytes) ? read_integer(event, Arg::kBytes, -1)
                                               : read_integer(event, Arg::kSize, -1);
  if (bytes >= 0) builder_.transfers.push_back({activity, bytes});
}

void KinetoRows::add_kernel_shape(const RawEvent& event, ActivityId activity, JsonCursor cursor) {
  const auto read_triple = [&](Arg arg, uint32_t(&triple)[3]) {
    if (!event.has(arg) || event[arg].kind != JsonKind::kArray) return;
    cursor.at = event[arg].position;
    size_t k = 0;
    const Walk walk = read_array(cursor, [&](const JsonValue& element) {
      const int64_t size = integer_of(element, 0);
      const bool fits = size >= 0 && size <= std::numeric_limits<uint32_t>::max();
      if (!fits) log(ImportCode::kWrongType);
      if (k < 3) triple[k++] = fits ? static_cast<uint32_t>(size) : 0;
    });
    if (walk != Walk::kOk) log(ImportCode::kWrongType);
  };
  const auto unsigned_of = [&](Arg arg) {
    const int64_t value = read_integer(event, arg, 0);
    return value >= 0 && value <= std::numeric_limits<uint32_t>::max()
               ? static_cast<uint32_t>(value)
               : 0u;
  };
  uint32_t grid[3] = {0, 0, 0};
  uint32_t block[3] = {0, 0, 0};
  read_triple(Arg::kGrid, grid);
  read_triple(Arg::kBlock, block);
  builder_.kernel_shapes.push_back(
      {activity, grid[0], grid[1], grid[2], block[0], block[1], block[2],
       unsigned_of(Arg::kRegisters), unsigned_of(Arg::kSharedMemory),
       static_cast<uint64_t>(read_integer(event, Arg::kGraphId, 0)),
       static_cast<uint64_t>(read_integer(event, Arg::kGraphNodeId, 0))});
}

void KinetoRows::add_collective(const RawEvent& event, ActivityId activity) {
  const Arg peer = event.has(Arg::kDestination) ? Arg::kDestination : Arg::kSource;
  builder_.collectives.push_back(
      {activity, read_text(event, Arg::kCollective), read_text(event, Arg::kDtype),
       read_text(event, Arg::kProcessGroup), read_text(event, Arg::kProcessGroupRanks),
       read_integer(event, Arg::kInElements, -1), read_integer(event, Arg::kOutElements, -1),
       read_integer(event, Arg::kGroupSize, -1), read_integer(event, Arg::kCollectiveSeq, -1),
       read_integer(event, peer, -1)});
}

// Kineto writes -1 for unknown values, and no stream for waits on all streams.
void KinetoRows::add_wait(const RawEvent& event, ActivityId activity) {
  const ActivityTable& rows = builder_.activities;
  const WaitKind kind = wait_kind_of(builder_.strings.view(rows.name[activity.index()]));
  if (kind == WaitKind::kUnknown) return;
  const Arg stream = kind == WaitKind::kStreamSync ? Arg::kStream : Arg::kWaitedStream;
  const int64_t record = read_integer(event, Arg::kRecordCorrelation, 0);
  const bool told = record > 0 && record < std::numeric_limits<uint32_t>::max();
  builder_.waits.push_back({activity, kind, std::max<int64_t>(read_integer(event, stream, -1), -1),
                            told ? static_cast<uint32_t>(record) : 0});
}

void KinetoRows::add_mark(const RawEvent& event, bool begin) {
  SpanMark mark;
  mark.begin = begin;
  mark.offset = offset_;
  if (!read_start(event, mark.time_ns)) return;
  mark.thread = thread_of(event);
  mark.name = name_of(event);
  mark.category = category_text(event);
  mark.correlation = read_id(event, Arg::kCorrelation);
  mark.external_id = read_external_id(event);
  mark.stream = stream_of(event);
  builder_.marks.push_back(mark);
}

void KinetoRows::add_instant(const RawEvent& event) {
  ++builder_.counts.instants;
  if (!event.has(Arg::kMemoryBytes)) return;
  int64_t time_ns = 0;
  if (!read_start(event, time_ns)) return;
  uint64_t addr = 0;
  if (event.has(Arg::kMemoryAddr)) parse_uint64(event[Arg::kMemoryAddr].text, addr);
  builder_.memory_events.push_back({time_ns, read_integer(event, Arg::kMemoryBytes, 0),
                                    read_integer(event, Arg::kTotalAllocated, -1),
                                    read_integer(event, Arg::kTotalReserved, -1), addr,
                                    static_cast<int32_t>(read_integer(event, Arg::kDeviceType, 0)),
                                    static_cast<int32_t>(read_integer(event, Arg::kDeviceId, -1))});
}

void KinetoRows::add_counter(const RawEvent& event, JsonCursor cursor) {
  if (event.category == Category::kSpan) {
    ++builder_.counts.spans;
    return;
  }
  int64_t time_ns = 0;
  if (!read_start(event, time_ns)) return;
  if (!event.has(Field::kArgs) || event[Field::kArgs].kind != JsonKind::kObject) {
    log(ImportCode::kWrongType);
    return;
  }
  const StringId name = name_of(event);
  const ThreadId thread = thread_of(event);
  cursor.at = event[Field::kArgs].position;
  uint64_t trailing_commas = 0;  // already counted when the event was read
  const Walk walk = read_object(cursor, trailing_commas, [&](std::string_view key, JsonCursor& at) {
    JsonValue value;
    const Walk read = read_value(at, value);
    if (read != Walk::kOk) return read;
    double number = 0;
    if (parse_double(value.text, number)) {
      JsonValue series;
      series.kind = JsonKind::kString;
      series.text = key;
      builder_.counters.push_back({time_ns, name, text_of(series), thread, number});
    } else {
      log(value.kind == JsonKind::kScalar ? ImportCode::kNanLiteral : ImportCode::kWrongType);
    }
    return Walk::kOk;
  });
  if (walk != Walk::kOk) log(ImportCode::kWrongType);
}

void KinetoRows::add_flow(const RawEvent& event, bool is_end) {
  const bool dependency = event.category == Category::kDependencyFlow;
  if (event.category != Category::kForwardBackwardFlow) {
    ++(is_end ? builder_.counts.flow_ends : builder_.counts.flow_starts);
    if (!dependency) return;
  }
  int64_t time_ns = 0;
  uint64_t id = 0;
  if (!read_start(event, time_ns)) return;
  if (!event.has(Field::kId) || !parse_uint64(event[Field::kId].text, id)) {
    log(ImportCode::kWrongType);
    return;
  }
  const bool step = dependency && event[Field::kPhase].text == "t";
  auto add = [&](auto& rows) {
    rows.push_back({time_ns, id, thread_of(event), static_cast<uint8_t>(is_end || step)});
  };
  dependency ? add(builder_.dependency_flows) : add(builder_.forward_backward_flows);
}

void KinetoRows::add_metadata(const RawEvent& event) {
  ++builder_.counts.metadata;
  if (!event.has(Field::kName)) return;
  const std::string_view what = event[Field::kName].text;
  if (what.starts_with("process_") || what == "assay_process")
    return add_process_facts(event, what);
  const bool lane = what == "assay_lane" && event.has(Arg::kLaneProcess);
  if (!lane && what != "thread_name") return;
  if (!event.has(Arg::kNameArg) || event[Arg::kNameArg].kind != JsonKind::kString) return;
  TextRepairs repairs;
  const std::string_view name =
      clean_json_text(event[Arg::kNameArg].text, check_utf8_, scratch_, repairs);
  const Lane written{event[Field::kPid].text, event[Field::kTid].text};
  if (lane) {
    builder_.join_lane(written, {event[Arg::kLaneProcess].text, event[Arg::kLaneThread].text},
                       name);
  } else {
    builder_.name_lane(written.pid, written.tid, name);
  }
}

// A metadata event of the file has one property; that of a timeline has all properties of its
// process.
void KinetoRows::add_process_facts(const RawEvent& event, std::string_view what) {
  const bool timeline = what == "assay_process";
  if (timeline) builder_.mark_timeline();
  if (timeline && !event.has(Arg::kLaneProcess)) return;
  const std::pair<std::string_view, Arg> facts[] = {{kProcessName, Arg::kNameArg},
                                                    {kProcessLabels, Arg::kLabels},
                                                    {kProcessSortIndex, Arg::kSortIndex}};
  for (const auto& [fact, arg] : facts) {
    if (!event.has(arg) || (!timeline && what != fact)) continue;
    const JsonValue& value = event[arg];
    if (value.kind == JsonKind::kArray || value.kind == JsonKind::kObject || is_null(value))
      continue;
    TextRepairs repairs;
    const std::string_view text = value.kind == JsonKind::kString
                                      ? clean_json_text(value.text, check_utf8_, scratch_, repairs)
                                      : value.text;
    if (timeline) {
      builder_.tell_timeline_process(fact, event[Arg::kLaneProcess].text, text);
    } else {
      builder_.tell_process(fact, event[Field::kPid].text, text);
    }
  }
}

bool KinetoRows::read_start(const RawEvent& event, int64_t& start_ns) {
  if (!event.has(Field::kTime) || is_null(event[Field::kTime])) {
    log(ImportCode::kMissingTimestamp);
    return false;
  }
  const DecimalRead read = read_time(event[Field::kTime], start_ns);
  if (read == DecimalRead::kNone) {
    log(ImportCode::kMissingTimestamp);
    return false;
  }
  if (read == DecimalRead::kOverflow || start_ns < -kLatestNs || start_ns > kLatestNs) {
    log(ImportCode::kTimestampOverflow);
    return false;
  }
  if (start_ns < 0) log(ImportCode::kNegativeTimestamp);
  builder_.time_shape.max_start_ns = std::max(builder_.time_shape.max_start_ns, start_ns);
  builder_.time_shape.min_start_ns = std::min(builder_.time_shape.min_start_ns, start_ns);
  return true;
}

int64_t KinetoRows::read_duration(const RawEvent& event) {
  int64_t dur_ns = 0;
  const bool given = event.has(Field::kDuration) && !is_null(event[Field::kDuration]);
  const DecimalRead read = given ? read_time(event[Field::kDuration], dur_ns) : DecimalRead::kNone;
  if (read == DecimalRead::kOverflow) return std::numeric_limits<int64_t>::max();
  if (read != DecimalRead::kOk) {
    log(ImportCode::kMissingDuration);
    return 0;
  }
  builder_.time_shape.max_dur_ns = std::max(builder_.time_shape.max_dur_ns, dur_ns);
  if (dur_ns >= 0) return dur_ns;
  log(ImportCode::kNegativeDuration);
  return 0;
}

DecimalRead KinetoRows::read_time(const JsonValue& value, int64_t& ns) {
  switch (number_text(value)) {
    case NumberText::kNumber:
      break;
    case NumberText::kQuoted:
      log(ImportCode::kNumberAsString);
      break;
    case NumberText::kBareWord:
      log(ImportCode::kNanLiteral);
      return DecimalRead::kNone;
    case NumberText::kWrongType:
      log(ImportCode::kWrongType);
      return DecimalRead::kNone;
    case NumberText::kAbsent:
      return DecimalRead::kNone;
  }
  DecimalShape shape;
  const DecimalStatus status = parse_decimal(value.text, time_scale_, ns, shape);
  if (status == DecimalStatus::kOverflow) return DecimalRead::kOverflow;
  if (status == DecimalStatus::kNotANumber) {
    log(ImportCode::kWrongType);
    return DecimalRead::kNone;
  }
  TimeShape& seen = builder_.time_shape;
  ++seen.times;
  seen.fraction_lengths |= 1u << (shape.fraction_digits < 31 ? shape.fraction_digits : 31);
  seen.fraction_leading_zero |= shape.fraction_leading_zero;
  seen.sub_microsecond |= (shape.fraction_digits > 0 || time_scale_ == 0) && ns % 1000 != 0;
  return DecimalRead::kOk;
}

int64_t KinetoRows::integer_of(const JsonValue& value, int64_t missing) {
  const NumberText kind = number_text(value);
  if (kind == NumberText::kAbsent) return missing;
  int64_t number = 0;
  DecimalShape shape;
  const bool readable = kind == NumberText::kNumber || kind == NumberText::kQuoted;
  if (readable && (parse_int64(value.text, number) ||
                   parse_decimal(value.text, 0, number, shape) == DecimalStatus::kOk)) {
    if (kind == NumberText::kQuoted) log(ImportCode::kNumberAsString);
    return number;
  }
  log(kind == NumberText::kBareWord ? ImportCode::kNanLiteral : ImportCode::kWrongType);
  return missing;
}

int64_t KinetoRows::read_integer(const RawEvent& event, Arg arg, int64_t missing) {
  return event.has(arg) ? integer_of(event[arg], missing) : missing;
}

uint32_t KinetoRows::read_id(const RawEvent& event, Arg arg) {
  const int64_t id = read_integer(event, arg, 0);
  if (id == 0) return 0;
  // The largest value means "none" in row ids; no real correlation id has it.
  if (id > 0 && id < std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(id);
  log(ImportCode::kIdOutOfRange);
  return 0;
}

uint32_t KinetoRows::read_external_id(const RawEvent& event) {
  if (event.has(Arg::kExternalId)) return read_id(event, Arg::kExternalId);
  return event.has(Arg::kExternalIdOld) ? read_id(event, Arg::kExternalIdOld) : 0;
}

StringId KinetoRows::text_of(const JsonValue& value) {
  if (value.kind != JsonKind::kString) return builder_.text(value.text);
  TextRepairs repairs;
  const std::string_view text = clean_json_text(value.text, check_utf8_, scratch_, repairs);
  if (repairs.invalid_escapes != 0) log(ImportCode::kInvalidEscape, repairs.invalid_escapes);
  if (repairs.invalid_bytes != 0) log(ImportCode::kInvalidUtf8, repairs.invalid_bytes);
  return builder_.text(text);
}

StringId KinetoRows::json_of(const RawEvent& event, Arg arg) {
  if (!event.has(arg) || is_null(event[arg])) return StringId(0);
  const JsonValue& value = event[arg];
  return builder_.text(compact_json(value.text, value.kind == JsonKind::kString, scratch_));
}

StringId KinetoRows::category_text(const RawEvent& event) {
  const bool given =
      event.has(Field::kCategory) && event[Field::kCategory].kind == JsonKind::kString;
  return given ? text_of(event[Field::kCategory]) : StringId(0);
}

StringId KinetoRows::read_text(const RawEvent& event, Arg arg) {
  return event.has(arg) ? text_of(event[arg]) : StringId(0);
}

StringId KinetoRows::name_of(const RawEvent& event) {
  if (!event.has(Field::kName) || is_null(event[Field::kName])) return StringId(0);
  if (event[Field::kName].kind != JsonKind::kString) log(ImportCode::kWrongType);
  return text_of(event[Field::kName]);
}

ThreadId KinetoRows::thread_of(const RawEvent& event) {
  const auto lane_text = [this, &event](Field field) -> std::string_view {
    if (!event.has(field) || is_null(event[field])) {
      log(ImportCode::kMissingProcess);
      return "0";
    }
    if (event[field].kind == JsonKind::kArray || event[field].kind == JsonKind::kObject) {
      log(ImportCode::kWrongType);
      return "0";
    }
    return event[field].text;
  };
  return builder_.thread(lane_text(Field::kPid), lane_text(Field::kTid));
}

StreamId KinetoRows::stream_of(const RawEvent& event) {
  const auto lane_number = [&](Arg arg, Field field) -> int64_t {
    int64_t number = 0;
    if (event.has(arg) && !is_null(event[arg])) {
      if (parse_int64(event[arg].text, number) && number >= -1) return number;
      log(ImportCode::kWrongType);
      return -1;
    }
    if (!event.has(field)) return -1;
    // Without arguments, the lane's text, "GPU 3 stream 7", or its number identifies the stream.
    const bool named = event[field].kind == JsonKind::kString;
    const std::string_view digits = named ? trailing_digits(event[field].text) : event[field].text;
    return parse_int64(digits, number) && number >= 0 ? number : -1;
  };
  return builder_.stream(lane_number(Arg::kDevice, Field::kPid),
                         lane_number(Arg::kStream, Field::kTid));
}

}  // namespace assay
