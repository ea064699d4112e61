#include "cli/bench_flags.h"

#include "cli/facts_option.h"
#include "cli/options.h"

namespace assay {
void add_bench_options(Verb& verb, BenchRequest& flags) {
  verb.input("table", flags.tables,
             "measured throughput: CSV, or results of vLLM, SGLang, genai-perf or AIPerf. Files "
             "or a folder; - for standard input")
      .required();
  verb.option("--columns", flags.maps, "which column holds what: 'bb=Batch Size,ii=Prompt length,...'")
      .called("ROLE=TITLE")
      .one_per_mention();
  verb.option("--constants", flags.metas,
              "values without a column, for all rows: 'hardware=Nvidia H100 GPU,n=4'")
      .called("ROLE=VALUE")
      .one_per_mention();
  verb.option("--max-rows", flags.rows,
              "use at most so many rows, a fixed subset of a larger table [6000]")
      .between(size_t{1}, size_t{1000000});
  add_facts_option(verb, flags.facts);
}

}  // namespace assay
