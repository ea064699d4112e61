#include "cli/bench_flags.h"

#include <CLI/CLI.hpp>

#include "cli/facts_option.h"
#include "ingest/bench_table.h"
#include "throughput/dataset.h"

namespace assay {
void add_bench_options(CLI::App& verb, BenchFlags& flags) {
  verb.add_option("table", flags.table,
                  "measured throughput: CSV, or results of vLLM, SGLang, genai-perf or AIPerf; "
                  "- for standard input")
      ->required();
  verb.add_option("--map", flags.maps,
                  "which column holds what: 'bb=Batch Size,ii=Prompt length,...'")
      ->type_name("ROLE=TITLE")
      ->allow_extra_args(false);
  verb.add_option("--meta", flags.metas,
                  "what no column tells, for all rows: 'hardware=Nvidia H100 GPU,n=4'")
      ->type_name("ROLE=VALUE")
      ->allow_extra_args(false);
  add_facts_option(verb, flags.facts);
}

Result<LoadedBench> load_bench(const BenchFlags& flags) {
  ASSAY_TRY_ASSIGN(const BenchReadOptions options, parse_bench_options(flags.maps, flags.metas));
  ASSAY_TRY_ASSIGN(FactBook facts, load_facts(flags.facts));
  ASSAY_TRY_ASSIGN(BenchTable table, read_bench_table(flags.table, options));
  ASSAY_TRY_ASSIGN(ThroughputData data, make_throughput_data(table, least_latency_by_facts(facts)));
  return LoadedBench{std::move(facts), std::move(table), std::move(data)};
}

}  // namespace assay
