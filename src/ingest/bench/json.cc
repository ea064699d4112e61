#include "ingest/bench/json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/json_string.h"
#include "base/json_tree.h"
#include "base/numbers.h"
#include "ingest/bench/columns.h"
#include "ingest/bench/engine_name.h"
#include "ingest/bench/inferencemax.h"
#include "ingest/bench/llama_bench.h"
#include "ingest/bench/optimum.h"
#include "ingest/bench/variant.h"
#include "ingest/text/shape.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr double kStatedTolerance = 1e-6;

struct Piece {
  std::string text;  // one JSON value; bare NaN and Infinity became null
  int64_t line = 0;
};

// Splits a sequence of objects or arrays; skips line ends and other text between them.
class SequenceCutter {
 public:
  explicit SequenceCutter(const std::string& text) : text_(text) {}

  Result<std::vector<Piece>> cut() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (in_string_) {
        take_in_string(c);
      } else if (!take_bare_word()) {
        take(c);
      }
    }
    if (depth_ == 0) return std::move(pieces_);
    return Error{ErrorCode::kTruncated, "the JSON ends in the middle of a value", "",
                 static_cast<int64_t>(text_.size())};
  }

  uint64_t bare_words() const { return bare_words_; }

 private:
  void take_in_string(char c) {
    open_ += c;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  }

  bool take_bare_word() {
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (text_.compare(at_, word.size(), word) != 0) continue;
      open_ += "null";
      at_ += word.size() - 1;
      ++bare_words_;
      return true;
    }
    return false;
  }

  void take(char c) {
    if (depth_ == 0 && c != '{' && c != '[') return;
    if (depth_ == 0) {
      open_.clear();
      begin_ = line_;
    }
    open_ += c;
    in_string_ = c == '"';
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && --depth_ == 0) pieces_.push_back({std::move(open_), begin_});
  }

  const std::string& text_;
  std::vector<Piece> pieces_;
  std::string open_;
  size_t at_ = 0;
  int64_t line_ = 1;
  int64_t begin_ = 1;
  int64_t depth_ = 0;
  uint64_t bare_words_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

double number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : kNan;
}

// The first finite number under one of several keys for one quantity.
double number_of(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const double value = number(object, key); std::isfinite(value)) return value;
  }
  return kNan;
}

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

// Properties of a run outside its results (vLLM's --metadata, SGLang's server_info): GPU, number of
// GPUs, precision, layout.
class OwnWords {
 public:
  void read(const Json& object) {
    for (const auto& [key, value] : object.items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
      if (key == "enable_dp_attention") replicas_share_ = value == true;
      if (value == true && variant_part(key) == VariantPart::kSpeculation) speculated();
      if (value.is_structured() || value.is_boolean() || value.is_null()) continue;
      if (const auto part = variant_part(key)) {
        if (*part != VariantPart::kPlain || value.is_string()) variant_.add(*part, text);
        continue;
      }
      const auto meaning = meaning_of_title(key);
      if (meaning && meaning->role == BenchRole::kHardware && value.is_string()) hardware_ = text;
      const bool count = meaning && meaning->role == BenchRole::kDevices;
      if (const auto parsed = count ? parse_cell(text, BenchRole::kDevices, 1) : std::nullopt)
        devices_ = parsed->value;
    }
  }

  // Marks speculative decoding by an unknown method.
  void speculated() { variant_.add(VariantPart::kSpeculation, "speculative"); }

  void tell(BenchRow& row) const {
    const std::optional<ParallelLayout>& layout = variant_.layout();
    if (!hardware_.empty()) row.hardware = hardware_;
    // Attention replicas share the devices of tensor parallelism.
    if (layout) row.devices = layout->devices() / (replicas_share_ ? layout->data : 1);
    if (std::isfinite(devices_)) row.devices = devices_;
    row.variant = variant_.variant(row.devices);
  }

 private:
  VariantParts variant_;
  std::string hardware_;
  double devices_ = kNan;
  bool replicas_share_ = false;
};

void read_own_words(const Json& object, BenchRow& row) {
  OwnWords words;
  words.read(object);
  words.tell(row);
}

bool differs(double stated, double computed) {
  return std::isfinite(stated) && std::isfinite(computed) &&
         std::fabs(stated - computed) > kStatedTolerance * std::fabs(computed);
}

