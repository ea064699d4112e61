#include "job/judge.h"

#include <utility>

#include "job/record_graph.h"

namespace assay {

RankFold fold_of(const FleetJob& job, const UsedRecord& used) {
  RankFold fold = read_record_fold(used.found.payload);
  cut_to_fit(fold, job.ranks.size());
  // The copy drops excess capacity; a job has thousands of folds.
  return RankFold(fold);  // NOLINT(performance-no-automatic-move)
}

Result<JudgedJob> judge_records(const std::vector<RankRecord>& records) {
  std::string bytes;
  for (const RankRecord& record : records) bytes += record_bytes(record);
  FleetRecords read;
  read.add("records", bytes);
  ASSAY_TRY_ASSIGN(FleetJob job, read.assemble());
  std::vector<RankFold> folds(job.ranks.size());
  for (const UsedRecord& used : UsedRecords(job).take(bytes)) {
    folds[used.rank] = fold_of(job, used);
  }
  ASSAY_TRY_ASSIGN(FleetSets sets, fleet_sets(job, "", ""));
  ASSAY_TRY_ASSIGN(FleetFindings found, find_in_fleet(job, sets, std::move(folds)));
  return JudgedJob{std::move(job), std::move(sets), std::move(found)};
}

}  // namespace assay
