#include "cli/bench_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "cli/facts_option.h"
#include "cli/options.h"
#include "ingest/bench/table.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

// Minutes of one core and under 3 GB.
constexpr size_t kRowsWithoutAsking = 6000;
// Square matrices of rows x rows doubles that a fit holds at a time: measured, 0.67 GB of 3,000
// rows.
constexpr double kMatrices = 9;
constexpr double kMemoryShare = 0.8;

// A fit that memory cannot hold would take the machine down with it.
Status check_memory(size_t rows) {
  const double need_gb =
      kMatrices * 8 * static_cast<double>(rows) * static_cast<double>(rows) / 1e9;
  const double have_gb = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e9;
  if (have_gb <= 0 || need_gb <= kMemoryShare * have_gb) return Ok{};
  const double fits = std::sqrt(kMemoryShare * have_gb * 1e9 / 8 / kMatrices);
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{} rows would take about {:.0f} GB, and this machine has {:.0f}: --rows "
                  "{:.0f} is the most that fits",
                  rows, need_gb, have_gb, std::floor(fits / 100) * 100),
      "", -1};
}

}  // namespace

void add_bench_options(Verb& verb, BenchFlags& flags) {
  verb.input("table", flags.tables,
             "measured throughput: CSV, or results of vLLM, SGLang, genai-perf or AIPerf; "
             "several files or a folder of them; - for standard input")
      .required();
  verb.option("--map", flags.maps, "which column holds what: 'bb=Batch Size,ii=Prompt length,...'")
      .called("ROLE=TITLE")
      .one_per_mention();
  verb.option("--meta", flags.metas,
              "what no column tells, for all rows: 'hardware=Nvidia H100 GPU,n=4'")
      .called("ROLE=VALUE")
      .one_per_mention();
  verb.option("--rows", flags.rows,
              "use at most so many rows, a fixed subset of a larger table [6000]")
      .between(size_t{1}, size_t{1000000});
  add_facts_option(verb, flags.facts);
}

std::string name_of(const BenchFlags& flags) {
  const std::string more =
      flags.tables.size() > 1 ? " and " + std::to_string(flags.tables.size() - 1) + " more" : "";
  return flags.tables.front() + more;
}

namespace {

Result<BenchTable> read_tables(const BenchFlags& flags, const std::string* text) {
  ASSAY_TRY_ASSIGN(const BenchReadOptions options, parse_bench_options(flags.maps, flags.metas));
  return text != nullptr ? bench_table_of_text(*text, flags.tables.front(), options)
                         : read_bench_tables(flags.tables, options);
}

}  // namespace

Result<LoadedBench> load_bench(const BenchFlags& flags, const std::string* text) {
  ASSAY_TRY_ASSIGN(FactBook facts, load_facts(flags.facts));
  ASSAY_TRY_ASSIGN(BenchTable table, read_tables(flags, text));
  const UntoldPrecision untold = untold_precision(table);
  ASSAY_TRY_ASSIGN(ThroughputData data,
                   make_throughput_data(table, least_latency_by_facts(facts, untold),
                                        flags.rows.value_or(kRowsWithoutAsking)));
  ASSAY_TRY(check_memory(data.rows.size()));
  note_precision(facts, untold, data);
  return LoadedBench{std::move(facts), std::move(table), std::move(data)};
}

}  // namespace assay