// Counts failed requests; warns if they are more than 5 % of those sent.
void note_failed(double failed, double sent, int64_t line, OddityLog& log) {
  constexpr double kWorthAWarning = 0.05;
  if (!(failed > 0)) return;
  if (failed >= kWorthAWarning * sent) {
    log.warn("many_requests_failed", line, false,
             "one request in twenty or more failed: throughput is of those that completed, and the "
             "server may have been overloaded");
  } else {
    log.note("failed_requests", line, false,
             "some requests failed: throughput is of those that completed");
  }
}

// Requested requests per second. For arrivals from a trace or a ramp, the actual rate.
double rate_asked(const Json& object, double requests_per_s) {
  const bool paced =
      text_of(object, "request_rate") == "trace" || !text_of(object, "ramp_up_strategy").empty();
  return paced ? requests_per_s : number(object, "request_rate");
}

// vLLM writes an acceptance only for speculative runs; SGLang's length is 1 or null for others.
bool speculated(const Json& object) {
  return number(object, "spec_decode_acceptance_length") > 0 ||
         number(object, "spec_decode_acceptance_rate") > 0 || number(object, "accept_length") > 1;
}

// A result of a client that sends requests: vLLM's serve or SGLang's.
BenchRow serve_row(const Json& object, bool sglang, int64_t line, OddityLog& log) {
  BenchRow row;
  row.line = line;
  const double duration = number(object, "duration");
  const double completed = number(object, "completed");
  const double input = number_of(object, {"total_input_tokens", "total_input"});
  const double output = number_of(object, {"total_output_tokens", "total_output"});
  row.in_len = std::round(input / completed);
  row.out_len = std::round(output / completed);
  if (sglang && number(object, "random_range_ratio") == 1) {
    row.in_len = number_of(object, {"random_input_len"});
    row.out_len = number_of(object, {"random_output_len"});
  }
  row.tokens_per_s = (input + output) / duration;
  row.output_tokens_per_s = output / duration;
  const bool identity_failed =
      differs(number(object, "request_throughput"), completed / duration) ||
      differs(number(object, "output_throughput"), row.output_tokens_per_s) ||
      differs(number_of(object, {"total_token_throughput", "total_throughput"}), row.tokens_per_s);
  if (identity_failed) {
    log.note("identity_failed", line, false,
             "a stated throughput is not its count over the duration: worked out from the counts");
  }
  const double failed = std::fmax(number(object, "failed"), 0);
  const double sent = std::fmax(number(object, "num_prompts"), completed + failed);
  note_failed(sent - completed, sent, line, log);
  row.ttft_ms = number(object, "mean_ttft_ms");
  row.tpot_ms = number(object, "mean_tpot_ms");
  row.latency_s = number_of(object, {"mean_e2el_ms", "mean_e2e_latency_ms"}) / 1000;
  row.model = text_of(object, "model_id");
  row.framework = engine_name(text_of(object, "backend"), sglang ? "SGLang" : "vLLM");
  OwnWords words;
  if (const auto info = object.find("server_info"); info != object.end() && info->is_object()) {
    words.read(*info);
    if (row.model.empty()) row.model = text_of(*info, "model_path");
  }
  words.read(object);
  if (speculated(object)) words.speculated();
  words.tell(row);
  row.batch = number(object, "max_concurrency");
  row.requests_per_s = completed / duration;
  row.request_rate = rate_asked(object, row.requests_per_s);
  return row;
}

// vLLM's offline modes record neither lengths nor batch size; --constants must give them.
BenchRow latency_row(const Json& object, int64_t line) {
  BenchRow row;
  row.line = line;
  row.framework = "vLLM";
  row.in_len = row.out_len = row.batch = kNan;
  row.latency_s = number(object, "avg_latency");
  read_own_words(object, row);
  return row;
}

BenchRow throughput_row(const Json& object, int64_t line, OddityLog& log) {
  BenchRow row;
  row.line = line;
  row.framework = "vLLM";
  row.in_len = row.out_len = row.batch = kNan;
  const double elapsed = number(object, "elapsed_time");
  row.tokens_per_s = number(object, "total_num_tokens") / elapsed;
  if (differs(number(object, "tokens_per_second"), row.tokens_per_s)) {
    log.note("identity_failed", line, false,
             "a stated throughput is not its count over the duration: worked out from the counts");
  }
  read_own_words(object, row);
  return row;
}

