#pragma once

// From measured errors of throughput methods to sections of a Document.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "throughput/ala/ala.h"
#include "throughput/evaluate.h"
#include "trace/trust.h"

namespace assay {

// How long a method took to learn from a fold and to answer.
struct FoldTime {
  std::string split;
  std::string method;
  std::string fold;
  size_t train_rows = 0;
  size_t train_configs = 0;
  int64_t time_ns = 0;
};

struct ThroughputEvaluation {
  const BenchTable& table;
  const ThroughputData& data;
  std::vector<Split> splits;        // requested splits
  std::vector<SplitErrors> errors;  // by split, then method
  std::vector<GroupFit> fits;       // empty: not shown
  bool interrupted = false;
  std::vector<FoldTime> times = {};  // empty: not measured
};

Section throughput_evaluation_section(const ThroughputEvaluation& evaluation);
std::vector<std::string> throughput_evaluation_words(const ThroughputEvaluation& evaluation);

// Irregularities of the table, for the import log of any verb. Dropped rows are data loss, except
// repeats of a key.
std::vector<ImportNote> bench_import_notes(const BenchTable& table, const ThroughputData& data);

// Irregularities found by the reader, then those of the cleaning.
std::vector<BenchOddity> all_oddities(const BenchTable& table, const ThroughputData& data);

// One sentence for each warning: properties of a table to show with the headline.
std::vector<std::string> bench_warning_words(const std::vector<BenchOddity>& oddities);

// Rows that were dropped, are impossible or doubtful: what may move numbers of the table.
TrustNotes bench_trust(const std::vector<BenchOddity>& oddities);

// "fits": the curve of every group, and a summary, which is all that readers see.
std::vector<Block> saturation_blocks(const ThroughputData& data, const std::vector<GroupFit>& fits);

// Table blocks for any verb: {"rows", "configs", "groups", "dropped": {...}, "oddities": [...]}.
std::vector<Block> bench_table_blocks(const BenchTable& table, const ThroughputData& data);

}  // namespace assay
