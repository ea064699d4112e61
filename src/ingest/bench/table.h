#pragma once

// Tables of measured throughput from whatever wrote them (docs/formats/bench.md): CSV with any
// column names and the result files of serving benchmarks. The format is told by content.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"

namespace assay {

struct BenchReadOptions {
  // (role, title of the column): which column of a CSV holds what, where the title does not tell.
  std::vector<std::pair<std::string, std::string>> columns;
  // (role, value) for what no cell tells: the GPU, how many, the length, ...
  std::vector<std::pair<std::string, std::string>> meta;
};

// From flags as typed: "bb=Batch Size,ii=Prompt" and "hardware=Nvidia H100 GPU". A comma begins a
// new pair only before a known role, so titles and values may have commas.
Result<BenchReadOptions> parse_bench_options(const std::vector<std::string>& maps,
                                             const std::vector<std::string>& metas);

// Results that tools leave one file per run: files, and folders, whose files are read in the order
// of their names. What is no result in a folder is left out and counted.
Result<BenchTable> read_bench_tables(const std::vector<std::string>& paths,
                                     const BenchReadOptions& options = {});
Result<BenchTable> read_bench_table(const std::string& path, const BenchReadOptions& options = {});
// The same of text that was read before; `path` names it.
Result<BenchTable> bench_table_of_text(const std::string& text, const std::string& path,
                                       const BenchReadOptions& options = {});

// Whether a file that begins so, decompressed, is for these readers: by the keys of its first
// result, or by titles of sizes and of a throughput or latency. Its rows may still be odd.
bool looks_like_bench(const std::string& head);

}  // namespace assay