// SGLang's bench_one_batch and bench_one_batch_server.
BenchRow one_batch_row(const Json& object, int64_t line, OddityLog& log) {
  BenchRow row;
  row.line = line;
  row.framework = "SGLang";
  row.in_len = number(object, "input_len");
  row.out_len = number(object, "output_len");
  row.batch = number(object, "batch_size");
  row.latency_s = number_of(object, {"total_latency", "latency"});
  row.tokens_per_s = (row.in_len + row.out_len) * row.batch / row.latency_s;
  if (const double s = number(object, "ttft"); std::isfinite(s)) row.ttft_ms = 1000 * s;
  if (differs(number(object, "overall_throughput"), row.tokens_per_s)) {
    log.note("identity_failed", line, false,
             "a stated throughput is not its count over the duration: worked out from the counts");
  }
  row.model = text_of(object, "model_path");
  read_own_words(object, row);
  return row;
}

// "avg" of a metric block, in the unit of `role`.
double metric(const Json& object, const char* key, BenchRole role) {
  const auto block = object.find(key);
  if (block == object.end() || !block->is_object()) return kNan;
  const double average = number(*block, "avg");
  return average * unit_of_title(role, "x " + text_of(*block, "unit"));
}

// The first value of `key` at any depth.
const Json* find_deep(const Json& node, std::string_view key) {
  if (node.is_object()) {
    if (const auto at = node.find(key); at != node.end() && !at->is_null()) return &*at;
  }
  if (!node.is_structured()) return nullptr;
  for (const Json& child : node) {
    if (const Json* found = find_deep(child, key)) return found;
  }
  return nullptr;
}

std::string first_text(const Json* node) {
  if (node != nullptr && node->is_array() && !node->empty()) node = &node->front();
  return node != nullptr && node->is_string() ? node->get<std::string>() : "";
}

// Common part of genai-perf's JSON, its CSV and AIPerf, once their metrics are numbers.
void finish_client_row(BenchRow& row, double requests_per_s, OddityLog& log) {
  row.in_len = std::round(row.in_len);
  row.out_len = std::round(row.out_len);
  if (std::isnan(row.tokens_per_s)) {
    row.tokens_per_s = row.output_tokens_per_s * (row.in_len + row.out_len) / row.out_len;
    log.note("throughput_from_output", row.line, false,
             "only output tokens were counted: scaled by (ii + oo) / oo");
  }
  row.requests_per_s = requests_per_s;
}

bool is_true(const Json* node) { return node != nullptr && *node == true; }

// AIPerf records whether the run was cancelled, and which requests failed.
void note_how_it_ended(const Json& object, int64_t line, OddityLog& log) {
  if (object.value("was_cancelled", Json()) == true) {
    log.warn("run_cancelled", line, false,
             "the run was cancelled: its throughput is of a part, with the ramp-up in it");
  }
  double failed = metric(object, "error_request_count", BenchRole::kBatch);
  if (const auto errors = object.find("error_summary");
      !(failed > 0) && errors != object.end() && errors->is_array()) {
    failed = 0;
    for (const Json& error : *errors) {
      const double count = error.is_object() ? number(error, "count") : kNan;
      failed += std::isfinite(count) ? count : 1;
    }
  }
  const double good = metric(object, "request_count", BenchRole::kBatch);
  note_failed(failed, std::isfinite(good) ? good + failed : kNan, line, log);
}

BenchRow metric_blocks_row(const Json& object, int64_t line, OddityLog& log) {
  BenchRow row;
  row.line = line;
  row.in_len = metric(object, "input_sequence_length", BenchRole::kInLen);
  row.out_len = metric(object, "output_sequence_length", BenchRole::kOutLen);
  row.latency_s = metric(object, "request_latency", BenchRole::kLatency);
  row.ttft_ms = metric(object, "time_to_first_token", BenchRole::kTtft);
  // Its inter-token latency is (latency - first token) / (tokens - 1), usually called TPOT.
  row.tpot_ms = metric(object, "inter_token_latency", BenchRole::kTpot);
  row.output_tokens_per_s = metric(object, "output_token_throughput", BenchRole::kOutThroughput);
  row.tokens_per_s = metric(object, "total_token_throughput", BenchRole::kThroughput);
  row.batch = kNan;
  bool scheduled = false;
  if (const auto config = object.find("input_config"); config != object.end()) {
    if (const Json* c = find_deep(*config, "concurrency"); c != nullptr && c->is_number()) {
      row.batch = c->get<double>();
    }
    if (const Json* r = find_deep(*config, "request_rate"); r != nullptr && r->is_number()) {
      row.request_rate = r->get<double>();
    }
    scheduled = is_true(find_deep(*config, "fixed_schedule"));
    row.model = first_text(find_deep(*config, "model_names"));
    if (row.model.empty()) row.model = first_text(find_deep(*config, "model"));
    const Json* backend = find_deep(*config, "backend");
    row.framework = engine_name(first_text(backend), "");
  }
  read_own_words(object, row);
  finish_client_row(row, metric(object, "request_throughput", BenchRole::kBatch), log);
  if (scheduled) row.request_rate = row.requests_per_s;
  note_how_it_ended(object, line, log);
  return row;
}

