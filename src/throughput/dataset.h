#pragma once

// From a benchmark table to rows that can be fitted: cleaned, one per key, with the configuration
// and the group of each. Nothing leaves in silence: what was dropped or marked is counted.

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "records/facts.h"
#include "throughput/method.h"

namespace assay {

// The least time that a row can have taken: its active weights read once per output token. Absent
// where the facts of its model or hardware are not known.
using LeastLatency = std::function<std::optional<double>(const BenchRow&)>;
// FP16 weights over the bandwidth of all devices. The book must outlive the function.
LeastLatency least_latency_by_facts(const FactBook& facts = FactBook::built_in());

// Drops rows without a positive throughput, lengths, batch size or device count, and of rows with
// one key (hardware, devices, framework, model, variant, ii, oo, bb) all but the first. Rows faster
// than `least_latency` are kept and marked infeasible. An error when nothing remains.
Result<ThroughputData> make_throughput_data(const BenchTable& table,
                                            const LeastLatency& least_latency = {});

// Sequences that run at a time: llama.cpp's batch size counts tokens of one prompt, not sequences.
double sequences_of(const BenchRow& row);
// Latency as measured, else from the throughput.
double latency_of(const BenchRow& row);

// "hardware|devices|framework|model", with the variant as a fifth part where there is one; the
// group adds "|ii|oo". Whole numbers are written without a point: these strings are hashed.
std::string config_name(const BenchRow& row);
std::string group_name(const BenchRow& row);
std::string row_name(const BenchRow& row);   // group and "|bb"
std::string pair_name(const BenchRow& row);  // "hardware|framework"

// The rows at `indices`, in that order, with the same ids and names.
ThroughputData subset(const ThroughputData& data, const std::vector<size_t>& indices);

}  // namespace assay
