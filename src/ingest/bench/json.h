#pragma once

// Reads result files of serving benchmarks: vLLM (serve, latency, throughput), SGLang, genai-perf
// (JSON and CSV), AIPerf, GuideLLM, llama-bench, optimum-benchmark and InferenceMAX.
//
// A file is a sequence of JSON values: one result, appended results, or one result per line.
// Accepts Python's bare NaN and Infinity.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/bench/table.h"
#include "ingest/text/csv_records.h"

namespace assay {

// True if the keys of the first object are those of a benchmark result. The text may be truncated.
bool looks_like_result(std::string_view head);

Result<BenchTable> bench_table_of_json(const std::string& text);

// genai-perf's CSV: several small tables of metrics, separated by blank lines.
bool is_genai_perf_csv(const std::vector<CsvRecord>& records);
Result<BenchTable> bench_table_of_genai_perf_csv(const std::vector<CsvRecord>& records);

}  // namespace assay