// GuideLLM: one file with a run per load. Each metric is split by the outcome of requests. Means
// over all count a missing first token as 0, so only successful requests are used.
double guidellm_mean(const Json& metrics, const char* name) {
  const auto at = metrics.find(name);
  if (at == metrics.end() || !at->is_object()) return kNan;
  const auto good = at->find("successful");
  return good != at->end() && good->is_object() ? number(*good, "mean") : kNan;
}

BenchRow guidellm_row(const Json& run, int64_t line, OddityLog& log) {
  const Json& metrics = run.at("metrics");
  BenchRow row;
  row.line = line;
  row.in_len = guidellm_mean(metrics, "prompt_token_count");
  row.out_len = guidellm_mean(metrics, "output_token_count");
  row.latency_s = guidellm_mean(metrics, "request_latency");  // in seconds, unlike its other times
  row.ttft_ms = guidellm_mean(metrics, "time_to_first_token_ms");
  // Its time per output token includes the first token; its inter-token latency is usually called
  // TPOT.
  row.tpot_ms = guidellm_mean(metrics, "inter_token_latency_ms");
  row.output_tokens_per_s = guidellm_mean(metrics, "output_tokens_per_second");
  row.batch = guidellm_mean(metrics, "request_concurrency");
  read_own_words(run, row);
  finish_client_row(row, guidellm_mean(metrics, "requests_per_second"), log);
  return row;
}

// False: not a GuideLLM file.
bool read_guidellm(const Json& value, int64_t line, BenchTable& table, OddityLog& log) {
  if (!value.is_object()) return false;
  const auto runs = value.find("benchmarks");
  if (runs == value.end() || !runs->is_array()) return false;
  for (const Json& run : *runs) {
    const bool is_run = run.is_object() && run.contains("metrics") && run["metrics"].is_object() &&
                        run["metrics"].contains("time_to_first_token_ms");
    if (!is_run) return false;
    BenchRow row = guidellm_row(run, line, log);
    if (!(row.output_tokens_per_s > 0)) {
      log.note("no_request_completed", line, true, "dropped: a run without a result");
      continue;
    }
    table.rows.push_back(std::move(row));
  }
  if (table.format.empty()) table.format = "guidellm";
  return true;
}

enum class Tool {
  kUnknown,
  kVllm,
  kVllmLatency,
  kVllmThroughput,
  kSglang,
  kSglangBatch,
  kGenaiPerf,
  kAiperf
};

Tool tool_of(const Json& object) {
  if (!object.is_object()) return Tool::kUnknown;
  const auto has = [&](const char* key) { return object.contains(key); };
  if (has("aiperf_version") && has("request_throughput")) return Tool::kAiperf;
  if (has("request_throughput") && object["request_throughput"].is_object()) {
    return has("schema_version") ? Tool::kAiperf : Tool::kGenaiPerf;
  }
  if (has("completed") && has("duration")) {
    const bool sglang = has("total_output_tokens_retokenized") || has("random_input_len") ||
                        has("sharegpt_output_len") || has("input_throughput");
    return sglang ? Tool::kSglang : Tool::kVllm;
  }
  if (has("batch_size") && has("input_len") && has("output_len") &&
      (has("total_latency") || has("latency")))
    return Tool::kSglangBatch;
  if (has("avg_latency") && has("latencies")) return Tool::kVllmLatency;
  if (has("elapsed_time") && has("total_num_tokens")) return Tool::kVllmThroughput;
  return Tool::kUnknown;
}

const char* format_name(Tool tool) {
  switch (tool) {
    case Tool::kVllm:
    case Tool::kVllmLatency:
    case Tool::kVllmThroughput:
      return "vllm";
    case Tool::kSglang:
    case Tool::kSglangBatch:
      return "sglang";
    case Tool::kGenaiPerf:
      return "genai-perf";
    case Tool::kAiperf:
      return "aiperf";
    case Tool::kUnknown:
      return "";
  }
  return "";
}

