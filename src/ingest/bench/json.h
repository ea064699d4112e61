#pragma once

// Result files of serving benchmarks: vLLM (serve, latency, throughput), SGLang, genai-perf (JSON
// and CSV), AIPerf, GuideLLM, llama-bench, optimum-benchmark and InferenceMAX. Python's bare NaN
// and Infinity, appended results and one result per line are all read as a sequence of JSON values.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/bench/table.h"
#include "ingest/text/csv_records.h"

namespace assay {

// Whether the first object's own keys are those of a benchmark's result. The text may be cut.
bool looks_like_result(std::string_view head);

Result<BenchTable> bench_table_of_json(const std::string& text);

// genai-perf's CSV: several small tables of metrics apart by blank lines.
bool is_genai_perf_csv(const std::vector<CsvRecord>& records);
Result<BenchTable> bench_table_of_genai_perf_csv(const std::vector<CsvRecord>& records);

}  // namespace assay
