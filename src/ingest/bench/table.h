#pragma once

// Tables of measured throughput from any program (docs/formats/bench.md): CSV with any column
// names, and the result files of serving benchmarks. The format is detected by content.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"

namespace assay {

struct BenchReadOptions {
  // (role, title of the column): overrides the role of a CSV column if its title does not show it.
  std::vector<std::pair<std::string, std::string>> columns;
  // (role, value) for values missing from the cells: the GPU, their number, the length, ...
  std::vector<std::pair<std::string, std::string>> meta;
};

// From flags as typed: "bb=Batch Size,ii=Prompt" and "hardware=Nvidia H100 GPU". A comma begins a
// new pair only before a known role, so titles and values may have commas.
Result<BenchReadOptions> parse_bench_options(const std::vector<std::string>& maps,
                                             const std::vector<std::string>& metas);

// Reads results with one file per run. The inputs are files and folders; files of a folder are read
// in the order of their names. Files of a folder that are not results are skipped and counted.
Result<BenchTable> read_bench_tables(const std::vector<std::string>& paths,
                                     const BenchReadOptions& options = {});
Result<BenchTable> read_bench_table(const std::string& path, const BenchReadOptions& options = {});
// The same of text that was read before; `path` names it.
Result<BenchTable> bench_table_of_text(const std::string& text, const std::string& path,
                                       const BenchReadOptions& options = {});

// True if a file with this decompressed beginning is for these readers, by the keys of its first
// result, or by titles of sizes and of a throughput or latency. Its rows may still be irregular.
bool looks_like_bench(const std::string& head);

}  // namespace assay