BenchRow row_of(Tool tool, const Json& object, int64_t line, OddityLog& log) {
  switch (tool) {
    case Tool::kVllmLatency:
      return latency_row(object, line);
    case Tool::kVllmThroughput:
      return throughput_row(object, line, log);
    case Tool::kSglangBatch:
      return one_batch_row(object, line, log);
    case Tool::kGenaiPerf:
    case Tool::kAiperf:
      return metric_blocks_row(object, line, log);
    default:
      return serve_row(object, tool == Tool::kSglang, line, log);
  }
}

Error unknown_json(const Json& value) {
  std::string keys;
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      if (keys.size() > 200) break;
      keys += (keys.empty() ? "" : ", ") + key;
    }
  }
  if (value.is_object() && text_of(value, "format") == "assay throughput model") {
    return Error{ErrorCode::kUnsupported,
                 "a model file of `assay throughput fit`: predict and suggest take it, here the "
                 "table it was learnt from is needed" +
                     (text_of(value, "source").empty() ? std::string()
                                                       : " (" + text_of(value, "source") + ")"),
                 "", -1};
  }
  const bool trace = value.is_object() && value.contains("traceEvents");
  return Error{ErrorCode::kUnsupported,
               trace ? "this is a trace, not a table of throughput: assay report reads it"
                     : "JSON that no benchmark known here writes (vLLM, SGLang, genai-perf, "
                       "AIPerf, GuideLLM, llama-bench, optimum-benchmark, InferenceMAX)" +
                           (keys.empty() ? std::string() : "; its keys: " + keys),
               "", -1};
}

std::string as_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

// A test of llama-bench; a run needs two.
bool read_llama_test(const Json& value, int64_t line, std::vector<LlamaTest>& tests) {
  if (!value.is_object() || !value.contains("build_commit") || !value.contains("n_gen") ||
      !value.contains("avg_ns"))
    return false;
  const auto field = [&value](const char* name) {
    const auto at = value.find(name);
    return at == value.end() ? std::string() : as_text(*at);
  };
  tests.push_back(llama_test(field, line));
  return true;
}

// optimum-benchmark's benchmark.json; paths with dots lead through nested objects.
bool read_optimum(const Json& value, int64_t line, BenchTable& table, OddityLog& log) {
  if (!value.is_object() || !value.contains("config") || !value.contains("report")) return false;
  const auto field = [&value](const char* path) {
    const Json* at = &value;
    const std::string whole = path;
    for (size_t begin = 0; begin <= whole.size();) {
      const size_t end = std::min(whole.find('.', begin), whole.size());
      const auto next = at->is_object() ? at->find(whole.substr(begin, end - begin)) : at->end();
      if (next == at->end()) return std::string();
      at = &*next;
      begin = end + 1;
    }
    return as_text(*at);
  };
  if (field("config.backend").empty()) return false;
  add_optimum_run(field, line, table, log);
  return true;
}

bool read_inferencemax(const Json& value, int64_t line, BenchTable& table, OddityLog& log) {
  if (!value.is_object()) return false;
  const auto field = [&value](const char* name) {
    const auto at = value.find(name);
    return at == value.end() || at->is_null() ? std::string() : as_text(*at);
  };
  if (!is_inferencemax(field)) return false;
  add_inferencemax_run(field, line, table, log);
  return true;
}

// Reads one value of a sequence; an array of results counts as its elements.
Status read_value(const Json& value, int64_t line, BenchTable& table, OddityLog& log,
                  std::vector<LlamaTest>& llama) {
  if (value.is_array()) {
    for (const Json& element : value) ASSAY_TRY(read_value(element, line, table, log, llama));
    return Ok{};
  }
  if (read_llama_test(value, line, llama)) return Ok{};
  if (read_optimum(value, line, table, log)) return Ok{};
  if (read_guidellm(value, line, table, log)) return Ok{};
  if (read_inferencemax(value, line, table, log)) return Ok{};
  const Tool tool = tool_of(value);
  if (tool == Tool::kUnknown) return unknown_json(value);
  if (table.format.empty()) table.format = format_name(tool);
  const double completed = number(value, "completed");
  if (completed == 0) {
    log.note("no_request_completed", line, true, "dropped: a run without a result");
    return Ok{};
  }
  table.rows.push_back(row_of(tool, value, line, log));
  return Ok{};
}

}  // namespace

