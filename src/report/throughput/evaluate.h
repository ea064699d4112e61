#pragma once

// Sections of a Document from measured errors of throughput methods.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "throughput/ala/ala.h"
#include "throughput/evaluate.h"
#include "trace/trust.h"

namespace assay {

// Time that a method took to train on a fold and to predict.
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
// duplicate keys.
std::vector<ImportNote> bench_import_notes(const BenchTable& table, const ThroughputData& data);

// Irregularities found by the reader, then those found during cleaning.
std::vector<BenchOddity> all_oddities(const BenchTable& table, const ThroughputData& data);

// One sentence for each warning that is shown with the headline.
std::vector<std::string> bench_warning_words(const std::vector<BenchOddity>& oddities);

// Caveats: rows that were dropped, are impossible or doubtful.
TrustNotes bench_trust(const std::vector<BenchOddity>& oddities);

// "fits": the curve of every group, and a summary. Readers see only the summary.
std::vector<Block> saturation_blocks(const ThroughputData& data, const std::vector<GroupFit>& fits);

// Blocks on the table for any verb, as {"rows", "configs", "groups", "dropped": {...}, "oddities":
// [...]}.
std::vector<Block> bench_table_blocks(const BenchTable& table, const ThroughputData& data);

}  // namespace assay
