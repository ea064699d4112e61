#pragma once

// Measured throughput of serving or training runs from any tool (ingest/bench/), one row per run.
// Missing values are NaN or an empty string, never 0.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/precision.h"

namespace assay {

// Degrees of parallelism of a model; 1 if unknown.
struct ParallelLayout {
  uint32_t tensor = 1;
  uint32_t pipeline = 1;
  uint32_t data = 1;
  uint32_t expert = 1;

  double devices() const { return static_cast<double>(tensor) * pipeline * data; }
  friend bool operator==(const ParallelLayout&, const ParallelLayout&) = default;
};

// Differences between runs other than hardware, engine, model and sizes.
struct BenchVariant {
  // Precision, KV cache type and everything else: "fp8, kv fp8". For speed, different words count
  // as different engines; layouts (as many as configurations) and versions do not.
  std::string words = {};
  // nullopt: unknown, or the plain case of one tensor-parallel group of all devices.
  std::optional<ParallelLayout> layout = {};
  std::string version = {};  // of the engine: "v0.9.1"

  bool empty() const { return words.empty() && !layout && version.empty(); }
  // As one text: "fp8, kv fp8, tp2 ep4, v0.9.1". Part of names that are hashed.
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
  double batch = 0;       // bb: batch size, or concurrency if the tool sends requests
  double latency_s = std::numeric_limits<double>::quiet_NaN();
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();  // input + output tokens
  double output_tokens_per_s = std::numeric_limits<double>::quiet_NaN();
  double requests_per_s = std::numeric_limits<double>::quiet_NaN();
  // Requests sent per second; NaN = unlimited or unknown.
  double request_rate = std::numeric_limits<double>::quiet_NaN();
  double ttft_ms = std::numeric_limits<double>::quiet_NaN();  // mean, as is TPOT
  double tpot_ms = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN();
  BenchVariant variant;  // part of cfg if not empty
  std::string date;      // of the run, "2026-04-17"; empty = unknown
  // Benchmark run, set by settle_campaign(): rows with the same engine version and day.
  std::string campaign;
  bool unsteady = false;  // an unrecorded change occurred within the row's group
  Precision precision;    // set by settle_precision() from the variant and the model's name
  int64_t line = 0;       // line or element in its file, from 1
};

// Call once per row, after its variant and model are final.
void settle_precision(BenchRow& row);
// Name of a benchmark run: "vLLM|v0.19.0|2026-04-17". when: date or place of the measurement.
std::string campaign_name(const BenchRow& row, const std::string& when);
// Sets the benchmark run of a row without one. It stays empty if the row has neither version nor
// date: all such rows of a table are one benchmark run.
void settle_campaign(BenchRow& row);
// A row of the same configuration without sizes and measured values.
BenchRow unmeasured_like(const BenchRow& row);

// Importance of an irregularity to readers of results.
enum class OddityWeight : uint8_t {
  kNote,     // no measurement is lost, and no number is in doubt
  kLoss,     // rows are missing
  kWarning,  // must be shown next to the headline; rows may be missing, too
};
std::string_view oddity_weight_name(OddityWeight weight);  // "note", "loss", "warning"

// One kind of irregularity of rows, and how it was handled.
struct BenchOddity {
  std::string code;  // stable key: "duplicate_key", "zero_throughput", "identity_failed", ...
  uint64_t rows = 0;
  uint64_t dropped = 0;  // rows among them that are not in the table
  int64_t first_line = 0;
  std::string effect;  // one sentence
  OddityWeight weight = OddityWeight::kNote;
  uint64_t merged = 0;  // rows among them that were merged into another row

  bool loses_rows() const { return weight != OddityWeight::kNote && dropped > 0; }
};

// Counts one row under its code. Codes are in the order of their first occurrence, with the line,
// effect and weight of that occurrence.
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