bool looks_like_result(std::string_view head) {
  const JsonKeys keys = first_json_keys(head);
  const auto has = [&keys](std::initializer_list<const char*> all) {
    return std::all_of(all.begin(), all.end(),
                       [&keys](const char* key) { return keys.count(key) > 0; });
  };
  if (has({"traceEvents"})) return false;
  if (has({"tput_per_gpu", "conc"}) || has({"build_commit", "n_gen"}) || has({"config", "report"}))
    return true;
  return has({"completed", "duration"}) || has({"aiperf_version"}) || has({"request_throughput"}) ||
         has({"random_input_len", "backend"}) || has({"sharegpt_output_len", "backend"}) ||
         has({"batch_size", "input_len", "output_len"}) || has({"avg_latency", "latencies"}) ||
         has({"elapsed_time", "total_num_tokens"}) || (has({"benchmarks"}) && !has({"context"}));
}

Result<BenchTable> bench_table_of_json(const std::string& text) {
  SequenceCutter cutter(text);
  ASSAY_TRY_ASSIGN(const std::vector<Piece> pieces, cutter.cut());
  BenchTable table;
  OddityLog log;
  std::vector<LlamaTest> llama;
  for (const Piece& piece : pieces) {
    if (nested_too_deep(piece.text)) {
      return Error{
          ErrorCode::kFormat,
          "line " + std::to_string(piece.line) + ": nested deeper than the result of any benchmark",
          "", -1};
    }
    const Json value = parsed_json(piece.text);
    if (value.is_discarded()) {
      return Error{ErrorCode::kFormat,
                   "line " + std::to_string(piece.line) + ": the JSON value is damaged", "", -1};
    }
    ASSAY_TRY(read_value(value, piece.line, table, log, llama));
  }
  if (!llama.empty()) add_llama_runs(llama, table, log);
  if (cutter.bare_words() > 0) {
    log.note("bare_infinity", pieces.front().line, false,
             "Infinity or NaN, as Python writes them, are read as missing");
  }
  log.merge_into(table.oddities);
  if (table.rows.empty()) {
    std::string why;
    for (const BenchOddity& oddity : table.oddities) {
      if (oddity.dropped > 0) why += "; " + oddity.code + ": " + oddity.effect;
    }
    return Error{ErrorCode::kFormat, "no result of a completed run in this file" + why, "", -1};
  }
  return table;
}

bool is_genai_perf_csv(const std::vector<CsvRecord>& records) {
  for (const CsvRecord& record : records) {
    if (record.cells.empty()) continue;
    return record.cells.size() >= 2 && lower_trimmed(record.cells[0]) == "metric";
  }
  return false;
}

Result<BenchTable> bench_table_of_genai_perf_csv(const std::vector<CsvRecord>& records) {
  OddityLog log;
  BenchRow row;
  row.in_len = row.out_len = row.batch = kNan;
  row.line = records.front().line;
  double requests_per_s = kNan;
  bool telemetry = false;
  for (const CsvRecord& record : records) {
    if (record.cells.size() < 2) continue;
    const std::string title = lower_trimmed(record.cells[0]);
    // The first column of numbers is the mean, except in telemetry tables, where it is the GPU.
    if (title == "metric") telemetry = lower_trimmed(record.cells[1]) == "gpu";
    if (title == "metric" || telemetry) continue;
    const auto is = [&](const char* name) { return title.rfind(name, 0) == 0; };
    const auto value = [&](BenchRole role) {
      const auto cell = parse_cell(record.cells[1], role, unit_of_title(role, title));
      return cell ? cell->value : kNan;
    };
    if (is("time to first token")) row.ttft_ms = value(BenchRole::kTtft);
    if (is("inter token latency")) row.tpot_ms = value(BenchRole::kTpot);
    if (is("request latency")) row.latency_s = value(BenchRole::kLatency);
    if (is("input sequence length")) row.in_len = value(BenchRole::kInLen);
    if (is("output sequence length")) row.out_len = value(BenchRole::kOutLen);
    if (is("output token throughput") && !is("output token throughput per user")) {
      row.output_tokens_per_s = value(BenchRole::kOutThroughput);
    }
    if (is("request throughput")) requests_per_s = value(BenchRole::kBatch);
  }
  finish_client_row(row, requests_per_s, log);
  BenchTable table;
  table.format = "genai-perf";
  table.rows.push_back(std::move(row));
  log.merge_into(table.oddities);
  return table;
}

}  // namespace assay
