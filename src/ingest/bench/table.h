#pragma once

// Reads tables of measured throughput from any program (docs/formats/bench.md): CSV with any column
// names, and result files of serving benchmarks. The format is detected by content.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"

namespace assay {

struct BenchReadOptions {
  // (role, title of the column): overrides the role of a CSV column if its title does not show it.
  std::vector<std::pair<std::string, std::string>> columns;
  // (role, value) for values missing from the cells: GPU, number of GPUs, sequence length, ...
  std::vector<std::pair<std::string, std::string>> meta;
};

// Parses the flags as typed: "bb=Batch Size,ii=Prompt" and "hardware=Nvidia H100 GPU". A comma
// starts a new pair only before a known role, so titles and values may contain commas.
Result<BenchReadOptions> parse_bench_options(const std::vector<std::string>& maps,
                                             const std::vector<std::string>& metas);

// Reads files and folders into one table, such as results with one file per run. Files of a folder
// are read in the order of their names; those that are not results are skipped and counted.
Result<BenchTable> read_bench_tables(const std::vector<std::string>& paths,
                                     const BenchReadOptions& options = {});
Result<BenchTable> read_bench_table(const std::string& path, const BenchReadOptions& options = {});
// The same for text that is already in memory; `path` names it in errors.
Result<BenchTable> bench_table_of_text(const std::string& text, const std::string& path,
                                       const BenchReadOptions& options = {});

// True if these readers accept a file with this decompressed beginning: by the keys of its first
// result, or by titles of sizes and of a throughput or latency. The rows may still be unusable.
bool looks_like_bench(const std::string& head);

}  // namespace assay
