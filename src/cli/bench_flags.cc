#include "cli/bench_flags.h"

#include <CLI/CLI.hpp>

#include "cli/facts_option.h"

namespace assay {
void add_bench_options(CLI::App& verb, BenchFlags& flags) {
  verb.add_option("table", flags.tables,
                  "measured throughput: CSV, or results of vLLM, SGLang, genai-perf or AIPerf; "
                  "several files or a folder of them; - for standard input")
      ->required();
  verb.add_option("--map", flags.maps,
                  "which column holds what: 'bb=Batch Size,ii=Prompt length,...'")
      ->type_name("ROLE=TITLE")
      ->allow_extra_args(false);
  verb.add_option("--meta", flags.metas,
                  "what no column tells, for all rows: 'hardware=Nvidia H100 GPU,n=4'")
      ->type_name("ROLE=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--rows", flags.rows,
                  "use at most so many rows, a fixed subset of a larger table [6000]")
      ->check(CLI::Range(size_t{1}, size_t{1000000}));
  add_facts_option(verb, flags.facts);
}

}  // namespace assay
