#pragma once

// Measured throughput of serving or training runs, one row per run, from whatever tool wrote it
// (ingest/bench_*.cc). Missing is NaN or an empty string, never 0.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/precision.h"

namespace assay {

// Split of a model over devices; 1 if unknown.
struct ParallelLayout {
  uint32_t tensor = 1;
  uint32_t pipeline = 1;
  uint32_t data = 1;
  uint32_t expert = 1;

  double devices() const { return static_cast<double>(tensor) * pipeline * data; }
  friend bool operator==(const ParallelLayout&, const ParallelLayout&) = default;
};

// Differences between runs in addition to hardware, engine, model and sizes.
struct BenchVariant {
  // Precision, the cache's type, and all other words: "fp8, kv fp8". For speed, different words
  // count as a different engine. Layouts (as many as configurations) and versions do not.
  std::string words = {};
  // nullopt: unknown, or the plain case of one tensor-parallel group of all devices.
  std::optional<ParallelLayout> layout = {};
  std::string version = {};  // of the engine: "v0.9.1"

  bool empty() const { return words.empty() && !layout && version.empty(); }
  // As one text of statements: "fp8, kv fp8, tp2 ep4, v0.9.1". Part of names that are hashed.
  std::string text() const;
  friend bool operator==(const BenchVariant&, const BenchVariant&) = default;
};

struct BenchRow {
  std::string hardware;   // "Nvidia H100 GPU"; empty = unknown
  std::string framework;  // engine: "vLLM"
  std::string model;      // "LLaMA-3-8B"
  double devices = 1;     // number of GPUs the model ran on
  double in_len = 0;      // ii: input tokens per sequence
  double out_len = 0;     // oo: output tokens per sequence
  double batch = 0;       // bb: batch size, or concurrency where the tool drives requests
  double latency_s = std::numeric_limits<double>::quiet_NaN();
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();  // input + output tokens
  double output_tokens_per_s = std::numeric_limits<double>::quiet_NaN();
  double requests_per_s = std::numeric_limits<double>::quiet_NaN();
  // Requests sent per second; NaN = as fast as they were answered, or unknown.
  double request_rate = std::numeric_limits<double>::quiet_NaN();
  double ttft_ms = std::numeric_limits<double>::quiet_NaN();  // means
  double tpot_ms = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN();
  BenchVariant variant;  // part of cfg if not empty
  std::string date;      // of the run, "2026-04-17"; empty = unknown
  // Benchmark run: rows with the same engine build, day and method, named by settle_campaign().
  std::string campaign;
  bool unsteady = false;  // something outside the columns changed within its group
  Precision precision;    // as settle_precision() finds it in the variant and the model's name
  int64_t line = 0;       // where it stood in its file: line, or element, from 1
};

// Once for a row, when its names stand.
void settle_precision(BenchRow& row);
// Engine, version, and when or where they were taken: "vLLM|v0.19.0|2026-04-17".
std::string campaign_name(const BenchRow& row, const std::string& when);
// Names the benchmark run of a row that has none. A table without versions and days is one
// benchmark run with an empty name.
void settle_campaign(BenchRow& row);
// Another row of the same configuration, which has measured nothing yet.
BenchRow unmeasured_like(const BenchRow& row);

// Importance of an irregularity for readers of results, decided where it is found.
enum class OddityWeight : uint8_t {
  kNote,     // good to know: nothing that was measured is lost, and no number is in doubt
  kLoss,     // rows are missing
  kWarning,  // must be known to readers of the headline alone; rows may be missing, too
};
std::string_view oddity_weight_name(OddityWeight weight);  // "note", "loss", "warning"

// One kind of irregularity of rows, and its treatment.
struct BenchOddity {
  std::string code;  // stable key: "duplicate_key", "zero_throughput", "identity_failed", ...
  uint64_t rows = 0;
  uint64_t dropped = 0;  // of those, left out of the table
  int64_t first_line = 0;
  std::string effect;  // one sentence
  OddityWeight weight = OddityWeight::kNote;
  uint64_t merged = 0;  // of the rows, those that went into another one

  bool loses_rows() const { return weight != OddityWeight::kNote && dropped > 0; }
};

// Counts one row under its code; codes stay in the order in which they came up, with the line, the
// effect and the weight of the first.
void count_oddity(std::vector<BenchOddity>& oddities, std::string_view code, int64_t line,
                  bool dropped, std::string_view effect, OddityWeight weight);
inline void count_oddity(std::vector<BenchOddity>& oddities, std::string_view code, int64_t line,
                         bool dropped, std::string_view effect) {
  count_oddity(oddities, code, line, dropped, effect,
               dropped ? OddityWeight::kLoss : OddityWeight::kNote);
}

struct BenchTable {
  std::string source;
  std::string
      format;  // for example "llm-inference-bench", "vllm", "sglang", "genai-perf", "csv"
  std::vector<BenchRow> rows;
  std::vector<BenchOddity> oddities;
};

}  // namespace assay
