#pragma once

// Converts a benchmark table to rows for fitting: cleaned, one per key, each with its configuration
// and group. Dropped and marked rows are counted.

#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "base/result.h"
#include "records/facts.h"
#include "throughput/method.h"

namespace assay {

// Time to read the active weights once per output token.
struct LatencyBound {
  double least_s = 0;    // a lower bound
  double assumed_s = 0;  // at the assumed precision if it is unknown; else as above
};
// nullopt if the specifications of a row's model or hardware are unknown.
using LeastLatency = std::function<std::optional<LatencyBound>(const BenchRow&)>;

// How to treat rows without precision.
enum class UntoldPrecision : uint8_t {
  kSixteenBits,  // as LLM-Inference-Bench did
  kAssumed,      // 16 bits are likely; fewer are possible
};
UntoldPrecision untold_precision(const std::string& format);
inline UntoldPrecision untold_precision(const BenchTable& table) {
  return untold_precision(table.format);
}

// Weights at the row's precision over the bandwidth of all devices. If the precision is only
// assumed, the fewest bits in use decide if a row is impossible. `facts` must outlive the function.
LeastLatency least_latency_by_facts(const FactBook& facts = FactBook::built_in(),
                                    UntoldPrecision untold = UntoldPrecision::kSixteenBits);
// Adds a warning if repeats scatter far more than the noise that a method assumes for one
// measurement (taken_log_sd, standard deviation of log throughput).
void note_repeat_noise(double taken_log_sd, ThroughputData& data);
// Reason why no run of the point can have this throughput; nullopt if it can, or if that is
// unknown.
std::optional<std::string> impossible_reason(const LeastLatency& least_latency, BenchRow point,
                                             double tokens_per_s);
// Counts rows with specifications but an assumed precision, or with an unknown peak in their
// precision.
void note_precision(const FactBook& facts, UntoldPrecision untold, ThroughputData& data);

// Drops rows without a positive and plausible throughput, lengths, batch size or device count. In
// tables of batches, it also drops rows with non-integer sizes. A key is (hardware, devices,
// framework, model, variant, ii, oo, bb). Copies of a key are dropped and repeats are averaged; of
// LLM-Inference-Bench the first is kept. Tables with more than `most_rows` keys are reduced to a
// subset by hash of the names. Rows faster than `least_latency` are kept and marked infeasible.
// Fails if no row remains.
Result<ThroughputData> make_throughput_data(const BenchTable& table,
                                            const LeastLatency& least_latency = {},
                                            size_t most_rows = std::numeric_limits<size_t>::max());

// Sequences that run at a time. 1 for llama.cpp, where the batch size counts tokens of one prompt.
double sequences_of(const BenchRow& row);
// Latency in seconds as measured, or from the throughput.
double latency_of(const BenchRow& row);

// "hardware|devices|framework|model", with the variant as a fifth part where there is one; the
// group adds "|ii|oo". Whole numbers are written without a point: these strings are hashed.
std::string config_name(const BenchRow& row);
std::string group_name(const BenchRow& row);
std::string row_name(const BenchRow& row);   // group and "|bb"
std::string pair_name(const BenchRow& row);  // "hardware|framework"

// The rows at `indices`, in that order, with the same ids and names.
ThroughputData subset(const ThroughputData& data, const std::vector<size_t>& indices);
// The rows that are neither infeasible nor unsteady.
ThroughputData feasible_rows(const ThroughputData& data);

}  // namespace assay
