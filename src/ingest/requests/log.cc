// Reads these forms of request logs:
//
// OTLP JSON: vLLM writes one span per request, "llm_request", with latencies in seconds as
// attributes (vllm/tracing, vllm/v1/engine/output_processor.py). SGLang also writes a span per
// request, with a child span per stage (sglang/srt/observability); the stage "prefill_waiting" is
// the queue. SGLang's attribute time_in_model_prefill includes the queue time, vLLM's does not.
// Jaeger has the same spans in its own form.
//
// SGLang's request metrics (--export-metrics-to-file) and responses: `meta_info` per request, with
// times in seconds.
//
// Detailed results of `vllm bench serve --save-detailed` and of sglang.bench_serving
// --output-details: arrays with an entry per request. Start times are on the client's performance
// counter.

#include "ingest/requests/log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/json_tree.h"
#include "ingest/formats.h"
#include "ingest/text/json_text.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr double kLongestS = 1e6;       // no request takes longer
constexpr double kLatestS = 9e9;        // limit of times since 1970; in ns it fits 64 bits
constexpr uint64_t kMostTokens = 1'000'000'000;
constexpr size_t kMostGaps = 1'000'000;  // per request
constexpr int kMostParents = 64;

const Json* field_of(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<double> number(const Json* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double found = value->get<double>();
  return std::isfinite(found) ? std::optional(found) : std::nullopt;
}

// Seconds to nanoseconds; nullopt if implausible.
std::optional<int64_t> duration_ns(std::optional<double> seconds) {
  if (!seconds || *seconds < 0 || *seconds > kLongestS) return std::nullopt;
  return std::llround(*seconds * 1e9);
}

// Seconds since 1970 to nanoseconds. Converts whole and fractional seconds separately, because a
// double of ns since 1970 has a resolution of 256 ns.
std::optional<int64_t> time_ns(std::optional<double> seconds) {
  if (!seconds || *seconds <= 0 || *seconds > kLatestS) return std::nullopt;
  const double whole = std::floor(*seconds);
  return static_cast<int64_t>(whole) * 1'000'000'000 + std::llround((*seconds - whole) * 1e9);
}

std::optional<uint64_t> count(std::optional<double> value) {
  if (!value || *value < 0 || *value > static_cast<double>(kMostTokens)) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<int64_t> between(std::optional<int64_t> from, std::optional<int64_t> to) {
  if (!from || !to || *to < *from) return std::nullopt;
  return *to - *from;
}

std::string text(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// 64-bit integers are strings in OTLP JSON, but some exporters write numbers.
std::optional<int64_t> whole_number(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned() || value->is_number_integer()) {
    const auto found = value->get<int64_t>();
    return found >= 0 ? std::optional(found) : std::nullopt;
  }
  if (!value->is_string()) return std::nullopt;
  const auto& digits = value->get_ref<const std::string&>();
  int64_t found = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found);
  const bool fine = error == std::errc() && end == digits.data() + digits.size() && found >= 0;
  return fine ? std::optional(found) : std::nullopt;
}

// ---- OTLP

struct Attributes {
  std::unordered_map<std::string, const Json*> values;

  explicit Attributes(const Json& owner) {
    const Json* list = field_of(owner, "attributes");
    if (list == nullptr || !list->is_array()) return;
    for (const Json& one : *list) {
      const Json* value = field_of(one, "value");
      const Json* key = field_of(one, "key");
      if (value == nullptr || !value->is_object() || value->empty() || key == nullptr) continue;
      values.emplace(text(key), &*value->begin());
    }
  }
  const Json* of(const char* key) const {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : found->second;
  }
  std::optional<double> number_of(const char* key) const {
    const Json* value = of(key);
    if (const auto found = number(value)) return found;
    const auto whole = whole_number(value);
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
  }
};

// Converts a span of Jaeger ("Trace JSON" of its page, /api/traces) to OTLP. Its times are in us.
Json otlp_of(const Json& span) {
  const auto list = [](const Json& owner, const char* key) -> const Json& {
    static const Json none = Json::array();
    const Json* found = field_of(owner, key);
    return found != nullptr && found->is_array() ? *found : none;
  };
  const auto start_us = whole_number(field_of(span, "startTime"));
  const auto dur_us = whole_number(field_of(span, "duration"));
  Json made = {{"spanId", text(field_of(span, "spanID"))}, {"name", text(field_of(span, "operationName"))}};
  if (start_us && dur_us && *start_us <= kLatestS * 1e6 && *dur_us <= kLongestS * 1e6) {
    made["startTimeUnixNano"] = *start_us * 1000;
    made["endTimeUnixNano"] = (*start_us + *dur_us) * 1000;
  }
  for (const Json& reference : list(span, "references")) {
    if (text(field_of(reference, "refType")) == "CHILD_OF") made["parentSpanId"] = text(field_of(reference, "spanID"));
  }
  for (const Json& tag : list(span, "tags")) {
    const Json* value = field_of(tag, "value");
    if (value != nullptr) made["attributes"].push_back({{"key", text(field_of(tag, "key"))}, {"value", {{"any", *value}}}});
  }
  for (const Json& entry : list(span, "logs")) {
    for (const Json& one : list(entry, "fields")) {
      if (text(field_of(one, "key")) == "event") made["events"].push_back({{"name", text(field_of(one, "value"))}});
    }
  }
  return made;
}

class Spans {
 public:
  void add_jaeger(const Json& document, RequestLog& log) {
    for_each(document, {"data", "spans"}, [&](const Json& span) { take(otlp_of(span), log); });
  }

  void add(const Json& document, RequestLog& log) {
    for_each(document, {"resourceSpans", "scopeSpans", "spans"}, [&](const Json& span) { take(span, log); });
  }

  // Call after the last span: assigns stages to the requests above them.
  void finish(RequestLog& log) const {
    for (const Stage& stage : stages_) {
      const auto request = request_above(stage.parent);
      if (!request) continue;
      RequestRecord& record = log.requests[*request];
      record.preemptions += stage.retractions;
      if (!stage.waits || record.queue_ns) continue;
      record.queue_ns = stage.end_ns - stage.start_ns;
      const auto scheduled = between(record.arrival_ns, stage.end_ns);
      if (scheduled) record.prefill_ns = between(scheduled, record.ttft_ns);
    }
  }

 private:
  struct Stage {
    std::string parent;
    bool waits = false;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    uint64_t retractions = 0;
  };

  template <typename Each>
  static void for_each(const Json& value, std::initializer_list<const char*> keys, const Each& each,
                       size_t depth = 0) {
    if (depth == keys.size()) {
      each(value);
      return;
    }
    const Json* list = field_of(value, *(keys.begin() + depth));
    if (list == nullptr || !list->is_array()) return;
    for (const Json& one : *list) for_each(one, keys, each, depth + 1);
  }

  static uint64_t retractions(const Json& span) {
    uint64_t found = 0;
    const Json* events = field_of(span, "events");
    if (events == nullptr || !events->is_array()) return 0;
    for (const Json& event : *events) {
      const std::string name = text(field_of(event, "name"));
      found += name == "retract" || name == "preempt" || name == "PREEMPTED" ? 1 : 0;
    }
    return found;
  }

  void take(const Json& span, RequestLog& log) {
    const auto start_ns = whole_number(field_of(span, "startTimeUnixNano"));
    const auto end_ns = whole_number(field_of(span, "endTimeUnixNano"));
    if (!start_ns || !end_ns || *end_ns < *start_ns) {
      ++log.unread;
      return;
    }
    const std::string id = text(field_of(span, "spanId"));
    const std::string parent = text(field_of(span, "parentSpanId"));
    if (!id.empty()) parent_of_.emplace(id, parent);
    const Attributes attributes(span);
    const auto ttft = attributes.number_of("gen_ai.latency.time_to_first_token");
    const auto e2e = attributes.number_of("gen_ai.latency.e2e");
    if (!ttft && !e2e) {
      stages_.push_back({.parent = parent,
                         .waits = text(field_of(span, "name")) == "prefill_waiting",
                         .start_ns = *start_ns,
                         .end_ns = *end_ns,
                         .retractions = retractions(span)});
      return;
    }
    RequestRecord record{.id = text(attributes.of("gen_ai.request.id")), .arrival_ns = *start_ns};
    if (record.id.empty()) record.id = text(attributes.of("rid"));
    if (record.id.empty()) record.id = id;
    record.queue_ns = duration_ns(attributes.number_of("gen_ai.latency.time_in_queue"));
    // SGLang's attribute includes the queue time, and SGLang has no attribute for the queue alone.
    if (record.queue_ns) {
      record.prefill_ns = duration_ns(attributes.number_of("gen_ai.latency.time_in_model_prefill"));
    }
    record.ttft_ns = duration_ns(ttft);
    record.e2e_ns = e2e ? duration_ns(e2e) : std::optional(*end_ns - *start_ns);
    record.prompt_tokens = count(attributes.number_of("gen_ai.usage.prompt_tokens"));
    record.cached_tokens = count(attributes.number_of("gen_ai.usage.cached_tokens"));
    record.output_tokens = count(attributes.number_of("gen_ai.usage.completion_tokens"));
    record.preemptions = retractions(span);
    if (!id.empty()) request_of_.emplace(id, log.requests.size());
    log.requests.push_back(std::move(record));
  }

  std::optional<size_t> request_above(std::string span) const {
    for (int i = 0; i < kMostParents && !span.empty(); ++i) {
      const auto request = request_of_.find(span);
      if (request != request_of_.end()) return request->second;
      const auto above = parent_of_.find(span);
      if (above == parent_of_.end()) break;
      span = above->second;
    }
    return std::nullopt;
  }

  std::unordered_map<std::string, std::string> parent_of_;  // by span id
  std::unordered_map<std::string, size_t> request_of_;
  std::vector<Stage> stages_;
};

// ---- SGLang

// The object with a request's numbers: the line itself or its meta_info.
const Json* meta_of(const Json& line) {
  if (field_of(line, "e2e_latency") != nullptr && field_of(line, "prompt_tokens") != nullptr) return &line;
  const Json* meta = field_of(line, "meta_info");
  if (meta == nullptr) {
    if (const Json* out = field_of(line, "out")) meta = field_of(*out, "meta_info");
  }
  return meta != nullptr && field_of(*meta, "prompt_tokens") != nullptr ? meta : nullptr;
}

void add_sglang(const Json& line, const Json& meta, RequestLog& log) {
  const auto value = [&meta](const char* key) { return number(field_of(meta, key)); };
  RequestRecord record{.id = text(field_of(meta, "id")), .arrival_ns = time_ns(value("request_received_ts"))};
  if (record.id.empty()) record.id = text(field_of(line, "rid"));
  const auto forward_ns = time_ns(value("forward_entry_time"));
  auto first_ns = time_ns(value("prefill_finished_time"));
  if (!first_ns) first_ns = time_ns(value("prefill_finished_ts"));
  // A queue time of exactly 0 without a forward time means that stages were not timed.
  record.queue_ns = duration_ns(value("queue_time"));
  if (record.queue_ns == 0 && !forward_ns) record.queue_ns.reset();
  record.prefill_ns = between(forward_ns, first_ns);
  record.ttft_ns = between(record.arrival_ns, first_ns);
  record.e2e_ns = duration_ns(value("e2e_latency"));
  record.prompt_tokens = count(value("prompt_tokens"));
  record.cached_tokens = count(value("cached_tokens"));
  record.output_tokens = count(value("completion_tokens"));
  const Json* finish = field_of(meta, "finish_reason");
  if (finish != nullptr && text(field_of(*finish, "type")) == "abort") {
    ++log.failed;
    return;
  }
  log.requests.push_back(std::move(record));
}

// ---- detailed results of benchmarks

std::optional<double> entry(const Json* list, size_t i) {
  return list != nullptr && list->is_array() && i < list->size() ? number(&(*list)[i]) : std::nullopt;
}

void add_bench(const Json& result, RequestLog& log) {
  const Json& ttfts = *field_of(result, "ttfts");
  const Json* starts = field_of(result, "start_times");
  const Json* errors = field_of(result, "errors");
  const Json* gaps = field_of(result, "itls");
  for (size_t i = 0; i < ttfts.size(); ++i) {
    const bool failed = errors != nullptr && errors->is_array() && i < errors->size() && !text(&(*errors)[i]).empty();
    const auto ttft_ns = duration_ns(entry(&ttfts, i));
    if (failed || !ttft_ns) {
      ++log.failed;
      continue;
    }
    RequestRecord record{.id = std::to_string(i), .ttft_ns = ttft_ns};
    const auto start = entry(starts, i);
    if (start && *start >= 0 && *start <= kLatestS) record.arrival_ns = time_ns(*start == 0 ? 1e-9 : *start);
    record.prompt_tokens = count(entry(field_of(result, "input_lens"), i));
    record.output_tokens = count(entry(field_of(result, "output_lens"), i));
    int64_t end_ns = *ttft_ns;
    if (gaps != nullptr && gaps->is_array() && i < gaps->size() && (*gaps)[i].is_array()) {
      for (const Json& gap : (*gaps)[i]) {
        const auto ns = duration_ns(number(&gap));
        if (!ns || record.token_gaps_ns.size() == kMostGaps) break;
        record.token_gaps_ns.push_back(*ns);
        end_ns += *ns;
      }
      record.e2e_ns = end_ns;
    }
    log.requests.push_back(std::move(record));
  }
}

// Form of the entries; the first entry decides for a log.
enum class Form : uint8_t { kNone, kOtlp, kJaeger, kSglang, kBench };

Form form_of(const Json& value) {
  const Json* spans = field_of(value, "resourceSpans");
  if (spans != nullptr && spans->is_array()) return Form::kOtlp;
  const Json* traces = field_of(value, "data");
  if (traces != nullptr && traces->is_array() && !traces->empty() && field_of(traces->front(), "spans") != nullptr) {
    return Form::kJaeger;
  }
  const Json* ttfts = field_of(value, "ttfts");
  const Json* inputs = field_of(value, "input_lens");
  if (ttfts != nullptr && ttfts->is_array() && inputs != nullptr && inputs->is_array()) return Form::kBench;
  return meta_of(value) != nullptr ? Form::kSglang : Form::kNone;
}

class LogReader {
 public:
  void add(const Json& value) {
    const Form form = form_of(value);
    if (form_ == Form::kNone) form_ = form;
    if (form == Form::kNone || form != form_) {
      ++log_.unread;
      return;
    }
    if (form == Form::kOtlp) spans_.add(value, log_);
    if (form == Form::kJaeger) spans_.add_jaeger(value, log_);
    if (form == Form::kSglang) add_sglang(value, *meta_of(value), log_);
    if (form == Form::kBench) add_bench(value, log_);
  }
  void add_unread() { ++log_.unread; }

  RequestLog finish() {
    spans_.finish(log_);
    constexpr const char* kNames[] = {"", "otlp", "jaeger", "sglang", "bench"};
    log_.format = kNames[static_cast<size_t>(form_)];
    const bool timed = std::any_of(log_.requests.begin(), log_.requests.end(),
                                   [](const RequestRecord& request) { return request.arrival_ns.has_value(); });
    log_.clock = !timed ? RequestClock::kNone
                        : form_ == Form::kBench ? RequestClock::kOwn : RequestClock::kWall;
    return std::move(log_);
  }

 private:
  RequestLog log_;
  Form form_ = Form::kNone;
  Spans spans_;
};

// sglang.bench_serving writes a bare Infinity for an unlimited rate.
Json parsed(std::string_view text) {
  Json value = parsed_json(text);
  if (value.is_discarded() && (text.find("Infinity") != std::string_view::npos || text.find("NaN") != std::string_view::npos)) {
    value = parsed_json(without_bare_words(text));
  }
  return value;
}

}  // namespace

Result<RequestLog> parse_request_log(std::string_view whole, const std::string& path) {
  LogReader reader;
  const Json document = parsed(whole);
  if (document.is_object()) {
    reader.add(document);
  } else if (document.is_array()) {
    for (const Json& one : document) reader.add(one);
  } else {
    for (std::string_view rest = whole; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      // Engines also write other lines.
      const size_t brace = line.find('{');
      if (brace == std::string_view::npos) continue;
      const Json value = parsed(line.substr(brace));
      if (value.is_object()) {
        reader.add(value);
      } else {
        reader.add_unread();
      }
    }
  }
  RequestLog log = reader.finish();
  log.file = path;
  if (log.requests.empty()) {
    return Error{ErrorCode::kFormat,
                 "has no request of a known form: OTLP or Jaeger JSON of vLLM or SGLang, SGLang's request metrics, or a detailed "
                 "benchmark result (docs/formats/request_log.md)",
                 path, -1};
  }
  std::stable_sort(log.requests.begin(), log.requests.end(), [](const RequestRecord& a, const RequestRecord& b) {
    return a.arrival_ns.value_or(INT64_MAX) < b.arrival_ns.value_or(INT64_MAX);
  });
  return log;
}

Result<RequestLog> read_request_log(const std::string& path) {
  const auto text = read_whole_file(
      path, Error{ErrorCode::kUnsupported, "is larger than 1 GiB: pass the part of the time of the trace", path, -1});
  if (!text) return explained(text.error(), path, FileFamily::kRequests);
  auto log = parse_request_log(*text, path);
  if (!log) return explained(log.take_error(), path, FileFamily::kRequests);
  return log;
}

}  // namespace assay
